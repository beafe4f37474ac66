"""How often 95 % intervals hold where data are hard: rare classes, chance, uneven weights, few items.

`make study NAME=coverage` or `python -m studies coverage [RUNS] [WORD ...]`; a word picks settings by
name. Writes docs/tables/coverage.md where all settings are run. An interval must hold in 92 to
98 % of the samples, or say that it is unreliable (`Estimate.caution`); the table counts the ones that say
nothing. Settings on data sets look for them beside the checkout and are left out where they are absent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES
from studies._coverage import Draw, Estimates, Setting, simulate
from studies._tools import DATA, options, percent, table, write

RUNS = 1000
GOOD = (92.0, 98.0)


def two_classes(
    y: np.ndarray, p: np.ndarray, names: str, cut: float = 0.5, **more: Any
) -> Estimates:
    t = sw.Tally.of(y, p, positive=1, **more)
    c = t.confusion(cut)
    return {m: MEASURES[m](c if MEASURES[m].group == "decisions" else t) for m in names.split()}


def normal_scores(
    rng: np.random.Generator, n: int, prevalence: float, apart: float
) -> tuple[Any, Any]:
    """Labels, and calibrated probabilities of two normal classes so many standard deviations apart."""
    y = (rng.random(n) < prevalence).astype(int)
    z = rng.normal(size=n) + apart * y
    return y, 1 / (
        1 + np.exp(-(apart * z - apart**2 / 2 + math.log(prevalence / (1 - prevalence))))
    )


def by_chance(rng: np.random.Generator, n: int) -> Estimates:
    y, p = (rng.random(n) < 0.03).astype(int), rng.random(n)
    return two_classes(y, p, "kappa mcc ks auroc youden", cut=0.995)


def rare(rng: np.random.Generator, n: int) -> Estimates:
    y, p = normal_scores(rng, n, 0.005, 2.0)
    names = "kappa mcc partial_auroc auroc average_precision f1 sensitivity precision"
    return two_classes(y, p, names, cut=0.05)


def uneven(rng: np.random.Generator, n: int) -> Estimates:
    y, p = normal_scores(rng, n, 0.3, 1.2)
    names = (
        "ks specificity sensitivity precision npv kappa mcc lr_plus lr_minus markedness dor f1 accuracy "
        "calibration_slope calibration_intercept auroc average_precision brier log_loss"
    )
    return two_classes(y, p, names, cut=0.3, weight=rng.lognormal(0, 1.2, n))


def uneven_slow(rng: np.random.Generator, n: int) -> Estimates:
    y, p = normal_scores(rng, n, 0.3, 1.2)
    return two_classes(y, p, "h_measure dsc smauc", weight=rng.lognormal(0, 1.2, n))


def f2(y: np.ndarray, p: np.ndarray, cut: float) -> Estimates:
    return {"f_beta(2)": sw.measures.f_beta(sw.Tally.of(y, p, positive=1).confusion(cut), beta=2)}


def near_perfect(rng: np.random.Generator, n: int) -> Estimates:
    y, p = normal_scores(rng, n, 0.5, 5.2)
    names = "calibration_slope pr_trapezoid average_precision mcc kappa f1 auroc"
    return {**two_classes(y, p, names), **f2(y, p, 0.5)}


def two_models(rng: np.random.Generator, n: int) -> Estimates:
    """Six positives of a hundred, two models that are equally good."""
    y = (np.arange(n) < max(2, round(0.06 * n))).astype(int)
    common = rng.normal(size=n) + 1.2 * y
    first, second = (common + rng.normal(size=n) for _ in range(2))
    both = sw.compare(y, {"a": first, "b": second}, positive=1)
    found = next(d for d in both.to_dict()["differences"] if d["measure"] == "auroc")
    return {"auroc difference": estimate(found)}


def estimate(doc: dict[str, Any]) -> sw.Estimate:
    ends = (math.nan if doc[k] is None else doc[k] for k in ("value", "low", "high"))
    made = sw.Estimate(*ends)
    object.__setattr__(made, "why", doc["why"])
    if doc.get("caution"):
        object.__setattr__(made, "caution", doc["caution"])
    return made


def three_classes(rng: np.random.Generator, n: int, rarest: float) -> Estimates:
    share = np.array([(1 - rarest) * 0.6, (1 - rarest) * 0.4, rarest])
    centre = 1.5 * np.array([[1.0, 0.0], [-0.5, 0.87], [-0.5, -0.87]])
    y = rng.choice(3, n, p=share)
    x = centre[y] + rng.normal(size=(n, 2))
    log = np.log(share) - ((x[:, None, :] - centre) ** 2).sum(2) / 2
    p = np.exp(log - log.max(1, keepdims=True))
    t = sw.ClassTally.of(y, p / p.sum(1, keepdims=True), classes=[0, 1, 2])
    found = {name: m(t) for name, m in CLASS_MEASURES.items() if m.group in ("decisions", "order")}
    # without the rare class the mean is of other classes, which is another quantity
    return found if (np.bincount(y, minlength=3) > 0).all() else {}


def rated(codes: np.ndarray, names: str, **options: Any) -> Estimates:
    r = sw.Ratings.of({f"r{k}": codes[:, k] for k in range(codes.shape[1])}, categories=[0, 1])
    return {name: RATER_MEASURES[name](r, **options) for name in names.split()}


PAIR = "percent_agreement gwet_ac brennan_prediger cohen_kappa scott_pi krippendorff_alpha"


def raters(right: float, prevalence: float, many: int, names: str) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        truth = rng.random((n, 1)) < prevalence
        codes = (truth ^ (rng.random((n, many)) > right)).astype(int)
        return rated(codes, names)

    return draw


def skewed_items(rng: np.random.Generator, n: int) -> Estimates:
    value = np.exp(0.8 * rng.normal(size=(n, 1))) + 0.7 * rng.normal(size=(n, 3))
    r = sw.Ratings.of({f"r{k}": value[:, k] for k in range(3)}, scale="interval")
    return {name: RATER_MEASURES[name](r) for name in ("icc_1_1", "icc_2_1", "icc_3_1")}


def judges(prevalence: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        truth = rng.random(n) < prevalence
        said = {f"j{k}": (truth ^ (rng.random(n) > 0.9)).astype(int) for k in range(2)}
        if truth.all() or not truth.any():
            return {}
        found = sw.judge({"human": truth.astype(int)}, said, seed=int(rng.integers(1 << 30)))
        return {"kappa difference": found.differences[0].kappa}

    return draw


def frame(name: str) -> Any:
    import polars as pl

    return pl.read_parquet(DATA / "predictions" / name)


def real_two_classes(name: str, label: str, score: str) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        f = frame(name).select(label, score).drop_nulls()
        y, p = f[label].to_numpy().astype(int), np.clip(f[score].to_numpy().astype(float), 0, 1)
        at = rng.permutation(len(y))[:n]
        return two_classes(y[at], p[at], "ece max_ce ece_sweep smece ce_l2_debiased")

    return draw


def real_classes(rng: np.random.Generator, n: int) -> Estimates:
    f = frame("netcal_cifar10_probs.parquet")
    f = f.filter(f["model"] == f["model"][0])
    p = f.select([f"p{k}" for k in range(10)]).to_numpy().astype(float)
    at = rng.permutation(len(p))[:n]
    t = sw.ClassTally.of(
        f["label"].to_numpy()[at], p[at] / p[at].sum(1, keepdims=True), classes=range(10)
    )
    return {"classwise_ece": CLASS_MEASURES["classwise_ece"](t)}


ZERO = {"kappa": 0.0, "mcc": 0.0, "ks": 0.0, "auroc": 0.5, "youden": 0.0}
MANY_RATERS = "light_kappa fleiss_kappa conger_kappa krippendorff_alpha gwet_ac percent_agreement"
SETTINGS = (
    Setting("scores by chance, prevalence .03, n 1000", 1000, by_chance, ZERO),
    Setting("prevalence .005, n 2000", 2000, rare),
    Setting("weights lognormal(1.2), n 300", 300, uneven),
    Setting("weights lognormal(1.2), n 300, resampled", 300, uneven_slow, share=0.4),
    Setting("nearly perfect (kappa .99), n 300", 300, near_perfect),
    Setting("two models, 6 positives of 100", 100, two_models, {"auroc difference": 0.0}),
    *(
        Setting(f"three classes, one of {q:.0%}, n 300", 300, lambda r, n, q=q: three_classes(r, n, q))
        for q in (0.01, 0.03)
    ),
    Setting("two raters, .9/.1, n 50", 50, raters(0.9, 0.1, 2, PAIR)),
    Setting("two raters, kappa .98, n 100", 100, raters(0.995, 0.5, 2, PAIR)),
    Setting("five raters, prevalence .05, n 60", 60, raters(0.9, 0.05, 5, MANY_RATERS)),
    *(Setting(f"ICC, lognormal items, n {n}", n, skewed_items) for n in (20, 60, 200)),
    *(
        Setting(f"two judges, category of {q:.0%}, n {n}", n, judges(q), {"kappa difference": 0.0}, 0.4)
        for q, n in ((0.05, 50), (0.10, 30), (0.10, 50))
    ),
    Setting(
        "real: baseball and other games, n 1000", 1000,
        real_two_classes("fivethirtyeight_games.parquet", "prob1_outcome", "prob1"), None, 0.3,
        "fivethirtyeight_games.parquet",
    ),
    Setting(
        "real: film reviews, n 1000", 1000,
        real_two_classes("imdb_test_probs.parquet", "label", "p1"), None, 0.3,
        "imdb_test_probs.parquet",
    ),
    Setting(
        "real: ten classes of pictures, n 1000", 1000, real_classes, None, 0.1,
        "netcal_cifar10_probs.parquet",
    ),
)  # fmt: skip


HEAD = """How often, in percent of the samples, the 95 % interval contained the truth where the estimate
did not say that it is unreliable (†), and how often it said so; bold outside 92 to 98 by more than two
standard errors of the simulation.
"""


def line(s: Setting, name: str, counts: np.ndarray) -> list[str]:
    plain, total = int(counts[0].sum()), int(counts.sum())
    share = counts[0, 1] / plain if plain else math.nan
    # beyond what so many samples leave open; and if nearly all say so, what is left is too little
    open_ = 200 * math.sqrt(0.05 * 0.95 / plain) if plain else 0.0
    few = plain <= 0.1 * total
    ends = (0, 100) if few else (GOOD[0] - open_, min(GOOD[1] + open_, 99.9))
    marked = f"{100 * counts[1].sum() / max(total, 1):.0f}"
    return [s.name, name, percent(share, *ends), marked, f"{total:,}"]


def main(args: list[str]) -> None:
    parser = options(__name__, __doc__)
    parser.add_argument(
        "words", nargs="*", help="a number of samples; words that pick settings by name"
    )
    given = parser.parse_args(args)
    runs = next((int(w) for w in given.words if w.isdigit()), RUNS)
    picks = [w for w in given.words if not w.isdigit()]
    wanted = [i for i, s in enumerate(SETTINGS) if not picks or any(w in s.name for w in picks)]
    for s in (SETTINGS[i] for i in wanted):
        if not s.there():
            print(f"left out: {s.name} ({s.needs} is not beside the checkout)")
    found = simulate(__name__, runs, given.processes, 4, [i for i in wanted if SETTINGS[i].there()])
    lines = [line(s, name, counts) for s, seen in found for name, counts in seen.items()]
    text = (
        HEAD
        + "\n"
        + table(["setting", "measure", "held", "said unreliable", "samples"], lines, 2)
        + "\n"
    )
    if picks:
        print(text)
    else:
        write(text, given.out / "coverage.md")

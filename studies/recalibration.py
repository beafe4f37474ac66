"""What recalibration saves on real scores, and how often it does harm when learned from few rows.

`make study NAME=recalibration` or `python -m studies recalibration [SPLITS] [--draws 10]` writes
docs/tables/recalibration.md and recalibration_of_few.md; it needs the data sets of the project beside the
checkout. Each is split at random into halves: maps are fitted (and chosen) on one and judged on the other.
Then maps are fitted to 100, 250 and 1,000 rows and judged on the others, at most 5,000 for several classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from scorewise import Recalibrator
from scorewise.errors import BadInput
from scorewise.recalibrating import CLASS_METHODS, METHODS, ClassMap, Map
from scorewise.tallies.losses import softmax
from studies import _tools
from studies._tools import absent, options, table, write

DATA = _tools.DATA / "predictions"
CLIP = 1e-7
SIZES = (100, 250, 1000)


def halves(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two random halves of the row numbers."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: rows // 2], order[rows // 2 :]


# data sets of one score a row


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Probabilities and labels by name; those whose files lie beside the checkout."""
    found = {}
    for file, make in MAKERS.items():
        path = DATA / f"{file}.parquet"
        if path.is_file():
            found |= make(pl.read_parquet(path))
    return found


def _columns(frame, p, y):
    kept = frame.select(pl.col(p).cast(pl.Float64).alias("p"), y.cast(pl.Int64).alias("y"))
    kept = kept.drop_nulls().filter(pl.col("p").is_between(0, 1))
    return kept["p"].to_numpy(), kept["y"].to_numpy()


def _imdb(frame):
    inside = frame.with_columns(pl.col("p1").clip(0, 1))  # some are 1.0000001
    return {"film reviews (network)": _columns(inside, "p1", pl.col("label"))}


def _games(frame):
    sports = sorted(frame["sport"].unique())
    y = pl.col("prob1_outcome")
    return {f"games: {s}": _columns(frame.filter(pl.col("sport") == s), "prob1", y) for s in sports}


def _llm(frame):
    y, made = pl.col("correct"), {}
    for column, said in (("stated_confidence", "stated"), ("chosen_token_confidence", "token")):
        for n, model in enumerate(sorted(frame["llm"].unique())[:4], start=1):
            p, labels = _columns(frame.filter(pl.col("llm") == model), column, y)
            if len(p) > 200 and 0 < labels.mean() < 1:
                made[f"language model {n} ({said} confidence)"] = p, labels
    return made


def _compas(frame):
    decile = frame.with_columns(p=(pl.col("decile_score") - 0.5) / 10)
    return {"recidivism (deciles)": _columns(decile, "p", pl.col("two_year_recid"))}


def _rain(frame):
    return {f"rain: {m}": _columns(frame, m, pl.col("obs")) for m in ("Logistic", "EMOS", "ENS")}


def _two_class(frame):
    return {"two classes": _columns(frame, "Class1", pl.col("truth") == "Class1")}


MAKERS = {
    "imdb_test_probs": _imdb,
    "fivethirtyeight_games": _games,
    "llm_confidence": _llm,
    "compas_two_years": _compas,
    "precip_niamey_2016": _rain,
    "yardstick_two_class": _two_class,
}


# data sets of several classes


@dataclass(frozen=True)
class Scores:
    """Scores of several classes with their labels; `first` marks the rows to fit to, if that is fixed."""

    p: np.ndarray
    y: np.ndarray
    kind: str = "probability"
    first: np.ndarray | None = None

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        p = np.asarray(self.p[rows], float)
        return softmax(p) if self.kind == "logit" else p

    def splits(self, wanted: int) -> int:
        return wanted if self.first is None else 1

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers to fit to, and to be judged on."""
        if self.first is not None:
            return np.flatnonzero(self.first), np.flatnonzero(~self.first)
        return halves(len(self.y), seed)


def class_sets() -> dict[str, Scores]:
    """The sets whose files lie beside the checkout."""
    found = {}
    if (path := DATA / "resnet110_cifar10_logits.parquet").is_file():
        d = pl.read_parquet(path)
        z, y = d.select(pl.col("^logit.*$")).to_numpy(), d["label"].to_numpy()
        found["CIFAR-10, resnet110 (logits)"] = Scores(
            z, y, "logit", (d["split"] == "val").to_numpy()
        )
    if (path := DATA / "20news_test_probs.parquet").is_file():
        d = pl.read_parquet(path)
        found["20 newsgroups"] = Scores(_of(d.select(pl.col("^p.*$"))), d["label"].to_numpy())
    if (path := DATA / "netcal_cifar10_probs.parquet").is_file():
        for (model,), d in sorted(pl.read_parquet(path).group_by("model", maintain_order=True)):
            found[f"CIFAR-10, {model}"] = Scores(
                _of(d.select(pl.col("^p.*$"))), d["label"].to_numpy()
            )
    return found


def _of(frame) -> np.ndarray:
    p = np.clip(frame.to_numpy().astype(float), 0, 1)
    return p / p.sum(1, keepdims=True)


# maps fitted to some rows and judged on others


def loss(p: np.ndarray, y: np.ndarray) -> float:
    """Log loss of probabilities of positives, or of classes."""
    given = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
    return float(-np.log(np.clip(given, CLIP, 1 - CLIP)).mean())


def ece(p: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error in bins of equal width; of the highest probability for several classes."""
    if p.ndim > 1:
        p, y = p.max(1), p.argmax(1) == y
    at = np.minimum((p * bins).astype(int), bins - 1)
    gaps = np.bincount(at, y, bins) - np.bincount(at, p, bins)
    return float(np.abs(gaps).sum() / len(y))


Compared = dict[str, float | str]


def judged(auto: Recalibrator, before: np.ndarray, after: np.ndarray, y: np.ndarray) -> Compared:
    """Log loss and calibration error before and after `auto`, and what it chose."""
    found = {"identity": loss(before, y), "auto": loss(after, y), "chosen": auto.chosen}
    return found | {"ece before": ece(before, y), "ece after": ece(after, y)}


def compared(p: np.ndarray, y: np.ndarray, seed: int, auto_only: bool = False) -> Compared:
    """Log loss on the second half of each map fitted to the first, what auto chose, and both ECE."""
    a, b = halves(len(y), seed)
    auto = Recalibrator(seed=seed).fit(p[a], y[a])
    found = judged(auto, p[b], auto.transform(p[b]), y[b])
    for name in () if auto_only else METHODS:
        if name != "identity":
            found[name] = loss(Recalibrator(name).fit(p[a], y[a]).transform(p[b]), y[b])
    return found


def compared_classes(s: Scores, seed: int) -> Compared:
    """The same for several classes."""
    a, b = s.split(seed)
    auto = Recalibrator(kind=s.kind, seed=seed).fit(s.p[a], s.y[a])
    found = judged(auto, s.probabilities(b), auto.transform(s.p[b]), s.y[b])
    strengths = {row.method: row.strength for row in auto.table}
    for name in CLASS_METHODS:
        if name != "identity":
            made = ClassMap.fit(name, auto.data_, CLIP, strengths.get(name, 100.0))
            found[name] = loss(made(np.asarray(s.p[b], float)), s.y[b])
    return found


def line(name: str, rows: int, runs: list[Compared], methods: Iterable[str]) -> list[str]:
    """A row of the table; the promises are judged on the means."""
    mean = {k: float(np.mean([r[k] for r in runs])) for k in runs[0] if k != "chosen"}
    chosen = [r["chosen"] for r in runs]
    often = max(sorted(set(chosen)), key=chosen.count)
    best = min(methods, key=lambda m: mean[m])
    near = mean["auto"] <= 1.01 * mean[best]
    safe = mean["auto"] <= 1.005 * mean["identity"]
    cells = [f"{rows:,}", f"{mean['identity']:.4f}", f"{mean['auto']:.4f}"]
    cells += [f"{often} ({chosen.count(often)})", best, f"{mean[best]:.4f}"]
    cells += [f"{mean['ece before']:.3f}", f"{mean['ece after']:.3f}"]
    return [name, *cells, *("yes" if kept else "no" for kept in (near, safe))]


def lines(splits: int) -> Iterator[list[str]]:
    """All rows of the table: several classes, then one score a row."""
    for name, s in class_sets().items():
        runs = [compared_classes(s, seed) for seed in range(s.splits(splits))]
        yield line(name, len(s.y), runs, CLASS_METHODS)
    for name, (p, y) in data_sets().items():
        yield line(name, len(y), [compared(p, y, seed) for seed in range(splits)], METHODS)


def of_halves(splits: int) -> str:
    """The table of maps fitted to halves."""
    head = ["scores", "rows", "before", "auto", "chosen", "best", "its", "ECE before", "after"]
    head += (kept := ["within 1 %", "not worse"])
    drawn = table(head, list(lines(splits)), also=["chosen", "best", *kept])
    return f"""\
On rows that no map has seen: the test split of resnet110, else half of the rows, mean of {splits} random
halvings. Log loss before, after `auto`, what it chose most often (how often), and the method that in
hindsight had the lowest mean; the expected calibration error (ECE, 15 bins; of the confidence for several
classes) before and after; whether `auto` is within 1 % of the best, and not worse than identity by more
than 0.5 %. Language models are the first four by name, of eleven.

{drawn}
"""


# maps fitted to few rows

Few = tuple[float, float, float]


def few_of_one_score(p: np.ndarray, y: np.ndarray, rows: int, seed: int) -> Few | None:
    """Log loss before, after auto, and of the best method tried."""
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = order[:rows], order[rows:]
    try:
        r = Recalibrator().fit(p[a], y[a])
    except BadInput:
        return None  # one class only
    made = (Map.fit(row.method, r.data_, CLIP)(p[b]) for row in r.table)
    best = min(loss(q, y[b]) for q in made)
    return loss(p[b], y[b]), loss(r.transform(p[b]), y[b]), best


def few_of_classes(s: Scores, rows: int, seed: int) -> Few:
    """The same for several classes."""
    order = np.random.default_rng(seed).permutation(len(s.y))
    a, b = order[:rows], order[rows : rows + 5000]
    r = Recalibrator(kind=s.kind).fit(s.p[a], s.y[a], classes=range(s.p.shape[1]))
    new = np.asarray(s.p[b], float)
    made = (ClassMap.fit(row.method, r.data_, CLIP, row.strength)(new) for row in r.table)
    best = min(loss(q, s.y[b]) for q in made)
    return loss(s.probabilities(b), s.y[b]), loss(r.transform(new), s.y[b]), best


def few_line(name: str, rows: int, found: list[Few]) -> list[str]:
    before, after, best = np.array(found).T
    change = after / before - 1
    cells = [f"{rows:,}", str(len(change)), f"{np.mean(change != 0):.0%}"]
    cells += [str(np.sum(change > 0.005)), f"{max(change.max(), 0):.1%}", f"{change.mean():+.1%}"]
    return [name, *cells, f"{np.mean(after <= 1.01 * best):.0%}"]


def of_few(times: int) -> str:
    """The table of maps fitted to few rows."""
    drawn, one, several = [], data_sets().values(), class_sets().values()
    for rows in SIZES:
        fit = [(p, y) for p, y in one if len(y) >= 1.5 * rows]
        runs = [few_of_one_score(p, y, rows, seed) for p, y in fit for seed in range(times)]
        known = [r for r in runs if r is not None]
        drawn.append(few_line(f"one score ({len(fit)} sets)", rows, known))
    for rows in SIZES:
        runs = [few_of_classes(s, rows, seed) for s in several for seed in range(times)]
        drawn.append(few_line(f"several classes ({len(several)} sets)", rows, runs))
    head = ["scores", "rows", "trials", "changed", "worse by 0.5 %", "at worst", "mean change"]
    return f"""\
Maps fitted to few rows of the sets above, drawn {times} times each, and judged on the others: how often
`auto` changed the scores; how often the log loss was then higher by more than 0.5 %, and by how much at
worst; the mean change; and how often it was within 1 % of the best of the methods tried, in hindsight.

{table([*head, "within 1 %"], drawn)}
"""


def main(args: list[str]) -> None:
    parser = options(__name__, __doc__, 5, "random halvings")
    parser.add_argument("--draws", type=int, default=10, help="of few rows, 10 unless given")
    given = parser.parse_args(args)
    if absent(DATA):
        return
    write(of_halves(given.runs), given.out / "recalibration.md")
    write(of_few(given.draws), given.out / "recalibration_of_few.md")

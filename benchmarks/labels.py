"""Planted wrong labels: which ranking of rows finds most of them.

`python -m benchmarks.labels [seeds]` or `make labels` prints the table and writes docs/tables/labels.md. In
each data set 3 % of the labels are flipped; a model is trained on the flipped labels and scores each row
out of fold; each ranking names as many rows as were flipped. The data lie beside the checkout.
"""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks.label_rankings import OURS, RANKINGS

DATA = Path(__file__).parents[2] / "shared" / "data" / "uci"
OUT = Path(__file__).parents[1] / "docs" / "tables" / "labels.md"
SETS = ("kr-vs-kp", "spambase", "wdbc", "sick", "credit-g", "diabetes", "breast-w", "vote")
UNSEEN = ("colic", "heart-c", "sonar", "spectf")  # kept out of the choice of a ranking
FIRST_SEED = 200  # rankings were thought up and chosen on lower ones
MODELS = ("forest", "logistic", "naive Bayes")
FLIPPED = 0.03
FOLDS = 5


def features(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with gaps, words as one column for each; and the true labels."""
    import pandas as pd

    frame = pd.read_parquet(DATA / f"{name}.parquet")
    x = pd.get_dummies(frame.drop(columns=["class", "y"]), dtype=np.float64)
    return x.dropna(axis="columns", how="all").to_numpy(np.float64), frame["y"].to_numpy() == 1


def model(name: str, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    kinds = {
        "forest": RandomForestClassifier(100, random_state=seed),
        "logistic": LogisticRegression(max_iter=500),
        "naive Bayes": GaussianNB(var_smoothing=1e-3),
    }
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), kinds[name])


def planted(y: np.ndarray, seed: int) -> np.ndarray:
    """Which labels are flipped."""
    rng = np.random.default_rng(seed)
    wrong = np.zeros(len(y), bool)
    wrong[rng.choice(len(y), round(FLIPPED * len(y)), replace=False)] = True
    return wrong


def scores(x: np.ndarray, y: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Out-of-fold scores of a model that believes these labels."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow convergence is no matter here
        p = cross_val_predict(model(kind, seed), x, y, cv=folds, method="predict_proba")
    return np.asarray(p[:, 1])


def found(y: np.ndarray, p: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    """For each ranking the share of wrong labels among as many of its first rows."""
    k = int(wrong.sum())
    return {name: float(wrong[rank(y, p)[:k]].sum()) / k for name, rank in RANKINGS.items()}


def run(job: tuple[str, str, int]) -> dict[str, float]:
    name, kind, seed = job
    x, y = features(name)
    wrong = planted(y, seed)
    return found(y ^ wrong, scores(x, y ^ wrong, kind, seed), wrong)


Results = dict[tuple[str, str], list[dict[str, float]]]


def simulate(seeds: int) -> Results:
    jobs = [(s, m, FIRST_SEED + i) for s in (*SETS, *UNSEEN) for m in MODELS for i in range(seeds)]
    total: Results = {}
    with ProcessPoolExecutor() as pool:
        done = zip(jobs, pool.map(run, jobs), strict=True)
        for (name, kind, _), shares in track(done, "planting", len(jobs)):
            total.setdefault((name, kind), []).append(shares)
    return total


def spread(values: np.ndarray) -> str:
    """Mean and standard error in percent."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{100 * values.mean():.1f} ± {100 * error:.1f}"


def shares(
    total: Results, ranking: str, *, models: tuple[str, ...] = MODELS, sets: tuple[str, ...] = ()
) -> np.ndarray:
    """The share found, seed by seed, averaged over data sets and models."""
    chosen = [v for (s, m), v in total.items() if m in models and (not sets or s in sets)]
    return np.mean([[seed[ranking] for seed in v] for v in chosen], axis=0)


def summary(total: Results) -> list[str]:
    """All rankings, the best first, by model and over all; and against ours, paired by seed."""
    ours = shares(total, OURS)
    names = sorted(RANKINGS, key=lambda r: -shares(total, r).mean())
    lines = [
        f"| ranking | {' | '.join(MODELS)} | all | all, minus `inspect` | unseen sets |",
        f"|---|{'---:|' * (len(MODELS) + 3)}",
    ]
    for r in names:
        by_model = [spread(shares(total, r, models=(m,))) for m in MODELS]
        less = "" if r == OURS else spread(shares(total, r) - ours)
        unseen = spread(shares(total, r, sets=UNSEEN))
        cells = [*by_model, spread(shares(total, r)), less, unseen]
        lines.append(f"| {r} | {' | '.join(cells)} |")
    return lines


def details(total: Results) -> list[str]:
    """The rankings that matter most, for each set and model; the best of a line is bold."""
    shown = (OURS, "smROC hull, balanced midpoint", "plain error, abs(y - p)")
    shown += ("cleanlab self_confidence, adjusted", "cleanlab find_label_issues")
    lines = [f"| data | model | {' | '.join(shown)} |", f"|---|---|{'---:|' * len(shown)}"]
    for (name, kind), runs in total.items():
        values = [np.array([seed[r] for seed in runs]) for r in shown]
        best = max(v.mean() for v in values)
        cells = [f"**{spread(v)}**" if v.mean() >= best - 1e-12 else spread(v) for v in values]
        lines.append(f"| {name} | {kind} | {' | '.join(cells)} |")
    return lines


def markdown(total: Results, seeds: int) -> str:
    best = max(RANKINGS, key=lambda r: shares(total, r).mean())
    smroc, smooth = (f"smROC hull, {rule} midpoint" for rule in ("balanced", "mean"))
    plain = "plain error, abs(y - p)"
    ours = shares(total, OURS)
    gap = {r: spread(ours - shares(total, r)) for r in (smroc, smooth, plain)}
    bayes = {r: shares(total, r, models=("naive Bayes",)).mean() for r in (OURS, plain)}
    how = (
        f"In each of {len(SETS) + len(UNSEEN)} data sets {FLIPPED:.0%} of the labels were flipped, a model "
        f"was trained on the flipped labels and scored every row out of fold ({FOLDS} folds), and each "
        "ranking named as many rows as had been flipped. The tables show the share of the flipped rows "
        f"among them, in percent, with its standard error over {seeds} seeds. The ranking was chosen on "
        f"other seeds, and on other sets than the last {len(UNSEEN)} ({', '.join(UNSEEN)}: unseen)."
    )
    said = (
        f"First in the table: {best}, {spread(shares(total, best) - ours)} points from `inspect`. The "
        "hull of the ROC curve is isotonic calibration, then the error; rows that it does not tell "
        "apart `inspect` orders by their plain error. **No ranking by smROC is "
        f"better**: the hull of the smROC curve finds {gap[smroc]} points less than `inspect` with the "
        f"balanced midpoint and {gap[smooth]} less with the mean; smROC's signed segments find no more "
        f"than the plain error does. Over that the gain is {gap[plain]} points, nearly all of it on the "
        f"overconfident scores of naive Bayes ({100 * bayes[plain]:.1f} to {100 * bayes[OURS]:.1f}); where "
        "scores are good probabilities already, the plain error, which orders rows as cleanlab's "
        "self_confidence does, is as good. cleanlab's list of issues may be shorter than what was flipped, "
        "which counts against it here."
    )
    parts = [_wrapped(how), "", *summary(total), "", _wrapped(said)]
    return "\n".join([*parts, "", "By data set and model:", "", *details(total)]) + "\n"


def _wrapped(text: str) -> str:
    return fill(text, 108, break_on_hyphens=False)


def main(seeds: int) -> None:
    if not DATA.is_dir():
        raise SystemExit(f"the data sets are not in {DATA}")
    text = markdown(simulate(seeds), seeds)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)

"""The runs of the smROC study: each fits both models to the same rows and judges them on the others."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl

import scorewise as sw
from studies._tools import DATA, store, stored, tracked

UCI = DATA / "uci"
SCHEMES = {"cv": "10-fold cross-validation", "sub": "40 % subsamples"}
FOLDS, SHARE = 10, 0.4
MODELS = ("tree", "bayes")
AREAS = ("auc", "sm_mean", "sm_fixed")  # smAUC with midpoint at the mean of the scores, and at 0.5


class DataSet(NamedTuple):
    """Features of any kind, and whether each row is positive."""

    x: pl.DataFrame
    y: np.ndarray


def names(folder: Path | None) -> list[str]:
    """The sets of a folder, one parquet file each; without one those of scikit-learn."""
    if folder is None:
        return list(_SHIPPED)
    found = sorted(path.stem for path in folder.glob("*.parquet"))
    if not found:
        raise SystemExit(f"there is no data set in {folder}; pass --data DIR, or --small")
    return found


@lru_cache(maxsize=2)
def load(folder: Path | None, name: str) -> DataSet:
    """One set: `y` is 1 on positives, `class` its word, all other columns are features."""
    if folder is None:
        return _shipped(name)
    frame = pl.read_parquet(folder / f"{name}.parquet")
    return DataSet(frame.drop("y", "class", strict=False), frame["y"].to_numpy() == 1)


# the class that is taken for positive: in the breast cancer data the malignant tumours
_SHIPPED = {"breast_cancer": 0, "digits": 8, "iris": 1, "wine": 1}


def _shipped(name: str) -> DataSet:
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")()
    columns = [f"x{i}" for i in range(data.data.shape[1])]
    return DataSet(pl.DataFrame(data.data, schema=columns), data.target == _SHIPPED[name])


class Job(NamedTuple):
    """The ten runs of one repetition; `folder` None means the sets that ship with scikit-learn."""

    folder: Path | None
    name: str
    scheme: str
    repeat: int


def splits(y: np.ndarray, job: Job) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to judge on; both hold the classes in the same shares."""
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    seed = crc32(f"{job.name} {job.scheme} {job.repeat}".encode()) % 2**31
    if job.scheme == "cv":
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    else:
        cut = StratifiedShuffleSplit(FOLDS, train_size=SHARE, random_state=seed)
    with warnings.catch_warnings():
        # the smallest class of a set may have fewer rows than there are folds
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield from list(cut.split(np.zeros((len(y), 1)), y))


def judged(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """The areas, what the same scores would get at random, how bold they are, and their Brier score."""
    t = sw.Tally.of(y, p)
    mean, fixed = sw.measures.smauc(t), sw.measures.smauc(t, midpoint=0.5)
    return {
        "auc": sw.measures.auroc(t).value,
        "sm_mean": mean.value,
        "sm_fixed": fixed.value,
        "sm_mean_chance": mean.baseline,
        "sm_fixed_chance": fixed.baseline,
        "boldness": float(np.abs(2 * p - 1).mean()),
        "brier": float(((p - y) ** 2).mean()),
    }


def models() -> dict[str, Any]:
    return {"tree": sw.models.ProbabilityTree(random_state=0), "bayes": sw.models.NaiveBayes()}


def runs(job: Job, data: DataSet | None = None) -> list[dict[str, Any]]:
    """One row for each run and model."""
    x, y = data or load(job.folder, job.name)
    rows = []
    for i, (learn, judge) in enumerate(splits(y, job)):
        for model, fresh in models().items():
            p = fresh.fit(x[learn], y[learn]).predict_proba(x[judge])[:, 1]
            about = {"scheme": job.scheme, "repeat": job.repeat, "run": i, "model": model}
            sizes = {"learned": len(learn), "judged": len(judge)}
            rows.append(about | sizes | judged(y[judge], p))
    return rows


def run_all(
    folder: Path | None, sets: list[str], repeats: int, results: Path, processes: int | None = None
) -> dict[str, pl.DataFrame]:
    """The runs of all sets, those that were stored taken up; each set is stored when it is complete."""
    about = {name: settings(folder, name, repeats) for name in sets}
    paths = {name: results / f"{name}.parquet" for name in sets}
    kept = {name: stored(paths[name], about[name]) for name in sets}
    found = {name: frame for name, frame in kept.items() if frame is not None}
    jobs = [
        Job(folder, name, scheme, repeat)
        for name in sets
        if name not in found
        for scheme in SCHEMES
        for repeat in range(repeats)
    ]
    parts: dict[str, list[dict[str, Any]]] = {}
    left = {name: len(SCHEMES) * repeats for name in sets}
    for job, rows in tracked(runs, jobs, processes, "judging"):
        parts.setdefault(job.name, []).extend(rows)
        left[job.name] -= 1
        if not left[job.name]:
            keys = ("scheme", "repeat", "run", "model")
            ordered = sorted(parts.pop(job.name), key=lambda row: [row[key] for key in keys])
            found[job.name] = store(paths[job.name], ordered, about[job.name])
    return {name: found[name] for name in sets}


def settings(folder: Path | None, name: str, repeats: int) -> str:
    """What runs depend on beside the code: the rows, and how often."""
    rows = "" if folder is None else sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()
    return json.dumps({"rows": rows[:16], "repeats": repeats})

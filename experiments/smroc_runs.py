"""The runs of the smROC study: each fits both models to the same rows and judges them on the others."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl

import scorewise as sw
from experiments.data_sets import DataSet, load

SCHEMES = {"cv": "10-fold cross-validation", "sub": "40 % subsamples"}
FOLDS, SHARE = 10, 0.4
MODELS = ("tree", "bayes")
AREAS = (
    "auc",
    "sm_mean",
    "sm_fixed",
)  # smAUC with the mean of the scores as midpoint, and with 0.5
VERSION = 1  # results of another version are not taken up


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
    yield from cut.split(np.zeros((len(y), 1)), y)


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
    from rich.progress import track

    results.mkdir(parents=True, exist_ok=True)
    found = {name: kept for name in sets if (kept := stored(results, name, repeats)) is not None}
    jobs = [
        Job(folder, name, scheme, repeat)
        for name in sets
        if name not in found
        for scheme in SCHEMES
        for repeat in range(repeats)
    ]
    parts: dict[str, list[dict[str, Any]]] = {}
    left = {name: len(SCHEMES) * repeats for name in sets}
    for name, rows in track(_done(jobs, processes), "judging", len(jobs), disable=not jobs):
        parts.setdefault(name, []).extend(rows)
        left[name] -= 1
        if not left[name]:
            found[name] = store(results, name, repeats, parts.pop(name))
    return {name: found[name] for name in sets}


def _done(jobs: list[Job], processes: int | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The set and the rows of each job, as they come."""
    if processes == 1:
        yield from ((job.name, runs(job)) for job in jobs)
        return
    # polars has threads, which do not survive a fork
    with ProcessPoolExecutor(processes, get_context("spawn"), _quiet) as pool:
        waiting = {pool.submit(runs, job): job.name for job in jobs}
        yield from ((waiting[done], done.result()) for done in as_completed(waiting))


def _quiet() -> None:
    # the smallest class of a set may have fewer rows than there are folds
    warnings.filterwarnings("ignore", "The least populated class", UserWarning)


def _settings(repeats: int) -> dict[str, str]:
    return {"settings": json.dumps({"version": VERSION, "repeats": repeats})}


def store(results: Path, name: str, repeats: int, rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows).sort("scheme", "repeat", "run", "model")
    unfinished = results / f"{name}.part"
    frame.write_parquet(unfinished, metadata=_settings(repeats))
    unfinished.replace(results / f"{name}.parquet")
    return frame


def stored(results: Path, name: str, repeats: int) -> pl.DataFrame | None:
    """What an earlier run has stored with the same settings."""
    path = results / f"{name}.parquet"
    if not path.is_file():
        return None
    if pl.read_parquet_metadata(path).get("settings") != _settings(repeats)["settings"]:
        return None
    return pl.read_parquet(path)

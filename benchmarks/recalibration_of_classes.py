"""The data sets of several classes for the study of recalibration, and maps compared on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scorewise import Recalibrator
from scorewise.recalibrating.classes.methods import CLASS_METHODS, ClassMap
from scorewise.tallies.losses import softmax

DATA = Path(__file__).parents[2] / "shared" / "data" / "predictions"
CLIP = 1e-7


@dataclass(frozen=True)
class Scores:
    """Scores of several classes with their labels; `first` marks the rows to fit to, if that is fixed."""

    p: np.ndarray
    y: np.ndarray
    kind: str = "probability"
    first: np.ndarray | None = None

    def splits(self, wanted: int) -> int:
        return wanted if self.first is None else 1

    def split(self, seed: int):
        """Scores, labels and kind, to fit to and to be judged on."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        a, b = order[: len(order) // 2], order[len(order) // 2 :]
        if self.first is not None:
            a, b = np.flatnonzero(self.first), np.flatnonzero(~self.first)
        return self.p[a], self.y[a], self.p[b], self.y[b], self.kind


def class_sets() -> dict[str, Scores]:
    """The sets whose files lie beside the checkout."""
    import polars as pl

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


def class_loss(p: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(np.clip(p[np.arange(len(y)), y], CLIP, 1 - CLIP)).mean())


def top_ece(p: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error of the highest probability."""
    top, right = p.max(1), p.argmax(1) == y
    at = np.minimum((top * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(at, right, bins) - np.bincount(at, top, bins)).sum() / len(y))


def compared_classes(p, y, new, truth, kind: str, seed: int) -> dict[str, float | str]:
    """Log loss of each map on new rows, what auto chose, and the calibration error before and after."""
    auto = Recalibrator(kind=kind, seed=seed).fit(p, y)
    before, after = softmax(new) if kind == "logit" else new, auto.transform(new)
    rows = {"identity": class_loss(before, truth), "auto": class_loss(after, truth)}
    rows |= {"chosen": auto.chosen, "ece before": top_ece(before, truth)}
    rows["ece after"] = top_ece(after, truth)
    strengths = {row.method: row.strength for row in auto.table}
    for name in CLASS_METHODS:
        if name != "identity":
            made = ClassMap.fit(
                name, auto.rows_, auto.classes_, kind, CLIP, strengths.get(name, 100.0)
            )
            rows[name] = class_loss(made(np.asarray(new, float)), truth)
    return rows

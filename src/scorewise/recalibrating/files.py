"""Maps learned from files and frames, and applied to files: `calibrate fit` and `calibrate apply`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scorewise.columns import Kind, Missing
from scorewise.columns.roles import Spec
from scorewise.recalibrating.applying import Applied
from scorewise.recalibrating.recalibrator import CLIP, Recalibrator
from scorewise.show.document import dumps


def calibrate(
    source: Any,
    *,
    label: str | None = None,
    score: str | None = None,
    classes: Spec | None = None,
    positive: Any = None,
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    method: str = "auto",
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    clip: float = CLIP,
    encoding: str | None = None,
) -> Recalibrator:
    """Learn a map from the columns of a file or frame; see `Recalibrator`."""
    made = Recalibrator(method, kind=kind, folds=folds, seed=seed, clip=clip, level=level)
    return made.fit(
        source, label=label, score=score, classes=classes, positive=positive, sample_weight=weight,
        count=count, cluster=cluster, missing=missing, encoding=encoding,
    )  # fmt: skip


def apply(
    map_file: str | Path,
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | Path,
    score: str | None = None,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Applied:
    """Write the rows of files with the probabilities of a saved map; see `Recalibrator.apply_files`."""
    return Recalibrator.load(map_file).apply_files(
        files, out, score=score, classes=classes, name=name, missing=missing, encoding=encoding
    )


def map_file(made: Recalibrator, ending: str) -> bytes:
    """The map as `Recalibrator.save` writes it."""
    return dumps(made.document()).encode()

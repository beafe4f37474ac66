"""The one call: two samples, or one source cut by time."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, TypeAlias, get_args

from scorewise.checks import at_least, check
from scorewise.columns import Kind, Missing
from scorewise.drifting.changes import STATISTICS, Settings
from scorewise.drifting.result import Drift
from scorewise.drifting.samples import Columns, Every, is_source, read
from scorewise.drifting.windows import Cut, read_windows
from scorewise.errors import BadInput, plain
from scorewise.tallies import Tally
from scorewise.tallies.smroc import midpoint as midpoint_of

Labels: TypeAlias = Literal["both", "reference", "none"]
REPLICATES = 999


def drift(
    reference: Any,
    current: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    positive: Any = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    labels: Labels = "both",
    time: str | None = None,
    windows: int | None = None,
    every: Every | None = None,
    reference_until: Any = None,
    midpoint: Literal["mean", "balanced", "median"] | float | Tally = "mean",
    level: float = 0.95,
    seed: int = 0,
    replicates: int | None = None,
    encoding: str | None = None,
) -> Drift:
    """What has changed from the reference to the current sample, each change with its p-value.

    A sample is a `Tally`, a pair `(y, p)`, scores alone, or files, a data frame or a dict of columns. Files
    of text are in UTF-8, or in `encoding`.
    Labels that come late: `labels="reference"` says that only the reference has them, "none" that neither
    has. With `time=` there is one source, cut by that column into `windows` of equal numbers of rows (6
    unless said) or calendar periods (`every="month"`); the first window, or all rows up to
    `reference_until`, is the reference for the others.

    The null hypothesis is that both samples are drawn from the same source, so that any row might as well
    be in the other: p = (1 + number of |T*| >= |T|) / (1 + replicates), where T* is T after the rows were
    dealt out anew. For the calibration they are dealt out among rows of about the same score (null
    hypothesis: the same score means the same, wherever the scores are), and for the distance within
    classes among rows of the same class (the classes look the same, whatever their shares). P-values are
    adjusted for their number by Holm; drift is seen where one is below 1 - `level`.

    >>> d = drift(([0, 1] * 50, [0.2, 0.7] * 50), ([0, 1] * 50, [0.3, 0.9] * 50))
    >>> d.kind, d["ks"].value, round(d["midpoint"].value, 3)
    ('covariate', 0.5, 0.15)
    """
    columns = Columns(label, score, weight, positive, kind, missing, encoding)
    if labels not in get_args(Labels):
        raise BadInput(f'labels={labels!r} is not known; pass "both", "reference" or "none"')
    rule = _midpoint(midpoint)
    if time is None:
        given = {"windows": windows, "every": every, "reference_until": reference_until}
        if extra := [name for name, value in given.items() if value is not None]:
            raise BadInput(f"{extra[0]}= cuts time into windows; pass time= with its column too")
        if current is None:
            raise BadInput(
                "the current sample is missing; pass reference and current, or time= to cut one "
                "source into windows by that column"
            )
        a, notes = read("reference", reference, columns, labels != "none")
        b, further = read("current", current, columns, labels == "both")
        made = Drift(a, [b], _settings(level, seed, replicates, rule, 1), notes=notes + further)
    else:
        if current is not None or not is_source(reference):
            raise BadInput("time= cuts one file or data frame; pass that alone, or two samples")
        if labels == "reference":
            raise BadInput(
                'labels="reference" is for two samples; with time= pass "both", or "none" to leave '
                "the labels out"
            )
        cut = Cut(time, windows, every, reference_until)
        a, later, notes = read_windows(reference, cut, columns, labels == "both")
        made = Drift(a, later, _settings(level, seed, replicates, rule, len(later)), cut, notes)
    for note in dict.fromkeys(made.notes):
        warnings.warn(plain(note), stacklevel=2)
    return made


def _settings(
    level: float, seed: int, replicates: int | None, rule: str | float, windows: int
) -> Settings:
    check(level=level, seed=seed)
    pilot = 0
    if replicates is None:
        pilot = 0 if windows == 1 else REPLICATES
        # enough for the smallest p-value to stay small when adjusted for all tests
        enough = math.ceil(1.5 * windows * len(STATISTICS) / (1 - level))
        replicates = max(REPLICATES, 2 * enough if windows == 1 else enough)
    at_least(1, REPLICATES, replicates=replicates)
    cells = 1024 if windows == 1 else 256 if windows <= 12 else 96
    tests = windows * len(STATISTICS)
    return Settings(level, seed, replicates, rule, cells, tests, pilot)


def _midpoint(given: Any) -> str | float:
    if isinstance(given, str) and given in ("mean", "balanced", "median"):
        return given
    if isinstance(given, str):
        raise BadInput(
            f"midpoint must be mean, balanced, median or a number from 0 to 1; got {given}",
            option="midpoint",
        )
    return midpoint_of(Tally.empty(), given).value

"""The score-weighted ROC curve (smROC) of labels and scores: `smroc` and its result."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import check, refuse_beside_tally, refuse_given, refuse_names
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.reader import warn
from scorewise.columns.sources import is_source
from scorewise.computing import cached
from scorewise.curves import roc
from scorewise.curves.hull import pav_blocks_of
from scorewise.curves.smroc import Sensitivity, Sets, four_sets, sensitivity, smooth_roc, tables
from scorewise.curves.thresholds import Band, Curve, band, distance, smooth_steps
from scorewise.errors import BadInput, Option, no_scores
from scorewise.estimate import Estimate
from scorewise.measures import smauc
from scorewise.show.result import Backend, Pictures, Result, framed
from scorewise.statistics.smroc import Rule, appropriate, row_climbs, why_not_unit
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.coarse import pooled_at
from scorewise.tallies.losses import unit
from scorewise.tallies.merging import tally_or_source
from scorewise.weighted_roc.document import SmRocDocument, overlap, unreliable


class _Curves(Result):
    """One curve or several of the same rows: what is written and shown of them."""

    cut: float

    @property
    def by_name(self) -> Mapping[str, SmRoc]:
        """Each curve by the name of its scores."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on guessed columns, labels and dropped rows."""
        rows = next(iter(self.by_name.values())).rows
        return () if rows is None else rows.notes

    def document(self) -> SmRocDocument:
        """What is written and shown; `scorewise schema smroc` prints its schema."""
        return SmRocDocument.of(self.by_name, self.cut)

    def to_frame(self, part: str | None = None, *, backend: Backend = "polars") -> Any:
        """One line for each row.

        Its number (and file, where there are several), its class, and of each score whether it is
        appropriate, its climb and its run. With part="curves" the areas, one line for each; `backend` is
        "polars" or "pandas".
        """
        if part is not None:
            return super().to_frame(part, backend=backend)
        import polars as pl

        rows = next(iter(self.by_name.values())).known_rows
        columns: dict[str, Any] = {**_places(rows), "positive": rows.y}
        for name, curve in self.by_name.items():
            climb, run = curve.segments.T
            steps = {"appropriate": curve.appropriate, "climb": climb, "run": run}
            made = {name: rows.scores[name], **{f"{name}_{key}": x for key, x in steps.items()}}
            if twice := [column for column in made if column in columns]:
                raise BadInput(
                    f"the table of rows would have two columns named '{twice[0]}'; rename the column "
                    f"'{name}'"
                )
            columns |= made
        frame = pl.DataFrame(columns)
        return frame if backend == "polars" else framed(frame.rows(named=True), backend)


class SmRoc(_Curves):
    """The score-weighted ROC curve: points `x`, `y`, the `area` with its interval, and the `midpoint`.

    `x` and `y` are shares of all runs and of all climbs; `threshold` is the score down to which each point
    has come, infinite at the start. The midpoint is where a score turns from low to high, found by `rule`.
    Prints as a page. `hull()`, `band()`, `sensitivity()`, `tables()` and `recalibrated()` look closer;
    `plot()` draws. Single rows (`appropriate`, `segments`) are known when labels and scores were given.
    """

    def __init__(
        self,
        tally: Tally,
        *,
        midpoint: Rule | float | Tally = "mean",
        level: float = 0.95,
        seed: int = 0,
        rows: Rows | None = None,
        cut: float = 0.5,
    ) -> None:
        check(level=level, seed=seed, threshold=cut)
        if why := tally.why_not_ranked or why_not_unit(tally):
            raise BadInput(f"no smROC curve: {why}")
        self.tally, self.level, self.seed, self.rows = tally, level, seed, rows
        self.cut = cut  # from here on a decision is positive, in the tables of the page
        self.found = find_midpoint(tally, midpoint)
        self.midpoint, self.rule = self.found.value, self.found.rule
        self.area: Estimate = smauc(tally, midpoint=midpoint, level=level, seed=seed)
        self.curve = smooth_roc(tally, self.midpoint)
        self.x, self.y, self.threshold = self.curve.x, self.curve.y, self.curve.threshold

    @property
    def appropriate(self) -> Bools:
        """Whether the score of each row is high on a positive or low on a negative."""
        return appropriate(*self._labels_and_scores(), self.midpoint)

    @property
    def segments(self) -> Floats:
        """The climb and the run of each row, before scaling: two columns that add up to 1."""
        climb = row_climbs(*self._labels_and_scores(), self.midpoint)
        return np.stack([climb, 1 - climb], axis=1)

    @cached_property
    def sets(self) -> Sets:
        """High and low scores on positives and negatives: weights, mean scores, balance, rotation."""
        return four_sets(self.tally, self.midpoint)

    @property
    def cautions(self) -> list[str]:
        """Warnings about this curve, each a sentence; empty where there are none."""
        return [*overlap(self), *unreliable(self)]

    @property
    def gap(self) -> float:
        """The area between the curve and its hull: how far the scores are from calibration."""
        return self.curve.gap

    def rectangle(self) -> Curve:
        """The curve before scaling, from (0, 0) to all runs and all climbs."""
        return self.curve.rectangle()

    def hull(self) -> Curve:
        """The least concave curve above."""
        return self.curve.hull()

    def roc(self) -> Curve:
        """The ROC curve of the same rows, to lay beside."""
        return roc(self.tally)

    def distance(self, other: SmRoc | Curve) -> float:
        """The area between this curve and another."""
        return distance(self.curve, other.curve if isinstance(other, SmRoc) else other)

    def tables(self, threshold: float = 0.5) -> tuple[Confusion, Confusion]:
        """Labels against decisions: for rows with appropriate scores, and for those without."""
        return tables(self.tally, self.midpoint, threshold)

    def sensitivity(self) -> Sensitivity:
        """The area for every midpoint there could be."""
        return sensitivity(self.tally)

    def band(self, *, simultaneous: bool = False, replicates: int = 1000) -> Band:
        """A band that holds each point, or the whole curve, with the level's confidence."""
        if not self.area.defined:
            raise BadInput(f"no band: {self.area.why}")
        return band(
            self.tally,
            self.curve,
            smooth_steps(self.found),
            level=self.level,
            simultaneous=simultaneous,
            replicates=replicates,
            seed=self.seed,
        )

    def recalibrated(self) -> SmRoc:
        """The curve after recalibration, on the same rows: scores become slopes of the ROC hull.

        The slope is the share of positives that lie there over the share of negatives, and the score is
        slope / (1 + slope), 0.5 where both classes are equally frequent. This is isotonic regression, if
        both classes had the same weight: a rare class does not push all scores towards 0. The map is
        fitted to the very rows that it is applied to, and flatters them somewhat.

        >>> scores = [0.01, 0.02, 0.03, 0.05, 0.04, 0.06, 0.07]
        >>> smroc([0, 0, 0, 0, 1, 0, 1], scores).recalibrated().tally.score
        array([0.        , 0.55555556, 1.        ])
        """

        def made() -> SmRoc:
            few = pooled_at(self.tally, pav_blocks_of(self.tally))
            up, along = few.pos / few.positives, few.neg / few.negatives
            scaled = replace(few, score=up / (up + along), kind="probability")
            return SmRoc(scaled, midpoint=0.5, level=self.level, seed=self.seed)

        return cached(self, "recalibrated", made)

    def pictures(self) -> Pictures:
        """The curve (`displays.SmRocDisplay`), its hull, the midpoint, and areas of other midpoints.

        Several curves on one plot: pass `ax=`, `name=` and `segments=False`.
        """
        from scorewise.displays import (
            HullDisplay,
            MidpointDisplay,
            SensitivityDisplay,
            SmRocDisplay,
        )

        at = {"midpoint": self.midpoint}
        kinds: dict[str, Any] = {
            "smroc": partial(SmRocDisplay._plotted, self),
            "hull": partial(HullDisplay.from_tally, self.tally, of="smroc", **at),
            "midpoint": partial(MidpointDisplay.from_tally, self.tally, **at),
            "sensitivity": partial(SensitivityDisplay.from_tally, self.tally, **at),
        }
        return Pictures(kinds, ("smroc",))

    @property
    def by_name(self) -> Mapping[str, SmRoc]:
        """The curve by the name of its scores."""
        return {self.tally.origin.score: self}

    @property
    def known_rows(self) -> Rows:
        """The rows of the curve, which a tally does not have."""
        if self.rows is None:
            raise BadInput("a tally has no single rows; call smroc(y, s) with labels and scores")
        return self.rows

    def _labels_and_scores(self) -> tuple[Bools, Floats]:
        rows, name = self.known_rows, self.tally.origin.score
        return rows.y, unit(rows.scores[name], rows.kinds[name])


def smroc(
    y: Any, s: Any = None, *, label: str | None = None, score: str | Sequence[str] | None = None,
    positive: Any = None, weight: Any = None, count: Any = None,
    midpoint: Rule | float | Tally = "mean", learn: Any = None, threshold: float = 0.5,
    level: float = 0.95, seed: int = 0, kind: Kind | None = None, missing: Missing = "refuse",
    encoding: str | None = None,
) -> SmRoc | SmRocs:  # fmt: skip
    """The score-weighted ROC curve of labels `y` and scores `s` in [0, 1], or of a `Tally`.

    `midpoint` is a rule ("mean", "balanced", "median", "crossing"), a number, or another tally whose mean
    is taken. Logits (`kind="logit"`) are read as the probabilities that they stand for. A score at or above
    `threshold` is a positive decision in the tables of the page.

    Without `s`, the first argument is a file, a pattern of files, a frame or a mapping from name to column,
    of which `label`, `score`, `weight` and `count` name columns; several scores give a curve each, by
    name. `learn` is another such source, whose mean is the midpoint.

    >>> curve = smroc([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> curve.area, round(curve.midpoint, 3), curve.appropriate.tolist()
    (0.843 [0.379, 0.979], 0.493, [True, True, False, True, True, True])
    """
    options: dict[str, Any] = {"level": level, "seed": seed, "cut": threshold}
    how: dict[str, Any] = {"weight": weight, "count": count, "positive": positive, "kind": kind}
    check(level=level, seed=seed, threshold=threshold)
    y = tally_or_source(y, s)
    of_source = s is None and is_source(y)
    named = {"label": label, "score": score, "encoding": encoding}
    if isinstance(y, Tally):
        refuse_beside_tally(s=s, **named, **how)
        refuse_given(
            " belongs to files and frames, but a tally is given; leave it out", learn=learn
        )
        return SmRoc(y, midpoint=midpoint, **options)
    how["missing"] = missing
    if not of_source:
        refuse_names(learn=learn, **named)
        if s is None:
            raise no_scores("smroc(y, s)", 'smroc("file.csv", label=..., score=...)')
        rows = binary_rows(None, label=y, score={"score": s}, **how)
        t = Tally.of_rows(rows, "score").unlabelled()
        return SmRoc(t, rows=rows, midpoint=midpoint, **options)
    check(midpoint=midpoint)
    how |= named
    rules: dict[str, Tally] = {}
    notes: tuple[str, ...] = ()
    if learn is not None:
        if midpoint != "mean":
            raise BadInput(
                Option("midpoint"), " and ", Option("learn"), " exclude each other; leave out one"
            )
        other = binary_rows(learn, **how)
        rules, notes = {n: Tally.of_rows(other, n) for n in other.scores}, other.notes
    rows = binary_rows(y, **how)
    rows = replace(rows, notes=tuple(dict.fromkeys((*notes, *rows.notes))))
    warn(rows.notes)
    curves = {}
    for name in rows.scores:
        t = Tally.of_rows(rows, name, rows.sources)
        curves[name] = SmRoc(t, rows=rows, midpoint=rules.get(name, midpoint), **options)
    return SmRocs(curves, threshold) if len(curves) > 1 else next(iter(curves.values()))


class SmRocs(_Curves, dict[str, SmRoc]):
    """The curve of each model on the same rows, by its name; prints as a page of all of them."""

    def __init__(self, curves: Mapping[str, SmRoc], cut: float = 0.5) -> None:
        super().__init__(curves)
        self.cut = cut

    @property
    def by_name(self) -> Mapping[str, SmRoc]:
        """Each curve by the name of its scores."""
        return self

    def pictures(self) -> Pictures:
        """All curves on one plot."""
        from scorewise.displays import SmRocDisplay

        def curves(*, ax: Any, **options: Any) -> Any:
            options = {"segments": False} | options
            for name, curve in self.items():
                display = SmRocDisplay(curve, name=name).plot(ax=ax, **options)
                ax = display.ax_
            return display

        return Pictures({"smroc": curves}, ("smroc",))


def _places(rows: Rows) -> dict[str, Any]:
    """The number of each row in its file, and the file where there are several."""
    place = rows.place
    at = np.arange(len(rows)) if place.kept is None else place.kept
    ends = np.cumsum([count for _, count in place.files], dtype=np.int64)
    file = np.searchsorted(ends, at, side="right")
    number = at + 1 - np.concatenate(([0], ends))[file]
    names = np.array([name for name, _ in place.files], object)
    return {"file": names[file], "row": number} if len(names) > 1 else {"row": number}


def segments_file(curves: Any, ending: str) -> bytes:
    """The table of rows as a file of .csv or .parquet."""
    frame, buffer = curves.to_frame(), io.BytesIO()
    if ending == ".csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()

"""Every measure of a model's scores, each with its interval, for the price of one sort."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.columns import Kind, Missing
from scorewise.columns.load import load
from scorewise.errors import plain
from scorewise.estimate import Estimate
from scorewise.evaluation.document import document
from scorewise.evaluation.settings import Settings
from scorewise.registry import MEASURES, Group, Measure
from scorewise.tallies import Confusion, Tally
from scorewise.views.shown import Shown
from scorewise.views.words import Document


class Evaluation(Shown, Mapping[str, Estimate]):
    """Each measure as an attribute and by its name: `e.auroc`, `e["auroc"]`, an `Estimate`.

    Prints as a table. The scores themselves are in `e.tally`, the decisions in `e.confusion`.
    """

    tally: Tally
    confusion: Confusion
    settings: Settings

    def __init__(self, tally: Tally, settings: Settings) -> None:
        self.tally, self.settings = tally, settings
        self.confusion = tally.confusion(settings.threshold)
        by_group = sorted(MEASURES.values(), key=lambda m: get_args(Group).index(m.group))
        self._estimates = {m.name: self._judge(m) for m in by_group}

    def _judge(self, m: Measure) -> Estimate:
        statistic = self.confusion if m.group == "decisions" else self.tally
        s = self.settings
        return m(statistic, level=s.level, seed=s.seed, clip=s.clip)

    def __getitem__(self, name: str) -> Estimate:
        try:
            return self._estimates[name]
        except KeyError:
            raise KeyError(_unknown(name)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def __getattr__(self, name: str) -> Estimate:
        try:
            return self.__dict__["_estimates"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(_unknown(name)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._estimates]

    def skill(self, name: str) -> float:
        """Share of the way from a measure's baseline to its best value; NaN where there is none."""
        return MEASURES[name].skill(self[name])

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema` prints its schema."""
        return document({self.tally.origin.score: self}, self.settings)

    def to_frame(self) -> Any:
        """One row per measure, as a polars frame."""
        import polars as pl

        frame = pl.DataFrame(self.to_dict()["models"][0]["measures"], infer_schema_length=None)
        first = ["name", "value", "low", "high", "baseline", "skill"]
        return frame.select(*first, pl.exclude(first))


def _unknown(name: str) -> str:
    return f"no measure is named {name}; there are {', '.join(sorted(MEASURES))}"


def tally(
    source: Any,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    positive: Any = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Tally:
    """The tally of files, globs or any data frame, reading only the columns that are needed.

    Files of text are in UTF-8, or in `encoding`, such as "latin-1".

    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9]}, label="y", score="p")
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """
    scores = () if score is None else (score,)
    loaded = load(
        source, label=label, scores=scores, weight=weight, count=count,
        positive=positive, kind=kind, missing=missing, encoding=encoding,
    )  # fmt: skip
    for note in loaded.notes:
        warnings.warn(plain(note), stacklevel=2)
    return Tally.of_rows(loaded.rows, next(iter(loaded.rows.scores)), loaded.sources)

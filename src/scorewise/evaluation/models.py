"""Every measure of a model's scores, each with its interval, for the price of one sort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, get_args

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.columns import Kind, Missing, Rows, binary_rows, take
from scorewise.columns.rows import warn
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.evaluation.document import Settings, document
from scorewise.inference.paired import Difference, area_difference, holm, smooth_difference
from scorewise.registry import MEASURES, Group, Measure
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.smroc import why_not_unit
from scorewise.views.documents import finite
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
    rows = binary_rows(
        source, label=label, score=score, weight=weight, count=count,
        positive=positive, kind=kind, missing=missing, encoding=encoding,
    )  # fmt: skip
    warn(rows.notes)
    return Tally.of_rows(rows, next(iter(rows.scores)), rows.sources)


# Several models on the same rows, side by side, and the differences between them.


class Comparison(Shown, Mapping[str, Evaluation]):
    """The evaluation of each model by its name, and `differences` between them.

    Prints as a table of all models.
    """

    def __init__(self, rows: Rows, settings: Settings, sources: tuple[str, ...] = ()) -> None:
        self.settings = settings
        self._models = {
            name: Evaluation(Tally.of_rows(rows, name, sources), settings) for name in rows.scores
        }
        self.differences = _differences(rows, self._models, settings.level)

    def __getitem__(self, name: str) -> Evaluation:
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def to_dict(self) -> Document:
        """The document that every view renders."""
        return document(self._models, self.settings, self.differences)


def compare(
    y: Any,
    scores: Mapping[str, Any],
    *,
    weight: Any = None,
    count: Any = None,
    positive: Any = None,
    threshold: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    clip: float | None = None,
) -> Comparison:
    """Every measure of several models' scores on the same rows, and their paired differences.

    >>> y = [1, 1, 0, 1, 0, 0]
    >>> c = compare(y, {"tree": [0.9, 0.7, 0.6, 0.5, 0.2, 0.0], "bayes": [0.6, 0.4, 0.7, 0.8, 0.1, 0.3]})
    >>> c["tree"].auroc.value, round(c.differences[0]["value"], 3)
    (0.8888888888888888, 0.111)
    """
    if not isinstance(scores, Mapping):
        raise BadInput("compare takes scores by name, such as {'tree': p, 'bayes': q}")
    rows = take(
        y,
        scores,
        weight=weight,
        count=count,
        positive=positive,
        kind=kind,
        missing=missing,
    )
    return Comparison(rows, Settings(threshold, level, seed, clip))


def judge(rows: Rows, **settings: Any) -> Document:
    """The document of all score columns that were read."""
    chosen = Settings(**settings)
    if not len(rows) or (rows.count is not None and not rows.count.any()):
        where = f"{', '.join(rows.sources)}: " if rows.sources else ""
        raise BadInput(f"{where}no rows are left to judge; {rows.dropped} were dropped as missing")
    return Comparison(rows, chosen, rows.sources).to_dict()


COMPARED = {"auroc": area_difference, "smauc": smooth_difference}


def _differences(rows: Rows, made: Mapping[str, Evaluation], level: float) -> list[Document]:
    """Each model minus each later one, paired; p-values are adjusted by Holm within each measure.

    smAUC is left out where the scores of a model are not on [0, 1]; its own row says so.
    """
    pairs = list(combinations(made, 2))
    on_unit = not any(why_not_unit(e.tally) for e in made.values())
    lines: list[Document] = []
    for measure, difference in COMPARED.items():
        if measure == "smauc" and not on_unit:
            continue
        found = [difference(rows, made[a].tally, made[b].tally, level) for a, b in pairs]
        lines += _lines(measure, pairs, found)
    return lines


def _lines(measure: str, pairs: list[tuple[str, str]], found: list[Difference]) -> list[Document]:
    adjusted = holm([difference.p for difference in found])
    return [
        {
            "measure": measure,
            "title": MEASURES[measure].title,
            "first": a,
            "second": b,
            "value": finite(e.value),
            "low": finite(e.low),
            "high": finite(e.high),
            "level": e.level,
            "method": e.method,
            "why": e.why,
            "p": finite(p),
            "p_adjusted": finite(q),
            "caution": e.caution,
        }
        for (a, b), (e, p), q in zip(pairs, found, adjusted, strict=True)
    ]

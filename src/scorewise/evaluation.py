"""Every measure of a model's scores, each with its interval, for the price of one sort."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, get_args

from scorewise import __version__
from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.door import Kind, Missing, Rows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.paired import area_difference, holm
from scorewise.registry import MEASURES, Group, Measure
from scorewise.sources import Loaded, load
from scorewise.tallies import Confusion, Tally
from scorewise.views.words import Document


@dataclass(frozen=True)
class Settings:
    """What an evaluation was asked for."""

    threshold: float = 0.5
    level: float = 0.95
    seed: int = 0
    clip: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.threshold):
            raise BadInput(
                f"threshold is {self.threshold}; it must be a finite number, such as 0.5"
            )
        if not 0 < self.level < 1:
            raise BadInput(f"level is {self.level}; it must lie between 0 and 1, such as 0.95")


class Evaluation(Mapping[str, Estimate]):
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
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def __getattr__(self, name: str) -> Estimate:
        try:
            return self.__dict__["_estimates"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(
                f"no measure is named {name}; there are {', '.join(sorted(MEASURES))}"
            ) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._estimates]

    def skill(self, name: str) -> float:
        """Share of the way from a measure's baseline to its best value; NaN where there is none."""
        return MEASURES[name].skill(self[name])

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema` prints its schema."""
        return document({self.tally.origin.score: self}, self.settings)

    def to_json(self) -> str:
        """The document as JSON."""
        from scorewise.views.jsontext import dumps

        return dumps(self.to_dict())

    def to_markdown(self) -> str:
        """The document as Markdown, for a pull request or a notebook."""
        from scorewise.views.markdown import markdown

        return markdown(self.to_dict())

    def to_frame(self) -> Any:
        """One row per measure, as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.to_dict()["models"][0]["measures"], infer_schema_length=None)

    def __repr__(self) -> str:
        from scorewise.views.terminal import text

        return text(self.to_dict())

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def evaluate(
    y: Any,
    p: Any = None,
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
) -> Evaluation:
    """Every measure of labels `y` and scores `p`, or of a `Tally`.

    A row is called positive when its score >= `threshold`. `weight` says how much a row matters,
    `count` how many rows it stands for. See `Tally.of` for `positive`, `kind` and `missing`, and
    `measures.log_loss` for `clip`.

    >>> e = evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> e.auroc
    0.889 [0.401, 0.988]
    >>> e["sensitivity"].value
    1.0
    """
    settings = Settings(threshold, level, seed, clip)
    if isinstance(y, Tally):
        given = {"p": p, "weight": weight, "count": count, "positive": positive, "kind": kind}
        if extra := [name for name, value in given.items() if value is not None]:
            raise BadInput(
                f"a tally has its scores and labels already; leave out {', '.join(extra)}"
            )
        return Evaluation(y, settings)
    if p is None:
        raise BadInput("scores are missing; call evaluate(y, p) with labels and scores, or a tally")
    tally = Tally.of(
        y, p, weight=weight, count=count, positive=positive, kind=kind, missing=missing
    )
    return Evaluation(tally, settings)


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
) -> Tally:
    """The tally of files, globs or any data frame, reading only the columns that are needed.

    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9]}, label="y", score="p")
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """
    scores = () if score is None else (score,)
    loaded = load(
        source, label=label, scores=scores, weight=weight, count=count,
        positive=positive, kind=kind, missing=missing,
    )  # fmt: skip
    for note in loaded.notes:
        warnings.warn(note, stacklevel=2)
    return Tally.of_rows(loaded.rows, next(iter(loaded.rows.scores)), loaded.sources)


def judge(loaded: Loaded, **settings: Any) -> Document:
    """The document of all score columns that were read."""
    chosen = Settings(**settings)
    rows = loaded.rows
    if not len(rows):
        where = f"{', '.join(loaded.sources)}: " if loaded.sources else ""
        raise BadInput(f"{where}no rows are left to judge; {rows.dropped} were dropped as missing")
    made = {s: Evaluation(Tally.of_rows(rows, s, loaded.sources), chosen) for s in rows.scores}
    return document(made, chosen, _differences(rows, made, chosen.level))


def _differences(rows: Rows, made: Mapping[str, Evaluation], level: float) -> list[Document]:
    """AUROC of each model minus that of each later one, paired, with p-values adjusted by Holm."""
    pairs = list(combinations(made, 2))
    found = [area_difference(rows, made[a].tally, made[b].tally, level) for a, b in pairs]
    adjusted = holm([difference.p for difference in found])
    return [
        {
            "measure": "auroc",
            "title": MEASURES["auroc"].title,
            "first": a,
            "second": b,
            "value": _finite(e.value),
            "low": _finite(e.low),
            "high": _finite(e.high),
            "level": e.level,
            "method": e.method,
            "why": e.why,
            "p": _finite(p),
            "p_adjusted": _finite(q),
        }
        for (a, b), (e, p), q in zip(pairs, found, adjusted, strict=True)
    ]


def document(
    evaluations: Mapping[str, Evaluation], s: Settings, differences: Sequence[Document] = ()
) -> Document:
    """The document of evaluations on the same rows."""
    t = next(iter(evaluations.values())).tally
    o = t.origin
    return {
        "schema": 1,
        "scorewise": __version__,
        "command": "evaluate",
        "settings": {"level": s.level, "seed": s.seed, "threshold": s.threshold, "clip": s.clip},
        "data": {
            "sources": list(o.sources),
            "label": o.label,
            "positive": o.positive,
            "negative": o.negative,
            "rule": o.rule,
            "rows": o.rows,
            "positives": o.positives,
            "negatives": o.negatives,
            "dropped": o.dropped,
            "weight": o.weight,
            "weight_positives": float(t.positives),
            "weight_negatives": float(t.negatives),
        },
        "models": [_model(name, e) for name, e in evaluations.items()],
        "differences": list(differences),
        "hints": [hint for name, e in evaluations.items() for hint in _hints(name, e)],
    }


def _model(name: str, e: Evaluation) -> Document:
    t, c = e.tally, e.confusion
    cut = t.cut(e.settings.threshold)
    lowest, highest = t.ends
    return {
        "name": name,
        "kind": t.kind,
        "distinct": len(t.score),
        "exact": t.coarse is None,
        "lowest": _finite(lowest),
        "highest": _finite(highest),
        "cut": {
            "threshold": cut.threshold,
            "above": _finite(cut.above),
            "upto": _finite(cut.upto),
        },
        "confusion": {"tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn},
        "measures": [_row(MEASURES[key], estimate) for key, estimate in e.items()],
    }


def _row(m: Measure, e: Estimate) -> Document:
    numbers = {"value": e.value, "low": e.low, "high": e.high}
    return {
        "name": m.name,
        "title": m.title,
        "group": m.group,
        "meaning": m.meaning,
        "better": m.better,
        **{key: _finite(x) for key, x in numbers.items()},
        "level": e.level,
        "method": e.method,
        "why": e.why,
        "bound": e.bound,
        "baseline": None if e.baseline is None else _finite(e.baseline),
        "skill": _finite(m.skill(e)),
    }


def _finite(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _hints(name: str, e: Evaluation) -> Iterator[str]:
    """What a reader should be told in words."""
    c, t = e.confusion, e.tally
    if why := t.why_not_ranked:
        yield f"'{name}': {why}; measures that need both classes are undefined"
    elif e.auroc.value < 0.5 and e.auroc.high < 0.5:
        yield (
            f"AUROC of '{name}' is below 0.5: a higher score goes with the negative class; is "
            f"'{t.origin.positive}' the positive one?"
        )
    for side, called in (("negative", c.tp + c.fp), ("positive", c.tn + c.fn)):
        if c.table.sum() and not called:
            lowest, highest = t.ends
            yield (
                f"'{name}': every row is called {side}; scores lie in [{lowest:.4g}, {highest:.4g}] "
                f"and the threshold is {e.settings.threshold:g}"
            )

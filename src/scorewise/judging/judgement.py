"""A judge asked twice, with the two answers in exchanged positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from scorewise.arrays import Bools
from scorewise.columns.ratings import Scale
from scorewise.columns.rows import one_of
from scorewise.estimate import Estimate
from scorewise.inference.agreement_weights import agreements
from scorewise.inference.shares import sign_test, wilson
from scorewise.judging.accuracy import (
    Against,
    BesideHumans,
    Category,
    Ceiling,
    Difference,
    accuracy,
    against,
    beside_humans,
    categories,
    ceiling,
    differences,
)
from scorewise.judging.kappas import Interval, error_of_one, kappa_of
from scorewise.judging.needed import (
    Of,
    Settings,
    check_width,
    needed_for_difference,
    needed_for_error,
    needed_for_share,
)
from scorewise.judging.panel import Panel
from scorewise.judging.reading import NoAnswer, Said, read_judges
from scorewise.judging.shares import Grades, Prevalence, grades, prevalences
from scorewise.views.shown import Shown
from scorewise.views.words import Document


@dataclass(frozen=True)
class Repeated:
    """Whether a judge says the same of the same two answers in either order.

    `first` is the share that leans to the first position among the items on which the verdicts differ and
    lean to one; its p-value is that of an even split. `leaning` are the numbers of such items.
    """

    items: int
    consistent: Estimate
    kappa: Estimate
    first: Estimate
    leaning: tuple[int, int]


def repeated(panel: Panel, judge: str, level: float) -> Repeated | None:
    """The two runs of a judge; None where there is one."""
    swap = panel.said.swap
    if judge not in panel.swapped or swap is None:
        return None
    known = len(panel.said.categories)
    to = np.append(np.arange(len(panel.categories)), -1).astype(np.int32)
    side = np.zeros(len(panel.categories) + 1, np.int32)
    to[:known], side[:known] = swap.to, swap.side
    once, again = panel.judges[judge], panel.swapped[judge]
    c = panel.confusion(once, to[again])
    both = (once >= 0) & (again >= 0)
    lean = np.where(both & (once != to[again]), side[once] + side[again], 0)
    return Repeated(
        panel.items(both),
        replace(accuracy(c, level), baseline=None),
        kappa_of(c, panel.agreement, level),
        _leaning(panel, lean > 0, lean < 0, level),
        (panel.items(lean > 0), panel.items(lean < 0)),
    )


def _leaning(panel: Panel, first: Bools, second: Bools, level: float) -> Estimate:
    one, one2 = panel.sums(first)
    two, two2 = panel.sums(second)
    if not one + two:
        return Estimate.undefined("no verdict depends on the position", level)
    value, low, high = wilson(one, two, one2, two2, level)
    p = sign_test(one, two, one2, two2)
    return Estimate(value, low, high, level, "Wilson; exact binomial", baseline=0.5, p=p)


# Automatic judges against humans: everything about them, on the same items.


@dataclass(frozen=True)
class Judged:
    """One judge: against the truth (`truth`), each human, the human level, itself, and on all items."""

    name: str
    silent: int
    truth: Against
    categories: tuple[Category, ...]
    humans: tuple[Against, ...]
    ceiling: BesideHumans | None
    swap: Repeated | None
    prevalence: tuple[Prevalence, ...]
    grades: Grades | None = None

    @property
    def accuracy(self) -> Estimate:
        """Share of items on which the judge says what the truth is."""
        return self.truth.accuracy

    @property
    def kappa(self) -> Estimate:
        """That agreement beyond chance."""
        return self.truth.kappa


class Judgement(Shown):
    """Judges against humans; prints as tables.

    `judges` are by name, `ceiling` is how well humans agree with one another (None for one human),
    `differences` compares each two judges.
    """

    def __init__(
        self,
        panel: Panel,
        settings: Settings,
        judges: Mapping[str, Judged],
        ceiling: Ceiling | None,
        differences: Sequence[Difference],
    ) -> None:
        self.panel, self.settings = panel, settings
        self.judges, self.ceiling = dict(judges), ceiling
        self.differences = tuple(differences)

    @property
    def truth(self) -> str:
        """What stands for the truth."""
        names = list(self.panel.humans)
        return names[0] if len(names) == 1 else f"most frequent rating of {len(names)} humans"

    def items_needed(self, width: float, of: Of = "kappa") -> dict[str, int]:
        """How many labelled items an interval of that width would take, going by these, for each judge.

        Of a difference, for each pair of judges; of a kappa that is not defined there is no number.
        """
        check_width(width)
        one_of("of", of, get_args(Of))
        level = self.settings.level
        if of == "difference":
            return {
                f"{d.first} - {d.second}": needed_for_difference(
                    width, d.only_first - d.only_second, d.only_first + d.only_second, level
                )
                for d in self.differences
                if d.accuracy.defined
            }
        known = {
            n: j
            for n, j in self.judges.items()
            if (j.kappa if of == "kappa" else j.accuracy).defined
        }
        if of != "kappa":
            return {n: needed_for_share(width, j.accuracy.value, level) for n, j in known.items()}
        agreement = self.panel.agreement
        return {
            n: needed_for_error(width, error_of_one(j.truth.confusion, agreement), level)
            for n, j in known.items()
        }

    def to_frame(self) -> Any:
        """One row for each judge and measure, as a polars frame."""
        import polars as pl

        from scorewise.judging.document import rows

        return pl.DataFrame(rows(self), infer_schema_length=None)

    def plot(self, ax: Any = None) -> Any:
        """Draw the kappa of each judge, and that of humans with one another, over the bands."""
        from scorewise.displays import CoefficientsDisplay

        kappas = {name: j.kappa for name, j in self.judges.items()}
        humans = {} if self.ceiling is None else {"humans, in pairs": self.ceiling.mean}
        return CoefficientsDisplay({**kappas, **humans}).plot(ax=ax)

    def to_dict(self) -> Document:
        """The document that every view renders."""
        from scorewise.judging.document import document

        return document(self)


def judge(
    source: Any = None,
    second: Any = None,
    /,
    *,
    humans: Any = None,
    judges: Any = None,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    weights: Any = None,
    swapped: Mapping[str, Any] | Sequence[str] | None = None,
    swap: Mapping[str, str] | str | None = None,
    ignore: Sequence[Any] = (),
    no_answer: NoAnswer = "drop",
    weight: Any = None,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = 2000,
    width: float | None = None,
    interval: Interval = "formula",
    encoding: str | None = None,
) -> Judgement:
    """Automatic judges against one or several humans on the same items.

    judge(humans, judges): each is columns by name (a mapping or frame), an array with a column for each,
    or one column. judge(source, humans=names, judges=names): columns of a file, of several files or of a
    frame; then `swapped` and `weight` are names, too. Files of text are in UTF-8, or in `encoding`.

    The truth is the most frequent human rating; items on which humans tie are left out and counted. Shares
    of human votes use all items, also those without a human rating. What a judge leaves out, or says that
    is in `ignore`, is no answer: dropped, or with no_answer="wrong" a disagreement. `swapped` has, by
    judge, the verdicts on the same answers in exchanged positions, and `swap` says which verdicts then
    mean the same ("A=B"). Differences and means of kappas have intervals by formula, or with
    interval="bootstrap" by resampling items.

    >>> ann = ["good", "bad", "good", "bad", "good", "bad"]
    >>> found = judge({"ann": ann}, {"bot": ["good", "bad", "good", "bad", "bad", "bad"]})
    >>> found.judges["bot"].accuracy
    0.833 [0.436, 0.970]
    >>> found.judges["bot"].kappa
    0.667 [-0.088, 0.981]
    """
    settings = Settings(scale, no_answer, level, seed, replicates, width, interval)
    said = read_judges(
        source, second, humans=humans, judges=judges, swapped=swapped, weight=weight, scale=scale,
        categories=categories, swap=swap, ignore=ignore, encoding=encoding,
    )  # fmt: skip
    agreement, word = agreements(
        weights, scale, said.categories, said.values, categories is not None
    )
    return judged(Panel.of(said, agreement, word, no_answer), settings)


def judged(panel: Panel, settings: Settings) -> Judgement:
    """Everything about the judges of a panel."""
    draws = settings.draws
    top = ceiling(panel, draws)
    found = {name: _judged(panel, name, settings, top) for name in panel.judges}
    return Judgement(panel, settings, found, top, differences(panel, draws))


def _judged(panel: Panel, name: str, settings: Settings, top: Ceiling | None) -> Judged:
    codes, level = panel.judges[name], settings.level
    truth = against(panel, "truth", panel.truth, codes, level)
    return Judged(
        name,
        _silent(panel.said, name),
        truth,
        categories(truth.confusion, level),
        tuple(against(panel, h, column, codes, level) for h, column in panel.humans.items())
        if top
        else (),
        beside_humans(panel, codes, top.columns, settings.draws) if top else None,
        repeated(panel, name, level),
        prevalences(panel, name, level),
        grades(panel, name, settings.scale, level),
    )


def _silent(said: Said, name: str) -> int:
    """Items on which the judge gives no answer."""
    return int(said.count[said.judges[name] < 0].sum())

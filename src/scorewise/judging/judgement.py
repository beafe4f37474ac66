"""Automatic judges against humans: everything about each of them, on the same items, as one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from scorewise import subgroups
from scorewise.arrays import Floats
from scorewise.checks import check, one_of
from scorewise.columns.grouping import grouping
from scorewise.columns.ratings import Scale
from scorewise.computing import once
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.judging.accuracy import (
    Accuracy,
    AgainstHuman,
    BesideHumans,
    Category,
    Ceiling,
    Difference,
    Grades,
    Items,
    Repeated,
    agreement,
    beside_humans,
    categories,
    ceiling,
    differences,
    grades,
    repeated,
)
from scorewise.judging.kappas import (
    Of,
    Two,
    error_of_one,
    items_needed,
    needed_for_error,
)
from scorewise.judging.panel import Interval, NoAnswer, Panel, Settings, read_panel
from scorewise.judging.prevalence import Prevalence, prevalences
from scorewise.show.records import Count, EstimateField, Record, field
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import Claim
from scorewise.subgroups import GroupWording

if TYPE_CHECKING:
    from scorewise.judging.document import JudgeDocument


class Cell(Record):
    """A cell of the table of truth and judge."""

    truth: str = field("Category in truth.")
    judge: str = field("Category of the judge.")
    weight: float = field("Weight of the items; their number without weights.", ge=0)


class Judge(Record):
    """A judge against the truth, each human, the human level, itself, and on all items."""

    name: str
    silent: Count = field("Items on which it gives no answer.")
    items: Items
    accuracy: Accuracy
    kappa: EstimateField
    categories: list[Category] = field("Each category.", min_length=1)
    confusion: list[Cell] = field("Cells of the table that are not empty.")
    humans: list[AgainstHuman] = field("Against each human; empty for one human.")
    ceiling: BesideHumans | None = field("Against the human level; null for one human.")
    swap: Repeated | None = field("Asked again with positions exchanged; null when it was not.")
    prevalence: list[Prevalence] = field("Shares of all items; empty if all are labelled.")
    grades: Grades | None = field(
        "Grades against those of the truth; null where ratings have no order."
    )

    @classmethod
    def of(cls, panel: Panel, name: str, top: Ceiling | None) -> Judge:
        """All about a judge of the panel; `top` is how well humans agree, where there are several."""
        codes = panel.judges[name]
        both = Two(panel, panel.truth, codes)
        c, humans = both.table, panel.humans if top else {}
        return cls(
            name=name,
            silent=panel.items(panel.answers[name] < 0),
            **agreement(both),
            categories=categories(c, panel.settings.level),
            confusion=[
                Cell(truth=c.classes[i], judge=c.classes[k], weight=float(c.weight[i, k]))
                for i, k in np.argwhere(c.weight > 0).tolist()
            ],
            humans=[
                AgainstHuman(name=human, **agreement(Two(panel, column, codes)))
                for human, column in humans.items()
            ],
            ceiling=beside_humans(panel, codes) if top else None,
            swap=repeated(panel, name),
            prevalence=prevalences(panel, name),
            grades=grades(panel, name),
        )


class Judgement(Result):
    """Judges against humans; prints as tables.

    `judges` are by name, `ceiling` is how well humans agree with one another (None for one human),
    `differences` compares each two judges. `groups["north"]` is the judgement of the items of a group,
    where columns of groups were named (`by`).
    """

    def __init__(self, panel: Panel, min_rows: int = 20) -> None:
        self.panel, self.settings = panel, panel.settings
        self.ceiling = ceiling(panel)
        self.judges = {name: Judge.of(panel, name, self.ceiling) for name in panel.judges}
        self.differences: list[Difference] = differences(panel)
        self.groups = Groups(panel, min_rows)

    @property
    def truth(self) -> str:
        """What stands for the truth."""
        names = list(self.panel.humans)
        return names[0] if len(names) == 1 else f"most frequent rating of {len(names)} humans"

    def items_needed(self, width: float, of: Of = "kappa") -> dict[str, int]:
        """How many labelled items an interval of that width would take, going by these, for each judge.

        Of a difference, for each pair of judges; of a kappa that is not defined there is no number.
        """
        check(width=width)
        one_of("of", of, get_args(Of))
        p, level = self.panel, self.settings.level
        if of == "difference":
            shares = {
                f"{d.first} - {d.second}": (d.only_first, d.only_second)
                for d in self.differences
                if d.accuracy.defined
            }
            return {
                n: items_needed(width, of, difference=a - b, discordant=min(a + b, 1), level=level)
                for n, (a, b) in shares.items()
            }
        if of != "kappa":
            return {
                n: items_needed(width, of, share=j.accuracy.value, level=level)
                for n, j in self.judges.items()
                if j.accuracy.defined
            }
        return {
            n: needed_for_error(width, error_of_one(Two(p, p.truth, p.judges[n])), level)
            for n, j in self.judges.items()
            if j.kappa.defined
        }

    def pictures(self) -> Pictures:
        """The kappa of each judge and of humans with one another; gaps to humans; differences of judges."""
        from scorewise.displays import CoefficientsDisplay, ForestDisplay

        kappas = {name: j.kappa for name, j in self.judges.items()}
        humans = {} if self.ceiling is None else {"humans, in pairs": self.ceiling.kappa}
        gaps = {n: j.ceiling.gap for n, j in self.judges.items() if j.ceiling is not None}
        pairs = {f"{d.first} - {d.second}": d for d in self.differences}
        forests = {
            "gaps": (gaps, "kappa of the judge less that of a human"),
            "differences": ({n: d.accuracy for n, d in pairs.items()}, "difference in accuracy"),
            "kappa_differences": ({n: d.kappa for n, d in pairs.items()}, "difference in kappa"),
        }
        kinds: dict[str, Any] = {"kappas": CoefficientsDisplay({**kappas, **humans}).plot}
        kinds |= {
            kind: ForestDisplay(found, what=what, lines={"no difference": (0.0, -1)}).plot
            for kind, (found, what) in forests.items()
            if found
        }
        if not self.groups:
            return Pictures(kinds, ("kappas",))
        kinds["groups"] = self._forest
        return Pictures(kinds, ("kappas", "groups"))

    def _forest(self, measure: str = "kappa", *, ax: Any = None) -> Any:
        """The groups of each judge."""
        from scorewise.displays import ForestDisplay

        def whole(judge: str) -> Any:
            return getattr(self.judges[judge], measure)

        return ForestDisplay.from_records(self.groups.records, whole, measure, ax=ax)

    def document(self) -> JudgeDocument:
        """What is written and shown; `scorewise schema judge` prints its schema."""
        from scorewise.judging.document import JudgeDocument

        return JudgeDocument.of(self)


# Judges by group of items: how far each agrees with the truth in a group, beside the rest of the items.


WORDING = GroupWording(
    better={"accuracy": "high", "kappa": "high"},
    sentences={
        "kappa": ("{model} agrees with the truth less on {}", "{model} agrees with the truth more on {}")
    },
    titles={"accuracy": "Accuracy", "kappa": "Kappa"},
    noun="item",
)  # fmt: skip


class Groups(subgroups.GroupsOfModels[Judgement]):
    """The judgement of the items of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, panel: Panel, min_rows: int) -> None:
        items = panel.has_truth if panel.groups else None
        super().__init__(grouping(panel.groups, min_rows, times=items))
        self.panel = panel
        self.each = {judge: OfJudge(self, judge) for judge in panel.judges if len(self)}

    def _make(self, name: str) -> Judgement:
        return Judgement(self.part(self._index[name]))

    @once
    def part(self, k: int, inside: bool = True) -> Panel:
        """The panel on the items of a group, or on all others that are in one."""
        codes = self.grouping.codes
        return self.panel.part(
            np.flatnonzero((codes == k if inside else codes != k) & (codes >= 0))
        )

    def claims(self) -> Iterator[Claim]:
        """On which group each judge agrees less with the truth, or that none is told apart."""
        claims = [c for of in self.each.values() for c in of.claims(len(self.each))]
        yield from [c for c in claims if c.finding != "not told apart"] or claims[:1]


class Side(dict[str, Estimate]):
    """The accuracy and kappa of a judge on some of the items, and the columns that they are of."""

    two: Two


class OfJudge(subgroups.GroupComparison[Side]):
    """One judge by group of items."""

    wording, measures = WORDING, tuple(WORDING.titles)

    def __init__(self, groups: Groups, judge: str) -> None:
        self.groups, self.grouping, self.model = groups, groups.grouping, judge
        self.level, self.cluster = groups.panel.settings.level, groups.panel.cluster

    def estimates(self, k: int, inside: bool, level: float) -> Side:
        """Accuracy and kappa on the items of a group, or on all others."""
        panel = self.groups.part(k, inside)
        if level != panel.settings.level:
            panel = replace(panel, settings=replace(panel.settings, level=level))
        two = Two(panel, panel.truth, panel.judges[self.model])
        side = Side(agreement(two))
        side.two = two
        return side

    def influence(self, of: Side, measure: str) -> Floats:
        """What each item does to a measure, times its weight; 0 for items that are not judged."""
        return of.two.influence(measure)


def judge(
    source: Any = None,
    second: Any = None,
    /,
    *,
    humans: Any | Sequence[str] = None,
    judges: Any | Sequence[str] = None,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    weights: Any = None,
    swapped: Mapping[str, Any] | Sequence[str] | None = None,
    swap: Mapping[str, str] | str | None = None,
    ignore: Sequence[Any] = (),
    no_answer: NoAnswer = "drop",
    weight: Any = None,
    cluster: Any = None,
    by: Any | Sequence[str] = None,
    min_rows: int = 20,
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

    `cluster` says which items belong together, such as answers to one question: intervals of accuracies,
    kappas and their differences then allow for what items of one cluster share. `by` names columns of
    groups of items, or is a column or a mapping to columns: the document then has accuracy and kappa of
    each judge in each group beside the rest of the items, and `groups["north"]` is the judgement of one.
    Groups with fewer than `min_rows` items that have a truth are shown and not judged.

    >>> ann = ["good", "bad", "good", "bad", "good", "bad"]
    >>> found = judge({"ann": ann}, {"bot": ["good", "bad", "good", "bad", "bad", "bad"]})
    >>> found.judges["bot"].accuracy
    0.833 [0.436, 0.970]
    >>> found.judges["bot"].kappa
    0.667 [-0.088, 0.981]
    """
    settings = Settings(
        scale=scale, no_answer=no_answer, interval=interval, level=level, seed=seed,
        replicates=replicates, width=width,
    )  # fmt: skip
    check(min_rows=min_rows)
    if cluster is not None and interval == "bootstrap":
        raise BadInput(
            Option("interval", "bootstrap"), " resamples single items; with ", Option("cluster"),
            " intervals are by formula",
        )  # fmt: skip
    columns = {
        "human": humans, "judge": judges, "swapped": swapped, "weight": weight, "cluster": cluster,
        "group": by,
    }  # fmt: skip
    panel = read_panel(
        source, second, columns, settings, categories=categories, weights=weights, swap=swap,
        ignore=ignore, encoding=encoding,
    )  # fmt: skip
    return Judgement(panel, min_rows)

"""Automatic judges against humans: everything about each of them, on the same items, as one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from scorewise.checks import at_least, check, one_of
from scorewise.columns.ratings import Scale
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.shares import sign_test, wilson
from scorewise.judging.accuracy import (
    Accuracy,
    AgainstHuman,
    BesideHumans,
    Category,
    Ceiling,
    Difference,
    Grades,
    Items,
    accuracy,
    agreement,
    beside_humans,
    categories,
    ceiling,
    differences,
    grades,
)
from scorewise.judging.kappas import (
    Interval,
    Of,
    error_of_one,
    kappa_of,
    needed_for_difference,
    needed_for_error,
    needed_for_share,
)
from scorewise.judging.prevalence import Prevalence, prevalences
from scorewise.judging.reading import NoAnswer, Panel, read_panel
from scorewise.show.estimates import EstimateField, Repeatable
from scorewise.show.fields import Count, Record, means
from scorewise.show.shown import Shown

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures
    from scorewise.judging.document import JudgeDocument


class Settings(Repeatable):
    """The settings that the numbers depend on."""

    scale: Scale = means("What ratings are.", default="nominal")
    weights: str = means("How near misses count in kappa; own: by a matrix.", default="")
    no_answer: NoAnswer = means("What a judge's silence is.", default="drop")
    interval: Interval = means("How gaps between kappas got intervals.", default="formula")
    replicates: Count = means("Resamples of the items.", default=2000)
    width: float | None = means("Width of intervals asked for; null when none was.", default=None)

    def __post_init__(self) -> None:
        one_of("no_answer", self.no_answer, get_args(NoAnswer))
        one_of("interval", self.interval, get_args(Interval))
        check(level=self.level, seed=self.seed, width=self.width)
        at_least(100, 2000, replicates=self.replicates)

    @property
    def draws(self) -> dict[str, Any]:
        """What intervals of sums of kappas take."""
        names = ("interval", "level", "replicates", "seed")
        return {name: getattr(self, name) for name in names}


# A judge asked twice, with the two answers in exchanged positions.


class Repeated(Record):
    """A judge asked again with positions exchanged: whether it says the same in either order."""

    items: Count = means("Items with both verdicts.")
    consistent: EstimateField = means("Share of items with the same verdict.")
    kappa: EstimateField = means("Kappa of the two runs.")
    first: EstimateField = means(
        "Share of position-bound verdicts that lean to the first; p-value of an even split."
    )
    leaning: tuple[Count, Count] = means("Items leaning to the first and to the second.")


def repeated(panel: Panel, judge: str, level: float) -> Repeated | None:
    """The two runs of a judge; None where there is one."""
    swap = panel.swap
    if judge not in panel.swapped or swap is None:
        return None
    known = len(panel.words)
    to = np.append(np.arange(len(panel.categories)), -1).astype(np.int32)
    side = np.zeros(len(panel.categories) + 1, np.int32)
    to[:known], side[:known] = swap.to, swap.side
    once, again = panel.judges[judge], panel.swapped[judge]
    c = panel.confusion(once, to[again])
    both = (once >= 0) & (again >= 0)
    lean = np.where(both & (once != to[again]), side[once] + side[again], 0)
    (one, one2), (two, two2) = panel.sums(lean > 0), panel.sums(lean < 0)
    first = Estimate.undefined("no verdict depends on the position", level)
    if one + two:
        p, how = sign_test(one, two, one2, two2), "Wilson; exact binomial"
        first = Estimate(*wilson(one, two, one2, two2, level), level, how, baseline=0.5, p=p)
    return Repeated(
        items=panel.items(both),
        consistent=replace(accuracy(c, level), baseline=None),
        kappa=kappa_of(c, panel.agreement, level),
        first=first,
        leaning=(panel.items(lean > 0), panel.items(lean < 0)),
    )


# Everything about one judge, and about all of them.


class Cell(Record):
    """A cell of the table of truth and judge."""

    truth: str = means("Category in truth.")
    judge: str = means("Category of the judge.")
    weight: float = means("Weight of the items; their number without weights.", ge=0)


class Judge(Record):
    """A judge against the truth, each human, the human level, itself, and on all items."""

    name: str
    silent: Count = means("Items on which it gives no answer.")
    items: Items
    accuracy: Accuracy
    kappa: EstimateField
    categories: list[Category] = means("Each category.", min_length=1)
    confusion: list[Cell] = means("Cells of the table that are not empty.")
    humans: list[AgainstHuman] = means("Against each human; empty for one human.")
    ceiling: BesideHumans | None = means("Against the human level; null for one human.")
    swap: Repeated | None = means("Asked again with positions exchanged; null when it was not.")
    prevalence: list[Prevalence] = means("Shares of all items; empty if all are labelled.")
    grades: Grades | None = means(
        "Grades against those of the truth; null where ratings have no order."
    )

    @classmethod
    def of(cls, panel: Panel, name: str, settings: Settings, top: Ceiling | None) -> Judge:
        """All about a judge of the panel; `top` is how well humans agree, where there are several."""
        codes, level = panel.judges[name], settings.level
        c = panel.confusion(panel.truth, codes)
        humans = panel.humans if top else {}
        return cls(
            name=name,
            silent=panel.items(panel.answers[name] < 0),
            **agreement(panel, panel.truth, codes, level),
            categories=categories(c, level),
            confusion=[
                Cell(truth=c.classes[i], judge=c.classes[k], weight=float(c.weight[i, k]))
                for i, k in np.argwhere(c.weight > 0).tolist()
            ],
            humans=[
                AgainstHuman(name=human, **agreement(panel, column, codes, level))
                for human, column in humans.items()
            ],
            ceiling=beside_humans(panel, codes, top, settings.draws) if top else None,
            swap=repeated(panel, name, level),
            prevalence=prevalences(panel, name, level),
            grades=grades(panel, name, settings.scale, level),
        )


class Judgement(Shown):
    """Judges against humans; prints as tables.

    `judges` are by name, `ceiling` is how well humans agree with one another (None for one human),
    `differences` compares each two judges. `groups["north"]` is the judgement of the items of a group,
    where columns of groups were named (`by`).
    """

    def __init__(self, panel: Panel, settings: Settings) -> None:
        self.panel, self.settings = panel, settings
        self.ceiling = ceiling(panel, settings.draws)
        self.judges = {n: Judge.of(panel, n, settings, self.ceiling) for n in panel.judges}
        self.differences: list[Difference] = differences(panel, settings.draws)
        self.groups: Mapping[str, Judgement] = {}

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
            return {
                f"{d.first} - {d.second}": needed_for_difference(
                    width, d.only_first - d.only_second, d.only_first + d.only_second, level
                )
                for d in self.differences
                if d.accuracy.defined
            }
        if of != "kappa":
            known = {n: j.accuracy.value for n, j in self.judges.items() if j.accuracy.defined}
            return {n: needed_for_share(width, share, level) for n, share in known.items()}
        tables = {
            n: p.confusion(p.truth, p.judges[n]) for n, j in self.judges.items() if j.kappa.defined
        }
        errors = {n: error_of_one(c, p.agreement) for n, c in tables.items()}
        return {n: needed_for_error(width, error, level) for n, error in errors.items()}

    def pictures(self) -> Pictures:
        """The kappa of each judge and of humans with one another; gaps to humans; differences of judges."""
        from scorewise.displays import CoefficientsDisplay, ForestDisplay
        from scorewise.displays.overview import Pictures

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
        from scorewise.judging.groups import Groups

        assert isinstance(self.groups, Groups)
        totals = {name: getattr(j, measure).value for name, j in self.judges.items()}
        return ForestDisplay.from_records(self.groups.records, totals, measure, ax=ax)

    def document(self) -> JudgeDocument:
        """What is written and shown; `scorewise schema judge` prints its schema."""
        from scorewise.judging.document import judge_document

        return judge_document(self)


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
    panel = read_panel(
        source, second, humans, judges, swapped, weight, encoding, scale=scale,
        categories=categories, weights=weights, swap=swap, ignore=ignore, no_answer=no_answer,
        cluster=cluster, by=by,
    )  # fmt: skip
    made = Judgement(panel, replace(settings, weights=panel.weights))
    if panel.groups:
        from scorewise.judging.groups import Groups

        made.groups = Groups(made, min_rows)
    return made

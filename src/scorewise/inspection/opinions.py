"""Agreement of several raters or models on the same rows, by decisions and by scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.curves.smroc import smooth_roc
from scorewise.curves.thresholds import Roc, distance
from scorewise.estimate import Estimate
from scorewise.inference.shares import wilson
from scorewise.inspection.suspects import NamedRow, place_of_row
from scorewise.show.data import RowsRecord
from scorewise.show.page import Heads, Section, section
from scorewise.show.records import (
    Count,
    Number,
    PairNames,
    Record,
    Share,
    Weight,
    doc,
    field,
    record_of,
)
from scorewise.show.verdict import Claim, as_percent, claim, figure
from scorewise.show.words import by_reason, count, formatted, plural, truncated
from scorewise.statistics.smroc import Rule, why_not_unit
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.tallies import Tally
from scorewise.tallies.sorting import largest

MAX_ID = 16  # letters that are shown
MAX_FILE_NAME = 20
ROUNDING = 1e-7  # 0.7 - 0.6 is slightly above 0.1, and more so in 32 bits
LEVEL = 0.95  # of the share of rows with the same decision
Middle: TypeAlias = Annotated[Number, doc("Scores from here on are high; null when there is none.")]
Tolerance: TypeAlias = Annotated[Weight, doc("Largest difference of scores that agree.")]


class Rating(Record):
    """What one rater says of a row."""

    name: str
    positive: bool = field("Whether it decides for the positive class.")
    score: float = field("Its score; of logits, the probability.")


class Instance(NamedRow):
    """A row on which raters differ."""

    apart: float = field("How far the highest and the lowest score lie apart.", ge=0)
    ratings: list[Rating] = field("What each of them says.", min_length=2)

    @property
    def decisions(self) -> tuple[bool, ...]:
        """Who decides for the positive class, in the order of the raters."""
        return tuple(rating.positive for rating in self.ratings)

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores, in the order of the raters."""
        return tuple(rating.score for rating in self.ratings)


class Rater(NamedTuple):
    """One rater: the smROC curve of its scores and its area, or why there is none."""

    name: str
    curve: Roc | None
    area: Estimate
    midpoint: float | None


class Pair(NamedTuple):
    """Two raters: the area between their curves, and the shares of rows on which they agree."""

    first: str
    second: str
    distance: Estimate
    same_decisions: float
    within_tolerance: float


@dataclass(frozen=True)
class Agreement:
    """Whether raters agree, row by row.

    `decisions` and `within` are the shares of rows on which all decide the same, and on which all
    scores lie within the `tolerance`. `apparent` are rows that only look like disagreement: other
    decisions, but scores within the tolerance; `real` those where both differ, `hidden` those with one
    decision but scores apart. `numbers` counts the rows of each kind; `agree` are the positions, from
    0 in the input, of all rows within the tolerance.
    """

    tolerance: float
    raters: list[Rater]
    pairs: list[Pair]
    decisions: float
    within: float
    numbers: dict[str, int]
    apparent: list[Instance]
    real: list[Instance]
    hidden: list[Instance]
    agree: Ints


class Opinions(NamedTuple):
    """Decisions and scores of several raters on the same rows: one column for each rater.

    `tallies`, one for each rater, set its scores against its own decisions or against labels; `ids` name
    all rows of the input.
    """

    names: Sequence[str]
    decisions: Bools
    scores: Floats
    tallies: Sequence[Tally]
    rows: Rows
    ids: Sequence[Any] | None

    def compared(
        self, *, tolerance: float, rule: Rule | float | Tally = "mean", top: int
    ) -> Agreement:
        """How far the raters agree, and the `top` rows of each kind on which they do not."""
        mass, kept = self.rows.mass(), self.rows.place.kept

        def alike(among: Sequence[int]) -> tuple[Bools, Bools]:
            """Rows on which some raters decide the same, and on which their scores are near."""
            said, scores = self.decisions[:, among], self.scores[:, among]
            same: Bools = (said == said[:, :1]).all(1)
            return same, np.ptp(scores, axis=1) <= tolerance + ROUNDING

        def share(which: Bools) -> float:
            return float(mass[which].sum()) / float(mass.sum()) if mass.any() else float("nan")

        raters = [_rater(name, t, rule) for name, t in zip(self.names, self.tallies, strict=True)]
        same, near = alike(range(len(raters)))
        kinds = {
            "both": same & near,
            "apparent": ~same & near,
            "hidden": same & ~near,
            "real": ~same & ~near,
        }
        kinds = {kind: which & (mass > 0) for kind, which in kinds.items()}
        agree = np.flatnonzero(near & (mass > 0))
        return Agreement(
            tolerance=tolerance,
            raters=raters,
            pairs=[
                Pair(a.name, b.name, _between(a, b), *map(share, alike([i, k])))
                for (i, a), (k, b) in combinations(enumerate(raters), 2)
            ],
            decisions=share(same),
            within=share(near),
            numbers={kind: self.rows.number(which) for kind, which in kinds.items()},
            agree=agree if kept is None else kept[agree].astype(np.int64),
            **{kind: self._instances(kinds[kind], top) for kind in ("apparent", "real", "hidden")},
        )

    def _instances(self, which: Bools, top: int) -> list[Instance]:
        """Those of the rows on which scores are furthest apart; of equals, the first."""
        apart = np.ptp(self.scores, axis=1)
        return [
            Instance(
                **place_of_row(self.rows.place, i, self.ids),
                apart=float(apart[i]),
                ratings=[
                    Rating(name=name, positive=decision, score=score)
                    for name, decision, score in zip(
                        self.names, self.decisions[i].tolist(), self.scores[i].tolist(), strict=True
                    )
                ],
            )
            for i in largest(which, top, apart.round(12)).tolist()
        ]


def _rater(name: str, t: Tally, rule: Rule | float | Tally) -> Rater:
    """The curve of one rater."""
    if why := t.why_not_ranked or why_not_unit(t):
        return Rater(name, None, Estimate.undefined(why), None)
    m = find_midpoint(t, rule).value
    curve = smooth_roc(t, m)
    if not curve.height or not curve.width:
        side = "climbs" if not curve.height else "runs"
        return Rater(name, None, Estimate.undefined(f"nothing {side}: scores are all 0 or 1"), m)
    return Rater(name, curve, Estimate(curve.area), m)


def _between(a: Rater, b: Rater) -> Estimate:
    """The area between the curves of two raters."""
    if a.curve is not None and b.curve is not None:
        return Estimate(distance(a.curve, b.curve))
    without = a if a.curve is None else b
    return Estimate.undefined(f"'{without.name}' has no curve: {without.area.why}")


# What is written and shown of it.


class NumbersRecord(Record):
    """Rows by whether decisions are the same and scores within the tolerance."""

    both: Count = field("Same decision, scores within the tolerance.")
    apparent: Count
    hidden: Count
    real: Count


class RaterRecord(Record):
    """One rater or model."""

    name: str
    midpoint: Middle
    smauc: Share | None = field("Area under its smROC curve; null when there is none.")
    why: str


class PairRecord(PairNames):
    """Two raters or models."""

    distance: Share | None = field("Area between their smROC curves; null when one has none.")
    why: str
    same_decisions: Share | None
    within_tolerance: Share | None


class AgreementRecord(Record):
    """How far raters or models agree."""

    tolerance: Tolerance
    same_decisions: Share | None
    within_tolerance: Share | None
    numbers: NumbersRecord
    raters: list[RaterRecord] = field("Each rater or model.", min_length=2)
    pairs: list[PairRecord] = field("Each two of them.", min_length=1)
    apparent: list[Instance]
    real: list[Instance]
    hidden: list[Instance]

    @classmethod
    def of(cls, a: Agreement) -> AgreementRecord:
        """The record of an agreement."""
        return record_of(
            cls,
            a,
            same_decisions=a.decisions,
            within_tolerance=a.within,
            numbers=NumbersRecord(**a.numbers),
            raters=[record_of(RaterRecord, r, r.area, smauc=r.area.value) for r in a.raters],
            pairs=[
                record_of(PairRecord, p, p.distance, distance=p.distance.value) for p in a.pairs
            ],
        )

    def sections(self, data: RowsRecord, classes: tuple[Any, Any], who: str) -> list[Section]:
        """The shares of rows, the curves, the pairs, and the rows; `classes` are negative and positive."""
        near, n = f"within {self.tolerance:g}", self.numbers
        same, within = (
            formatted(x, "percent") for x in (self.same_decisions, self.within_tolerance)
        )
        facts = {
            "Decisions": f"the same on {same} of the rows",
            "Scores": f"{near} of each other on {within} of the rows",
            "Agree": f"{plural(n.both + n.apparent, 'row')}: scores {near}; on {count(n.apparent)} of "
            f"these decisions differ (apparent disagreement)",
            "Differ": f"{plural(n.hidden, 'row')}: same decision, but scores further apart",
            "Disagree": f"{plural(n.real, 'row')}: different decisions, and scores further apart",
        }
        each = [(f"'{r.name}'", r.midpoint, r.smauc) for r in self.raters]
        absent = by_reason((r.why, f"'{r.name}'") for r in self.raters)
        heads: Heads = [
            ("pair", "text"), "area between curves", ("same decision", "percent"), (near, "percent"),
        ]  # fmt: skip
        pairs = [
            (f"'{p.first}', '{p.second}'", p.distance, p.same_decisions, p.within_tolerance)
            for p in self.pairs
        ]
        sections = [
            Section(f"Agreement of {who}s", facts=[*facts.items()]),
            *section("smROC curves", [("score of", "text"), "midpoint", "smAUC"], each, absent),
            *section("", heads, pairs),
        ]
        for title, rows in (
            ("Rows that only look like disagreement", self.apparent),
            ("Rows on which they disagree", self.real),
            ("Rows with the same decision, but scores apart", self.hidden),
        ):
            lines = [
                (
                    row,
                    row.apart,
                    "; ".join(
                        f"{r.name}: {classes[r.positive]} at {r.score:.3g}" for r in row.ratings
                    ),
                )
                for row in rows
            ]
            if rows:
                sections.append(listed_rows(title, "apart", "decisions and scores", lines, data))
        return sections


def same_decisions(share: float, rows: int, who: str) -> Claim:
    """On what share of the rows all decide the same."""
    counts = (share * rows, (1 - share) * rows)
    e = Estimate(*wilson(*counts, *counts, LEVEL))
    text = f"{who} make the same decision on {as_percent(e)} of {plural(rows, 'row')}."
    return claim("agreement", "same decisions", text, [figure("same_decisions", e)])


def listed_rows(
    title: str,
    number: str,
    text: str,
    rows: Sequence[tuple[NamedRow, float, str]],
    data: RowsRecord,
) -> Section:
    """Single rows, each with a number and a text, and its file where rows come from several."""
    ids = any(row.id is not None for row, _, _ in rows)
    lines = []
    for row, x, words in rows:
        file = str(row.file)
        file = file if len(file) <= MAX_FILE_NAME else f"…{file[1 - MAX_FILE_NAME :]}"
        name = truncated("" if row.id is None else str(row.id), MAX_ID)
        place = f"{file}:{row.row}" if len(data.sources) > 1 else str(row.row)
        lines.append((place, *[name] * ids, x, words))
    heads: Any = ["row", *[("id", "text")] * ids, number, (text, "text")]
    return (section(title, heads, lines) or [Section(title, lines=["none"])])[0]

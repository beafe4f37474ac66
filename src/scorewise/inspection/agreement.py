"""Where several raters or models agree: by what they decide, and by how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Place
from scorewise.curves.smroc import smooth_roc
from scorewise.curves.thresholds import Roc, distance
from scorewise.estimate import Estimate
from scorewise.inspection.suspects import NamedRow, where
from scorewise.show.fields import (
    Record,
    means,
)
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Rule, midpoint, why_not_unit

ROUNDING = 1e-7  # 0.7 - 0.6 is slightly above 0.1, and more so in 32 bits


class Opinions(NamedTuple):
    """Decisions and scores of several raters on the same rows: one column for each rater."""

    names: tuple[str, ...]
    decisions: Bools
    scores: Floats
    weight: Floats


@dataclass(frozen=True)
class Rater:
    """One rater: the smROC curve of its scores and its area, or why there is none."""

    name: str
    curve: Roc | None
    area: Estimate
    midpoint: float | None


@dataclass(frozen=True)
class Pair:
    """Two raters: the area between their curves, and the shares of rows on which they agree."""

    first: str
    second: str
    distance: Estimate
    same_decisions: float
    within_tolerance: float


class Rating(Record):
    """What one rater says of a row."""

    name: str
    positive: bool = means("Whether it decides for the positive class.")
    score: float = means("Its score; of logits, the probability.")


class Instance(NamedRow):
    """A row on which raters differ."""

    apart: float = means("How far the highest and the lowest score lie apart.", ge=0)
    ratings: list[Rating] = means("What each of them says.", min_length=2)

    @property
    def decisions(self) -> tuple[bool, ...]:
        """Who decides for the positive class, in the order of the raters."""
        return tuple(rating.positive for rating in self.ratings)

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores, in the order of the raters."""
        return tuple(rating.score for rating in self.ratings)


def rater(t: Tally, rule: Rule | float | Tally = "mean") -> Rater:
    """The curve of one rater."""
    name = t.origin.score
    if why := t.why_not_ranked or why_not_unit(t):
        return Rater(name, None, Estimate.undefined(why), None)
    m = midpoint(t, rule).value
    curve = smooth_roc(t, m)
    if not curve.height or not curve.width:
        side = "climbs" if not curve.height else "runs"
        return Rater(name, None, Estimate.undefined(f"nothing {side}: scores are all 0 or 1"), m)
    return Rater(name, curve, Estimate(curve.area), m)


def pairs(opinions: Opinions, raters: Sequence[Rater], tolerance: float) -> list[Pair]:
    """Each two of the raters."""
    made = []
    for both in combinations(range(len(raters)), 2):
        a, b = (raters[i] for i in both)
        decisions, scores = opinions.decisions[:, both], opinions.scores[:, both]
        alike_in = alike(opinions._replace(decisions=decisions, scores=scores), tolerance)
        if a.curve is None or b.curve is None:
            one = a if a.curve is None else b
            between = Estimate.undefined(f"'{one.name}' has no curve: {one.area.why}")
        else:
            between = Estimate(distance(a.curve, b.curve))
        made.append(Pair(a.name, b.name, between, *(share(w, opinions.weight) for w in alike_in)))
    return made


def alike(opinions: Opinions, tolerance: float) -> tuple[Bools, Bools]:
    """Rows on which all decide the same, and rows on which all scores lie within the tolerance.

    >>> film = np.array([[False, True]]), np.array([[0.60, 0.52]])
    >>> alike(Opinions(("ann", "bob"), *film, np.ones(1)), 0.1)
    (array([False]), array([ True]))
    """
    same: Bools = (opinions.decisions == opinions.decisions[:, :1]).all(1)
    near: Bools = np.ptp(opinions.scores, axis=1) <= tolerance + ROUNDING
    return same, near


def share(which: Bools, weight: Floats) -> float:
    """The share of the weight on some rows; NaN when there are none."""
    total = float(weight.sum())
    return float(weight[which].sum()) / total if total else float("nan")


def instances(opinions: Opinions, which: Bools, top: int, place: Place, ids: Any) -> list[Instance]:
    """Some of those rows: the ones furthest apart, of equals the first."""
    rows = np.flatnonzero(which)
    apart = np.ptp(opinions.scores[rows], axis=1)
    made = []
    for k in np.lexsort((rows, -apart.round(12)))[:top].tolist():
        i = int(rows[k])
        each = zip(
            opinions.names, opinions.decisions[i].tolist(), opinions.scores[i].tolist(), strict=True
        )
        ratings = [Rating(name=n, positive=d, score=s) for n, d, s in each]
        made.append(Instance(**where(place, i, ids), apart=float(apart[k]), ratings=ratings))
    return made


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


def agreement(
    opinions: Opinions,
    tallies: Sequence[Tally],
    *,
    tolerance: float,
    rule: Rule | float | Tally = "mean",
    top: int,
    place: Place,
    ids: Any,
    times: Any = 1,
) -> Agreement:
    """Compare raters on the same rows; the tallies, one for each, give the curves."""
    raters = [rater(t, rule) for t in tallies]
    same, near = alike(opinions, tolerance)
    judged = opinions.weight > 0
    near &= judged
    far = ~near & judged
    kinds = {
        "both": same & near,
        "apparent": ~same & near,
        "hidden": same & far,
        "real": ~same & far,
    }
    counts = np.broadcast_to(times, len(same))
    agreeing = np.flatnonzero(near)
    return Agreement(
        tolerance=tolerance,
        raters=raters,
        pairs=pairs(opinions, raters, tolerance),
        decisions=share(same, opinions.weight),
        within=share(near, opinions.weight),
        numbers={kind: int(counts[which].sum()) for kind, which in kinds.items()},
        agree=agreeing if place.kept is None else place.kept[agreeing].astype(np.int64),
        **{
            kind: instances(opinions, which, top, place, ids)
            for kind, which in kinds.items()
            if kind != "both"
        },
    )

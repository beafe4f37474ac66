"""What score-weighted ROC curves mean: the area beside chance, and whether the midpoint misleads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from scorewise.arrays import Floats
from scorewise.estimate import Estimate, number
from scorewise.inference.ranking import area
from scorewise.show.verdict import Claim, claim, columns_of, command, figure, shown
from scorewise.show.words import counted, quoted, written
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import far

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc

SHOWN = 3  # curves that are told of in words


def verdict_of(curves: Mapping[str, SmRoc]) -> list[Claim]:
    """The sentences on curves of the same rows."""
    each = [c for name, curve in [*curves.items()][:SHOWN] for c in _of(name, curve)]
    return [*each, _next(next(iter(curves.values())), any(c.finding == "misleads" for c in each))]


def _of(name: str, c: SmRoc) -> Iterator[Claim]:
    who, e, base = quoted(name), c.area, c.area.baseline or 0.5
    if not e.defined:
        text = f"For {who}, there is no area: {e.why}."
        yield claim("ranking", "unknown", text, [figure("smauc", e, name)])
        return
    figures = [figure("smauc", e, name), figure("smauc_at_random", Estimate(base), name)]
    at_random = f"the {number(base)} that the same scores would get if dealt out at random"
    if e.low > base:
        finding, text = "above chance", f"smAUC of {who} is above {at_random}"
    elif e.high < base:
        finding, text = "below chance", f"smAUC of {who} is below {at_random}"
    else:
        rows = counted(c.tally.origin.rows, "row")
        finding = "not told from chance"
        text = f"smAUC of {who} is not shown to differ from {at_random} with {rows}"
    yield claim("ranking", finding, f"{text}: {shown(e)}.", figures)
    if far(m := c.midpoint):
        # the objection of Schubert et al. (2012), where it applies
        after, side = c.recalibrated().area, "below" if m < 0.5 else "above"
        text = (
            f"Its midpoint misleads: {number(m)} is far from 0.5, and with most scores {side} 0.5, wrong "
            f"ones can climb more than right ones (Schubert et al. 2012); after recalibration smAUC is "
            f"{shown(after)} ({written(after.baseline, 'number')} at random). Report AUROC "
            f"{number(area(c.tally))} beside it."
        )
        figures = [
            figure("smauc", after, "recalibrated"),
            figure("auroc", Estimate(area(c.tally)), name),
        ]
        yield claim("data", "misleads", text, figures)


def _next(c: SmRoc, misleads: bool) -> Claim:
    """Recalibration, where the midpoint misleads; else all measures."""
    o = c.tally.origin
    if not o.sources or o.label is None:
        call = (
            "sw.Recalibrator().fit(scores, labels)" if misleads else "sw.evaluate(labels, scores)"
        )
        return claim("next", "calibrate" if misleads else "evaluate", f"Next: {call}")
    columns = columns_of(o)
    if misleads:
        return command("calibrate fit", o.sources, [*columns, ("out", "map.json")])
    return command("evaluate", o.sources, columns)


def cautions(curve: SmRoc) -> Iterator[str]:
    """What makes a curve hard to read, each a sentence."""
    yield from overlap(curve)
    if not curve.area.defined:
        yield f"there is no area: {curve.area.why}"
    elif far(m := curve.midpoint):
        # the objection of Schubert et al. (2012), where it applies
        after, chance = curve.recalibrated().area, curve.area.baseline
        side = "below" if m < 0.5 else "above"
        yield (
            f"the midpoint {number(m)} is far from 0.5, and smROC misleads there (Schubert et al. 2012): "
            f"with most scores {side} 0.5, wrong ones can climb more than right ones; the same scores "
            f"dealt out at random would get {written(chance, 'number')}, and after recalibration the area "
            f"is {after} ({written(after.baseline, 'number')} at random)"
        )


def overlap(curve: SmRoc) -> Iterator[str]:
    """Whether a threshold tells the classes apart, or the midpoint lies where they do not overlap."""
    m = curve.midpoint
    (neg_low, neg_high), (pos_low, pos_high) = (class_ends(curve.tally, side) for side in (0, 1))
    if neg_high < pos_low or pos_high < neg_low:
        below, above, edge, start = (
            ("negatives", "positives", neg_high, pos_low)
            if neg_high < pos_low
            else ("positives", "negatives", pos_high, neg_low)
        )
        where = "" if edge < m <= start else f", and the midpoint {number(m)} is not between them"
        yield (
            f"the classes are separable: all {below} score at most {number(edge)}, all {above} at "
            f"least {number(start)}{where}"
        )
        return
    low, high = max(neg_low, pos_low), min(neg_high, pos_high)
    if not low <= m <= high:
        yield (
            f"the midpoint {number(m)} lies outside [{number(low)}, {number(high)}], where the scores of "
            f"the classes overlap; see whether another rule, such as balanced, suits them better"
        )


def class_ends(t: Tally, side: int) -> tuple[float, float]:
    """The lowest and the highest score, on [0, 1], of a class that has rows."""
    used = (t.neg, t.pos)[side] > 0
    if t.coarse is None:
        ends: Floats = unit(t.score[used][[0, -1]], t.kind)
        return float(ends[0]), float(ends[1])
    low, high = (unit(x[side][used], t.kind) for x in (t.coarse.low, t.coarse.high))
    return float(low[0]), float(high[-1])

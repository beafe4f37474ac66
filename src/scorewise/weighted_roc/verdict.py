"""What score-weighted ROC curves mean: the area beside chance, and whether the midpoint misleads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from scorewise.estimate import Estimate, number
from scorewise.inference.ranking import area
from scorewise.show.page import counted, quoted, written
from scorewise.show.verdict import Claim, claim, columns_of, command, figure, shown
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
    at_random = f"{number(base)}, which the same scores dealt out at random would get"
    if e.low > base:
        finding, text = "above chance", f"smAUC of {who} is above {at_random}"
    elif e.high < base:
        finding, text = "below chance", f"smAUC of {who} is below {at_random}"
    else:
        rows = counted(c.tally.origin.rows, "row")
        finding = "not told from chance"
        text = f"smAUC of {who} is not told from {at_random}, with {rows}"
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

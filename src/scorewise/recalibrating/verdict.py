"""What a fitted map means: which was chosen, what it saves on rows not seen, and whether that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scorewise.estimate import Estimate
from scorewise.show.verdict import Claim, claim, command, figure, shown
from scorewise.show.words import value

if TYPE_CHECKING:
    from scorewise.recalibrating.document import Calibrated


def verdict_of(doc: Calibrated) -> list[Claim]:
    """The sentences on a map, all from its document."""
    rows: dict[str, Any] = {row.method: row for row in doc.table}
    return [_chosen(doc, rows), *_before(doc, rows), *_next(doc)]


def _chosen(doc: Calibrated, rows: dict[str, Any]) -> Claim:
    """Which map was chosen, why, and what it saves on rows not seen."""
    tried = sorted(rows.values(), key=lambda row: _known(row.log_loss.value, math.inf))
    tried = [row for row in tried if row.method != "identity"]
    if doc.chosen == "identity":
        figures = [figure("gain", row.gain, row.method) for row in tried[:1]]
        best = (
            f"; with {tried[0].method} log loss changes by {_change(tried[0].gain)}"
            if tried
            else ""
        )
        finding = "asked for" if doc.reason == "asked for" else "not shown"
        return claim(
            "repair", finding, f"The scores stay as they are: {doc.reason}{best}.", figures
        )
    gain, loss = rows[doc.chosen].gain, rows[doc.chosen].log_loss
    if gain.why:
        text = f"{doc.chosen} was taken ({doc.reason}): log loss {shown(loss)} on rows not seen."
        return claim("repair", "taken", text, [figure("log_loss", loss, doc.chosen)])
    figures = [figure("gain", gain, doc.chosen)]
    if doc.reason != "asked for":
        text = f"{doc.chosen} is {doc.reason}; it lowers log loss by {shown(gain)}."
        return claim("repair", "helps", text, figures)
    finding = "helps" if _known(gain.low) > 0 else "not shown"
    that = "" if finding == "helps" else ", which does not show that it helps"
    text = f"{doc.chosen} was asked for: on rows not seen it changes log loss by {_change(gain)}{that}."
    return claim("repair", finding, text, figures)


def _change(gain: Any) -> str:
    """What a map does to the loss, which is less by what it saves."""
    value, low, high = (-_known(x) for x in (gain.value, gain.high, gain.low))
    return shown(Estimate(value, low, high))


def _known(x: float | None, other: float = math.nan) -> float:
    """A finite number; documents have null in place of others."""
    return x if x is not None and math.isfinite(x) else other


def _before(doc: Calibrated, rows: dict[str, Any]) -> Iterator[Claim]:
    """How the scores were wrong as they are, and what the map makes of it."""
    before, after = (getattr(rows.get(name), "slope", None) for name in ("identity", doc.chosen))
    if before is None or after is None or before.value is None or before.why:
        return
    words, finding = "", ""
    if _known(before.high) < 1:
        words, finding = "overconfident", "too sure"
    elif _known(before.low) > 1:
        words, finding = "underconfident", "not sure enough"
    if finding:
        then = (
            f"; with the map {value(after)}" if doc.chosen != "identity" and not after.why else ""
        )
        figures = [
            figure("calibration_slope", e, n) for e, n in ((before, "before"), (after, "after"))
        ]
        yield claim(
            "probabilities",
            finding,
            f"The scores are {words}: slope {shown(before)}{then}.",
            figures,
        )


def _next(doc: Calibrated) -> Iterator[Claim]:
    """How to apply the map, where there is one."""
    if doc.chosen == "identity":
        return
    if not doc.data.sources:
        yield claim("next", "predict_proba", "Next: predict_proba(scores) of the fitted map")
        return
    column = ("score", "COLUMN") if doc.command == "calibrate" else ("classes", "COLUMNS")
    options = [column, ("out", "calibrated.csv")]
    yield command("calibrate apply MAP NEW_FILE", [], options)

"""What a fitted map means: which was chosen, what it saves on rows not seen, and whether that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scorewise.show.page import value
from scorewise.show.verdict import Claim, claim, command, figure, shown

if TYPE_CHECKING:
    from scorewise.recalibrating.document import Calibrated


def verdict_of(doc: Calibrated) -> list[Claim]:
    """The sentences on a map, all from its document."""
    rows: dict[str, Any] = {row.method: row for row in doc.table}
    return [_chosen(doc, rows), *_before(doc, rows), *_next(doc)]


def _chosen(doc: Calibrated, rows: dict[str, Any]) -> Claim:
    """Which map was chosen, why, and what it saves."""
    if doc.chosen == "identity":
        tried = sorted(
            (r for r in rows.values() if r.method != "identity"), key=lambda r: r.log_loss.value
        )
        figures = [figure("gain", r.gain, r.method) for r in tried[:1]]
        best = (
            f": {tried[0].method} would lower log loss by {shown(tried[0].gain)}" if tried else ""
        )
        why = f"The scores stay as they are ({doc.reason}){best}."
        return claim(
            "repair", "asked for" if doc.reason == "asked for" else "not shown", why, figures
        )
    gain = rows[doc.chosen].gain
    figures = [figure("gain", gain, doc.chosen)]
    if gain.value is None or gain.why:
        loss = rows[doc.chosen].log_loss
        text = f"{doc.chosen} was taken ({doc.reason}): log loss {shown(loss)} on rows not seen."
        return claim("repair", "taken", text, [figure("log_loss", loss, doc.chosen)])
    saved = f"on rows not seen it lowers log loss by {shown(gain)}"
    if "shown to help" in doc.reason:
        return claim("repair", "helps", f"{doc.chosen} is {doc.reason}; {saved}.", figures)
    finding = "helps" if (gain.low or 0.0) > 0 else "not shown"
    that = "" if finding == "helps" else ", which does not show that it helps"
    return claim("repair", finding, f"{doc.chosen} was {doc.reason}: {saved}{that}.", figures)


def _before(doc: Calibrated, rows: dict[str, Any]) -> Iterator[Claim]:
    """How the scores were wrong as they are, and what the map makes of it."""
    before, after = (getattr(rows.get(name), "slope", None) for name in ("identity", doc.chosen))
    if before is None or after is None or before.value is None or before.why:
        return
    words, finding = "", ""
    if before.high < 1:
        words, finding = "too sure of themselves", "too sure"
    elif before.low > 1:
        words, finding = "not sure enough", "not sure enough"
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
    score = getattr(doc.map, "score", None)
    if doc.chosen == "identity" and doc.reason != "asked for":
        if doc.data.sources and score:
            options = [("label", str(doc.data.label)), ("score", score)]
            yield command("evaluate", doc.data.sources, options)
    elif doc.data.sources:
        options = [("score", score)] if score else []
        files = ["map.json", "NEW_FILE"]
        yield command("calibrate apply", files, [*options, ("out", "calibrated.csv")])
    else:
        yield claim("next", "predict_proba", "Next: predict_proba(scores) of the fitted map")

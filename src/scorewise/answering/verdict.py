"""What the confidence in answers means: may it be believed, does it tell right from wrong, worst group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from scorewise.answering.groups import Groups
from scorewise.answering.judged import Judged
from scorewise.estimate import Estimate, number
from scorewise.inference.paired import holm, p_of
from scorewise.show.verdict import Claim, claim, command, figure, share, shown
from scorewise.show.words import at_floor, chance, counted, percent, quoted, value

if TYPE_CHECKING:
    from scorewise.answering.result import Answers

SHOWN = 3  # confidences that are told of in words
WIDE = 0.2  # an interval of overconfidence that is wider says nothing either way


def verdict_of(a: Answers) -> list[Claim]:
    """The sentences on each confidence, and on the group that is furthest off."""
    shown_ = [(name, j) for name, j in [*a.items()][:SHOWN] if j.answers]
    claims = [c for name, j in shown_ for c in (*_believed(name, j), *_ranked(name, j))]
    groups = [c for name, _ in shown_ for c in _worst(name, a)]
    return [*claims, *groups, *_next(a, shown_[0][0])] if shown_ else []


def overconfidence(j: Judged) -> tuple[str, Estimate] | None:
    """Which way the mean confidence is shown to be off, and by how much; nothing where it is not."""
    gap = j["overconfidence"]
    if gap.defined and gap.low > 0:
        return "overconfident", gap
    if gap.defined and gap.high < 0:
        return "underconfident", replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
    return None


def _believed(name: str, j: Judged) -> Iterator[Claim]:
    """Whether the confidence can be read as the chance that the answer is right."""
    who, gap, smooth = quoted(name), j["overconfidence"], j["smece"]
    keys = ("mean_confidence", "accuracy", "overconfidence", "smece")
    figures = [figure(key, j[key], name) for key in keys]
    mean, right = j["mean_confidence"], j["accuracy"]
    if not gap.defined:
        text = f"Whether {who} can be believed cannot be told: {gap.why}."
        yield claim("probabilities", "unknown", text, figures)
        return
    missed = 1 - j.settings.level
    p = holm([p_of(gap, 0.0, j.settings.level), math.nan if smooth.p is None else smooth.p])
    says = f"mean confidence {percent(mean.value)}, accuracy {percent(right.value)}"
    if found := overconfidence(j):
        finding, size = found
        text = f"{finding} by {shown(size)}: {says}"
        if p[0] <= missed:
            yield claim("probabilities", finding, f"{who} is {text}.", figures)
        else:
            text = f"{who} may be {text}; not clear after two checks ({chance(p[0])} by Holm)."
            yield claim("probabilities", "unclear", text, figures)
    elif smooth.defined and smooth.p is not None and p[1] <= missed:
        text = (
            f"{who} is right on the whole, but off in places: smECE {value(smooth)}, and a calibrated "
            f"confidence would get {number(smooth.expected or 0.0)} "
            f"({chance(smooth.p, least=at_floor(smooth))})."
        )
        yield claim("probabilities", "off in places", text, figures)
    elif gap.high - gap.low <= WIDE:
        text = (
            f"{who} can be believed, as far as {counted(j.answers, 'answer')} can tell: mean "
            f"confidence {percent(mean.value)}, accuracy {share(right)}."
        )
        yield claim("probabilities", "believable", text, figures)
    else:
        text = (
            f"Whether {who} can be believed cannot be told with {counted(j.answers, 'answer')}: "
            f"overconfidence {shown(gap)}."
        )
        yield claim("probabilities", "unknown", text, figures)


def _ranked(name: str, j: Judged) -> Iterator[Claim]:
    """Whether the confidence is higher where the answer is right."""
    area, who = j["auroc"], quoted(name)
    figures = [figure("auroc", area, name)]
    if not area.defined:
        return
    if area.high < 0.5:
        finding, text = "backwards", f"{who} is higher where the answer is wrong"
    elif area.low <= 0.5:
        finding = "not told from chance"
        many = counted(j.answers, "answer")
        text = f"{many} do not show that {who} is higher where the answer is correct"
    else:
        finding, text = "above chance", f"{who} is higher where the answer is correct"
    yield claim("ranking", finding, f"{text}: AUROC {shown(area)}.", figures)


def _worst(name: str, a: Answers) -> Iterator[Claim]:
    """The group that is furthest off, of those that are shown to be, given how many there are."""
    groups = a.groups
    if not isinstance(groups, Groups) or name not in groups.records:
        return
    # a sentence on the difference to the rest and one on each group by itself share the level
    told = [*groups.claims(name, 2 * len(groups.records))]
    yield from told
    judged = int(groups.grouping.judged.sum())
    # as many intervals as groups: at their level, one in twenty would stand out by chance
    strict = groups.strict(1 - (1 - a.settings.level) / (2 * max(judged, 1)))
    each = {key: part[name] for key, part in strict.items() if name in part}
    off = {key: found for key, j in each.items() if (found := overconfidence(j))}
    if off:
        key = max(off, key=lambda k: off[k][1].value)
        (finding, size), j = off[key], each[key]
        text = (
            f"{quoted(name)} is miscalibrated in {len(off)} of {len(each)} groups, most in {quoted(key)}: "
            f"{finding} by {shown(size)}, mean confidence {percent(j['mean_confidence'].value)}, accuracy "
            f"{percent(j['accuracy'].value)}."
        )
        yield claim("groups", finding, text, [figure("overconfidence", j["overconfidence"], key)])
    elif not judged:
        least = counted(groups.min_rows, "answer")
        yield claim("groups", "none shown", f"No group has the {least} that are asked for.")
    elif not told:
        text = (
            f"In none of {len(each)} groups is {quoted(name)} shown to be off on the whole, and none is "
            f"told apart from the rest (Holm)."
        )
        yield claim("groups", "none shown", text)


def _next(a: Answers, name: str) -> Iterator[Claim]:
    """A map, where quality is a column of right and wrong; else the answers to read."""
    rows = a.rows
    if rows.rule == "own" and a.sources and {*rows.quality.tolist()} <= {0.0, 1.0}:
        options = [("label", rows.names["quality"]), ("score", name), ("out", "map.json")]
        yield command("calibrate fit", a.sources, options)
    elif a.confident_errors(top=1, confidence=name):
        text = "Next: read the answers that are wrong and surest"
        if rows.rule != "own":
            text += f"; what {rows.rule} calls wrong may be right"
        yield claim("next", "read", text)

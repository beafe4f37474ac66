"""What the confidence in answers means: may it be believed, does it tell right from wrong; and remarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorewise.answering.confidence import WHY, Judged
from scorewise.answering.measures import Sample
from scorewise.estimate import Estimate, number
from scorewise.inference.differences import holm, p_of_interval
from scorewise.show.verdict import Claim, as_percent, claim, figure, next_command, with_ci
from scorewise.show.words import (
    formatted,
    has_smallest_p,
    listed,
    p_phrase,
    percent,
    plural,
    quoted,
    value,
)

if TYPE_CHECKING:
    from scorewise.answering.result import Answers

MAX_CONFIDENCES = 3  # that sentences are about
WIDE = 0.2  # an interval of overconfidence that is wider says nothing either way
FEW_VALUES, FEW_ANSWERS, HIGH = 20, 50, 0.5  # of which remarks speak


def verdict(a: Answers) -> list[Claim]:
    """The sentences on each confidence, and on the group that is furthest off."""
    first = [(name, j) for name, j in [*a.items()][:MAX_CONFIDENCES] if j.answers]
    claims = [c for name, j in first for c in (*_believed(name, j), *_ranked(name, j))]
    groups = [c for name, _ in first for c in _worst(name, a)]
    return [*claims, *groups, *_next(a, first[0][0])] if first else []


def _shown_off(j: Judged) -> tuple[str, Estimate] | None:
    """Which way the mean confidence is shown to be off, and by how much; nothing where it is not."""
    gap = j["overconfidence"]
    if gap.defined and gap.low > 0:
        return "overconfident", gap
    if gap.defined and gap.high < 0:
        return "underconfident", replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
    return None


def _means(j: Judged) -> str:
    return f"mean confidence {percent(j['mean_confidence'].value)}, accuracy {percent(j['accuracy'].value)}"


def _believed(name: str, j: Judged) -> Iterator[Claim]:
    """Whether the confidence can be read as the chance that the answer is right."""
    who, gap, smooth = quoted(name), j["overconfidence"], j["smece"]
    keys = ("mean_confidence", "accuracy", "overconfidence", "smece")
    figures = [figure(key, j[key], name) for key in keys]
    answers, missed = plural(j.answers, "answer"), 1 - j.settings.level
    if not gap.defined:
        text = f"Whether {who} can be believed cannot be told: {gap.why}."
        yield claim("probabilities", "unknown", text, figures)
        return
    p = holm([p_of_interval(gap, 0.0, j.settings.level), smooth.p])
    if off := _shown_off(j):
        finding, text = off[0], f"{off[0]} by {with_ci(off[1])}: {_means(j)}"
        if p[0] <= missed:
            text = f"{who} is {text}."
        else:
            finding, clear = "unclear", f"not clear after two checks ({p_phrase(p[0])} by Holm)"
            text = f"{who} may be {text}; {clear}."
    elif smooth.defined and smooth.p is not None and p[1] <= missed:
        finding, smallest = "off in places", has_smallest_p(smooth)
        text = (
            f"{who} is right on the whole, but off in places: smECE {value(smooth)}, and a calibrated "
            f"confidence would get {number(smooth.expected or 0.0)} "
            f"({p_phrase(smooth.p, least=smallest)})."
        )
    elif gap.high - gap.low <= WIDE:
        finding = "believable"
        text = (
            f"{who} can be believed, as far as {answers} can tell: mean confidence "
            f"{percent(j['mean_confidence'].value)}, accuracy {as_percent(j['accuracy'])}."
        )
    else:
        finding = "unknown"
        text = (
            f"Whether {who} can be believed cannot be told with {answers}: overconfidence "
            f"{with_ci(gap)}."
        )
    yield claim("probabilities", finding, text, figures)


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
        answers = plural(j.answers, "answer")
        text = f"{answers} do not show that {who} is higher where the answer is correct"
    else:
        finding, text = "above chance", f"{who} is higher where the answer is correct"
    yield claim("ranking", finding, f"{text}: AUROC {with_ci(area)}.", figures)


def _worst(name: str, a: Answers) -> Iterator[Claim]:
    """The group that is furthest off, of those that are shown to be, given how many there are."""
    groups = a.groups
    if name not in groups.each:
        return
    # a sentence on the difference to the rest and one on each group by itself share the level
    first = [*groups.each[name].claims(2 * len(groups.each))][:1]
    apart = [c for c in first if c.finding != "not told apart"]
    yield from apart
    g = groups.grouping
    judged = np.flatnonzero(g.judged).tolist()
    # as many intervals as groups: at their level, one in twenty would stand out by chance
    strict = replace(a.settings, level=1 - (1 - a.settings.level) / (2 * max(len(judged), 1)))
    samples = {g.names[k]: Sample.of(a.rows, name, g.at(k)) for k in judged}
    each = {key: Judged(sample, strict) for key, sample in samples.items() if len(sample)}
    off = {key: shown for key, j in each.items() if (shown := _shown_off(j))}
    if off:
        key = max(off, key=lambda k: off[k][1].value)
        (finding, size), j = off[key], each[key]
        text = (
            f"{quoted(name)} is miscalibrated in {len(off)} of {len(each)} groups, most in {quoted(key)}: "
            f"{finding} by {with_ci(size)}, {_means(j)}."
        )
        yield claim("groups", finding, text, [figure("overconfidence", j["overconfidence"], key)])
    elif not judged:
        least = plural(groups.min_rows, "answer")
        yield claim("groups", "none shown", f"No group has the {least} that are asked for.")
    elif not apart:
        text = (
            f"In none of {len(each)} groups is {quoted(name)} shown to be off on the whole, and none is "
            f"told apart from the rest (Holm)."
        )
        yield claim("groups", "none shown", text)


def _next(a: Answers, name: str) -> Iterator[Claim]:
    """A map, where quality is a column of right and wrong; else the answers to read."""
    rows = a.rows
    if rows.rule == "own" and a.sources and {*rows.quality.tolist()} <= {0.0, 1.0}:
        options = [("label", str(rows.column)), ("score", name), ("out", "map.json")]
        yield next_command("calibrate fit", a.sources, options)
    elif a.confident_errors(top=1, confidence=name):
        text = "Next: read the answers that are wrong and surest"
        if rows.rule != "own":
            text += f"; what {rows.rule} calls wrong may be right"
        yield claim("next", "read", text)


# Remarks for the reader.


def hints(a: Answers) -> Iterator[str]:
    """Remarks, confidence by confidence, and on small groups."""
    for name, j in a.items():
        yield from _of_confidence(f"'{name}'", j)
    fewest = {key: min(j.answers for j in part.values()) for key, part in a.groups.items() if part}
    small = {key: n for key, n in fewest.items() if n < FEW_ANSWERS}
    if small:
        groups = listed([f"'{key}' ({n})" for key, n in small.items()])
        yield f"fewer than {FEW_ANSWERS} answers: {groups}; there chance alone makes an ECE large"


def _of_confidence(name: str, j: Judged) -> Iterator[str]:
    if not j.answers:
        yield f"{name} is missing from every answer"
        return
    t = j.tally
    if why := t.why_not_ranked:
        yield f"{name}: {WHY[why]} at tau {j.settings.tau:g}; measures that need both are undefined"
    if len(t.score) <= FEW_VALUES and j.answers >= FEW_ANSWERS:
        yield (
            f"{name} takes only {plural(len(t.score), 'value')}, so answers are ranked in as many "
            f"steps"
        )
    if t.ends[0] >= HIGH and j.answers >= FEW_ANSWERS:
        yield f"{name} is never below {formatted(t.ends[0], 'number')}"

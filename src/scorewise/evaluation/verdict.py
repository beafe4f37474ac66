"""What an evaluation means: how well it ranks, whether to believe its probabilities, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from scorewise.estimate import Estimate, number
from scorewise.evaluation.groups import Groups, group_claims
from scorewise.measures import mcb_crossfit
from scorewise.registry import MEASURES
from scorewise.show.page import at_floor, chance, counted, named, percent, quoted, value
from scorewise.show.verdict import Claim, claim, figure, share, shown

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.document import DifferenceRecord
    from scorewise.evaluation.models import Evaluation

# words for an AUROC from such a value on (0.7, 0.8 and 0.9 as Hosmer and Lemeshow 2000 draw the lines)
RANKS = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly"), (0.6, "weakly"))
WIDE = 1.0  # a calibration slope whose interval is wider says nothing either way
SHOWN = 3  # models of which every pair is compared in words


def verdict_of(
    evaluations: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> list[Claim]:
    """The sentences on models of two classes on the same rows."""
    first = next(iter(evaluations.values()))
    if not first.tally.origin.rows:
        return []
    claims = [*_compared(evaluations, differences)]
    flawed = []
    for name, e in evaluations.items():
        believed = [*_believed(quoted(name), name, e), *_repaired(name, e)]
        claims += believed
        flawed += [name] * any(c.finding == "helps" for c in believed)
    return [*claims, *_decided(evaluations), *_grouped(evaluations), _next(evaluations, flawed)]


def _grouped(evaluations: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """Which groups are told apart from the rest, of the first model."""
    e = next(iter(evaluations.values()))
    if isinstance(e.groups, Groups):
        yield from group_claims(e.groups, e.settings.level)


def _ranking(name: str, e: Evaluation) -> Claim:
    """How well the scores rank, in words that hold for the whole interval."""
    a, who = e.auroc, quoted(name)
    figures = [figure("auroc", a, name)]
    if not a.defined:
        return claim(
            "ranking", "unknown", f"How well {who} ranks cannot be told: {a.why}.", figures
        )
    if a.low <= 0.5 <= a.high:
        rows = counted(e.tally.origin.rows, "row")
        finding = "not told from chance"
        text = f"That {who} ranks better than chance cannot be told with {rows}"
    elif a.high < 0.5:
        finding = "backwards"
        text = f"{who} ranks backwards, higher scores going with the negative class"
    else:
        finding = _band(a)
        text = f"{who} ranks {finding}"
    return claim("ranking", finding, f"{text}: AUROC {shown(a)}.", figures)


def _band(auroc: Estimate) -> str:
    """The words for both ends of the interval of an AUROC above 0.5."""
    ends = [next((w for x, w in RANKS if end >= x), "hardly") for end in (auroc.low, auroc.high)]
    return " to ".join(dict.fromkeys(ends))


def _compared(
    evaluations: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> Iterator[Claim]:
    """Which model ranks better, as far as paired differences tell; best first."""
    by_pair = {(d.first, d.second): d for d in differences if d.measure == "auroc"}
    ranked = sorted(
        evaluations, key=lambda n: -a.value if (a := evaluations[n].auroc).defined else 9.0
    )
    pairs = [p for p in combinations(ranked, 2) if len(ranked) <= SHOWN or p[0] == ranked[0]]
    known = [(a, b, by_pair.get((a, b)) or by_pair.get((b, a))) for a, b in pairs]
    told = [(a, b, d) for a, b, d in known if d and None not in (d.value, d.low, d.high)]
    if not told:
        yield from (_ranking(name, e) for name, e in evaluations.items())
        return
    for a, b, d in told:
        sign = 1 if d.first == a else -1
        low, high = sorted(sign * (x or 0.0) for x in (d.low, d.high))
        gap = Estimate(sign * (d.value or 0.0), low, high)
        figures = [figure("auroc", evaluations[x].auroc, x) for x in (a, b)]
        figures.append(figure("auroc", gap, f"{a} - {b}"))
        both = " against ".join(value(evaluations[x].auroc) for x in (a, b))
        finding, text = (
            "not told apart",
            f"{quoted(a)} and {quoted(b)} are not told apart in ranking",
        )
        if low > 0:
            finding, text = "better", f"{quoted(a)} ranks better than {quoted(b)}"
        yield claim("models", finding, f"{text}: AUROC {both}, difference {shown(gap)}.", figures)
    """What is shown to be wrong with probabilities, in words."""


def flaws(e: Evaluation) -> dict[str, str]:
    """What is shown to be wrong with probabilities, in words."""
    found: dict[str, str] = {}
    slope, large, smooth = e.calibration_slope, e.calibration_intercept, e.smece
    if slope.defined and slope.high < 1:
        found["too sure"] = f"too sure of itself: slope {shown(slope)}"
    elif slope.defined and slope.low > 1:
        found["not sure enough"] = f"not sure enough: slope {shown(slope)}"
    if large.defined and not large.low <= 0 <= large.high:
        side = "too low" if large.low > 0 else "too high"
        found[side] = f"{side} on the whole: calibration in the large {shown(large)}"
    if not found and smooth.p is not None and smooth.p <= 1 - e.settings.level:
        found["off in places"] = (
            f"off in places: smECE {value(smooth)}, and calibrated scores would get "
            f"{number(smooth.expected or 0.0)} ({chance(smooth.p, least=at_floor(smooth))})"
        )
    return found


def _believed(who: str, name: str, e: Evaluation) -> Iterator[Claim]:
    """Whether scores can be read as probabilities, and how they are wrong."""
    slope, ece = e.calibration_slope, e.ece
    if e.tally.kind == "score":
        text = f"{who} cannot be read as a probability: it is a score of another kind."
        yield claim("probabilities", "none", text)
        return
    if not ece.defined:
        return
    keys = ("calibration_slope", "calibration_intercept", "ece", "smece")
    figures, rows = [figure(k, e[k], name) for k in keys], counted(e.tally.origin.rows, "row")
    if found := flaws(e):
        text = f"{who} is {', and '.join(found.values())}."
        yield claim("probabilities", next(iter(found)), text, figures)
    elif slope.defined and slope.high - slope.low <= WIDE:
        text = (
            f"{who} can be read as a probability, as far as {rows} can tell: slope {shown(slope)}; ECE "
            f"{value(ece)}, and calibrated scores would get {number(ece.expected or 0.0)}."
        )
        yield claim("probabilities", "believable", text, figures)
    else:
        seen = f"slope {shown(slope)}" if slope.defined else slope.why
        text = f"Whether {who} can be read as a probability cannot be told with {rows}: {seen}."
        yield claim("probabilities", "unknown", text, figures)


def _repaired(name: str, e: Evaluation) -> Iterator[Claim]:
    """Whether recalibration is shown to lower the loss of rows not seen, where probabilities are wrong."""
    if e.tally.kind == "score" or not e.ece.defined or not flaws(e):
        return
    s = e.settings
    gain = mcb_crossfit(e.tally, loss="log", clip=s.clip, level=s.level, seed=s.seed)
    loss = "log loss" if gain.defined else "Brier score"
    gain = gain if gain.defined else e.mcb_crossfit
    figures = [figure("mcb_crossfit", gain, name)]
    if gain.defined and gain.low > 0:
        text = f"Recalibration would lower its {loss} by {shown(gain)}."
        yield claim("repair", "helps", text, figures)
        return
    seen = f": on rows not seen it would lower its {loss} by {shown(gain)}" if gain.defined else ""
    yield claim("repair", "not shown", f"That recalibration helps is not shown{seen}.", figures)


def _decided(evaluations: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """What the threshold does: how many positives it finds, and how many of its alerts are right."""
    first = next(iter(evaluations.values()))
    s, positive = first.settings, first.tally.origin.positive
    if first.tally.kind == "score" and s.threshold == type(s).threshold:
        return  # which means nothing for them
    of = "the positives" if positive is None else quoted(positive)
    parts: list[str] = []
    for name, e in evaluations.items():
        found, right, who = e.sensitivity, e.precision, quoted(name)
        if not found.defined:
            parts.append(f"what {who} finds cannot be told: {found.why}")
        elif not right.defined:
            top = number(e.tally.ends[1])
            parts.append(f"{who} finds none of {of}: its highest score is {top}")
        elif not parts:
            parts.append(
                f"{who} finds {share(found)} of {of}, and {share(right)} of its alerts are right"
            )
        else:
            parts.append(f"{who} finds {share(found)} with {share(right)} right")
    keys = ("sensitivity", "precision")
    figures = [figure(k, e[k], name) for name, e in evaluations.items() for k in keys]
    yield claim("decisions", "threshold", f"At {s.threshold:g}, {'; '.join(parts)}.", figures)


def _next(evaluations: Mapping[str, Evaluation], flawed: Sequence[str]) -> Claim:
    """The command, or the call, that would come next."""
    origin = next(iter(evaluations.values())).tally.origin
    name = flawed[0] if flawed else next(iter(evaluations))
    task, call, what = ("inspect", "sw.inspect(labels, scores)", "labels to look at again")
    if flawed:
        task, call = "calibrate fit", "sw.Recalibrator().fit(scores, labels)"
        what = f"a map from {quoted(name)} to probabilities"
    files = f"{shlex.join(origin.sources)} --label {shlex.quote(origin.label or '')} --score"
    text = f"scorewise {task} {files} {shlex.quote(name)}" + " -o map.json" * bool(flawed)
    if not origin.sources or origin.label is None:
        text = f"{call}, {what}"
    return claim("next", task.partition(" ")[0], f"Next: {text}")


# Several classes.


def class_verdict(e: ClassEvaluation) -> list[Claim]:
    """The sentences on a model of several classes."""
    if not e.tally.rows:
        return []
    top = [] if e.top.tally.kind == "score" else _believed("The confidence", "confidence", e.top)
    return [*_right(e), *_hardest(e), *top]


def _right(e: ClassEvaluation) -> Iterator[Claim]:
    """How often the predicted class is right, beside a constant, and how well scores rank."""
    a, m = e.accuracy, e.macro_auroc
    if a.defined:
        base = a.baseline or 0.0
        text, finding = (
            f"The predicted class is right in {share(a)} of rows",
            "better than constant",
        )
        if a.high < base:
            text, finding = f"{text}, worse than a constant", "worse than constant"
        elif a.low <= base:
            text += "; that this is more than a constant gets cannot be told"
            finding = "not told from constant"
        text += f": the most frequent class has {percent(base)}."
        yield claim("decisions", finding, text, [figure("accuracy", a)])
    if m.defined and m.low > 0.5:
        text = f"Scores rank each class against the rest {_band(m)}: macro AUROC {shown(m)}."
        yield claim("ranking", _band(m), text, [figure("macro_auroc", m)])


def _hardest(e: ClassEvaluation) -> Iterator[Claim]:
    """The classes whose rows are found less often than rows are right in all, worst first."""
    a, recall = e.accuracy, MEASURES["sensitivity"]
    each = {name: recall.under(vars(e.settings), e.tally.decided(name)) for name in e.classes}
    # as many intervals as classes: at their level, one in twenty would stand out by chance
    level = 1 - (1 - e.settings.level) / max(len(each), 1)
    sure = {
        name: recall(e.tally.decided(name), level=level)
        for name, r in each.items()
        if a.defined and r.defined and r.high < a.low
    }
    hard = sorted((n for n, r in sure.items() if r.high < a.low), key=lambda n: each[n].value)
    if hard:
        words = [f"{quoted(name)} ({share(each[name])})" for name in hard]
        figures = [figure("sensitivity", each[name], name) for name in hard[:3]]
        text = f"Found least often, of their rows: {named(words)}."
        yield claim("decisions", "hard classes", text, figures)

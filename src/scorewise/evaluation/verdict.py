"""What an evaluation means: how well it ranks, whether to believe its probabilities, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from scorewise.estimate import Estimate, number
from scorewise.measures import mcb_crossfit
from scorewise.show.page import chance, counted, named, percent, quoted, value
from scorewise.show.verdict import Claim, figure, share, shown

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.document import DifferenceRecord
    from scorewise.evaluation.models import Evaluation

# words for an AUROC from such a value on (0.7, 0.8 and 0.9 as Hosmer and Lemeshow 2000 draw the lines)
RANKS = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly"), (0.6, "weakly"), (0.5, "hardly"))
WIDE = 1.0  # a slope whose interval is wider says nothing either way
Flaw = Literal["too sure", "not sure enough", "too high", "too low", "off in places"]


def verdict_of(
    evaluations: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> list[Claim]:
    """The sentences on models of two classes on the same rows."""
    claims, flawed = [], []
    many = len(evaluations) > 1
    claims += _compared(evaluations, differences) if many else []
    for name, e in evaluations.items():
        claims += [] if many else [ranking(name, e)]
        believed = [*_believed(name, e)]
        claims += believed
        flawed += (
            [name] if any(c.about == "repair" and c.finding == "helps" for c in believed) else []
        )
    first = next(iter(evaluations.values()))
    if first.tally.kind != "score" or first.settings.threshold != 0.5:
        claims.append(_decided(evaluations))
    claims += _next(evaluations, flawed)
    return claims


def ranking(name: str, e: Evaluation) -> Claim:
    """How well the scores rank, in words that hold for the whole interval."""
    a, rows = e.auroc, e.tally.origin.rows
    figures = [figure("auroc", a, name)]
    who = quoted(name)
    if not a.defined:
        sentence = f"How well {who} ranks cannot be told: {a.why}."
        return Claim(about="ranking", finding="unknown", sentence=sentence, figures=figures)
    if a.low <= 0.5 <= a.high:
        finding = "not told from chance"
        text = f"{who} cannot be told from chance with {counted(rows, 'row')}"
    elif a.high < 0.5:
        finding, text = (
            "backwards",
            f"{who} ranks backwards: higher scores go with the negative class",
        )
    else:
        finding = _band(a.low)
        upto = _band(a.high)
        text = f"{who} ranks {finding}" + (f" to {upto}" if upto != finding else "")
    apart = "; " if ":" in text else ": "
    sentence = f"{text}{apart}AUROC {shown(a)}."
    return Claim(about="ranking", finding=finding, sentence=sentence, figures=figures)


def _band(auroc: float) -> str:
    return next((word for least, word in RANKS if auroc >= least), "hardly")


def flaws(e: Evaluation) -> list[Flaw]:
    """What is shown to be wrong with the probabilities; nothing where intervals hold what is right."""
    found: list[Flaw] = []
    slope, large, smooth = e.calibration_slope, e.calibration_intercept, e.smece
    if slope.defined and slope.high < 1:
        found.append("too sure")
    elif slope.defined and slope.low > 1:
        found.append("not sure enough")
    if large.defined and large.high < 0:
        found.append("too high")
    elif large.defined and large.low > 0:
        found.append("too low")
    if not found and smooth.p is not None and smooth.p <= 1 - e.settings.level:
        found.append("off in places")
    return found


def _believed(name: str, e: Evaluation) -> Iterator[Claim]:
    """Whether the scores can be read as probabilities, how they are wrong, and whether repair helps."""
    slope, large, ece, smooth = e.calibration_slope, e.calibration_intercept, e.ece, e.smece
    who, rows = quoted(name), counted(e.tally.origin.rows, "row")
    figures = [
        figure(key, e[key], name)
        for key in ("calibration_slope", "calibration_intercept", "ece", "smece")
    ]
    if e.tally.kind == "score" or not ece.defined:
        why = "they are scores of another kind" if e.tally.kind == "score" else ece.why
        sentence = f"{who} cannot be read as a probability: {why}."
        yield Claim(about="probabilities", finding="none", sentence=sentence, figures=[])
        return
    found = flaws(e)
    if not found:
        if slope.defined and slope.high - slope.low <= WIDE:
            finding = "believable"
            text = (
                f"{who} can be read as a probability, as far as {rows} can tell: slope {shown(slope)}; "
                f"ECE {value(ece)}, and calibrated scores would get {number(ece.expected or 0.0)}."
            )
        else:
            finding = "unknown"
            seen = f"slope {shown(slope)}" if slope.defined else slope.why
            text = f"Whether {who} can be read as a probability cannot be told with {rows}: {seen}."
        yield Claim(about="probabilities", finding=finding, sentence=text, figures=figures)
        return
    said = {
        "too sure": f"too sure of itself: slope {shown(slope)}",
        "not sure enough": f"not sure enough: slope {shown(slope)}",
        "too high": f"too high on the whole: calibration in the large {shown(large)}",
        "too low": f"too low on the whole: calibration in the large {shown(large)}",
        "off in places": f"off in places: smECE {value(smooth)}, and calibrated scores would get "
        f"{number(smooth.expected or 0.0)} ({chance(smooth.p or 0.0)})",
    }
    text = f"{who} is " + ", and ".join(said[flaw] for flaw in found) + "."
    yield Claim(about="probabilities", finding=found[0], sentence=text, figures=figures)
    yield _repaired(name, e)


def _repaired(name: str, e: Evaluation) -> Claim:
    """Whether recalibration is shown to help: by how much it lowers the loss of rows not seen."""
    s = e.settings
    gain = mcb_crossfit(e.tally, loss="log", clip=s.clip, level=s.level, seed=s.seed)
    loss = "log loss"
    if not gain.defined:
        gain, loss = e.mcb_crossfit, "Brier score"
    figures = [figure("mcb_crossfit", gain, name)]
    if gain.defined and gain.low > 0:
        text = f"Recalibration would lower its {loss} by {shown(gain)}."
        return Claim(about="repair", finding="helps", sentence=text, figures=figures)
    seen = f": it would change its {loss} by {shown(_negated(gain))}" if gain.defined else ""
    text = f"That recalibration helps is not shown{seen}."
    return Claim(about="repair", finding="not shown", sentence=text, figures=figures)


def _negated(e: Estimate) -> Estimate:
    return Estimate(-e.value, -e.high, -e.low, e.level)


def _decided(evaluations: Mapping[str, Evaluation]) -> Claim:
    """What the threshold does: how many positives it finds, and how many of its alerts are right."""
    first = next(iter(evaluations.values()))
    positive = first.tally.origin.positive
    of = "the positives" if positive is None else f"{quoted(positive)}"
    parts, figures = [], []
    for i, (name, e) in enumerate(evaluations.items()):
        found, right = e.sensitivity, e.precision
        figures += [figure("sensitivity", found, name), figure("precision", right, name)]
        who = quoted(name)
        if not found.defined:
            parts.append(f"what {who} finds cannot be told: {found.why}")
        elif not right.defined:
            top = number(e.tally.ends[1])
            parts.append(f"{who} raises no alert: its highest score is {top}")
        elif i == 0:
            parts.append(
                f"{who} finds {share(found)} of {of}, and {share(right)} of its alerts are right"
            )
        else:
            parts.append(f"{who} finds {share(found)} with {share(right)} right")
    text = f"At {first.settings.threshold:g}, {'; '.join(parts)}."
    return Claim(about="decisions", finding="threshold", sentence=text, figures=figures)


def _compared(
    evaluations: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> Iterator[Claim]:
    """Which model ranks better, as far as paired differences tell; best first."""
    by_pair = {(d.first, d.second): d for d in differences if d.measure == "auroc"}
    ranked = sorted(evaluations, key=lambda n: -_order(evaluations[n].auroc))
    told = []
    for a, b in combinations(ranked, 2):
        d = by_pair.get((a, b)) or by_pair.get((b, a))
        if d is None or d.low is None or d.high is None or d.value is None:
            continue
        sign = 1 if d.first == a else -1
        low, high = sorted((sign * d.low, sign * d.high))
        e = Estimate(sign * d.value, low, high)
        told.append((a, b, e))
    if not told:
        for name, e in evaluations.items():
            yield ranking(name, e)
        return
    for a, b, e in told if len(ranked) < 4 else [t for t in told if t[0] == ranked[0]]:
        figures = [figure("auroc", evaluations[x].auroc, x) for x in (a, b)]
        figures.append(figure("auroc", e, f"{a} - {b}"))
        both = f"AUROC {value(evaluations[a].auroc)} against {value(evaluations[b].auroc)}"
        if e.low > 0:
            finding, text = "better", f"{quoted(a)} ranks better than {quoted(b)}: {both}"
        else:
            finding = "not told apart"
            text = f"{quoted(a)} and {quoted(b)} are not told apart in ranking: {both}"
        sentence = f"{text}, difference {shown(e)}."
        yield Claim(about="models", finding=finding, sentence=sentence, figures=figures)


def _order(e: Estimate) -> float:
    return e.value if e.defined else float("-inf")


def _next(evaluations: Mapping[str, Evaluation], flawed: Sequence[str]) -> Iterator[Claim]:
    """The command, or the call, that would come next."""
    first = next(iter(evaluations.values()))
    origin = first.tally.origin
    if not origin.rows:
        return
    files = shlex.join(origin.sources)
    name = flawed[0] if flawed else next(iter(evaluations))
    column = shlex.quote(name)
    if flawed:
        text = (
            f"scorewise calibrate fit {files} --score {column} -o map.json"
            if origin.sources
            else "sw.Recalibrator().fit(scores, labels) maps the scores to probabilities"
        )
    else:
        text = (
            f"scorewise inspect {files} --score {column}"
            if origin.sources
            else "sw.inspect(labels, scores) lists the rows whose labels are most suspicious"
        )
    yield Claim(
        about="next",
        finding="calibrate" if flawed else "inspect",
        sentence=f"Next: {text}",
        figures=[],
    )


def class_verdict(e: ClassEvaluation) -> list[Claim]:
    """The sentences on a model of several classes."""
    t = e.tally
    if not t.rows:
        return []
    claims = [*_right(e)]
    claims += _hardest(e)
    claims += _sure(e)
    return claims


def _right(e: ClassEvaluation) -> Iterator[Claim]:
    a = e.accuracy
    if not a.defined:
        return
    base = a.baseline or 0.0
    figures = [figure("accuracy", a)]
    always = f"always the most frequent class would be right in {percent(base)}"
    if a.low > base:
        finding = "better than constant"
        text = f"The predicted class is right in {share(a)} of rows; {always}."
    elif a.high < base:
        finding = "worse than constant"
        text = (
            f"The predicted class is right in {share(a)} of rows, worse than a constant: {always}."
        )
    else:
        finding = "not told from constant"
        text = (
            f"The predicted class is right in {share(a)} of rows; that this is better than a constant "
            f"cannot be told with {counted(e.tally.rows, 'row')}: {always}."
        )
    yield Claim(about="decisions", finding=finding, sentence=text, figures=figures)
    m = getattr(e, "macro_auroc", None)
    if m is not None and m.defined and m.low > 0.5:
        upto = _band(m.high)
        word = _band(m.low) + (f" to {upto}" if upto != _band(m.low) else "")
        text = f"Scores rank each class against the rest {word}: macro AUROC {shown(m)}."
        yield Claim(
            about="ranking", finding=_band(m.low), sentence=text, figures=[figure("macro_auroc", m)]
        )


def _hardest(e: ClassEvaluation) -> Iterator[Claim]:
    """The class whose rows are found least often, where that is clearly less than overall."""
    t, a = e.tally, e.accuracy
    from scorewise.registry import MEASURES

    recall = MEASURES["sensitivity"]
    each = [(name, recall.under(vars(e.settings), t.decided(name))) for name in t.classes]
    low = sorted(
        (r.value, name, r) for name, r in each if r.defined and a.defined and r.high < a.low
    )
    if low:
        words = [f"{quoted(name)} ({share(r)})" for _, name, r in low]
        text = f"Found least often: {named(words, 3)} of their rows."
        figures = [figure("sensitivity", r, name) for _, name, r in low[:3]]
        yield Claim(about="decisions", finding="hard classes", sentence=text, figures=figures)


def _sure(e: ClassEvaluation) -> Iterator[Claim]:
    """Whether the confidence can be read as the chance to be right."""
    top, rows = e.top, counted(e.tally.rows, "row")
    if top.tally.kind == "score" or not top.ece.defined:
        return
    mean = top.calibration_intercept
    found = flaws(top)
    figures = [
        figure(k, top[k], "confidence")
        for k in ("calibration_slope", "calibration_intercept", "ece")
    ]
    if found:
        said = {
            "too sure": f"too sure of itself: slope {shown(top.calibration_slope)}",
            "not sure enough": f"not sure enough: slope {shown(top.calibration_slope)}",
            "too high": f"too high on the whole: calibration in the large {shown(mean)}",
            "too low": f"too low on the whole: calibration in the large {shown(mean)}",
            "off in places": f"off in places: smECE {value(top.smece)}, and calibrated scores would "
            f"get {number(top.smece.expected or 0.0)}",
        }
        text = "The confidence is " + ", and ".join(said[f] for f in found) + "."
        finding = found[0]
    else:
        finding = "believable"
        text = (
            f"The confidence can be read as the chance to be right, as far as {rows} can tell: ECE "
            f"{value(top.ece)}, and calibrated scores would get {number(top.ece.expected or 0.0)}."
        )
    yield Claim(about="probabilities", finding=finding, sentence=text, figures=figures)

"""What an evaluation means: how well it ranks, whether to believe its probabilities, what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns.binary import nearly_inside
from scorewise.estimate import Estimate, number
from scorewise.evaluation.groups import ClassGroups, Groups, group_claims
from scorewise.inference.paired import holm, p_of
from scorewise.inference.scales import z
from scorewise.registry import MEASURES
from scorewise.show.sites import pooled_claims
from scorewise.show.verdict import Claim, Figure, claim, columns_of, command, figure, share, shown
from scorewise.show.words import at_floor, chance, counted, interval, named, percent, quoted, value
from scorewise.tallies.losses import unit

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.document import DifferenceRecord
    from scorewise.evaluation.models import Evaluation

# words for an AUROC from such a value on (0.7, 0.8 and 0.9 as Hosmer and Lemeshow 2000 draw the lines)
RANKS = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly"), (0.6, "weakly"))
WIDE = 0.6  # a calibration slope whose interval is wider says nothing either way
CONFIDENCE = "The confidence"
SHOWN = 3  # models of which every pair is compared in words
RECALL = 0.8  # asked of the next cut where the threshold finds fewer than half of the positives
SURE = 0.99  # level at which recalibration is shown to help, as `Recalibrator` asks


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
        if _backwards(e):
            continue
        believed = [*_believed(quoted(name), name, e), *_repaired(name, e)]
        claims += believed
        flawed += [name] * any(c.finding in ("helps", "none") for c in believed)
    return [*claims, *_decided(evaluations), *_grouped(evaluations), *_next(evaluations, flawed)]


def _backwards(e: Evaluation) -> bool:
    return e.auroc.defined and e.auroc.high < 0.5


def _rounded(e: Evaluation) -> bool:
    """Whether rounding alone makes scores leave [0, 1]."""
    low, high = e.tally.ends
    return e.tally.kind == "score" and (low < 0 or high > 1) and nearly_inside(low, high)


def _rows(e: Evaluation) -> str:
    """How much there is to go by: rows, and clusters of them."""
    cluster = e.clusters
    rows = counted(e.tally.origin.rows, "row")
    return rows if cluster is None else f"{rows} in {counted(int(cluster.max()) + 1, 'cluster')}"


def _grouped(evaluations: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """Which groups of which model are told apart from the rest, and what a new one may show."""
    told: list[Claim] = []
    alike: list[Claim] = []
    many = len(evaluations)
    for name, e in evaluations.items():
        if not isinstance(e.groups, Groups):
            return
        for c in group_claims(e.groups, e.settings.level, many):
            apart = c.finding != "not told apart"
            (told if apart else alike).append(_for(name, c) if apart and many > 1 else c)
    yield from told[:SHOWN] or alike[:1]
    name, e = next(iter(evaluations.items()))
    if isinstance(e.groups, Groups):
        for c in pooled_claims(e.groups.record.summary, e.groups.by, e.settings.level):
            yield _for(name, c) if many > 1 else c


def _for(name: str, c: Claim) -> Claim:
    """The sentence on groups, of one model of several."""
    text = c.sentence[0].lower() + c.sentence[1:] if c.sentence[1].islower() else c.sentence
    return replace(c, sentence=f"For {quoted(name)}, {text}")


def _ranking(name: str, e: Evaluation) -> Claim:
    """How well the scores rank, in words that hold for the whole interval."""
    a, who = e.auroc, quoted(name)
    figures = [figure("auroc", a, name)]
    if not a.defined:
        text = f"How well {who} ranks cannot be judged: {a.why}."
        return claim("ranking", "unknown", text, figures)
    if _backwards(e):
        finding = "backwards"
        text = f"{who} ranks backwards: higher scores go with the negative class, AUROC {shown(a)}"
    elif a.low <= 0.5:
        finding = "not told from chance"
        text = f"{who} is not shown to rank better than chance in {_rows(e)}: AUROC {shown(a)}"
    else:
        finding = _band(a)
        text = f"{who} ranks {finding}: AUROC {shown(a)}"
    return claim("ranking", finding, f"{text}.", figures)


def _band(auroc: Estimate) -> str:
    """The words for an AUROC above 0.5, from one end of its interval to the other."""
    low, high = (
        next((w for x, w in RANKS if end >= x), "better than chance")
        for end in (auroc.low, auroc.high)
    )
    return low if low in (high, "better than chance") else f"{low} to {high}"


def _compared(
    evaluations: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> Iterator[Claim]:
    """How well one model ranks; of several, which ranks better, as far as paired differences tell."""
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
    loss = _lower_loss(differences) if len(evaluations) == 2 else None
    for a, b, d in told:
        sign = 1 if d.first == a else -1
        low, high = sorted(sign * (x or 0.0) for x in (d.low, d.high))
        gap = Estimate(sign * (d.value or 0.0), low, high)
        figures = [figure("auroc", evaluations[x].auroc, x) for x in (a, b)]
        figures.append(figure("auroc", gap, f"{a} - {b}"))
        both = " against ".join(value(evaluations[x].auroc) for x in (a, b))
        numbers = f"AUROC {both}, difference {shown(gap)}"
        sure = d.p_adjusted is not None and d.p_adjusted <= 1 - d.level
        if low == high == 0:
            finding, text = (
                "alike",
                f"{quoted(a)} and {quoted(b)} rank the rows alike: AUROC {both}.",
            )
        elif low > 0 and sure:
            finding, text = "better", f"{quoted(a)} ranks better than {quoted(b)}: {numbers}."
            if len(evaluations) == 2 and loss and loss.of == f"{a} - {b}":
                text = (
                    f"Prefer {quoted(a)} to {quoted(b)}: it ranks better ({numbers}) and has the "
                )
                text += f"lower Brier score ({_losses(evaluations, a, b, loss)})."
                figures, loss = [*figures, loss], None
        elif low > 0:
            many = counted(len(evaluations) * (len(evaluations) - 1) // 2, "comparison")
            finding, p = "not told apart", chance(d.p_adjusted or 1.0)
            text = f"{quoted(a)} may rank better than {quoted(b)}: {numbers}; "
            text += f"not clear after {many} ({p} by Holm)."
        else:
            finding = "not told apart"
            text = f"No clear difference in ranking between {quoted(a)} and {quoted(b)}: {numbers}."
        yield claim("models", finding, text, figures)
    if loss:
        a, b = (told[0][:2])[:: 1 if loss.of == f"{told[0][0]} - {told[0][1]}" else -1]
        text = f"{quoted(a)} has the lower Brier score: {_losses(evaluations, a, b, loss)}."
        yield claim("probabilities", "lower loss", text, [loss])


def _lower_loss(differences: Sequence[DifferenceRecord]) -> Figure | None:
    """The difference of Brier scores of two models where it is clear, that of the lower one first."""
    for d in differences:
        if (
            d.measure == "brier"
            and d.value is not None
            and d.low is not None
            and d.high is not None
        ):
            if d.high < 0:
                return figure("brier", d, f"{d.first} - {d.second}")
            if d.low > 0:
                turned = Estimate(-d.value, -d.high, -d.low)
                return figure("brier", turned, f"{d.second} - {d.first}")
    return None


def _losses(evaluations: Mapping[str, Evaluation], a: str, b: str, gap: Figure) -> str:
    """The Brier scores of two models and their difference, in words."""
    both = " against ".join(value(evaluations[x].brier) for x in (a, b))
    return f"{both}, difference {value(gap)} {interval(gap)}"


def suspected(e: Evaluation) -> dict[str, tuple[str, float]]:
    """What the three checks of calibration point to, in words, each with its p-value.

    The p-values are adjusted for the number of checks (Holm).
    """
    slope, large, smooth, gap = e.calibration_slope, e.calibration_intercept, e.smece, e.mean_error
    # of probabilities of 0 and 1, which have no log-odds, the mean itself is judged
    mean = large if large.defined else gap
    level = e.settings.level
    # of several classes, the confidence in the predicted one less how often that is right
    top = e.of_classes and not slope.defined
    over = Estimate(-gap.value, -gap.high, -gap.low) if top else e.overconfidence
    raw = [
        p_of(slope, 1.0, level) if slope.defined else p_of(over, 0.0, level),
        math.nan if top else p_of(mean, 0.0, level),
        math.nan if smooth.p is None else smooth.p,
    ]
    adjusted = holm(raw)
    found: dict[str, tuple[str, float]] = {}
    if raw[0] <= 1 - level:
        bold = slope.value < 1 if slope.defined else over.value > 0
        word, what = (
            "overconfident" if bold else "underconfident",
            f"calibration slope {shown(slope)}",
        )
        if not slope.defined:
            c, side = e.tally.confusion(0.5), "predicted" if top else "likelier"
            right = (c.tp + (c.fn if top else c.tn)) / (c.tp + c.tn + c.fp + c.fn)
            what = (
                f"{percent(right + over.value)} sure of the {side} class on average, which is right in "
                f"{percent(right)}, difference {shown(over)}"
            )
        found[word] = f"{word}: {what}", adjusted[0]
    if raw[1] <= 1 - level:
        side = "too low" if mean.value > 0 else "too high"
        seen = e.tally.positives / (e.tally.negatives + e.tally.positives)
        means = f"{percent(seen - gap.value)} predicted, {percent(seen)} observed"
        if e.of_classes:
            means = f"mean {percent(seen - gap.value)}, accuracy {percent(seen)}"
        text = f"{side} on average: {means}"
        more = f" (calibration in the large {shown(large)})" if large.defined else ""
        high = Estimate(-gap.value, -gap.high, -gap.low)  # as the difference of confidence above
        found[side] = text + (more or f", difference {shown(high)}"), adjusted[1]
    if raw[2] <= 1 - level and smooth.p is not None:
        found["miscalibrated"] = (
            f"miscalibrated: smECE {value(smooth)}, where calibrated scores would get "
            f"{smooth.expected or 0.0:.3f} ({chance(smooth.p, least=at_floor(smooth))})",
            adjusted[2],
        )
    return found


def flaws(e: Evaluation) -> dict[str, str]:
    """What is shown to be wrong with probabilities, in words."""
    sure = {k: text for k, (text, p) in suspected(e).items() if p <= 1 - e.settings.level}
    return {k: text for k, text in sure.items() if k != "miscalibrated" or len(sure) == 1}


def _believed(who: str, name: str, e: Evaluation) -> Iterator[Claim]:
    """Whether scores can be read as probabilities, and how they are wrong."""
    slope, ece = e.calibration_slope, e.ece
    if e.tally.kind == "score":
        low, high = e.tally.ends
        if _rounded(e):
            text = (
                f"{who} leaves [0, 1] by rounding, with values up to {max(-low, high - 1):.1g} outside; "
                f"declared as a probability, such values are taken as 0 or 1."
            )
            yield claim("probabilities", "rounded", text)
            return
        text = f"{who} is not a probability: its values go from {number(low)} to {number(high)}. "
        text += "Calibration can turn it into one."
        yield claim("probabilities", "none", text)
        return
    if not ece.defined:
        return
    keys = ("calibration_slope", "calibration_intercept", "ece", "smece")
    figures, rows = [figure(k, e[k], name) for k in keys], _rows(e)
    if not slope.defined:
        figures.append(figure("overconfidence", e.overconfidence, name))
    if found := flaws(e):
        what = "The model" if who == CONFIDENCE and "confident" in next(iter(found)) else who
        text = f"{what} is {('; its confidence is ' if what != who else ', and ').join(found.values())}."
        yield claim("probabilities", next(iter(found)), text, figures)
    elif maybe := suspected(e):
        what, p = next(iter(maybe.values()))
        text = f"{who} may be {what}; not clear after three checks ({chance(p)} by Holm)."
        yield claim("probabilities", "unclear", text, figures)
    elif slope.defined and slope.high - slope.low <= WIDE:
        text = (
            f"{who} can be read as a probability; no miscalibration is seen in {rows}: slope "
            f"{shown(slope)}, ECE {value(ece)} ({ece.expected or 0.0:.3f} expected if calibrated)."
        )
        yield claim("probabilities", "believable", text, figures)
    else:
        seen = f"slope {shown(slope)}" if slope.defined else slope.why
        what = who[0].lower() + who[1:] if who.startswith("The ") else who
        text = f"Whether {what} can be read as a probability cannot be judged in {rows}: {seen}."
        yield claim("probabilities", "unknown", text, figures)


def repairable(e: Evaluation) -> bool:
    """Whether probabilities are seen to be wrong, so that what recalibration saves is worth knowing."""
    t = e.tally
    return t.kind != "score" and not t.why_not_ranked and e.ece.defined and bool(flaws(e))


def _repaired(name: str, e: Evaluation, whose: str = "its") -> Iterator[Claim]:
    """Whether recalibration is shown to lower the loss of rows not seen, where probabilities are wrong."""
    if not repairable(e):
        return
    loss = f"{whose} {'log loss' if e.repair_gains else 'Brier score'}"
    tried = e.repair_gains or [e.mcb_crossfit]
    gain = max(tried, key=lambda x: x.low if x.defined else -1.0)
    figures = [figure("mcb_crossfit", gain, name)]
    if not gain.defined:
        return
    reach = z(SURE) / z(e.settings.level)
    if gain.value - reach * (gain.value - gain.low) > 0:
        text = f"Recalibration lowers {loss} by {shown(gain)}, cross-validated."
        yield claim("repair", "helps", text, figures)
        return
    change = Estimate(-gain.value, -gain.high, -gain.low)
    text = f"Recalibration is not shown to help: change of {loss} {shown(change)}, cross-validated."
    if gain.low > 0:
        text = f"Recalibration may help, but its {percent(SURE)} interval reaches 0: change of "
        text += f"{loss} {shown(change)}, cross-validated."
    yield claim("repair", "not shown", text, figures)


def _decided(evaluations: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """What the threshold does: how many positives it finds, and how many of its alerts are right."""
    s = next(iter(evaluations.values())).settings
    # 0.5 means nothing for scores of other kinds
    used = {
        name: e
        for name, e in evaluations.items()
        if e.tally.kind != "score" or s.threshold != type(s).threshold
    }
    parts: list[str] = []
    for name, e in list(used.items())[:SHOWN]:
        found, right, who = e.sensitivity, e.precision, quoted(name)
        positive = e.tally.origin.positive
        of = "the positives" if positive is None else quoted(positive)
        if not found.defined:
            continue
        if not right.defined:
            top = float(unit(np.array([e.tally.ends[1]]), e.tally.kind)[0])
            parts.append(f"{who} finds none of {of}: its highest score is {number(top)}")
        elif any("its positive calls" in part for part in parts):
            parts.append(f"{who} finds {share(found)}, and {share(right)} are right")
        else:
            parts.append(
                f"{who} finds {share(found)} of {of}, and {share(right)} of its positive calls are right"
            )
    if parts:
        keys = ("sensitivity", "precision")
        figures = [figure(k, e[k], name) for name, e in used.items() for k in keys]
        yield claim("decisions", "threshold", f"At {s.threshold:g}, {'; '.join(parts)}.", figures)


def _next(evaluations: Mapping[str, Evaluation], flawed: Sequence[str]) -> Iterator[Claim]:
    """The command, or the call, that would come next."""
    first = next(iter(evaluations.values()))
    origin = first.tally.origin
    if first.tally.why_not_ranked:
        return
    missing = [name for name, e in evaluations.items() if _missing(e)]
    name = next(iter([*flawed, *missing, *evaluations]))
    e = evaluations[name]
    if _backwards(e):
        text = (
            f"check that {quoted(origin.positive)} is the positive class, or turn the scores around"
        )
        yield claim("next", "turn", f"Next: {text}.")
        return
    task, call, what = "inspect", "sw.inspect(labels, scores)", "lists labels that look wrong"
    further = [("kind", "logit")] if e.tally.kind == "logit" else []
    if flawed:
        task, call = "calibrate fit", "sw.Recalibrator().fit(scores, labels)"
        what, further = f"maps {quoted(name)} to probabilities", [*further, ("o", "map.json")]
    elif _rounded(e):
        task, call = "evaluate", 'sw.evaluate(labels, scores, kind="probability")'
        what, further = f"takes {quoted(name)} as probabilities", [("kind", "probability")]
    elif missing:
        at = f"recall >= {RECALL}"
        task, call = "threshold", f'sw.threshold(labels, scores, at="{at}")'
        of = f" of {quoted(name)}" if len(evaluations) > 1 else ""
        what = f"picks a cut{of} that finds {percent(RECALL)} of the positives"
        further = [("at", at), *further]
    if not origin.sources or origin.label is None:
        yield claim("next", task.partition(" ")[0], f"Next: {call} {what}")
        return
    if (rows := e.clustered_rows) is not None and task != "inspect":
        further = [("cluster", rows.names.cluster), *further]
    yield command(task, origin.sources, [*columns_of(origin, name), *further])


def _missing(e: Evaluation) -> bool:
    """Whether the threshold is shown to find fewer than half of the positives."""
    found = e.sensitivity
    probable = e.tally.kind != "score" and not _backwards(e) and found.defined
    return probable and (found.high < 0.5 or not e.precision.defined)


# Several classes.


def class_verdict(e: ClassEvaluation) -> list[Claim]:
    """The sentences on a model of several classes."""
    if not e.tally.rows:
        return []
    if e.top.tally.kind == "score":
        return [*_right(e), *_hardest(e), *_class_groups(e)]
    top = [
        *_believed(CONFIDENCE, "confidence", e.top),
        *_repaired("confidence", e.top, "the confidence's"),
    ]
    origin, helps = e.top.tally.origin, any(c.finding == "helps" for c in top)
    step: list[Claim] = []
    if helps and origin.sources and origin.label is not None:
        weight = [("weight", origin.weight)] if origin.weight is not None else []
        columns = [("label", origin.label), ("classes", e.columns), *weight, ("o", "map.json")]
        # decisions by themselves have no map
        step = [command("calibrate fit", origin.sources, columns)] if e.columns else []
    elif helps:
        text = "Next: sw.Recalibrator().fit(probabilities, labels) maps the probabilities to better ones"
        step = [claim("next", "calibrate", text)]
    return [*_right(e), *_hardest(e), *top, *_class_groups(e), *step]


def _class_groups(e: ClassEvaluation) -> Iterator[Claim]:
    """Which groups are told apart from the rest."""
    if isinstance(e.groups, ClassGroups):
        yield from e.groups.claims()


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
            text += ", not shown to be more than a constant"
            finding = "not told from constant"
        text += f"; always predicting the most frequent class would be right in {percent(base)}."
        yield claim("decisions", finding, text, [figure("accuracy", a)])
    if m.defined and m.low > 0.5:
        text = f"On average over classes, scores rank {_band(m)}: macro AUROC {shown(m)}."
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
        text = f"Recall is lower than the accuracy for {named(words)}."
        yield claim("decisions", "hard classes", text, figures)

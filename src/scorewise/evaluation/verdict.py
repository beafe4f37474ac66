"""What an evaluation means: how well it ranks, whether to believe its probabilities, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.estimate import Estimate, number
from scorewise.evaluation.calibration import calibration_claims, leaves_by_rounding, rows_in_words
from scorewise.evaluation.result import AnyEvaluation, ClassEvaluation, Evaluation, Settings
from scorewise.registry import MEASURES
from scorewise.show.verdict import (
    Claim,
    Figure,
    as_percent,
    claim,
    figure,
    next_command,
    next_step,
    with_ci,
)
from scorewise.show.words import listed, p_phrase, percent, plural, quoted, value
from scorewise.subgroups import ComparedGroups
from scorewise.subgroups.pooling import pooled_claims
from scorewise.tallies.losses import unit

if TYPE_CHECKING:
    from scorewise.evaluation.document import DifferenceRecord

# words for an AUROC from such a value on (0.7, 0.8 and 0.9 as Hosmer and Lemeshow 2000 draw the lines)
RANKS = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly"), (0.6, "weakly"))
SHOWN = 3  # models of which every pair is compared in words
RECALL = 0.8  # asked of the next cut where the threshold finds fewer than half of the positives


def verdict_of(
    models: Mapping[str, AnyEvaluation], differences: Sequence[DifferenceRecord]
) -> list[Claim]:
    """The sentences on models on the same rows, of two classes or of several."""
    first = next(iter(models.values()))
    if isinstance(first, ClassEvaluation):
        return class_verdict(first)
    evaluations = {name: e for name, e in models.items() if isinstance(e, Evaluation)}
    if not first.tally.origin.rows:
        return []
    claims = [*_compared(evaluations, differences)]
    flawed = []
    for name, e in evaluations.items():
        if not _backwards(e):
            believed = calibration_claims(name, quoted(name), e)
            claims += believed
            flawed += [name] * any(c.finding in ("helps", "none") for c in believed)
    return [*claims, *_decided(evaluations), *_grouped(evaluations), *_next(evaluations, flawed)]


def _backwards(e: Evaluation) -> bool:
    return e.auroc.defined and e.auroc.high < 0.5


def _grouped(models: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """Which groups of which model are told apart from the rest, and what a new one may show."""
    grouped = {n: e.groups for n, e in models.items() if isinstance(e.groups, ComparedGroups)}
    if not grouped:
        return
    several = len(models) > 1
    claims = [(n, c) for n, groups in grouped.items() for c in groups.claims(len(models))]
    apart = [_for(n, c) if several else c for n, c in claims if c.finding != "not told apart"]
    yield from apart[:SHOWN] or [c for _, c in claims][:1]
    name, groups = next(iter(grouped.items()))
    for c in pooled_claims(groups.record.summary, groups.by, models[name].settings.level):
        yield _for(name, c) if several else c


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
        text = (
            f"{who} ranks backwards: higher scores go with the negative class, AUROC {with_ci(a)}"
        )
    elif a.low <= 0.5:
        finding = "not told from chance"
        text = f"{who} is not shown to rank better than chance in {rows_in_words(e)}: AUROC {with_ci(a)}"
    else:
        finding = _band(a)
        text = f"{who} ranks {finding}: AUROC {with_ci(a)}"
    return claim("ranking", finding, f"{text}.", figures)


def _band(auroc: Estimate) -> str:
    """The words for an AUROC above 0.5, from one end of its interval to the other."""
    low, high = (
        next((w for x, w in RANKS if end >= x), "better than chance")
        for end in (auroc.low, auroc.high)
    )
    return low if low in (high, "better than chance") else f"{low} to {high}"


def _compared(
    models: Mapping[str, Evaluation], differences: Sequence[DifferenceRecord]
) -> Iterator[Claim]:
    """How well one model ranks; of several, which ranks better, as far as paired differences tell."""
    by_pair = {frozenset((d.first, d.second)): d for d in differences if d.measure == "auroc"}
    areas = {name: e.auroc for name, e in models.items()}
    order = {name: -a.value if a.defined else 9.0 for name, a in areas.items()}
    ranked = sorted(models, key=order.__getitem__)
    pairs = [p for p in combinations(ranked, 2) if len(ranked) <= SHOWN or p[0] == ranked[0]]
    known = [(*pair, d) for pair in pairs if (d := by_pair.get(frozenset(pair))) and d.has_interval]
    if not known:
        yield from (_ranking(name, e) for name, e in models.items())
        return
    loss = _lower_loss(differences) if len(models) == 2 else None
    losses = None if loss is None else of_pair(models, "brier", *loss)
    for a, b, d in known:
        gap = d.with_first(a)
        both, figures = of_pair(models, "auroc", a, b, gap)
        numbers, finding = f"AUROC {both}, difference {with_ci(gap)}", "not told apart"
        if gap.low == gap.high == 0:
            finding = "alike"
            text = f"{quoted(a)} and {quoted(b)} rank the rows alike: AUROC {both}."
        elif gap.low > 0 and d.significant:
            finding, text = "better", f"{quoted(a)} ranks better than {quoted(b)}: {numbers}."
            if loss and losses and loss[0] == a:
                text = (
                    f"Prefer {quoted(a)} to {quoted(b)}: it ranks better ({numbers}) and has the "
                    f"lower Brier score ({losses[0]}, difference {with_ci(loss[2])})."
                )
                figures, losses = [*figures, losses[1][-1]], None
        elif gap.low > 0:
            many = plural(len(models) * (len(models) - 1) // 2, "comparison")
            text = f"{quoted(a)} may rank better than {quoted(b)}: {numbers}; "
            text += f"not clear after {many} ({p_phrase(d.p_adjusted or 1.0)} by Holm)."
        else:
            text = f"No clear difference in ranking between {quoted(a)} and {quoted(b)}: {numbers}."
        yield claim("models", finding, text, figures)
    if loss and losses:
        text = f"{quoted(loss[0])} has the lower Brier score: {losses[0]}, difference {with_ci(loss[2])}."
        yield claim("probabilities", "lower loss", text, losses[1][-1:])


def _lower_loss(differences: Sequence[DifferenceRecord]) -> tuple[str, str, Estimate] | None:
    """The difference of Brier scores of two models where it is clear, that of the lower one first."""
    for d in differences:
        if d.measure == "brier" and d.has_interval and d.excludes_zero:
            pair = (d.first, d.second) if (d.high or 0.0) < 0 else (d.second, d.first)
            return *pair, d.with_first(pair[0])
    return None


def of_pair(
    models: Mapping[str, Mapping[str, Estimate]], measure: str, first: str, second: str, gap: Any
) -> tuple[str, list[Figure]]:
    """A measure of two models in words, and as figures with the difference of the two."""
    each = [(x, models[x][measure]) for x in (first, second)]
    figures = [figure(measure, e, x) for x, e in each]
    words = " against ".join(value(e) for _, e in each)
    return words, [*figures, figure(measure, gap, f"{first} - {second}")]


def _decided(models: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """What the threshold does: how many positives it finds, and how many of its alerts are right."""
    threshold = next(iter(models.values())).settings.threshold
    chosen = threshold != Settings.threshold  # 0.5 means nothing for scores of other kinds
    used = {name: e for name, e in models.items() if chosen or e.tally.kind != "score"}
    parts: list[str] = []
    for name, e in list(used.items())[:SHOWN]:
        recall, precision, who = e.sensitivity, e.precision, quoted(name)
        positive = e.tally.origin.positive
        of = "the positives" if positive is None else quoted(positive)
        if not recall.defined:
            continue
        if not precision.defined:
            top = float(unit(np.array([e.tally.ends[1]]), e.tally.kind)[0])
            parts.append(f"{who} finds none of {of}: its highest score is {number(top)}")
        elif any("its positive calls" in part for part in parts):
            parts.append(f"{who} finds {as_percent(recall)}, and {as_percent(precision)} are right")
        else:
            calls = f"{as_percent(precision)} of its positive calls are right"
            parts.append(f"{who} finds {as_percent(recall)} of {of}, and {calls}")
    if parts:
        keys = ("sensitivity", "precision")
        figures = [figure(k, e[k], name) for name, e in used.items() for k in keys]
        yield claim("decisions", "threshold", f"At {threshold:g}, {'; '.join(parts)}.", figures)


def _next(models: Mapping[str, Evaluation], flawed: Sequence[str]) -> Iterator[Claim]:
    """The command, or the call, that would come next."""
    origin = next(iter(models.values())).tally.origin
    if next(iter(models.values())).tally.why_not_ranked:
        return
    missed = [name for name, e in models.items() if _misses_half(e)]
    name = next(iter([*flawed, *missed, *models]))
    e = models[name]
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
    elif leaves_by_rounding(e):
        task, call = "evaluate", 'sw.evaluate(labels, scores, kind="probability")'
        what, further = f"takes {quoted(name)} as probabilities", [("kind", "probability")]
    elif missed:
        at = f"recall >= {RECALL}"
        task, call = "threshold", f'sw.threshold(labels, scores, at="{at}")'
        of = f" of {quoted(name)}" if len(models) > 1 else ""
        what = f"picks a cut{of} that finds {percent(RECALL)} of the positives"
        further = [("at", at), *further]
    if (rows := e.clustered_rows) is not None and task != "inspect":
        further = [("cluster", rows.names.cluster), *further]
    yield next_step(task, origin, f"{call} {what}", further, name)


def _misses_half(e: Evaluation) -> bool:
    """Whether the threshold is shown to find fewer than half of the positives."""
    recall = e.sensitivity
    probable = e.tally.kind != "score" and not _backwards(e) and recall.defined
    return probable and (recall.high < 0.5 or not e.precision.defined)


# Several classes.


def class_verdict(e: ClassEvaluation) -> list[Claim]:
    """The sentences on a model of several classes."""
    if not e.tally.rows:
        return []
    groups = [*e.groups.claims()] if isinstance(e.groups, ComparedGroups) else []
    claims = [*_right(e), *_hardest(e)]
    if e.top.tally.kind == "score":
        return [*claims, *groups]
    top = calibration_claims("confidence", "The confidence", e.top, "the confidence's")
    claims += [*top, *groups]
    origin = e.top.tally.origin
    if not any(c.finding == "helps" for c in top):
        return claims
    if not origin.sources or origin.label is None:
        text = "Next: sw.Recalibrator().fit(probabilities, labels) maps the probabilities to better ones"
        return [*claims, claim("next", "calibrate", text)]
    weight = [("weight", origin.weight)] if origin.weight is not None else []
    columns = [("label", origin.label), ("classes", e.columns), *weight, ("o", "map.json")]
    # decisions by themselves have no map
    return [*claims, *[next_command("calibrate fit", origin.sources, columns)] * bool(e.columns)]


def _right(e: ClassEvaluation) -> Iterator[Claim]:
    """How often the predicted class is right, beside a constant, and how well scores rank."""
    a, m = e.accuracy, e.macro_auroc
    if a.defined:
        base = a.baseline or 0.0
        text = f"The predicted class is right in {as_percent(a)} of rows"
        finding = "better than constant"
        if a.high < base:
            text, finding = f"{text}, worse than a constant", "worse than constant"
        elif a.low <= base:
            text += ", not shown to be more than a constant"
            finding = "not told from constant"
        text += f"; always predicting the most frequent class would be right in {percent(base)}."
        yield claim("decisions", finding, text, [figure("accuracy", a)])
    if m.defined and m.low > 0.5:
        text = f"On average over classes, scores rank {_band(m)}: macro AUROC {with_ci(m)}."
        yield claim("ranking", _band(m), text, [figure("macro_auroc", m)])


def _hardest(e: ClassEvaluation) -> Iterator[Claim]:
    """The classes whose rows are found less often than rows are right in all, worst first."""
    a, sensitivity = e.accuracy, MEASURES["sensitivity"]
    tables = {name: e.tally.decided(name) for name in e.classes}
    recall = {name: sensitivity.under(vars(e.settings), table) for name, table in tables.items()}
    # as many intervals as classes: at their level, one in twenty would stand out by chance
    level = 1 - (1 - e.settings.level) / max(len(tables), 1)
    hard = [
        name
        for name, r in recall.items()
        if a.defined
        and r.defined
        and r.high < a.low
        and sensitivity(tables[name], level=level).high < a.low
    ]
    if hard:
        hard.sort(key=lambda name: recall[name].value)
        words = [f"{quoted(name)} ({as_percent(recall[name])})" for name in hard]
        figures = [figure("sensitivity", recall[name], name) for name in hard[:3]]
        text = f"Recall is lower than the accuracy for {listed(words)}."
        yield claim("decisions", "hard classes", text, figures)

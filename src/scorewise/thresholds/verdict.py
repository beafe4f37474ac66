"""What a cut means: what it keeps and with which confidence, what that costs, and what it finds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scorewise.errors import plain
from scorewise.estimate import Estimate, number
from scorewise.show.verdict import Claim, as_percent, claim, figure
from scorewise.show.words import listed, percent, plural, quoted, whole_percent
from scorewise.thresholds.cuts import at_prevalence
from scorewise.thresholds.document import measure_of_groups
from scorewise.thresholds.goals import SIGNED, Constraint, Goal

if TYPE_CHECKING:
    from scorewise.tallies import Tally
    from scorewise.thresholds.document import CutPoint, GroupCuts, RejectRecord, ThresholdDocument


def verdict_of(t: Tally, goal: Goal, doc: ThresholdDocument) -> list[Claim]:
    """The sentences on a rule, and on its cut in groups."""
    claims = [_promise(goal, doc.cuts, doc.rule.why), _finds(t, doc.cuts[0])]
    near, e = doc.cuts[0].near, doc.elsewhere
    if near is not None and not doc.rule.guaranteed:
        text = f"{near.meaning}: {near.low:.3g} to {near.high:.3g}."
        claims.append(claim("decisions", "near", text))
    if e is not None:
        text = (
            f"Where {percent(e.prevalence)} of rows are positive, {_share(e.ppv)} of alerts are right, and "
            f"{_rate(e.alert_rate)} of rows are alerts."
        )
        figures = [figure("precision", e.ppv), figure("npv", e.npv)]
        claims.append(claim("decisions", "elsewhere", text, figures))
    if goal.review is not None:
        claims.append(_reviews(goal.review, doc.reject))
    if doc.groups and goal.constraints and goal.guarantee is not None:
        claims += _groups(doc.groups, goal, goal.guarantee, doc.by)
    return [*claims, _next(t)]


def _promise(goal: Goal, cuts: list[CutPoint], why: str) -> Claim:
    """What the cut keeps, how sure that is, and what it costs beside the plain cut."""
    cut, at = cuts[0], _cut(cuts[0].cut.threshold)
    figures = [figure("alert_rate", c.alert_rate, c.name) for c in cuts]
    kept = " and ".join(_in_words(c) for c in goal.constraints)
    if cut.name == "guaranteed":
        sure = f"{percent(goal.guarantee or 0)} confidence"
        if "approximate" in cut.method:
            sure = f"about {sure} (approximate, by cluster)"
        kept = f"{kept}, with {sure}"
        if cut.alert_rate.value == 1 and cuts[-1].alert_rate.value != 1:
            plain = f"{_cut(cuts[1].cut.threshold)} flags {_rate(cuts[1].alert_rate.value)}"
            text = f"Alert from {at} on, which is every one of these rows: {kept}. The plain cut at"
            text += f" {plain}, without that confidence."
            return claim("decisions", "everybody", text, figures)
        text = f"Alert from {at} on: {kept}. That flags {_price(cuts)}."
        return claim("decisions", "guaranteed", text, figures)
    if not goal.constraints:
        cells = at_prevalence((cut.tp, cut.fp, cut.fn, cut.tn), goal.prevalence)
        value = float(goal.objective.value(*cells))
        best = number(-value if goal.objective.name == "cost" else value)
        text = f"Alert from {at} on: {goal.objective.words} ({best})."
        return claim("decisions", "best", text, figures)
    text = f"Alert from {at} on: on these rows {kept}"
    if goal.guarantee is None:
        text += "; on new rows it fails about half the time."
        return claim("decisions", "plain", text, figures)
    text += f". That is not guaranteed for other rows: {why}."
    return claim("decisions", "not guaranteed", text, figures)


def _price(cuts: list[CutPoint]) -> str:
    """The alerts of the guaranteed cut beside those of the plain one."""
    sure, plain_cut = (c.alert_rate.value for c in cuts)
    if cuts[0].cut.threshold == cuts[1].cut.threshold:
        return f"{_rate(sure)} of rows, no more than the cut that keeps it on these rows only"
    rates = [_rate(x) for x in (sure, plain_cut)]
    if rates[0] == rates[1]:
        rates = [percent(x) for x in (sure, plain_cut)]
    at = _cut(cuts[1].cut.threshold)
    plain_at = f"the plain cut at {at}, which keeps it on these rows only"
    return f"{rates[0]} of rows; {plain_at}, flags {rates[1]}"


def _in_words(c: Constraint) -> str:
    """A constraint as part of a sentence: recall is at least 90%."""
    side = "at least" if c.upward else "at most"
    limit = f"{c.limit:g}" if c.measure in SIGNED else percent(c.limit)
    return f"{c.word.replace('_', ' ')} is {side} {limit}"


def _rate(x: float | None) -> str:
    return percent(x or 0.0) if x is None or x < 0.1 else whole_percent(x)


def _cut(x: float) -> str:
    """A cut within a sentence, as it is applied."""
    return f"{x:.15g}"


def _share(e: Estimate) -> str:
    """A share with its interval, if it has one."""
    return as_percent(e) if e.low == e.low and e.low is not None else percent(e.value)


def _finds(t: Tally, cut: CutPoint) -> Claim:
    """How many positives it finds, and how many of its alerts are right."""
    figures = [figure(n, getattr(cut, n)) for n in ("sensitivity", "precision")]
    right, positive = cut.precision, t.origin.positive
    who = "the positives" if positive in ("1", "True") else quoted(positive)
    rest = "flags no row" if right.why else f"{_share(right)} of its alerts are right"
    text = f"On these rows it finds {_share(cut.sensitivity)} of {who}, and {rest}."
    return claim("decisions", "finds", text, figures)


def _reviews(review: float, reject: RejectRecord | None) -> Claim:
    if reject is None:
        text = f"Reviews at {review:g} false alarms each do not pay: one cut costs no more."
        return claim("decisions", "no reviews", text)
    text = (
        f"With reviews at {review:g} false alarms each, clear below {_cut(reject.low)}, alert "
        f"from {_cut(reject.high)} on and review between ({_rate(reject.reviewed)} of rows): "
        f"a row then costs {number(reject.cost)} false alarms on average instead of "
        f"{number(reject.alone)}."
    )
    return claim("decisions", "reviews", text)


def _groups(
    groups: Sequence[GroupCuts], goal: Goal, guarantee: float, by: Sequence[str]
) -> Iterator[Claim]:
    """In which groups the common cut keeps its promise, and what own cuts would keep."""
    name, columns = measure_of_groups(goal.constraints)[0], " and ".join(quoted(x) for x in by)
    title, number_of = name.replace("sensitivity", "recall").replace("_", " "), len(groups)

    def value(g: GroupCuts) -> str:
        e: Any = None if g.common is None else getattr(g.common, name)
        undefined = e is None or e.why or e.value is None
        return (
            f"{quoted(g.name)} ({(g.why or 'undefined') if undefined else f'{title} {_share(e)}'})"
        )

    approximate = any(g.own is not None and "approximate" in g.own.method for g in groups)
    each = f"with {'about ' * approximate}{percent(guarantee)} confidence each"
    kept = [quoted(g.name) for g in groups if g.promise == "kept"]
    broken, left = ([value(g) for g in groups if g.promise == p] for p in ("broken", "open"))
    if len(kept) == number_of:
        text = (
            f"The common cut keeps it in each of {plural(number_of, 'group')} by {columns}, {each}."
        )
        yield claim("groups", "kept", text)
    else:
        parts = [
            f"broken in {listed(broken)}" if broken else "",
            f"shown neither kept nor broken in {listed(left)}" if left else "",
            f"kept in {listed(kept)}, {each}" if kept else "",
        ]
        text = f"By {columns}, the promise of the common cut is {'; '.join(filter(None, parts))}."
        yield claim("groups", "broken" if broken else "not shown", text)
    own = {g.name: g.own for g in groups if g.own is not None and g.own.name == "guaranteed"}
    if own:
        least = [f"{cut.cut.threshold:.4g} for {quoted(group)}" for group, cut in own.items()]
        of = plural(number_of, "group")
        text = f"Own cuts keep it in {len(own)} of {of}, {each}: {listed(least)}."
        yield claim("groups", "own cuts", text)


def _next(t: Tally) -> Claim:
    o = t.origin
    if not o.sources:
        return claim("next", "predict", "Next: rule.predict(new_scores), rule.save('rule.json')")
    apply = f"apply rule.json NEW_FILE --score {shlex.quote(plain(o.score))} -o alerts.csv"
    text = f"Next: save the rule with -o rule.json, then scorewise threshold {apply}"
    return claim("next", "threshold", text)

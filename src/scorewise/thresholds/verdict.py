"""What a cut means: what it keeps and with which confidence, what that costs, and what it finds."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scorewise.errors import plain
from scorewise.estimate import Estimate, number
from scorewise.show.verdict import Claim, claim, figure, share
from scorewise.show.words import percent, quoted, whole_percent
from scorewise.thresholds.constraints import Constraint

if TYPE_CHECKING:
    from scorewise.tallies import Tally
    from scorewise.thresholds.document import CutPoint, ElsewhereRecord, RejectRecord
    from scorewise.thresholds.operating_points import Asked


def verdict_of(
    t: Tally,
    asked: Asked,
    cuts: list[CutPoint],
    why: str,
    elsewhere: ElsewhereRecord | None,
    reject: RejectRecord | None,
    groups: Iterable[Claim] = (),
) -> list[Claim]:
    """The sentences on a rule; `groups` are those on groups."""
    claims = [_promise(asked, cuts, why), *_found(t, cuts[0]), *_near(cuts[0])]
    if elsewhere is not None:
        claims.append(_elsewhere(elsewhere))
    return [*claims, *_reviews(asked, reject), *groups, _next(t)]


def _promise(asked: Asked, cuts: list[CutPoint], why: str) -> Claim:
    """What the cut keeps, how sure that is, and what it costs beside the plain cut."""
    cut, at = cuts[0], cut_text(cuts[0].cut.threshold)
    figures = [figure("alert_rate", c.alert_rate, c.name) for c in cuts]
    kept = " and ".join(in_words(c) for c in asked.wanted)
    if cut.name == "guaranteed":
        sure = f"{kept}, with {confidence(asked, cut)}"
        if cut.alert_rate.value == 1 and cuts[-1].alert_rate.value != 1:
            other = (
                f" The plain cut at {cut_text(cuts[1].cut.threshold)} flags " if cuts[1:] else ""
            )
            other += f"{_rate(cuts[1].alert_rate.value)}, without that confidence." if other else ""
            text = f"Alert from {at} on, which is every one of these rows: {sure}.{other}"
            return claim("decisions", "everybody", text, figures)
        text = f"Alert from {at} on: {sure}"
        text += f". That flags {_price(cuts)}." if len(cuts) > 1 else "."
        return claim("decisions", "guaranteed", text, figures)
    if not asked.wanted:
        value = asked.aim.value(*asked.weighed(cut.tp, cut.fp, cut.fn, cut.tn))
        of = -value if asked.aim.name == "cost" else value
        text = f"Alert from {at} on: {asked.aim.words} ({number(float(of))})."
        return claim("decisions", "best", text, figures)
    text = f"Alert from {at} on: on these rows {kept}"
    if asked.guarantee is None:
        return claim(
            "decisions", "plain", f"{text}; on new rows it fails about half the time.", figures
        )
    return claim(
        "decisions",
        "not guaranteed",
        f"{text}. That is not guaranteed for other rows: {why}.",
        figures,
    )


def confidence(asked: Asked, cut: CutPoint) -> str:
    """How sure a guarantee is; where rows come in clusters, it is approximate."""
    sure = f"{percent(asked.guarantee or 0)} confidence"
    return f"about {sure} (approximate, by cluster)" if "approximate" in cut.method else sure


def _price(cuts: list[CutPoint]) -> str:
    """The alerts of the guaranteed cut beside those of the plain one."""
    sure, plain_cut = (c.alert_rate.value for c in cuts)
    at = cut_text(cuts[1].cut.threshold)
    if cuts[0].cut.threshold == cuts[1].cut.threshold:
        return f"{_rate(sure)} of rows, no more than the cut that keeps it on these rows only"
    rates = [_rate(x) for x in (sure, plain_cut)]
    if rates[0] == rates[1]:
        rates = [percent(x) for x in (sure, plain_cut)]
    plain_at = f"the plain cut at {at}, which keeps it on these rows only"
    return f"{rates[0]} of rows; {plain_at}, flags {rates[1]}"


def in_words(c: Constraint) -> str:
    """A constraint as part of a sentence: recall is at least 90%."""
    side = "at least" if c.sign == ">=" else "at most"
    value = f"{c.value:g}" if c.measure in ("youden", "kappa", "mcc") else percent(c.value)
    return f"{c.word.replace('_', ' ')} is {side} {value}"


def _rate(x: float | None) -> str:
    return percent(x or 0.0) if x is None or x < 0.1 else whole_percent(x)


def cut_text(x: float) -> str:
    """A cut within a sentence, as it is applied."""
    return f"{x:.15g}"


def _found(t: Tally, cut: CutPoint) -> Iterator[Claim]:
    """How many positives it finds, and how many of its alerts are right."""
    figures = [figure(n, getattr(cut, n)) for n in ("sensitivity", "precision")]
    finds, right = cut.sensitivity, cut.precision
    who = "the positives" if t.origin.positive in ("1", "True") else f"{quoted(t.origin.positive)}"
    text = f"On these rows it finds {_share(finds)} of {who}"
    text += (
        f", and {_share(right)} of its alerts are right."
        if not right.why
        else ", and flags no row."
    )
    yield claim("decisions", "finds", text, figures)


def _share(e: Estimate) -> str:
    return share(e) if e.low == e.low and e.low is not None else percent(e.value)


def _near(cut: CutPoint) -> Iterator[Claim]:
    """How far the data fix the cut."""
    if cut.near is None or cut.name == "guaranteed":
        return
    ends = f"{cut.near.low:.3g} to {cut.near.high:.3g}"
    text = f"{cut.near.meaning}: {ends}."
    yield claim("decisions", "near", text)


def _elsewhere(e: ElsewhereRecord) -> Claim:
    text = (
        f"Where {percent(e.prevalence)} of rows are positive, {_share(e.ppv)} of alerts are right, and "
        f"{_rate(e.alert_rate)} of rows are alerts."
    )
    return claim("decisions", "elsewhere", text, [figure("precision", e.ppv), figure("npv", e.npv)])


def _reviews(asked: Asked, reject: RejectRecord | None) -> Iterator[Claim]:
    if asked.review is None:
        return
    if reject is None:
        text = f"Reviews at {asked.review:g} false alarms each do not pay: one cut costs no more."
        yield claim("decisions", "no reviews", text)
        return
    text = (
        f"With reviews at {asked.review:g} false alarms each, clear below {cut_text(reject.low)}, alert "
        f"from {cut_text(reject.high)} on and review between ({_rate(reject.reviewed)} of rows): "
        f"a row then costs {number(reject.cost)} false alarms on average instead of "
        f"{number(reject.alone)}."
    )
    yield claim("decisions", "reviews", text)


def _next(t: Tally) -> Claim:
    o = t.origin
    if not o.sources:
        return claim("next", "predict", "Next: rule.predict(new_scores), rule.save('rule.json')")
    apply = shlex.join(
        ["apply", "rule.json", "NEW_FILE", "--score", plain(o.score), "-o", "alerts.csv"]
    )
    text = f"Next: save the rule with -o rule.json, then scorewise threshold {apply}"
    return claim("next", "threshold", text)

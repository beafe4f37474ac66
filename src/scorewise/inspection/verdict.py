"""What an inspection means: whether more labels contradict their scores than chance leads to expect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import pdtr, pdtrc, pdtrik

from scorewise.estimate import Estimate
from scorewise.inference.logistic import logistic
from scorewise.inference.shares import wilson
from scorewise.show.verdict import Claim, claim, columns_of, command, figure, share
from scorewise.show.words import chance, counted, quoted
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit, unit

if TYPE_CHECKING:
    from scorewise.inspection.inspection import Inspected, Inspection
    from scorewise.inspection.opinions import Raters

ODDS = 0.1  # a label that fewer rows like it have contradicts its score
LEVEL = 0.95
SHOWN = 3  # models that are told of in words


def inspection_verdict(i: Inspection) -> list[Claim]:
    """The sentences on the labels of rows, and on models that are compared."""
    models = [*i.models.items()][:SHOWN]
    found = [c for name, model in models for c in _labels(name, model)]
    return [*found, *_alike(i), _next(i, any(c.finding == "more than expected" for c in found))]


def contradicted(t: Tally) -> tuple[int, float] | None:
    """How many rows have a label that the scores give less than 1 in 10, and how many are expected to.

    By probabilities as they are, and by logistic regression on scores of another kind. Nothing where that
    has no solution, one class has no rows, or rows have weights.
    """
    if t.why_not_ranked or t.weighted:
        return None
    if t.kind != "score":  # they rise from cell to cell: the ends tell
        p = unit(np.asarray(t.score, np.float64), t.kind)
        a, b = p.searchsorted(ODDS, "right"), p.searchsorted(1 - ODDS)
        ends = ((t.neg[:a], t.pos[:a], p[:a]), (t.pos[b:], t.neg[b:], 1 - p[b:]))
        due = sum(float(((right + wrong) * q).sum()) for right, wrong, q in ends)
        return int(sum(wrong.sum() for _, wrong, _ in ends)), due
    neg, pos, p = t.neg.astype(float), t.pos.astype(float), t.score.astype(float)
    x = (p - p.mean()) / (float(p.std()) or 1.0)
    fit = logistic([np.ones(len(x)), x], neg, pos)
    if not fit.converged:
        return None
    p = expit(fit.coef[0] + fit.coef[1] * x)
    low, high = p <= ODDS, p >= 1 - ODDS
    seen = pos[low].sum() + neg[high].sum()
    expected = ((neg + pos) * p)[low].sum() + ((neg + pos) * (1 - p))[high].sum()
    return int(seen), float(expected)


def _labels(name: str, model: Inspected) -> Iterator[Claim]:
    """Whether labels contradict the scores more often than expected."""
    found = contradicted(model.tally)
    if found is None:
        why = model.why or "rows have weights, or the scores tell the classes apart"
        text = f"How many labels may be wrong by {quoted(name)} cannot be told: {why}."
        yield claim("labels", "unknown", text)
        return
    seen, expected = found
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    low, high = (poisson_quantile(tail, expected) for tail in tails)
    p = float(pdtrc(seen - 1, expected)) if seen else 1.0
    figures = [
        figure("contradicted", Estimate(seen), name),
        figure("expected", Estimate(expected, low, high), name),
    ]
    rows = counted(seen, "label") if seen else "No label"
    fitted = " (mapped to probabilities by logistic regression)" * (model.tally.kind == "score")
    text = f"{rows} contradict{'s' * (seen < 2)} {quoted(name)}{fitted} by odds of 9 to 1 or more"
    mean = f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}"
    usual = f"{mean} [{low:,}, {high:,}] expected by chance" if expected else ""
    if p < 1 - LEVEL:
        text += f", more than chance explains ({usual}; {chance(p)}): "
        text += "some labels may be wrong, or the scores too extreme."
        yield claim("labels", "more than expected", text, figures)
    else:
        text += f", no more than chance explains ({usual})" if seen else f" ({usual})" * bool(usual)
        text += "; nothing shows that labels are wrong."
        yield claim("labels", "as expected", text, figures)


def poisson_quantile(tail: float, expected: float) -> int:
    """The smallest count that has the tail at or below it.

    >>> poisson_quantile(0.025, 4.0), poisson_quantile(0.975, 4.0), poisson_quantile(0.025, 0.0)
    (1, 8, 0)
    """
    if not expected:
        return 0
    k = max(math.ceil(float(pdtrik(tail, expected))), 0)
    # the inverse is right to rounding alone
    return k - 1 if k and float(pdtr(k - 1, expected)) >= tail else k


def _alike(i: Inspection) -> Iterator[Claim]:
    t = next(iter(i.models.values())).tally
    if i.agreement is not None and not t.weighted:
        yield _same(i.agreement.decisions, t.origin.rows, "Models")


def _same(same: float, rows: int, who: str) -> Claim:
    """How often all decide the same."""
    e = Estimate(*wilson(same * rows, (1 - same) * rows, same * rows, (1 - same) * rows, LEVEL))
    text = f"{who} decide the same on {share(e)} of {counted(rows, 'row')}."
    return claim("agreement", "same decisions", text, [figure("same_decisions", e)])


def _next(i: Inspection, more: bool) -> Claim:
    """The rows to check, where there are more than expected; else the measures."""
    o = next(iter(i.models.values())).tally.origin
    if not o.sources or o.label is None:
        call = (
            "to_frame() of the result, the rows to check" if more else "sw.evaluate(labels, scores)"
        )
        return claim("next", "inspect" if more else "evaluate", f"Next: {call}")
    columns = columns_of(o, *i.models)
    if more:
        return command("inspect", o.sources, [*columns, ("top", "100"), ("json", "suspects.json")])
    return command("evaluate", o.sources, columns)


def raters_verdict(r: Raters) -> list[Claim]:
    """The sentences on raters who decide and score."""
    a, names = r.agreement, [x.name for x in r.agreement.raters]
    if not r.rows:
        return []
    claims, n = [_same(a.decisions, r.rows, "Raters")], a.numbers
    other = n["apparent"] + n["real"]
    if other:
        text = (
            f"Of {counted(other, 'row')} with different decisions, {n['apparent']:,} only "
            f"look{'s' * (n['apparent'] == 1)} like disagreement: the scores are "
            f"within {a.tolerance:g} of each other."
        )
        claims.append(claim("agreement", "apparent", text))
    if same := n["both"] + n["hidden"]:
        text = (
            f"Of {counted(same, 'row')} with the same decision, {n['hidden']:,} "
            f"hide{'s' * (n['hidden'] == 1)} a difference: the scores are further "
            f"apart than {a.tolerance:g}."
        )
        claims.append(claim("agreement", "hidden", text))
    if r.sources:
        return [*claims, command("agree", r.sources, [("rater", name) for name in names])]
    return [*claims, claim("next", "agree", "Next: sw.agree(decisions), agreement beyond chance")]

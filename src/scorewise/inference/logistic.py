"""Logistic regression on cells by Newton's method, and Cox's line: labels on log-odds (Cox 1958)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.columns import Kind
from scorewise.computing import inner, once
from scorewise.inference.scales import Variance, sandwich
from scorewise.statistics.probabilities import MAX_CELLS, probability_cells
from scorewise.tallies import Tally
from scorewise.tallies.coarse import why_undecided
from scorewise.tallies.losses import expit, logit
from scorewise.tallies.runs import ALL_CELLS, AllCells, add_runs

TOLERANCE = 1e-10
_STEPS = 200
_LINE_STEPS = 30  # which take five or six
_FAR = 10.0  # times 1 + the largest coefficient: how far a step leads
_MANY = 1 << 13  # cells from which on a first fit to fewer of them saves time
_CHUNK = 1 << 15  # cells that fit into the cache
MAX_VARIANCE = 1e100  # log-odds beyond which squares leave the floats


class Fitted(NamedTuple):
    """Coefficients, the loss at them (negative log likelihood) and its second derivatives."""

    coef: Floats
    loss: float
    curvature: Floats
    converged: bool


def logistic(
    features: list[Any],
    neg: Floats,
    pos: Floats,
    *,
    offset: Any = 0.0,
    penalty: Any = None,
    start: Any = None,
) -> Fitted:
    """The coefficients of `features` that make the labels likeliest, to 1e-10.

    `penalty` is a matrix Q: coef' Q coef / 2 is added to the loss. Steps that do not lower the loss are
    halved.
    """
    # whose squares are numbers too
    units = np.array([max(float(np.sqrt(np.mean(np.square(f)))), 1e-150) for f in features])
    scaled = [np.broadcast_to(f / s, neg.shape) for f, s in zip(features, units, strict=True)]
    off = np.broadcast_to(offset, neg.shape)
    q = None if penalty is None else penalty / np.outer(units, units)
    begin = np.zeros(len(units)) if start is None else start * units
    if start is None and len(neg) > _MANY:
        # every few neighbouring cells at their mean features are enough for a start
        at, mass = np.arange(0, len(neg), -(-len(neg) // (_MANY >> 1))), neg + pos
        *means, middle = (add_runs(f * mass, at) / add_runs(mass, at) for f in (*scaled, off))
        begin = _fitted(means, add_runs(neg, at), add_runs(pos, at), middle, q, begin).coef
    coef, loss, curvature, converged = _fitted(scaled, neg, pos, off, q, begin)
    return Fitted(coef / units, loss, curvature * np.outer(units, units), converged)


def newton(
    loss: Callable[[Floats], tuple[float, Floats]],
    step: Callable[[Floats, Floats], tuple[Floats, Any]],
    coef: Floats,
    exact: float = TOLERANCE,
) -> Fitted:
    """Newton's method for a convex `loss`, which also gives the probabilities of all rows.

    `step` makes of coefficients and probabilities the step and the second derivatives. A step that does
    not lower the loss is halved; the last one changes no coefficient by more than `exact`.
    """
    value, p = loss(coef)
    for _ in range(_STEPS):
        move, curvature = step(coef, p)
        size, around = float(np.abs(move).max()), 1 + float(np.abs(coef).max())
        if size <= exact * around:
            return Fitted(coef - move, value, curvature, True)
        if not size < np.inf:
            break
        # where the likelihood is all but flat, a step would lead out of the floats
        move = move * min(1.0, _FAR * around / size)
        for _ in range(40):
            lower, p = loss(coef - move)
            if lower <= value + 1e-13 * abs(value):
                break
            move = move / 2
        coef, value = coef - move, lower
        # nothing lowers the loss any more where a line tells the classes apart
        if np.abs(coef).max() > 1e8 or np.abs(move).max() <= exact * around:
            break
    return Fitted(coef, value, curvature, False)


def _fitted(
    features: list[Any], neg: Floats, pos: Floats, offset: Any, q: Any, coef: Floats
) -> Fitted:
    """Newton's method over all cells, chunk by chunk."""

    def loss(coef: Floats) -> tuple[float, Any]:
        """The loss, and its first and second derivatives."""
        total, gradient, curvature = 0.0, np.zeros(len(features)), np.zeros(2 * [len(features)])
        for begin in range(0, len(neg), _CHUNK):
            at = slice(begin, begin + _CHUNK)
            part, down, up = np.stack([f[at] for f in features]), neg[at], pos[at]
            more, p = _log_loss((coef[:, None] * part).sum(0) + offset[at], down, up)
            expected = (down + up) * p
            total, gradient = total + more, gradient + (part * (expected - up)).sum(1)
            curvature += np.einsum("ik,jk->ij", part * (expected * (1 - p)), part)
        if q is not None:
            total, gradient = total + float(coef @ q @ coef) / 2, gradient + q @ coef
        return total, (gradient, curvature if q is None else curvature + q)

    def step(coef: Floats, derivatives: Any) -> tuple[Floats, Floats]:
        """The step of Newton; the shortest where features say the same."""
        gradient, curvature = derivatives
        ridge = 1e-14 * max(float(np.trace(curvature)), 1e-300)
        try:
            move: Any = np.linalg.solve(curvature + ridge * np.eye(len(gradient)), gradient)
        except np.linalg.LinAlgError:
            move = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        return move, curvature

    return newton(loss, step, coef)


def _log_loss(odds: Any, neg: Floats, pos: Floats) -> tuple[float, Floats]:
    """The negative log likelihood of log-odds, and their probabilities."""
    e = np.exp(-np.abs(odds))
    above = 1.0 + e
    # log is several times faster than log1p, and as exact where not all are all but certain
    log = np.log(above) if e.max(initial=0.0) > 1e-3 else np.log1p(e)
    loss = inner(neg + pos, log)
    loss += inner(neg, np.maximum(odds, 0.0)) - inner(pos, np.minimum(odds, 0.0))
    return loss, np.where(odds >= 0, 1.0, e) / above


class Lines(NamedTuple):
    """Lines of many groups or replicates, each of an intercept and a slope.

    `converged` is where Newton's steps led to them; `chances` are the probabilities of the cells there, and
    `last` is the last row of the inverse of the second derivatives.
    """

    intercept: Floats
    slope: Floats
    converged: Bools
    chances: Floats
    last: tuple[Floats, Floats]


def newton_lines(
    x: Floats, mass: Any, pos: Floats, intercept: Floats, slope: Floats, *, by: AllCells = ALL_CELLS,
    offset: bool = False, wanted: Any = True,
) -> Lines:  # fmt: skip
    """The lines on x that make the labels of each group, or replicate, likeliest; all at once.

    `mass` is None where there is one row in each cell. With `offset`, slopes stay 1. Those that are not
    `wanted`, and those that steps lead away from, have not converged.
    """
    a, b = intercept, slope
    good = np.broadcast_to(wanted, a.shape).copy()
    done = ~good
    with np.errstate(all="ignore"):
        for _ in range(_LINE_STEPS):
            p = _line_chances(x, a, b, by)
            v = p if mass is None else mass * p
            residual = v - pos
            p = 1 - p
            v *= p
            g0, h00 = by.add(residual), by.add(v)
            if offset:
                move, turn, last = g0 / h00, np.zeros(a.shape), (1 / h00, np.zeros(a.shape))
            else:
                vx = v * x
                residual *= x
                g1, h01 = by.add(residual), by.add(vx)
                vx *= x
                h11 = by.add(vx)
                det = h00 * h11 - h01 * h01
                last = -h01 / det, h00 / det
                move, turn = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
            a, b = np.where(done, a, a - move), np.where(done, b, b - turn)
            size = np.maximum(np.abs(move), np.abs(turn))
            good &= done | (size < 50)  # diverges
            # steps shrink as their squares: what is left after such a one is below rounding
            done = done | ~good | (size <= 1e-6)
            if done.all():
                break
        return Lines(a, b, good & done, _line_chances(x, a, b, by), last)


def _line_chances(x: Floats, a: Floats, b: Floats, by: AllCells) -> Floats:
    """The probability of each cell on its line."""
    odds: Floats = by.of(-b) * x
    odds -= by.of(a)
    np.exp(odds, out=odds)  # beyond the floats it is infinite, and the probability 0
    odds += 1.0
    np.reciprocal(odds, out=odds)
    return odds


def fitted_lines(x: Floats, neg: Floats, pos: Floats, start_at: Floats) -> Floats | None:
    """Intercept and slope, as columns, that fit each row of weights (of folds, by cells) best.

    All rows at once, from a line that is near; those that Newton's steps do not lead to are fitted one by
    one. None where one has no fit.

    >>> x, pos = np.array([-1.0, 0.0, 1.0]), np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> fitted_lines(x, 4 - pos, pos, np.zeros(2))[:, 1].round(3)
    array([ 1.099, -1.099])
    """
    mass = neg + pos
    middle = float((mass.sum(0) * x).sum() / mass.sum())
    size = math.sqrt(float((mass.sum(0) * (x - middle) ** 2).sum() / mass.sum())) or 1.0
    start = (
        np.full(len(neg), start_at[0] + middle * start_at[1]),
        np.full(len(neg), start_at[1] * size),
    )
    fits = newton_lines((x - middle) / size, mass, pos, *start)
    slopes = fits.slope / size
    with np.errstate(invalid="ignore"):  # where steps have led beyond the floats
        coef = np.stack([fits.intercept - middle * slopes, slopes], 1)
    for k in np.flatnonzero(~fits.converged):
        used = mass[k] > 0
        fit = logistic([np.ones(int(used.sum())), x[used]], neg[k, used], pos[k, used])
        if not fit.converged:
            return None
        coef[k] = fit.coef
    return coef


def nonnegative_fit(
    features: list[Any], neg: Floats, pos: Floats, intercept: bool = True
) -> Floats:
    """The likeliest coefficients of which none but the intercept, the first, is negative.

    The loss is convex: if its minimum has a negative coefficient, then the best has one of them at 0.
    """
    ones = [np.ones(1)] if intercept else []
    # no feature at all: the odds of all rows together, or even odds
    least = 1e-15 * float(neg.sum() + pos.sum())  # where a class is absent
    best = np.zeros(len(ones) + len(features))
    best[: len(ones)] = np.log(max(pos.sum(), least) / max(neg.sum(), least))
    lowest, _ = _log_loss(np.full(len(neg), best[0] if intercept else 0.0), neg, pos)
    for used in range(len(features), 0, -1):
        for chosen in combinations(range(len(features)), used):
            fit = logistic([*ones, *(features[i] for i in chosen)], neg, pos)
            coef = np.zeros(len(best))
            coef[[*range(len(ones)), *(len(ones) + i for i in chosen)]] = fit.coef
            if fit.converged and not (coef[len(ones) :] < 0).any():
                if used == len(features):
                    return coef
                if fit.loss < lowest:
                    lowest, best = fit.loss, coef
    return best


class LogOdds(NamedTuple):
    """Log-odds from the lowest up, with the weights of both classes on each, and their squares."""

    x: Floats
    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats


Coefficient = tuple[float, Variance]  # its variance is that of the sandwich


@once
def log_odds(t: Tally, clip: float | None) -> LogOdds:
    """The log-odds of a tally of probabilities or logits; infinite at 0 and 1 unless clipped.

    Beyond 65,536 distinct scores, neighbours are joined on the fixed grid at their mean probability.
    """
    # a cell of logits keeps its log-odds, where a probability would round to 0 or 1
    if (t.kind == "logit" or not why_undecided(t)) and len(t.score) <= MAX_CELLS:
        neg, pos = neg2, pos2 = [c.astype(np.float64) for c in (t.neg, t.pos)]
        if t.neg2 is not t.neg:
            neg2, pos2 = (c.astype(np.float64) for c in (t.neg2, t.pos2))
        return LogOdds(as_log_odds(t.score, t.kind, clip), neg, pos, neg2, pos2)
    c = probability_cells(t)
    share = c.pos / c.weight
    neg, pos = neg2, pos2 = c.weight - c.pos, c.pos
    if c.weighted:
        neg2, pos2 = c.squares * (1 - share), c.squares * share
    return LogOdds(as_log_odds(np.clip(c.p, 0.0, 1.0), "probability", clip), neg, pos, neg2, pos2)


def as_log_odds(score: Any, kind: Kind, clip: float | None) -> Floats:
    """Scores as log-odds; probabilities may be held a clip away from 0 and 1."""
    s: Floats = score.astype(np.float64)
    if kind != "logit":
        s = logit(s if clip is None else np.clip(s, clip, 1 - clip))
    return s


def in_the_large(c: LogOdds) -> Coefficient | None:
    """By how much all log-odds are too low: the intercept beside log-odds of slope 1; None if infinite."""
    ones, mass = np.ones(len(c.x)), c.neg + c.pos
    fit = logistic([ones], c.neg, c.pos, offset=c.x)
    # where scores are all but certain, a first step would leave the floats
    if not fit.converged:
        from scipy.optimize import bisect

        reach, pos = float(np.abs(c.x).max()) + 800.0, float(c.pos.sum())
        # as many are expected to be positive as are
        ends = {"a": -reach, "b": reach, "xtol": 1e-15, "maxiter": 120, "disp": False}
        start = bisect(lambda a: inner(mass, expit(c.x + a)) - pos, **ends)
        p = expit(c.x + start)
        curvature = inner(mass, p * (1 - p))
        flat = curvature < 1e-12 * mass.sum()
        fit = Fitted(np.array([start]), math.nan, np.array([[curvature]]), not flat)
    return _last(fit, [ones], c.x, c) if fit.converged else None


def slope(c: LogOdds) -> Coefficient | None:
    """By what the log-odds should be multiplied, beside an intercept; None if nothing is steep enough."""
    neg, pos = (c.x[np.flatnonzero(w > 0)[[0, -1]]] for w in (c.neg, c.pos))
    rounding = 1e-12 * (c.x[-1] - c.x[0])  # beside which no slope tells scores apart
    if neg[-1] <= pos[0] + rounding or pos[-1] <= neg[0] + rounding:
        return None
    mass = c.neg + c.pos
    # centred, which leaves the slope as it is and keeps its digits
    features = [np.ones(len(c.x)), c.x - c.x[0] - inner(mass, c.x - c.x[0]) / mass.sum()]
    fit = logistic(features, c.neg, c.pos)
    return _last(fit, features, 0.0, c) if fit.converged else None


def _last(
    fit: Fitted, features: list[Floats], offset: Floats | float, c: LogOdds
) -> Coefficient | None:
    with np.errstate(over="ignore", invalid="ignore"):  # where the likelihood is all but flat
        p, effect = last_effects(fit, features, offset)
        variance = sandwich((c.neg, c.neg2, effect * p), (c.pos, c.pos2, effect * (1 - p)))
    if not variance.variance < MAX_VARIANCE:
        return None
    return float(fit.coef[-1]), variance


def last_effects(
    fit: Fitted, features: list[Floats], offset: Floats | float
) -> tuple[Floats, Floats]:
    """The probabilities of cells, and what a unit of residual in each does to the last coefficient."""
    last = np.linalg.pinv(fit.curvature)[-1]
    odds, effect = (
        sum((c * f for c, f in zip(row, features, strict=True)), start + 0 * features[0])
        for row, start in ((fit.coef, offset), (last, 0.0))
    )
    return expit(odds), effect

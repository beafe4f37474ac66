"""What recalibration would save on rows not seen: ten folds, of rows or of whole clusters of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.clusters import FoldCells, cluster_gap, deal_clusters, fold_cells
from scorewise.inference.logistic import lines, log_odds, logistic
from scorewise.inference.paired import mean_gap
from scorewise.inference.resampling import dealt, others
from scorewise.measures import mcb_crossfit
from scorewise.measures.calibration_parts import CROSSFIT_CELLS, crossfit_gaps
from scorewise.tallies import Tally
from scorewise.tallies.losses import charges
from scorewise.tallies.probabilities import cell_starts, chances
from scorewise.tallies.sorting import runs

if TYPE_CHECKING:
    from scorewise.evaluation.models import Evaluation

FOLDS = 10
DEALS = 5  # times that rows are dealt into folds
ENOUGH = 20_000  # rows, of which one deal tells as much


def _dealt(rows: Rows, t: Tally, start: Ints, seed: int) -> FoldCells:
    """The rows of cells in folds of whole clusters, at most as many as there are clusters."""
    assert rows.cluster is not None
    folds = min(FOLDS, int(rows.cluster.max()) + 1)
    return fold_cells(rows, t, start, deal_clusters(rows.cluster, folds, seed))


def _gap(gap: Floats, dealt: FoldCells, rows: Rows, level: float) -> Estimate:
    assert rows.cluster is not None
    return cluster_gap(gap.ravel()[dealt.at], rows.mass(), rows.cluster, level)


def isotonic_gain(e: Evaluation, loss: Any, seed: int) -> Estimate:
    """What isotonic regression saves of the loss of rows, or clusters, that it was not fitted to."""
    t, s, rows = e.tally, e.settings, e.clustered_rows
    whole = mcb_crossfit(t, loss=loss, clip=s.clip, level=s.level, seed=seed)
    if rows is None or not whole.defined or not math.isfinite(whole.low):
        return whole
    c = chances(t)
    start = runs(c.weight, CROSSFIT_CELLS)
    dealt = _dealt(rows, t, cell_starts(t)[start], seed)
    clip = None if loss == "brier" else s.clip
    gap = crossfit_gaps(c.joined(start), dealt.weight, dealt.square, loss, clip)
    return _gap(gap, dealt, rows, s.level)


def gains(e: Evaluation) -> list[Estimate]:
    """What a line on the log-odds, and isotonic regression, save of log loss; where they are defined."""
    return [gain for gain in (_line_gain(e), _mean_isotonic_gain(e)) if gain.defined]


def _deals(e: Evaluation) -> range:
    return range(1 if e.tally.origin.rows > ENOUGH else DEALS)


def _mean_isotonic_gain(e: Evaluation) -> Estimate:
    """The same of log loss, the mean of several deals."""
    return _mean([isotonic_gain(e, "log", e.settings.seed + k) for k in _deals(e)])


def _line_gain(e: Evaluation) -> Estimate:
    """What logistic regression on the log-odds (Platt), fitted to the other folds, saves of log loss."""
    s, t, rows = e.settings, e.tally, e.clustered_rows
    c = log_odds(t, s.clip)
    if not np.isfinite(c.x).all():
        return Estimate.undefined("a probability is 0 or 1")
    whole, found = logistic([np.ones(len(c.x)), c.x], c.neg, c.pos).coef, []
    own = np.stack(charges(c.x, "logit", "log"))
    for k in _deals(e):
        if rows is None:
            rng = np.random.default_rng([s.seed, k])
            both = (dealt(*side, FOLDS, rng) for side in ((c.neg, c.neg2), (c.pos, c.pos2)))
            weight, square = (np.stack(x) for x in zip(*both, strict=True))
        else:
            parts = _dealt(rows, t, cell_starts(t), s.seed + k)
            weight, square = parts.weight, parts.square
        neg, pos = map(others, weight)
        coef = lines(c.x, neg, pos, whole)
        if coef is None:
            return Estimate.undefined("a line does not fit")
        fits = coef[:, :1] + coef[:, 1:] * c.x
        gap = own[:, None] - np.stack(charges(fits, "logit", "log"))
        found.append(
            mean_gap(gap, weight, square, s.level)
            if rows is None
            else _gap(gap, parts, rows, s.level)
        )
    return _mean(found)


def _mean(found: Sequence[Estimate]) -> Estimate:
    """The mean of estimates that differ by how rows were dealt; the first where one is undefined."""
    if not all(x.defined and math.isfinite(x.low) for x in found):
        return found[0]
    value, low, high = np.mean([(x.value, x.low, x.high) for x in found], axis=0).tolist()
    return Estimate(value, low, high, found[0].level, found[0].method)

"""Whether scores can be read as probabilities, how they are wrong, and what recalibration would save.

The gain of recalibration is cross-validated: ten folds, of rows or of whole clusters of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.rows import nearly_inside
from scorewise.computing import once
from scorewise.estimate import Estimate, number
from scorewise.evaluation.result import Evaluation
from scorewise.inference.differences import holm, p_of_interval
from scorewise.inference.folds import FoldCells, deal_clusters, deal_rows, fold_cells, other_folds
from scorewise.inference.logistic import fitted_lines, log_odds, logistic
from scorewise.inference.means import cluster_difference, mean_difference
from scorewise.inference.scales import normal_quantile
from scorewise.measures import mcb_crossfit
from scorewise.measures.calibration_parts import CROSSFIT_CELLS, crossfit_gaps
from scorewise.show.verdict import Claim, claim, figure, with_ci
from scorewise.show.words import has_smallest_p, p_phrase, percent, plural, value
from scorewise.statistics.probabilities import cell_starts, probability_cells
from scorewise.tallies import Tally
from scorewise.tallies.losses import score_losses
from scorewise.tallies.runs import equal_mass_runs

UNINFORMATIVE = 0.6  # width of the interval of a calibration slope that says nothing either way
SURE = 0.99  # level at which recalibration is shown to help, as `Recalibrator` asks
FOLDS = 10
DEALS = 5  # times that rows are dealt into folds
ONE_DEAL = 20_000  # rows, of which one deal tells as much


def calibration_claims(name: str, who: str, e: Evaluation, whose: str = "its") -> list[Claim]:
    """Whether scores, called `who`, can be read as probabilities, and whether recalibration helps."""
    if e.tally.kind == "score":
        return [_not_probable(who, e)]
    return [*_believable(name, who, e), *_recalibration(name, whose, e)] if e.ece.defined else []


def leaves_by_rounding(e: Evaluation) -> bool:
    """Whether rounding alone makes scores leave [0, 1]."""
    low, high = e.tally.ends
    return e.tally.kind == "score" and (low < 0 or high > 1) and nearly_inside(low, high)


def rows_in_words(e: Evaluation) -> str:
    """How much there is to go by: rows, and clusters of them."""
    rows = plural(e.tally.origin.rows, "row")
    if e.clusters is None:
        return rows
    return f"{rows} in {plural(int(e.clusters.max()) + 1, 'cluster')}"


def _not_probable(who: str, e: Evaluation) -> Claim:
    low, high = e.tally.ends
    if leaves_by_rounding(e):
        text = (
            f"{who} leaves [0, 1] by rounding, with values up to {max(-low, high - 1):.1g} outside; "
            f"declared as a probability, such values are taken as 0 or 1."
        )
        return claim("probabilities", "rounded", text)
    text = f"{who} is not a probability: its values go from {number(low)} to {number(high)}. "
    return claim("probabilities", "none", text + "Calibration can turn it into one.")


def _believable(name: str, who: str, e: Evaluation) -> Iterator[Claim]:
    """Whether probabilities can be believed, and how they are wrong."""
    slope, ece, rows = e.calibration_slope, e.ece, rows_in_words(e)
    keys = ("calibration_slope", "calibration_intercept", "ece", "smece")
    figures = [figure(k, e[k], name) for k in keys]
    if not slope.defined:
        figures.append(figure("overconfidence", e.overconfidence, name))
    if found := flaws(e):
        what = "The model" if e.of_classes and "confident" in next(iter(found)) else who
        text = f"{what} is {('; its confidence is ' if what != who else ', and ').join(found.values())}."
        yield claim("probabilities", next(iter(found)), text, figures)
    elif maybe := suspected(e):
        what, p = next(iter(maybe.values()))
        text = f"{who} may be {what}; not clear after three checks ({p_phrase(p)} by Holm)."
        yield claim("probabilities", "unclear", text, figures)
    elif slope.defined and slope.high - slope.low <= UNINFORMATIVE:
        text = (
            f"{who} can be read as a probability; no miscalibration is seen in {rows}: slope "
            f"{with_ci(slope)}, ECE {value(ece)} ({ece.expected or 0.0:.3f} expected if calibrated)."
        )
        yield claim("probabilities", "believable", text, figures)
    else:
        seen = f"slope {with_ci(slope)}" if slope.defined else slope.why
        what = who[0].lower() + who[1:] if who.startswith("The ") else who
        text = f"Whether {what} can be read as a probability cannot be judged in {rows}: {seen}."
        yield claim("probabilities", "unknown", text, figures)


@once
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
    over = _negated(gap) if top else e.overconfidence
    raw = [
        p_of_interval(slope, 1.0, level) if slope.defined else p_of_interval(over, 0.0, level),
        math.nan if top else p_of_interval(mean, 0.0, level),
        math.nan if smooth.p is None else smooth.p,
    ]
    adjusted = holm(raw)
    found: dict[str, tuple[str, float]] = {}
    if raw[0] <= 1 - level:
        bold = slope.value < 1 if slope.defined else over.value > 0
        word = "overconfident" if bold else "underconfident"
        what = f"calibration slope {with_ci(slope)}"
        if not slope.defined:
            c, side = e.tally.confusion(0.5), "predicted" if top else "likelier"
            right = (c.tp + (c.fn if top else c.tn)) / (c.tp + c.tn + c.fp + c.fn)
            what = (
                f"{percent(right + over.value)} sure of the {side} class on average, which is right in "
                f"{percent(right)}, difference {with_ci(over)}"
            )
        found[word] = f"{word}: {what}", adjusted[0]
    if raw[1] <= 1 - level:
        side = "too low" if mean.value > 0 else "too high"
        seen = e.tally.positives / (e.tally.negatives + e.tally.positives)
        means = f"{percent(seen - gap.value)} predicted, {percent(seen)} observed"
        if e.of_classes:
            means = f"mean {percent(seen - gap.value)}, accuracy {percent(seen)}"
        # the difference has the sign of that of confidence above
        more = f", difference {with_ci(_negated(gap))}"
        if large.defined:
            more = f" (calibration in the large {with_ci(large)})"
        found[side] = f"{side} on average: {means}{more}", adjusted[1]
    if raw[2] <= 1 - level and smooth.p is not None:
        found["miscalibrated"] = (
            f"miscalibrated: smECE {value(smooth)}, where calibrated scores would get "
            f"{smooth.expected or 0.0:.3f} ({p_phrase(smooth.p, least=has_smallest_p(smooth))})",
            adjusted[2],
        )
    return found


def _negated(e: Estimate) -> Estimate:
    return Estimate(-e.value, -e.high, -e.low)


def flaws(e: Evaluation) -> dict[str, str]:
    """What is shown to be wrong with probabilities, in words."""
    sure = {k: text for k, (text, p) in suspected(e).items() if p <= 1 - e.settings.level}
    return {k: text for k, text in sure.items() if k != "miscalibrated" or len(sure) == 1}


def worth_recalibrating(e: Evaluation) -> bool:
    """Whether probabilities are seen to be wrong, so that what recalibration saves is worth knowing."""
    t = e.tally
    return t.kind != "score" and not t.why_not_ranked and e.ece.defined and bool(flaws(e))


def _recalibration(name: str, whose: str, e: Evaluation) -> Iterator[Claim]:
    """Whether recalibration is shown to lower the loss of rows not seen, where probabilities are wrong."""
    if not worth_recalibrating(e):
        return
    gains = recalibration_gains(e)
    loss = f"{whose} {'log loss' if gains else 'Brier score'}"
    gain = max(gains, key=attrgetter("low")) if gains else e.mcb_crossfit
    if not gain.defined:
        return
    figures = [figure("mcb_crossfit", gain, name)]
    reach = normal_quantile(SURE) / normal_quantile(e.settings.level)
    if gain.value - reach * (gain.value - gain.low) > 0:
        text = f"Recalibration lowers {loss} by {with_ci(gain)}, cross-validated."
        yield claim("repair", "helps", text, figures)
        return
    text = "Recalibration is not shown to help: change of "
    if gain.low > 0:
        text = f"Recalibration may help, but its {percent(SURE)} interval reaches 0: change of "
    text += f"{loss} {with_ci(_negated(gain))}, cross-validated."
    yield claim("repair", "not shown", text, figures)


@once
def recalibration_gains(e: Evaluation) -> list[Estimate]:
    """What a line on the log-odds, and isotonic regression, save of log loss; where they are defined."""
    deals = range(1 if e.tally.origin.rows > ONE_DEAL else DEALS)
    isotonic = _mean([isotonic_gain(e, "log", e.settings.seed + k) for k in deals])
    return [gain for gain in (_line_gain(e, deals), isotonic) if gain.defined]


def isotonic_gain(e: Evaluation, loss: Any, seed: int) -> Estimate:
    """What isotonic regression saves of the loss of rows, or clusters, that it was not fitted to."""
    t, s, rows = e.tally, e.settings, e.clustered_rows
    by_row = mcb_crossfit(t, loss=loss, clip=s.clip, level=s.level, seed=seed)
    if rows is None or not by_row.defined or not math.isfinite(by_row.low):
        return by_row
    c = probability_cells(t)
    start = equal_mass_runs(c.weight, CROSSFIT_CELLS)
    folds = _cluster_folds(rows, t, cell_starts(t)[start], seed)
    clip = None if loss == "brier" else s.clip
    gap = crossfit_gaps(c.joined(start), folds.weight, folds.square, loss, clip)
    return _cluster_gap(gap, folds, rows, s.level)


def _line_gain(e: Evaluation, deals: range) -> Estimate:
    """What logistic regression on the log-odds (Platt), fitted to the other folds, saves of log loss."""
    s, t, rows = e.settings, e.tally, e.clustered_rows
    c = log_odds(t, s.clip)
    if not np.isfinite(c.x).all():
        return Estimate.undefined("a probability is 0 or 1")
    start, gains = logistic([np.ones(len(c.x)), c.x], c.neg, c.pos).coef, []
    loss = np.stack(score_losses(c.x, "logit", "log"))
    for k in deals:
        if rows is None:
            rng = np.random.default_rng([s.seed, k])
            both = (deal_rows(*side, FOLDS, rng) for side in ((c.neg, c.neg2), (c.pos, c.pos2)))
            weight, square = (np.stack(x) for x in zip(*both, strict=True))
        else:
            folds = _cluster_folds(rows, t, cell_starts(t), s.seed + k)
            weight, square = folds.weight, folds.square
        neg, pos = map(other_folds, weight)
        coef = fitted_lines(c.x, neg, pos, start)
        if coef is None:
            return Estimate.undefined("a line does not fit")
        fits = coef[:, :1] + coef[:, 1:] * c.x
        gap = loss[:, None] - np.stack(score_losses(fits, "logit", "log"))
        gains.append(
            mean_difference(gap, weight, square, s.level)
            if rows is None
            else _cluster_gap(gap, folds, rows, s.level)
        )
    return _mean(gains)


def _cluster_folds(rows: Rows, t: Tally, start: Ints, seed: int) -> FoldCells:
    """The rows of cells in folds of whole clusters, at most as many as there are clusters."""
    assert rows.cluster is not None
    folds = min(FOLDS, int(rows.cluster.max()) + 1)
    return fold_cells(rows, t, start, deal_clusters(rows.cluster, folds, seed))


def _cluster_gap(gap: Floats, folds: FoldCells, rows: Rows, level: float) -> Estimate:
    assert rows.cluster is not None
    return cluster_difference(gap.ravel()[folds.at], rows.mass(), rows.cluster, level)


def _mean(gains: Sequence[Estimate]) -> Estimate:
    """The mean of estimates that differ by how rows were dealt; the first where one is undefined."""
    if not all(x.defined and math.isfinite(x.low) for x in gains):
        return gains[0]
    value, low, high = np.mean([(x.value, x.low, x.high) for x in gains], axis=0).tolist()
    return Estimate(value, low, high, gains[0].level, gains[0].method)

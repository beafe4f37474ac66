"""Calibration of several classes: of each class, of the top class, of whole rows, and row by row."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import check, one_of
from scorewise.computing import inner
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference import class_resampling as drawing
from scorewise.inference.class_resampling import (
    ClassSample,
    pairs_of_rows,
    why_no_rows,
    why_unreliable,
)
from scorewise.inference.inversion import METHOD, Noise, invert_test
from scorewise.inference.resampling import resampling_p
from scorewise.inference.scales import limits, pooled_variance
from scorewise.inference.shares import largest_gap
from scorewise.measures.calibration_bins import (
    BinnedError,
    ce_l2_debiased,
    ece,
    ece_sweep,
    max_ce,
)
from scorewise.measures.calibration_smooth import smece
from scorewise.registry import measure
from scorewise.statistics.probabilities import (
    Binning,
    Convention,
    ProbabilityCells,
    binned,
    check_bins,
)
from scorewise.tallies import ClassTally
from scorewise.tallies.losses import CLIP
from scorewise.tallies.runs import add_runs

_MAX_GAPS = 1 << 23  # gaps that are drawn at a step
_GRID = np.geomspace(1 / 32, 32, 61)  # inverse temperatures
_NARROW = 0.05  # a narrower kernel, of scores nearly all certain, sees no two rows as alike
Smoothed = Literal["labels", "gaps"]
Distance = Literal["total variation", "euclidean"]


@measure(group="calibration", better="low", title="Class-wise ECE", of="several classes")
def classwise_ece(
    t: ClassTally, *, bins: int = 15, norm: float = 1, binning: Binning = "width",
    convention: Convention | None = None, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Mean over the classes of how far the share of a class lies from its probability, bin by bin.

    (1/K sum_k sum_b n_kb/n |ybar_kb - pbar_kb|^norm)^(1/norm), on `bins` of equal width or mass of the
    probabilities of each class (Kull et al. 2019; norm=2: Kumar, Liang and Ma 2019). norm=inf is the
    largest gap of all; `convention` cuts bins as other packages do, see `ece`. The interval inverts
    consistency tests along the gaps seen; labels drawn from each row's own probabilities give
    `expected` and `p`.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = classwise_ece(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.209 [0.172, 0.218], 0.113, 0.001)
    """
    check_bins(bins, binning, convention)
    check(norm=norm)
    undefined_if(why_no_rows(t))
    parts = [binned(t.one(c), bins, binning, convention) for c in t.classes]
    columns = zip(*(c.columns for c in parts), strict=True)
    low, w, w2, pos, total, noise = (np.concatenate(each) for each in columns)
    cells = ProbabilityCells(low, w, w2, pos, total, noise, parts[0].weighted)
    size, s = BinnedError(cells, norm).of_gaps, drawing.enough_rows(t)
    many = drawing.class_replicates(s, len(cells), _MAX_GAPS)
    if not many:
        how = f"none: {len(cells):,} bins are too many to draw labels for"
        return Estimate(float(size((cells.gap / cells.total)[None])[0]), level=level, method=how)
    first = np.concatenate(([0], np.cumsum([len(c) for c in parts])))
    # in which of the bins each probability lies
    at = (np.searchsorted(c.low, s.p[:, k], side="right") - 1 for k, c in enumerate(parts))
    cell = np.stack([first[k] + np.maximum(x, 0) for k, x in enumerate(at)], axis=1)
    rng = np.random.default_rng(seed)
    drawn = drawing.consistency_class_gaps(s, cell, cells, many, rng)
    seen = drawing.resampled_class_gaps(s, cell, len(cells), many, rng)
    found = invert_test(Noise(cells, many, seed, drawn=drawn, seen=seen), size, level)
    how = f"{METHOD}, {many} draws of labels of {len(s):,} rows"
    if math.isinf(norm):
        far = largest_gap(cells, np.zeros(len(cells)), level)
        found, how = found._replace(high=max(found.high, far)), f"{how}, exact in each bin"
    return found.estimate(level, method=how)


# those of two classes, of the confidence against whether it was right
for _binary, _title, _meaning in (
    (
        ece,
        "Top-label ECE",
        "Mean distance between the share of right decisions in a bin and the mean confidence there.",
    ),
    (
        max_ce,
        "Top-label max. CE",
        "Largest distance, over bins, of the share of right decisions from the mean confidence.",
    ),
    (
        ce_l2_debiased,
        "Top-label debiased L2",
        "Root mean square distance of shares of right decisions from confidence, less what chance adds.",
    ),
    (
        smece,
        "Top-label smECE",
        "Distance of right decisions from confidence after smoothing, at a width of the same size.",
    ),
    (
        ece_sweep,
        "Top-label ECE, sweep",
        "ECE of the confidence on as many bins as keep the share of right decisions increasing.",
    ),
):
    measure(
        group="calibration", better="low", title=_title, of="several classes", meaning=_meaning
    )(_binary)


def _sample(t: ClassTally, rows: int | None) -> ClassSample:
    """The rows that are compared in pairs."""
    undefined_if(why_no_rows(t))
    s = ClassSample.of(t, pairs_of_rows(len(t.classes)) if rows is None else rows)
    undefined_if("one row has no others to be compared with" if s.alone else "")
    return s


@measure(
    group="calibration", better="low", bounds=(0.0, 2.0), title="Canonical CE", of="several classes"
)
def canonical_ce(
    t: ClassTally, *, norm: float = 1, smoothed: Smoothed = "labels",
    bandwidth: float | None = None, rows: int | None = None, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """How far the shares of all classes, given the whole row of probabilities, lie from that row.

    (mean_i sum_k |E[y_k | p_i] - p_ik|^norm)^(1/norm), with the conditional expectation by Dirichlet
    kernels on the other rows (Popordanoska, Sayer and Blaschko 2022). The bandwidth is the likeliest,
    leaving one out, of twenty from 1e-5 to 1. A wide one pulls the shares to their mean and so hides
    scores that are too unsure (p near 1): give a smaller one, or smoothed="gaps", which smooths y - p
    and is hurt less. With two classes the value is twice that of one class (norm=1). Few rows of many
    classes leave much noise in the value: compare it with `expected`. Interval by inverted tests along
    the smoothed gaps, `expected` and `p` by drawing labels from each row's own probabilities. Above a
    thousand rows, or `rows=`, a sample is used.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = canonical_ce(ClassTally.of(p.argmin(1), p))
    >>> e, round(e.expected, 2), e.p
    (0.842 [0.378, 0.842], 0.44, 0.001)
    """
    one_of("smoothed", smoothed, get_args(Smoothed))
    check(norm=norm, bandwidth=bandwidth)
    if norm == math.inf:
        raise BadInput("norm must be finite, such as 2; got inf")
    s = _sample(t, rows)
    kernels = drawing.Kernels(s)
    h = drawing.best_bandwidth(kernels, s.weight) if bandwidth is None else bandwidth
    gaps = drawing.KernelGaps(s, kernels, h, seed)
    weight = np.tile(s.weight, len(t.classes))

    def size(gap: Floats) -> Floats:
        far = np.abs(gap)
        if norm != 1:
            far **= norm
        far *= weight.astype(gap.dtype)
        return np.asarray(far.sum(1, dtype=float) ** (1 / norm))

    def published(gap: Floats) -> Floats:
        return size(gap + gaps.bias.astype(gap.dtype))

    found = invert_test(gaps, published if smoothed == "labels" else size, level, size=size)
    how = f"{METHOD}, bandwidth {h:.2g}, {len(gaps.null)} draws of labels{s.said}"
    return found.estimate(level, bounds=(0.0, 2.0), method=how, caution=why_unreliable(s))


@measure(
    group="calibration",
    better="low",
    bounds=(-np.inf, np.inf),
    title="Calibration gain",
    of="several classes",
)
def calibration_gain(
    t: ClassTally, *, folds: int = 5, level: float = 0.95, seed: int = 0
) -> Estimate:
    """Log loss that a temperature, fitted on other rows, saves: the calibration error is at least that.

    The canonical calibration error of log loss is what the best of all maps from rows of probabilities to
    rows of probabilities would save; any one map bounds it from below. Here it is softmax(log p / T), with
    T fitted on the other folds (Guo et al. 2017).
    Probabilities are clipped at 1e-15. Labels drawn from each row's own probabilities give `expected`, a
    little below 0, and `p`. Student's interval of what each row saves, whose upper end is higher by as
    much as calibrated scores lose.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = calibration_gain(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.498 [0.456, 0.546], -0.007, 0.001)
    """
    check(folds=folds)
    undefined_if(why_no_rows(t))
    k = len(t.classes)
    s = ClassSample.of(t, int(np.clip((1 << 17) // k, 512, 4096))).shuffled(seed)
    if len(s) < folds:
        raise Undefined(f"{len(s)} rows are fewer than the {folds} folds")
    tables = _TemperatureTables(s, folds)
    saved = tables.saved(s.y)
    value = float((s.weight * saved).sum())
    many = drawing.affordable_replicates(len(s), budget=1 << 19)
    chance = np.random.default_rng(seed).random((many, len(s)))
    null = tables.gains(drawing.drawn_labels(s.p, chance))
    seen = float(tables.gains(s.y[None])[0])  # by the table, as the draws are
    p = resampling_p(null, seen - 1e-9 * abs(seen) - 1e-12)
    known = pooled_variance(
        (float((s.weight**2 * (saved - value) ** 2).sum()), 1 / float((s.weight**2).sum()))
    )
    how = f"Student, cross-fitted on {folds} folds, {len(null)} draws of labels{s.said}"
    low = high = value
    if known.informative():
        low, high = limits(value, known, level, "identity")
    expected = float(null.mean())
    high += max(0.0, -expected)
    return Estimate(value, low, high, level, how, expected=expected, p=p)


class _TemperatureTables:
    """The log loss of each fold as a function of the inverse temperature b: A(b) - b c.

    A, the sum of log sum exp(b log p), and its slope do not depend on labels, so they are tabulated once;
    c, the sum of the log p of what happened, is all that labels decide. The fit has slope c.
    """

    def __init__(self, s: ClassSample, folds: int) -> None:
        from scipy.interpolate import CubicHermiteSpline

        self._log = np.log(np.maximum(s.p, CLIP))
        self._weight = s.weight
        self._start = np.arange(folds) * len(s) // folds
        size, slope = (np.empty((len(_GRID), folds)) for _ in range(2))
        for i, b in enumerate(_GRID):
            norm, mean = self._norm(np.full(len(s), b))
            size[i], slope[i] = (add_runs(s.weight * c, self._start) for c in (norm, mean))
        self._slope = slope
        self._size = [CubicHermiteSpline(_GRID, size[:, f], slope[:, f]) for f in range(folds)]

    def _norm(self, b: Floats) -> tuple[Floats, Floats]:
        """Log sum exp(b log p) of each row, and its slope in b."""
        tilted = self._log * b[:, None]
        top = tilted.max(1)
        tilted -= top[:, None]
        e = np.exp(tilted, out=tilted)
        total = e.sum(1)
        return top + np.log(total), (e * self._log).sum(1) / total

    def _happened(self, labels: Ints) -> Floats:
        """The weighted log p of what happened, added up on each fold (second axis)."""
        own = self._log[np.arange(len(self._log)), labels]
        return np.asarray(add_runs(self._weight * own, self._start))

    def _fitted(self, c: Floats) -> Floats:
        """The inverse temperature for each fold, fitted on the others."""
        # added up, not the difference of sums: weights may be far apart
        elsewhere = 1.0 - np.eye(c.shape[-1])
        rest, slope = c @ elsewhere, self._slope @ elsewhere
        grid = np.log(_GRID)
        each = [np.interp(rest[..., f], slope[:, f], grid) for f in range(c.shape[-1])]
        return np.exp(np.stack(each, axis=-1))

    def saved(self, y: Ints) -> Floats:
        """What each row saves."""
        own = self._log[np.arange(len(y)), y]
        b = self._exact(self._fitted(self._happened(y)), own)
        b = np.repeat(b, np.diff(self._start, append=len(y)))
        return self._norm(np.ones(len(y)))[0] - own - (self._norm(b)[0] - b * own)

    def _exact(self, b: Floats, own: Floats) -> Floats:
        """The inverse temperatures near those of the table, each within its cell."""
        from scipy.optimize import brentq

        def left(tilt: float, log: Floats, weight: Floats, own: Floats) -> float:
            e = np.exp(log * tilt)
            return inner(weight, own - (e * log).sum(1) / e.sum(1))

        fold = np.repeat(np.arange(len(b)), np.diff(self._start, append=len(own)))
        for f, start in enumerate(b):
            rest, at = fold != f, np.searchsorted(_GRID, start)
            if not 0 < at < len(_GRID) or start == _GRID[at]:
                continue  # at an end, beyond which no temperature is looked for
            top = self._log[rest].max(1)
            given = self._log[rest] - top[:, None], self._weight[rest], own[rest] - top
            low, high = _GRID[at - 1 : at + 1]
            if left(low, *given) > 0 > left(high, *given):
                b[f] = brentq(left, low, high, given, rtol=1e-12)
        return b

    def gains(self, labels: Ints) -> Floats:
        """The mean of what rows save, for each replicate of labels (first axis)."""
        c = self._happened(labels)
        b = self._fitted(c)
        gain = (b - 1) * c
        for f, size in enumerate(self._size):
            gain[:, f] += size(1.0) - size(b[:, f])
        return np.asarray(gain.sum(1))


@measure(group="calibration", better="low", bounds=(-2.0, 2.0), title="SKCE", of="several classes")
def skce(
    t: ClassTally, *, distance: Distance = "total variation", width: float | None = None,
    rows: int | None = None, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """How alike the errors of two rows are, the more the closer their probabilities: 0 if calibrated.

    The mean over pairs of rows of exp(-d(p, p') / width) (y - p)·(y' - p'), with one-hot y: the unbiased
    quadratic estimator of the squared kernel calibration error (Widmann, Lindsten and Zachariah 2019),
    below 0 by chance in half of all calibrated samples. The width is the median distance. Labels drawn
    from each row's own probabilities give `p`, and with the variance of the rows' own means the interval
    (Hoeffding's two parts). Above a thousand rows, or `rows=`, a sample of them is used.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = skce(ClassTally.of(p.argmax(1), p))
    >>> e, e.expected, e.p
    (0.017 [0.008, 0.026], 0.0, 0.001)
    """
    one_of("distance", distance, get_args(Distance))
    if width is not None and not width > 0:
        raise BadInput(
            Option("width", width), " is not positive; leave it out for the median distance"
        )
    s = _sample(t, rows)
    from scipy.spatial.distance import pdist, squareform

    far = pdist(s.p, "cityblock") / 2 if distance == "total variation" else pdist(s.p)
    alike = squareform(np.exp(-far / (width or max(float(np.median(far)), _NARROW))))
    share = s.weight * s.weight[:, None]
    np.fill_diagonal(share, 0.0)
    share *= alike / share.sum()  # 1 - sum of squares would cancel
    each = np.einsum("ik,jk->ij", s.gap, s.gap) * share
    value = float(each.sum())
    if 2 < abs(value) < 2 + 1e-9:  # by rounding
        value = math.copysign(2.0, value)
    rng = np.random.default_rng(seed)
    null = _null_sums(s, share, rng)
    gap = np.abs(s.gap)
    terms = float((gap @ gap.T * share).sum())
    p = resampling_p(null, value - 1e-6 * terms)  # the rounding of single precision
    # the variance from the rows' own means, their sums over weight, and what other rows add by chance
    means = 2 * (each.sum(1) - s.weight * each.sum())
    own, noise = float((means**2).sum()), 4 * float((each**2).sum())
    normal, tail = rng.standard_normal(len(null)), (1 - level) / 2
    # upwards nothing is taken off, so that what is not seen to vary may still
    varied = ((own, tail), (max(own - noise, 0.0), 1 - tail))
    ends = (np.quantile(null - null.mean() + np.sqrt(v) * normal, q) for v, q in varied)
    high, low = (value - float(end) for end in ends)
    low = 0.0 if p >= tail else max(low, 0.0)
    how = f"{len(null)} draws of labels{s.said}"
    more = {"expected": 0.0, "p": p}
    return Estimate.within(
        (-2.0, 2.0), value, low, high, level, how, caution=why_unreliable(s), **more
    )


def _null_sums(s: ClassSample, share: Floats, rng: np.random.Generator) -> Floats:
    """Replicates of the sum over pairs for labels drawn from the rows' probabilities.

    Labels are the likeliest but for some changes: the sum is that of the likeliest, twice what changes
    meet there, and what they meet of each other.
    """
    n, k = s.p.shape
    many = drawing.affordable_replicates(max(n * n, 8 * n * k))
    labels, row = drawing.drawn_labels(s.p, rng.random((many, n))), np.arange(n)
    likeliest = s.p.argmax(1)
    least = drawing.gaps_of(likeliest, s.p)
    there = np.einsum("ij,jk->ik", share, least)
    met = (there[row, labels] - there[row, likeliest]).sum(1)
    drawn = drawing.label_changes(labels, likeliest, k) @ share.astype(np.float32)
    drawn = drawn.reshape(many, k, n)
    other = np.take_along_axis(drawn, labels[:, None], axis=1)[:, 0]
    other -= drawn[:, likeliest, row]
    return np.asarray(inner(there, least) + 2 * met + other.sum(1, dtype=float))

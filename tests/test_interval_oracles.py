"""Intervals against outside packages, and against definitions written out slowly."""

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from confidenceinterval.delong import delong_roc_variance
from scipy import stats
from sklearn import metrics as sk
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import scorewise.measures
from scorewise import Confusion, Tally
from scorewise.inference import resampling as bootstrap
from scorewise.inference.ranking import (
    auroc_variance,
    newcombe_limits,
    partial_area,
    partial_variance,
)
from scorewise.registry import MEASURES

m = scorewise.measures
Z = stats.norm.ppf(0.975)

TABLES = [(25, 10, 15, 20), (3, 1, 40, 200), (9, 91, 1, 899), (50, 2, 3, 70), (7, 8, 9, 10)]
tables = pytest.mark.parametrize("table", TABLES, ids=str)
# the two numbers of which each share is made: hits and misses, of tp, fp, fn, tn
SHARES = {
    "accuracy": lambda tp, fp, fn, tn: (tp + tn, fp + fn),
    "sensitivity": lambda tp, fp, fn, tn: (tp, fn),
    "specificity": lambda tp, fp, fn, tn: (tn, fp),
    "precision": lambda tp, fp, fn, tn: (tp, fp),
    "npv": lambda tp, fp, fn, tn: (tn, fn),
    "jaccard": lambda tp, fp, fn, tn: (tp, fp + fn),
}


def confusion(table) -> Confusion:
    return Confusion.counts(**dict(zip(("tp", "fp", "fn", "tn"), table, strict=True)))


def rows(seed: int, n: int, digits: int = 2, shift: float = 1.2):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.35
    y[:4] = True, True, False, False
    return y, np.round(rng.normal(0, 1, n) + shift * y, digits)


def close(e, low, high, rel=1e-9):
    assert (e.low, e.high) == pytest.approx((low, high), rel=rel, abs=1e-12)


# decisions


@tables
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_wilson(name, table, level):
    hit, miss = SHARES[name](*table)
    expected = proportion_confint(hit, hit + miss, alpha=1 - level, method="wilson")
    close(MEASURES[name](confusion(table), level=level), *expected)


@tables
def test_f1_takes_over_the_limits_of_jaccard(table):
    tp, fp, fn, _ = table
    low, high = proportion_confint(tp, tp + fp + fn, method="wilson")
    close(m.f1(confusion(table)), 2 * low / (1 + low), 2 * high / (1 + high))


@tables
def test_newcombe(table):
    tp, fp, fn, tn = table
    low, high = confint_proportions_2indep(tp, tp + fn, fp, fp + tn, method="newcomb")
    close(m.youden(confusion(table)), low, high)
    close(m.balanced_accuracy(confusion(table)), (low + 1) / 2, (high + 1) / 2)
    low, high = confint_proportions_2indep(tp, tp + fp, fn, fn + tn, method="newcomb")
    close(m.markedness(confusion(table)), low, high)


@tables
def test_woolf(table):
    tp, fp, fn, tn = table
    peer = Table2x2([[tp, fn], [fp, tn]], shift_zeros=False)
    close(m.dor(confusion(table)), *peer.oddsratio_confint())


@pytest.mark.parametrize("table", [(10, 5, 3, 0), (0, 4, 6, 20)], ids=str)
def test_woolf_with_an_empty_cell(table):
    tp, fp, fn, tn = (x + 0.5 for x in table)
    low, high = Table2x2([[tp, fn], [fp, tn]]).oddsratio_confint()
    e = m.dor(confusion(table))
    close(e, min(low, e.value), high)


SCALES = {
    "mcc": (math.atanh, math.tanh, lambda x: 1 / (1 - x * x)),
    "lift": (math.log, math.exp, lambda x: 1 / x),
    "dor": (math.log, math.exp, lambda x: 1 / x),
}


@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("weighted", [False, True])
def test_delta_method_by_moving_the_weight_of_each_row(name, weighted):
    """Variance = sum over rows of (weight x slope in the weight)^2, slopes by differences."""
    to, back, slope = SCALES[name]
    y, s = rows(3, 60)
    w = np.random.default_rng(1).uniform(0.5, 3, 60) if weighted else np.ones(60)

    def value(weight):
        return MEASURES[name](Tally.of(y, s, weight=weight).confusion(0.6)).value

    e = MEASURES[name](Tally.of(y, s, weight=w).confusion(0.6))
    assert min(Tally.of(y, s).confusion(0.6).table) > 0
    slopes = differences(value, w)
    called = np.array(s >= 0.6)
    # the weights of a class may be as uneven in each cell as in all: then rows of a cell are alike
    even = w.copy()
    for side, cell in itertools.product((y, ~y), (called, ~called)):
        even[side & cell] = np.sqrt(
            w[side & cell].sum() / (side & cell).sum() * np.sum(w[side] ** 2) / w[side].sum()
        )
    error = math.sqrt(max(np.sum((each * slopes) ** 2) for each in (w, even)))
    reach = Z * error * slope(e.value)
    low, high = back(to(e.value) - reach), back(to(e.value) + reach)
    if name == "mcc":  # which may be wider, by the limits of the shares of which it is made
        assert e.low <= low + 1e-6
        assert e.high >= high - 1e-6
        assert e.high - e.low == pytest.approx(high - low, rel=0.05)
    else:
        close(e, low, high, rel=1e-5)


def differences(value, w, step=1e-5):
    """The slope of a value in the weight of each row."""
    each = []
    for i in range(len(w)):
        move = np.zeros(len(w))
        move[i] = step
        each.append((value(w + move) - value(w - move)) / (2 * step))
    return np.array(each)


# order


def placements(y, s):
    """DeLong, DeLong and Clarke-Pearson 1988, equations 4 and 5, by all pairs."""
    x, z = s[y], s[~y]
    wins = np.array([[float(a > b) + (a == b) / 2 for b in z] for a in x])
    return wins.mean(), wins.mean(1), wins.mean(0)


@pytest.mark.parametrize("seed", range(20))
def test_delong_by_definition(seed):
    y, s = rows(seed, 60, digits=1)
    auc, v10, v01 = placements(y, s)
    variance = v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01)
    t = Tally.of(y, s)
    assert auroc_variance(t, auc).variance == pytest.approx(variance, rel=1e-12)
    # Welch's degrees of freedom, and the logit scale
    parts = [(v.var(ddof=1) / len(v), len(v) - 1) for v in (v10, v01)]
    df = variance**2 / sum(v * v / d for v, d in parts)
    reach = stats.t.ppf(0.975, df) * math.sqrt(variance) / (auc * (1 - auc))
    centre = math.log(auc / (1 - auc))
    low, high = (1 / (1 + np.exp(-centre + x)) for x in (reach, -reach))
    # where a few rows bring most of the variance, the limit towards 0.5 is Newcombe's if that is lower
    few = carried(v10 - auc, v01 - auc) < 20
    close(
        m.auroc(t),
        min(low, newcombe_limits(auc, len(v01), len(v10), 0.95)[0]) if few else low,
        high,
    )


def carried(*places):
    """Satterthwaite's degrees of freedom of a sum of squares, from the fourth moments of each class."""
    parts = [(np.mean(d**2) / len(d), max(5.0, freedom(d))) for d in places]
    return sum(v for v, _ in parts) ** 2 / sum(v * v / df for v, df in parts)


def freedom(effects, w=1.0):
    w = np.broadcast_to(w, effects.shape)
    rows = w.sum() ** 2 / (w**2).sum()
    each = (w * effects) ** 2
    return 2 / (np.sum(each**2) / each.sum() ** 2 - 1 / rows)


def test_area_near_one_with_few_positives_holds():
    """So few positives rarely show the low scores that some of them have."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(300):
        s = np.concatenate([4.2 + 1.5 * rng.normal(size=20), rng.normal(size=300)])
        e = m.auroc(Tally.of(np.arange(320) < 20, s))
        inside += e.low <= stats.norm.cdf(4.2 / math.sqrt(1 + 1.5**2)) <= e.high
    assert inside >= 0.92 * 300


@pytest.mark.parametrize("seed", range(20))
def test_delong_of_a_package(seed):
    y, s = rows(seed, 300)
    auc, variance = delong_roc_variance(y.astype(int), s)
    # the package computes in 32 bits
    assert m.auroc(Tally.of(y, s)).value == pytest.approx(float(auc), rel=1e-5)
    assert auroc_variance(Tally.of(y, s), float(auc)).variance == pytest.approx(
        float(variance), rel=1e-3
    )


def pooled(influence, y, w):
    """The variance that row-wise influences amount to, each class about its own mean."""
    total = 0.0
    for side in (y, ~y):
        n = w[side].sum() ** 2 / (w[side] ** 2).sum()
        total += np.sum((w[side] * influence[side]) ** 2) * n / (n - 1)
    return total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name", ["auroc", "average_precision", "pr_trapezoid", "partial_auroc 0.3", "partial_auroc 0.5"]
)
def test_linearised_variance_by_moving_the_weight_of_each_row(name, weighted):
    y, s = rows(5, 70, digits=1 if name != "partial_auroc 0.3" else 6)
    w = np.random.default_rng(2).uniform(0.5, 3, 70) if weighted else np.ones(70)
    name, _, width = name.partition(" ")
    options = {"max_fpr": float(width)} if width else {}
    size = float(width or 1)

    def value(weight):
        return MEASURES[name](Tally.of(y, s, weight=weight), **options).value

    e = MEASURES[name](Tally.of(y, s, weight=w), **options)
    influence = differences(value, w)
    expected = pooled(influence, y, w)
    if name == "partial_auroc":
        t = Tally.of(y, s, weight=w)
        known = partial_variance(t, partial_area(t, size))
        assert known.variance == pytest.approx(expected, rel=1e-6)
        return
    # read the standard error off the interval, whose quantile is Student's with Welch's df
    parts = []
    for side in (y, ~y):
        n = w[side].sum() ** 2 / (w[side] ** 2).sum()
        least = (
            n - 1 if name == "auroc" else min(n - 1, max(5.0, freedom(influence[side], w[side])))
        )
        parts.append((np.sum((w[side] * influence[side]) ** 2) * n / (n - 1), least))
    df = expected**2 / sum(v * v / d for v, d in parts)
    reach = stats.t.ppf(0.975, df) * math.sqrt(expected) / (e.value * (1 - e.value))
    centre = math.log(e.value / (1 - e.value))
    close(e, *(1 / (1 + np.exp(-centre + x)) for x in (reach, -reach)), rel=1e-5)


def test_bootstrap_of_rows_has_the_spread_of_average_precision():
    y, s = rows(8, 500)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(1000):
        at = rng.integers(0, len(y), len(y))
        drawn.append(sk.average_precision_score(y[at], s[at]))
    e = m.average_precision(Tally.of(y, s))
    logit = np.log(np.array(drawn) / (1 - np.array(drawn)))
    width = (np.log(e.high / (1 - e.high)) - np.log(e.low / (1 - e.low))) / 2
    assert width == pytest.approx(Z * logit.std(), rel=0.1)


def test_pooling_cells_leaves_the_interval_of_the_h_measure():
    y, s = rows(9, 4000, digits=15)
    pooled_cells = m.h_measure(Tally.of(y, s))
    with patch.object(bootstrap, "CELLS", 10**6):
        every_cell = m.h_measure(Tally.of(y, s))
    assert pooled_cells.value == every_cell.value
    widths = [e.high - e.low for e in (pooled_cells, every_cell)]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_losses_take_students_interval_of_two_classes():
    y, s = rows(4, 80)
    p = 1 / (1 + np.exp(-s))
    e = m.brier(Tally.of(y, p))
    loss = (p - y) ** 2
    n, share = len(y), y.mean()
    within = [
        (share_of * share_of * loss[side].var(ddof=1) / side.sum(), side.sum() - 1)
        for side, share_of in ((y, share), (~y, 1 - share))
    ]
    laplace = (y.sum() + 1) / (n + 2)
    gap = loss[y].mean() - loss[~y].mean()
    between = gap**2 * laplace * (1 - laplace) / (n - 1)
    parts = [*within, (between, n - 1)]
    variance = sum(v for v, _ in parts)
    df = variance**2 / sum(v * v / d for v, d in parts)
    reach = stats.t.ppf(0.975, df) * math.sqrt(variance) / loss.mean()
    close(e, loss.mean() * math.exp(-reach), loss.mean() * math.exp(reach))


def test_wider_spread_of_weights_widens_every_interval():
    """Kish: unequal weights are worth fewer rows."""
    y, s = rows(6, 200)
    w = np.tile([0.1, 1.9], 100)
    for name, measure in MEASURES.items():
        if measure.group == "calibration":  # whose values move too; see test_calibration.py
            continue
        results = []
        for weight in (np.ones(200), w):
            t = Tally.of(y, 1 / (1 + np.exp(-s)), weight=weight)
            results.append(measure(t.confusion(0.6) if measure.group == "decisions" else t))
        if any(math.isnan(e.low) for e in results):  # statistics of tests have none
            assert measure.group == "calibration"
            continue
        if measure.bounds[0] < 0 and measure.group == "calibration":
            equal, unequal = (e.high - e.low for e in results)
        else:
            equal, unequal = (math.log(e.high / max(e.low, 1e-3)) for e in results)
        assert unequal > equal, name


@pytest.mark.parametrize("name", ["auroc", "partial_auroc"])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("weight", [1.0, 0.1, 6.24489618])
def test_class_of_one_row_has_no_spread_of_its_own(name, single, weight):
    """Its distance from its own mean is 0, or rounding; the other class cannot stand for it."""
    y = np.arange(30) == 17
    s = np.arange(30) / 31
    e = MEASURES[name](Tally.of(y == single, s, weight=np.full(30, weight)))
    assert e.method in ("Newcombe", "Wilson")
    plain = MEASURES[name](Tally.of(y == single, s))
    assert (plain.low, plain.high) == pytest.approx((e.low, e.high), rel=1e-9)
    assert e.low <= e.value <= e.high
    assert e.high - e.low > 0.3 * MEASURES[name].bounds[1]


@pytest.mark.parametrize("costs", [None, (2.0, 3.0)])
def test_replicates_of_the_h_measure_are_its_values(costs):
    """They are read off a table of posteriors and prevalences; the value is not."""
    from scorewise.measures.order import _h_values

    rng = np.random.default_rng(5)
    neg, pos = rng.integers(1, 9, (2, 12, 40)).astype(float)
    pos[:6] /= 4  # so that prevalences differ
    score = np.linspace(0, 1, 40)
    for found, n, p in zip(_h_values(neg, pos, costs), neg, pos, strict=True):
        rows = np.repeat([0, 1], 40), np.tile(score, 2)
        t = Tally.of(*rows, weight=np.concatenate((n, p)))
        assert found == pytest.approx(MEASURES["h_measure"](t, costs=costs).value, abs=2e-4)

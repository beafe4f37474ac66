"""Two models on the same rows."""

import math

import jsonschema
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import scorewise as sw
from beside import predictions
from scorewise.columns import binary_rows
from scorewise.inference.differences import area_difference, holm
from scorewise.show.document import schema as document_schema
from scorewise.tallies import Tally

Z = stats.norm.ppf(0.975)


def difference(y, a, b, **columns):
    rows = binary_rows(None, label=y, score={"a": a, "b": b}, **columns)
    return area_difference(rows, Tally.of_rows(rows, "a"), Tally.of_rows(rows, "b"))


def random_rows(seed, n=60, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    z = rng.normal(size=n)
    return y, (z + y).round(digits), (0.5 * z + rng.normal(size=n) + 0.5 * y).round(digits), rng


def all_pairs(y, a, b):
    """DeLong's difference and its variance with a loop over all pairs of rows, and Welch's df."""
    win = lambda s: np.array([[(p > n) + (p == n) / 2 for n in s[~y]] for p in s[y]])  # noqa: E731
    gap = win(a) - win(b)
    parts = [(x.var(ddof=1) / len(x), len(x) - 1) for x in (gap.mean(1), gap.mean(0))]
    variance = sum(v for v, _ in parts)
    return gap.mean(), variance, variance**2 / sum(v * v / df for v, df in parts)


def test_published_by_proc():
    """Its p-value and interval are those of a normal distribution; ours are Student's."""
    rows = binary_rows(str(predictions("asah.parquet")), label="y", score=["wfns", "s100b"])
    e = area_difference(rows, *(Tally.of_rows(rows, name) for name in ("wfns", "s100b")))
    _, _, df = all_pairs(rows.y, rows.scores["wfns"], rows.scores["s100b"])
    error = (e.high - e.low) / 2 / stats.t.ppf(0.975, df)
    assert math.erfc(e.value / error / math.sqrt(2)) == pytest.approx(0.0271757822291882, abs=1e-9)
    ends = e.value - Z * error, e.value + Z * error
    assert ends == pytest.approx((0.0104061769564846, 0.174214419249478), abs=1e-9)
    assert 0.027 < e.p < 0.031


@pytest.mark.parametrize("seed", range(20))
def test_variance_is_that_of_all_pairs(seed):
    y, a, b, _ = random_rows(seed)
    value, variance, df = all_pairs(y, a, b)
    e = difference(y, a, b)
    assert e.value == pytest.approx(value, abs=1e-12)
    reach = stats.t.ppf(0.975, df) * math.sqrt(variance)
    assert (e.high - e.low) / 2 == pytest.approx(reach, rel=1e-9)
    assert e.p == pytest.approx(2 * stats.t.sf(abs(value) / math.sqrt(variance), df), rel=1e-9)
    assert e.value == pytest.approx(sw.evaluate(y, a).auroc.value - sw.evaluate(y, b).auroc.value)


def test_few_positives_and_no_difference():
    """Six of a hundred rows are positive, and both models are as good: 5 % may be found different."""
    rng, found = np.random.default_rng(4), 0
    y = np.arange(100) < 6
    for _ in range(600):
        shared = rng.normal(size=100) + 1.2 * 2**0.5 * y
        e = difference(y, shared + rng.normal(size=100), shared + rng.normal(size=100))
        assert (e.p < 0.05) == (not e.low <= 0 <= e.high)
        found += e.p < 0.05
    assert found <= 0.06 * 600


def test_a_difference_by_few_rows_has_a_caution():
    y, a, b, _ = random_rows(3)
    assert difference(y, a, b).caution == ""
    few = np.concatenate([np.flatnonzero(y)[:6], np.flatnonzero(~y)])
    e = difference(y[few], a[few], b[few], positive=True)
    assert e.caution == "a difference by 6 rows of class 'True'"
    unit = {name: 1 / (1 + np.exp(-s[few])) for name, s in (("a", a), ("b", b))}
    text = str(sw.compare(y[few], unit, positive=True))
    assert "unreliable: a difference by 6 rows of class 'True' (AUROC)" in " ".join(text.split())


@pytest.mark.parametrize("seed", range(5))
def test_counts_repeat_and_weights_have_no_scale(seed):
    y, a, b, rng = random_rows(seed)
    times = rng.integers(1, 4, len(y))
    counted = difference(y, a, b, count=times)
    repeated = difference(*(np.repeat(x, times) for x in (y, a, b)))
    assert counted.p == pytest.approx(repeated.p)
    ends = counted.low, counted.high
    assert ends == pytest.approx((repeated.low, repeated.high))
    w = rng.random(len(y))
    one, ten = difference(y, a, b, weight=w), difference(y, a, b, weight=10 * w)
    assert one.p == pytest.approx(ten.p)
    assert (one.low, one.high) == pytest.approx((ten.low, ten.high))


def test_no_difference_and_no_answer():
    same = difference([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5])
    assert (same.value, same.p) == (0.0, 1.0)
    single = difference([0, 1, 0], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    assert single.method == "none: a class has a single row"
    assert single.p is None
    assert difference([0, 0], [0.1, 0.2], [0.2, 0.1]).why == "no positives"


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(0).random(7) / 10
    assert holm(list(p)) == pytest.approx(multipletests(p, method="holm")[1])


def test_three_models_in_one_document():
    y, a, b, rng = random_rows(1, digits=6)
    table = {"y": y, "a": a, "b": b, "c": rng.random(60)}
    doc = sw.evaluate(table, label="y", score=["a", "b", "c"]).to_dict()
    jsonschema.validate(doc, document_schema())
    # scores beyond [0, 1], for which there is no smAUC
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert not [d for d in doc["differences"] if d["measure"] == "smauc"]
    found = [d for d in doc["differences"] if d["measure"] == "auroc"]
    assert [(d["first"], d["second"]) for d in found] == pairs
    assert all(d["p_adjusted"] >= d["p"] for d in doc["differences"] if d["p"] is not None)


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_rows_of_no_weight_say_nothing_however_sure_their_scores_are(end):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 120)
    q = np.clip(p + 0.05 * rng.normal(size=120), 0.02, 0.98)
    y = (rng.random(120) < p).astype(int)
    alone = sw.compare(y, {"p": p, "q": q})
    sure = {"p": np.append(p, [end, end]), "q": np.append(q, [end, end])}
    weight = np.append(np.ones(120), [0, 0])
    beside = sw.compare(np.append(y, [0, 1]), sure, weight=weight)
    for name in ("log_loss", "calibration_slope", "calibration_intercept"):
        a, b = alone.difference(name), beside.difference(name)
        assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), rel=1e-9)


def test_rows_of_no_weight_say_nothing_of_clusters():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 120)
    y, cluster = (rng.random(120) < p).astype(int), np.arange(120) // 3
    alone = sw.evaluate(y, p, cluster=cluster)
    beside = sw.evaluate(
        np.append(y, [0, 1]),
        np.append(p, [0.0, 0.0]),
        weight=np.append(np.ones(120), [0, 0]),
        cluster=np.append(cluster, [0, 1]),
    )
    for name in ("log_loss", "calibration_slope", "calibration_intercept"):
        assert beside[name].low == pytest.approx(alone[name].low, rel=1e-9)

"""Two models on the same rows."""

import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import scorewise as sw
from scorewise.door import take
from scorewise.evaluation import judge
from scorewise.intervals.paired import area_difference, holm
from scorewise.sources import load
from scorewise.tallies import Tally
from scorewise.views.schemas import document_schema

ASAH = Path(__file__).parents[2] / "shared" / "data" / "predictions" / "asah.parquet"


def difference(y, a, b, **columns):
    rows = take(y, {"a": a, "b": b}, **columns)
    return area_difference(rows, Tally.of_rows(rows, "a"), Tally.of_rows(rows, "b"))


def random_rows(seed, n=60, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    z = rng.normal(size=n)
    return y, (z + y).round(digits), (0.5 * z + rng.normal(size=n) + 0.5 * y).round(digits), rng


@pytest.mark.skipif(not ASAH.exists(), reason="the aSAH data of pROC are not beside the checkout")
def test_published_by_proc():
    loaded = load(str(ASAH), label="y", scores=["wfns", "s100b"])
    tallies = (Tally.of_rows(loaded.rows, name) for name in ("wfns", "s100b"))
    e, p = area_difference(loaded.rows, *tallies)
    assert p == pytest.approx(0.0271757822291882, abs=1e-9)
    assert (e.low, e.high) == pytest.approx((0.0104061769564846, 0.174214419249478), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_variance_is_that_of_all_pairs(seed):
    """DeLong's definition with a loop over all pairs of rows."""
    y, a, b, _ = random_rows(seed)
    win = lambda s: np.array([[(p > n) + (p == n) / 2 for n in s[~y]] for p in s[y]])  # noqa: E731
    gap = win(a) - win(b)
    spread = gap.mean(1).var(ddof=1) / len(gap) + gap.mean(0).var(ddof=1) / gap.shape[1]
    e, p = difference(y, a, b)
    assert e.value == pytest.approx(gap.mean(), abs=1e-12)
    assert (e.high - e.low) / 2 / 1.959963984540054 == pytest.approx(math.sqrt(spread), rel=1e-9)
    assert p == pytest.approx(math.erfc(abs(gap.mean()) / math.sqrt(2 * spread)), rel=1e-9)
    assert e.value == pytest.approx(sw.evaluate(y, a).auroc.value - sw.evaluate(y, b).auroc.value)


@pytest.mark.parametrize("seed", range(5))
def test_counts_repeat_and_weights_have_no_scale(seed):
    y, a, b, rng = random_rows(seed)
    times = rng.integers(1, 4, len(y))
    counted = difference(y, a, b, count=times)
    repeated = difference(*(np.repeat(x, times) for x in (y, a, b)))
    assert counted.p == pytest.approx(repeated.p)
    ends = counted.estimate.low, counted.estimate.high
    assert ends == pytest.approx((repeated.estimate.low, repeated.estimate.high))
    w = rng.random(len(y))
    one, ten = difference(y, a, b, weight=w), difference(y, a, b, weight=10 * w)
    assert one.p == pytest.approx(ten.p)
    assert (one.estimate.low, one.estimate.high) == pytest.approx(
        (ten.estimate.low, ten.estimate.high)
    )


def test_no_difference_and_no_answer():
    same = difference([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5])
    assert (same.estimate.value, same.p) == (0.0, 1.0)
    single = difference([0, 1, 0], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    assert single.estimate.method == "none: a class has a single row"
    assert math.isnan(single.p)
    assert difference([0, 0], [0.1, 0.2], [0.2, 0.1]).estimate.why == "no positives"


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(0).random(7) / 10
    assert holm(list(p)) == pytest.approx(multipletests(p, method="holm")[1])


def test_three_models_in_one_document():
    y, a, b, rng = random_rows(1, digits=6)
    doc = judge(
        load({"y": y, "a": a, "b": b, "c": rng.random(60)}, label="y", scores=["a", "b", "c"])
    )
    jsonschema.validate(doc, document_schema())
    # scores beyond [0, 1], for which there is no smAUC
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(d["first"], d["second"]) for d in doc["differences"]] == pairs
    assert all(d["p_adjusted"] >= d["p"] for d in doc["differences"])

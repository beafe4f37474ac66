"""Bins as other packages cut them: their own figures, on scores that lie on edges and beside them."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.calibration import calibration_curve

from beside import beside
from scorewise import ClassTally, Tally
from scorewise.errors import BadInput
from scorewise.measures import ece, max_ce, smece
from scorewise.statistics.probabilities import binned

netcal = pytest.importorskip("netcal.metrics")
relplot = pytest.importorskip("relplot")
torchmetrics = pytest.importorskip("torchmetrics.functional.classification")
CASES = 80
pytestmark = pytest.mark.usefixtures("few_draws")
LABELS = "bin edges, 10 bins: p then y"


def drawn(seed):
    """Labels, scores of which half lie on an edge or a hair beside it, and the number of bins."""
    rng = np.random.default_rng(seed)
    n, bins = int(rng.integers(5, 120)), int(rng.choice([1, 2, 3, 7, 10, 13, 15, 20, 100]))
    edges = rng.integers(0, bins + 1, n) / bins
    edges = rng.choice([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)])
    p = np.where(rng.random(n) < 0.5, np.clip(edges, 0, 1), rng.random(n))
    p[:2] = 0.0, 1.0
    y = rng.random(n) < 0.2 + 0.6 * p
    y[:2] = False, True
    return y.astype(int), p, bins


def of(y, p, bins, convention, norm=1.0):
    t = Tally.of(y, p, positive=1, kind="probability")
    return ece(t, bins=bins, norm=norm, convention=convention).value


@pytest.mark.parametrize("seed", range(0, CASES, 10))
def test_scikit_learn(seed):
    for k in range(seed, seed + 10):
        y, p, bins = drawn(k)
        share, mean = calibration_curve(y, p, n_bins=bins)
        index = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p)
        mass = np.unique(index, return_counts=True)[1] / len(p)
        assert of(y, p, bins, "sklearn") == pytest.approx(
            (mass * abs(share - mean)).sum(), abs=1e-12
        )
        largest = of(y, p, bins, "sklearn", np.inf)
        assert largest == pytest.approx(abs(share - mean).max(), abs=1e-12)


@pytest.mark.parametrize("seed", range(0, CASES, 10))
def test_netcal(seed):
    for k in range(seed, seed + 10):
        y, p, bins = drawn(k)
        expected = netcal.ECE(bins).measure(p, y)
        assert of(y, p, bins, "netcal") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(0, CASES, 10))
def test_relplot(seed):
    for k in range(seed, seed + 10):
        y, p, bins = drawn(k)
        expected = relplot.metrics.binnedECE(p, y, nbins=bins)
        assert of(y, p, bins, "relplot") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(0, CASES, 20))
def test_smooth_error_of_relplot(seed):
    for k in range(seed, seed + 20):
        y, p, _ = drawn(k)
        t = Tally.of(y, p, positive=1, kind="probability")
        found = smece(t, convention="relplot").value
        assert found == pytest.approx(relplot.smECE(p, y), abs=1e-12)


def test_relplot_counts_rows_at_the_ends_half():
    """All gaps have one sign, so that smoothing cannot change their total of 0.06."""
    y = np.repeat([1, 0, 1, 0], [860, 40, 40, 60])
    for top, theirs in ((1.0, 40 / 550), (0.99, 0.06)):
        p = np.repeat([top, 0.6], [900, 100])
        t = Tally.of(y, p, positive=1, kind="probability")
        gap = p.mean() - y.mean()
        assert smece(t).value == pytest.approx(gap, abs=1e-6)
        same = pytest.approx(smece(t, convention="relplot").value, abs=1e-12)
        assert relplot.smECE(p, y) == same
        assert relplot.smECE(p, y) == pytest.approx(theirs - (0.06 - gap), abs=2e-3)


def test_upper_edges():
    """The example that the metric jordyvl/ece of the Hugging Face hub gives, in its 32 bits."""
    p = np.array([[0.6, 0.2, 0.2], [0, 0.95, 0.05], [0.7, 0.1, 0.2]], np.float32)
    e = ece(ClassTally.of([0, 1, 2], p), bins=10, convention="jordyvl")
    assert e.value == pytest.approx(0.1333333333333334, abs=1e-15)


def test_upper_edges_by_a_loop():
    y, p, bins = drawn(3)
    edges = np.linspace(0, 1, bins + 1)
    expected = 0.0
    for k, (low, high) in enumerate(pairwise(edges)):
        inside = (p >= low) & ((p < high) | (k == bins - 1))
        if inside.any():
            expected += inside.mean() * abs(y[inside].mean() - high)
    assert of(y, p, bins, "jordyvl") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(0, CASES, 10))
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_torchmetrics(seed, precision):
    near = 2e-6 if precision is np.float32 else 1e-12
    for k in range(seed, seed + 10):
        y, p, bins = drawn(k)
        p = p.astype(precision)
        for norm, name in ((1.0, "l1"), (2.0, "l2"), (np.inf, "max")):
            expected = torchmetrics.binary_calibration_error(
                torch.tensor(p), torch.tensor(y), n_bins=bins, norm=name
            )
            found = of(y, p, bins, "torchmetrics", norm)
            # the root of a sum near 0 keeps half its digits
            assert found == pytest.approx(float(expected), abs=near if norm != 2 else near**0.5)


@pytest.mark.parametrize("seed", range(0, CASES // 2, 10))
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_torchmetrics_of_several_classes(seed, precision):
    """There the confidence is rounded to 32 bits, whatever the scores were."""
    for k in range(seed, seed + 10):
        y, top, bins = drawn(k)
        top = np.maximum(top, 0.4)
        p = np.column_stack((top, 0.75 * (1 - top), 0.25 * (1 - top))).astype(precision)
        y = np.where(y == 1, p.argmax(1), 2)
        for norm, name in ((1.0, "l1"), (2.0, "l2"), (np.inf, "max")):
            expected = torchmetrics.multiclass_calibration_error(
                torch.tensor(p), torch.tensor(y), 3, n_bins=bins, norm=name
            )
            t = ClassTally.of(y, p, classes=range(3), weight=[2.0] * len(y) if k % 2 else None)
            found = ece(t, bins=bins, norm=norm, convention="torchmetrics").value
            # the root of a sum near 0 keeps half its digits
            assert found == pytest.approx(float(expected), abs=2e-6 if norm != 2 else 2e-3)


@pytest.mark.parametrize("bins", range(1, 120))
def test_edges_of_torch(bins):
    """Every edge and its neighbours are in torch's bin."""
    for precision in (torch.float32, torch.float64):
        edges = torch.linspace(0, 1, bins + 1, dtype=precision)
        p = torch.cat([edges, *(torch.nextafter(edges, edges * 0 + end) for end in (0.0, 1.0))])
        p = p.unique()
        index = torch.bucketize(p, edges, right=True) - 1
        t = Tally.of(np.arange(len(p)) % 2, p.numpy(), kind="probability")
        weight = binned(t, bins, convention="torchmetrics").weight
        np.testing.assert_array_equal(weight, np.unique(index, return_counts=True)[1])


def test_one_data_set_under_every_convention():
    case = json.loads(beside("vectors/reference.json").read_text())[LABELS]
    names = {
        None: "ours: [lo,hi), edges i/B, last closed",
        "sklearn": "sklearn (lo,hi]",
        "netcal": "netcal linspace [lo,hi)",
        "relplot": "torchmetrics, relplot",
    }
    for convention, name in names.items():
        t = Tally.of(case["y"], case["p"])
        options = {"bins": 10, "convention": convention}
        assert ece(t, **options).value == pytest.approx(case[name]["ece"], abs=1e-6)
        assert max_ce(t, **options).value == pytest.approx(case[name]["max"], abs=1e-6)


@pytest.mark.parametrize(
    "convention", [None, "sklearn", "netcal", "torchmetrics", "relplot", "jordyvl"]
)
@pytest.mark.parametrize("kind", ["probability", "logit"])
def test_many_scores_are_binned_as_few(convention, kind):
    """Beyond 65,536 distinct scores, bins are found by halving and added up in parts."""
    rng = np.random.default_rng(0)
    p = np.concatenate((rng.random(80_000), np.arange(1, 14) / 14))
    y = rng.random(len(p)) < p
    s = np.log(p / (1 - p)) if kind == "logit" else p
    whole = Tally.of(y, s, kind=kind)
    assert len(whole.score) > 1 << 16
    for bins in (14, 15, 17):
        halves = [Tally.of(y[k::2], s[k::2], kind=kind) for k in (0, 1)]
        parts = [binned(t, bins, convention=convention) for t in halves]
        found = binned(whole, bins, convention=convention)
        for name, within in (("weight", 0), ("pos", 0), ("sum", 1e-10), ("noise", 1e-8)):
            # of tallies that need no joining
            expected = sum(getattr(part, name) for part in parts)
            np.testing.assert_allclose(getattr(found, name), expected, rtol=within)


def test_equal_width_edges_are_ours_exactly():
    for bins in range(1, 60):
        edges = np.arange(bins) / bins
        p = np.unique(np.concatenate((edges, np.nextafter(edges[1:], 0), [1.0])))
        found = binned(Tally.of(np.arange(len(p)) % 2, p, kind="probability"), bins)
        assert len(found) == bins
        np.testing.assert_array_equal(found.low, edges)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bins": 0}, "bins must be a positive integer, such as 15; got 0"),
        ({"bins": 2.5}, "bins must be a positive integer, such as 15; got 2.5"),
        ({"binning": "wide"}, 'binning="wide" is not known; pass "width", "mass" or "value"'),
        ({"convention": "caret"}, 'convention="caret" is not known; pass "sklearn", "netcal", '),
        ({"convention": "netcal", "binning": "mass"}, "has bins of equal width; leave out binning"),
        ({"norm": 0.5}, "norm must be a number from 1 up, such as 2; got 0.5"),
        ({"norm": float("nan")}, "norm must be a number from 1 up, such as 2; got nan"),
    ],
    ids=str,
)
def test_what_names_no_bins_is_refused(options, words):
    with pytest.raises(BadInput, match=words):
        ece(Tally.of([0, 1], [0.2, 0.8]), **options)

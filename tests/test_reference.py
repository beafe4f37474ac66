"""Published numbers, and real data where they lie beside the checkout."""

import numpy as np
import polars as pl
import pytest

import scorewise.measures
from beside import predictions
from scorewise import Confusion, Ratings, Tally
from scorewise.curves import best_cut
from scorewise.inference.ranking import auroc_variance
from scorewise.registry import MEASURES

m = scorewise.measures
EXACT = {"rel": 1e-9, "abs": 1e-12}


def frame(name):
    return pl.read_parquet(predictions(f"{name}.parquet"))


# small enough to be written down


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [
        ((20, 5, 10, 15), 0.4, 0.151092290476661, 0.6489077095233389),
        ((25, 10, 15, 20), 0.2857142857142857, 0.0635215446876555, 0.5079070267409161),
        ((45, 15, 25, 15), 0.13043478260869554, None, None),
    ],
    ids=str,
)
def test_kappa(table, value, low, high):
    """Wikipedia's examples; the published intervals have the error of Fleiss, Cohen and Everitt (1969)."""
    tp, fp, fn, tn = table
    assert m.kappa(Confusion.counts(tp=tp, fp=fp, fn=fn, tn=tn)).value == pytest.approx(
        value, **EXACT
    )
    if low is not None:
        e = m.cohen_kappa(Ratings.of_table([[tp, fp], [fn, tn]]), interval="published")
        assert (e.low, e.high) == pytest.approx((low, high), **EXACT)


def test_precision_recall():
    t = Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert m.average_precision(t).value == pytest.approx(0.8333333333333334, **EXACT)
    assert m.pr_trapezoid(t).value == pytest.approx(0.7916666666666666, **EXACT)
    assert m.auroc(t).value == 0.75


def test_h_measure():
    """The example of the hmeasure package, with the costs of 2009 and of 2014."""
    y = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    s = [0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931]
    s += [0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056]
    t = Tally.of(y, s)
    assert m.h_measure(t).value == pytest.approx(0.18310946512079307, **EXACT)
    older = m.h_measure(t, costs=(2, 1 + 3 / 7))
    assert older.value == pytest.approx(0.18889596344769588, **EXACT)


# data of the pROC package: aneurysmal subarachnoid haemorrhage


@pytest.mark.parametrize(
    ("marker", "auc", "variance"),
    [
        ("wfns", 0.8236788617886179, 0.0014699147088236266),
        ("s100b", 0.731368563685637, 0.0026686824571724383),
        ("ndka", 0.6119579945799457, None),
    ],
)
def test_asah_area(marker, auc, variance):
    data = frame("asah")
    t = Tally.of(data["y"], data[marker])
    assert m.auroc(t).value == pytest.approx(auc, **EXACT)
    if variance is not None:
        assert auroc_variance(t, auc).variance == pytest.approx(variance, **EXACT)


def test_asah_partial_area():
    data = frame("asah")
    e = m.partial_auroc(Tally.of(data["y"], data["wfns"]), max_fpr=0.1)
    assert e.value == pytest.approx(0.0334417344173442, **EXACT)


def test_asah_best_cut():
    data = frame("asah")
    t = Tally.of(data["y"], data["s100b"])
    cut, value = best_cut(t)
    assert cut.threshold == cut.upto == 0.22
    # pROC gives the middle of the interval
    assert (cut.above + cut.upto) / 2 == pytest.approx(0.205, **EXACT)
    c = t.confusion(cut.threshold)
    assert m.sensitivity(c).value == pytest.approx(0.6341463414634146, **EXACT)
    assert m.specificity(c).value == pytest.approx(0.8055555555555556, **EXACT)
    assert value == pytest.approx(m.youden(c).value, **EXACT)


def test_two_class_example_of_yardstick():
    from oracles import ORACLES, WITHIN

    data = frame("yardstick_two_class")
    y, s = (data["truth"] == "Class1").to_numpy(), data["Class1"].to_numpy()
    t = Tally.of(data["truth"], s, positive="Class1")
    for name, measure in MEASURES.items():
        e = measure(t.confusion(0.5) if measure.group == "decisions" else t)
        expected = ORACLES[name](y, s, None, 0.5)
        near = WITHIN.get(name, 1e-9)
        assert e.value == pytest.approx(expected, rel=near, abs=1e-12), name
    # as yardstick's documentation prints them
    assert m.accuracy(t.confusion(0.5)).value == pytest.approx(0.838, abs=5e-4)
    assert m.auroc(t).value == pytest.approx(0.939, abs=5e-4)
    assert m.kappa(t.confusion(0.5)).value == pytest.approx(0.675, abs=5e-4)


def test_brier_of_the_niamey_forecasts():
    """Dimitriadis, Gneiting and Jordan (2021): Brier scores of two forecasts of rain."""
    data = frame("precip_niamey_2016")
    for forecast, value in (("EMOS", 0.232025), ("ENS", 0.266168)):
        e = m.brier(Tally.of(data["obs"], data[forecast]))
        assert e.value == pytest.approx(value, abs=5e-7)
        assert e.baseline == pytest.approx(0.244211, abs=5e-7)


def test_coarse_cells_of_real_scores():
    data = frame("imdb_test_probs")
    # 32-bit softmax leaves some a hair above 1
    t = Tally.of(data["label"], data["p1"].clip(0.0, 1.0))
    coarse = t.coarsen()
    for name in ("auroc", "average_precision", "ks", "h_measure", "log_loss", "brier"):
        exact, near = (MEASURES[name].under({"clip": 1e-15}, x) for x in (t, coarse))
        assert abs(exact.value - near.value) <= near.bound + 1e-12
        assert near.bound < 5e-3
    assert np.isfinite(coarse.score).all()

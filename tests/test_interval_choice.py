"""Intervals that are asked for by name, against published numbers and scipy."""

import inspect

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import scorewise as sw
from scorewise.cli import run

RNG = np.random.default_rng(5)
Y = RNG.random(240) < 0.35
P = np.clip(0.35 + 0.2 * Y + RNG.normal(0, 0.2, 240), 0.02, 0.98).round(2)


def test_delong_is_that_of_a_loop():
    """DeLong et al. (1988), by the placements of single rows, with the normal quantile as pROC has it."""
    neg, pos = P[~Y], P[Y]
    wins = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    variance = wins.mean(1).var(ddof=1) / len(pos) + wins.mean(0).var(ddof=1) / len(neg)
    area, error = wins.mean(), np.sqrt(variance)
    e = sw.evaluate(Y, P, interval="delong").auroc
    z = stats.norm.ppf(0.975)
    assert (e.value, e.low, e.high) == pytest.approx(
        (area, area - z * error, area + z * error), rel=1e-9
    )
    assert e.method == "DeLong, Wald"
    e = sw.evaluate(Y, P, interval="logit").auroc
    centre, reach = np.log(area / (1 - area)), z * error / (area * (1 - area))
    assert (e.low, e.high) == pytest.approx(
        tuple(stats.logistic.cdf([centre - reach, centre + reach]))
    )


# grades of 113 patients with aneurysmal subarachnoid haemorrhage, by a good and a poor outcome
# (WFNS in aSAH of pROC; Turck et al. 2010, Intensive Care Medicine 36, 107-115)
GOOD, POOR = (37, 20, 3, 8, 4), (2, 12, 1, 8, 18)


def test_delong_is_that_of_proc():
    """pROC (Robin et al. 2011) prints: Area under the curve: 0.8237, 95% CI: 0.7485-0.8988 (DeLong)."""
    grades = [*range(5), *range(5)]
    e = sw.evaluate([0] * 5 + [1] * 5, grades, count=[*GOOD, *POOR], interval="delong").auroc
    assert [round(x, 4) for x in (e.value, e.low, e.high)] == [0.8237, 0.7485, 0.8988]


@pytest.mark.parametrize("name", ["accuracy", "sensitivity", "specificity", "precision", "npv"])
def test_exact_is_clopper_pearson(name):
    e = sw.evaluate(Y, P, threshold=0.45, interval="exact")
    c = e.confusion
    hit, miss = {
        "accuracy": (c.tp + c.tn, c.fp + c.fn), "sensitivity": (c.tp, c.fn),
        "specificity": (c.tn, c.fp), "precision": (c.tp, c.fp), "npv": (c.tn, c.fn),
    }[name]  # fmt: skip
    want = stats.binomtest(hit, hit + miss).proportion_ci(0.95, method="exact")
    assert (e[name].low, e[name].high) == pytest.approx((want.low, want.high), rel=1e-9)
    assert e[name].method == "Clopper-Pearson"
    score = sw.evaluate(Y, P, threshold=0.45, interval="wilson")[name]
    want = stats.binomtest(hit, hit + miss).proportion_ci(0.95, method="wilson")
    assert (score.low, score.high) == pytest.approx((want.low, want.high), rel=1e-9)


LABELS = np.concatenate((np.zeros((~Y).sum()), np.ones(Y.sum())))
STATISTICS = {
    "auroc": lambda y, p: roc_auc_score(y, p),
    "average_precision": lambda y, p: average_precision_score(y, p),
    "brier": lambda y, p: brier_score_loss(y, p),
    "sensitivity": lambda y, p: (p[y == 1] >= 0.5).mean(),
    "precision": lambda y, p: y[p >= 0.5].mean(),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_bootstrap_is_that_of_scipy(name):
    def statistic(neg, pos):
        return STATISTICS[name](LABELS, np.concatenate((neg, pos)))

    seed = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"
    options = {"n_resamples": 1000, "method": "percentile", seed: np.random.default_rng(2)}
    want = stats.bootstrap((P[~Y], P[Y]), statistic, vectorized=False, **options)
    e = sw.evaluate(Y, P, interval="bootstrap", replicates=4000)[name]
    # of 1,000 resamples a percentile is known to about a tenth of the standard error
    tolerance = 0.25 * want.standard_error
    assert abs(e.low - want.confidence_interval.low) < tolerance
    assert abs(e.high - want.confidence_interval.high) < tolerance
    assert e.method == "stratified bootstrap, percentile, 4,000 resamples"


def test_bootstrap_of_the_slope_is_that_of_refitting():
    rng, slopes = np.random.default_rng(1), []
    sides = P[~Y], P[Y]
    x = [np.log(p / (1 - p)) for p in sides]
    for _ in range(300):
        drawn = np.concatenate([rng.choice(side, len(side)) for side in x])
        fit = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(drawn[:, None], LABELS)
        slopes.append(fit.coef_[0, 0])
    want = np.quantile(slopes, [0.025, 0.975])
    e = sw.evaluate(Y, P, interval="bootstrap").calibration_slope
    assert np.abs(np.array([e.low, e.high]) - want).max() < 0.4 * np.std(slopes)


def test_bootstrap_takes_weights_and_is_the_same_for_a_seed():
    w = RNG.random(240) + 0.5
    first, again, other = (
        sw.evaluate(Y, P, weight=w, interval="bootstrap", replicates=500, seed=s).auroc
        for s in (1, 1, 2)
    )
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)
    assert first.low < first.value < first.high


def test_what_the_choice_does_not_apply_to_says_so():
    e, plain = (sw.evaluate(Y, P, interval=i) for i in ("delong", None))
    assert (e.brier.low, e.brier.high) == (plain.brier.low, plain.brier.high)
    assert e.brier.method == f"{plain.brier.method} (no delong)"
    e = sw.evaluate(Y, P, interval="bootstrap")
    for name in ("ece", "calibration_intercept"):
        assert e[name].method.endswith("(no bootstrap)")
        assert e[name].high == plain[name].high


def test_bad_choices_are_one_sentence(tmp_path, capsys):
    with pytest.raises(sw.BadInput, match="interval"):
        sw.evaluate(Y, P, interval="delon")
    with pytest.raises(sw.BadInput, match="replicates must be an integer from 100 up"):
        sw.evaluate(Y, P, interval="bootstrap", replicates=3)
    with pytest.raises(sw.BadInput, match="do not go together"):
        sw.evaluate(Y, P, interval="bootstrap", cluster=np.arange(240) // 2)
    with pytest.raises(sw.BadInput, match="do not go together"):
        sw.evaluate([0, 1, 2], np.eye(3), interval="delong")
    file = tmp_path / "x.csv"
    file.write_text("y,p\n" + "\n".join(f"{int(a)},{b}" for a, b in zip(Y, P, strict=True)))
    assert run(["evaluate", str(file), "--interval", "delong", "--all", "--md", "-"]) == 0
    assert "DeLong, Wald (AUROC)" in capsys.readouterr().out
    assert run(["evaluate", str(file), "--interval", "bayes"]) == 2


def test_compare_takes_it():
    c = sw.compare(Y, {"a": P, "b": P[::-1]}, interval="delong")
    assert c["a"].auroc.method == "DeLong, Wald"


def test_more_resamples_than_anybody_waits_for_are_refused():
    y, p = [0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]
    with pytest.raises(sw.BadInput, match="replicates must be at most 10,000,000, such as 2000"):
        sw.evaluate(y, p, interval="bootstrap", replicates=10**11)
    with pytest.raises(sw.BadInput, match="replicates must be at most 10,000,000"):
        sw.drift((y, p), (y, p), replicates=10**11)

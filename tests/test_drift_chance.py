"""P-values of drift: as permutations of rows give them, uniform when nothing has changed."""

import numpy as np
import pytest
from scipy.stats import kstest, permutation_test, rankdata

import scorewise as sw
from drift_cases import draw, tally
from scorewise.drifting.measures import strata
from scorewise.drifting.split import permuted, split


def rows(*samples):
    """Rows as complex numbers, which a permutation of rows keeps together."""
    return [p + 1j * y for y, p in samples]


def area(sample):
    """AUROC by the ranks of the positives (Mann and Whitney)."""
    ranks, y = rankdata(sample.real), sample.imag > 0
    n = y.sum()
    return (ranks[y].sum() - n * (n + 1) / 2) / (n * (len(y) - n))


ON_ROWS = {
    "midpoint": lambda a, b: b.real.mean() - a.real.mean(),
    "prevalence": lambda a, b: b.imag.mean() - a.imag.mean(),
    "auroc": lambda a, b: area(b) - area(a),
}


@pytest.mark.parametrize("name", ["midpoint", "prevalence", "auroc"])
@pytest.mark.parametrize("seed", [2, 5])
def test_p_values_are_those_of_permuted_rows(name, seed):
    a, b = draw(seed, 60, digits=2), draw(seed + 9, 40, prevalence=0.45, digits=2)
    ours = sw.drift(a, b, replicates=3999)[name]
    # |T*| >= |T| on both sides at once, as ours, is "greater" of the absolute value
    theirs = permutation_test(
        rows(a, b),
        lambda x, y: abs(ON_ROWS[name](x, y)),
        n_resamples=3999,
        alternative="greater",
        random_state=np.random.default_rng(0),  # its name before scipy 1.15, and still known
    )
    expected = float(np.real(theirs.pvalue))
    spread = np.sqrt(2 * expected * (1 - expected) / 4000)
    assert ours.value == pytest.approx(ON_ROWS[name](*rows(a, b)), abs=1e-12)
    assert ours.p == pytest.approx(expected, abs=4 * spread + 1e-3)


def test_p_value_of_all_permutations():
    """Few rows: the share of all 20 ways to deal out six rows."""
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])
    exact = permutation_test(
        (a, b), lambda x, y: abs(y.mean() - x.mean()), alternative="greater", n_resamples=np.inf
    )
    assert exact.pvalue == pytest.approx(0.1)
    assert sw.drift(a, b, replicates=9999)["midpoint"].p == pytest.approx(0.1, abs=0.01)


def nulls():
    """Changes between samples of the same source, many times."""
    return [
        sw.drift(tally(2 * k, 150), tally(2 * k + 1, 100), replicates=99, seed=k)
        for k in range(160)
    ]


NAMES = [
    "midpoint", "smroc_distance", "smauc", "auroc", "rotation", "prevalence", "psi", "ks",
    "wasserstein", "class_distance", "calibration", "calibration_slope",
    "calibration_distance",
]  # fmt: skip


def test_when_nothing_has_changed():
    """P-values are uniform, alarms rare, and intervals of changes hold 0."""
    found = nulls()
    chance_of = 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
    for name in NAMES:
        p = np.array([d[name].p for d in found])
        assert kstest(p, "uniform").pvalue > 1e-3, name
        assert (p <= 0.05).mean() < chance_of, name
    for name in ("midpoint", "smauc", "auroc", "rotation", "prevalence", "calibration"):
        ends = np.array([(d[name].estimate.low, d[name].estimate.high) for d in found])
        inside = ((ends[:, 0] <= 0) & (ends[:, 1] >= 0)).mean()
        assert 0.88 < inside <= 0.99, name
    adjusted = [min(c.p_adjusted for c in d.window.values()) for d in found]
    assert np.mean(np.array(adjusted) <= 0.13) < 0.13 + 2 * np.sqrt(0.13 * 0.87 / len(found))


def test_weighted_p_values_are_uniform_when_nothing_has_changed():
    found = []
    for k in range(80):
        rng = np.random.default_rng(1000 + k)
        pair = [
            sw.Tally.of(*draw(5000 + 2 * k + i, n), weight=rng.gamma(2.0, size=n), positive=True)
            for i, n in enumerate((200, 150))
        ]
        found.append(sw.drift(*pair, replicates=99, seed=k))
    for name in ("midpoint", "auroc", "prevalence", "ks", "class_distance", "calibration"):
        p = np.array([d[name].p for d in found])
        assert (p <= 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(p)), name
        assert 0.35 < p.mean() < 0.65, name


def test_calibration_is_judged_at_the_same_scores():
    """Scores that moved and still mean the same are no change of calibration."""
    rng = np.random.default_rng(0)
    alarms = 0
    for k in range(60):
        p, q = rng.beta(2, 4, 300), rng.beta(4, 3, 300)
        y, v = rng.random(300) < p, rng.random(300) < q
        d = sw.drift((y, p), (v, q), replicates=99, seed=k)
        alarms += d["calibration"].p <= 0.05
        assert d["ks"].p == 0.01
    assert alarms <= 8


def test_classes_are_judged_whatever_their_shares():
    """A prior shift is no change within classes."""
    alarms = sum(
        sw.drift(tally(k, 300), tally(k + 500, 300, prevalence=0.55), replicates=99)[
            "class_distance"
        ].p
        <= 0.05
        for k in range(60)
    )
    assert alarms <= 8


@pytest.mark.parametrize("held", ["nothing", "class", "score"])
@pytest.mark.parametrize("n", [50, 30_000])
def test_dealing_out_keeps_the_rows(held, n):
    x = split(tally(1, n, digits=2), tally(2, n, digits=2, prevalence=0.4))
    if held == "score":
        x = strata(x)
    drawn = permuted(x, held, 5, np.random.default_rng(0))
    assert (drawn.weight.sum(0) == x.weight.sum(0)[:, None]).all()
    assert (drawn.weight >= 0).all()
    assert (drawn.rows[0].sum(-1) == n).all()
    if held == "class":
        assert (drawn.weight[0, 1].sum(-1) == x.weight[0, 1].sum()).all()
    if held == "score":
        assert (drawn.rows[0] == x.rows[0]).all()


def test_draws_depend_on_the_seed_alone():
    a, b = tally(1), tally(2)
    one, again, other = (sw.drift(a, b, replicates=99, seed=s) for s in (1, 1, 2))
    p = lambda d: [c.p for c in d.window.values()]  # noqa: E731
    assert p(one) == p(again)
    assert p(one) != p(other)


KINDS = {
    "none seen": {},
    "prior": {"prevalence": 0.5},
    "concept": {"noise": 0.25},
}


@pytest.mark.parametrize("kind", KINDS)
def test_kind_of_planted_drift(kind):
    d = sw.drift(tally(1, 1500), tally(4, 1500, **KINDS[kind]), replicates=499)
    assert d.kind == kind
    assert d.seen == (kind != "none seen")


def test_kind_of_scores_that_moved_and_mean_the_same():
    rng = np.random.default_rng(3)
    p, q = rng.beta(2, 4, 1000), rng.beta(4, 4, 1000)
    d = sw.drift((rng.random(1000) < p, p), (rng.random(1000) < q, q), replicates=499)
    # the share of positives has changed with the scores, as it must
    assert d["prevalence"].seen
    assert d.kind == "covariate"


def test_verdict_claims_no_more_than_was_seen():
    none = sw.drift(tally(1), tally(2)).verdict
    assert "does not prove" in none
    assert "share of positives 0." in none
    seen = sw.drift(tally(1, 900), tally(2, 900, prevalence=0.6), replicates=499).verdict
    assert "Strongest evidence" in seen
    assert "after Holm" in seen

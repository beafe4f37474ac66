"""Intervals of measures of several classes against derivatives, other packages and the bootstrap."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logit
from statsmodels.stats.inter_rater import cohens_kappa

import scorewise.measures as sm
from class_cases import Case, drawn
from class_oracles import CLASS_ORACLES
from scorewise import ClassTally, Tally
from scorewise.inference import class_rows
from scorewise.inference import tables as class_formulas
from scorewise.inference.ranking import newcombe_limits
from scorewise.inference.scales import t_quantile
from scorewise.inference.shares import wilson
from scorewise.inference.tables import mean_share

INFLUENCES = {
    "macro_auroc": class_rows.of_areas,
    "weighted_auroc": class_rows.of_areas_by_frequency,
    "micro_auroc": class_rows.of_pooled_area,
    "hand_till": class_rows.of_pairs,
    "macro_average_precision": class_rows.of_average_precisions,
}


def two_classes(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of which both columns are exact: multiples of 1/64."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return y, (rng.integers(6, 46, n) + 12 * y) / 64


# two classes are the binary case


@pytest.mark.parametrize("name", ["macro_auroc", "weighted_auroc", "hand_till"])
def test_areas_of_two_classes_have_the_interval_of_delong(name):
    for seed in range(5):
        y, s = two_classes(seed=seed)
        binary = sm.auroc(Tally.of(y, s))
        both = getattr(sm, name)(ClassTally.of(y, np.c_[1 - s, s]))
        assert binary.method == "DeLong, logit"
        assert both.value == pytest.approx(binary.value, rel=1e-12)
        assert (both.low, both.high) == pytest.approx((binary.low, binary.high), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "options"), [("log_loss", {}), ("log_loss", {"clip": 0.1}), ("brier", {"convention": "half"})]
)  # fmt: skip
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 3, 60)])
def test_losses_of_two_classes_are_the_binary_ones(name, options, weight):
    y, s = two_classes()
    s[:3] = 0.5, 1 / 64, 63 / 64
    binary = {k: v for k, v in options.items() if k == "clip"}
    a = getattr(sm, name)(Tally.of(y, s, weight=weight), **binary)
    b = getattr(sm, name)(ClassTally.of(y, np.c_[1 - s, s], weight=weight), **options)
    for part in ("value", "low", "high", "baseline"):
        assert getattr(a, part) == pytest.approx(getattr(b, part), rel=1e-11)


@pytest.mark.parametrize("name", ["accuracy", "kappa", "mcc"])
def test_decisions_of_two_classes_are_the_binary_ones(name):
    for seed in range(5):
        y, s = two_classes(seed=seed)
        s = np.where(s == 0.5, 33 / 64, s)  # of equal scores, the first class is called
        for used in (slice(None), s * (2 * y - 1) > -0.5):  # and a table with an empty cell
            a = getattr(sm, name)(Tally.of(y[used], s[used]).confusion(0.5))
            b = getattr(sm, name)(ClassTally.of(y[used], np.c_[1 - s, s][used]))
            assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-12)


@pytest.mark.parametrize("name", ["sensitivity", "precision", "f1", "specificity"])
def test_decisions_for_one_class_are_those_of_scikit_learn(name):
    from sklearn import metrics as sk

    c = drawn(1, 80, 4, "broken")
    for k in range(4):
        true, called = c.y == k, c.p.argmax(1) == k
        if name == "specificity":
            true, called = ~true, ~called
        score = {"sensitivity": "recall", "specificity": "recall"}.get(name, name)
        expected = getattr(sk, f"{score}_score")(true, called, sample_weight=c.weight)
        assert getattr(sm, name)(c.tally.decided(k)).value == pytest.approx(expected, rel=1e-12)


# slopes and influences


@pytest.mark.parametrize("name", ["weighted_f1", "mcc"])
def test_slopes_are_derivatives(name):
    formula = getattr(class_formulas, name)
    for k in (2, 3, 5):
        table = np.random.default_rng(k).integers(1, 20, (k, k)) * 1.0
        _, slope = formula(table)
        measured = approx_fprime(
            table.ravel(), lambda x, k=k: formula(x.reshape(k, k))[0], epsilon=1e-6
        )
        np.testing.assert_allclose(slope.ravel(), measured, atol=1e-6)


@pytest.mark.parametrize("name", INFLUENCES)
@pytest.mark.parametrize("weighted", ["no", "broken"])
def test_influence_is_what_a_little_more_weight_on_a_row_adds(name, weighted):
    c = drawn(2, 24, 3, weighted, digits=1)
    w = np.ones(24) if c.weight is None else c.weight
    w = w / w.sum()
    added = INFLUENCES[name](class_rows.Sample(c.p, c.y, w, w * w, np.arange(3), 3))
    step = 1e-6
    for i in range(24):
        up, down = w + step * (np.arange(24) == i), w - step * (np.arange(24) == i)
        ends = [CLASS_ORACLES[name](c.y, c.p, x) for x in (up, down)]
        assert added[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("name", [*INFLUENCES, "macro_f1", "kappa", "mcc", "balanced_accuracy"])
def test_intervals_are_as_wide_as_those_of_the_bootstrap(name):
    """On rows whose scores of different classes are far from independent."""
    c, rng = drawn(3, 300, 3), np.random.default_rng(0)
    measure, e = getattr(sm, name), getattr(sm, name)(c.tally)
    draws = rng.multinomial(300, np.full(300, 1 / 300), size=300)
    values = [measure(Case(c.y, c.p, None, count).tally).value for count in draws]
    assert (e.high - e.low) / 2 / 1.96 == pytest.approx(np.std(values), rel=0.12)


def test_a_sample_of_the_rows_gives_nearly_the_interval_of_all():
    c = drawn(4, 40_000, 3)
    t = c.tally
    assert not t.joint.whole
    w = np.full(len(c), 1 / len(c))
    for name, influence in INFLUENCES.items():
        added = influence(class_rows.Sample(c.p, c.y, w, w * w, np.arange(3), 3))
        known = class_rows.variance_of_rows(t, influence)
        assert known.variance == pytest.approx((w * w * added * added).sum(), rel=0.05), name
        assert getattr(sm, name)(t).value == pytest.approx(
            CLASS_ORACLES[name](c.y, c.p, None) if name != "hand_till" else _pairs(c), rel=1e-12
        )


@pytest.mark.parametrize("name", ["macro_auroc", "hand_till", "macro_average_precision"])
def test_a_sample_does_without_a_rare_class(name):
    """Of 40 rows in 40,000, which decide the variance, the sample has about 16."""
    c, rng = drawn(4, 40_000, 3), np.random.default_rng(0)
    used = (c.y != 2) | (rng.random(len(c)) < 40 / (c.y == 2).sum())
    c = c.rows(used)
    assert 2 not in class_rows.sampled(c.tally).there
    w = np.full(len(c), 1 / len(c))
    added = INFLUENCES[name](class_rows.Sample(c.p, c.y, w, w * w, np.arange(3), 3))
    e = getattr(sm, name)(c.tally)
    known = ((w * added) ** 2).sum() / (e.value * (1 - e.value)) ** 2
    seen = ((logit(e.high) - logit(e.value)) / t_quantile(0.95, (c.y == 2).sum() - 1)) ** 2
    # few rows of a class do not show their variance, which is taken from all classes or from its rows
    assert 0.9 < seen / known < (1.1 if name == "macro_auroc" else 4)


@pytest.mark.parametrize("name", ["macro_auroc", "weighted_auroc", "hand_till"])
def test_of_two_classes_one_may_be_rare_in_a_sample(name):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40_000, 60])
    s = (rng.integers(1, 2**20, len(y)) + 2**19 * y) / 2**21
    t, binary = ClassTally.of(y, np.c_[1 - s, s]), sm.auroc(Tally.of(y, s))
    assert not t.joint.whole
    e = getattr(sm, name)(t)
    # weighted_auroc has some 25 of the 60 rows alone
    near = 0.35 if name == "weighted_auroc" else 0.03
    assert e.value == pytest.approx(binary.value, rel=1e-12)
    assert e.high - e.low == pytest.approx(binary.high - binary.low, rel=near)


def _pairs(c: Case) -> float:
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(c.y, c.p, multi_class="ovo")


def test_many_classes_use_fewer_rows():
    c = drawn(5, 4000, 300)
    assert 2000 < len(class_rows.sampled(c.tally).y) <= 2048
    e = sm.macro_auroc(c.tally)
    assert 0 < e.high - e.low < 0.05


# outside packages


def test_kappa_is_that_of_statsmodels():
    for seed in range(5):
        t = drawn(seed, 80, 4).tally
        theirs = cohens_kappa(t.confusion.weight)
        assert sm.kappa(t).value == pytest.approx(theirs.kappa, rel=1e-12)


def test_accuracy_has_the_interval_of_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    t = drawn(6, 90, 4).tally
    right = int(t.confusion.weight.trace())
    e = sm.accuracy(t)
    assert (e.low, e.high) == pytest.approx(proportion_confint(right, 90, method="wilson"))


def test_losses_have_the_interval_of_a_mean_where_one_class_occurs():
    """Then there is nothing between classes, and Student's interval on the log scale is left."""
    p = np.random.default_rng(0).dirichlet([3, 1, 1], 40)
    e = sm.log_loss(ClassTally.of(np.zeros(40, int), p))
    loss = -np.log(p[:, 0])
    reach = t_quantile(0.95, 39) * loss.std(ddof=1) / 40**0.5 / loss.mean()
    ends = loss.mean() * np.exp([-reach, reach])
    assert (e.value, e.low, e.high) == pytest.approx((loss.mean(), *ends), rel=1e-9)


# the ends


def test_the_mean_of_one_share_is_wilson():
    got = mean_share(np.array([0.7]), np.array([10.0]), 0.95)
    assert got == pytest.approx(wilson(7, 3, 7, 3, 0.95))


def test_perfect_order_and_decisions_keep_an_interval():
    y = np.repeat([0, 1, 2], 10)
    t = ClassTally.of(y, np.eye(3)[y])
    for name in ("accuracy", "balanced_accuracy", "macro_precision", "macro_f1", "weighted_f1"):
        e = getattr(sm, name)(t)
        assert (e.value, e.high) == (1.0, 1.0)
        assert e.low == pytest.approx(wilson(30, 0, 30, 0, 0.95).low, abs=0.03)
    for name in ("kappa", "mcc"):
        e = getattr(sm, name)(t)
        assert e.value == e.high == 1.0
        assert 0.6 < e.low < 0.99
    e = sm.macro_auroc(t)
    assert e.method == "Newcombe, 3 classes"
    assert (e.low, e.high) == newcombe_limits(1.0, 15, 15, 0.95)

"""Coefficients of agreement against irrCAC, krippendorff, statsmodels, scikit-learn and the literature."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score

import scorewise as sw
from beside import agreement, beside
from rater_cases import RaterCase, rater_case
from rater_oracles import best_table, irrcac_estimate, table
from scorewise import BadInput, Ratings
from scorewise.inference.agreement import COEFFICIENTS, coefficient
from scorewise.inference.agreement_intervals import replicates_of
from scorewise.inference.agreement_weights import BY_SCALE, NAMES, Disagreement, disagreement_of
from scorewise.registry import RATER_MEASURES

m = sw.measures
EXACT = {"rel": 1e-9, "abs": 1e-11}
IRRCAC = {
    "fleiss_kappa": "fleiss",
    "gwet_ac": "gwet",
    "conger_kappa": "conger",
    "brennan_prediger": "bp",
    "krippendorff_alpha": "krippendorff",
}
KAPPA = np.array([[20, 5], [10, 15]])


def random_tables():
    """50 tables with missing ratings, of 2 to 6 raters and 2 to 6 categories."""
    for seed in range(0, 200, 4):
        yield rater_case(
            seed, 8 + seed % 40, 2 + seed % 5, 2 + seed // 5 % 5, (0.0, 0.1, 0.3)[seed % 3]
        )


def spread_weights(q, power):
    k = np.arange(q)
    return 1 - (np.abs(k[:, None] - k) / (q - 1)) ** power


# against other packages


def test_many_tables_against_irrcac():
    """Value, agreement, standard error and interval, with every kind of weights in turn.

    Its p-values are of the error at the value, and its intervals may leave out a 0 that chance allows.
    """
    for seed, case in enumerate(random_tables()):
        weights = NAMES[seed % 8] if seed % 3 else "identity"
        for name, theirs in IRRCAC.items():
            e = irrcac_estimate(case, theirs, weights)
            c = coefficient(case.ratings, name, weights)
            found = (c.value, c.se, c.observed, c.expected)
            wanted = [e[k] for k in ("coefficient_value", "se", "pa", "pe")]
            assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10), (seed, name, weights)
            ours = RATER_MEASURES[name](case.ratings, weights=weights, interval="published")
            low, high = e["confidence_interval"]
            if ours.p is not None and ours.p > 0.05:
                reach = norm.ppf(0.975) * c.null
                low, high = min(low, c.value - reach), min(max(high, c.value + reach), 1.0)
            assert (ours.low, ours.high) == pytest.approx((max(low, -1.0), high), **EXACT)
            assert (ours.p is None) == (name in ("gwet_ac", "brennan_prediger"))


TESTED = ("scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa", "krippendorff_alpha")


@pytest.mark.parametrize("raters", [2, 4])
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_the_null_error_is_that_of_shuffled_ratings(raters, scale):
    """Each rater's ratings dealt out to other items, again and again."""
    rng = np.random.default_rng(3)
    x = rng.choice([1.0, 2.0, 5.0], (80, raters), p=[0.6, 0.3, 0.1])
    names = TESTED[:1] if raters == 2 else TESTED[1:]

    def judged(table):
        r = Ratings.of({f"r{k}": table[:, k] for k in range(raters)}, scale=scale)
        return [coefficient(r, name) for name in names]

    drawn = [[c.value for c in judged(rng.permuted(x, axis=0))] for _ in range(500)]
    for name, c, spread in zip(names, judged(x), np.std(drawn, axis=0), strict=True):
        assert c.null == pytest.approx(spread, rel=0.1), name  # three standard errors


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_independent_raters_are_hardly_ever_said_to_agree(missing):
    """Also where one category is rare, and where ratings are missing; and 0 is in the intervals."""
    rng = np.random.default_rng(4)
    found = {name: [] for name in (*TESTED[1:],)}
    for _ in range(300):
        x = np.where(rng.random((100, 3)) < 0.93, 0.0, 1.0)
        x[rng.random(x.shape) < missing] = np.nan
        r = Ratings.of({f"r{k}": x[:, k] for k in range(3)}, categories=[0, 1])
        for name in found:
            e = RATER_MEASURES[name](r)
            found[name].append((e.p < 0.05, e.low <= 0 <= e.high))
    for name, each in found.items():
        rejected, covered = np.mean(each, axis=0)
        assert rejected < 0.09, name
        assert covered > 0.93, name


def test_intervals_of_little_agreement_on_a_rare_category_hold():
    """Where the error at the value says too little: kappa is 0.09, and 5 % of ratings are of the other."""
    rng = np.random.default_rng(5)
    held = {name: [] for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha")}
    for _ in range(300):
        truth = rng.random((100, 1)) < 0.95
        x = np.where(rng.random((100, 2)) < 0.3, truth, rng.random((100, 2)) < 0.95).astype(float)
        r = Ratings.of({"a": x[:, 0], "b": x[:, 1]}, categories=[0, 1])
        for name, each in held.items():
            e = RATER_MEASURES[name](r)
            each.append(not e.defined or e.low <= 0.09 <= e.high)
    assert min(map(np.mean, held.values())) > 0.9


def test_full_agreement_is_evidence():
    r = Ratings.of_table([[20, 0], [0, 20]])
    for name in (*TESTED, "cohen_kappa"):
        assert RATER_MEASURES[name](r).p < 1e-6


def test_zero_is_zero_whatever_rounding_does():
    r = Ratings.of({"a": ["y"] * 10, "b": ["y"] * 9 + ["n"]})
    for name in ("cohen_kappa", "conger_kappa", "light_kappa", "kappa_max"):
        e = RATER_MEASURES[name](r)
        assert e.value == 0.0, name
        assert not e.low < -1


def test_own_weights_may_lead_below_minus_one():
    """By hand: agreement 0.9, by chance 0.99."""
    r = Ratings.of_table([[0, 5, 0], [0, 0, 0], [0, 0, 45]])
    own = [[1, 0, 1], [0, 1, 1], [1, 1, 1]]
    assert m.cohen_kappa(r, weights=own).value == pytest.approx((0.9 - 0.99) / 0.01)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_many_tables_against_krippendorff(metric):
    krippendorff = pytest.importorskip("krippendorff")
    for case in random_tables():
        expected = krippendorff.alpha(case.x.T, level_of_measurement=metric)
        r = replace(case, scale=metric).ratings
        assert m.krippendorff_alpha(r).value == pytest.approx(expected, **EXACT)
        assert m.krippendorff_alpha(case.ratings, metric=metric).value == pytest.approx(
            expected, **EXACT
        )


@pytest.mark.parametrize(
    ("weights", "power"), [("identity", None), ("linear", 1), ("quadratic", 2)]
)
def test_cohen_against_statsmodels_and_sklearn(weights, power):
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    for seed in range(60):
        case = rater_case(seed, 20 + seed, 2, 2 + seed % 5, 0.1)
        q = case.many
        wt = None if power is None else (1 - spread_weights(q, power))
        theirs = rater.cohens_kappa(table(case), weights=wt)
        c = coefficient(case.ratings, "cohen_kappa", weights)
        assert c.value == pytest.approx(theirs.kappa, **EXACT)
        assert c.se == pytest.approx(theirs.std_kappa, **EXACT)
        assert c.null == pytest.approx(math.sqrt(theirs.var_kappa0), **EXACT)
        e = m.cohen_kappa(case.ratings, weights=weights, interval="published")
        assert e.p == pytest.approx(theirs.pvalue_two_sided, rel=1e-7, abs=1e-12)
        reach = norm.ppf(0.975) * c.null if e.p > 0.05 else 0.0
        assert e.high == pytest.approx(min(max(theirs.kappa_upp, c.value + reach), 1), rel=1e-9)
        labels = list(range(1, q + 1))
        expected = cohen_kappa_score(
            *case.both.T, labels=labels, weights=None if power is None else weights
        )
        assert c.value == pytest.approx(expected, **EXACT)
        own = spread_weights(q, power) if power else np.eye(q)
        assert m.cohen_kappa(case.ratings, weights=own).value == pytest.approx(expected, **EXACT)


def test_fleiss_against_statsmodels():
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    for seed in range(20):
        case = rater_case(seed, 30, 4, 3, 0.0)
        counts, _ = rater.aggregate_raters(case.x.astype(int))
        assert m.fleiss_kappa(case.ratings).value == pytest.approx(
            rater.fleiss_kappa(counts), **EXACT
        )
        by_count = Ratings.of_counts({str(k): counts[:, k] for k in range(3)})
        assert m.fleiss_kappa(by_count).value == pytest.approx(rater.fleiss_kappa(counts), **EXACT)


def test_two_raters_against_tables_of_irrcac():
    tables = pytest.importorskip("irrCAC.table")
    pd = pytest.importorskip("pandas")
    for seed in range(20):
        case = rater_case(seed, 40, 2, 3, 0.0)
        e = tables.CAC(pd.DataFrame(table(case)), digits=14).scott()["est"]
        c = coefficient(case.ratings, "scott_pi")
        assert (c.value, c.se) == pytest.approx((e["coefficient_value"], e["se"]), **EXACT)
        ours = m.scott_pi(case.ratings, interval="published")
        assert ours.low == pytest.approx(e["confidence_interval"][0], **EXACT)


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_maximum_kappa_against_linear_programming(weights, power):
    for seed in range(20):
        case = rater_case(seed, 40, 2, 4, 0.1)
        expected = best_table(case, 1 - spread_weights(4, power))
        assert m.kappa_max(case.ratings, weights=weights).value == pytest.approx(expected, abs=1e-9)


# against published values


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ((20, 5, 10, 15), (0.4, 0.126996, 0.138564, 0.8, 0.4, 0.393939, 0.405941)),
        ((25, 10, 15, 20), (0.285714, 0.113366, 0.118297, 0.857143, 0.285714, 0.282051, 0.289340)),
    ],
    ids=str,
)
def test_two_by_two(table, row):
    r = Ratings.of_table(np.reshape(table, (2, 2)))
    c = coefficient(r, "cohen_kappa")
    others = [f(r).value for f in (m.kappa_max, m.brennan_prediger, m.scott_pi, m.gwet_ac)]
    assert (c.value, c.se, c.null, *others) == pytest.approx(row, abs=1e-6)


def reference():
    return json.loads(beside("vectors/reference.json").read_text())


def columns(name, *wanted):
    frame = pl.read_csv(agreement(name))
    return {c: frame[c] for c in wanted or frame.columns[1:]}


def test_reference_kappas():
    rows = reference()["kappa 2x2 (a,b,c,d)"]
    for key, row in rows.items():
        r = Ratings.of_table(np.reshape([int(x) for x in key.split("/")], (2, 2)))
        e, c = m.cohen_kappa(r, interval="published"), coefficient(r, "cohen_kappa")
        if isinstance(row, float):
            assert c.value == pytest.approx(row, **EXACT)
            continue
        assert (c.se, c.null, c.value / c.null) == pytest.approx(
            (row["ase"], row["ase0"], row["z"]), **EXACT
        )
        assert e.p == pytest.approx(2 * norm.sf(row["z"]), **EXACT)
        assert [e.low, e.high] == pytest.approx(row["ci"], **EXACT)
        others = {
            "max": m.kappa_max,
            "pi": m.scott_pi,
            "ac1": m.gwet_ac,
            "alpha": m.krippendorff_alpha,
        }
        for name, f in others.items():
            assert f(r).value == pytest.approx(row[name], **EXACT), name
    weighted = reference()["kappa weighted [[0,4,1],[0,8,0],[0,1,5]]"]
    r = Ratings.of_table([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
    for name, value in weighted.items():
        weights = "identity" if name == "unweighted" else name
        assert m.cohen_kappa(r, weights=weights).value == pytest.approx(value, **EXACT)


def test_reference_fleiss_and_krippendorff():
    r = Ratings.of(columns("fleiss1971_diagnoses.csv", *(f"rater{k}" for k in range(1, 7))))
    row = reference()["fleiss1971 (data/agreement/fleiss1971_diagnoses.csv)"]
    c = coefficient(r, "fleiss_kappa")
    assert (c.value, c.se) == pytest.approx((row["kappa"], row["se_gwet"]), **EXACT)
    assert m.gwet_ac(r).value == pytest.approx(row["ac1"], **EXACT)
    assert m.light_kappa(r).value == pytest.approx(0.459412, abs=1e-6)
    rows = reference()["krippendorff (data/agreement/krippendorff_c_data.csv)"]
    for metric, value in rows.items():
        r = Ratings.of(columns("krippendorff_c_data.csv"), scale=metric)
        assert m.krippendorff_alpha(r).value == pytest.approx(value, **EXACT)


def test_published_values():
    # R counts the places of the categories that occur; nobody said 5
    two = columns("irr_anxiety.csv", "rater2", "rater3")
    anxiety = Ratings.of(two, scale="ordinal")
    for weights, value in (
        ("identity", -0.006289308),
        ("linear", 0.1459075),
        ("quadratic", 0.2520325),
    ):
        assert m.cohen_kappa(anxiety, weights=weights).value == pytest.approx(value, abs=1e-7)
    r = Ratings.of(columns("krippendorff_c_data.csv"))
    five = {
        "gwet_ac": 0.77544,
        "fleiss_kappa": 0.76117,
        "conger_kappa": 0.76282,
        "brennan_prediger": 0.77273,
        "krippendorff_alpha": 0.74342,
    }
    for name, value in five.items():
        assert coefficient(r, name).value == pytest.approx(value, abs=5e-6)
    judges = columns("pandalm_human_llm_judges.csv", "annotator1", "annotator2", "annotator3")
    people = Ratings.of(judges)
    for pair, value in (((0, 1), 0.852023), ((0, 2), 0.878944), ((1, 2), 0.861661)):
        assert m.cohen_kappa(people.only(pair)).value == pytest.approx(value, abs=1e-6)
    fun = columns("vcd_sexualfun.csv", "Husband", "Wife", "Freq")
    order = ["Never Fun", "Fairly Often", "Very Often", "Always fun"]
    words = sorted(set(fun["Husband"]), key=lambda w: [o.lower() for o in order].index(w.lower()))
    pair = {k: fun[k] for k in ("Husband", "Wife")}
    r = Ratings.of(pair, count=fun["Freq"], categories=words, scale="ordinal")
    assert m.cohen_kappa(r, weights="identity").value == pytest.approx(0.1293, abs=5e-5)
    assert m.cohen_kappa(r).value == pytest.approx(0.2374, abs=5e-5)


# weights


def test_weights_of_the_scale():
    for scale, weights in BY_SCALE.items():
        case = replace(rater_case(1, 30, 3, 4), scale=scale)
        assert (
            m.fleiss_kappa(case.ratings).value
            == m.fleiss_kappa(case.ratings, weights=weights).value
        )
        assert ("weights" in m.fleiss_kappa(case.ratings).method) == (weights != "identity")
    assert "AC1" in m.gwet_ac(rater_case(1, 30, 3, 4).ratings).method
    assert "AC2" in m.gwet_ac(rater_case(1, 30, 3, 4, scale="ordinal").ratings).method


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_closed_forms_equal_sums_over_all_pairs(weights):
    case = rater_case(2, 50, 5, 6, scale="interval")
    r = case.ratings
    closed = disagreement_of(r, weights)
    power = {"identity": 0, "linear": 1, "quadratic": 2}[weights]
    v = r.values / 5
    loop = Disagreement(lambda k, j: (k != j) * np.abs(v[k] - v[j]) ** power, 6)
    said = r.counted
    ratings = [[c for c in codes if c >= 0] for codes in r.codes.tolist()]
    each = [
        sum(float(loop.between(c, other)) for other in ratings[at])
        for at, c in zip(said.at, said.code, strict=True)
    ]
    for kernel in (closed, loop):
        np.testing.assert_allclose(kernel.within(said), each, atol=1e-12)
    p, q = np.random.default_rng(0).dirichlet(np.ones(6), 2)
    np.testing.assert_allclose(
        closed.spread(np.array([p, q])), loop.spread(np.array([p, q])), atol=1e-12
    )
    assert closed.squares(p, q) == pytest.approx(loop.squares(p, q), rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "weights is 'cubic'; it is one of identity, linear"),
        (np.eye(3), r"has shape \(3, 3\), and there are 2 categories"),
        ([[1, 0.5], [0.4, 1]], "weight of 0 and 1 is 0.5; weights are the same in both directions"),
        ([[1, 2], [2, 1]], "weight of 0 and 1 is 2; weights lie between 0 and 1"),
        ([[0.9, 0], [0, 1]], "weight of 0 and 0 is 0.9; a category fully agrees with itself"),
        ([[1, math.nan], [0, 1]], "weights lie between 0 and 1"),
        ([["a", "b"], ["c", "d"]], "not a table of numbers"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(BadInput, match=message):
        m.cohen_kappa(Ratings.of_table(KAPPA), weights=weights)


def test_bad_options():
    r = Ratings.of_table(KAPPA)
    for options, message in (
        ({"interval": "exact"}, "interval"),
        (
            {"interval": "bootstrap", "replicates": 3},
            "replicates must be an integer from 20 up, such as 1000; got 3",
        ),
        ({"level": 2}, "level must lie between 0 and 1, such as 0.95; got 2"),
    ):
        with pytest.raises(BadInput, match=message):
            m.fleiss_kappa(r, **options)
    with pytest.raises(BadInput, match="metric is 'ratio' and there are weights"):
        m.krippendorff_alpha(r, metric="ratio", weights="linear")
    with pytest.raises(BadInput, match="metric"):
        m.krippendorff_alpha(r, metric="circular")
    with pytest.raises(BadInput, match="no coefficient is named kappa"):
        coefficient(r, "kappa")


# undefined, and the ends


def test_reasons():
    nan = math.nan
    for x, name, why in (
        ([[1, 1], [1, 1]], "cohen_kappa", "all ratings are 1"),
        ([[1, 1], [1, 1]], "fleiss_kappa", "all ratings are 1"),
        ([[1, 2]], "krippendorff_alpha", "one item"),
        ([[1, nan], [nan, 2]], "fleiss_kappa", "no item has two ratings"),
        ([[1, nan], [2, nan]], "fleiss_kappa", "one rater"),
        ([[1, 2, 1], [2, 2, 1]], "cohen_kappa", "3 raters; this needs two"),
        (
            [[1, 2, nan], [2, 2, nan]],
            "light_kappa",
            "rater0 and rater2 rated fewer than two items both",
        ),
    ):
        assert coefficient(RaterCase(np.array(x, float), 2).ratings, name).why == why
    counts = Ratings.of_counts({"a": [2, 1, 0], "b": [1, 2, 3]})
    for name in ("cohen_kappa", "scott_pi", "conger_kappa", "light_kappa"):
        assert coefficient(counts, name).why == "it is not known which rater gave which rating"
    assert not coefficient(counts, "fleiss_kappa").why
    x = np.arange(1.0, 40_001).reshape(-1, 2)
    many = Ratings.of({"a": x[:, 0], "b": x[:, 1]}, scale="interval")
    assert (
        "40,000 categories are too many for radical weights"
        in m.fleiss_kappa(many, weights="radical").why
    )
    assert m.krippendorff_alpha(many).defined


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS)))
def test_full_agreement_is_not_certain(name):
    r = Ratings.of_table([[6, 0], [0, 4]])
    e = RATER_MEASURES[name](r)
    assert e.value == 1
    assert 0 < e.low < 0.9
    assert e.high == 1
    again = RATER_MEASURES[name](r, interval="bootstrap")
    assert (again.low, again.high) == (e.low, e.high)


def test_a_rater_who_said_nothing_does_not_count():
    case = rater_case(5, 30, 3, 3)
    wider = replace(case, x=np.c_[case.x, np.full(len(case), np.nan)])
    for name in ("fleiss_kappa", "conger_kappa", "gwet_ac", "krippendorff_alpha"):
        a, b = coefficient(case.ratings, name), coefficient(wider.ratings, name)
        assert (a.value, a.se) == pytest.approx((b.value, b.se), rel=1e-12)


# standard errors


def numeric_slope(r, name, weights, step=1e-5):
    """The derivative of the value in the weight of each pattern."""
    found = []
    for k in range(len(r.codes)):
        ends = []
        for sign in (1, -1):
            w = r.weight.astype(float)
            w[k] += sign * step
            ends.append(coefficient(replace(r, weight=w), name, weights).value)
        found.append((ends[0] - ends[1]) / step / 2)
    return np.array(found)


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - {"krippendorff_alpha"}))
@pytest.mark.parametrize("weights", ["identity", "linear", "ratio"])
def test_slopes_are_derivatives(name, weights):
    r = rater_case(4, 25, 2, 4, 0.0).ratings
    np.testing.assert_allclose(
        coefficient(r, name, weights).influence, numeric_slope(r, name, weights), atol=1e-8
    )


@pytest.mark.parametrize("metric", ["identity", "midranks", "quadratic", "ratio"])
def test_slopes_of_alpha_are_derivatives_in_large_samples(metric):
    """Gwet leaves out what an item does to the correction for few ratings."""
    r = replace(rater_case(4, 25, 3, 5, 0.1), count=None).ratings
    r = replace(r, weight=r.weight * 10_000, weight2=r.weight2 * 10_000)
    ours = coefficient(r, "krippendorff_alpha", metric).influence
    theirs = numeric_slope(r, "krippendorff_alpha", metric, 1.0)
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.abs(ours).max())


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_replicates_spread_as_the_standard_error_says(name):
    raters = 2 if name in ("cohen_kappa", "scott_pi") else 4
    r = rater_case(6, 400, raters, 4, 0.0).ratings
    c = coefficient(r, name)
    drawn = replicates_of(r, name, replicates=2000)
    assert drawn.std() == pytest.approx(c.se, rel=0.08)
    assert drawn.mean() == pytest.approx(c.value, abs=c.se / 4)


def test_replicates_of_heavy_patterns():
    """Cubes of normal numbers in place of gamma ones."""
    r = Ratings.of_table(KAPPA * 1000)
    drawn = replicates_of(r, "cohen_kappa", replicates=4000)
    assert drawn.std() == pytest.approx(coefficient(r, "cohen_kappa").se, rel=0.05)


def test_many_categories_need_no_table_of_pairs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 3))
    r = Ratings.of({str(k): x[:, k] for k in range(3)}, scale="interval")
    krippendorff = pytest.importorskip("krippendorff")
    few = Ratings.of({str(k): x[:60, k] for k in range(3)}, scale="interval")
    expected = krippendorff.alpha(x[:60].T, level_of_measurement="interval")
    assert m.krippendorff_alpha(few).value == pytest.approx(expected, **EXACT)
    e = m.krippendorff_alpha(r)
    assert e.value == pytest.approx(0.5, abs=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert m.krippendorff_alpha(r, metric="ordinal").value == pytest.approx(0.483, abs=0.02)


def test_rounding_of_weights_is_no_agreement():
    ratings = {
        "a": [1, 1, None, 1, 1, 1],
        "b": [2, None, None, None, 2, None],
    }  # they always differ
    weight = np.array([1, 1, 1, 2, 1, 0.1])
    first, *others = (
        sw.agree(ratings, scale="nominal", weight=weight * unit).gwet_ac
        for unit in (1.0, 0.1, 3.0, 10.0)
    )
    for e in others:
        assert (e.value, e.low, e.high) == pytest.approx((first.value, first.low, first.high))

"""Where raters agree and differ, against loops over items, sklearn, statsmodels and published tables."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score
from statsmodels.stats.proportion import proportion_confint

from scorewise import BadInput, Ratings
from scorewise.agreeing.baseline import baseline, margin_error
from scorewise.agreeing.categories import specific_agreement
from scorewise.agreeing.disagreement import differing, disputed
from scorewise.agreeing.pairs import pairs
from scorewise.agreeing.paradox import paradox
from scorewise.door.place import Place
from scorewise.door.ratings import take_counts, take_ratings, take_table
from scorewise.intervals.ratios import share_over_items


def random_rows(rng, missing=0.2, scale="nominal", raters=None):
    n, k, q = int(rng.integers(5, 25)), raters or int(rng.integers(2, 6)), int(rng.integers(2, 5))
    truth = rng.integers(0, q, (n, 1))
    x = np.where(rng.random((n, k)) < 0.6, truth, rng.integers(0, q, (n, k))).astype(float)
    x[rng.random((n, k)) < missing] = np.nan
    return take_ratings({f"r{j}": x[:, j] for j in range(k)}, scale=scale)


def tables(number, **more):
    rng = np.random.default_rng(0)
    for _ in range(number):
        yield random_rows(rng, **more)


def distance(rows):
    """The disagreement of two codes, by the definition of each scale."""
    v = rows.values
    wide = (v.max() - v.min()) or 1.0
    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: abs(v[a] - v[b]) / wide,
        "interval": lambda a, b: (v[a] - v[b]) ** 2 / wide**2,
    }[rows.scale]


scales = pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])


# categories


def test_specific_agreement_is_a_loop_over_pairs():
    for rows in tables(30):
        found = specific_agreement(Ratings.of_rows(rows))
        assert [row.category for row in found] == list(rows.categories)
        for c, row in enumerate(found):
            same = both = said = 0
            for codes in rows.codes:
                given = [x for x in codes if x >= 0]
                said += given.count(c)
                for i, j in itertools.permutations(range(len(given)), 2):
                    both += given[i] == c
                    same += given[i] == c and given[j] == c
            assert row.share == pytest.approx(said / (rows.codes >= 0).sum())
            if both:
                assert row.agreement.value == pytest.approx(same / both)
                assert row.agreement.low <= row.agreement.value <= row.agreement.high
            else:
                assert row.agreement.why


def test_specific_agreement_of_two_is_the_f1_score():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, (2, 60))
    found = specific_agreement(Ratings.of({"a": a, "b": b}))
    expected = f1_score(a, b, average=None)
    np.testing.assert_allclose([row.agreement.value for row in found], expected)


def test_specific_agreement_covers():
    rng = np.random.default_rng(2)
    shares = np.array([0.6, 0.1, 0.08, 0.22])
    truth = 2 * 0.22 / (2 * 0.22 + 0.18)
    held = []
    for table in rng.multinomial(60, shares, 600).reshape(-1, 2, 2):
        e = specific_agreement(Ratings.of_table(table))[1].agreement
        held.append(e.low <= truth <= e.high)
    assert 0.925 < np.mean(held) < 0.985


def test_categories_that_were_not_said_twice():
    r = Ratings.of({"a": ["x", "y"], "b": ["x", None]}, categories=["x", "y", "z"])
    whys = [row.agreement.why for row in specific_agreement(r)]
    assert whys == ["", "no item that it was said of has a second rating", "nobody said it"]
    assert specific_agreement(Ratings.of_counts({"x": [2, 0], "y": [0, 2]}))[0].agreement.value == 1


def test_thousands_of_categories_take_no_table():
    rng = np.random.default_rng(3)
    a = rng.normal(size=5_000)
    b = np.where(rng.random(len(a)) < 0.5, a, rng.normal(size=len(a)))
    found = specific_agreement(Ratings.of({"a": a, "b": b}, scale="interval"))
    assert len(found) > 5_000


def test_a_plain_share_has_wilsons_interval():
    for hits, n in ((0, 5), (3, 7), (40, 40)):
        hit = np.arange(n) < hits
        e = share_over_items(hit, np.ones(n), np.ones(n), np.ones(n), level=0.9)
        low, high = proportion_confint(hits, n, alpha=0.1, method="wilson")
        assert (e.low, e.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high))


# pairs


@scales
def test_pairs_are_loops(scale):
    for rows in tables(10, scale=scale):
        r, apart = Ratings.of_rows(rows), distance(rows)
        found = pairs(r)
        shared = 0
        for first, second in itertools.combinations(range(rows.codes.shape[1]), 2):
            two = [(a, b) for a, b in rows.codes[:, [first, second]] if a >= 0 and b >= 0]
            shared += bool(two)
            (row,) = [p for p in found.rows if (p.first, p.second) == (f"r{first}", f"r{second}")]
            gaps = [apart(a, b) for a, b in two]
            assert row.items == len(two)
            assert row.agreement.value == pytest.approx(1 - np.mean(gaps))
            labels = range(len(rows.categories))
            np.testing.assert_array_equal(
                row.table.weight, confusion_matrix(*zip(*two, strict=True), labels=labels)
            )
        assert found.number == shared
        values = [round(p.agreement.value, 9) for p in found.rows]
        assert values == sorted(values)


def test_pairs_have_cohens_kappa():
    names = {"nominal": None, "ordinal": "linear", "interval": "quadratic"}
    for scale, weights in names.items():
        for rows in tables(5, scale=scale, missing=0.0, raters=3):
            for p in pairs(Ratings.of_rows(rows)).rows:
                a, b = (rows.codes[:, int(x[1:])] for x in (p.first, p.second))
                labels = range(len(rows.categories))
                theirs = cohen_kappa_score(a, b, weights=weights, labels=labels)
                assert p.kappa.value == pytest.approx(theirs)


def test_pairs_shown_are_those_of_most_disagreement():
    rng = np.random.default_rng(4)
    r = Ratings.of({f"r{j}": rng.integers(0, 3, 30) for j in range(12)})
    assert [p.agreement for p in pairs(r, most=5).rows] == [p.agreement for p in pairs(r).rows[:5]]
    assert len(pairs(r).rows) == 45
    assert pairs(r).number == 66


def test_pairs_that_cannot_be_told():
    assert "not known which rater" in pairs(Ratings.of_counts({"x": [1], "y": [1]})).why
    many = Ratings.of({f"r{j}": [0, 1] for j in range(2049)})
    assert pairs(many).why == "2,049 raters are too many to look at each two; 2,048 are taken"
    apart = Ratings.of({"a": [1, None], "b": [None, 2]})
    assert pairs(apart) == ([], 0, "")


# items


@scales
def test_disputed_items_are_loops(scale):
    for rows in tables(15, scale=scale):
        apart = distance(rows)
        gaps = []
        for codes in rows.codes:
            two = list(itertools.combinations([c for c in codes if c >= 0], 2))
            gaps.append(np.mean([apart(a, b) for a, b in two]) if two else 0.0)
        order = sorted(range(len(gaps)), key=lambda i: (-round(gaps[i], 9), i))
        expected = [i for i in order if gaps[i] > 0][:4]
        found = disputed(rows, Ratings.of_rows(rows), top=4)
        assert [item.row for item in found] == expected
        assert [item.disagreement for item in found] == pytest.approx([gaps[i] for i in expected])


def test_disputed_items_are_named():
    columns = {"a": ["x", "y", None], "b": ["y", "y", "x"], "c": ["y", "y", "y"]}
    place = Place(files=(("one.csv", 2), ("two.csv", 1)))
    rows = take_ratings(columns, items=["p", "q", "s"], place=place)
    first, second = disputed(rows, Ratings.of_rows(rows))
    assert (first.row, first.file, first.id, first.said) == (1, "two.csv", "s", (None, "x", "y"))
    assert (second.row, second.file, second.id) == (1, "one.csv", "p")
    assert second.counts == {"y": 2, "x": 1}


def test_items_of_unknown_raters_and_of_tables():
    rows = take_counts({"x": [3, 1], "y": [0, 2]})
    (item,) = disputed(rows, Ratings.of_rows(rows))
    assert (item.row, item.said, item.counts) == (1, ("x", "y", "y"), {"y": 2, "x": 1})
    table = take_table([[5, 0], [2, 5]])
    (item,) = disputed(table, Ratings.of_rows(table))
    assert item.said == ("1", "0")  # the empty cell is no item
    with pytest.raises(BadInput, match="top=-1 is no number of items"):
        disputed(table, Ratings.of_rows(table), top=-1)


# raters


@scales
def test_differing_raters_are_loops(scale):
    for rows in tables(15, scale=scale):
        apart = distance(rows)
        found = {row.rater: row for row in differing(Ratings.of_rows(rows))}
        for k in range(rows.codes.shape[1]):
            close, right = [], []
            for codes in rows.codes:
                others = [c for j, c in enumerate(codes) if j != k and c >= 0]
                if codes[k] < 0 or not others:
                    continue
                close.append(np.mean([1 - apart(codes[k], c) for c in others]))
                counts = np.bincount(others, minlength=len(rows.categories))
                if (counts == counts.max()).sum() == 1:
                    right.append(counts.argmax() == codes[k])
            row = found[f"r{k}"]
            assert row.items == (rows.codes[:, k] >= 0).sum()
            assert row.others.value == pytest.approx(np.mean(close))
            assert row.majority.value == pytest.approx(np.mean(right))


def test_the_rater_who_differs_most_is_first():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 200)
    columns = {n: np.where(rng.random(200) < 0.8, truth, 0) for n in ("ann", "bob", "cay")}
    found = differing(Ratings.of(columns | {"zed": rng.integers(0, 3, 200)}))
    assert found[0].rater == "zed"
    assert found[0].others.high < found[1].others.low
    assert differing(Ratings.of_counts({"x": [2, 1], "y": [0, 1]})) == []


def test_raters_who_are_alone_say_so():
    found = differing(Ratings.of({"a": [1, 2, None], "b": [1, 1, None], "c": [None, None, 2]}))
    assert found[-1].rater == "c"
    assert found[-1].others.why == "no item that they rated has another rating"
    split = differing(Ratings.of({"a": [1], "b": [2], "c": [3]}))
    assert {row.majority.why for row in split} == {
        "the others have no majority on any item that they rated"
    }


def test_many_raters_of_few_items_each():
    rng = np.random.default_rng(6)
    item = np.arange(600).repeat(3)
    rater = [f"w{j}" for i in range(600) for j in rng.choice(1500, 3, replace=False)]
    r = Ratings.of_long(item, rater, rng.integers(0, 3, 1800))
    assert len(differing(r)) == len(r.raters)
    found = pairs(r)
    assert len(found.rows) == 45
    assert found.number <= 1800


def test_counts_are_repetitions_and_weights_have_no_unit():
    rng = np.random.default_rng(7)
    x, times = rng.integers(0, 3, (3, 30)), rng.integers(1, 4, 30)
    columns = dict(zip("abc", x, strict=True))
    counted = Ratings.of(columns, count=times)
    repeated = Ratings.of({n: c.repeat(times) for n, c in columns.items()})
    scaled = [Ratings.of(columns, weight=c * times) for c in (1.0, 1e-100, 1e100)]
    for one, *others in ((repeated, counted), scaled):
        for other in others:
            for p, q in zip(specific_agreement(one), specific_agreement(other), strict=True):
                assert (p.agreement.low, p.share) == pytest.approx((q.agreement.low, q.share))
            for p, q in zip(differing(one), differing(other), strict=True):
                assert (p.rater, p.others.low) == (q.rater, pytest.approx(q.others.low))
            for p, q in zip(pairs(one).rows, pairs(other).rows, strict=True):
                assert (p.first, p.agreement.low) == (q.first, pytest.approx(q.agreement.low))


# baselines


def test_worked_example():
    b = baseline(Ratings.of_table([[25, 10], [15, 20]]))
    assert round(1 - b.error, 4) == 0.6429
    assert 1 - b.by_margins == pytest.approx(0.5)
    assert round(b.kappa, 4) == 0.2857
    assert b.by_permutation == pytest.approx(0.5, abs=0.01)


def test_cats_and_dogs():
    assert margin_error([10, 90], [20, 80]) == pytest.approx(0.26)
    for cats in (0, 2, 10):  # whatever the cells, the margins decide
        b = baseline(Ratings.of_table([[cats, 10 - cats], [20 - cats, 70 + cats]]))
        assert b.by_margins == pytest.approx(0.26)
        assert b.by_permutation == pytest.approx(0.26, abs=0.01)
    with pytest.raises(BadInput, match="margins are two lists"):
        margin_error([1, 2], [1, 2, 3])


@scales
def test_permutation_is_that_of_shuffled_ratings(scale):
    for rows in tables(3, scale=scale, missing=0.0, raters=2):
        apart, rng = distance(rows), np.random.default_rng(8)
        a, b = rows.codes.T
        table = np.array([[apart(i, j) for j in range(b.max() + 1)] for i in range(a.max() + 1)])
        shuffled = np.array([table[a, rng.permutation(b)].mean() for _ in range(4000)])
        found = baseline(Ratings.of_rows(rows), draws=4000)
        error = table[a, b].mean()
        assert found.error == pytest.approx(error)
        assert found.by_margins == pytest.approx(table[a][:, b].mean())
        assert found.by_permutation == pytest.approx(shuffled.mean(), abs=5 * shuffled.std() / 60)
        assert found.spread == pytest.approx(shuffled.std(), rel=0.08)
        as_good = np.mean(shuffled <= error + 1e-12)
        assert found.p == pytest.approx(as_good, abs=5 * math.sqrt(0.25 / 4000))


def test_permutation_of_many_categories_shuffles():
    rng = np.random.default_rng(9)
    a = rng.normal(size=300)
    r = Ratings.of({"a": a, "b": a + rng.normal(size=300)}, scale="interval")
    found = baseline(r, draws=500)
    assert found.by_permutation == pytest.approx(found.by_margins, rel=0.02)
    assert found.p == 1 / 501
    assert baseline(r, draws=500) == found


def test_permutation_p_is_fisher_exact():
    table = [[8, 2], [3, 7]]
    found = baseline(Ratings.of_table(table), draws=20_000)
    exact = stats.fisher_exact(table, alternative="greater").pvalue
    assert found.p == pytest.approx(exact, abs=0.006)


def test_own_weights_and_what_is_not_known():
    table, own = [[8, 2, 1], [3, 7, 2], [0, 4, 9]], [[1, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 1]]
    b = baseline(Ratings.of_table(table), weights=own, draws=10)
    assert b.error == pytest.approx((np.array(table) * (1 - np.array(own))).sum() / 36)
    weighed = baseline(Ratings.of({"a": [1, 2, 2], "b": [1, 2, 1]}, weight=[0.5, 1, 2]))
    assert weighed.why == "items have weights; random tables need counts"
    assert weighed.kappa == pytest.approx(1 - (2 / 3.5) / weighed.by_margins)
    assert math.isnan(weighed.kappa_permuted)
    constant = baseline(Ratings.of({"a": [1, 1], "b": [1, 1]}))
    assert (constant.error, constant.by_margins) == (0, 0)
    assert math.isnan(constant.kappa)
    for r, why in (
        (Ratings.of({"a": [1, 2], "b": [1, 2], "c": [1, 2]}), "there are 3 raters; this is of two"),
        (Ratings.of({"a": [1, None], "b": [None, 2]}), "no item is rated by both"),
        (Ratings.of_counts({"x": [1], "y": [1]}), "it is not known which rater said what"),
    ):
        assert baseline(r).why == why
    with pytest.raises(BadInput, match="draws=-1"):
        baseline(weighed_ratings(), draws=-1)


def weighed_ratings():
    return Ratings.of({"a": [1, 2, 2], "b": [1, 2, 1]})


def test_large_tables_are_fast_and_exact():
    r = Ratings.of_table(np.array([[400_000, 100_000], [200_000, 300_000]]))
    found = baseline(r, draws=200)
    assert found.by_permutation == pytest.approx(found.by_margins, abs=5e-4)
    # Mantel's variance of a cell: the other cells follow
    n, a, b = 1_000_000, 500_000, 600_000
    sd = 2 * math.sqrt(a * (n - a) * b * (n - b) / (n**2 * (n - 1))) / n
    assert found.spread == pytest.approx(sd, rel=0.2)


# paradoxes

FEINSTEIN = {  # table: agreement, kappa, prevalence, bias
    "balanced": ([[40, 9], [6, 45]], 0.85, 0.70, False, False),
    "prevalence": ([[80, 10], [5, 5]], 0.85, 0.32, True, False),
    "symmetric": ([[45, 15], [25, 15]], 0.60, 0.13, False, False),
    "bias": ([[25, 35], [5, 35]], 0.60, 0.26, False, True),
}


@pytest.mark.parametrize("name", FEINSTEIN)
def test_feinstein_and_cicchetti_1990(name):
    table, agree, kappa, prevalence, bias = FEINSTEIN[name]
    found = paradox(Ratings.of_table(table))
    assert found.estimates["percent_agreement"].value == pytest.approx(agree)
    assert round(found.estimates["cohen_kappa"].value, 2) == kappa
    assert (found.prevalence, found.bias) == (prevalence, bias)
    assert len(found.sentences) == prevalence + bias


def test_the_panel_has_the_indices():
    found = paradox(Ratings.of_table([[80, 10], [5, 5]]))
    assert found.estimates["prevalence_index"].value == pytest.approx(0.75)
    assert found.estimates["bias_index"].value == pytest.approx(0.05)
    assert found.shift == pytest.approx(0.05)
    assert found.estimates["brennan_prediger"].value == pytest.approx(0.7)  # 2 po - 1
    assert found.estimates["kappa_max"].value == pytest.approx((0.95 - 0.78) / 0.22)
    assert (found.commonest, found.share) == ("0", pytest.approx(0.875))
    assert '87.5 % of all ratings are "0"' in found.sentences[0]


def test_many_raters_and_constant_ratings():
    rng = np.random.default_rng(10)
    x = (rng.random((4, 200)) < 0.03).astype(int)
    found = paradox(Ratings.of(dict(zip("abcd", x, strict=True))))
    assert found.prevalence
    assert found.shift is None
    assert set(found.estimates) == {
        "percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger",
    }  # fmt: skip
    constant = paradox(Ratings.of({"a": [1, 1], "b": [1, 1]}))
    assert constant.sentences == []
    assert constant.estimates["cohen_kappa"].why
    nobody = paradox(Ratings.of({"a": [None], "b": [None]}))
    assert nobody.commonest is None
    assert nobody.sentences == []

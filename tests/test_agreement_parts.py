"""Where raters agree and differ, against loops over items, sklearn, statsmodels and published tables."""

import itertools

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score
from statsmodels.stats.proportion import proportion_confint

from agreement_cases import distance, scales, tables
from beside import agreement
from scorewise import BadInput, Ratings, measures
from scorewise.agreeing.disagreement import disputed, pairs, rater_agreement, specific_agreement
from scorewise.columns.ratings import rating_rows, table_ratings
from scorewise.inference.shares import share_of_items

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
        e = share_of_items(hit, np.ones(n), np.ones(n), np.ones(n), level=0.9)
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
                row.table, confusion_matrix(*zip(*two, strict=True), labels=labels)
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
    apart = Ratings.of({"a": [1, None], "b": [None, 2]})
    assert (pairs(apart).rows, pairs(apart).number, pairs(apart).why) == ([], 0, "")


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


def test_disputed_items_are_named(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("id,a,b,c\np,x,y,y\nq,y,y,y\n")
    two.write_text("id,a,b,c\ns,,x,y\n")
    rows = rating_rows([str(one), str(two)], raters=["a", "b", "c"], item="id")
    first, second = disputed(rows, Ratings.of_rows(rows))
    assert (first.row, first.file, first.id, first.said) == (1, "two.csv", "s", (None, "x", "y"))
    assert (second.row, second.file, second.id) == (1, "one.csv", "p")
    assert second.counts == {"y": 2, "x": 1}


def test_items_of_unknown_raters_and_of_tables():
    rows = rating_rows(counts={"x": [3, 1], "y": [0, 2]})
    (item,) = disputed(rows, Ratings.of_rows(rows))
    assert (item.row, item.said, item.counts) == (1, ("x", "y", "y"), {"y": 2, "x": 1})
    table = table_ratings([[5, 0], [2, 5]])
    (item,) = disputed(table, Ratings.of_rows(table))
    assert item.said == ("1", "0")  # the empty cell is no item
    with pytest.raises(BadInput, match="top must be an integer from 0 up, such as 10; got -1"):
        disputed(table, Ratings.of_rows(table), top=-1)


# raters


@scales
def test_differing_raters_are_loops(scale):
    for rows in tables(15, scale=scale):
        apart = distance(rows)
        found = {row.rater: row for row in rater_agreement(Ratings.of_rows(rows))}
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
    found = rater_agreement(Ratings.of(columns | {"zed": rng.integers(0, 3, 200)}))
    assert found[0].rater == "zed"
    assert found[0].others.high < found[1].others.low
    assert rater_agreement(Ratings.of_counts({"x": [2, 1], "y": [0, 1]})) == []


def test_raters_who_are_alone_say_so():
    found = rater_agreement(
        Ratings.of({"a": [1, 2, None], "b": [1, 1, None], "c": [None, None, 2]})
    )
    assert found[-1].rater == "c"
    assert found[-1].others.why == "no item that they rated has another rating"
    split = rater_agreement(Ratings.of({"a": [1], "b": [2], "c": [3]}))
    assert {row.majority.why for row in split} == {
        "the others have no majority on any item that they rated"
    }


def test_many_raters_of_few_items_each():
    rng = np.random.default_rng(6)
    item = np.arange(600).repeat(3)
    rater = [f"w{j}" for i in range(600) for j in rng.choice(1500, 3, replace=False)]
    r = Ratings.of_long(item, rater, rng.integers(0, 3, 1800))
    assert len(rater_agreement(r)) == len(r.raters)
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
            for p, q in zip(rater_agreement(one), rater_agreement(other), strict=True):
                assert (p.rater, p.others.low) == (q.rater, pytest.approx(q.others.low))
            for p, q in zip(pairs(one).rows, pairs(other).rows, strict=True):
                assert (p.first, p.agreement.low) == (q.first, pytest.approx(q.agreement.low))


# real ratings


def real(name):
    return pl.read_csv(agreement(f"{name}.csv"))


def test_kappas_of_pandalm_annotators():
    frame = real("pandalm_human_llm_judges")
    humans = {f"annotator{k}": frame[f"annotator{k}"] for k in (1, 2, 3)}
    found = {
        (p.first[-1], p.second[-1]): round(p.kappa.value, 2) for p in pairs(Ratings.of(humans)).rows
    }
    assert found == {("1", "2"): 0.85, ("1", "3"): 0.88, ("2", "3"): 0.86}
    judges = {name: frame[name] for name in ("gpt35", "pandalm7b")}
    order = [row.rater for row in rater_agreement(Ratings.of(humans | judges))]
    assert set(order[:2]) == set(judges)


def test_intraclass_correlation_of_anxiety_is_that_of_irr():
    """R: irr::icc(anxiety, model="twoway", type="agreement")."""
    frame = real("irr_anxiety")
    r = Ratings.of({c: frame[c] for c in frame.columns}, scale="interval")
    e = measures.icc_2_1(r)
    assert [round(x, 3) for x in (e.value, e.low, e.high)] == [0.198, -0.039, 0.494]

"""Raters with a decision and a score each: curves, distances, and who only seems to disagree."""

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorewise as sw
from scorewise import BadInput
from scorewise.curves.thresholds import Curve, distance
from scorewise.show.document import schema as document_schema
from strategies import cases

ANN = ["no", "yes", "yes", "no"], [0.60, 0.90, 0.80, 0.10]
BOB = ["yes", "yes", "no", "no"], [0.52, 0.85, 0.30, 0.15]


def test_the_film_that_both_find_middling():
    found = sw.raters({"ann": ANN, "bob": BOB}).agreement
    assert found.decisions == 0.5
    assert found.within == 0.75
    assert found.numbers == {"both": 2, "apparent": 1, "hidden": 0, "real": 1}
    (film,) = found.apparent
    assert (film.row, film.decisions, film.scores) == (0, (False, True), (0.60, 0.52))
    assert film.apart == pytest.approx(0.08)
    assert [r.row for r in found.real] == [2]
    assert found.agree.tolist() == [0, 1, 3]


@pytest.mark.parametrize(("a", "b"), [(0.6, 0.5), (0.7, 0.6), (0.3, 0.2), (1.0, 0.9)])
def test_the_tolerance_itself_agrees(a, b):
    found = sw.raters({"a": ([1, 0], [a, 0.0]), "b": ([0, 1], [b, 1.0])}, tolerance=0.1).agreement
    assert found.agree.tolist() == [0]


def points(t):
    """The curve of the worked example, row by row, from the definition."""
    m = np.average(t.score, weights=t.neg + t.pos)
    x, y = [0.0], [0.0]
    for s, neg, pos in zip(t.score[::-1], t.neg[::-1], t.pos[::-1], strict=True):
        climb = pos * s + neg * (1 - s) if s >= m - 1e-12 else pos * (1 - s) + neg * s
        x.append(x[-1] + neg + pos - climb)
        y.append(y[-1] + climb)
    return np.array(x) / x[-1], np.array(y) / y[-1]


def test_area_of_the_worked_example():
    said = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]
    first = sw.raters({"a": said, "b": said}).agreement.raters[0]
    assert first.area.value == pytest.approx(0.8433082841295402, rel=1e-12)


ends = st.lists(st.integers(0, 20), min_size=0, max_size=5).map(sorted)


@st.composite
def curves(draw):
    x, y = draw(ends), draw(ends)
    n = min(len(x), len(y))
    x, y = np.array([0, *x[:n], 20]) / 20, np.array([0, *y[:n], 20]) / 20
    return Curve(x, y, np.zeros(n + 2))


@given(curves(), curves())
def test_distance_is_the_integral(a, b):
    def height(points, x):
        i = np.searchsorted(points.x, x, side="right") - 1
        x0, x1, y0, y1 = points.x[i], points.x[i + 1], points.y[i], points.y[i + 1]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    found = distance(a, b)
    middles = (np.arange(20_000) + 0.5) / 20_000
    assert found == pytest.approx(np.abs(height(a, middles) - height(b, middles)).mean(), abs=1e-6)
    assert found == distance(b, a)
    assert distance(a, a) == 0


@given(
    cases(least=1, weighted=False, kind="probability"),
    cases(least=1, weighted=False, kind="probability"),
)
def test_kinds_of_agreement_by_a_loop(a, b):
    n = min(len(a), len(b))
    said = {"a": (a.y[:n], a.s[:n]), "b": (b.y[:n], b.s[:n])}
    found = sw.raters(said, tolerance=0.2, positive=True, top=99).agreement
    numbers = dict.fromkeys(("both", "apparent", "hidden", "real"), 0)
    for i in range(n):
        near = abs(float(a.s[i]) - float(b.s[i])) <= 0.2 + 1e-12
        same = a.y[i] == b.y[i]
        kind = ("both" if same else "apparent") if near else ("hidden" if same else "real")
        numbers[kind] += 1
    assert found.numbers == numbers
    assert (len(found.apparent), len(found.real)) == (numbers["apparent"], numbers["real"])
    assert found.pairs[0].same_decisions == pytest.approx(found.decisions)
    far = [round(r.apart, 12) for r in found.real]
    assert far == sorted(far, reverse=True)


def test_a_rater_who_always_says_yes_has_no_curve():
    found = sw.raters({"ann": ANN, "yea": (["yes"] * 4, [0.9, 0.8, 0.7, 0.6])}).agreement
    assert found.raters[1].area.why == "no negatives"
    assert found.pairs[0].distance.why == "'yea' has no curve: no negatives"
    assert found.decisions == 0.5


def test_words_mean_the_same_whoever_says_them():
    """One who only says "a" and one who only says "b" do disagree."""
    found = sw.raters({"x": (["a", "a"], [0.1, 0.2]), "y": (["b", "b"], [0.8, 0.9])}).agreement
    assert found.decisions == 0


def test_known_labels_give_the_curves():
    y = ["yes", "yes", "no", "no"]
    r = sw.raters({"ann": ANN, "bob": BOB}, y=y)
    own = sw.raters({"ann": ANN, "bob": BOB})
    t = sw.Tally.of(y, ANN[1])
    assert r.agreement.raters[0].curve.y == pytest.approx(points(t)[1])
    assert r.agreement.raters[0].area != own.agreement.raters[0].area
    assert r.agreement.numbers == own.agreement.numbers
    assert "known labels" in repr(r)


def test_missing_opinions_are_refused_or_dropped():
    ann = [None, *ANN[0]], [0.5, *ANN[1]]
    bob = ["no", *BOB[0]], [0.5, *BOB[1][:3], float("nan")]
    with pytest.raises(BadInput, match="score of bob is missing in 1 row, row 4, counting from 0"):
        sw.raters({"ann": (["no", *ann[0][1:]], ann[1]), "bob": bob})
    whole = ["no", *BOB[0]], [0.5, *BOB[1]]
    with pytest.raises(BadInput, match="decision of ann is missing in 1 row, row 0"):
        sw.raters({"ann": ann, "bob": whole})
    with pytest.warns(match="2 rows left out: 1 without decision of ann, 1 without score of bob"):
        r = sw.raters({"ann": ann, "bob": bob}, missing="drop", ids=list("vwxyz"))
    assert (r.rows, r.dropped) == (3, 2)
    assert [(i.row, i.id) for i in r.agreement.apparent] == [(1, "w")]
    assert [(i.row, i.id) for i in r.agreement.real] == [(3, "y")]


@pytest.mark.parametrize(
    ("said", "options", "sentence"),
    [
        ({"ann": ANN}, {}, "at least two raters by name"),
        ([ANN, BOB], {}, "at least two raters by name"),
        ({"ann": ANN, "bob": [0.1, 0.2, 0.3]}, {}, "rater 'bob' needs a pair of decisions and scores"),
        ({"ann": ANN, "bob": (["yes"], [0.2])}, {}, "ann has 4 rows and decision of bob has 1;"),
        ({"ann": ANN, "bob": (BOB[0], [0.2])}, {}, "score of bob has 1"),
        ({"ann": ANN, "bob": BOB}, {"tolerance": -0.1}, "tolerance must be 0 or a positive number"),
        ({"ann": ANN, "bob": BOB}, {"y": ["yes"]}, "decision of ann has 4 rows and label has 1;"),
        ({"ann": ANN, "bob": BOB}, {"y": ["yes", "no", "maybe", "no"]}, "has 3 distinct values"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input_is_told(said, options, sentence):
    with pytest.raises(BadInput) as caught:
        sw.raters(said, **options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_views_of_three_raters():
    r = sw.raters({"ann": ANN, "bob": BOB, "yea": (["yes"] * 4, [0.9, 0.8, 0.7, 0.6])})
    jsonschema.Draft202012Validator(document_schema("raters")).validate(r.to_dict())
    printed = repr(r)
    assert max(map(len, printed.splitlines())) <= 80
    assert "ann: no at 0.6; bob: yes at 0.52" in printed
    assert "'ann', 'bob'" in printed
    assert "**Rows on which they disagree**" in r.to_markdown()


def test_names_that_coincide_are_refused():
    y, s = [1, 0, 1], [0.9, 0.2, 0.6]
    with pytest.raises(sw.BadInput, match="two raters have the same name"):
        sw.raters({1: (y, s), "1": (y, s)})
    for call in (sw.inspect, sw.compare):
        with pytest.raises(sw.BadInput, match="two columns of scores have the same name"):
            call(y, {1: s, "1": s})


def test_columns_in_different_orders_are_refused():
    a, b = pd.Series([1, 0, 1], index=[0, 1, 2]), pd.Series([0.9, 0.2, 0.6], index=[2, 0, 1])
    with pytest.raises(sw.BadInput, match="same pandas index in different orders"):
        sw.raters({"ann": (a, b), "bob": ([1, 0, 1], [0.9, 0.2, 0.6])})


def test_raters_have_to_use_the_same_words():
    ann, bob = (["yes", "no"], [0.9, 0.1]), (["Y", "N"], [0.8, 0.2])
    with pytest.raises(sw.BadInput, match="'bob' never says 'yes'"):
        sw.raters({"ann": ann, "bob": bob}, positive="yes")


def test_tolerance_holds_for_32_bits():
    scores = [np.array([x], np.float32) for x in (0.6, 0.5)]
    found = sw.raters({"ann": ([1], scores[0]), "bob": ([1], scores[1])}, tolerance=0.1)
    assert found.agreement.within == 1


def test_models_of_32_bits_decide_in_their_precision():
    wide = [0.7, 0.2, 0.9, 0.7]
    models = {"wide": np.array(wide), "narrow": np.array(wide, np.float32)}
    assert sw.inspect([1, 0, 1, 0], models, threshold=0.7).agreement.decisions == 1

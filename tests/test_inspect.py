"""Rows ranked by suspicion: against plain loops and scikit-learn, and what must not matter."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

import scorewise as sw
from scorewise import BadInput
from strategies import cases

Y = [1, 1, 0, 1, 0, 0]
P = [0.95, 0.7, 0.97, 0.51, 0.2, 0.0]


def two_classes(case):
    w = np.ones(len(case)) if case.weight is None else case.weight
    assume((w * case.y).sum() > 0 and (w * ~case.y).sum() > 0)
    return w


def inspect(case, **options):
    return sw.inspect(
        case.y,
        case.s,
        weight=case.weight,
        count=case.count,
        kind=case.kind,
        positive=True,
        **options,
    )


def loop(y, s, w):
    """Suspicion and place of each row by definition: max-min averages, and a count of pairs."""
    levels = sorted(set(s))
    pos = [sum(wi for yi, si, wi in zip(y, s, w, strict=True) if yi and si == v) for v in levels]
    all_ = [sum(wi for si, wi in zip(s, w, strict=True) if si == v) for v in levels]
    used = [k for k in range(len(levels)) if all_[k] > 0]
    fit = {}
    for k in used:
        fit[levels[k]] = max(
            min(
                sum(pos[a : b + 1]) / sum(all_[a : b + 1])
                for b in used
                if b >= k
            )
            for a in used
            if a <= k
        )  # fmt: skip
    rows = []
    for yi, si, wi in zip(y, s, w, strict=True):
        if not wi:
            rows.append((math.nan, math.nan))
            continue
        other = [(sj, wj) for yj, sj, wj in zip(y, s, w, strict=True) if yj != yi]
        sign = -1 if yi else 1
        beyond = sum(wj * (0.5 if si == sj else sign * (si - sj) > 0) for sj, wj in other)
        place = beyond / sum(wj for _, wj in other)
        rows.append((1 - fit[si] if yi else fit[si], place))
    return rows


@given(cases(least=2, most=14))
def test_ranking_is_that_of_a_plain_loop(case):
    w = two_classes(case)
    found = inspect(case, top=len(case))
    expected = loop(case.y.tolist(), case.s.tolist(), w.tolist())
    assert found.suspicion == pytest.approx([v for v, _ in expected], abs=1e-9, nan_ok=True)
    order = [row.row for row in found.suspicious]
    assert sorted(order) == [i for i, (v, _) in enumerate(expected) if v > 1e-9]
    errors = [place for _, place in expected]
    if case.kind == "logit":
        errors = np.abs(case.y - expit(case.s.astype(float)))
    elif ((case.s[w > 0] >= 0) & (case.s[w > 0] <= 1)).all():
        errors = np.abs(case.y - case.s.astype(float))
    keys = [(-round(expected[i][0], 9), -round(float(errors[i]), 12)) for i in order]
    assert keys == sorted(keys)
    for (a, b), i, j in zip(pairwise(keys), order, order[1:], strict=False):
        assert a != b or i < j or errors[i] != errors[j]


def test_suspicion_is_the_error_after_isotonic_calibration():
    rng = np.random.default_rng(3)
    p = rng.random(500).round(2)
    y = rng.random(500) < p**2
    w = rng.integers(1, 5, 500) / 2
    fitted = IsotonicRegression().fit_transform(p, y.astype(float), sample_weight=w)
    assert sw.inspect(y, p, weight=w).suspicion == pytest.approx(np.abs(y - fitted), abs=1e-9)


@given(cases(least=2), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_but_for_row_numbers(case, random):
    two_classes(case)
    order = list(range(len(case)))
    random.shuffle(order)
    first, second = inspect(case, top=99), inspect(case.rows(np.array(order)), top=99)
    assert second.suspicion == pytest.approx(first.suspicion[order], abs=1e-11, nan_ok=True)
    said = [[(r.suspicion, r.reason, r.set) for r in i.suspicious] for i in (first, second)]
    assert sorted(said[0]) == sorted(said[1])
    assert [s[0] for s in said[0]] == [s[0] for s in said[1]]
    places = [[(g.above, g.upto, g.stability) for g in i.gaps] for i in (first, second)]
    assert places[0] == places[1]


@given(cases(least=2, weighted=True), st.sampled_from((0.001, 10.0, 4096.0)))
def test_weights_have_no_unit(case, factor):
    two_classes(case)
    first = inspect(case)
    second = sw.inspect(case.y, case.s, weight=case.weight * factor, kind=case.kind, positive=True)
    assert second.suspicion == pytest.approx(first.suspicion, abs=1e-11, nan_ok=True)
    assert [r.row for r in second.suspicious] == [r.row for r in first.suspicious]
    for a, b in zip(first.gaps, second.gaps, strict=True):
        assert (a.above, a.upto, a.rows) == (b.above, b.upto, b.rows)


@given(cases(least=2, weighted=False), st.data())
def test_count_stands_for_repeated_rows(case, data):
    n = len(case)
    count = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    two_classes(case)
    at = np.repeat(np.arange(n), count)
    short = sw.inspect(case.y, case.s, count=count, kind=case.kind, positive=True)
    long = inspect(case.rows(at))
    assert short.suspicion[at] == pytest.approx(long.suspicion, abs=1e-11)
    assert short.models["score"].sets == long.models["score"].sets
    assert short.gaps == long.gaps


def test_an_easy_error_comes_first_with_its_reason():
    found = sw.inspect(Y, P, ids=list("abcdef"))
    first = found.suspicious[0]
    assert (first.row, first.id, first.label, first.score) == (2, "c", "0", 0.97)
    assert first.reason == "negative, but scored 0.97, above every positive"
    assert first.set == "high negative"
    # an inappropriate score climbs by the rest and runs by itself
    assert (first.climb, first.run) == (pytest.approx(0.03), pytest.approx(0.97))


def test_hard_successes_are_right_but_only_just():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = rng.random(400) < p
    found = sw.inspect(y, p, top=400)
    middle = found.models["score"].midpoint.value
    assert all((r.score >= middle) == (r.label == "True") for r in found.successes)
    values = [r.suspicion for r in found.successes]
    assert values == sorted(values, reverse=True)
    assert 0 < min(values) < max(values) < 0.5
    hardest, easiest = found.successes[:20], found.successes[-20:]
    assert np.mean([abs(r.score - 0.5) for r in hardest]) < 0.2
    assert np.mean([abs(r.score - 0.5) for r in easiest]) > 0.3


def test_sets_add_up():
    sets = sw.inspect(Y, P, count=[1, 2, 3, 4, 5, 6], midpoint=0.5).models["score"].sets
    assert sets == {
        "high positive": 7,
        "low positive": 0,
        "high negative": 3,
        "low negative": 11,
    }


def test_rows_keep_their_numbers_when_others_are_dropped():
    y = [1, None, *Y]
    p = [float("nan"), 0.5, *P]
    with pytest.warns(UserWarning, match="2 rows left out: 1 without label, 1 without score"):
        found = sw.inspect(y, p, missing="drop", ids=list("xyabcdef"))
    assert (found.suspicious[0].row, found.suspicious[0].id) == (4, "c")
    assert np.isnan(found.suspicion[:2]).all()
    assert found.suspicion[2:].tolist() == sw.inspect(Y, P).suspicion.tolist()


def test_scores_of_any_scale_are_ranked_but_have_no_midpoint():
    found = sw.inspect(Y, [10 * p - 3 for p in P])
    assert found.suspicion.tolist() == sw.inspect(Y, P).suspicion.tolist()
    assert found.suspicious[0].set is None
    assert "no midpoint" in found.to_dict()["hints"][0]
    logits = sw.inspect(Y, [10 * p - 3 for p in P], kind="logit")
    assert logits.suspicious[0].set == "high negative"


@pytest.mark.parametrize(("y", "why"), [([1, 1], "no negatives"), ([0, 0], "no positives")])
def test_one_class_says_why(y, why):
    found = sw.inspect(y, [0.1, 0.9])
    assert found.models["score"].why == why
    assert found.suspicious == []
    assert np.isnan(found.suspicion).all()
    assert why in found.to_dict()["hints"][0]
    assert why in repr(found)


def test_a_row_of_no_weight_is_not_judged():
    found = sw.inspect(Y, P, weight=[1, 1, 0, 1, 1, 1])
    assert np.isnan(found.suspicion[2])
    assert 2 not in [r.row for r in found.suspicious]


def test_reversed_scores_draw_a_hint():
    assert "positive class?" in sw.inspect([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9]).to_dict()["hints"][0]


def test_shares_are_not_rounded_to_all_or_none():
    y = np.array([0] * 2000 + [1] * 2000)
    p = np.concatenate((np.linspace(0, 0.4, 2000), np.linspace(0.6, 0.999999, 2000)))
    p[0], p[-1] = 0.9999982, 0.2
    p[-2] = 0.999999
    reasons = {r.row: r.reason for r in sw.inspect(y, p, top=2).suspicious}
    assert reasons[0] == "negative, but scored 0.999998, above 99.9% of the positives"
    assert reasons[3999].startswith("positive, but scored 0.2, below 50% of the negatives")


def test_frame_has_a_line_for_each_row():
    frame = sw.inspect(Y, {"a": P, "b": P[::-1]}, top=2).to_frame()
    assert frame["model"].to_list() == ["a", "a", "b", "b"]
    assert frame["rank"].to_list() == [1, 2, 1, 2]


def test_several_models_are_asked_by_name():
    found = sw.inspect(Y, {"a": P, "b": P[::-1]})
    with pytest.raises(AttributeError, match=r"several models \('a', 'b'\)"):
        _ = found.suspicious
    assert found.models["a"].suspicious == sw.inspect(Y, P).suspicious


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"top": -1}, "top must be an integer from 0 up, such as 10; got -1"),
        ({"top": 1.5}, "top must be an integer from 0 up, such as 10; got 1.5"),
        ({"tolerance": -1}, "tolerance must be 0 or a positive number, such as 0.1; got -1"),
        ({"threshold": math.nan}, "threshold must be a finite number, such as 0.5; got nan"),
        (
            {"midpoint": 2},
            "midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got 2",
        ),
        ({"ids": [1, 2]}, "there are 6 rows and 2 ids; they have to match row by row"),
        ({"ids": "name"}, "ids is 'name'; pass one name or number per row"),
    ],
    ids=str,
)
def test_bad_input_is_told(options, sentence):
    with pytest.raises(BadInput) as caught:
        sw.inspect(Y, P, **options)
    assert str(caught.value) == sentence


def test_ids_of_any_library():
    import pandas as pd
    import polars as pl

    for ids in (
        pd.Series(range(10, 16), index=list("fedcba")),
        pl.Series(range(10, 16)),
        np.arange(10, 16),
    ):
        assert sw.inspect(Y, P, ids=ids).suspicious[0].id == 12
    assert sw.inspect(Y, P, ids=[None, float("nan"), None, 1, 2, 3]).suspicious[0].id is None

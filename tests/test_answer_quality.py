"""The quality of answers against loops and an outside package."""

from __future__ import annotations

import itertools
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scorewise.answering.quality import (
    RULES,
    UNANSWERABLE,
    Rule,
    distances,
    levenshtein_similarity,
    plain,
    squad,
)
from scorewise.errors import BadInput

ODD = "aAbß éﬁ\u0301\u0308\u200d👩🏽‍🚀日本ＡΣς½İ"
ANY = st.one_of(st.text(max_size=12), st.text(alphabet=ODD, max_size=12))
SPOKEN = st.one_of(st.text(alphabet="ab ", min_size=1, max_size=8), ANY).filter(lambda t: plain(t))
WORDS = st.lists(
    st.sampled_from(["a", "The", "cat", "Cat,", "dog", "an", "U.S.A.", "12", "3.5%", "run-of"]),
    min_size=1,
    max_size=6,
).map(" ".join)


def anls(gold, predicted, threshold=0.5, **how):
    return Rule(levenshtein_similarity(threshold), "plain").compared(gold, predicted, **how).quality


def exact_match(gold, predicted, **how):
    return RULES["exact"].compared(gold, predicted, **how).quality


def token_f1(gold, predicted, **how):
    return RULES["f1"].compared(gold, predicted, **how).quality


def levenshtein(a: str, b: str) -> int:
    """The whole table of distances between beginnings of both texts."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, j in itertools.product(range(len(a) + 1), range(len(b) + 1)):
        if not i or not j:
            table[i][j] = i + j
            continue
        table[i][j] = min(
            table[i - 1][j] + 1,
            table[i][j - 1] + 1,
            table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
        )
    return table[-1][-1]


def likeness(a: str, b: str) -> float:
    longer = max(len(a), len(b))
    far = levenshtein(a, b)
    return 0.0 if 2 * far >= longer else 1 - far / longer


def folded(text: str) -> str:
    """What ANLS compares, written apart from the package."""
    nfkc = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(nfkc.split())


@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6))
@example([("👩🏽‍🚀", "👩‍🚀"), ("e\u0301", "é"), ("", "abc"), ("", "")])
def test_distances_are_those_of_the_table(pairs):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    assert distances(left, right).tolist() == [levenshtein(a, b) for a, b in pairs]


@given(
    st.lists(st.tuples(st.lists(SPOKEN, min_size=1, max_size=3), SPOKEN), min_size=1, max_size=5)
)
def test_anls_is_the_likeness_of_the_nearest_gold_text(rows):
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    wanted = [max(likeness(folded(g), folded(p)) for g in golds) for golds, p in rows]
    np.testing.assert_allclose(anls(gold, predicted, unanswerable=()), wanted, rtol=0, atol=1e-15)


@given(st.lists(st.lists(SPOKEN, min_size=1, max_size=2), min_size=1, max_size=4),
       st.lists(SPOKEN, min_size=1, max_size=4))  # fmt: skip
def test_items_of_lists_are_matched_as_well_as_any_order_of_them(items, said):
    def best(wanted, named):
        short, long = sorted((wanted, named), key=len)
        sums = (
            sum(pair(a, b) for a, b in zip(short, order, strict=True))
            for order in itertools.permutations(long, len(short))
        )
        return max(sums) / len(long)

    def pair(a, b):
        texts, text = (a, b) if isinstance(a, list) else (b, a)
        return max(likeness(folded(t), folded(text)) for t in texts)

    found = anls([items], [said], unanswerable=())[0]
    assert found == pytest.approx(best(items, said), abs=1e-12)


@given(st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=3), WORDS), min_size=1, max_size=5))
def test_exact_match_and_f1_are_those_of_squad(rows):
    squad_metric = pytest.importorskip("torchmetrics.functional.text").squad
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    outside = [
        squad_metric(
            {"prediction_text": p, "id": "1"},
            {"answers": {"answer_start": [0] * len(g), "text": g}, "id": "1"},
        )
        for g, p in rows
    ]
    exact, f1 = ([float(o[k]) / 100 for o in outside] for k in ("exact_match", "f1"))
    assert exact_match(gold, predicted).tolist() == exact
    np.testing.assert_allclose(token_f1(gold, predicted), f1, atol=1e-6)  # of 32 bits there


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cafe\u0301", "CAFÉ"),  # a letter and its accent, or both in one
        ("\uff21\uff11", "a1"),  # full width
        ("ﬁne", "FINE"),  # a ligature
        ("Straße", "STRASSE"),
        ("  two\t words\n", "Two words"),
        ("10\u00a0km", "10 km"),  # a blank that does not break
        ("\u1100\u1161", "가"),  # a syllable of Hangul in parts
    ],
)
def test_texts_that_read_the_same_are_the_same(one, other):
    assert anls([one], [other]) == exact_match([one], [other]) == token_f1([one], [other]) == 1
    assert exact_match([one], [other], normalise="none") == 0


def test_a_letter_that_loses_its_capital_stays_one_letter():
    assert [len(plain(t)) for t in ("\u01f0", "J\u030c")] == [1, 1]


def test_each_normalisation_leaves_out_what_it_says():
    gold, predicted = (
        ["The Cat\u2019s «end»!"] * 3,
        ["the cat\u2019s «end»!", "CATS END", "The Cat\u2019s «end»!"],
    )
    assert exact_match(gold, predicted, normalise="none").tolist() == [0, 0, 1]
    assert exact_match(gold, predicted, normalise="plain").tolist() == [1, 0, 1]
    assert exact_match(gold, predicted, normalise="squad").tolist() == [1, 1, 1]
    assert squad("An apple, a day; the theatre") == "apple day theatre"


def test_half_of_the_letters_wrong_is_no_likeness():
    assert anls(["ab", "abc", "abcd"], ["ax", "abx", "abxy"]).tolist() == [0, 1 - 1 / 3, 0]
    assert anls(["abcdefghij"] * 2, ["abcdefgxyz", "abcdefghyz"], threshold=0.3).tolist() == [
        0,
        0.8,
    ]
    assert anls(["abc"], ["xyz"], threshold=1) == 0


@pytest.mark.parametrize("quality", [anls, exact_match, token_f1])
@pytest.mark.parametrize(
    ("gold", "predicted", "wanted"),
    [
        ("", "", 1),
        ("", "Unanswerable", 1),
        ([], "not-answerable.", 1),
        ([""], [], 1),
        ([[]], [""], 1),
        ("Not answerable", "no answer", 1),
        ("", "Paris", 0),
        ([], ["Paris", "Rome"], 0),
        ("Paris", "", 0),
        ("Paris", [], 0),
        (["Paris", "Paris, France"], "unanswerable", 0),
        ([["Paris"], ["Rome"]], " ", 0),
        (["Paris", ""], "", 1),  # one of those who gave gold answers found none
        (["Paris", ""], "paris", 1),
        ([["Paris", ""]], [], 1),
        ([["Paris", ""], ["Rome"]], [], 0),
        ("unanswerable questions", "unanswerable", 0),  # says that there is none, but there is
        ("-", "", 0),
        ("none", "", 0),  # the word may well be an answer
    ],
)
def test_what_says_that_there_is_no_answer(quality, gold, predicted, wanted):
    assert quality([gold], [predicted]).tolist() == [wanted]


def test_the_words_for_no_answer_can_be_said():
    assert anls([""], ["none"]) == 0
    assert anls([""], ["None."], unanswerable=[*UNANSWERABLE, "none"]) == 1
    assert anls([""], ["unanswerable"], unanswerable=["none"]) == 0


def test_a_flat_list_is_read_as_said():
    gold, predicted = [["AF0055", "AF1044"]], ["AF1044"]
    assert anls(gold, predicted) == 1
    assert anls(gold, predicted, lists="items") == 0.5
    assert anls([[["AF0055"], ["AF1044"]]], predicted) == 0.5
    assert anls([["AF0055", ["AF1044", "1044"]]], [["1044", "af0055"]]) == 1
    with pytest.raises(BadInput, match='pass "variants" or "items"'):
        anls(gold, predicted, lists="all")


def test_a_list_counts_as_exact_only_when_all_of_it_is():
    gold = [[["a1"], ["b2"]]] * 4
    said = [["b2", "a1"], ["a1"], ["a1", "b2", "c3"], ["a1", "b3"]]
    assert exact_match(gold, said).tolist() == [1, 0, 0, 0]
    assert token_f1(gold, said).tolist() == [1, 0.5, 2 / 3, 0.5]


@given(
    st.lists(
        st.tuples(
            st.one_of(
                ANY, st.lists(ANY, max_size=3), st.lists(st.lists(ANY, max_size=2), max_size=3)
            ),
            st.one_of(ANY, st.lists(ANY, max_size=3)),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_rows_do_not_touch_one_another_and_lie_in_the_unit_interval(rows):
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    for quality in (anls, exact_match, token_f1):
        together = quality(gold, predicted)
        assert together.tolist() == [quality([g], [p])[0] for g, p in rows]
        assert ((together >= 0) & (together <= 1)).all()


def test_without_rapidfuzz_the_extra_is_named_and_other_rules_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(BadInput, match=r"pip install 'scorewise\[answers\]'"):
        anls(["a"], ["b"])
    assert exact_match(["a1"], ["A1"]) == 1


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(BadInput, match="threshold"):
        anls(["a"], ["b"], threshold=threshold)


def test_texts_that_would_take_minutes_to_compare_are_refused():
    long = ["a" * 1_100_000, "b" * 1_000_000]
    with pytest.raises(
        BadInput, match=r"answer of 1,000,000 letters and a gold answer of 1,100,000"
    ):
        anls(long[:1], long[1:])
    assert anls(long, long).tolist() == [1, 1]
    assert anls(long[:1], ["a"]).tolist() == [0]

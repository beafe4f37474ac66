"""Which columns hold the scores of which classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewise.columns.roles import class_columns
from scorewise.errors import BadInput

NAMES = ["id", "y", "p_cat", "p_dog", "p_", "cat_score", "dog_score"]
words = st.lists(st.text("abcxyz", min_size=1), min_size=2, max_size=6, unique=True)


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ("p_*", {"cat": "p_cat", "dog": "p_dog"}),
        ("*_score", {"cat": "cat_score", "dog": "dog_score"}),
        ("dog=p_dog, cat = p_cat", {"dog": "p_dog", "cat": "p_cat"}),
        ("p_dog,p_cat", {"p_dog": "p_dog", "p_cat": "p_cat"}),
    ],
)
def test_classes_and_their_columns(spec, want):
    assert list(class_columns(NAMES, spec).items()) == list(want.items())


@given(words, st.sampled_from(["p_*", "*_p", "a*z"]))
def test_a_pattern_finds_what_it_was_made_of(classes, pattern):
    columns = [pattern.replace("*", c) for c in classes]
    assert class_columns(["?", *columns], pattern) == dict(zip(classes, columns, strict=True))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("q_*", "stands for no column; two or more"),
        ("p_d*", "stands for the column 'p_dog' only"),
        ("p_*_*", "not a pattern with one star"),
        ("p_cat", "not a pattern with one star"),
        ("cat=p_cat,cat=p_dog", "names the class 'cat' twice"),
        ("cat=p_cat,dog=p_cat", "names the column 'p_cat' twice"),
        ("cat=p_cat,dog=", 'a part "dog=" without'),
        ("cat=p_cat,,", 'a part "" without'),
        ("cat=p_cat,dog=p_dgo", "there is no column 'p_dgo'; did you mean 'p_dog'"),
    ],
)
def test_what_cannot_be_read_is_told(spec, why):
    with pytest.raises(BadInput, match=why.replace("*", r"\*")):
        class_columns(NAMES, spec)


def test_columns_of_one_name_are_refused():
    with pytest.raises(BadInput, match="names the class 'a' twice"):
        class_columns(["p_a", "p_a", "p_b"], "p_*")
    with pytest.raises(BadInput, match="2 columns are named 'p_a'"):
        class_columns(["p_a", "p_a", "p_b"], "p_a,p_b")

import pytest

from scorewise.columns.rating_codes import looks_missing, spelled_alike


@pytest.mark.parametrize(
    ("one", "other"),
    [("Yes", "yes"), ("good", " good "), ("good", "good."), ("Tie", "'tie'"), ("not ok", "not_ok"),
     ("STRASSE", "straße")],
)  # fmt: skip
def test_case_blanks_and_punctuation_do_not_make_another_word(one, other):
    assert spelled_alike([one, "else", other]) == [(one, other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("A", "A+"), ("A", "A-"), ("A", "A*"), ("1", "-1"), ("1.5", "15"), ("1-2", "12"), ("+", "-"),
     ("!", "."), ("yes", "no")],
)  # fmt: skip
def test_signs_and_digits_make_another_word(one, other):
    assert spelled_alike([one, other]) == []


def test_words_for_nothing():
    assert looks_missing(["N/A", "NaN", "None", "null", "", " "]) == [
        "N/A",
        "NaN",
        "None",
        "null",
        "",
        " ",
    ]
    assert looks_missing(["no", "0", "tie", "Nana"]) == []

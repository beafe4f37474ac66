"""The tally of several classes as a file: what comes back, and what is refused."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from class_cases import cases, drawn
from saved_tallies import edit, flipped
from scorewise import BadInput, ClassTally, Tally
from scorewise.tallies.joint import MAX_ROWS


@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_a_stored_tally_comes_back(case, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "classes.parquet"
    t = case.tally
    t.save(path)
    back = ClassTally.load(path)
    assert back == t
    assert back.losses == t.losses
    assert back.top.origin == t.top.origin
    assert back.confusion.weight.dtype == t.confusion.weight.dtype
    assert back + t == t + t


def test_a_sample_comes_back_as_a_sample(tmp_path):
    t = drawn(5, 2 * MAX_ROWS, 3).tally
    t.save(tmp_path / "t.parquet")
    back = ClassTally.load(tmp_path / "t.parquet").joint
    assert back == t.joint
    assert (back.total, back.whole) == (2 * MAX_ROWS, False)


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path, t = tmp_path / "t.parquet", drawn(6, 30, 3).tally
    t.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="damaged or cut off"):
        ClassTally.load(path)
    t.top.save(path)
    with pytest.raises(BadInput, match=r"not a saved tally; make it with ClassTally.of and save"):
        ClassTally.load(path)
    t.save(path)
    with pytest.raises(BadInput, match="not a saved tally"):
        Tally.load(path)
    with pytest.raises(BadInput, match="no such file"):
        ClassTally.load(tmp_path / "none.parquet")


def with_value(column, value):
    """One value of a column changed."""

    def change(frame):
        values = frame[column][0].to_list()
        values[len(values) // 2] = value
        return frame.with_columns(pl.Series(column, [values], frame[column].dtype))

    return change


@pytest.mark.parametrize("resealed", [True, False])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("class 0: score", -1.0), ("class 0: score", np.nan), ("class 0: score", 8.0),
        ("class 1: true", 3), ("class 1: weight", -1), ("class 1: weight", 2),
        ("confusion: weight", -1), ("confusion: weight", 99), ("joint: y", 9), ("top: score", 2.0),
        ("top: pos", 7), ("ranked: neg", 7), ("joint: scores", 3.0), ("joint: weight", 5),
    ],
)  # fmt: skip
def test_impossible_values_in_a_file_are_refused(column, value, resealed, tmp_path):
    path = tmp_path / "t.parquet"
    drawn(7, 30, 3).tally.save(path)
    edit(path, content=with_value(column, value), resealed=resealed)
    with pytest.raises(BadInput, match=r"not a valid tally|was edited"):
        ClassTally.load(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"positives": ', '"positives": 1'), ('"brier": [[', '"brier": [[9'),
        ('"joint": [30.0', '"joint": [31.0'),
        ('"kind": "probability"', '"kind": "score"'), ('"log": ', '"logs": '), ('["0", "1"', '["0", "0"'),
    ],
)  # fmt: skip
def test_impossible_words_in_a_file_are_refused(old, new, tmp_path):
    path = tmp_path / "t.parquet"
    drawn(7, 30, 3).tally.save(path)

    def about(text):
        assert old in text
        return text.replace(old, new, 1)

    edit(path, about)
    with pytest.raises(BadInput, match="not a valid tally"):
        ClassTally.load(path)


@pytest.mark.parametrize("weighted", ["no", "broken"])
def test_one_wrong_bit_is_refused_or_changes_nothing(weighted, tmp_path, capfd):
    path = tmp_path / "t.parquet"
    drawn(9, 60, 3, weighted).tally.save(path)
    kept, refused = ClassTally.load(path), 0
    for _ in flipped(path, 300):
        try:
            back = ClassTally.load(path)
        except BadInput:
            refused += 1
            continue
        assert back == kept
        assert (back.losses, back.top.origin) == (kept.losses, kept.top.origin)
    capfd.readouterr()  # what a panic of polars prints
    assert refused > 150


def test_a_file_of_another_version_is_refused(tmp_path):
    for version in (2, 4):
        path = tmp_path / "t.parquet"
        drawn(8, 30, 3).tally.save(path)
        edit(path, lambda text, v=version: text.replace('"version": 3', f'"version": {v}'))
        match = f"of version {version}, this scorewise reads version 3"
        with pytest.raises(BadInput, match=match):
            ClassTally.load(path)

"""The tally of several classes as a file: what comes back, and what is refused."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from class_cases import cases, drawn
from scorewise import BadInput, ClassTally, Tally
from scorewise.tallies.joint import MOST


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
    t = drawn(5, 2 * MOST, 3).tally
    t.save(tmp_path / "t.parquet")
    back = ClassTally.load(tmp_path / "t.parquet").joint
    assert back == t.joint
    assert (back.total, back.whole) == (2 * MOST, False)


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


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("class 0: score", -1.0), ("class 0: score", np.nan), ("class 1: true", 3),
        ("class 1: weight", -1), ("confusion: weight", -1), ("joint: y", 9), ("top: score", 2.0),
    ],
)  # fmt: skip
def test_impossible_values_in_a_file_are_refused(column, value, tmp_path):
    path = tmp_path / "t.parquet"
    drawn(7, 30, 3).tally.save(path)
    about = pl.read_parquet_metadata(path)
    frame = pl.read_parquet(path)
    values = frame[column][0].to_list()
    values[len(values) // 2] = value
    changed = frame.with_columns(pl.Series(column, [values], frame[column].dtype))
    changed.write_parquet(path, metadata={k: v for k, v in about.items() if "scorewise" in k})
    with pytest.raises(BadInput, match="not a valid tally"):
        ClassTally.load(path)


def test_a_file_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    drawn(8, 30, 3).tally.save(path)
    about = pl.read_parquet_metadata(path)["scorewise.class_tally"]
    later = about.replace('"version": 1', '"version": 2')
    pl.read_parquet(path).write_parquet(path, metadata={"scorewise.class_tally": later})
    with pytest.raises(BadInput, match="of version 2, this scorewise reads version 1"):
        ClassTally.load(path)

"""Files that would fill the memory, folders without an end, files that count twice."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.columns import binary_rows, decoding, paths, streaming
from scorewise.columns.paths import matches
from scorewise.columns.tables import in_batches

CSV = b"y,p\n1,0.5\n0,0.25\n"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name: str, data: bytes = CSV) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(data)
    return name


# packed files


@pytest.mark.parametrize(
    ("name", "row"), [("x.csv.gz", b"1,0.5\n"), ("x.jsonl.gz", b'{"y":1,"p":0.5}\n')]
)
def test_packed_files_that_grow_without_end_are_refused(name, row, monkeypatch, capsys):
    monkeypatch.setattr(decoding, "LARGE", 1 << 20)  # 256 MB in earnest
    data = b"y,p\n" * name.startswith("x.csv") + row * 400_000
    put(name, gzip.compress(data))
    ratio = len(data) / Path(name).stat().st_size
    assert ratio > 200
    assert run(["evaluate", name, "--label", "y", "--score", "p"]) == 2
    err = capsys.readouterr().err
    assert f"{name} holds more than 200 times its {Path(name).stat().st_size:,} bytes" in err
    assert "unpack it first" in err
    monkeypatch.setattr(decoding, "LARGE", len(data))
    assert sw.tally(name, label="y", score="p").origin.rows == 400_000


def test_packed_files_in_several_members():
    put("x.csv.gz", gzip.compress(CSV) + gzip.compress(b"1,0.75\n") + b"\0" * 20)
    assert sw.tally("x.csv.gz", label="y", score="p").origin.rows == 3


@pytest.mark.parametrize("at", [5, 12, -9, -3])
def test_damaged_packed_files(at):
    data = bytearray(gzip.compress(CSV * 1000))
    data[at] ^= 255
    del data[-1:]
    with pytest.raises(sw.BadInput, match=r"x.csv.gz cannot be read as gzip; it is damaged"):
        binary_rows(put("x.csv.gz", bytes(data)), label="y", score="p")


# folders that hold links to themselves

WALK = """
import sys
from scorewise.cli import run
sys.exit(run(["evaluate", "d/**/*.csv", "--label", "y", "--score", "p", "--json", sys.argv[1]]))
"""


def test_a_folder_with_links_to_itself_ends():
    put("d/a.csv")
    put("d/e/b.csv")
    for name in ("one", "two"):
        Path("d", name).symlink_to(".", target_is_directory=True)
        Path("d/e", name).symlink_to("..", target_is_directory=True)
    here = {**os.environ, "PYTHONPATH": str(Path(sw.__file__).parents[1])}
    command = [sys.executable, "-c", WALK, "out.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=here)
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].startswith("note: 2 files are read as parts of one data set")
    assert done.stderr.splitlines()[1:] == ["wrote out.json"]
    assert '"rows": 4' in Path("out.json").read_text()


def test_folders_behind_links_are_read_once():
    put("far/1.csv")
    put("d/real/2.csv")
    Path("d/a").symlink_to("real", target_is_directory=True)
    Path("d/b").symlink_to(Path("far").absolute(), target_is_directory=True)
    Path("d/broken").symlink_to("nothing")
    assert matches("d/**/*.csv") == ["d/b/1.csv", "d/real/2.csv"]


PATTERNS = [
    "**/*.csv", "d/**", "d/**/b/*.csv", "d/**/**/*.csv", "**/b/**/*.csv", "./d/**/c.csv", "d/*/c.csv",
    "d/**/[ac].csv", "**", "none/**/x.csv", "d/a**/c.csv", "d/**/.h/*.csv",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_as_those_of_python(pattern):
    import glob

    for name in (
        "c.csv",
        "d/a.csv",
        "d/ab/c.csv",
        "d/b/c.csv",
        "d/b/b/c.csv",
        "d/.h/c.csv",
        "d/[x]/c.csv",
    ):
        put(name)
    theirs = glob.glob(pattern, recursive=True)  # noqa: PTH207 (what is compared)
    found = {Path(m) for m in theirs if Path(m).is_file()}
    assert {Path(m) for m in matches(pattern) if Path(m).is_file()} == found
    whole = str(Path(pattern).absolute())
    assert {Path(m) for m in matches(whole) if Path(m).is_file()} == {f.absolute() for f in found}


def test_too_many_folders_are_refused(monkeypatch):
    monkeypatch.setattr(paths, "_MOST_FOLDERS", 3)
    for name in "abcd":
        put(f"d/{name}/x.csv")
    with pytest.raises(sw.BadInput, match="stands for more than 3 folders; begin it further down"):
        binary_rows("d/**/*.csv")


# one file under two names


def test_a_file_under_two_names_counts_once(capsys):
    put("a.csv")
    os.link("a.csv", "b.csv")
    assert run(["evaluate", "*.csv", "--label", "y", "--score", "p"]) == 2
    assert capsys.readouterr().err == (
        "scorewise: b.csv is a.csv under another name; its rows would count twice\n"
    )
    Path("b.csv").unlink()
    Path("b.csv").symlink_to("a.csv")
    with pytest.raises(sw.BadInput, match=r"b.csv is a.csv under another name"):
        binary_rows(["a.csv", "b.csv"])


# files damaged in the middle


def arrow_without_end(name: str, rows: int) -> str:
    """A file of several batches; the footer says that the last is far longer than the file."""
    pl.DataFrame({"y": [0, 1] * (rows // 2), "p": [0.25, 0.75] * (rows // 2)}).write_ipc(
        name, record_batch_size=rows // 10
    )
    data = bytearray(Path(name).read_bytes())
    end = len(data) - 10
    first = end - int.from_bytes(data[end : end + 4], "little")
    last = max(
        at
        for at in range(first, end - 24, 4)
        for start, head, none, body in [struct.unpack("<qiiq", data[at : at + 24])]
        if 0 < start < first and 0 < head < 2000 and none == 0 and rows < body < first
    )
    struct.pack_into("<q", data, last + 16, 1 << 40)
    Path(name).write_bytes(data)
    return name


def test_rows_that_a_reader_loses_are_not_lost_in_silence(monkeypatch, capfd):
    """A thread of the reader panics; the batches before it had ended as if the file had."""
    monkeypatch.setattr(streaming, "BATCH", 1 << 12)
    name = arrow_without_end("x.arrow", 100_000)
    assert run(["tally", name, "--label", "y", "--score", "p", "-o", "x.tally"]) == 2
    sentence = "scorewise: x.arrow cannot be read as arrow; it is damaged or cut short\n"
    assert capfd.readouterr().err.endswith(sentence)
    assert not Path("x.tally").exists()


def test_a_damaged_file_is_not_called_empty(capfd):
    put("x.csv", b"y,p\n" + b"1,0.5\n0,0.25\n1,0.75\n0,0.5\n" * 20)
    assert run(["calibrate", "fit", "x.csv", "--label", "y", "--score", "p", "-o", "m.json"]) == 0
    capfd.readouterr()
    name = arrow_without_end("x.arrow", 1000)
    for out in ("x2.csv", "x2.parquet"):
        assert run(["calibrate", "apply", "m.json", name, "--score", "p", "-o", out]) == 2
        said = capfd.readouterr().err
        assert said.endswith("x.arrow cannot be read as arrow; it is damaged or cut short\n")
        assert not Path(out).exists()


def test_batches_may_be_left_and_failures_come_out():
    frame = pl.LazyFrame({"a": range(100_000)})
    found = in_batches(frame, 1000)
    assert next(found).height == 1000
    found.close()
    assert sum(b.height for b in in_batches(frame, 1000)) == 100_000
    with pytest.raises(pl.exceptions.PolarsError):
        list(in_batches(frame.select(pl.col("a").cast(pl.Int8)), 1000))


def test_a_zero_byte_in_a_path():
    for name in ("a\0.csv", "d\0/a.csv", "*\0.csv"):
        with pytest.raises(sw.BadInput, match=r"there is no file '.*': no name has a zero byte"):
            sw.tally(name)


# names of columns


@pytest.mark.parametrize(
    "header", ['"a ""y""",p', 'a "y",p', '"a,""y",p', '"a ""y""\r\nb",p', "'a''y',p"]
)
def test_quotes_in_the_names_of_columns(header):
    import csv
    import io

    label = next(csv.reader(io.StringIO(header)))[0]
    put("x.csv", header.encode() + b"\n1,0.5\n0,0.25\n")
    assert sw.tally("x.csv", label=label, score="p").positives == 1

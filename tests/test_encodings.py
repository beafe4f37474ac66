"""Text that is not UTF-8: read as what it is, or refused; never decoded by guess."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.columns import binary_rows, decoding

TEXT = "ann,bob\n" + "été,ètè\n" * 10 + "ètè,été\n" * 10 + "non,non\n" * 5
TRUE = (5 / 25 - 0.36) / (1 - 0.36)  # 0.4 * 0.4 + 0.4 * 0.4 + 0.2 * 0.2 is what chance gives
SAID = (
    'r.csv is not text in UTF-8: byte 0xe9 in row 1 (byte 9); pass encoding="latin-1" if it was saved in '
    "that, or save it in UTF-8"
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name: str, data: bytes) -> str:
    Path(name).write_bytes(data)
    return name


def kappa(args, capsys):
    capsys.readouterr()
    assert run(["agree", *args, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["measures"]
    return next(m["value"] for m in found if m["name"] == "cohen_kappa")


def test_two_words_that_latin_1_tells_apart_do_not_become_one(capsys):
    put("r.csv", TEXT.encode("latin-1"))
    with pytest.raises(sw.BadInput) as problem:
        sw.agree("r.csv")
    assert str(problem.value) == SAID
    assert sw.agree("r.csv", encoding="latin-1").cohen_kappa.value == pytest.approx(TRUE)
    assert run(["agree", "r.csv"]) == 2
    said = SAID.replace('encoding="latin-1"', "--encoding latin-1")
    assert capsys.readouterr().err == f"scorewise: {said}\n"
    assert kappa(["r.csv", "--encoding", "latin-1"], capsys) == pytest.approx(TRUE)


MARKED = {
    "utf-8-sig": TEXT.encode("utf-8-sig"),
    "utf-16 le": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "utf-16 be": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "utf-32 le": codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", MARKED)
def test_the_mark_at_the_beginning_tells_the_encoding(mark, packed):
    data = gzip.compress(MARKED[mark]) if packed else MARKED[mark]
    name = put("r.csv.gz" if packed else "r.csv", data)
    assert sw.agree(name, raters=["ann", "bob"]).cohen_kappa.value == pytest.approx(TRUE)
    # what the file says counts more than what is said of it
    assert sw.agree(
        name, raters=["ann", "bob"], encoding="latin-1"
    ).cohen_kappa.value == pytest.approx(TRUE)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "UTF_8", "utf-7", "mac-roman"])
def test_any_codec_of_python(encoding):
    for name, data in (("r.csv", TEXT.encode(encoding)), ("r.csv.gz", None)):
        put(name, gzip.compress(TEXT.encode(encoding)) if data is None else data)
        assert sw.agree(name, encoding=encoding).cohen_kappa.value == pytest.approx(TRUE)


ROWS = [{"y": word, "p": p} for word, p in (("été", 0.2), ("ètè", 0.7), ("été", 0.4), ("ètè", 0.9))]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_lines_of_json(name, capsys):
    data = LINES.encode("latin-1")
    put(name, gzip.compress(data) if name.endswith("gz") else data)
    said = f"{name} is not text in UTF-8: byte 0xe9 in line 1 (byte 8); "
    with pytest.raises(sw.BadInput) as problem:
        sw.tally(name, label="y", score="p", positive="ètè")
    assert str(problem.value).startswith(said)
    t = sw.tally(name, label="y", score="p", positive="ètè", encoding="latin-1")
    assert (t.positives, t.origin.negative) == (2, "été")
    args = ["evaluate", name, "--label", "y", "--score", "p", "--positive", "ètè"]
    assert run(args) == 2
    assert "pass --encoding latin-1 if" in capsys.readouterr().err
    assert run([*args, "--encoding", "latin-1"]) == 0


def test_a_mark_before_lines_of_json():
    t = sw.tally(put("a.jsonl", LINES.encode("utf-8-sig")), label="y", score="p", positive="ètè")
    assert t.positives == 2


def test_standard_input(monkeypatch, capsys):
    for data, encoding in ((TEXT.encode("latin-1"), "latin-1"), (MARKED["utf-16 le"], None)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert sw.agree(
            "-", raters=["ann", "bob"], encoding=encoding
        ).cohen_kappa.value == pytest.approx(TRUE)


SCORES = "who,y,p\n" + "".join(f"é{i},{i % 2},{(i * 7 % 10) / 10}\n" for i in range(40))
TWO = "é,è,q,r\n" + "".join(f"{i % 2},{i // 2 % 2},{i % 5 / 5},{i % 3 / 3}\n" for i in range(40))
COMMANDS = {
    "evaluate": (SCORES, ["--label", "y", "--score", "p"]),
    "smroc": (SCORES, ["--label", "y", "--score", "p"]),
    "inspect": (SCORES, ["--label", "y", "--score", "p", "--id", "who"]),
    "calibrate fit": (SCORES, ["--label", "y", "--score", "p"]),
    "raters": (TWO, ["--decision", "é", "--score", "q", "--decision", "è", "--score", "r"]),
    "agree": (TWO, ["--rater", "é", "--rater", "è"]),
    "judge": (TWO, ["--human", "é", "--judge", "è", "--replicates", "100"]),
    "answers": ("é,p\n1,0.5\n0,0.2\n1,0.9\n", ["--quality", "é", "--confidence", "p"]),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_encoding(command, capsys):
    text, options = COMMANDS[command]
    results = []
    for encoding, further in (("utf-8", []), ("latin-1", ["--encoding", "latin-1"])):
        put("x.csv", text.encode(encoding))
        capsys.readouterr()
        assert run([*command.split(), "x.csv", *options, *further, "--json", "-"]) == 0
        results.append(capsys.readouterr().out)
    named = " --encoding latin-1"  # in the command that comes next, where that reads these rows
    assert (named in results[1]) == ("Next: scorewise" in results[1] and command != "calibrate fit")
    assert results[0] == results[1].replace(named, "")


def test_drift_takes_the_encoding(capsys):
    put("a.csv", SCORES.replace("y,", "é,").encode("latin-1"))
    args = ["drift", "a.csv", "a.csv", "--label", "é", "--score", "p", "--replicates", "20"]
    assert run(args) == 2
    assert "a.csv is not text in UTF-8: byte 0xe9 in its header" in capsys.readouterr().err
    assert run([*args, "--encoding", "latin-1"]) == 0
    rows = "".join(f"{i},{i % 2},{i * 7 % 10 / 10}\n" for i in range(40))
    put("a.csv", f"t,é,p\n{rows}".encode("latin-1"))
    timed = ["drift", "a.csv", "--label", "é", "--score", "p", "--time", "t", "--windows", "2"]
    assert run([*timed, "--replicates", "20", "--encoding", "latin-1"]) == 0


def test_the_names_of_python_take_the_encoding():
    data = TWO.encode("latin-1")
    put("l.csv", data)
    found = sw.judge("l.csv", humans=["é"], judges=["è"], replicates=100, encoding="latin-1")
    assert found.truth == "é"
    t = sw.class_tally("l.csv", label="é", predicted="è", score="q", encoding="latin-1")
    assert len(t.classes) == 2
    d = sw.drift("l.csv", "l.csv", label="é", score="q", replicates=20, encoding="latin-1")
    assert d["ks"].value == 0
    a = sw.answers("l.csv", quality="é", confidence="q", encoding="latin-1")
    assert a.accuracy.value == 0.5


def test_answers_in_json():
    rows = [{"gold": "été", "predicted": word, "p": 0.5} for word in ("été", "ètè")]
    data = json.dumps(rows, ensure_ascii=False, indent=1).encode("latin-1")
    put("a.json", data)
    with pytest.raises(sw.BadInput, match=r"a.json is not text in UTF-8: byte 0xe9 in line 3 "):
        sw.answers("a.json", quality="exact")
    named = {"gold": "gold", "predicted": "predicted", "confidence": "p"}
    exact = sw.answers("a.json", quality="exact", encoding="latin-1", **named)
    assert exact.accuracy.value == 0.5


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("latn-1", "did you mean latin-1"),
        ("UTF_61", "did you mean utf-16 or utf-8?"),
        ("klingon", "latin-1 is, for example"),
        ("rot13", "not known"),
        ("\0", "not known"),
    ],
)
def test_an_encoding_that_is_not_known(name, way, capsys):
    put("r.csv", TEXT.encode())
    with pytest.raises(sw.BadInput) as problem:
        sw.agree("r.csv", encoding=name)
    assert way in str(problem.value)
    assert "\n" not in str(problem.value)
    assert run(["agree", "r.csv", "--encoding", name]) == 2
    assert "--encoding" in capsys.readouterr().err


PLACES = [
    ("x.csv", b"y,\xe9\n1,2\n", "byte 0xe9 in its header (byte 3)"),
    ("x.csv", b"\n\r\ny,p\n1,\xff\n", "byte 0xff in row 1 (byte 10)"),
    ("x.csv", b'y,p\n"1\n\n",2\n1,\xff\n', "byte 0xff in row 2 (byte 15)"),
    ("x.csv", b"y,p\n1,2\n1,\xc3", "byte 0xc3 in row 2 (byte 11)"),
    ("x.csv", b"y,p\n" + b"1,0.5\n" * 400_000 + b"1,\xe9\n", "in row 400,001 (byte 2,400,007)"),
    ("x.jsonl", b'\n{"y": 1, "p": "\xe9"}\n', "byte 0xe9 in line 2 (byte 17)"),
]


@pytest.mark.parametrize(("name", "data", "place"), PLACES, ids=lambda v: str(v)[:30])
def test_the_place_of_the_first_byte_that_is_wrong(name, data, place):
    with pytest.raises(sw.BadInput) as problem:
        binary_rows(put(name, data), label="y", score="p")
    assert place in str(problem.value)


def test_the_place_in_an_encoding_that_was_named():
    put("x.csv", b"y,p\n1,0.5\n0,\x81\n")
    with pytest.raises(sw.BadInput) as problem:
        sw.tally("x.csv", encoding="cp1252")
    assert str(problem.value) == (
        "x.csv is not text in cp1252: byte 0x81 in row 2 (byte 13); name the encoding that it was saved in"
    )
    put("x.csv", codecs.BOM_UTF16_LE + "y,p\n1,0.5\n".encode("utf-16-le") + b"x")
    with pytest.raises(
        sw.BadInput, match="is not text in UTF-16, as its first bytes say: byte 0x78"
    ):
        sw.tally("x.csv")


def test_two_bytes_a_letter_without_a_mark():
    put("x.csv", "y,p\n1,0.5\n".encode("utf-16-le"))
    with pytest.raises(sw.BadInput, match='pass encoding="utf-16-le", save it as csv in UTF-8'):
        sw.tally("x.csv")


def test_columns_that_are_not_read_may_be_in_any_encoding():
    rows = b"1,0.5,caf\xe9\n0,0.25,\xef\xbf\xbd\n1,0.75,x\n"
    t = sw.tally(put("x.csv", b"y,p,note\n" + rows), label="y", score="p")
    assert (t.positives, t.negatives) == (2, 1)
    # the letter that stands for what could not be read is a letter like others
    put("x.csv", "a,b\n\ufffd,x\nx,x\n".encode())
    assert sw.agree("x.csv", raters=["a", "b"]).ratings.categories == ("x", "\ufffd")


def test_a_large_copy_is_a_file_and_not_in_memory(monkeypatch):
    monkeypatch.setattr(decoding, "IN_MEMORY", 1000)
    rows = SCORES * 1 + "".join(f"è{i},{i % 2},0.5\n" for i in range(500))
    for data in (rows.encode("latin-1"), gzip.compress(rows.encode("latin-1"))):
        name = put("x.csv.gz" if data[:1] == b"\x1f" else "x.csv", data)
        source = decoding.as_utf8(
            Path(name), name, "csv", packed=name.endswith("gz"), encoding="latin-1"
        )
        assert not isinstance(source, bytes | Path)
        found = binary_rows(name, label="y", score="p", id="who", encoding="latin-1")
        assert found.ids.to_list()[-1] == "è499"
        want = pl.read_csv(rows.encode())["p"].to_numpy()
        assert np.array_equal(found.scores["p"], want)


def test_files_of_other_formats_have_an_encoding_of_their_own():
    pl.read_csv(TEXT.encode()).write_parquet("r.parquet")
    assert sw.agree("r.parquet", encoding="latin-1").cohen_kappa.value == pytest.approx(TRUE)

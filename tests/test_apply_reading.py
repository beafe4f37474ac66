"""`calibrate apply` reads what every command reads, and hands on every other column as it was."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import json
import os
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import scorewise as sw
from recalibration_cases import draw
from scorewise.cli import run

LOW, HIGH = 0.3, 0.7


@pytest.fixture(autouse=True)
def _map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sw.Recalibrator("platt").fit(*draw(1, 300, 0.5, -0.3)).save("map.json")


def mapped(p) -> list[float]:
    return sw.Recalibrator.load("map.json").transform(np.asarray(p, float)).tolist()


def apply(source: str, out: str, *options: str) -> int:
    return run(["calibrate", "apply", "map.json", source, "--score", "p", "-o", out, *options])


def put(name: str, data: str | bytes) -> str:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_columns_of_jsonl_that_come_late_are_kept(to):
    rows = [{"p": 0.5, "a": i} for i in range(150)] + [{"p": 0.25, "late": "here"}]
    assert apply(put("x.jsonl", lines(rows)), f"out.{to}") == 0
    made = pl.read_csv("out.csv") if to == "csv" else pl.read_parquet("out.parquet")
    assert made.columns == ["p", "a", "late", "p_calibrated"]
    assert made["late"].to_list() == [None] * 150 + ["here"]
    assert made["a"].to_list() == [*range(150), None]
    assert made["p_calibrated"].to_list() == mapped([0.5] * 150 + [0.25])


def test_fields_of_objects_in_jsonl_that_come_late_are_kept():
    rows = [{"p": 0.5, "s": {"a": i}} for i in range(150)] + [{"p": 0.5, "s": {"b": [1.5]}}]
    assert apply(put("x.jsonl", lines(rows)), "out.parquet") == 0
    made = pl.read_parquet("out.parquet")["s"].to_list()
    assert (made[0], made[-1]) == ({"a": 0, "b": None}, {"a": None, "b": [1.5]})


def test_scores_of_jsonl_that_are_whole_at_first():
    rows = [{"p": i % 2} for i in range(150)] + [{"p": 0.5}]
    assert apply(put("x.jsonl", lines(rows)), "out.parquet") == 0
    made = pl.read_parquet("out.parquet")
    assert made["p"].to_list() == [row["p"] for row in rows]
    assert made["p_calibrated"].to_list() == mapped(made["p"])


def test_jsonl_of_mixed_types_and_nan(capsys):
    rows = [{"p": 0.5, "id": 2**53 + 1, "m": True, "n": {"a": 1}, "b": False}]
    rows += [{"p": 0, "id": 7, "m": 3, "n": "x", "b": True}]
    text = lines(rows) + '{"p": NaN, "id": 8}\n'
    assert apply(put("x.jsonl", text), "out.parquet") == 2
    assert "p is missing in 1 row, row 3 of x.jsonl" in capsys.readouterr().err
    assert apply("x.jsonl", "out.parquet", "--missing", "drop") == 0
    made = pl.read_parquet("out.parquet")
    assert made["id"].to_list() == [2**53 + 1, 7]
    assert made["m"].to_list() == [1, 3]
    assert made["n"].to_list() == ['{"a": 1}', "x"]
    assert made["b"].to_list() == [False, True]


def test_fields_of_csv_are_text_in_parquet():
    put("x.csv", "zip,y,when,p\n01234,1,2020-01-01,0.3\nNA,0,,0.70\n")
    assert apply("x.csv", "out.parquet") == 0
    want = {
        "zip": ["01234", "NA"], "y": ["1", "0"], "when": ["2020-01-01", None],
        "p": [LOW, HIGH], "p_calibrated": mapped([LOW, HIGH]),
    }  # fmt: skip
    assert_frame_equal(pl.read_parquet("out.parquet"), pl.DataFrame(want))
    evaluated = sw.tally("out.parquet", label="y", score="p_calibrated")
    assert evaluated.origin.positive == "1"


FIELDS = 'a,"b, c",p,d\n01234,"x ""y""",0.30,\n,"",0.7,"two\nlines"\n" ",NA,1e-1,+5\n'


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_fields_of_csv_stay_as_they_are_in_csv(end):
    put("x.csv", FIELDS.removesuffix("\n") + end)
    assert apply("x.csv", "out.csv") == 0
    q = mapped([0.3, 0.7, 0.1])
    want = 'a,"b, c",p,d,p_calibrated\n' + (
        f'01234,"x ""y""",0.30,,{q[0]}\n,"",0.7,"two\nlines",{q[1]}\n ,NA,1e-1,+5,{q[2]}\n'
    )
    assert Path("out.csv").read_text() == want


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_blank_lines_at_the_end_are_no_rows(to):
    put("x.csv", "p,x\r\n0.3,1\r\n0.7,2\r\n\r\n\r\n")
    assert apply("x.csv", f"out.{to}") == 0
    made = pl.read_csv("out.csv") if to == "csv" else pl.read_parquet("out.parquet")
    assert made["p"].to_list() == [LOW, HIGH]


def test_text_in_another_encoding(capsys):
    put("x.csv", "name,p\nété,0.3\nètè,0.7\n".encode("latin-1"))
    assert apply("x.csv", "out.csv") == 2
    err = capsys.readouterr().err
    assert "x.csv is not text in UTF-8: byte 0xe9 in row 1" in err
    assert "pass --encoding latin-1" in err
    assert not Path("out.csv").exists()
    assert apply("x.csv", "out.csv", "--encoding", "latin-1") == 0
    assert pl.read_csv("out.csv")["name"].to_list() == ["été", "ètè"]


def test_an_encoding_for_several_classes(capsys):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 90)
    y = np.array(["é", "è", "c"])[rng.integers(0, 3, 90)]
    frame = pl.DataFrame({"y": y, **{f"p_{c}": p[:, k] for k, c in enumerate(("é", "è", "c"))}})
    put("x.csv", frame.write_csv().encode("latin-1"))
    named = ["--classes", "p_*", "--encoding", "latin-1"]
    fit = ["x.csv", "--label", "y", "--method", "temperature", "-o", "classes.json"]
    assert run(["calibrate", "fit", *fit, *named]) == 0
    assert run(["calibrate", "apply", "classes.json", "x.csv", *named, "-o", "out.parquet"]) == 0
    made = pl.read_parquet("out.parquet")
    assert made.columns[-3:] == ["calibrated_p_é", "calibrated_p_è", "calibrated_p_c"]
    assert made["y"].to_list() == y.tolist()


def test_columns_of_the_same_name(capsys):
    put("x.csv", "x,p,x\n1,0.3,2\n3,0.7,4\n")
    assert apply("x.csv", "out.csv") == 0
    q = mapped([LOW, HIGH])
    assert Path("out.csv").read_text() == f"x,p,x,p_calibrated\n1,0.3,2,{q[0]}\n3,0.7,4,{q[1]}\n"
    assert apply("x.csv", "out.parquet") == 2
    assert "2 columns of x.csv are named 'x', which parquet cannot hold" in capsys.readouterr().err
    put("x.csv", "p,p\n0.3,0.7\n")
    assert apply("x.csv", "out.csv") == 2
    assert "2 columns are named 'p'; give them names apart" in capsys.readouterr().err


TYPES = pl.DataFrame(
    {
        "p": pl.Series([LOW, HIGH], dtype=pl.Float32),
        "date": [datetime.date(2020, 1, 1), None],
        "time": [datetime.datetime(2020, 1, 1, 12, 30), None],
        "decimal": [decimal.Decimal("1.50"), None],
        "word": pl.Series(["a", "b"], dtype=pl.Categorical),
        "list": [[1], []],
        "object": [{"a": 1}, {"a": None}],
        "small": pl.Series([1, None], dtype=pl.Int8),
        "bytes": [b"\xff", None],
    }
)


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
def test_types_stay(form):
    write = {"parquet": TYPES.write_parquet, "arrow": TYPES.write_ipc}
    write.get(form, TYPES.write_ipc_stream)("x.parquet" if form == "parquet" else "x.arrow")
    source = "x.parquet" if form == "parquet" else "x.arrow"
    assert apply(source, "out.parquet") == 0
    made = pl.read_parquet("out.parquet")
    assert_frame_equal(made.drop("p_calibrated"), TYPES)
    assert made["p_calibrated"].to_list() == mapped(np.array([LOW, HIGH], np.float32))


@pytest.mark.parametrize("column", ["list", "object", "bytes"])
def test_what_csv_cannot_hold_is_refused(column, capsys):
    TYPES.select("p", column).write_parquet("x.parquet")
    assert apply("x.parquet", "out.csv") == 2
    assert f"'{column}' of x.parquet is of type" in capsys.readouterr().err
    assert not Path("out.csv").exists()


WORDS = [
    "0.5", " 0.5 ", "5e-1", "+0.5", ".5", "1", "0", "00.5", "NA", "nan", "", "None", " NA", "n/a", "0,5",
    "true", "inf", "-inf", "Infinity", "1_0", "0x1", "1.5", "-0.1", "9007199254740993", "½", "0.5f",
]  # fmt: skip


@pytest.mark.parametrize("missing", ["refuse", "drop"])
@pytest.mark.parametrize("word", WORDS)
def test_scores_are_read_as_by_evaluate(word, missing, capsys):
    put("x.csv", f'y,p\n1,0.25\n0,"{word}"\n')
    try:
        rows = sw.tally("x.csv", label="y", score="p", kind="probability", missing=missing)
        want = sorted(rows.score.tolist())
    except sw.BadInput as problem:
        want = str(problem).partition(";")[0]
    capsys.readouterr()
    code = apply("x.csv", "out.parquet", "--missing", missing)
    if isinstance(want, str):
        assert code == 2
        assert (
            capsys.readouterr().err.removeprefix("scorewise: ").startswith(want.partition(" (")[0])
        )
    else:
        assert code == 0
        assert sorted(pl.read_parquet("out.parquet")["p"].to_list()) == want


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", 0.5], "p is not a number in 1 row, row 1 of x.jsonl ('a')"),
        ([0.5, True], None),
        ([0.5, None], "p is missing in 1 row, row 2 of x.jsonl"),
        ([[0.5]], "'p' of x.jsonl is of type List, which csv cannot hold"),
    ],
)
def test_scores_of_jsonl_are_read_as_by_evaluate(values, said, capsys):
    put("x.jsonl", lines([{"p": value} for value in values]))
    assert apply("x.jsonl", "out.csv") == (0 if said is None else 2)
    if said is not None:
        assert said in capsys.readouterr().err


def test_faults_are_counted_over_all_batches_and_files(capsys):
    rows = ["0.5"] * 300_000
    for at in (10, 299_999):
        rows[at] = "2"
    put("a.csv", "p\n0.5\n")
    put("b.csv", "p\n" + "\n".join(rows) + "\n")
    assert run(["calibrate", "apply", "map.json", "a.csv", "b.csv", "-o", "out.csv"]) == 2
    said = "p is outside [0, 1] in 2 rows, first at row 11 of b.csv; the map is for probabilities"
    assert said in capsys.readouterr().err


def test_rows_with_too_many_fields(capsys):
    put("x.csv", "p,x\n0.5,1\n0.5,1,2\n")
    assert apply("x.csv", "out.csv") == 2
    assert "x.csv has 3 fields in row 2 but 2 in its header" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_names_that_polars_does_not_take():
    for name in (os.fsdecode(b"caf\xe9.csv"), "a[1].csv"):
        assert apply(put(name, "p\n0.5\n"), "out.csv") == 0


def test_packed_files_pipes_and_standard_input(monkeypatch):
    text = b"p;x\n0.3;a\n0.7;b\n"
    want = apply(put("x.csv", text), "want.csv"), Path("want.csv").read_text()
    put("x.csv.gz", gzip.compress(text))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(text))
    writer.start()
    for source in ("x.csv.gz", "-", "pipe"):
        assert (apply(source, "out.csv"), Path("out.csv").read_text()) == want
    writer.join()


def test_files_of_several_formats():
    put("a.csv", "p,x\n0.3,1\n")
    pl.DataFrame({"p": [HIGH], "x": [2]}).write_parquet("b.parquet")
    args = ["a.csv", "b.parquet", "--score", "p", "-o", "out.parquet"]
    assert run(["calibrate", "apply", "map.json", *args]) == 0
    made = pl.read_parquet("out.parquet")
    assert (made["p"].to_list(), made["x"].to_list()) == ([LOW, HIGH], ["1", "2"])


def test_a_repeated_header_beside_the_name_that_polars_gives_it(capsys):
    assert apply(put("d.csv", "x,p,x,x_duplicated_0\n1,0.5,2,9\n3,0.4,4,9\n"), "o.csv") == 2
    assert "have the same name" in capsys.readouterr().err

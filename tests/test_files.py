"""Files, shards, frames and standard input; what is read, and each sentence of refusal."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import threading
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewise import BadInput
from scorewise.columns import binary_rows
from scorewise.columns import csv_files as csv_tables
from scorewise.columns.csv_files import MISSING, numbers
from scorewise.columns.files import open_source

FRAME = pl.DataFrame({"id": [7, 8, 9], "y": [1, 0, 1], "p": [0.5, 0.25, 0.75], "w": [1, 2, 3]})


def packed(data: bytes) -> bytes:
    """Gzip without the time of day, so that every worker collects the same cases."""
    return gzip.compress(data, mtime=0)


CSV = b"id,y,p,w\n7,1,0.5,1\n8,0,0.25,2\n9,1,0.75,3\n"
JSONL = b'{"id":7,"y":1,"p":0.5}\n{"id":8,"y":0,"p":0.25}\n{"id":9,"y":1,"p":0.75}\n'


def binary(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


PARQUET = binary(FRAME.write_parquet)
ARROW = binary(FRAME.write_ipc)
STREAM = binary(FRAME.write_ipc_stream)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name: str, data: bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return name


def sentence(source, **settings):
    with pytest.raises(BadInput) as problem:
        binary_rows(source, **settings)
    assert problem.value.__cause__ is None
    return str(problem.value)


CONTENTS = {
    "a.csv": CSV,
    "A.CSV": CSV,
    "a [1].csv": CSV,
    "windows.csv": b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"),
    "semicolons.csv": CSV.replace(b",", b";"),
    "spaces.csv": CSV.replace(b",0", b", 0"),
    "latin.csv": b"y,p,note\n1,0.5,caf\xe9\n0,0.25,\n1,0.75,x\n",
    "utf-16.csv": CSV.decode().encode("utf-16"),
    "blank end.csv": CSV + b"\n\n",
    "no end.csv": CSV[:-1],
    "quoted.csv": b'"y","p","note"\n"1","0.5","a,b"\n"0","0.25","two\nlines"\n"1","0.75",""\n',
    "blank start.csv": b"\n\n" + CSV,
    "blank windows start.csv": b"\xef\xbb\xbf\r\n\r\n" + CSV.replace(b"\n", b"\r\n"),
    "comma in header.csv": b'"a,b";y;p\nx;1;0.5\nx;0;0.25\nx;1;0.75\n',
    "lines in header.csv": b'"a\nb",y,p\nx,1,0.5\nx,0,0.25\nx,1,0.75\n',
    "a.tsv": CSV.replace(b",", b"\t"),
    "a.csv.gz": packed(CSV),
    "a.jsonl": JSONL,
    "a.ndjson": JSONL.replace(b"\n", b"\n\n"),
    "a.jsonl.gz": packed(JSONL),
    "mixed.jsonl": b'{"y":true,"p":0.5}\n{"y":0,"p":0.25}\n{"p":0.75,"y":1.0}\n',
    "a.parquet": PARQUET,
    "a.pq": PARQUET,
    "a.arrow": ARROW,
    "a.feather": ARROW,
    "a.ipc": STREAM,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_formats(name):
    loaded = binary_rows(put(name, CONTENTS[name]), label="y", score=["p"])
    assert loaded.y.tolist() == [True, False, True]
    assert loaded.scores["p"].tolist() == [0.5, 0.25, 0.75]
    assert loaded.scores["p"].dtype == np.float64
    assert (loaded.sources, loaded.names.label, loaded.notes) == ((name,), "y", ())


@pytest.mark.parametrize("data", [CSV, JSONL, PARQUET, ARROW, STREAM, packed(CSV), packed(JSONL)])
def test_standard_input(data, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    loaded = binary_rows("-", label="y", score="p")
    assert loaded.y.tolist() == [True, False, True]
    assert loaded.sources == ("standard input",)


def test_named_pipe():
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(CSV))
    writer.start()
    loaded = binary_rows("pipe", label="y", score="p")
    writer.join()
    assert loaded.y.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.lazy(),
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        nw.from_native(FRAME),
        FRAME.to_dict(),
        FRAME.to_dict(as_series=False),
    ],
    ids=["polars", "lazy", "pandas", "arrow", "narwhals", "series", "lists"],
)
def test_frames(frame):
    loaded = binary_rows(frame, weight="w", count="id")
    assert loaded.y.tolist() == [True, False, True]
    assert loaded.scores["p"].tolist() == [0.5, 0.25, 0.75]
    assert loaded.weight.tolist() == [1.0, 2.0, 3.0]
    assert loaded.count.tolist() == [7, 8, 9]
    assert loaded.sources == ()


def test_frames_count_rows_from_zero():
    frame = pd.DataFrame({"y": [1, 0], "p": [0.5, None]})
    assert sentence(frame) == (
        'p is missing in 1 row, row 1, counting from 0; drop it or pass missing="drop"'
    )


def test_columns_named_by_numbers():
    frame = pd.DataFrame([[1, 0.2], [0, 0.3]])
    assert binary_rows(frame, label="0", score="1").scores["1"].tolist() == [0.2, 0.3]


# shards


def test_shards_in_order_with_mixed_formats_and_types():
    put("s/1.csv", b"y,p\n1,0\n0,1\n")
    put("s/2.csv", b"p,y\n0.5,0\n")
    put("s/3.csv", b"y,p\n")
    pl.DataFrame({"y": [True], "p": pl.Series([0.75], dtype=pl.Float32)}).write_parquet("4.pq")
    loaded = binary_rows(["s/*.csv", "4.pq"], label="y", score="p")
    assert loaded.y.tolist() == [True, False, False, True]
    assert loaded.scores["p"].tolist() == [0.0, 1.0, 0.5, 0.75]
    assert loaded.sources == ("1.csv", "2.csv", "3.csv", "4.pq")


def test_shards_of_text_and_categories():
    pl.DataFrame({"y": pl.Series(["no"], dtype=pl.Categorical), "p": [1]}).write_parquet("1.pq")
    put("2.csv", b"y,p\nyes,2\n")
    assert binary_rows(["1.pq", "2.csv"]).labels.positive == "yes"


def test_recursive_glob():
    put("a/b/1.csv", CSV)
    put("a/2.csv", CSV)
    assert binary_rows("a/**/*.csv", label="y", score="p").sources == ("2.csv", "1.csv")


# what counts as missing, and as a number


@pytest.mark.parametrize("word", ["", "NA", "NaN", "nan", "null", "NULL", "None", "<NA>", '"NA"'])
def test_missing_in_csv(word):
    source = put("a.csv", f"y,p\n1,0.5\n0,{word}\n".encode())
    assert sentence(source) == (
        'p is missing in 1 row, row 2 of a.csv; drop it or pass missing="drop"'
    )
    assert binary_rows(source, missing="drop").dropped == 1


def test_missing_in_jsonl():
    source = put("a.jsonl", b'{"y":1,"p":NaN}\n{"y":1}\n{"y":0,"p":null}\n{"y":0,"p":1}\n')
    assert binary_rows(source, missing="drop").dropped == 3


@pytest.mark.parametrize(
    ("column", "positive", "y", "rule"),
    [
        ("0 1", "1", "01", "given"),
        ("0 1", None, "01", "1 of 0 and 1"),
        ("0.0 1.0", "1", "01", "given"),
        ("True False", "true", "10", "given"),
        ("true false", None, "10", "known word"),
        ("-1 1", None, "01", "1 of -1 and 1"),
        ("a b", "a", "10", "given"),
    ],
)
def test_labels_in_csv(column, positive, y, rule):
    rows = "".join(f"{v},0.5\n" for v in column.split())
    loaded = binary_rows(put("a.csv", f"y,p\n{rows}".encode()), positive=positive)
    assert loaded.y.tolist() == [c == "1" for c in y]
    assert loaded.labels.rule == rule


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_in_text_are_read_to_the_last_bit(values):
    read = numbers(pl.Series([repr(v) for v in values]))
    assert read.dtype == pl.Float64
    assert read.to_list() == values


def test_a_type_that_widens_late_in_jsonl():
    lines = b'{"y":1,"p":1}\n{"y":0,"p":0}\n' * 60_000
    source = put("a.jsonl", lines + b'{"y":true,"p":0.5}\n')
    rows = binary_rows(source)
    assert (len(rows.y), rows.y[-1], rows.scores["p"][-1]) == (120_001, True, 0.5)


def test_stray_text_late_in_a_column():
    source = put("a.csv", b"y,p\n" + b"1,0.5\n0,1\n" * 2000 + b"1,?\n")
    assert sentence(source) == (
        "p is not a number in 1 row, row 4001 of a.csv ('?'); correct it or leave such rows out"
    )


# refusals

DAMAGED = "cannot be read as {}; it is damaged or cut short"
KNOWN = (
    "known are .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .pq, .arrow, .feather, .ipc, "
    "and .gz after those of text"
)
REFUSED = [
    ("e.csv", b"", "e.csv is empty (0 bytes)"),
    ("e.parquet", b"", "e.parquet is empty (0 bytes)"),
    ("e.csv.gz", packed(b""), "e.csv.gz is empty (0 bytes once unpacked)"),
    ("h.csv", b"y,p\n", "h.csv has no rows"),
    ("h.csv", b"y,p", "h.csv has no rows"),
    ("h.jsonl", b"\n\n", "h.jsonl has no rows"),
    ("h.parquet", binary(pl.DataFrame({"y": [], "p": []}).write_parquet), "h.parquet has no rows"),
    ("t.parquet", PARQUET[:-9], "t.parquet " + DAMAGED.format("parquet")),
    ("g.parquet", bytes(range(256)), "g.parquet " + DAMAGED.format("parquet")),
    ("t.arrow", ARROW[:200], "t.arrow " + DAMAGED.format("arrow")),
    ("g.arrow", b"junkjunk", "g.arrow " + DAMAGED.format("arrow")),
    ("t.ipc", STREAM[:-60], "t.ipc " + DAMAGED.format("arrow")),
    ("t.csv.gz", packed(CSV)[:-10], "t.csv.gz " + DAMAGED.format("gzip")),
    ("g.csv.gz", b"y,p\n1,2\n", "g.csv.gz " + DAMAGED.format("gzip")),
    ("b.csv", bytes(range(256)),
     "b.csv is not text in UTF-8; save it as csv in UTF-8, or as parquet"),
    ("r.csv", b"y,p\n1,0.5\n0,1,2\n",
     "r.csv has 3 fields in row 2 but 2 in its header; quote the fields that contain ','"),
    ("r.csv", b"y,p,note\n1,0.5,a\n0,0,5,b\n",  # in columns that are not read, too
     "r.csv has 4 fields in row 2 but 3 in its header; quote the fields that contain ','"),
    ("c.csv", b"y,p\r1,0.5\r0,1\r",
     "c.csv ends its lines with CR alone; save it with lines that end with LF or CRLF"),
    ("s.csv", b"y,p\n1,0.5\n0,n/a\n1,?\n",
     "p is not a number in 2 rows, first at row 2 of s.csv ('n/a'); "
     "correct it or leave such rows out"),
    ("m.csv", b"y,p\n1,0.5\nNA,1\n,1\n",
     'y is missing in 2 rows, first at row 2 of m.csv; drop them or pass missing="drop"'),
    ("i.csv", b"y,p\n1,0.5\n0,-inf\n",
     "p is infinite in 1 row, row 2 of i.csv (-inf); "
     "give it a finite value or leave such rows out"),
    ("d.csv", b"y,p,p\n1,2,3\n", "2 columns are named 'p'; give them names apart"),
    ("b.jsonl", b'{"y":1,"p":0.5}\n{"y":0,"p":\n',
     "b.jsonl is not JSON in line 2; one object per line is wanted"),
    ("l.jsonl", b'{"y":1,"p":0.5}\n[0, 1]\n',
     "l.jsonl has a list in line 2; one object per line is wanted"),
    ("b.jsonl", b"\xff\xfe\n", "b.jsonl is not text in UTF-16, as its first bytes say: byte 0x0a in line 1 "
     "(byte 3); save it in UTF-8"),
    ("s.jsonl", b'{"y":1,"p":0.5}\n{"y":0,"p":"n/a"}\n',
     "p is not a number in 1 row, row 2 of s.jsonl ('n/a'); correct it or leave such rows out"),
    ("n.jsonl", b'{"y":1,"p":{"a":1}}\n',
     "p holds a dict in a row; pass one number or label per row"),
    ("x.xlsx", b"PK", "x.xlsx has no extension known here; " + KNOWN),
    ("x.parquet.gz", b"PK", "x.parquet.gz has no extension known here; " + KNOWN),
    ("x", b"PK", "x has no extension known here; " + KNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "expected"), REFUSED)
def test_refused_in_one_sentence(name, data, expected):
    assert sentence(put(name, data)) == expected


def test_no_such_file():
    put("day1.csv", CSV)
    assert sentence("dya1.csv") == "there is no file dya1.csv; did you mean day1.csv?"
    assert sentence("else/where.csv") == "there is no file else/where.csv"
    assert sentence("z*.csv") == "no file matches z*.csv; check the folder and the pattern"
    assert sentence([]) == "no files were given; pass at least one"


def test_folders():
    put("shards/a.parquet", PARQUET)
    put("other/readme.md", b"")
    assert sentence("shards") == "shards is a folder; pass its files, such as 'shards/*.parquet'"
    assert sentence("other/") == (
        "other/ is a folder without files of a known format; pass files instead"
    )


def test_files_given_twice():
    put("a.csv", CSV)
    assert sentence(["a.csv", "*.csv"]) == "a.csv is given twice; its rows would count twice"
    assert sentence(["-", "-"]) == "- is given twice; its rows would count twice"


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert sentence("-") == "standard input is empty (0 bytes)"


def test_permission_denied(monkeypatch):
    put("a.csv", CSV)
    original = Path.open

    def deny(self, *args, **settings):
        if self.name == "a.csv":
            raise PermissionError
        return original(self, *args, **settings)

    monkeypatch.setattr(Path, "open", deny)
    assert sentence("a.csv") == "a.csv may not be read: permission denied"


def test_shards_that_differ():
    put("1.csv", b"y,prob\n1,0.5\n")
    put("2.csv", b"y,prop\n1,0.5\n")
    put("3.csv", b"y\n1\n")
    assert sentence(["1.csv", "2.csv"]) == (
        "2.csv has no column 'prob', which 1.csv has; did you mean 'prop' there?"
    )
    assert sentence(["1.csv", "3.csv"]) == (
        "3.csv has no column 'prob', which 1.csv has; give it one or leave it out"
    )
    dated = FRAME.with_columns(pl.date(2020, 1, 1).alias("prob"))
    dated.write_parquet("4.parquet")
    assert sentence(["1.csv", "4.parquet"], label="y", score="prob") == (
        "prob is of type Float64 in 1.csv and Date in 4.parquet; "
        "give it the same type in every file"
    )


def test_rows_are_found_in_their_shard():
    put("a/part.csv", b"y,p\n1,0.5\n0,1\n")
    put("b/part.csv", b"y,p\n1,0.5\n0,x\n")
    assert sentence("?/part.csv") == (
        "p is not a number in 1 row, row 2 of b/part.csv ('x'); correct it or leave such rows out"
    )


def test_shards_without_rows():
    put("1.csv", b"y,p\n")
    put("2.csv", b"y,p\n")
    assert sentence(["1.csv", "2.csv"]) == "none of the 2 files has any rows"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (5, "a value of type int is not a source of rows; "
         "pass a file name, a list of them, a data frame or a dict of columns"),
        (np.zeros((2, 2)), "a value of type ndarray is not a source of rows; "
         "pass a file name, a list of them, a data frame or a dict of columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]),
         "the data frame cannot be used: Expected unique column names, got: - 'a' 2 times"),
        ({}, "the source has no columns"),
    ],
)  # fmt: skip
def test_no_sources(source, expected):
    assert sentence(source) == expected


@pytest.mark.parametrize("seed", range(40))
def test_a_parquet_file_with_flipped_bytes_never_leaks_an_exception(seed, capfd):
    random = np.random.default_rng(seed)
    data = bytearray(PARQUET)
    for place in random.integers(4, len(data) - 4, 3):
        data[place] ^= int(random.integers(1, 256))
    with contextlib.suppress(BadInput):
        rows = binary_rows(put("a.parquet", bytes(data)), label="y", score="p")
        assert len(rows.y) == len(rows.scores["p"])
    capfd.readouterr()


def test_a_panic_of_the_reader_is_a_sentence(monkeypatch):
    def panic(*args, **settings):
        raise pl.exceptions.PanicException("assertion failed")

    monkeypatch.setattr(pl, "scan_parquet", panic)
    source = put("a.parquet", PARQUET)
    assert sentence(source) == "a.parquet cannot be read as parquet; it is damaged or cut short"


# columns


def by_name(role, column):
    return f"{role}: column '{column}' (not named; taken because of its name)"


@pytest.mark.parametrize(
    ("columns", "settings", "label", "scores", "notes"),
    [
        (["y", "p"], {}, "y", ("p",), [by_name("label", "y"), by_name("score", "p")]),
        (["id", "Target", "Y_Score"], {}, "Target", ("Y_Score",),
         [by_name("label", "Target"), by_name("score", "Y_Score")]),
        (["y", "a", "b"], {"score": ["b", "a"]}, "y", ("b", "a"), [by_name("label", "y")]),
        (["truth", "y", "p"], {"label": "y"}, "y", ("p",), [by_name("score", "p")]),
        (["died", "tree"], {"label": "died"}, "died", ("tree",),
         ["score: column 'tree' (not named; the only column left)"]),
        (["died", "tree", "w"], {"score": ["tree"], "weight": "w"}, "died", ("tree",),
         ["label: column 'died' (not named; the only column left)"]),
    ],
)  # fmt: skip
def test_pick(columns, settings, label, scores, notes):
    rows = binary_rows({c: [0, 1] for c in columns}, **settings)
    assert (rows.names.label, tuple(rows.scores), list(rows.notes)) == (label, scores, notes)


MANY = [f"c{i}" for i in range(15)]


@pytest.mark.parametrize(
    ("columns", "settings", "expected"),
    [
        (["label", "p", "w"], {"label": "Lable"},
         "there is no column 'Lable'; did you mean 'label' (the columns are 'label', 'p', 'w')?"),
        (["y", "p"], {"weight": "importance"},
         "there is no column 'importance'; the columns are 'y', 'p'"),
        (["y", "p"], {"score": ["p", "p"]},
         "column 'p' is given twice as score; name a different column for each"),
        (["y", "p"], {"label": "y", "score": ["y"]},
         "column 'y' is given as label and as score; name a different column for each"),
        (["y", "p"], {"score": ["p"], "weight": "p"},
         "column 'p' is given as score and as weight; name a different column for each"),
        (["y", "target", "p"], {},
         "the label column is not named and may be 'y' or 'target'; pass label= with one of them"),
        (["a", "b", "c"], {},
         "the label column is not named and no name suggests it; "
         "pass label= with one of the columns 'a', 'b', 'c'"),
        (["y", "a", "b"], {},
         "the score column is not named and no name suggests it; "
         "pass score= with one of the columns 'y', 'a', 'b'"),
        (MANY, {"label": "zzz"},
         "there is no column 'zzz'; the columns are 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', "
         "'c7', 'c8', 'c9', 'c10', 'c11' and 3 more"),
    ],
)  # fmt: skip
def test_pick_refuses_in_one_sentence(columns, settings, expected):
    with pytest.raises(BadInput) as problem:
        binary_rows({c: [0, 1] for c in columns}, **settings)
    assert str(problem.value) == expected


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "ipc"])
def test_brackets_in_a_name_are_no_glob(form):
    other = FRAME.with_columns(p=pl.lit(0.125))
    write = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}.get(form)
    write = write or ("write_ipc" if form == "arrow" else "write_ipc_stream")
    put(f"a[1].{form}", binary(getattr(FRAME, write)))
    put(f"a1.{form}", binary(getattr(other, write)))
    rows = binary_rows(f"a[1].{form}", label="y", score="p")
    assert rows.scores["p"].tolist() == [0.5, 0.25, 0.75]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_names_that_are_not_utf8(form):
    data = {"csv": CSV, "jsonl": JSONL, "parquet": PARQUET, "arrow": ARROW}[form]
    name = put(os.fsdecode(b"caf\xe9.") + form, data)
    assert binary_rows(name, label="y", score="p").y.tolist() == [True, False, True]


def test_a_long_header_is_read_to_its_end():
    names = [f"a_rather_long_name_{i}" for i in range(8000)] + ["y", "p"]
    rows = "".join("0," * 8000 + f"{y},{p}\n" for y, p in [(1, 0.5), (0, 0.25)])
    loaded = binary_rows(
        put("wide.csv", f"{','.join(names)}\n{rows}".encode()), label="y", score="p"
    )
    assert loaded.scores["p"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, -(2**64), 2**130, 10**400, 10**4200])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_integers_that_floats_cannot_hold_are_refused(form, number):
    rows = f"y,p\n1,{number}\n0,1\n"
    if form == "jsonl":
        rows = f'{{"y":1,"p":{number}}}\n{{"y":0,"p":1}}\n'
    said = sentence(put(f"a.{form}", rows.encode()))
    assert said.startswith(f"p is an integer beyond 2**53 in 1 row, row 1 of a.{form} (")
    assert said.endswith("), which floats cannot tell from its neighbours; scale it down")
    assert len(said) < 200


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused(opening):
    deep = opening * 5000 + "1" + {"[": "]"}.get(opening, "}") * 5000
    source = put("a.jsonl", f'{{"y":0,"p":1}}\n{{"y":1,"p":0.5,"z":{deep}}}\n'.encode())
    assert sentence(source) == (
        "a.jsonl is nested too deeply in line 2; leave out the field that is"
    )


def test_names_that_lead_nowhere():
    long = "x" * 300 + ".csv"
    assert sentence(long) == f"there is no file {long}"
    assert sentence("~nobody_x/x.csv") == "there is no file ~nobody_x/x.csv"
    Path("broken.csv").symlink_to("absent.csv")
    Path("loop.csv").symlink_to("loop.csv")
    for name in ("broken.csv", "loop.csv"):
        assert sentence(name) == f"{name} is a link to nothing; pass the file itself"


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_names_that_are_not_utf8_are_shown_in_it():
    name = put(os.fsdecode(b"caf\xe9.csv"), CSV)
    assert binary_rows(name, label="y", score="p").sources == ("caf\ufffd.csv",)


def test_columns_of_one_name_are_refused_in_any_file():
    put("1.csv", b"y,p\n1,0.5\n")
    put("2.csv", b"y,p,p\n1,0.5,0.25\n")
    assert sentence(["1.csv", "2.csv"]) == "2 columns of 2.csv are named 'p'; give them names apart"
    twice = pa.table(
        [pa.array([1, 0]), pa.array([0.5, 1]), pa.array([0, 1])], names=["y", "p", "p"]
    )
    pq.write_table(twice, "twice.parquet")
    assert sentence("twice.parquet") == (
        "columns of twice.parquet have the same name; give them names apart"
    )


COLUMNS = {
    "integers, then floats": ["1", "2", "0.5", "3"],
    "numbers, then words": ["01", "2", "x", "", "3"],
    "missing, then words": ["NA", "", "x", "y"],
    "missing, then floats": ["NA", "", "0.5", "1"],
    "beyond 64 bits": ["1", "2", str(2**64), "3"],
    "nothing": ["", "NA", "", ""],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_batches_make_the_column_that_the_whole_file_would(name, monkeypatch):
    source = put("a.csv", "\n".join(["a,b", *(f'"{c}",z' for c in COLUMNS[name])]).encode())
    want = numbers(pl.Series([None if c in MISSING else c for c in COLUMNS[name]], dtype=str))
    for rows in (2, 1000):
        monkeypatch.setattr(csv_tables, "_BATCH", rows)
        found = open_source(source).read(["a"], ())[0]["a"]
        assert (found.dtype, found.to_list()) == (want.dtype, want.to_list())

"""Files larger than memory: read in batches, the same as at once; exact, and then with bounds."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.columns import streaming
from scorewise.engines.file_walk import Progress, bytes_of, is_large, listening
from scorewise.engines.sums import GroupSums, MemoryBudget
from scorewise.errors import BadInput

ROWS = 4000
WRITE = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "jsonl": pl.DataFrame.write_ndjson,
    "arrow": pl.DataFrame.write_ipc,
}


def frame(rows: int = ROWS, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.2
    p = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * y - 2)))
    return pl.DataFrame(
        {
            "y": y.astype(np.int64),
            "p": np.round(p, 5),
            "w": rng.exponential(size=rows),
            "n": rng.integers(0, 4, rows),
            "site": rng.choice(["a", "b", "c"], rows),
        }
    )


@pytest.fixture(autouse=True)
def small_batches(monkeypatch, tmp_path):
    monkeypatch.setattr(streaming, "BATCH", 700)
    monkeypatch.chdir(tmp_path)


def stored(data: pl.DataFrame, name: str = "rows.parquet") -> str:
    WRITE[name.rpartition(".")[2]](data, name)
    return name


def both(file: str, memory: str = "200KB", **options):
    """What is found at once, and in batches."""
    assert is_large([file], memory)
    assert not is_large([file], "1GB")
    return sw.evaluate(file, **options), sw.evaluate(file, memory=memory, **options)


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("form", WRITE)
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"count": "n"}, {"weight": "w", "count": "n"}]
)
def test_batches_give_the_tally_of_the_whole(form, options, monkeypatch):
    monkeypatch.setattr("scorewise.engines.sums.PER_SCORE", 1)
    monkeypatch.setattr("scorewise.engines.sums.PER_WEIGHTED", 1)
    file = stored(frame(), f"rows.{form}")
    at_once, batches = both(file, "60KB", label="y", score="p", **options)
    assert batches.tally.coarse is None
    assert batches.tally == at_once.tally
    assert batches.tally.origin == at_once.tally.origin
    assert batches.document() == at_once.document()


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["cat"] * 1500 + ["dog"] * (ROWS - 1500), None),  # undecided until the third batch
        (["dog"] * 1500 + ["cat"] * (ROWS - 1500), None),  # and then the other way round
        (["sick"] * 1500 + ["healthy"] * (ROWS - 1500), None),
        ([0] * 1500 + [-1] * (ROWS - 1500), None),  # not 0 and 1 after all
        ([True] * 1500 + [False] * (ROWS - 1500), None),
        (["a"] * 1500 + ["b"] * 1500 + ["c"] * (ROWS - 3000), "b"),
        ([2] * 1500 + [7] * 1500 + [5] * (ROWS - 3000), 7),
        (["Yes"] * 1500 + ["no"] * 1500 + ["yes "] * (ROWS - 3000), None),
    ],
    ids=lambda x: "" if x is None else str(x[0]) if isinstance(x, list) else str(x),
)
@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_classes_are_those_of_all_labels(labels, positive, form):
    file = stored(frame().with_columns(y=pl.Series(labels)), f"rows.{form}")
    at_once, batches = both(file, label="y", score="p", positive=positive)
    a, b = at_once.tally.origin, batches.tally.origin
    assert (a.positives, a.negatives) == (b.positives, b.negatives)
    assert a.positive.strip().lower() == b.positive.strip().lower()
    assert (a.negative, a.rule) == (b.negative, b.rule)
    assert batches.auroc.value == pytest.approx(
        at_once.auroc.value, abs=batches.auroc.bound + 1e-12
    )


@pytest.mark.filterwarnings("ignore:.*")
def test_scores_that_leave_the_unit_interval_late():
    p = np.append(np.linspace(0, 1, ROWS - 1), 3.0)
    file = stored(frame().with_columns(p=p))
    at_once, batches = both(file, "80KB", label="y", score="p")
    assert batches.tally.kind == at_once.tally.kind == "score"
    assert batches.tally.coarse.grid == "relative"
    assert batches.tally.ends == (0.0, 3.0)


def refusal(data: pl.DataFrame, form: str = "parquet", **options) -> str:
    with pytest.raises(BadInput) as caught:
        sw.evaluate(stored(data, f"rows.{form}"), label="y", score="p", memory="64KB", **options)
    return str(caught.value)


def test_a_bad_row_deep_inside_is_named():
    data = frame()
    at = pl.int_range(pl.len()) == 3210
    gap = data.with_columns(p=pl.when(at).then(None).otherwise(pl.col("p")))
    assert refusal(gap).startswith("p is missing at row 3211 of rows.parquet; ")
    word = data.with_columns(p=pl.when(at).then(pl.lit("high")).otherwise(pl.col("p").cast(str)))
    assert "row 3211 of rows.csv" in refusal(word, "csv")
    third = data.with_columns(y=pl.when(at).then(5).otherwise(pl.col("y")))
    assert refusal(third).startswith("y is '5' at row 3211 of rows.parquet, beside 0 and 1; ")
    weight = data.with_columns(w=pl.when(at).then(-1.0).otherwise(pl.col("w")))
    assert refusal(weight, weight="w").startswith("w is negative at row 3211 of rows.parquet")
    endless = data.with_columns(p=pl.when(at).then(np.inf).otherwise(pl.col("p")))
    assert "row 3211 of rows.parquet" in refusal(endless)
    no_weight = refusal(data.with_columns(w=pl.lit(0.0)), weight="w")
    assert no_weight == "w is zero in every row; give at least one row some weight"


@pytest.mark.filterwarnings("ignore:.*")
def test_rows_dropped_are_counted():
    at = pl.int_range(pl.len()) % 100 == 7
    file = stored(frame().with_columns(p=pl.when(at).then(None).otherwise(pl.col("p"))))
    at_once, batches = both(file, label="y", score="p", missing="drop")
    assert batches.tally.origin.dropped == at_once.tally.origin.dropped == 40
    assert batches.tally.origin.rows == at_once.tally.origin.rows == ROWS - 40


@pytest.mark.filterwarnings("ignore:.*")
def test_the_output_says_that_it_is_a_grid_and_how_wide(capsys):
    file = stored(frame())
    assert (
        run(
            [
                "evaluate",
                file,
                "--label",
                "y",
                "--score",
                "p",
                "--memory",
                "64KB",
                "--json",
                "a.json",
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "do not fit the memory of 64KB: they are kept on a grid of" in said.err
    assert "±" in said.out
    doc = json.loads(Path("a.json").read_text())
    model = doc["models"][0]
    assert model["exact"] is False
    area = next(m for m in model["measures"] if m["name"] == "auroc")
    exact = sw.evaluate(file, label="y", score="p").auroc.value
    assert 0 < area["bound"] < 1e-3
    assert abs(area["value"] - exact) <= area["bound"]


@pytest.mark.filterwarnings("ignore:.*")
def test_groups_in_batches():
    file = stored(frame())
    at_once, batches = both(file, "100KB", label="y", score="p", by="site")
    assert [*batches.groups] == ["a", "b", "c"]
    for name, own in batches.groups.items():
        assert own.tally.origin.rows == at_once.groups[name].tally.origin.rows
        assert own.auroc.value == pytest.approx(
            at_once.groups[name].auroc.value, abs=own.auroc.bound + 1e-12
        )


def test_standard_input_is_read_in_batches(monkeypatch):
    data = frame()
    text = io.TextIOWrapper(io.BytesIO(data.write_csv().encode()))
    monkeypatch.setattr(sys, "stdin", text)
    monkeypatch.setattr("scorewise.columns.decoding.IN_MEMORY", 1000)
    assert run(["tally", "-", "--label", "y", "--score", "p", "-o", "x.tally"]) == 0
    assert sw.Tally.load("x.tally") == sw.Tally.of(data["y"], data["p"])


@pytest.mark.filterwarnings("ignore:.*")
def test_progress_is_heard():
    heard: list[str] = []
    file = stored(frame())
    with listening(heard.append):
        sw.evaluate(file, label="y", score="p", memory="64KB")
    assert len(heard) >= ROWS // 700
    assert heard[-1].startswith(f"[####################] {ROWS:,} of {ROWS:,} rows, ")
    assert "rows/s" in heard[-1]
    assert Progress(0, 5, started=0.0).text(1.0) == "5 rows, 5 rows/s"


def test_sizes_of_memory():
    assert bytes_of("1GB") == 2**30
    assert bytes_of("250 mb") == 250 * 2**20
    with pytest.raises(BadInput, match="is not a size; write it as 500MB or 2GB"):
        bytes_of("much")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_a_process_keeps_to_the_memory_that_it_is_told(tmp_path):
    """More distinct scores than fit beside the program, fewer than would fit alone."""
    rng = np.random.default_rng(0)
    p = rng.random(8_000_000)
    pl.DataFrame({"y": rng.random(len(p)) < p, "p": p}).write_parquet("large.parquet")
    code = """
import re
from pathlib import Path
from scorewise.cli import run
given = ["large.parquet", "--label", "y", "--score", "p", "--memory", "500MB"]
assert run(["tally", *given, "-o", "large.tally"]) == 0
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "do not fit the memory of 500MB" in done.stderr
    assert int(done.stdout.splitlines()[-1]) < 500 * 1024


def test_what_grows_on_a_grid_is_the_coarse_tally_of_all():
    rng = np.random.default_rng(0)
    for case in range(6):
        rows = 60_000
        y, p = rng.random(rows) < (0.001, 0.3)[case % 2], rng.beta(0.3, 2, rows)
        p = p.round(3) if case % 3 == 1 else p.astype(np.float32) if case % 3 == 2 else p
        made = GroupSums(MemoryBudget(1 << 30, "probability"))
        for k in range(3):
            made.add({(): sw.Tally.of(y[k::3], p[k::3], positive=1)})
        known, total = sw.Tally.of(y, p).coarsen(), made.sums()[()]
        assert total == known
        for loss, moments in total.coarse.losses.items():
            np.testing.assert_allclose(moments, known.coarse.losses[loss], rtol=1e-12)


def test_scores_grow_on_a_grid_however_small_they_are():
    made = GroupSums(MemoryBudget(1 << 30, "probability"))
    t = sw.Tally.of(np.arange(100) % 2, np.append(np.linspace(0.1, 0.9, 99), 5e-324))
    made.add({(): t})
    assert made.sums()[()] == t.coarsen()

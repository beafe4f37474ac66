"""Files as tallies on the command line: shards, days and months, groups, windows, faults."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import scorewise as sw
from scorewise.cli import run
from scorewise.tallies import Tally, TallySet


def frame(seed: int, rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.2
    p = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * y - 2)))
    return pl.DataFrame(
        {
            "y": y.astype(np.int8),
            "p": np.round(p, 4),
            "w": rng.exponential(size=rows),
            "site": rng.choice(["north", "south"], rows),
            "date": [f"2026-{seed % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(rows)],
        }
    )


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    monkeypatch.chdir(tmp_path)
    frames = [frame(seed) for seed in range(4)]
    for k, own in enumerate(frames):
        own.write_parquet(f"day{k}.parquet")
    whole = pl.concat(frames)
    whole.write_parquet("whole.parquet")
    return whole


def made(*args: str) -> None:
    assert run([*args]) == 0


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    capsys.readouterr()
    assert run([*args]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert said[-1].startswith("scorewise: ")
    return said[-1]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--weight", "w"),
        ("--by", "site"),
        ("--by", "site", "--time", "date", "--every", "month"),
    ],
)
def test_a_month_is_its_days_bit_for_bit(days, options):
    for k in range(4):
        made(
            "tally", f"day{k}.parquet", "--label", "y", "--score", "p", *options, "-o", f"{k}.tally"
        )
    made("merge", "0.tally", "3.tally", "2.tally", "1.tally", "-o", "month.tally")
    made("tally", "day*.parquet", "--label", "y", "--score", "p", *options, "-o", "once.tally")
    assert Path("month.tally").read_bytes() == Path("once.tally").read_bytes()


def test_the_month_equals_the_file_of_all_rows(days):
    made("tally", "day*.parquet", "--label", "y", "--score", "p", "--weight", "w", "-o", "m.tally")
    t = Tally.load("m.tally")
    assert t == Tally.of(days["y"], days["p"], weight=days["w"])
    area = roc_auc_score(days["y"], days["p"], sample_weight=days["w"])
    assert sw.evaluate("m.tally").auroc.value == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("grid", ["probability", "relative"])
def test_days_on_a_grid_add_up(days, grid):
    given = ("--label", "y", "--score", "p", "--grid", grid)
    for k in range(4):
        made("tally", f"day{k}.parquet", *given, "-o", f"{k}.tally")
    made("merge", "0.tally", "1.tally", "2.tally", "3.tally", "-o", "month.tally")
    made("tally", "whole.parquet", *given, "-o", "once.tally")
    month, once = Tally.load("month.tally"), Tally.load("once.tally")
    assert month == once
    assert month.coarse is not None
    assert month.coarse.grid == grid
    area = roc_auc_score(days["y"], days["p"])
    e = sw.evaluate("month.tally").auroc
    assert abs(e.value - area) <= e.bound + 1e-12


def test_a_saved_tally_is_judged_as_its_rows(days):
    made("tally", "whole.parquet", "--label", "y", "--score", "p", "--weight", "w", "-o", "m.tally")
    made(
        "evaluate",
        "whole.parquet",
        "--label",
        "y",
        "--score",
        "p",
        "--weight",
        "w",
        "--json",
        "a.json",
    )
    made("evaluate", "m.tally", "--json", "b.json")
    assert json.loads(Path("a.json").read_text()) == json.loads(Path("b.json").read_text())


@pytest.mark.parametrize(
    "args",
    [
        ("gate", "m.tally", "--require", "auroc >= 0.7"),
        ("plan", "m.tally", "--half-width", "0.02"),
        ("threshold", "m.tally", "--at", "recall >= 0.9"),
        ("smroc", "m.tally"),
        ("drift", "m.tally", "m.tally"),
        ("report", "m.tally", "-o", "r.html"),
        ("calibrate", "fit", "m.tally", "-o", "map.json"),
        ("show", "m.tally", "--json", "show.json"),
    ],
    ids=lambda args: args[0],
)
def test_the_verbs_read_saved_tallies(days, args):
    made("tally", "whole.parquet", "--label", "y", "--score", "p", "-o", "m.tally")
    made(*args)


def test_verbs_of_single_rows_say_so(days, capsys):
    made("tally", "whole.parquet", "--label", "y", "--score", "p", "-o", "m.tally")
    assert "but single rows are needed here; evaluate" in refused(capsys, "inspect", "m.tally")
    assert "do not go together with rows" in refused(capsys, "evaluate", "m.tally", "day1.parquet")
    assert "leave out --label" in refused(capsys, "evaluate", "m.tally", "--label", "y")


def test_groups_of_a_saved_tally_are_those_of_the_rows(days):
    made("tally", "day*.parquet", "--label", "y", "--score", "p", "--by", "site", "-o", "m.tally")
    ours, rows = (
        sw.evaluate("m.tally"),
        sw.evaluate("whole.parquet", label="y", score="p", by="site"),
    )
    assert [*ours.groups] == [*rows.groups] == ["north", "south"]
    for name in rows.groups:
        assert ours.groups[name].tally == rows.groups[name].tally
    mine, theirs = (e.document().groups[0] for e in (ours, rows))
    for a, b in zip(mine.groups, theirs.groups, strict=True):
        assert (a.name, a.rows, a.positives) == (b.name, b.rows, b.positives)
        for x, z in zip(a.measures, b.measures, strict=True):
            assert x.name == z.name
            for field in ("value", "low", "high", "rest", "difference", "p"):
                one, other = getattr(x, field), getattr(z, field)
                assert (one is None) == (other is None), (x.name, field)
                # the rest is estimated from the whole where rows are at hand, and taken exactly here
                assert one is None or one == pytest.approx(other, rel=0.2, abs=0.02), (
                    x.name,
                    field,
                )


def test_windows_of_time(days):
    made(
        "tally", "day*.parquet", "--label", "y", "--score", "p", "--by", "site", "--time", "date",
        "--every", "month", "-o", "m.tally",
    )  # fmt: skip
    found = TallySet.load("m.tally")
    assert found.window == "month"
    for (site, month), t in found.items():
        own = days.filter((pl.col("site") == site) & pl.col("date").str.starts_with(month))
        assert t == Tally.of(own["y"], own["p"])
    assert found.whole == Tally.of(days["y"], days["p"])
    assert [*sw.evaluate("m.tally", by="date").groups] == [
        "2026-01",
        "2026-02",
        "2026-03",
        "2026-04",
    ]


def test_a_shard_counts_once(days, capsys):
    given = ("--label", "y", "--score", "p")
    made("tally", "day0.parquet", *given, "-o", "a.tally")
    made("tally", "day0.parquet", "day1.parquet", *given, "-o", "b.tally")
    said = refused(capsys, "merge", "a.tally", "b.tally", "-o", "c.tally")
    assert "day0.parquet is in the tally already" in said
    assert said.endswith("pass --again")
    assert not Path("c.tally").exists()
    made("merge", "a.tally", "b.tally", "--again", "-o", "c.tally")
    assert Tally.load("c.tally").origin.rows == 9000
    Path("copy.parquet").write_bytes(Path("day0.parquet").read_bytes())
    said = refused(capsys, "tally", "day0.parquet", "copy.parquet", *given, "-o", "d.tally")
    assert "copy.parquet has the same content as day0.parquet" in said or "day0.parquet has" in said
    made("tally", "day0.parquet", "copy.parquet", *given, "--again", "-o", "d.tally")
    assert Tally.load("d.tally").origin.rows == 6000


def test_tallies_that_mean_something_else_are_refused(days, capsys):
    days.rename({"y": "died"}).write_parquet("other.parquet")
    days.with_columns(p=pl.col("p") * 4 - 2).write_parquet("scores.parquet")
    given = ("--label", "y", "--score", "p")
    made("tally", "day0.parquet", *given, "-o", "a.tally")
    cases = {
        "the label is 'y' in a.tally and 'died' in b.tally": ("other.parquet", "--label", "died"),
        "the positive class is '1' in a.tally and '0'": (
            "day1.parquet",
            "--positive",
            "0",
            *given[:2],
        ),
        "the kind of score is 'probability' in a.tally and 'logit'": (
            "day1.parquet",
            "--kind",
            "logit",
        ),
        "the kind of score is 'probability' in a.tally and 'score'": ("scores.parquet",),
        "the weight is none in a.tally and 'w'": ("day1.parquet", "--weight", "w"),
        "b.tally has tallies by group": ("day1.parquet", "--by", "site"),
    }
    for said, (file, *more) in cases.items():
        options = more if "--label" in more else [*more, "--label", "y"]
        made("tally", file, *options, "--score", "p", "-o", "b.tally")
        assert said in refused(capsys, "merge", "a.tally", "b.tally", "-o", "c.tally")
        assert not Path("c.tally").exists()
    made("tally", "day1.parquet", *given, "--grid", "probability", "-o", "a.tally")
    made("tally", "day2.parquet", *given, "--grid", "relative", "-o", "b.tally")
    assert "the grid is 'probability'" in refused(
        capsys, "merge", "a.tally", "b.tally", "-o", "c.tally"
    )


def test_another_version_is_refused(days, capsys, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr("scorewise.tallies.store._VERSION", 99)
        made("tally", "day0.parquet", "--label", "y", "--score", "p", "-o", "a.tally")
    assert "a.tally is a tally of version 99" in refused(capsys, "show", "a.tally")


# faults


GIVEN = ("--label", "y", "--score", "p")


def test_disk_full_is_one_sentence_and_leaves_the_old_output(days, capsys, monkeypatch):
    said = refused(capsys, "tally", "day0.parquet", *GIVEN, "-o", "/dev/full")
    assert said == "scorewise: cannot write /dev/full: No space left on device"
    made("tally", "day0.parquet", *GIVEN, "-o", "a.tally")
    before = Path("a.tally").read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    said = refused(capsys, "tally", "day1.parquet", *GIVEN, "-o", "a.tally")
    assert said.endswith("a.tally: No space left on device")
    assert Path("a.tally").read_bytes() == before


def test_bad_shards_are_refused_or_skipped_and_counted(days, capsys):
    whole = Path("day1.parquet").read_bytes()
    Path("day1.parquet").write_bytes(whole[: len(whole) // 2])
    days.drop("p").write_parquet("day4.parquet")
    days.with_columns(p=pl.col("p").cast(str) + "?").write_parquet("day5.parquet")
    Path("day6.parquet").write_bytes(b"")
    good = ("day0.parquet", "day2.parquet", "day3.parquet")
    cases = {
        "day1.parquet": "day1.parquet cannot be read as parquet; it is damaged or cut short",
        "day4.parquet": "day4.parquet has no column 'p', which other files have",
        "day5.parquet": "p is not a number in 4,096 rows or more",
        "day6.parquet": "day6.parquet is empty (0 bytes)",
    }
    for bad, sentence in cases.items():
        said = refused(capsys, "tally", *good, bad, *GIVEN, "-o", "a.tally")
        assert sentence.partition(" in 4")[0] in said
        assert bad in said
        assert not Path("a.tally").exists()
    made("tally", "day*.parquet", *GIVEN, "--skip-bad-files", "-o", "a.tally")
    said = capsys.readouterr().err
    assert "4 bad files were skipped: day1.parquet cannot be read" in said
    assert Tally.load("a.tally").origin.rows == 9000
    assert Tally.load("a.tally").origin.sources == good
    said = refused(capsys, "tally", *cases, *GIVEN, "--skip-bad-files", "-o", "b.tally")
    assert "none of the 4 files can be used; the first: day1.parquet" in said


def test_a_run_that_was_ended_goes_on_from_finished_shards(days, capsys, monkeypatch):
    from scorewise.engines import files

    read, seen = files.batches, []

    def ended(table, settled):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(table.name)
        yield from read(table, settled)

    monkeypatch.setattr(files, "batches", ended)
    given = ("tally", "day*.parquet", *GIVEN, "--weight", "w", "--by", "site", "-o", "m.tally")
    assert run([*given]) == 130
    assert not Path("m.tally").exists()
    assert len([*Path("m.tally.parts").iterdir()]) == 2
    seen.clear()
    monkeypatch.setattr(files, "batches", lambda t, s: (seen.append(t.name), read(t, s))[1])
    capsys.readouterr()
    made(*given, "--resume")
    assert seen == ["day2.parquet", "day3.parquet"]
    assert "2 of 4 files were taken from the earlier run" in capsys.readouterr().err
    assert not Path("m.tally.parts").exists()
    made(*given[:-1], "once.tally")
    assert Path("m.tally").read_bytes() == Path("once.tally").read_bytes()


def test_parts_of_other_columns_are_not_taken(days, monkeypatch):
    from scorewise.engines.file_walk import FileWalk

    with monkeypatch.context() as broken:
        broken.setattr(
            "scorewise.tallying.save", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert run(["tally", "day*.parquet", *GIVEN, "-o", "m.tally"]) == 130
    assert len([*Path("m.tally.parts").iterdir()]) == 4
    made("tally", "day*.parquet", *GIVEN, "--weight", "w", "--resume", "-o", "m.tally")
    assert Tally.load("m.tally") == Tally.of(days["y"], days["p"], weight=days["w"])
    walk = FileWalk(["day0.parquet", "day1.parquet"], checkpoints=Path("m.tally.parts"), mark="x")
    walk.each(lambda file, shard: int(walk.earlier(file, shard, TallySet) is not None))
    assert not any(shard.rows for shard in walk.shards.values())


def killed(args: list[str], after: float) -> bool:
    """Whether a run was ended by kill -9, rather than by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scorewise", *args], stderr=subprocess.DEVNULL
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_kill_9_leaves_the_old_output_whole_and_loses_nothing(days, tmp_path):
    rng = random.Random(0)
    given = ["tally", *(f"day{k}.parquet" for k in range(4)), *GIVEN, "--weight", "w", "-o"]
    made(*given, "once.tally")
    made("tally", "day0.parquet", *GIVEN, "--weight", "w", "-o", "old.tally")
    old, new = (Path(f"{name}.tally").read_bytes() for name in ("old", "once"))
    assert old != new
    Path("m.tally").write_bytes(old)
    started = time.perf_counter()
    assert not killed([*given, "timed.tally"], 600)
    long = time.perf_counter() - started
    stopped = 0
    while stopped < 6:
        before = Path("m.tally").read_bytes()
        if killed([*given, "m.tally", "--resume"], rng.uniform(0, long)):
            stopped += 1
            assert Path("m.tally").read_bytes() in (before, new)
        else:
            long *= 0.9  # others were busy while the time was taken
            assert Path("m.tally").read_bytes() == new
        if Path("m.tally").read_bytes() == new:
            Path("m.tally").write_bytes(old)
    made(*given, "m.tally", "--resume")
    assert Path("m.tally").read_bytes() == Path("once.tally").read_bytes()
    assert {p.name for p in tmp_path.iterdir() if "part" in p.name} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to the size of files")
@pytest.mark.parametrize("options", [["--score", "p"], ["--score", "p", "--score", "q"]])
def test_a_tally_that_cannot_be_stored_is_named_as_it_was_asked_for(tmp_path, options):
    p = np.random.default_rng(0).random(2000)
    for k in range(2):
        pl.DataFrame({"y": p > 0.5, "p": p + k, "q": p}).write_parquet(tmp_path / f"day{k}.parquet")
    code = (
        "import resource, sys; from scorewise.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); main(sys.argv[1:])"
    )
    asked = ["tally", "day0.parquet", "day1.parquet", "--label", "y", *options, "-o", "out.tally"]
    done = subprocess.run(
        [sys.executable, "-c", code, *asked],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("scorewise: cannot write out.tally: File too large")

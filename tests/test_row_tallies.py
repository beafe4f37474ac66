"""Tallies of rows whose columns stay together: scores of models, classes, ratings; and Hive folders."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import main

ROWS = 1500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.3
    p = (1 / (1 + np.exp(1 - 2 * y - rng.normal(size=ROWS)))).round(2)
    kind = rng.choice(["cat", "dog", "owl"], ROWS)
    wide = rng.dirichlet([1, 1, 1], ROWS).round(2)
    wide[:, 2] = 1 - wide[:, :2].sum(1)
    days = np.datetime64("2026-01-01") + rng.integers(0, 59, ROWS)
    return pl.DataFrame(
        {
            "y": np.where(y, "ill", "well"),
            "p": p,
            "q": (p * 0.8).round(2),
            "w": rng.choice([0.5, 1.0, 2.5], ROWS),
            "site": rng.choice(["north", "south"], ROWS),
            "day": days,
            "pet": kind,
            "p_cat": wide[:, 0],
            "p_dog": wide[:, 1],
            "p_owl": wide[:, 2].clip(0, 1),
            "ann": rng.integers(1, 4, ROWS),
            "bob": rng.integers(1, 4, ROWS),
        }
    )


@pytest.fixture(autouse=True)
def folder(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, part in enumerate(rows.iter_slices(ROWS // 3)):
        part.write_parquet(f"day{k}.parquet")
    rows.write_parquet("all.parquet")


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main([str(a) for a in args])
    return stopped.value.code or 0


def numbers(*args):
    """The values in the document that a command writes."""
    assert run(*args, "--json", "made.json") == 0
    return json.loads(Path("made.json").read_text())


MODELS = ["--label", "y", "--score", "p", "--score", "q", "--weight", "w"]
PETS = ["--label", "pet", "--classes", "p_*"]
RATERS = ["--rater", "ann", "--rater", "bob"]
GROUPS = ["--by", "site", "--time", "day", "--every", "month"]


@pytest.mark.parametrize(
    "options", [MODELS, PETS, RATERS, MODELS + GROUPS, [*PETS, "--by", "site"]]
)
def test_a_month_is_its_days_bit_for_bit(options, folder):
    for k in range(3):
        assert run("tally", f"day{k}.parquet", *options, "-o", f"day{k}.tally") == 0
    assert run("merge", "day2.tally", "day0.tally", "day1.tally", "-o", "month.tally") == 0
    assert run("tally", "day?.parquet", *options, "-o", "once.tally") == 0
    assert Path("month.tally").read_bytes() == Path("once.tally").read_bytes()


def test_models_are_compared_as_on_their_rows():
    assert run("tally", "all.parquet", *MODELS, *GROUPS, "-o", "both.tally") == 0
    made = numbers("compare", "both.tally", "--by", "site")
    want = numbers("compare", "all.parquet", *MODELS, "--by", "site")
    for name in ("auroc", "brier"):
        (a,), (b,) = ([d for d in x["differences"] if d["measure"] == name] for x in (made, want))
        assert [a[k] for k in ("value", "low", "high")] == pytest.approx(
            [b[k] for k in ("value", "low", "high")], rel=1e-9
        )
    assert [g["rows"] for g in made["groups"]] == [g["rows"] for g in want["groups"]]


def test_classes_and_ratings_are_judged_as_their_rows(rows):
    assert run("tally", "all.parquet", *PETS, "--by", "site", "-o", "pets.tally") == 0
    made, want = sw.evaluate("pets.tally"), sw.evaluate("all.parquet", label="pet", classes="p_*")
    for name in ("accuracy", "brier", "ece"):
        assert made[name].value == pytest.approx(want[name].value, rel=1e-9)
        assert made[name].low == pytest.approx(want[name].low, rel=1e-9)
    assert list(made.groups) == ["north", "south"]
    assert run("tally", "all.parquet", *RATERS, "-o", "ratings.tally") == 0
    assert sw.agree("ratings.tally").cohen_kappa.value == pytest.approx(
        sw.agree(rows["ann"], rows["bob"]).cohen_kappa.value, rel=1e-12
    )
    assert len(pl.read_parquet("ratings.tally")) == 9


HELD = {  # what a tally is made of, what a refusal says that it has, the verbs that read it
    "one": (["--label", "y", "--score", "p"], "one score of two classes",
            ["evaluate", "report", "smroc", "threshold", "gate", "plan", "drift", "calibrate fit"]),
    "groups": (["--label", "y", "--score", "p", "--by", "site"], "one score of two classes",
               ["evaluate", "report", "smroc", "threshold", "gate", "plan", "drift", "calibrate fit"]),
    "both": (MODELS, "several scores", ["evaluate", "report", "compare"]),
    "pets": (PETS, "the scores of several classes", ["evaluate", "report", "gate", "plan"]),
    "sums": (None, "the scores of several classes", ["evaluate", "report", "gate", "plan"]),
    "ratings": (RATERS, "ratings", ["agree"]),
}  # fmt: skip
CALLS = {
    "evaluate": [], "report": ["-o", "made.html"], "smroc": [], "threshold": ["--best", "youden"],
    "gate": ["--require", "accuracy >= 0.01"], "plan": ["--half-width", "0.2"],
    "drift": ["FILE"], "calibrate fit": [], "compare": [], "agree": [], "inspect": [], "answers": [],
    "judge": [], "raters": ["--decision", "ann", "--score", "p", "--decision", "bob", "--score", "q"],
    "calibrate apply": ["-o", "out.csv"], "threshold apply": ["-o", "out.csv"],
}  # fmt: skip


@pytest.mark.parametrize("kind", list(HELD))
def test_every_verb_reads_a_tally_or_says_what_it_has_and_which_verb_reads_it(kind, rows, capsys):
    options, has, readers = HELD[kind]
    file = f"{kind}.tally"
    if options is None:
        p = rows.select("p_cat", "p_dog", "p_owl").to_numpy()
        sw.ClassTally.of(rows["pet"].to_list(), p, classes=["cat", "dog", "owl"]).save(file)
    else:
        assert run("tally", "all.parquet", *options, "-o", file) == 0
    map_file, rule_file = ["all.parquet", "--label", "y", "--score", "p", "-o"], "rule.json"
    assert run("calibrate", "fit", *map_file, "map.json") == 0
    assert run("threshold", *map_file, rule_file, "--best", "youden") == 0
    before = {"calibrate apply": ["map.json"], "threshold apply": [rule_file]}
    for verb, rest in CALLS.items():
        capsys.readouterr()
        more = [file if word == "FILE" else word for word in rest]
        code = run(*verb.split(), *before.get(verb, []), file, *more)
        err = capsys.readouterr().err
        if verb in readers:
            assert code == 0, (verb, err)
            continue
        assert code == 2, verb
        assert err.count("\n") == 1, err
        assert f"the tally has {has}, but" in err, (verb, err)
        named = err.partition("; ")[2]
        for reader in readers:
            assert reader in named, (verb, err)


def test_a_tally_is_read_by_verbs_that_suit_it(capsys):
    assert run("tally", "all.parquet", *MODELS, "-o", "both.tally") == 0
    assert run("tally", "all.parquet", *RATERS, "-o", "ratings.tally") == 0
    assert run("tally", "all.parquet", "--label", "y", "--score", "p", "-o", "one.tally") == 0
    assert run("show", "both.tally") == 0
    assert run("report", "both.tally", "-o", "both.html") == 0
    p = np.random.default_rng(0).random(9000)
    pl.DataFrame({"y": p > 0.5, "p": p, "q": p, "w": p}).write_parquet("many.parquet")
    capsys.readouterr()
    for args, sentence in (
        (["compare", "one.tally"], "the tally has one score of two classes, but the scores of"),
        (["compare", "one.tally"], "or make it anew with --score for each model"),
        (
            ["compare", "both.tally", "--by", "site"],
            "the tally has no groups; make it anew with --by site",
        ),
        (["merge", "both.tally", "one.tally", "-o", "x.tally"], "make both alike"),
        (["merge", "both.tally", "ratings.tally", "-o", "x.tally"], "only rows that mean the same"),
        (["merge", "both.tally", "both.tally", "-o", "x.tally"], "is given twice"),
        (["tally", "all.parquet", *MODELS, "--grid", "probability", "-o", "x.tally"], "--grid is"),
        (["tally", "all.parquet", *RATERS, "--label", "y", "-o", "x.tally"], "--label does not go"),
        (["tally", "many.parquet", *MODELS, "--memory", "64KB", "-o", "x.tally"], "do not fit"),
    ):
        assert run(*args) == 2
        said = capsys.readouterr().err
        assert sentence in said, said
        assert said.count("\n") == 1


def test_a_shard_counts_once_and_bad_ones_are_skipped(rows, capsys):
    rows.with_columns(pl.lit(1.5).alias("q")).write_parquet("day3.parquet")
    rows.select("y", "p").write_parquet("day4.parquet")
    assert run("tally", "day?.parquet", *MODELS, "--kind", "probability", "-o", "x.tally") == 2
    assert "day3.parquet" in capsys.readouterr().err
    options = ["--kind", "probability", "--skip-bad-files", "-o", "x.tally"]
    assert run("tally", "day?.parquet", *MODELS, *options) == 0
    assert "2 bad files were skipped" in capsys.readouterr().err
    assert run("merge", "x.tally", "x.tally", "-o", "y.tally") == 2
    assert run("tally", "day1.parquet", *MODELS, "--kind", "probability", "-o", "z.tally") == 0
    assert run("merge", "x.tally", "z.tally", "-o", "y.tally") == 2
    assert "day1.parquet is in the tally already" in capsys.readouterr().err
    assert run("merge", "x.tally", "z.tally", "--again", "-o", "y.tally") == 0
    assert pl.read_parquet("y.tally")["rows"].sum() == ROWS + ROWS // 3


def test_a_run_that_was_ended_goes_on(capsys, rows):
    rows.select("y", "p").write_parquet("day3.parquet")
    assert run("tally", "day?.parquet", *MODELS, "-o", "x.tally") == 2
    rows[:3].with_columns(pl.lit(0.125).alias("p")).write_parquet("day3.parquet")
    assert run("tally", "day?.parquet", *MODELS, "--resume", "-o", "x.tally") == 0
    assert "3 of 4 files were taken from the earlier run" in capsys.readouterr().err
    assert run("tally", "day?.parquet", *MODELS, "-o", "y.tally") == 0
    assert Path("x.tally").read_bytes() == Path("y.tally").read_bytes()


def test_a_damaged_file_is_refused(capsys):
    assert run("tally", "all.parquet", *MODELS, "-o", "x.tally") == 0
    data = Path("x.tally").read_bytes()
    Path("x.tally").write_bytes(data[:200] + b"\0\1\2\3" + data[204:])
    assert run("show", "x.tally") == 2
    assert "x.tally is damaged or was edited" in capsys.readouterr().err


def test_engines_count_distinct_rows(rows):
    duckdb = pytest.importorskip("duckdb")
    frames = [rows.lazy(), duckdb.sql("select * from rows"), rows]
    made = [sw.tally(f, label="y", score=["p", "q"], weight="w", by="site") for f in frames]
    assert made[0] == made[1] == made[2]
    want = sw.compare(rows, label="y", score=["p", "q"], weight="w")
    assert sw.compare(made[1]).difference("auroc").low == pytest.approx(
        want.difference("auroc").low, rel=1e-9
    )
    classes = [sw.class_tally(f, label="pet", classes="p_*") for f in frames]
    assert classes[0] == classes[1] == classes[2]
    with pytest.raises(sw.BadInput, match="there is no column 'r'"):
        sw.tally(frames[0], label="y", score=["p", "r"])


# Hive folders


@pytest.fixture
def hive(rows, tmp_path):
    for (site,), part in rows.group_by("site"):
        at = tmp_path / "hive" / f"site={site}"
        at.mkdir(parents=True)
        part.drop("site").write_parquet(at / "part-0.parquet")
        (at / "_SUCCESS").touch()
    return "hive"


@pytest.mark.parametrize("source", ["hive", "hive/*/*.parquet", "hive/**/*.parquet"])
def test_folders_stand_for_columns(hive, source):
    options = {"label": "y", "score": "p", "by": "site"}
    want = sw.evaluate("all.parquet", **options)
    for memory in ("1GB", "64KB"):
        made = sw.evaluate(source, **options, memory=memory)
        assert made.auroc.value == want.auroc.value
        assert made.groups["north"].auroc.value == want.groups["north"].auroc.value
    assert (
        run("tally", source, "--label", "y", "--score", "p", "--by", "site", "-o", "h.tally") == 0
    )
    assert sw.evaluate("h.tally").groups["south"].brier == want.groups["south"].brier


def test_files_alike_in_other_folders_are_other_rows(hive, rows, tmp_path):
    (tmp_path / "hive" / "site=east").mkdir()
    rows.filter(pl.col("site") == "north").drop("site").write_parquet(
        "hive/site=east/part-0.parquet"
    )
    options = ["--label", "y", "--score", "p", "--by", "site", "--again"]
    assert run("tally", "hive", "all.csv", *options, "-o", "h.tally") == 2  # and keeps no part
    assert run("tally", "hive", *options, "--resume", "-o", "h.tally") == 0
    groups = sw.evaluate("h.tally").groups
    assert list(groups) == ["east", "north", "south"]
    assert groups["east"].auroc.value == groups["north"].auroc.value


def test_what_a_file_says_itself_comes_first(tmp_path):
    at = tmp_path / "hive" / "site=__HIVE_DEFAULT_PARTITION__"
    at.mkdir(parents=True)
    (at / "rows.csv").write_text("y,p,site\n0,0.2,a\n1,0.7,b\n")
    made = sw.tally("hive", label="y", score="p", by="site")
    assert list(made) == [("a",), ("b",)]


def test_folders_of_several_kinds_of_files_are_refused(hive, capsys):
    Path("hive/site=north/rows.csv").write_text("y,p\n0,0.2\n1,0.7\n")
    assert run("evaluate", "hive", "--label", "y", "--score", "p") == 2
    assert "hive has files of several kinds (csv, parquet)" in capsys.readouterr().err

"""Bad input through the real command line: one sentence, exit code 2, nothing written."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import scorewise
from scorewise.cli import run

SNAPSHOT = Path(__file__).parent / "snapshots" / "bad_input.txt"
GOOD = "y,p\n1,0.9\n0,0.2\n1,0.4\n0,0.6\n"


def text(content, name="a.csv"):
    return lambda: Path(name).write_text(content, encoding="utf-8")


def raw(content, name="a.csv"):
    return lambda: Path(name).write_bytes(content)


def table(name="a.parquet", **columns):
    return lambda: pl.DataFrame(columns).write_parquet(name)


def nothing():
    pass


def cut_parquet():
    pl.DataFrame({"y": [0, 1], "p": [0.1, 0.2]}).write_parquet("a.parquet")
    Path("a.parquet").write_bytes(Path("a.parquet").read_bytes()[:60])


def both_shards():
    text(GOOD)()
    text("y,prob\n1,0.9\n", "b.csv")()


# what lies in the folder, and what is asked; `evaluate` and the outputs go without saying
CASES = {
    "absent file": (nothing, "absent.csv"),
    "misspelt file": (text(GOOD, "scores.csv"), "score.csv"),
    "pattern without match": (nothing, "part-*.csv"),
    "folder": (lambda: (Path("data").mkdir(), text(GOOD, "data/a.csv")()), "data"),
    "unknown extension": (text(GOOD, "a.xlsx"), "a.xlsx"),
    "empty file": (text(""), "a.csv"),
    "header alone": (text("y,p\n"), "a.csv"),
    "same file twice": (text(GOOD), "a.csv a.csv"),
    "UTF-16": (raw(GOOD.encode("utf-16-le")), "a.csv"),
    "Latin-1": (raw(GOOD.replace("1,", "é,").encode("latin-1")), "a.csv"),
    "unknown encoding": (text(GOOD), "a.csv --encoding latn-1"),
    "ragged csv": (text("y,p\n1,0.9\n0,0.2,7\n"), "a.csv"),
    "broken gzip": (raw(gzip.compress(GOOD.encode())[:20], "a.csv.gz"), "a.csv.gz"),
    "cut parquet": (cut_parquet, "a.parquet"),
    "text named parquet": (text(GOOD, "a.parquet"), "a.parquet"),
    "broken jsonl": (text('{"y": 1, "p": 0.9}\n{"y": 0, "p"\n', "a.jsonl"), "a.jsonl"),
    "jsonl of lists": (text("[1, 0.9]\n[0, 0.1]\n", "a.jsonl"), "a.jsonl"),
    "absent column": (text(GOOD), "a.csv --label y --score q"),
    "misspelt column": (text("outcome,risk\n1,0.5\n"), "a.csv --label outcom --score risk"),
    "column twice": (text(GOOD), "a.csv --label y --score p --score p"),
    "label is score": (text(GOOD), "a.csv --label y --score y"),
    "columns of one name": (text("y,p,p\n1,0.2,0.3\n"), "a.csv --label y --score p"),
    "no label suggests itself": (text("a,b,c\n1,0.2,0.3\n"), "a.csv"),
    "two scores suggest themselves": (text("y,score,prob\n1,0.2,0.3\n"), "a.csv"),
    "shards differ": (both_shards, "a.csv b.csv --label y --score p"),
    "missing score": (text("y,p\n1,0.9\n0,\n1,\n"), "a.csv"),
    "missing label": (text("y,p\n1,0.9\nNA,0.3\n"), "a.csv"),
    "all missing, dropped": (
        text("y,p\n1,\n,0.3\n"),
        "a.csv --label y --score p --missing drop",
    ),
    "word among scores": (text("y,p\n1,0.9\n0,high\n"), "a.csv"),
    "infinite score": (text("y,p\n1,0.9\n0,inf\n"), "a.csv"),
    "three classes": (text("y,p\na,0.9\nb,0.2\nc,0.4\n"), "a.csv"),
    "label looks like a score": (text(GOOD), "a.csv --label p --score y"),
    "one unknown class": (text("y,p\nblue,0.9\nblue,0.2\n"), "a.csv"),
    "absent positive": (text(GOOD), "a.csv --positive yes"),
    "not a probability": (text("y,p\n1,1.5\n0,0.2\n"), "a.csv --kind probability"),
    "negative weight": (text("y,p,w\n1,0.9,1\n0,0.2,-2\n"), "a.csv --weight w"),
    "no weight at all": (text("y,p,w\n1,0.9,0\n0,0.2,0\n"), "a.csv --weight w"),
    "broken count": (text("y,p,n\n1,0.9,1.5\n0,0.2,2\n"), "a.csv --count n"),
    "negative count": (text("y,p,n\n1,0.9,-1\n0,0.2,2\n"), "a.csv --count n"),
    "nested score": (table(y=[0, 1], p=[[0.1, 0.9], [0.2, 0.8]]), "a.parquet --label y --score p"),
    "dates as scores": (
        table(y=[0, 1], p=pl.Series(["2024-01-01", "2024-01-02"]).str.to_date()),
        "a.parquet --label y --score p",
    ),
    "integers beyond floats": (table(y=[0, 1], p=[1, 2**60]), "a.parquet"),
    "level": (text(GOOD), "a.csv --level 95"),
    "threshold": (text(GOOD), "a.csv --threshold nan"),
    "threshold of logits": (
        text("y,p\n1,2.5\n0,-1\n"),
        "a.csv --label y --score p --kind logit --threshold 2",
    ),
    "clip": (text(GOOD), "a.csv --clip 0.7"),
    "seed": (text(GOOD), "a.csv --seed -1"),
    "kind": (text(GOOD), "a.csv --kind rank"),
    "unknown option": (text(GOOD), "a.csv --treshold 0.3"),
    "output over input": (text(GOOD), "a.csv --json a.csv"),
    "output without folder": (text(GOOD), "a.csv --json absent/out.json"),
    "outputs in one place": (text(GOOD), "a.csv --json out --md out"),
}


# these differ from one version to the next
IN_WORDS_OF_TYPER = {"kind", "unknown option"}


def listing(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def command_line(asked: str) -> list[str]:
    args = ["evaluate", *asked.split()]
    for option, place in (("--json", "out.json"), ("--md", "out.md")):
        if option not in args:
            args += [option, place]
    return args


def stored() -> dict[str, str]:
    if not SNAPSHOT.exists():
        return {}
    lines = SNAPSHOT.read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_in_one_sentence(name, tmp_path, monkeypatch, capsys):
    """Set SCOREWISE_UPDATE_SNAPSHOTS=1 (without -n) to write the sentences anew, and read them."""
    prepare, asked = CASES[name]
    monkeypatch.chdir(tmp_path)
    prepare()
    before = listing(tmp_path)
    assert run(command_line(asked)) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    assert said.startswith("scorewise: ")
    assert said.rstrip("\n").isprintable()
    assert listing(tmp_path) == before
    if name in IN_WORDS_OF_TYPER:
        assert next(word for word in asked.split() if word.startswith("--")) in said
        return
    if os.environ.get("SCOREWISE_UPDATE_SNAPSHOTS") == "1":
        known = {**stored(), name: said.rstrip("\n")}
        lines = (f"{case}: {known[case]}\n" for case in CASES if case in known)
        SNAPSHOT.write_text("".join(lines), encoding="utf-8")
    assert said == stored()[name] + "\n"


def test_snapshot_holds_these_cases_and_no_others():
    assert list(stored()) == [name for name in CASES if name not in IN_WORDS_OF_TYPER]
    assert len(CASES) >= 25


@pytest.mark.parametrize("name", ["missing score", "cut parquet", "three classes"])
def test_the_same_in_a_process_of_its_own(name, tmp_path, monkeypatch):
    prepare, asked = CASES[name]
    monkeypatch.chdir(tmp_path)
    prepare()
    before = listing(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "scorewise", *command_line(asked)],
        env={**os.environ, "PYTHONPATH": str(Path(scorewise.__file__).parents[1])},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == stored()[name] + "\n"
    assert listing(tmp_path) == before

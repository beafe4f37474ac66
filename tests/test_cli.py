"""The command line: one sentence when something is wrong, whole outputs when not."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from rich.cells import cell_len

from scorewise import BadInput, __version__
from scorewise.cli import run
from scorewise.cli.demo import screening_csv
from scorewise.evaluation.document import EvaluationDocument
from scorewise.show.document import dumps, from_dict
from scorewise.show.document import schema as document_schema
from scorewise.show.markdown import markdown
from view_documents import document, names

# output must be buffered for a failure to show only on leaving
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


def command(*args, **options):
    environment = {**os.environ, "COLUMNS": "80", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "scorewise", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=60,
        **options,
    )


@pytest.fixture
def core(monkeypatch):
    """Reading and judging replaced: what they were asked, and what they answer."""
    core = types.SimpleNamespace(asked={}, notes=[], doc=document(), error=None)

    def evaluate(source, **options):
        core.asked.update(source=source, **options)
        if core.error:
            raise core.error
        made = from_dict(EvaluationDocument, core.doc)
        return types.SimpleNamespace(notes=core.notes, document=lambda: made, brief=lambda: made)

    monkeypatch.setattr("scorewise.evaluation.evaluate", evaluate)
    return core


def refused(capsys, *args):
    """The sentence with which a command line is refused."""
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("scorewise: ")
    assert err.count("\n") == 1
    return err


def test_table_is_printed_with_the_defaults(core, capsys):
    assert run(["evaluate", "a.csv"]) == 0
    out, err = capsys.readouterr()
    assert "AUROC" in out
    assert err == ""
    assert core.asked == {
        "source": "a.csv",
        "label": None,
        "score": None,
        "classes": None,
        "predicted": None,
        "confidence": None,
        "by": None,
        "cluster": None,
        "min_rows": 20,
        "weight": None,
        "count": None,
        "positive": None,
        "kind": None,
        "missing": "refuse",
        "encoding": None,
        "memory": "1GB",
        "threshold": 0.5,
        "level": 0.95,
        "seed": 0,
        "clip": None,
        "interval": None,
        "replicates": 2000,
    }


def test_every_option_arrives(core, capsys):
    line = (
        "evaluate a.csv b.csv --label y --score p --score q --positive yes --weight w --count n"
        " --threshold -0.2 --level 0.9 --seed 7 --kind logit --missing drop --encoding latin-1 --clip 1e-9"
        " --memory 2GB"
        " --interval exact --replicates 99"
    )
    assert run(line.split()) == 0
    assert core.asked == {
        "source": ["a.csv", "b.csv"],
        "label": "y",
        "score": ["p", "q"],
        "classes": None,
        "predicted": None,
        "confidence": None,
        "by": None,
        "cluster": None,
        "min_rows": 20,
        "weight": "w",
        "count": "n",
        "positive": "yes",
        "kind": "logit",
        "missing": "drop",
        "encoding": "latin-1",
        "memory": "2GB",
        "threshold": -0.2,
        "level": 0.9,
        "seed": 7,
        "clip": 1e-9,
        "interval": "exact",
        "replicates": 99,
    }


def test_json_and_markdown_go_where_they_are_sent(core, capsys, tmp_path):
    target = tmp_path / "out.json"
    assert run(["evaluate", "a.csv", "--json", str(target), "--md", "-"]) == 0
    out, err = capsys.readouterr()
    assert out == markdown(core.doc)
    assert target.read_text("utf-8") == dumps(from_dict(EvaluationDocument, core.doc))
    assert str(target) in err
    assert run(["evaluate", "a.csv", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == core.doc
    assert names(tmp_path) == ["out.json"]


def test_notes_go_to_standard_error(core, capsys):
    core.notes = ["label taken from column 'y\x1b[31m'"]
    assert run(["evaluate", "a.csv", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert err == "note: label taken from column 'y\\x1b[31m'\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["evaluate"], "FILE"),
        (["evaluate", "a.csv", "--labell", "y"], "--labell"),
        (["evaluate", "a.csv", "--threshold", "abc"], "--threshold"),
        (["evaluate", "a.csv", "--threshold", "nan"], "finite"),
        (["evaluate", "a.csv", "--level", "1"], "between 0 and 1"),
        (["evaluate", "a.csv", "--level", "0"], "between 0 and 1"),
        (["evaluate", "a.csv", "--level", "nan"], "between 0 and 1"),
        (["evaluate", "a.csv", "--seed", "-1"], "--seed"),
        (["evaluate", "a.csv", "--clip", "0.5"], "--clip"),
        (["evaluate", "a.csv", "--kind", "rank"], "probability"),
        (["evaluate", "a.csv", "--missing", "guess"], "refuse"),
        (["evaluate", "a.csv", "--json", "-", "--md", "-"], "standard output"),
        (["evaluate", "a.csv", "--json", "same", "--md", "same"], "same file"),
        (["evaluate", "a.csv", "--json", "same", "--md", "./same"], "same file"),
        (["evaluate", "a.csv", "--json", "absent/x.json"], "no folder absent"),
        (["evaluate", "a.csv", "--json", "a.csv"], "overwrite an input"),
        (["frobnicate"], "frobnicate"),
        (["schema", "--surprise"], "--surprise"),
    ],
    ids=" ".join,
)
def test_wrong_command_lines_are_refused_in_one_sentence(core, capsys, args, said):
    assert said in refused(capsys, *args)
    assert core.asked == {}


@pytest.mark.parametrize("pattern", ["?.csv", "**/*.csv", "[ab].csv"])
def test_an_input_matched_by_a_pattern_is_not_overwritten(
    core, capsys, tmp_path, monkeypatch, pattern
):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("y,p\n")
    said = refused(capsys, "evaluate", pattern, "--json", "./a.csv")
    assert "--json ./a.csv would overwrite an input" in said
    assert Path("a.csv").read_text() == "y,p\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            BadInput("score is NaN in 3 rows,\nfirst at row \x1b17"),
            r"in 3 rows,\nfirst at row \x1b17",
        ),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "cannot read a.csv: No such"),
    ],
)
def test_bad_input_writes_nothing(core, capsys, tmp_path, error, said):
    core.error = error
    old = tmp_path / "old.md"
    old.write_text("old")
    args = ["evaluate", "a.csv", "--json", str(tmp_path / "x.json"), "--md", str(old)]
    assert said in refused(capsys, *args)
    assert names(tmp_path) == ["old.md"]
    assert old.read_text() == "old"


def test_faults_and_interrupts_have_their_own_codes(core, capsys, monkeypatch):
    core.error = ZeroDivisionError("oops")
    assert run(["evaluate", "a.csv"]) == 70
    err = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: oops" in err
    assert "Traceback" not in err
    monkeypatch.setenv("SCOREWISE_DEBUG", "1")
    assert run(["evaluate", "a.csv"]) == 70
    assert "Traceback" in capsys.readouterr().err
    core.error = KeyboardInterrupt()
    assert run(["evaluate", "a.csv"]) == 130
    assert capsys.readouterr().err == "scorewise: interrupted\n"


def test_demo_writes_its_files_and_names_them(core, capsys, tmp_path):
    core.doc = document(2)
    home = tmp_path / "a b" / "demo"
    for _ in range(2):  # a second run finds its own files and goes ahead
        assert run(["demo", str(home)]) == 0
        out = capsys.readouterr().out
        assert names(home) == ["evaluation.json", "report.html", "report.md", "screening.csv"]
        assert all(name in out for name in names(home))
        assert f"Wrote into {home}:" in out
    assert core.asked["score"] == ("risk", "sharp")
    assert core.asked["positive"] == "ill"
    assert json.loads((home / "evaluation.json").read_text("utf-8")) == core.doc
    assert (home / "report.md").read_text("utf-8") == markdown(core.doc)


def test_demo_spares_files_of_others(core, capsys, tmp_path):
    (tmp_path / "report.md").write_text("mine")
    assert "already holds report.md" in refused(capsys, "demo", str(tmp_path))
    assert names(tmp_path) == ["report.md"]
    assert (tmp_path / "report.md").read_text() == "mine"


def test_demo_data_are_as_described():
    lines = [line.split(",") for line in screening_csv().splitlines()]
    assert lines[0] == ["id", "site", "age", "outcome", "risk", "sharp"]
    rows = lines[1:]
    assert len(rows) == 1000
    ill = [row[3] == "ill" for row in rows]
    risk, sharp = ([float(row[i]) for row in rows] for i in (4, 5))
    assert 0.11 <= sum(ill) / 1000 <= 0.13
    assert abs(sum(risk) - sum(ill)) < 10  # calibrated in the large
    assert min(risk + sharp) > 0
    assert max(risk + sharp) < 1
    brier = [sum((p - y) ** 2 for p, y in zip(s, ill, strict=True)) for s in (risk, sharp)]
    assert brier[0] < 0.9 * brier[1]
    assert screening_csv() == screening_csv()


def test_schema_and_version():
    done = command("schema")
    assert json.loads(done.stdout) == document_schema()
    assert command("--version").stdout == f"scorewise {__version__}\n"


@pytest.mark.parametrize(
    "args", [[], ["--help"], ["evaluate", "-h"], ["demo", "-h"], ["schema", "-h"]]
)
def test_help_fits(args):
    done = command(*args)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: scorewise")
    assert max(cell_len(line) for line in done.stdout.splitlines()) <= 80
    assert "..." not in done.stdout.partition("\n")[2]  # nothing cut short


@pytest.mark.parametrize("args", [["--help"], ["evaluate", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(args):
    program = (
        "import sys; from scorewise.cli import run; code = run(sys.argv[1:]);"
        "heavy = {'numpy', 'scipy', 'polars', 'narwhals', 'rich', 'pandas', 'pyarrow'};"
        "sys.exit(code or ' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
@pytest.mark.parametrize("args", ["schema", "--help"])
def test_reader_that_goes_away_is_no_fault(args):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "scorewise", args],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=BUFFERED,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("args", ["schema", "--help"])
def test_full_disk_is_told(args):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scorewise", args],
            stdout=full,
            stderr=subprocess.PIPE,
            env=BUFFERED,
        )
    assert done.returncode == 70
    assert done.stderr.startswith(b"scorewise: unexpected OSError")
    assert done.stderr.count(b"\n") == 1


def test_table_survives_a_terminal_without_box_characters(core, tmp_path, monkeypatch):
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert run(["evaluate", "a.csv"]) == 0
    assert "AUROC" in (tmp_path / "out").read_text("ascii")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("args", "closed", "code", "said"),
    [
        ("evaluate -", "<&-", 2, "scorewise: standard input is closed; pass a file"),
        ("schema", ">&-", 70, "scorewise: standard output is closed"),
        ("schema", "2>&-", 0, ""),
        ("evaluate absent.csv", "2>&-", 2, ""),
        ("evaluate absent.csv", ">&- 2>&-", 2, ""),
    ],
)
def test_closed_streams_have_a_code_of_their_own(args, closed, code, said):
    line = f'exec "{sys.executable}" -m scorewise {args} {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert done.returncode == code
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == bool(said)

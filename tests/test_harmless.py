"""No text from the data acts on the terminal: every page, note and error shows it as escapes."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest
from rich.text import Text

import scorewise as sw
from scorewise.cli import run
from scorewise.show import markdown as markdown_view
from scorewise.show import terminal as terminal_view
from scorewise.show.document import dumps
from scorewise.show.page import Column, Heading, Matrix, Page, Section, Table
from scorewise.show.words import Name
from view_documents import document

# sets the clipboard, colours by a C1 control, rings, breaks the line, turns the direction of reading
EVIL = "\x1b]52;c;ZXZpbA==\x1b\\\x9b31m\x07\nX\u202eY\x7f\x85\u2028"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no such names of files there")


SHORT = "\x1b]5\x9b\u202e\n"  # leaves room for tables that have categories for heads


def evil(word):
    return f"{word}{EVIL}"


def harmless(text):
    """Whether a text holds nothing but what prints, and ends of lines."""
    return all(line.isprintable() for line in text.split("\n"))


def frame(n=48):
    rng = np.random.default_rng(1)
    s, z = rng.random(n), rng.random((n, 3))
    kinds = [c + SHORT for c in "abc"]
    true = rng.integers(0, 3, n)
    p = (z / z.sum(1, keepdims=True) + np.eye(3)[true]) / 2
    columns = {
        "y": [evil("yes") if x else evil("no") for x in rng.random(n) < s],
        "s": s,
        "s2": rng.random(n),
        "w": rng.random(n) + 0.5,
        "id": [evil(f"row {k}") for k in range(n)],
        "true": [kinds[k] for k in true],
        "human": [kinds[k] for k in rng.integers(0, 3, n)],
        "other": [kinds[k] for k in rng.integers(0, 3, n)],
        "judge": [kinds[k] for k in true],
        "yes1": [evil("yes") if x > 0.5 else evil("no") for x in s],
        "yes2": [evil("yes") if x > 0.4 else evil("no") for x in s],
        "answer": [evil("x") if k % 3 else evil("z") for k in range(n)],
        "gold": [evil("x")] * n,
        "group": [evil("g1") if k % 2 else evil("g2") for k in range(n)],
    }
    named = {evil(name): values for name, values in columns.items()}
    return pl.DataFrame(named | {f"p_{kind}": p[:, k] for k, kind in enumerate(kinds)})


def options(**named):
    """Options whose values are columns with evil names."""
    return [x for option, name in named.items() for x in (f"--{option}", evil(name))]


COMMANDS = {
    "evaluate": ["evaluate", *options(label="y", score="s", weight="w"), "--score", evil("s2")],
    "one model": ["evaluate", *options(label="y", score="s"), "--positive", evil("yes")],
    "classes": ["evaluate", *options(label="true"), "--classes", "p_*"],
    "decisions": ["evaluate", *options(label="true", predicted="human", score="s")],
    "smroc": ["smroc", *options(label="y", score="s"), "--score", evil("s2")],
    "inspect": ["inspect", *options(label="y", score="s", id="id"), "--score", evil("s2")],
    "raters": [
        "raters",
        *options(decision="yes1", score="s", label="y", id="id"),
        *options(decision="yes2", score="s2"),
    ],
    "agree": ["agree", *options(rater="human"), "--rater", evil("other"), "--rater", evil("judge")],
    "long": ["agree", *options(item="id", rater="group", rating="true")],
    "judge": [
        "judge",
        *options(human="human", judge="judge"),
        *("--human", evil("other"), "--replicates", "100"),
    ],
    "answers": [
        "answers",
        *options(gold="gold", predicted="answer", confidence="s", by="group"),
    ],
    "fit": ["calibrate", "fit", *options(label="y", score="s"), "--method", "platt"],
    "fit classes": [
        *("calibrate", "fit", *options(label="true"), "--classes", "p_*"),
        *("--method", "temperature"),
    ],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / evil("data.parquet").replace("\x1b\\", "")
    path = path.with_name(path.name + ".parquet")
    frame().write_parquet(path)
    return str(path)


@pytest.mark.parametrize("view", ["text", "--md", "--json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_in_the_data_acts_on_the_terminal(name, view, file, capsys):
    code = run([*COMMANDS[name], file, *([] if view == "text" else [view, "-"])])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert harmless(out)
    assert harmless(err)
    assert "]52;c;ZXZpbA==" in out  # it is there, in view
    if view == "--json":
        assert any(EVIL in text for text in texts(json.loads(out)))


def texts(part):
    """All texts in a document."""
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        return [text for item in part for text in texts(item)]
    return [part] if isinstance(part, str) else []


@pytest.mark.parametrize("view", ["text", "--md", "--json"])
def test_drift_shows_names_in_full_view(view, file, tmp_path, capsys):
    args = ["drift", file, file, *options(label="y", score="s"), "--replicates", "100"]
    code = run([*args, *([] if view == "text" else [view, "-"])])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert harmless(out)
    assert harmless(err)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_refused_is_told_without_controls(name, file, tmp_path, capsys):
    for args in (
        [*COMMANDS[name], str(tmp_path / evil("absent.csv").replace("\\", ""))],
        [*COMMANDS[name], file, "--json", str(tmp_path / evil("none").replace("\\", "") / "x")],
        [COMMANDS[name][0], file, f"--{EVIL}"],
        [*(x + EVIL if x.startswith(("y", "true")) else x for x in COMMANDS[name]), file],
    ):
        run(args)
        out, err = capsys.readouterr()
        assert harmless(out)
        assert harmless(err)


def test_errors_and_warnings_in_python_show_escapes(file, tmp_path):
    with pytest.raises(sw.BadInput) as refused:
        sw.tally(file, label=evil("nothing"), score=evil("s"))
    assert harmless(str(refused.value))
    assert "]52;c;" in str(refused.value)
    with pytest.raises(sw.BadInput) as refused:
        sw.Tally.of([0, 1], [0.1, 0.2]).save(tmp_path / evil("none").replace("\\", "") / "x")
    assert harmless(str(refused.value))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sw.tally(pl.read_parquet(file)[[evil("y"), evil("s")]], label=evil("y"))
        sw.class_tally(pl.read_parquet(file), label=evil("true"), classes="p_*")
        sw.drift(file, file, label=evil("y"), score=evil("s"), replicates=100)
    assert any("]52;c;" in str(w.message) for w in told)
    assert all(harmless(str(w.message)) for w in told)


def test_what_python_prints_shows_escapes(file):
    table = pl.read_parquet(file)
    found = sw.evaluate(sw.class_tally(table, label=evil("true"), classes="p_*"))
    assert harmless(repr(found))
    assert harmless(repr(found.each))
    asked = {"gold": evil("gold"), "predicted": evil("answer"), "confidence": evil("s")}
    answered = sw.answers(table, **asked, by=evil("group"))
    assert harmless(repr(answered.groups))
    assert all(harmless(repr(part)) for part in answered.groups.values())


def test_a_traceback_for_debugging_shows_escapes(monkeypatch, capsys):
    from scorewise.cli import command

    def fail(*_):
        raise RuntimeError(EVIL)

    monkeypatch.setattr(command, "check_outputs", fail)
    monkeypatch.setenv("SCOREWISE_DEBUG", "1")
    assert run(["evaluate", "a.csv"]) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert harmless(err)


def test_a_page_that_escapes_nothing_is_harmless(monkeypatch):
    """The views do it: whoever adds a page cannot forget."""
    e = EVIL
    shown = Column(Name(e), "text", meaning=e), Column(evil("b")), Column(e, "text", optional=True)
    table = Table(shown, [Heading(e), [e, e, e], [evil("headed")]], [e])
    matrix = Matrix(e, (e, e), ((1, 2), (3, 4)))
    part = Section(e, [e, [Name(e)]], [(e, [Name(e), e])], table, [e, [Name(e)]], [matrix, matrix])
    page = Page(e, [part], [e])
    for view in (terminal_view, markdown_view):
        monkeypatch.setattr(view, "page_of", lambda doc: page)
    doc = {"command": "toy"}
    for width in (30, 80, 400):
        assert harmless(terminal_view.text(doc, width))
    assert harmless(markdown_view.markdown(doc))


def test_a_view_that_escapes_nothing_is_harmless(monkeypatch):
    monkeypatch.setattr(terminal_view, "_section", lambda *_: [Text(EVIL)])
    monkeypatch.setattr(markdown_view, "_facts", lambda *_: [EVIL.replace("\n", "")])
    for doc in (document(1), document(2)):
        assert harmless(terminal_view.text(doc))
        assert "]52;c;" in terminal_view.text(doc)
        assert harmless(markdown_view.markdown(doc))


def test_json_escapes_what_does_not_print_and_means_the_same():
    doc = {"name": EVIL, "plain": "Größe 日本 🙂", "far": "\U000e0041", "key\x9b": ["\xa0"]}
    text = dumps(doc)
    assert harmless(text)
    assert json.loads(text) == doc
    assert "Größe 日本 🙂" in text
    assert r"\u009b31m" in text
    assert r"\udb40\udc41" in text


def test_the_command_itself_prints_no_control(file):
    done = subprocess.run(
        [sys.executable, "-m", "scorewise", *COMMANDS["judge"], file],
        capture_output=True,
        timeout=60,
        check=True,
    )
    for said in (done.stdout, done.stderr):
        assert harmless(said.decode())
        assert b"\x1b" not in said

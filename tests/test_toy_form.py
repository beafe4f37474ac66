"""Adding a form of output takes one file and one line; then every command and every result has it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scorewise
from test_golden import COMMANDS, write_inputs

TOY = '''
"""A page as an outline."""

from scorewise.show.words import sentence


def toy(page):
    """Titles, keys and cells, each on a line."""
    lines = [f"toy {page.command}"]
    for section in page.sections:
        lines.append(f"= {section.title}")
        lines += [f"{key}: {sentence(fact, str.upper)}" for key, fact in section.facts]
        lines += [f"{m.model} {m.counts}" for m in section.matrices]
        lines += ["; ".join(row) for row in section.table.texts()] if section.table else []
        lines += [sentence(line, str.upper) for line in section.lines]
    return "\\n".join(lines) + "\\n"
'''
LINE = '    "toy": "scorewise.show.toy:toy",\n'
PROGRAM = """
import contextlib, io, json, sys
from scorewise.cli import run
made = {}
for name, args in json.load(open("commands.json")).items():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = run([*args, "--toy", f"{name}.toy"])
    made[name] = code, err.getvalue()
print(json.dumps(made))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A copy of the package with one more file and one more line, and inputs of every command."""
    home = tmp_path_factory.mktemp("toy")
    shutil.copytree(
        Path(scorewise.__file__).parent,
        home / "scorewise",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (home / "scorewise" / "show" / "toy.py").write_text(TOY)
    register = home / "scorewise" / "show" / "__init__.py"
    before, mark, after = register.read_text("utf-8").partition("RENDERERS = {\n")
    register.write_text(before + mark + LINE + after, "utf-8")
    write_inputs(home)
    (home / "commands.json").write_text(json.dumps(COMMANDS))
    return home


def python(home: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, *args],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_command_has_it(home):
    made = json.loads(python(home, "-c", PROGRAM))
    for name in COMMANDS:
        code, err = made[name]
        assert code == 0, err
        assert f"wrote {name}.toy" in err
        lines = (home / f"{name}.toy").read_text("utf-8").splitlines()
        command = "evaluate" if name.startswith("evaluate") else name
        assert lines[0] == f"toy {command}"
        assert len(lines) > 8


def test_results_have_it(home):
    program = (
        "import scorewise as sw; e = sw.evaluate([1, 0, 0, 1], [.9, .4, .2, .3]);"
        "print(e.render('toy')); e.render('tea')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(home)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert "toy evaluate" in done.stdout
    assert "AUROC; 0.750;" in done.stdout
    assert "no form is named tea; there are toy, text, md" in done.stderr


def test_it_is_among_the_options_and_checked_before_the_work(home):
    assert "--toy" in python(home, "-m", "scorewise", "drift", "--help")
    assert "--toy" in python(home, "-m", "scorewise", "calibrate", "fit", "--help")
    twice = ["evaluate", "screening.csv", "--toy", "x", "--md", "x"]
    program = f"import sys; from scorewise.cli import run; sys.exit(run({twice!r}) - 2)"
    python(home, "-c", program)
    assert not (home / "x").exists()

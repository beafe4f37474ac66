"""Adding a measure takes one function in one file; then it is everywhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scorewise

TOY = '''
"""A toy."""

from scorewise.estimate import Estimate
from scorewise.inference.ranking import auroc_value
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.coarse import certified


@measure(group="order", title="Toy order")
def toy(t: Tally, *, level: float = 0.95) -> Estimate:
    """Share of pairs in the right order."""
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, auroc_value)
    return Estimate(value, level=level, bound=bound)
'''


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A copy of the package with one more file."""
    home = tmp_path_factory.mktemp("toy")
    shutil.copytree(
        Path(scorewise.__file__).parent,
        home / "scorewise",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (home / "scorewise" / "measures" / "toy.py").write_text(TOY)
    (home / "rows.csv").write_text("y,p\n1,0.9\n0,0.4\n0,0.2\n1,0.3\n")
    return home


def python(home: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, *args],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_in_the_library(home):
    program = (
        "import scorewise as sw; t = sw.Tally.of([1, 0, 0, 1], [.9, .4, .2, .3]);"
        "e = sw.evaluate(t); assert 'toy' in dir(sw.measures);"
        "print(sw.measures.toy(t).value, e.toy.value, e['toy'].value)"
    )
    assert python(home, "-c", program).split() == ["0.75"] * 3


CALLS = """
from scorewise.cli import run
for form in (["--all"], ["--json", "-"], ["--all", "--md", "-"]):
    assert run(["evaluate", "rows.csv", *form]) == 0
    print("=====")
"""


def test_it_is_on_the_command_line(home):
    page, document, markdown, _ = python(home, "-c", CALLS).split("=====\n")
    assert "Toy order" in page
    assert '"toy"' in document
    assert "Toy order" in markdown


def test_it_is_tested(home):
    tests = Path(__file__).parent
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        str(tests.parent / "pyproject.toml"),
    ]
    every = str(tests / "test_every_measure.py")
    out = python(home, "-m", "pytest", *options, every, "-k", "toy")
    passed = int(out.split(" passed")[0].split()[-1])
    assert passed >= 12


def test_it_is_missed_among_the_oracles(home):
    tests = Path(__file__).parent
    oracle = f"{tests / 'test_oracles.py'}::test_every_measure_has_an_oracle"
    program = (
        "import sys, pytest; code = pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:xdist',"
        f" '-c', {str(tests.parent / 'pyproject.toml')!r}, {oracle!r}]); print('code', int(code))"
    )
    assert python(home, "-c", program).rstrip().endswith("code 1")

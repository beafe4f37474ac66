"""The example project from a clean folder: as a command, as tests, and by the steps of the action."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASH = shutil.which("bash")
WORSE, FEW = ["--noise", "1"], ["--rows", "50"]
OPEN = "auroc.delta >= -0.001 vs released.csv"


@pytest.fixture
def project(tmp_path):
    """The example project, copied, and a way to run things in it."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "release-gate", folder)
    env = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    env.pop("PYTEST_ADDOPTS", None)

    def run(*line, **more):
        return subprocess.run(
            line, cwd=folder, env=env | more, capture_output=True, text=True, check=False
        )

    return run


def scored(run, options):
    assert run(sys.executable, "score.py", *options).returncode == 0


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [([], 0, "PASS"), (WORSE, 1, "FAIL"), (FEW, 3, "INCONCLUSIVE")],
)
def test_the_command(project, options, code, word):
    scored(project, options)
    done = project(sys.executable, "-m", "scorewise", "gate")
    assert done.returncode == code, done.stderr
    assert f"{word}: of 4 requirements" in done.stdout
    difference = re.search(r"^auroc.delta >= -0.01  \w+ +(\S+)", done.stdout, re.MULTILINE)[1]
    assert -0.04 < float(difference) < -0.03 if options == WORSE else float(difference) > -0.01


@pytest.mark.parametrize(
    ("options", "counts", "word"),
    [
        ([], "2 passed", ""),
        (WORSE, "1 failed, 1 passed", "FAIL"),
        (FEW, "1 failed, 1 skipped", "INCONCLUSIVE"),
    ],
    ids=["as good", "worse", "few"],
)
def test_the_fixture(project, options, counts, word):
    scored(project, options)
    plugin = ["-p", "scorewise.pytest_plugin", "-p", "no:cacheprovider"]
    done = project(sys.executable, "-m", "pytest", "-q", *plugin, "--rootdir", ".")
    assert done.returncode == bool(word), done.stdout
    assert counts in done.stdout
    assert f"{word}: of 4 requirements" in done.stdout or not word


def steps():
    """The steps of action.yml: name, environment and script; enough of YAML for this file."""
    text = (ROOT / "action.yml").read_text("utf-8")
    inputs = dict(
        re.findall(r"^  (\w+):\n    description: .*\n    default: ?(.*)$", text, re.MULTILINE)
    )
    made = []
    for part in text.split("    - name: ")[1:]:
        env = dict(re.findall(r"^        (\w+): \$\{\{ (.+?) \}\}$", part, re.MULTILINE))
        script = re.search(r"^      run: \|\n((?:        .*\n|\n)+)", part, re.MULTILINE)[1]
        made.append(
            (part.split("\n")[0], env, re.sub(r"^        ", "", script, flags=re.MULTILINE))
        )
    return {name: value.strip('"') for name, value in inputs.items()}, made


@pytest.mark.skipif(BASH is None, reason="the steps are for bash")
@pytest.mark.parametrize(
    ("options", "given", "outcome", "code"),
    [
        ([], {"gates": "gates.toml"}, "pass", 0),
        (WORSE, {"gates": "gates.toml"}, "fail", 1),
        (FEW, {"require": OPEN}, "inconclusive", 0),
        (FEW, {"require": OPEN, "inconclusive": "fail"}, "inconclusive", 1),
        (FEW, {"require": OPEN, "token": "secret"}, "inconclusive", 0),
        ([], {"require": "aurok >= 0.8"}, "", 2),
    ],
)  # fmt: skip
def test_the_steps_of_the_action(project, tmp_path, options, given, outcome, code):
    scored(project, options)
    inputs, parts = steps()
    assert [name for name, _, _ in parts] == ["Install", "Judge", "Check"]
    columns = "--label ill --score 'the risk' --key patient"
    for name in ("candidate.csv", "released.csv"):
        text = (tmp_path / "project" / name).read_text().replace(",risk,", ",the risk,", 1)
        (tmp_path / "project" / name).write_text(text)
    gates = (tmp_path / "project" / "gates.toml").read_text()
    (tmp_path / "project" / "gates.toml").write_text(gates.replace('"risk"', '"the risk"'))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > gh.txt\n')
    (tmp_path / "bin" / "gh").chmod(0o755)
    known = inputs | {"install": "", "file": "candidate.csv", "arguments": columns} | given
    output, summary = tmp_path / "output", tmp_path / "summary"
    files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
    files |= {"GITHUB_REPOSITORY": "me/model"}
    for _, env, script in parts:
        written = output.read_text().strip() if output.exists() else ""
        values = {f"inputs.{name}": value for name, value in known.items()}
        values["steps.judge.outputs.outcome"] = written.removeprefix("outcome=")
        more = {name: values.get(of, "") for name, of in env.items()}
        script = f'PATH="{tmp_path / "bin"}:$PATH"\n{script}'  # where gh only writes down its words
        done = project(BASH, "-e", "-o", "pipefail", "-c", script, **files, **more)
        if done.returncode:
            break
    assert done.returncode == code, done.stdout + done.stderr
    if outcome:
        assert written == f"outcome={outcome}"
        assert summary.read_text().startswith("### scorewise gate")
    if "token" in given:
        words = (tmp_path / "project" / "gh.txt").read_text().split("\n")
        assert words[:2] == ["api", "repos/me/model/check-runs"]
        assert "conclusion=neutral" in words
    elif outcome == "inconclusive":
        assert f"::{'error' if code else 'warning'} title=scorewise gate::" in done.stdout

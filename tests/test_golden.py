"""The JSON document of every command on fixed inputs, held against those in tests/golden.

They are the net under changes of the code's layout: no number, word or field changes unseen. When one is
meant to change, `python tests/test_golden.py` writes them anew; read the difference and list it in
CHANGELOG.md.
"""

import contextlib
import io
import json
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from scorewise.cli import commands, run
from scorewise.cli.demo import screening_csv

GOLDEN = Path(__file__).parent / "golden"
COLUMNS = ["--label", "outcome", "--score", "risk", "--positive", "ill"]
COMMANDS = {
    "evaluate": ["evaluate", "screening.csv", *COLUMNS, "--score", "sharp"],
    "evaluate-weighted": ["evaluate", "screening.csv", *COLUMNS, "--weight", "age"],
    "evaluate-classes": ["evaluate", "flowers.csv", "--label", "kind", "--classes", "p_*"],
    "report": ["report", "screening.csv", *COLUMNS, "--score", "sharp", "-o", "report.html"],
    "compare": ["compare", "screening.csv", *COLUMNS, "--score", "sharp", "--margin", "0.02"],
    "smroc": ["smroc", "screening.csv", *COLUMNS],
    "inspect": ["inspect", "screening.csv", *COLUMNS, "--id", "id", "--top", "5"],
    "raters": [
        "raters", "films.csv", "--decision", "ann", "--score", "ann_sure",
        "--decision", "bob", "--score", "bob_sure", "--label", "good",
    ],
    "agree": ["agree", "ratings.csv", "--rater", "ann", "--rater", "bob", "--rater", "cid"],
    "judge": [
        "judge", "ratings.csv", "--human", "ann", "--human", "bob", "--judge", "gpt",
        "--judge", "llm", "--replicates", "200",
    ],
    "answers": [
        "answers", "answers.csv", "--gold", "gold", "--predicted", "said",
        "--confidence", "sure", "--by", "model",
    ],
    "drift": [
        "drift", "screening.csv", "later.csv", *COLUMNS, "--replicates", "99",
    ],
    "threshold": [
        "threshold", "screening.csv", *COLUMNS, "--at", "recall >= 0.8", "--cost", "8",
        "--review", "0.3", "--prevalence", "0.05",
    ],
    "gate": [
        "gate", "screening.csv", *COLUMNS, "--require", "auroc >= 0.7", "--require",
        "brier.delta <= 0.005 vs sharp", "--inconclusive", "pass",
    ],
    "plan": [
        "plan", "screening.csv", *COLUMNS, "--score", "sharp", "--difference", "0.02",
    ],
    "calibrate": [
        "calibrate", "fit", "screening.csv", "--label", "outcome", "--score", "sharp",
        "--positive", "ill",
    ],
    "show": ["show", "screening.tally"],
    "calibrate-classes": ["calibrate", "fit", "flowers.csv", "--label", "kind", "--classes", "p_*"],
}  # fmt: skip


def write_inputs(folder: Path) -> None:
    (folder / "screening.csv").write_text(screening_csv(300))
    (folder / "later.csv").write_text(screening_csv(200, seed=5))
    made = [str(folder / f"screening.{end}") for end in ("csv", "tally")]
    with contextlib.redirect_stderr(io.StringIO()):
        assert run(["tally", made[0], *COLUMNS, "-o", made[1]]) == 0
    rng = np.random.default_rng(7)
    kinds = np.array(["ash", "birch", "cedar"])
    y = rng.choice(3, 150, p=(0.5, 0.3, 0.2))
    z = rng.normal(size=(150, 3)) + 1.5 * np.eye(3)[y]
    p = np.exp(2 * z) / np.exp(2 * z).sum(1, keepdims=True)
    # so that each row adds up to 1 as it is written
    p = p.round(4)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    rows = [
        f"{kinds[k]},{a:.4f},{b:.4f},{max(c, 0):.4f}" for k, (a, b, c) in zip(y, p, strict=True)
    ]
    (folder / "flowers.csv").write_text("\n".join(["kind,p_ash,p_birch,p_cedar", *rows]) + "\n")
    good = rng.random(60) < 0.5
    lines = ["film,ann,ann_sure,bob,bob_sure,good"]
    for i, yes in enumerate(good):
        a, b = np.clip(rng.normal(0.65 if yes else 0.35, 0.2, 2), 0.01, 0.99)
        said = ("yes" if x >= 0.5 else "no" for x in (a, b))
        lines.append(f"f{i},{next(said)},{a:.3f},{next(said)},{b:.3f},{'yes' if yes else 'no'}")
    (folder / "films.csv").write_text("\n".join(lines) + "\n")
    truth = rng.choice(3, 80, p=(0.5, 0.3, 0.2))
    words = np.array(["bad", "fair", "good"])
    columns = [
        np.where(rng.random(80) < q, truth, rng.integers(0, 3, 80))
        for q in (0.8, 0.75, 0.6, 0.7, 0.5)
    ]
    lines = [",".join(["item", "ann", "bob", "cid", "gpt", "llm"])]
    lines += [
        ",".join([f"i{i}", *words[list(row)]]) for i, row in enumerate(zip(*columns, strict=True))
    ]
    (folder / "ratings.csv").write_text("\n".join(lines) + "\n")
    cities = np.array(["Paris", "Rome", "Oslo", "Bern", "Wien"])
    gold = rng.choice(cities, 90)
    said = np.where(rng.random(90) < 0.7, gold, rng.choice(cities, 90))
    sure = (0.5 + 0.5 * rng.random(90)).round(3)
    model = rng.choice(["small", "large"], 90)
    rows = [",".join(map(str, row)) for row in zip(gold, said, sure, model, strict=True)]
    (folder / "answers.csv").write_text("\n".join(["gold,said,sure,model", *rows]) + "\n")


def document(name: str) -> dict:
    """The document that the command writes, in the folder of the inputs."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        code = run([*COMMANDS[name], "--json", f"{name}.json"])
    assert code == 0, err.getvalue()
    return json.loads(Path(f"{name}.json").read_text("utf-8"))


def differences(new, old, at="") -> list[str]:
    """Where two documents differ; numbers may differ in their last digits, hashes of them altogether."""
    if isinstance(new, dict) and isinstance(old, dict):
        missing = [f"{at}.{key}: only {side}" for side, a, b in (("new", new, old), ("old", old, new))
                   for key in a if key not in b]  # fmt: skip
        both = [key for key in new if key in old and key not in ("sha256", "scorewise", "version")]
        return missing + [d for key in both for d in differences(new[key], old[key], f"{at}.{key}")]
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        pairs = zip(new, old, strict=True)
        return [d for i, (a, b) in enumerate(pairs) for d in differences(a, b, f"{at}[{i}]")]
    numbers = isinstance(new, int | float) and isinstance(old, int | float)
    same = math.isclose(new, old, rel_tol=1e-6, abs_tol=1e-9) if numbers else new == old
    return [] if same else [f"{at}: {new!r}, was {old!r}"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_the_document_is_as_it_was(name, inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    found = differences(document(name), json.loads((GOLDEN / f"{name}.json").read_text("utf-8")))
    assert not found, "\n".join(found[:20])


def test_every_command_has_a_document():
    words = {name.split()[0] for name in commands.COMMANDS} - {"tally", "merge"}  # write tallies
    assert words == {asked[0] for asked in COMMANDS.values()}, "add the command to COMMANDS here"


def applied(folder: Path) -> bool:
    """Apply a map; whether the rows are as they were, but for last digits."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        fitted = run([*COMMANDS["calibrate"], "-o", "map.json"])
        line = "calibrate apply map.json later.csv --score sharp -o applied.csv"
        assert (fitted, run(line.split())) == (0, 0), err.getvalue()
    new, old = (
        [line.rpartition(",") for line in path.read_text("utf-8").splitlines()]
        for path in (folder / "applied.csv", GOLDEN / "applied.csv")
    )
    if new[0] != old[0] or [row[0] for row in new] != [row[0] for row in old]:
        return False
    ends = (np.array([float(row[2]) for row in rows[1:]]) for rows in (new, old))
    return np.allclose(*ends, rtol=1e-6, atol=0)


def test_a_map_applied_gives_the_rows_as_they_were(inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    assert applied(inputs)


def settled(new, old):
    """The new document with what did not change as it was, to the last digit and in its place."""
    if not differences(new, old):
        return old
    if isinstance(new, dict) and isinstance(old, dict):
        keys = [*(key for key in old if key in new), *(key for key in new if key not in old)]
        return {key: settled(new[key], old[key]) if key in old else new[key] for key in keys}
    if isinstance(new, list) and isinstance(old, list):
        if len(new) == len(old):
            return [settled(a, b) for a, b in zip(new, old, strict=True)]
        for key in ("name", "measure"):
            if all(isinstance(x, dict) and key in x for x in (*new, *old)):
                known = {x[key]: x for x in old}
                return [settled(x, known.get(x[key])) for x in new]
    return new


def test_a_changed_number_word_or_field_is_seen():
    old = {"a": 1.0, "b": ["x", None], "sha256": "1"}
    assert differences({"a": 1.0 + 1e-12, "b": ["x", None], "sha256": "2"}, old) == []
    for new in (
        {**old, "a": 1.001},
        {**old, "b": ["y", None]},
        {**old, "c": 0},
        {"a": 1.0, "b": ["x"]},
    ):
        assert differences(new, old)


def test_what_did_not_change_is_written_as_it_was():
    old = {"b": 1.0, "a": [{"name": "x", "v": 2.0}, {"name": "z", "v": 3.0}], "sha256": "1"}
    new = {"a": [{"name": "x", "v": 2.0 + 1e-12}, {"name": "y"}, {"v": 4.0, "name": "z"}],
           "c": 0, "sha256": "2", "b": 1.0 + 1e-12}  # fmt: skip
    kept = {"b": 1.0, "a": [{"name": "x", "v": 2.0}, {"name": "y"}, {"name": "z", "v": 4.0}],
            "sha256": "2", "c": 0}  # fmt: skip
    assert json.dumps(settled(new, old)) == json.dumps(kept)
    assert json.dumps(settled(new, {})) == json.dumps(new)


def write() -> None:
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        os.chdir(folder)
        for name in COMMANDS:
            path = GOLDEN / f"{name}.json"
            old = json.loads(path.read_text("utf-8")) if path.exists() else {}
            text = json.dumps(settled(document(name), old), indent=1, ensure_ascii=False)
            path.write_text(text + "\n", "utf-8")
        if not applied(Path(folder)):
            (GOLDEN / "applied.csv").write_bytes(Path("applied.csv").read_bytes())


if __name__ == "__main__":
    write()

"""The demonstration: a data set, its evaluation, and what to try next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import typer

from scorewise.cli.commands import COMMANDS, imported
from scorewise.cli.demo_data import screening_csv
from scorewise.cli.output import show, working
from scorewise.errors import BadInput, plain
from scorewise.show.document import dumps
from scorewise.show.shown import render
from scorewise.writing import make_folder, write, write_all

DATA, REPORT, PAGE, RESULT = "screening.csv", "report.md", "report.html", "evaluation.json"


def demonstrate(folder: str) -> None:
    """Write the data set, evaluate it, write the results beside it, and say what was done."""
    home = Path(folder)
    data = screening_csv()
    _prepare(home, data)
    write(home / DATA, data)
    file = str(home / DATA)
    with working([file]):
        evaluate, report = (imported(COMMANDS[name].verb) for name in ("evaluate", "report"))
        columns = {"label": "outcome", "score": ("risk", "sharp"), "positive": "ill"}
        found = evaluate(file, **columns)
        doc, whole = found.brief(), report(file, **columns, by="site", ids="id")
        page = whole.render("html")
    write_all(
        {
            home / REPORT: render(doc, "md"),
            home / PAGE: page,
            home / RESULT: dumps(found.document()),
        }
    )
    show(doc)
    command, data = _command(), shlex.quote(str(home / DATA))
    again = f"{command} evaluate {data} --label outcome --positive ill"
    rows = f"{command} inspect {data} --label outcome --score risk --id id"
    typer.echo(
        f"\nWrote into {plain(folder)}:\n"
        f"  {DATA}     the simulated patients\n"
        f"  {PAGE}       the whole report: open it in a browser\n"
        f"  {REPORT}         this evaluation as Markdown\n"
        f"  {RESULT}   the same as JSON\n"
        f"\nTry next, a lower threshold:\n  {plain(again)} \\\n    --score risk --threshold 0.2\n"
        f"and the rows whose labels deserve a second look:\n  {plain(rows)}"
    )


def _command() -> str:
    """How to call scorewise from here: by its name where that is found, else as it was called."""
    called = Path(sys.argv[0])
    if shutil.which("scorewise") or called.name != "scorewise":
        return "scorewise"
    return shlex.quote(os.path.relpath(called))


def _prepare(home: Path, data: str) -> None:
    """Make the folder, and refuse to overwrite files that are not from an earlier demonstration."""
    make_folder(home)
    ours = home / DATA
    if ours.is_file() and ours.read_bytes() == data.encode():
        return
    there = [name for name in (DATA, REPORT, PAGE, RESULT) if (home / name).exists()]
    if there:
        raise BadInput(
            f"{home} already holds {' and '.join(there)}, which demo would overwrite;"
            " name another folder"
        )

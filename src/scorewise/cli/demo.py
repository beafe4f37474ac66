"""The demonstration: a data set, its evaluation, and what to try next."""

from __future__ import annotations

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
    # two lines: with the evaluation above, they fill one screen
    typer.echo(
        f"\nWrote into {plain(folder)}: {DATA}, {REPORT}, {RESULT},\n"
        f"and {PAGE}, the whole report: open it in a browser."
    )


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

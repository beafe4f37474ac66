"""The demonstration: a simulated screening programme, its evaluation, and what to try next."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import typer

from scorewise.cli.command import show, working
from scorewise.errors import BadInput, plain
from scorewise.show import render
from scorewise.show.document import dumps
from scorewise.writing import make_folder, write, write_all

ROWS = 1000
SITES = ("north", "south", "east", "west")
DATA, REPORT, PAGE, RESULT = "screening.csv", "report.md", "report.html", "evaluation.json"


def demonstrate(folder: str) -> None:
    """Write the data set, evaluate it, write the results beside it, and say what was done."""
    home = Path(folder)
    data = screening_csv()
    _prepare(home, data)
    write(home / DATA, data)
    from scorewise.evaluation import evaluate
    from scorewise.reporting import report

    file = str(home / DATA)
    columns: Any = {"label": "outcome", "score": ("risk", "sharp"), "positive": "ill"}
    with working([file]):
        evaluation = evaluate(file, **columns)
        doc, full = evaluation.brief(), report(file, **columns, by="site", ids="id")
        page = full.render("html")
    write_all(
        {
            home / REPORT: render(doc, "md"),
            home / PAGE: page,
            home / RESULT: dumps(evaluation.document()),
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
    existing = [name for name in (DATA, REPORT, PAGE, RESULT) if (home / name).exists()]
    if existing:
        raise BadInput(
            f"{home} already holds {' and '.join(existing)}, which demo would overwrite;"
            " name another folder"
        )


def screening_csv(rows: int = ROWS, seed: int = 16) -> str:
    """Patients with an outcome and two scores: `risk` is calibrated, `sharp` overconfident.

    The outcome is drawn with probability `risk`. `sharp` sees the same signs through some noise,
    and doubles their weight.

    >>> screening_csv(rows=2).splitlines()[0]
    'id,site,age,outcome,risk,sharp'
    """
    rng = np.random.default_rng(seed)
    site = rng.choice(len(SITES), rows, p=(0.4, 0.3, 0.2, 0.1))
    age = rng.integers(40, 76, rows)
    signs = -2.85 + 0.03 * (age - 57) + rng.normal(0.0, 1.7, rows)
    risk = _probability(signs)
    ill = rng.random(rows) < risk
    sharp = _probability(2.0 * (signs + 0.7 + rng.normal(0.0, 0.6, rows)))
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(("id", "site", "age", "outcome", "risk", "sharp"))
    scores = ([f"{p:.4f}" for p in column] for column in (risk, sharp))
    outcome = np.where(ill, "ill", "well")
    sheet.writerows(
        zip(range(1, rows + 1), np.array(SITES)[site], age, outcome, *scores, strict=True)
    )
    return out.getvalue()


def _probability(logit: Any) -> Any:
    # four decimals are written: stay off 0 and 1, where a wrong answer costs infinitely much
    return np.clip(1.0 / (1.0 + np.exp(-logit)), 0.0001, 0.9999)

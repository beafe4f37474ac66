"""The commands and their options; the work is done elsewhere, imported when it is asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from scorewise import __version__

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Judge classifier scores: decisions, order and probabilities, each with its interval.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Kind(StrEnum):
    """What scores are."""

    probability = "probability"
    logit = "logit"
    score = "score"


class Missing(StrEnum):
    """What happens to rows with missing values."""

    refuse = "refuse"
    drop = "drop"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"scorewise {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Without a command, show the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files of one table: parquet, csv (.gz), jsonl or arrow; - is standard input.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the true class.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with scores; repeat it for several models.",
            show_default=False,
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class that high scores stand for.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with a weight for each row.")
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that says how many rows a row stands for."),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="A score at or above this is a positive decision."),
    ] = 0.5,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the random draws.")] = 0,
    kind: Annotated[
        Kind | None,
        typer.Option(
            metavar="KIND", help="The scores are probability, logit or score; else it is guessed."
        ),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(metavar="HOW", help="With missing values: refuse, or drop those rows."),
    ] = Missing.refuse,
    clip: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="Keep probabilities this far from 0 and 1 in log loss."
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write the result as JSON; - prints it.")
    ] = None,
    md: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write it as Markdown; - prints it.")
    ] = None,
) -> None:
    """Print every measure of the scores in FILE with its interval.

    Columns that are not named are guessed where only one guess makes sense, and it says so.

    Example: scorewise evaluate scores.csv --label outcome --score risk
    """
    from scorewise.cli import work

    work.check_settings(threshold=threshold, level=level, seed=seed, clip=clip)
    work.check_outputs(files, {"--json": json, "--md": md})
    doc = work.judged(
        files,
        columns={
            "label": label,
            "scores": tuple(score or ()),
            "weight": weight,
            "count": count,
            "positive": positive,
            "kind": kind.value if kind else None,
            "missing": missing.value,
        },
        settings={"threshold": threshold, "level": level, "seed": seed, "clip": clip},
    )
    work.deliver(doc, json=json, md=md)


@app.command(short_help="Simulate data, evaluate them, and show where to go from there.")
def demo(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder to write into; made if absent.")
    ] = "scorewise-demo",
) -> None:
    """Simulate a screening programme, evaluate it and write the results into DIR."""
    from scorewise.cli.demo import demonstrate

    demonstrate(folder)


@app.command()
def schema() -> None:
    """Print the JSON Schema of what --json writes."""
    from scorewise.views.jsontext import dumps
    from scorewise.views.schema import document_schema

    typer.echo(dumps(document_schema()).encode(), nl=False)

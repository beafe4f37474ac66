"""The commands and their options; the work is done elsewhere, imported when it is asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from scorewise import __version__
from scorewise.cli import options as o
from scorewise.cli.agree import agree
from scorewise.cli.answers import answers
from scorewise.cli.calibrate import calibrate
from scorewise.cli.drift import drift
from scorewise.cli.inspect import inspect
from scorewise.cli.judge import judge
from scorewise.cli.raters import raters
from scorewise.cli.smroc import smroc

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Judge classifier scores: decisions, order, probabilities, raters, judges, answers and drift.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    files: o.Files,
    label: o.Label = None,
    score: o.ManyScores = None,
    classes: o.Classes = None,
    predicted: o.Predicted = None,
    confidence: o.Confidence = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    count: o.Count = None,
    threshold: o.Threshold = 0.5,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    clip: o.Clip = None,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Print every measure of the scores in FILE with its interval.

    Columns that are not named are guessed where only one guess makes sense, and it says so.

    Example: scorewise evaluate scores.csv --label outcome --score risk

    Several classes: scorewise evaluate scores.csv --label animal --classes "p_*"
    """
    from scorewise.cli import work

    work.check_settings(threshold=threshold, level=level, seed=seed, clip=clip)
    work.check_outputs(files, {"--json": json, "--md": md})
    doc = work.evaluated(
        files,
        {
            "label": label, "score": score, "classes": work.only("--classes", classes),
            "predicted": predicted, "confidence": confidence, "positive": positive,
            "weight": weight, "count": count, "threshold": threshold, "level": level, "seed": seed,
            "kind": kind.value if kind else None, "missing": missing.value, "clip": clip,
            "encoding": encoding,
        },
    )  # fmt: skip
    work.deliver(doc, json=json, md=md)


app.command(short_help="Weigh the ROC curve by the scores (smROC).")(smroc)
app.command(short_help="Rank rows by the suspicion that their label is wrong.")(inspect)
app.command(short_help="Tell whether raters really disagree.")(raters)
app.command(short_help="Say how far raters agree beyond chance (kappa, alpha).")(agree)
app.command(short_help="Tell whether the confidence in answers is to be believed.")(answers)
app.command(short_help="Say what has changed since a reference, or over time.")(drift)
app.command(short_help="Set automatic judges against humans, and against each other.")(judge)
app.add_typer(calibrate, name="calibrate")
for _known in (*app.registered_commands, *calibrate.registered_commands):
    _known.callback = o.with_forms(_known.callback) if _known.callback else None


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
def schema(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="The command whose output is meant.")
    ] = "evaluate",
) -> None:
    """Print the JSON Schema of what COMMAND writes with --json."""
    from scorewise.errors import BadInput
    from scorewise.show.document import DOCUMENTS, dumps
    from scorewise.show.document import schema as schema_of

    if command not in DOCUMENTS:
        raise BadInput(f"no schema of '{command}'; there are {', '.join(sorted(DOCUMENTS))}")
    typer.echo(dumps(schema_of(command)).encode(), nl=False)

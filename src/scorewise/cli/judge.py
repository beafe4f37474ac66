"""The command `judge`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from scorewise.cli import options as o
from scorewise.errors import BadInput


class Gaps(StrEnum):
    """How intervals of differences and means of kappas are made."""

    formula = "formula"
    bootstrap = "bootstrap"


class Silence(StrEnum):
    """What a judge's silence is."""

    drop = "drop"
    wrong = "wrong"


def _columns(help_text: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(
        metavar="COLUMN", help=help_text, show_default=False
    )
    return found


def judge(
    files: o.Files,
    human: Annotated[
        list[str] | None, _columns("Column with a human's ratings; repeat it for several.")
    ] = None,
    judge: Annotated[
        list[str] | None, _columns("Column with a judge's ratings; repeat it for several.")
    ] = None,
    swapped: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[JUDGE=]COLUMN",
            help="A judge's verdicts with positions exchanged, by judge or in their order.",
            show_default=False,
        ),
    ] = None,
    swap: Annotated[
        str | None,
        typer.Option(metavar="PAIRS", help='Verdicts that then mean the same, such as "A=B".'),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="A judge's value that is no answer; repeat it."),
    ] = None,
    no_answer: Annotated[
        Silence,
        typer.Option(metavar="HOW", help="No answer of a judge: drop it, or count as wrong."),
    ] = Silence.drop,
    categories: o.Categories = None,
    scale: o.Scale = o.ScaleOfRatings.nominal,
    weights: o.Weights = None,
    weight: o.Weight = None,
    width: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Say how many items make intervals this narrow."),
    ] = None,
    interval: Annotated[
        Gaps,
        typer.Option(
            metavar="HOW",
            help="Intervals of gaps between kappas: by formula, or bootstrap of items.",
        ),
    ] = Gaps.formula,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    replicates: Annotated[
        int, typer.Option(metavar="NUMBER", help="Resamples of the items, for a bootstrap.")
    ] = 2000,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Set automatic judges against humans: against most of them, their level, and each other.

    Items without a human rating serve the shares of votes alone.

    Example: scorewise judge answers.csv --human ann --human bob --judge gpt --ignore=-1
    """
    from scorewise.cli import work

    humans, judges = list(human or ()), list(judge or ())
    for option, named in (("--human", humans), ("--judge", judges)):
        if not named:
            raise BadInput(f"no {option} was given; name at least one column")
    work.check_outputs(files, {"--json": json, "--md": md})
    with work.busy("judging the judges"), work.reading(files):
        from scorewise import judging

        found = judging.judge(
            files[0] if len(files) == 1 else list(files),
            humans=humans,
            judges=judges,
            swapped=swapped,
            swap=swap,
            ignore=tuple(ignore or ()),
            no_answer=no_answer.value,
            categories=None if categories is None else [c.strip() for c in categories.split(",")],
            scale=scale.value,
            weights=weights,
            weight=weight,
            width=width,
            interval=interval.value,
            level=level,
            seed=seed,
            replicates=replicates,
            encoding=encoding,
        )
        doc = found.document()
    hints = [work.as_options(hint) for hint in doc.hints]
    # a value that begins with a dash would be taken for an option
    hints = [hint.replace("--ignore -", "--ignore=-") for hint in hints]
    work.deliver(replace(doc, hints=hints), json=json, md=md)

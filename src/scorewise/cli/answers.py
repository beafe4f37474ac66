"""The command `answers`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scorewise.cli import options as o


def answers(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files of one table: parquet, csv (.gz), jsonl, json or arrow; or the two of DUDE, gold "
            "answers and a submission.",
            show_default=False,
        ),
    ],
    gold: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the accepted answers.")
    ] = None,
    predicted: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the answers given.")
    ] = None,
    confidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the confidence in an answer; repeat it for several.",
            show_default=False,
        ),
    ] = None,
    quality: Annotated[
        str,
        typer.Option(
            metavar="RULE", help="Quality of an answer: anls, exact, f1, or a column from 0 to 1."
        ),
    ] = "anls",
    tau: Annotated[
        float, typer.Option(metavar="NUMBER", help="Correct is an answer of quality above this.")
    ] = 0.5,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column of groups; repeat it for several.", show_default=False
        ),
    ] = None,
    weight: o.Weight = None,
    normalise: Annotated[
        str | None,
        typer.Option(metavar="HOW", help="Before texts are compared: plain, squad or none."),
    ] = None,
    lists: Annotated[
        str,
        typer.Option(
            metavar="WHAT", help="A list of gold answers holds variants, or items all to be named."
        ),
    ] = "variants",
    unanswerable: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A text that says there is no answer, in place of the usual ones; repeat it.",
            show_default=False,
        ),
    ] = None,
    bins: Annotated[
        int, typer.Option(metavar="NUMBER", help="Bins of equal width that ECE has.")
    ] = 15,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    missing: o.Missing = o.HowMissing.refuse,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Tell whether the confidence in answers is to be believed, in all and by group.

    Example: scorewise answers qa.jsonl --gold answer --predicted output --confidence p --by model

    Example: scorewise answers qa.csv --quality correct --confidence stated --confidence token
    """
    from scorewise.cli import work
    from scorewise.cli.answers_work import judged_answers

    work.check_outputs(files, {"--json": json, "--md": md})
    columns: dict[str, Any] = {
        "gold": gold,
        "predicted": predicted,
        "confidence": tuple(confidence or ()),
        "quality": quality,
        "groups": tuple(by or ()),
        "weight": weight,
        "missing": missing.value,
        "normalise": normalise,
        "lists": lists,
        "encoding": encoding,
        **({"unanswerable": tuple(unanswerable)} if unanswerable else {}),
    }
    settings = {"tau": tau, "bins": bins, "level": level, "seed": seed}
    work.deliver(judged_answers(files, columns, settings), json=json, md=md)

"""The command `agree`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from scorewise.cli import options as o
from scorewise.errors import BadInput


class FormOfRatings(StrEnum):
    """What the columns of a file are."""

    items = "items"
    table = "table"
    counts = "counts"


class HowIntervals(StrEnum):
    """How intervals are made."""

    formula = "formula"
    bootstrap = "bootstrap"
    published = "published"


def agree(
    files: o.Files,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with a rater's ratings; repeat it. With --rating: who rated.",
            show_default=False,
        ),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that names the items.")
    ] = None,
    rating: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with ratings, one in each row."),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help='Columns that count the raters who chose a category: "n_*", or "yes=a,no=b".',
        ),
    ] = None,
    form: Annotated[
        FormOfRatings | None,
        typer.Option(
            metavar="FORM",
            help="What the columns are: items (a rater each), table (of two raters) or counts.",
            show_default=False,
        ),
    ] = None,
    scale: o.Scale = o.ScaleOfRatings.nominal,
    categories: o.Categories = None,
    weights: o.Weights = None,
    interval: Annotated[
        HowIntervals,
        typer.Option(
            metavar="HOW",
            help="Intervals by formula, bootstrap of items, or as published elsewhere.",
        ),
    ] = HowIntervals.formula,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with a weight for each item.")
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that says how many items a row stands for."),
    ] = None,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    top: Annotated[int, typer.Option(metavar="NUMBER", help="Items to list at most.")] = 10,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Say how far raters agree beyond chance, and where they do not.

    Ratings that are missing were not given. Columns that are not named are guessed, and it says so.

    Example: scorewise agree labels.csv --rater ann --rater bob --rater cat

    One rating in each row: scorewise agree long.csv --item film --rater who --rating stars --scale ordinal
    """
    from scorewise.cli import work

    work.check_settings(threshold=0.5, level=level, seed=seed, clip=None)
    if top < 0:
        raise BadInput(f"--top is {top}; it must be 0 or more")
    work.check_outputs(files, {"--json": json, "--md": md})
    named = tuple(rater or ())
    if rating is not None and len(named) > 1:
        raise BadInput(
            f"--rater is given {len(named)} times; with --rating, name the one column of who rated"
        )
    options: dict[str, Any] = {
        "raters": () if rating is not None else named,
        "rater": named[0] if rating is not None and named else None,
        "item": item,
        "rating": rating,
        "counts": counts,
        "form": None if form is None else form.value,
        "scale": scale.value,
        "categories": None if categories is None else [c.strip() for c in categories.split(",")],
        "weights": weights,
        "interval": interval.value,
        "weight": weight,
        "count": count,
        "level": level,
        "seed": seed,
        "top": top,
        "encoding": encoding,
    }
    doc = work.agreed(files, options)
    work.deliver(doc, json=json, md=md)

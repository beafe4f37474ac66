"""The command `judge`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from scorewise.cli import options as o
from scorewise.errors import BadInput


class ScaleOfRatings(StrEnum):
    """What ratings are."""

    nominal = "nominal"
    ordinal = "ordinal"
    interval = "interval"
    ratio = "ratio"


class KappaWeights(StrEnum):
    """How much neighbouring categories agree."""

    unweighted = "unweighted"
    linear = "linear"
    quadratic = "quadratic"


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
        _columns("Column of a judge's verdicts with positions exchanged, in the order of judges."),
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
    categories: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help='All categories from the lowest up: "bad,fair,good".'),
    ] = None,
    scale: Annotated[
        ScaleOfRatings,
        typer.Option(metavar="SCALE", help="Ratings are nominal, ordinal, interval or ratio."),
    ] = ScaleOfRatings.nominal,
    weights: Annotated[
        KappaWeights | None,
        typer.Option(
            metavar="HOW", help="Kappa unweighted, linear or quadratic; else by the scale."
        ),
    ] = None,
    weight: o.Weight = None,
    width: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Say how many items make intervals this narrow."),
    ] = None,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    replicates: Annotated[
        int, typer.Option(metavar="NUMBER", help="Resamples of the items.")
    ] = 2000,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Set automatic judges against humans: against their majority, their ceiling, and each other.

    Items without a human rating serve the shares of all items alone.

    Example: scorewise judge answers.csv --human ann --human bob --judge gpt --ignore=-1
    """
    from scorewise.cli import work

    humans, judges = tuple(human or ()), tuple(judge or ())
    again = _again(judges, tuple(swapped or ()))
    _check(humans, judges, tuple(again.values()), weight)
    work.check_outputs(files, {"--json": json, "--md": md})
    with work.busy("judging the judges"):
        from scorewise.agreeing.judges import judge as judged
        from scorewise.sources import read_columns
        from scorewise.views.words import plain

        named = [*humans, *judges, *again.values(), *([] if weight is None else [weight])]
        try:
            columns, place = read_columns(files[0] if len(files) == 1 else list(files), named)
        except OSError as error:
            where = plain(error.filename or ", ".join(files))
            raise BadInput(f"cannot read {where}: {error.strerror or error}") from error
        found = judged(
            {name: columns[name] for name in humans},
            {name: columns[name] for name in judges},
            swapped={name: columns[column] for name, column in again.items()} or None,
            swap=swap,
            ignore=tuple(ignore or ()),
            no_answer=no_answer.value,
            categories=None if categories is None else [c.strip() for c in categories.split(",")],
            scale=scale.value,
            weights=None if weights is None else weights.value,
            weight=None if weight is None else columns[weight],
            weight_name=weight or "weight",
            width=width,
            level=level,
            seed=seed,
            replicates=replicates,
            place=place,
        )
        doc = found.to_dict()
    doc["hints"] = [work.as_options(hint) for hint in doc["hints"]]
    work.deliver(doc, json=json, md=md)


def _again(judges: Sequence[str], swapped: Sequence[str]) -> dict[str, str]:
    """The column of the exchanged run of each judge."""
    if swapped and len(swapped) != len(judges):
        raise BadInput(
            f"{len(judges)} --judge and {len(swapped)} --swapped were given; name one for each judge, "
            f"in their order"
        )
    return dict(zip(judges, swapped, strict=False))


def _check(
    humans: Sequence[str], judges: Sequence[str], again: Sequence[str], weight: str | None
) -> None:
    """Refuse columns that are missing or have two parts to play."""
    for option, named in (("--human", humans), ("--judge", judges)):
        if not named:
            raise BadInput(f"no {option} was given; name at least one column")
    if both := [name for name in judges if name in humans]:
        raise BadInput(f"'{both[0]}' is named as a human and as a judge; it can be one of them")
    named = [*humans, *judges, *again, *([] if weight is None else [weight])]
    if twice := [name for name in named if named.count(name) > 1]:
        raise BadInput(f"column '{twice[0]}' is given twice; name a different column for each")

"""The options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any

import typer

from scorewise.show.shown import RENDERERS

# where the page goes in forms that a command does not name itself
FURTHER: ContextVar[dict[str, str | None]] = ContextVar("FURTHER")


class KindOfScore(StrEnum):
    """What scores are."""

    probability = "probability"
    logit = "logit"
    score = "score"


class HowMissing(StrEnum):
    """What happens to rows with missing values."""

    refuse = "refuse"
    drop = "drop"


class ScaleOfRatings(StrEnum):
    """What kind of categories there are."""

    nominal = "nominal"
    ordinal = "ordinal"
    interval = "interval"
    ratio = "ratio"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Files of one table: parquet, csv (.gz), jsonl or arrow; - is standard input.",
        show_default=False,
    ),
]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the true class.")]
Score = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with scores.")]
ManyScores = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with scores; repeat it for several models.",
        show_default=False,
    ),
]
Classes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help='Columns of several classes: "cat=p_cat,dog=p_dog", or "p_*" with the class as the star.',
    ),
]
Predicted = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with predicted classes; --score is the confidence in them."
    ),
]
Confidence = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Of several classes: max, margin, entropy, energy or a column; else max.",
    ),
]
Positive = Annotated[
    str | None, typer.Option(metavar="CLASS", help="The class that high scores stand for.")
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with a weight for each row.")
]
Count = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says how many rows a row stands for."),
]
Threshold = Annotated[
    float,
    typer.Option(metavar="NUMBER", help="A score at or above this is a positive decision."),
]
Level = Annotated[float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the random draws.")]
Kind = Annotated[
    KindOfScore | None,
    typer.Option(
        metavar="KIND", help="The scores are probability, logit or score; else it is guessed."
    ),
]
Missing = Annotated[
    HowMissing,
    typer.Option(metavar="HOW", help="With missing values: refuse, or drop those rows."),
]
Clip = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", help="Keep probabilities this far from 0 and 1 in log loss."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of csv and jsonl, such as latin-1; else UTF-8."),
]
Json = Annotated[
    str | None, typer.Option(metavar="PATH", help="Write the result as JSON; - prints it.")
]
Md = Annotated[str | None, typer.Option(metavar="PATH", help="Write it as Markdown; - prints it.")]
Top = Annotated[int, typer.Option(metavar="NUMBER", help="Rows to list at most.")]
Id = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows.")
]
Tolerance = Annotated[
    float, typer.Option(metavar="NUMBER", help="Scores this near each other agree.")
]
Midpoint = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="From where on a score is high: mean, balanced, median, crossing or a number.",
    ),
]
Scale = Annotated[
    ScaleOfRatings,
    typer.Option(metavar="SCALE", help="Ratings are nominal, ordinal, interval or ratio."),
]
Categories = Annotated[
    str | None,
    typer.Option(metavar="LIST", help='All categories in order: "low,middle,high".'),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How near misses count: identity, linear, quadratic, ...; else what suits the scale.",
    ),
]


def with_forms(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with an option for each form of its page that it does not name itself."""
    named = inspect.signature(command).parameters
    forms = [form for form in RENDERERS if form != "text" and form not in named]
    if "md" not in named or not forms:
        return command

    @wraps(command)
    def wrapped(**values: Any) -> Any:
        token = FURTHER.set({form: values.pop(form) for form in forms})
        try:
            return command(**values)
        finally:
            FURTHER.reset(token)

    whole = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(
            form,
            inspect.Parameter.KEYWORD_ONLY,
            default=typer.Option(None, metavar="PATH", help=f"Write it as {form}; - prints it."),
            annotation=str | None,
        )
        for form in forms
    ]
    wrapped.__signature__ = whole.replace(  # type: ignore[attr-defined]
        parameters=[*whole.parameters.values(), *options]
    )
    return wrapped

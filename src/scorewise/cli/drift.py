"""The command `drift`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from scorewise.cli import options as o
from scorewise.errors import BadInput


class WhichLabels(StrEnum):
    """Which samples have labels."""

    both = "both"
    reference = "reference"
    none = "none"


class Period(StrEnum):
    """Calendar periods."""

    day = "day"
    week = "week"
    month = "month"
    quarter = "quarter"
    year = "year"


def drift(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help="File (or 'pattern*') to compare with.", show_default=False
        ),
    ],
    current: Annotated[
        str | None,
        typer.Argument(
            metavar="CURRENT",
            help="File of the rows since; none with --time.",
            show_default=False,
        ),
    ] = None,
    label: o.Label = None,
    score: o.Score = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    labels: Annotated[
        WhichLabels,
        typer.Option(metavar="WHICH", help="Which samples have labels: both, reference or none."),
    ] = WhichLabels.both,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Cut one file into windows by this column."),
    ] = None,
    windows: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Windows of equal numbers of rows; else 6."),
    ] = None,
    every: Annotated[
        Period | None,
        typer.Option(metavar="PERIOD", help="Windows by day, week, month, quarter or year."),
    ] = None,
    reference_until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Rows up to this time are the reference."),
    ] = None,
    midpoint: Annotated[
        str,
        typer.Option(metavar="RULE", help="Midpoint: mean, balanced, median or a number."),
    ] = "mean",
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    replicates: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Random splits for the p-values; else 999 or more."),
    ] = None,
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Say what has changed from REFERENCE to CURRENT, or over time in one file.

    Example: scorewise drift january.csv june.csv --label outcome --score risk

    Example: scorewise drift year.parquet --time date --every month
    """
    from scorewise.cli import work

    if current is None and time is None:
        raise BadInput(
            "only one file was given; name REFERENCE and CURRENT, or --time COLUMN to cut one file "
            "into windows"
        )
    if midpoint == "crossing":
        raise BadInput(
            "--midpoint crossing is not known to drift; it takes mean, balanced or median"
        )
    files = [f for f in (reference, current) if f is not None]
    work.check_outputs(files, {"--json": json, "--md": md})
    doc = work.drifted(
        files,
        {
            "label": label,
            "score": score,
            "positive": positive,
            "weight": weight,
            "labels": labels.value,
            "time": time,
            "windows": windows,
            "every": every.value if every else None,
            "reference_until": _number(reference_until),
            "midpoint": work.midpoint_rule(midpoint),
            "level": level,
            "seed": seed,
            "replicates": replicates,
            "kind": kind.value if kind else None,
            "missing": missing.value,
            "encoding": encoding,
        },
    )
    work.deliver(doc, json=json, md=md)


def _number(text: str | None) -> str | float | None:
    """A number where the text is one."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text

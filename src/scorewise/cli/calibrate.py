"""The commands `calibrate fit` and `calibrate apply`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from scorewise.cli import options as o

calibrate = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=False,
    help="Learn a map from scores to probabilities, and apply it.",
)


class MethodName(StrEnum):
    """The maps that there are."""

    auto = "auto"
    identity = "identity"
    temperature = "temperature"
    platt = "platt"
    beta = "beta"
    quadratic = "quadratic"
    spline = "spline"
    isotonic = "isotonic"
    isotonic_strict = "isotonic_strict"
    histogram = "histogram"
    venn_abers = "venn_abers"


@calibrate.command(short_help="Learn a map and write it as JSON.")
def fit(
    files: o.Files,
    label: o.Label = None,
    score: o.Score = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    count: o.Count = None,
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="NAME",
            help="auto, identity, temperature, platt, beta, quadratic, spline, isotonic, "
            "isotonic_strict, histogram or venn_abers.",
        ),
    ] = MethodName.auto,
    folds: Annotated[
        int, typer.Option(metavar="NUMBER", help="Folds in which methods are compared.")
    ] = 5,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    clip: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="Keep probabilities this far from 0 and 1."),
    ] = 1e-7,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="PATH", help="Write the map (.json).")
    ] = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Learn a map from scores to probabilities from the rows of FILE, whose labels are known.

    With --method auto it is chosen on rows not seen in fitting, and only if it is shown to help.

    Example: scorewise calibrate fit scores.csv --label outcome --score risk -o map.json
    """
    from scorewise.cli import work

    work.check_settings(threshold=0.5, level=level, seed=seed, clip=clip)
    work.check_outputs(files, {"--out": out, "--json": json, "--md": md})
    scores = [score] if score is not None else None
    columns = work.columns(label, scores, positive, weight, count, kind, missing)
    loaded = work.read(files, columns)
    with work.busy(f"fitting {len(loaded.rows):,} rows"):
        from scorewise.recalibrating import Recalibrator
        from scorewise.tallies import Tally
        from scorewise.views.jsontext import dumps

        (name,) = loaded.rows.scores
        made = Recalibrator(method.value, folds=folds, seed=seed, clip=clip, level=level)
        doc = made.fit(Tally.of_rows(loaded.rows, name, loaded.sources)).to_dict()
    work.deliver(doc, json=json, md=md, files={out: dumps(doc).encode()} if out else None)


@calibrate.command(short_help="Add the probabilities of a map to files of scores.")
def apply(
    map_: Annotated[
        str, typer.Argument(metavar="MAP", help="What calibrate fit wrote.", show_default=False)
    ],
    files: o.Files,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="PATH", help="File to write: .csv or .parquet.")
    ],
    score: o.Score = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Name of the new column; else SCORE_calibrated."),
    ] = None,
    missing: o.Missing = o.HowMissing.refuse,
) -> None:
    """Write the rows of FILE with a further column, the probabilities that the map gives.

    All other columns and the order of the rows stay. Files may be larger than memory.

    Example: scorewise calibrate apply map.json new.parquet --score risk -o out.parquet
    """
    from scorewise.cli import work
    from scorewise.views.words import amount, plain

    work.check_outputs([map_, *files], {"--out": out})
    with work.busy("applying"):
        from scorewise.recalibrating import Recalibrator
        from scorewise.recalibrating.applying import apply_files
        from scorewise.recalibrating.methods import METHODS

        m = Recalibrator.load(map_).map_
        done, notes = apply_files(m, files, out, score=score, name=name, missing=missing.value)
    for note in notes:
        typer.echo(f"note: {plain(note)}", err=True)
    if done.dropped:
        typer.echo(f"note: {amount(done.dropped)} rows without a score were left out", err=True)
    if done.outside:
        typer.echo(
            f"note: {amount(done.outside)} scores lie outside {m.low:.4g} to {m.high:.4g}, the range "
            f"seen in fitting; they are {METHODS[m.method].outside}",
            err=True,
        )
    typer.echo(f"wrote {plain(out)}: {amount(done.rows)} rows", err=True)

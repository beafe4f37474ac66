"""The commands `calibrate fit` and `calibrate apply`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

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
    vector = "vector"
    structured = "structured"
    dirichlet = "dirichlet"


@calibrate.command(short_help="Learn a map and write it as JSON.")
def fit(
    files: o.Files,
    label: o.Label = None,
    score: o.Score = None,
    classes: o.Classes = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    count: o.Count = None,
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="NAME",
            help="auto, identity, temperature, platt, beta, quadratic, spline, isotonic, "
            "isotonic_strict, histogram or venn_abers; for several classes auto, identity, "
            "temperature, vector, structured or dirichlet.",
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
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Learn a map from scores to probabilities from the rows of FILE, whose labels are known.

    With --method auto it is chosen on rows not seen in fitting, and only if it is shown to help.

    Example: scorewise calibrate fit scores.csv --label outcome --score risk -o map.json
    Several classes: scorewise calibrate fit pets.csv --label pet --classes "p_*" -o map.json
    """
    from scorewise.cli import work

    work.check_settings(threshold=0.5, level=level, seed=seed, clip=clip)
    work.check_outputs(files, {"--out": out, "--json": json, "--md": md})
    scores = [score] if score is not None else None
    columns = work.columns(label, scores, positive, weight, count, kind, missing, encoding)
    options = {"folds": folds, "seed": seed, "clip": clip, "level": level}
    from scorewise.cli.calibrate_work import fit_classes, fit_one
    from scorewise.show.document import dumps

    spec = work.only("--classes", classes)
    if spec is None:
        doc = fit_one(files, columns, method.value, options)
    else:
        doc = fit_classes(files, spec, columns, method.value, options)
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
    classes: o.Classes = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Name of the new column; else COLUMN_calibrated, calibrated_COLUMN for several classes.",
        ),
    ] = None,
    missing: o.Missing = o.HowMissing.refuse,
    encoding: o.Encoding = None,
) -> None:
    """Write the rows of FILE with the probabilities that the map gives, one column or one a class.

    All other columns and the order of the rows stay. Files may be larger than memory.

    Example: scorewise calibrate apply map.json new.parquet --score risk -o out.parquet
    """
    from scorewise.cli import work
    from scorewise.show.page import counted

    work.check_outputs([map_, *files], {"--out": out})
    from scorewise.cli.calibrate_work import apply_map

    named = {"score": score, "classes": work.only("--classes", classes), "name": name}
    reading: dict[str, Any] = {"missing": missing.value, "encoding": encoding}
    done, notes = apply_map(map_, files, out, named, reading)
    for note in notes:
        work.tell(f"note: {note}")
    work.tell(f"wrote {out}: {counted(done.rows, 'row')}")

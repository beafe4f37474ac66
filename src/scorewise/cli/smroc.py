"""The command `smroc`."""

from __future__ import annotations

from typing import Annotated

import typer

from scorewise.cli import options as o


def smroc(
    files: o.Files,
    label: o.Label = None,
    score: o.ManyScores = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    count: o.Count = None,
    midpoint: o.Midpoint = "mean",
    learn: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Take the midpoint from these rows, e.g. validation."),
    ] = None,
    threshold: o.Threshold = 0.5,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Draw the curves (.png, .svg or .pdf).")
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Write climb and run of each row (.csv or .parquet)."),
    ] = None,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Weigh the ROC curve by the scores, to see whether they themselves agree with the labels.

    Scores lie in [0, 1], or are logits and said to be (--kind logit).

    Example: scorewise smroc scores.csv --label outcome --score risk --plot smroc.png
    """
    from scorewise.cli import smroc_work, work

    work.check_settings(threshold=threshold, level=level, seed=seed, clip=None)
    outputs = {"--json": json, "--md": md, "--plot": plot, "--segments": segments}
    work.check_outputs(files if learn is None else [*files, learn], outputs)
    smroc_work.check_endings(plot, segments)
    columns = work.columns(label, score, positive, weight, count, kind, missing, encoding)
    rule = smroc_work.rule(midpoint, learn, columns)
    rows = work.read(files, columns)
    with work.busy(f"weighing {len(rows):,} rows"):
        curves = smroc_work.curves(rows, rule, threshold=threshold, level=level, seed=seed)
        made = smroc_work.files(curves, rows, plot, segments)
    work.deliver(curves.document(), json=json, md=md, files=made)

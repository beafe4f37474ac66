"""The command `raters`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scorewise.cli import options as o
from scorewise.errors import BadInput


def raters(
    files: o.Files,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with a rater's decisions; repeat it for each rater.",
            show_default=False,
        ),
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with how much a rater thinks speaks for yes, in the order of decisions.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the true class, if known.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The decision that high scores stand for.")
    ] = None,
    id_: o.Id = None,
    tolerance: o.Tolerance = 0.1,
    top: o.Top = 20,
    midpoint: o.Midpoint = "mean",
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Tell whether raters who give a decision and a score each really disagree.

    A score says how much speaks for the positive decision: a sure no has a score near 0.

    Example: scorewise raters films.csv --decision ann --score ann_sure --decision bob --score bob_sure
    """
    from scorewise.cli import work
    from scorewise.cli.inspect import check

    decisions, scores = tuple(decision or ()), tuple(score or ())
    if len(decisions) != len(scores) or len(scores) < 2:
        raise BadInput(
            f"{len(decisions)} --decision and {len(scores)} --score were given; name both for each "
            f"of at least two raters"
        )
    for named in (decisions, scores):
        if twice := [name for name in named if named.count(name) > 1]:
            raise BadInput(f"column '{twice[0]}' is given twice; name one for each rater")
    check(top=top, tolerance=tolerance)
    work.check_outputs(files, {"--json": json, "--md": md})
    settings: dict[str, Any] = {
        "positive": positive,
        "tolerance": tolerance,
        "top": top,
        "midpoint": work.midpoint_rule(midpoint),
        "kind": kind.value if kind else None,
        "missing": missing.value,
    }
    pairs = list(zip(decisions, scores, strict=True))
    doc = work.rated(files, pairs, label, id_, settings, encoding)
    work.deliver(doc, json=json, md=md)

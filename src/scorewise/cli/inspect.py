"""The command that finds rows worth a second look."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scorewise.cli import options as o
from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.columns import Rows
    from scorewise.inspection.document import InspectDocument


def inspect(
    files: o.Files,
    label: o.Label = None,
    score: o.ManyScores = None,
    positive: o.Positive = None,
    weight: o.Weight = None,
    count: o.Count = None,
    id_: o.Id = None,
    top: o.Top = 20,
    midpoint: o.Midpoint = "mean",
    tolerance: o.Tolerance = 0.1,
    threshold: o.Threshold = 0.5,
    seed: o.Seed = 0,
    kind: o.Kind = None,
    missing: o.Missing = o.HowMissing.refuse,
    encoding: o.Encoding = None,
    json: o.Json = None,
    md: o.Md = None,
) -> None:
    """Rank the rows in FILE by the suspicion that their label is wrong.

    Also finds hard successes, gaps between scores and, for several score columns, the rows on which
    they agree within a tolerance. Scores should be out of fold: from a model that did not see the row.

    Example: scorewise inspect scores.csv --label outcome --score risk --id patient
    """
    from scorewise.cli import work

    work.check_outputs(files, {"--json": json, "--md": md})
    settings: dict[str, Any] = {
        "top": top,
        "tolerance": tolerance,
        "threshold": threshold,
        "seed": seed,
    }
    check(top=top, tolerance=tolerance, threshold=threshold, seed=seed)
    settings["midpoint"] = work.midpoint_rule(midpoint)
    rows = work.read(
        files,
        work.columns(label, score, positive, weight, count, kind, missing, encoding) | {"ids": id_},
    )
    work.deliver(_looked(rows, settings), json=json, md=md)


def check(*, top: int, tolerance: float, threshold: float = 0.5, seed: int = 0) -> None:
    """Refuse settings that mean nothing."""
    if top < 0:
        raise BadInput(f"--top is {top}; it must be a number of rows, 0 or more")
    if not 0 <= tolerance < math.inf:
        raise BadInput(
            f"--tolerance is {tolerance}; it must be a distance, 0 or more, for example 0.1"
        )
    if not math.isfinite(threshold):
        raise BadInput(f"--threshold is {threshold}; it must be a finite number, for example 0.5")
    if seed < 0:
        raise BadInput(f"--seed is {seed}; it must be 0 or more")


def _looked(rows: Rows, settings: Mapping[str, Any]) -> InspectDocument:
    """The document of all scores that were read."""
    from scorewise.cli import work

    with work.busy(f"inspecting {len(rows):,} rows"):
        from scorewise.inspection import look

        doc: InspectDocument = work.with_options(look(rows, **settings))
    return doc

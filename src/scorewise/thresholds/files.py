"""Rules applied to files: `threshold apply`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorewise import writing
from scorewise.arrays import Floats
from scorewise.columns import Columns, Missing
from scorewise.columns.rewriting import (
    ENDINGS,
    Applied,
    check_kept,
    check_scores,
    rewrite,
    scan,
    score_column,
)
from scorewise.errors import BadInput
from scorewise.show.document import dumps
from scorewise.thresholds.rule import ThresholdRule


def apply(
    rule_file: str | Path,
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | Path,
    score: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Applied:
    """Write the rows of files with the decisions of a saved rule: 1 for an alert, 0 for none.

    With two cuts, a row that is to be reviewed has 0.5. All other columns and the order of the rows stay;
    files may be larger than memory. The new column is `name`, else COLUMN_alert.
    """
    rule = ThresholdRule.load(rule_file)
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place = writing.check(out)
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)

    def outside(found: Columns) -> int:
        column, values = next(iter(found["score"].items()))
        wrong = (values.values < 0) | (values.values > 1)
        if rule.kind == "probability" and wrong.any():
            rows = found.place.rows(wrong)
            raise BadInput(f"{column} is outside [0, 1] {rows}; the rule is for probabilities")
        return 0

    with scan(paths, encoding) as scanned:
        column, notes = score_column(scanned[0], score)
        made = [name or f"{column}_alert"]
        check_kept(scanned, made, ending)
        applied = check_scores(scanned, [column], missing, outside)
        rewrite(
            scanned, [column], made, lambda s: decided(rule, s), missing, (place, ending),
            whole_numbers=rule.document().reject is None,
        )  # fmt: skip
    return applied._replace(notes=(*notes, *applied.notes))


def decided(rule: ThresholdRule, scores: Floats) -> Any:
    """1 where a score is an alert, 0 where it is none, 0.5 where it is to be reviewed; n x 1."""
    region = rule.document().reject
    if region is None:
        return (scores >= rule.threshold).astype(np.float64)
    return np.where(scores >= region.high, 1.0, np.where(scores < region.low, 0.0, 0.5))


def rule_file(rule: ThresholdRule, ending: str) -> bytes:
    """The rule as `ThresholdRule.save` writes it."""
    return dumps(rule.document()).encode()

"""Results as MLflow keeps them: values with their intervals as metrics, JSON and report as artifacts."""

from __future__ import annotations

import re
from typing import Any

from scorewise.errors import BadInput


def log(result: Any, prefix: str = "", *, artifacts: bool = True) -> dict[str, float]:
    """Log every estimate of a result to the run that is active, and return what was logged.

    A metric has the name of its measure, `auroc`, and beside it `auroc.low` and `auroc.high`; with several
    models their names stand before it (`risk.auroc`), and `prefix` before all. The document and the report
    become the artifacts `scorewise.json` and `scorewise.html`, behind the prefix.
    """
    try:
        import mlflow
    except ImportError:
        raise BadInput("logging to MLflow needs it: pip install 'scorewise[mlflow]'") from None
    found = metrics(result, prefix)
    mlflow.log_metrics(found)
    if artifacts:
        mlflow.log_text(result.to_json(), f"{prefix}scorewise.json")
        mlflow.log_text(result.render("html"), f"{prefix}scorewise.html")
    return found


def metrics(result: Any, prefix: str = "") -> dict[str, float]:
    """The estimates of a result by name, with their limits; those without a value are left out."""
    frame = result.to_frame()
    keys = [c for c in ("model", "first", "second", "class", "judge") if c in frame.columns]
    keys = [c for c in keys if frame[c].n_unique() > 1]
    found: dict[str, float] = {}
    for row in frame.iter_rows(named=True):
        words = (str(row[c]) for c in (*keys, "name"))
        # without what MLflow refuses in a name
        name = prefix + ".".join(re.sub(r"[^\w\-. :]", "_", word) or "_" for word in words)
        for end, column in (("", "value"), (".low", "low"), (".high", "high")):
            x = row.get(column)
            if x is not None and x == x:
                found.setdefault(name + end, float(x))
    return found

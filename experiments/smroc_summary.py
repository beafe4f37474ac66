"""The numbers of the smROC study, one row for each data set and way of resampling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from experiments.paired_tests import corrected_t
from experiments.smroc_runs import AREAS, MODELS, SCHEMES
from scorewise.inference.paired import holm


def summary(found: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Means and standard deviations over runs, and the tests of the difference in each set.

    Columns are named by what, area and model: `mean_auc_tree`, `sd_sm_mean_bayes`; differences are naive
    Bayes minus tree: `diff_auc`, `diff_sd_auc`, `t_auc`, `p_auc`, and `holm_auc` adjusted over the sets.
    """
    lines = [line for name, frame in found.items() for line in _lines(name, frame)]
    table = pl.DataFrame(lines, infer_schema_length=None)
    parts = []
    for scheme in SCHEMES:
        part = table.filter(pl.col("scheme") == scheme)
        adjusted = [pl.Series(f"holm_{a}", holm(part[f"p_{a}"].to_list())) for a in AREAS]
        parts.append(part.with_columns(adjusted))
    return pl.concat(parts)


def _lines(name: str, frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for scheme in SCHEMES:
        part = frame.filter(pl.col("scheme") == scheme)
        by = {m: part.filter(pl.col("model") == m).sort("repeat", "run") for m in MODELS}
        learned, judged = (_mean(_floats(part, c)) for c in ("learned", "judged"))
        line: dict[str, Any] = {"set": name, "scheme": scheme, "rows": round(learned + judged)}
        for model, own in by.items():
            for what in ("boldness", "brier"):
                line[f"{what}_{model}"] = _mean(_floats(own, what))
            for area in AREAS:
                values = _floats(own, area)
                chance = 0.5 if area == "auc" else _mean(_floats(own, f"{area}_chance"))
                line |= {
                    f"mean_{area}_{model}": _mean(values),
                    f"sd_{area}_{model}": _sd(values),
                    f"chance_{area}_{model}": chance,
                    f"undefined_{area}_{model}": int(np.isnan(values).sum()),
                }
        for area in AREAS:
            d = _floats(by["bayes"], area) - _floats(by["tree"], area)
            test = corrected_t(d, learned, judged)
            line |= {f"diff_{area}": test.mean, f"diff_sd_{area}": _sd(d)}
            line |= {f"t_{area}": test.t, f"p_{area}": test.p}
        yield line


def _floats(frame: pl.DataFrame, column: str) -> np.ndarray:
    return frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _mean(x: np.ndarray) -> float:
    x = x[~np.isnan(x)]
    return float(x.mean()) if len(x) else float("nan")


def _sd(x: np.ndarray) -> float:
    x = x[~np.isnan(x)]
    return float(x.std(ddof=1)) if len(x) > 1 else float("nan")

"""The figures of the smROC study, from the numbers that it leaves in smroc_study.csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scorewise.colours import BLUE, VERMILION
from studies._tools import TABLES, panels

NUMBERS = TABLES / "smroc_study.csv"
MODELS = {"tree": "Tree", "bayes": "Naive Bayes"}
RUNS = {"cv": "10-fold cross-validation", "sub": "subsamples of 40 %"}
LOOKS = {
    "auc": {"color": BLUE, "marker": "o", "label": "AUC"},
    "sm_mean": {"color": VERMILION, "marker": "s", "label": "smAUC (midpoint: mean score)"},
}


def numbers(scheme: str, file: Path) -> pl.DataFrame:
    """One row for each data set."""
    return pl.read_csv(file, infer_schema_length=None).filter(pl.col("scheme") == scheme)


def _named(ax: Any, names: pl.Series, title: str, y: str) -> None:
    ax.set_xticks(np.arange(len(names)), names.to_list(), rotation=90, fontsize="x-small")
    ax.set_title(title, fontsize="medium")
    ax.set_ylabel(y)
    ax.grid(True, alpha=0.3, lw=0.6)
    ax.set_axisbelow(True)


def spread(file: Path = NUMBERS) -> Any:
    """How AUC and smAUC of the same model vary, sets ordered by AUC's standard deviation."""
    figure, axes = panels(2, 2, (11, 8))
    for line, scheme in zip(axes, RUNS, strict=True):
        for ax, model in zip(line, MODELS, strict=True):
            table = numbers(scheme, file).sort(f"sd_auc_{model}")
            for area, look in LOOKS.items():
                ax.plot(table[f"sd_{area}_{model}"], ls="-", lw=0.8, ms=4, **look)
            _named(ax, table["set"], f"{MODELS[model]}, {RUNS[scheme]}", "standard deviation")
            ax.set_ylim(bottom=0)
    axes[0, 0].legend(loc="upper left")
    return figure


def relative(file: Path = NUMBERS) -> Any:
    """The same, divided by how far the mean area lies above chance; sets at chance have no such number."""
    figure, axes = panels(2, 2, (11, 8))
    for line, scheme in zip(axes, RUNS, strict=True):
        for ax, model in zip(line, MODELS, strict=True):
            table = numbers(scheme, file).with_columns(**_relative(model)).sort("auc")
            for area, look in LOOKS.items():
                ax.plot(table[area].to_numpy(), ls="-", lw=0.8, ms=4, **look)
            _named(ax, table["set"], f"{MODELS[model]}, {RUNS[scheme]}", "relative sd, log scale")
            if np.isfinite(table.select(*LOOKS).to_numpy()).any():
                _logarithmic(ax)
            _note(ax, table)
    axes[0, 0].legend(loc="lower right")
    return figure


def _relative(model: str) -> dict[str, pl.Expr]:
    """The relative standard deviation of each area, NaN where a logarithmic axis has no place for it."""
    above = {a: pl.col(f"mean_{a}_{model}") - pl.col(f"chance_{a}_{model}") for a in LOOKS}
    sds = {a: pl.col(f"sd_{a}_{model}") for a in LOOKS}
    return {
        a: pl.when((above[a] > 0) & (sds[a] > 0)).then(sds[a] / above[a]).otherwise(float("nan"))
        for a in LOOKS
    }


def _logarithmic(ax: Any) -> None:
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    plain = StrMethodFormatter("{x:g}")
    ax.yaxis.set_major_formatter(plain)
    ax.yaxis.set_minor_formatter(plain if high < 10 * low else NullFormatter())


def _note(ax: Any, table: pl.DataFrame) -> None:
    """How many sets are not drawn."""
    missing = sum(bool(np.isnan(row).any()) for row in table.select(*LOOKS).iter_rows())
    if missing:
        words = (
            f"not drawn in full: {missing} of {table.height} sets\n(no better than chance, or sd 0)"
        )
        ax.text(0.02, 0.97, words, transform=ax.transAxes, va="top", fontsize="small")


def areas(file: Path = NUMBERS) -> Any:
    """Mean AUC and smAUC of each model, and what its scores would get at random."""
    figure, axes = panels(1, 2, (11, 4.8))
    for ax, model in zip(axes.flat, MODELS, strict=True):
        table = numbers("cv", file).sort(f"mean_auc_{model}")
        for area, look in LOOKS.items():
            ax.plot(table[f"mean_{area}_{model}"], ls="", ms=5, **look)
            chance = table[f"chance_{area}_{model}"]
            ax.plot(chance, ls=":", lw=1, color=look["color"], label=f"{look['label']} at random")
        _named(ax, table["set"], f"{MODELS[model]}, {RUNS['cv']}", "mean area")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def difference(file: Path = NUMBERS) -> Any:
    """Naive Bayes minus tree under both areas, with the standard deviation over runs."""
    figure, axes = panels(1, 1, (11, 5))
    ax, table = axes[0, 0], numbers("cv", file).sort("diff_auc")
    at = np.arange(len(table))
    for aside, (area, look) in zip((-0.15, 0.15), LOOKS.items(), strict=True):
        mean, sd, p = (table[f"{w}_{area}"].to_numpy() for w in ("diff", "diff_sd", "p"))
        ax.errorbar(at + aside, mean, sd, ls="", ms=5, elinewidth=1, mfc="white", **look)
        clear, filled = p < 0.05, look | {"label": f"{look['label']}, p < 0.05"}
        ax.plot((at + aside)[clear], mean[clear], ls="", ms=5, zorder=5, **filled)
    ax.axhline(0, color="black", lw=0.8)
    _named(ax, table["set"], RUNS["cv"], "naive Bayes minus tree")
    ax.legend(loc="upper left", fontsize="small")
    return figure


FIGURES: dict[str, Callable[..., Any]] = {
    "smroc_study_spread.png": spread,
    "smroc_study_relative.png": relative,
    "smroc_study_areas.png": areas,
    "smroc_study_difference.png": difference,
}

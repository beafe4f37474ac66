"""The figures of the KDG study, from the numbers that it leaves in kdg_study.csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from scorewise.colours import BLUE, GREEN, ORANGE, VERMILION
from studies._comparisons import Ranking, ranking
from studies._tools import TABLES, panels
from studies.kdg.rivals import FAMILIES
from studies.kdg.runs import RADII
from studies.kdg.summary import HIGH, ISOTONIC, KERNEL, MEASURES

NUMBERS = TABLES / "kdg_study.csv"
NAMES = ("plain", "isotonic", "temperature", "kernel density")
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": ORANGE, "marker": "s"},
    {"color": BLUE, "marker": "o"},
    {"color": GREEN, "marker": "^"},
    {"color": VERMILION, "marker": "D"},
)


def numbers(study: str, file: Path) -> pl.DataFrame:
    """One row for each set and rival."""
    return pl.read_csv(file, infer_schema_length=None).filter(pl.col("study") == study)


def _wide(file: Path, column: str, names: Any) -> np.ndarray:
    table = numbers("cc18", file).pivot("rival", index="set", values=column).sort("set")
    return table.select(names).to_numpy()


def _reach(spread: Any, count: Any) -> Any:
    """Half of Student's 95 % interval of a mean, none where there is but one number."""
    count = np.asarray(count)
    half = stats.t.ppf(0.975, np.maximum(count - 1, 1)) * np.asarray(spread, float)
    return np.where(count > 1, half / np.sqrt(count), np.nan)


def ranks(file: Path = NUMBERS) -> Any:
    """Critical-difference diagrams: a bar joins what is not told apart."""
    figure, axes = panels(len(MEASURES), 2, (11, 11.4))
    for line, (measure, title) in zip(axes, MEASURES.items(), strict=True):
        for ax, (family, names) in zip(line, FAMILIES.items(), strict=True):
            values = _wide(file, measure, names)
            found = ranking(-values if measure in HIGH else values)
            _diagram(ax, found)
            ax.set_title(f"{family.capitalize()}: {title}", fontsize="medium", loc="left")
    return figure


def _diagram(ax: Any, found: Ranking) -> None:
    """One line of ranks, labels below it, the better half of the methods on the left."""
    count = len(found.mean)
    ax.set(xlim=(-0.6, count + 1.6), ylim=(-2.2, 1.15))
    ax.axis("off")
    ax.plot([1, count], [0, 0], color="black", lw=1)
    for at in range(1, count + 1):
        ax.plot([at, at], [0, 0.14], color="black", lw=1)
        ax.text(at, 0.22, str(at), ha="center", va="bottom", fontsize="small")
    width = min(found.critical, count - 1)
    ax.plot([count - width, count], [0.92, 0.92], color="black", lw=1.2, marker="|")
    said = f"critical difference {found.critical:.2f}"
    ax.text(count - width - 0.08, 0.92, said, ha="right", va="center", fontsize="small")
    groups = len(found.joined)
    for level, group in enumerate(found.joined):
        ends = found.mean[list(group)]
        height = -0.28 - 0.22 * level
        ax.plot(
            [ends.min() - 0.04, ends.max() + 0.04], [height] * 2, color="black", lw=3.5,
            solid_capstyle="butt",
        )  # fmt: skip
    order, half = np.argsort(found.mean, kind="stable"), (count + 1) // 2
    for place, i in enumerate(order):
        left = place < half
        row = place if left else count - 1 - place
        height, side = -0.6 - 0.22 * groups - 0.62 * row, 0.75 if left else count + 0.25
        look = LOOKS[i]
        ax.plot(
            [found.mean[i], found.mean[i], side], [0, height, height], color=look["color"], lw=1.2
        )
        ax.plot([found.mean[i]], [0], ls="", ms=6, clip_on=False, zorder=5, **look)
        ax.text(
            side + (-0.06 if left else 0.06), height, f"{NAMES[i]} {found.mean[i]:.2f}",
            ha="right" if left else "left", va="center", fontsize="small",
        )  # fmt: skip


def far(file: Path = NUMBERS) -> Any:
    """How far confidence is from the largest prior, far from the data; bars are intervals over sets."""
    figure, axes = panels(1, 2, (11, 4.2), sharey=True)
    for ax, (family, names) in zip(axes.flat, FAMILIES.items(), strict=True):
        for i, (rival, look) in enumerate(zip(names, LOOKS, strict=True)):
            values = np.column_stack([_wide(file, f"off_{k}", [rival])[:, 0] for k in RADII])
            spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(RADII), np.nan)
            mean, reach = values.mean(axis=0), _reach(spread, len(values))
            ends = np.minimum(reach, mean), reach  # nothing is less than 0 apart
            at = np.array(RADII) + 0.06 * (i - 1.5)
            ax.errorbar(at, mean, ends, lw=1.2, ms=5, elinewidth=1, label=NAMES[i], **look)
        ax.axhline(0, color="black", lw=0.8)
        ax.set_title(family.capitalize(), fontsize="medium")
        ax.set_xlabel("radii of the data from their centre")
        ax.set_xticks(RADII)
        ax.grid(True, alpha=0.3, lw=0.6)
    axes[0, 0].set_ylabel("|mean confidence - largest prior|")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def hellinger(file: Path = NUMBERS) -> Any:
    """Distance to the true posterior on each simulation; bars are intervals over seeds."""
    figure, axes = panels(1, 2, (11, 4.2), sharex=True, sharey=True)
    known = numbers("eight", file).filter(pl.col("hellinger").is_not_null())
    sets = known["set"].unique().sort().to_list()
    for ax, (family, names) in zip(axes.flat, FAMILIES.items(), strict=True):
        for i, (rival, look) in enumerate(zip(names, LOOKS, strict=True)):
            rows = known.filter(pl.col("rival") == rival).sort("set")
            reach = _reach(
                rows["hellinger_sd"].cast(pl.Float64).to_numpy(), rows["seeds"].to_numpy()
            )
            at = np.arange(len(sets)) + 0.17 * (i - 1.5)
            ax.errorbar(
                rows["hellinger"].to_numpy(),
                at,
                xerr=reach,
                ls="",
                ms=5,
                elinewidth=1,
                label=NAMES[i],
                **look,
            )
        ax.set_yticks(np.arange(len(sets)), sets)
        ax.set_title(family.capitalize(), fontsize="medium")
        ax.set_xlabel("mean Hellinger distance to the true posterior")
        ax.grid(True, alpha=0.3, lw=0.6)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set_xlim(left=0)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def differences(file: Path = NUMBERS) -> Any:
    """Kernel density less isotonic on each set, ordered by the forest's difference of log loss."""
    figure, axes = panels(1, 3, (13, 6), sharey=True)
    sets = np.array(numbers("cc18", file)["set"].unique().sort().to_list())
    first = FAMILIES["forest"]
    order = np.argsort(np.diff(_wide(file, "log_loss", [first[ISOTONIC], first[KERNEL]]))[:, 0])
    for ax, measure in zip(axes.flat, ("log_loss", "log_loss_floor", "ece"), strict=True):
        for i, (family, names) in enumerate(FAMILIES.items()):
            look = (LOOKS[3], LOOKS[1])[i]
            d = np.diff(_wide(file, measure, [names[ISOTONIC], names[KERNEL]]))[:, 0]
            at = np.arange(len(sets)) + 0.2 * (i - 0.5)
            ax.plot(d[order], at, ls="", ms=5, label=family, **look)
            ax.axvline(d.mean(), color=look["color"], lw=1.2, ls="--", label=f"mean, {family}")
        ax.axvline(0, color="black", lw=0.8)
        ax.set_yticks(np.arange(len(sets)), sets[order], fontsize="small")
        ax.set_title(MEASURES[measure], fontsize="medium")
        ax.set_xlabel("kernel density less isotonic")
        ax.locator_params(axis="x", nbins=5)
        ax.grid(True, alpha=0.3, lw=0.6)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


FIGURES: dict[str, Callable[..., Any]] = {
    "kdg_study_ranks.png": ranks,
    "kdg_study_far.png": far,
    "kdg_study_hellinger.png": hellinger,
    "kdg_study_differences.png": differences,
}

"""The sets of OpenML-CC18 in the KDG study as page parts: means, ranks, differences, and each set."""

from __future__ import annotations

import numpy as np
import polars as pl

from experiments.kdg_runs import RADII
from experiments.kdg_sets import ROWS
from experiments.kdg_summary import (
    FAR,
    HIGH,
    KERNEL,
    MEASURES,
    over_sets,
    ranked,
    settings,
    versus,
    wide,
)
from experiments.markdown import between, give_or_take, probability, shown, table, wrapped
from experiments.rivals import EPOCHS, FAMILIES, HIDDEN, RIVALS

DETAILS = ("log_loss", "ece", "kappa")


def markdown(r: pl.DataFrame, trees: int, source: str) -> str:
    """The whole file."""
    parts = [wrapped(_how(r, trees, source)), _means(r)]
    parts += ["**Mean confidence less the largest prior, at 1 to 5 radii**", _far(r)]
    parts += ["**Mean ranks, 1 the best**", _ranks(r), wrapped(_ranks_read(r))]
    parts += ["**Kernel density less the others, over sets**", _differences(r)]
    parts += [
        wrapped(
            "Means over sets with Student's 95 % interval, and in brackets on how many sets the kernel "
            "density is the better one. Below 0 is better, for kappa above."
        )
    ]
    return "\n\n".join(parts) + "\n"


def details(r: pl.DataFrame, trees: int, source: str) -> str:
    """Each set, the best of a family in bold."""
    sets = r["set"].unique().sort()
    parts = [wrapped(_how(r, trees, source))]
    for measure in DETAILS:
        lines = [
            [name, *_best(row[:4], measure), *_best(row[4:], measure)]
            for name, row in zip(sets, wide(r, measure, RIVALS), strict=True)
        ]
        parts += [f"**{MEASURES[measure]}**", table(["set", *RIVALS], 1, lines)]
    return "\n\n".join(parts) + "\n"


def _how(r: pl.DataFrame, trees: int, source: str) -> str:
    return (
        f"{source}: {r['set'].n_unique()} sets, those with the fewest rows, at most {ROWS:,} rows of each; "
        f"one half to learn from, the other to judge on; {settings(r, trees)}, "
        f"networks of two layers of {HIDDEN[0]} units and at most {EPOCHS} epochs. ± is the standard error "
        "over seeds of the mean over sets."
    )


def _means(r: pl.DataFrame) -> str:
    columns = {"error": "error", "kappa": "kappa", "ece": "ECE", "ece_chance": "by chance"}
    columns |= {"log_loss": "log loss", "brier": "Brier"}
    found = {c: over_sets(r, c) for c in columns}
    lines = [[k, *(give_or_take(*found[c][k]) for c in columns)] for k in RIVALS]
    return table(["", *columns.values()], 1, lines)


def _far(r: pl.DataFrame) -> str:
    found = {c: over_sets(r, c) for c in FAR}
    worst = np.abs(wide(r, FAR[-1], RIVALS)).max(axis=0)
    lines = [
        [k, *(shown(found[c][k][0]) for c in FAR), shown(float(most))]
        for k, most in zip(RIVALS, worst, strict=True)
    ]
    return table(["", *map(str, RADII), f"worst set at {RADII[-1]}"], 1, lines)


def _ranks(r: pl.DataFrame) -> str:
    lines = []
    for family, names in FAMILIES.items():
        found = [ranked(r, measure, family) for measure in MEASURES]
        for i, name in enumerate(names):
            lines.append([name, *(f"{x.mean[i]:.2f}" for x in found)])
        lines.append([f"*Friedman's p, {family}*", *(probability(x.p) for x in found)])
    return table(["", *MEASURES.values()], 1, lines)


def _ranks_read(r: pl.DataFrame) -> str:
    apart = ranked(r, "error", "forest").critical
    return (
        f"Ranks within a family. Two mean ranks that are {apart:.2f} apart differ by more than chance at "
        "5 % (Nemenyi's test after Friedman's, as Demsar 2006)."
    )


def _differences(r: pl.DataFrame) -> str:
    lines = []
    for names in FAMILIES.values():
        for other in names[:KERNEL]:
            cells = []
            for measure in MEASURES:
                v = versus(r, measure, names[KERNEL], other)
                cells.append(
                    f"{between(v.over.mean, v.over.low, v.over.high)} ({v.better} of {v.sets})"
                )
            lines.append([names[KERNEL], other, *cells])
    return table(["", "less", *MEASURES.values()], 2, lines)


def _best(values: np.ndarray, measure: str) -> list[str]:
    best = shown(float(values.max() if measure in HIGH else values.min()))
    cells = [shown(float(v)) for v in values]
    return [f"**{cell}**" if cell == best else cell for cell in cells]

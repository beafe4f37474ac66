"""The sets of OpenML-CC18 in the KDG study as page parts: means, ranks, differences, and each set."""

from __future__ import annotations

import numpy as np
import polars as pl

from experiments.judging import FLOOR
from experiments.kdg_differences import cell, versus
from experiments.kdg_runs import RADII
from experiments.kdg_sets import ROWS
from experiments.kdg_summary import (
    FAR,
    HIGH,
    KERNEL,
    MEASURES,
    OFF,
    over_sets,
    ranked,
    settings,
    wide,
)
from experiments.markdown import give_or_take, probability, shown, table, wrapped
from experiments.rivals import EPOCHS, FAMILIES, HIDDEN, RIVALS

DETAILS = ("log_loss", "log_loss_floor", "ece", "kappa")


def markdown(r: pl.DataFrame, trees: int, source: str) -> str:
    """The whole file."""
    parts = [wrapped(_how(r, trees, source)), _means(r)]
    parts += ["**How far mean confidence is from the largest prior, at 1 to 5 radii**", _far(r)]
    parts += [
        wrapped(
            "Means over sets of the difference on whichever side, so that sets do not cancel one another; "
            "signed: the mean with its sign, above 0 where a model is too sure."
        )
    ]
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
        f"networks of two layers of {HIDDEN[0]} units and at most {EPOCHS} epochs. ± is the standard "
        "deviation over seeds of the mean over sets; halves of different seeds overlap, so it is no error "
        f"of that mean. Log loss held: of posteriors that are held at {FLOOR:g} or more and divided by "
        "their sum. Rows with 0: test rows of a set, on average, whose true class has a posterior of 0."
    )


def _means(r: pl.DataFrame) -> str:
    columns = {"error": "error", "kappa": "kappa", "ece": "ECE", "ece_chance": "by chance"}
    columns |= {"log_loss": "log loss", "log_loss_floor": "held", "brier": "Brier"}
    found = {c: over_sets(r, c) for c in columns}
    zeros = over_sets(r, "zeros")
    lines = [
        [k, *(give_or_take(*found[c][k]) for c in columns), shown(zeros[k][0], 1)] for k in RIVALS
    ]
    return table(["", *columns.values(), "rows with 0"], 1, lines)


def _far(r: pl.DataFrame) -> str:
    found = {c: over_sets(r, c) for c in (*OFF, FAR[-1])}
    lines = []
    for k in RIVALS:
        each = wide(r, OFF[-1], [k])[:, 0]
        most = float(np.nanmax(each)) if np.isfinite(each).any() else None
        lines.append(
            [k, *(shown(found[c][k][0]) for c in OFF), shown(most), shown(found[FAR[-1]][k][0])]
        )
    last = RADII[-1]
    return table(["", *map(str, RADII), f"worst set at {last}", f"signed at {last}"], 1, lines)


def _ranks(r: pl.DataFrame) -> str:
    lines = []
    for family, names in FAMILIES.items():
        found = [ranked(r, measure, family) for measure in MEASURES]
        for i, name in enumerate(names):
            lines.append([name, *(shown(float(x.mean[i]), 2) for x in found)])
        lines.append([f"*Friedman's p, {family}*", *(probability(x.p) for x in found)])
    return table(["", *MEASURES.values()], 1, lines)


def _ranks_read(r: pl.DataFrame) -> str:
    apart = ranked(r, "error", "forest").critical
    if np.isnan(apart):
        return "There are no ranks where no set has all numbers."
    return (
        f"Ranks within a family. Two mean ranks that are {apart:.2f} apart differ by more than chance at "
        "5 %, others are not told apart (Nemenyi's test after Friedman's, as Demsar 2006)."
    )


def _differences(r: pl.DataFrame) -> str:
    lines = []
    for names in FAMILIES.values():
        for other in names[:KERNEL]:
            found = [versus(r, measure, names[KERNEL], other) for measure in MEASURES]
            cells = [
                f"{cell(v, 4)} ({v.better} of {v.sets})" if v.sets else cell(v, 4) for v in found
            ]
            lines.append([names[KERNEL], other, *cells])
    return table(["", "less", *MEASURES.values()], 2, lines)


def _best(values: np.ndarray, measure: str) -> list[str]:
    if not np.isfinite(values).all():
        return [shown(float(v)) for v in values]
    best = shown(float(values.max() if measure in HIGH else values.min()))
    cells = [shown(float(v)) for v in values]
    return [f"**{cell}**" if cell == best else cell for cell in cells]

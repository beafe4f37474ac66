"""The tables of the KDG study: eight sets with goals, and the sets of OpenML-CC18."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np
import polars as pl

from studies._tools import give_or_take, p_value, shown, table, wrapped
from studies.kdg.rivals import EPOCHS, FAMILIES, HIDDEN, RIVALS
from studies.kdg.runs import FLOOR, RADII, TRUTH
from studies.kdg.sets import POINTS, ROWS
from studies.kdg.summary import (
    FAR,
    HIGH,
    ISOTONIC,
    KERNEL,
    MEASURES,
    OFF,
    PLAIN,
    by_set,
    counted,
    over_seeds,
    over_sets,
    ranked,
    settings,
    versus,
    wide,
)

DETAILS = ("log_loss", "log_loss_floor", "ece", "kappa")
MINE = FAMILIES["forest"][KERNEL]
LIMITS = {
    "ece": 0.022,
    "brier": 0.102,
    "off_5": 0.01,
    "accuracy": 0.3,
    "extra_fit": 0.4,
    "predict": 2.0,
}
# Measured before with 500 trees and 5 seeds: forest, isotonic of 5 folds, published code, a prototype.
BEFORE = {
    "ece": (".066", ".023", ".039", ".025"),
    "brier": (".120", ".104", ".116", ".103"),
    "off_5": (".05 to .47", ".03 to .62", ".35 to .90", ".00"),
    "accuracy": ("", "about equal", "-1 to +1", "equal"),
    "extra_fit": ("", "5.5 to 6.7", ".4 to 11.7", ".3 to .4"),
    "predict": ("", "", "5 to 40", "1 to 3"),
}
TITLES = {
    "ece": "ECE, 15 bins",
    "brier": "Brier, summed over classes",
    "off_5": "confidence at 5 radii apart from the largest prior, worst set",
    "accuracy": "accuracy lost against the forest, worst set, points",
    "extra_fit": "extra fit / forest's fit",
    "predict": "predict / forest's",
}


class Goal(NamedTuple):
    """What was found of a goal, its standard deviation over seeds, and what was wished at most."""

    name: str
    found: float
    chance: float | None
    limit: float

    @property
    def reached(self) -> bool:
        return self.found <= self.limit

    @property
    def digits(self) -> int:
        return 4 if self.limit < 0.2 else 2


def goals(r: pl.DataFrame) -> list[Goal]:
    """The goals of the kernel density forest."""
    found = {c: over_sets(r, c)[MINE] for c in ("ece", "brier", "extra_fit", "predict")}
    found["off_5"] = _worst(r.filter(pl.col("rival") == MINE), pl.col("off_5"))
    pair = r.filter(pl.col("rival").is_in([MINE, "forest"]))
    errors = pair.pivot("rival", index=["set", "seed"], values="error")
    found["accuracy"] = _worst(errors, 100 * (pl.col(MINE) - pl.col("forest")))
    return [
        Goal(name, nan if found[name][0] is None else found[name][0], found[name][1], LIMITS[name])
        for name in LIMITS
    ]


def _worst(r: pl.DataFrame, value: pl.Expr) -> tuple[float | None, float | None]:
    """The mean of the worst set, and its standard deviation over seeds."""
    value = value.cast(pl.Float64)
    by = r.group_by("set").agg(mean=value.mean(), spread=value.std())
    known = by.drop_nulls("mean").sort("mean", "set").select("mean", "spread")
    return known.row(-1) if known.height else (None, None)


def eight(r: pl.DataFrame, trees: int) -> str:
    """The whole file."""
    parts = [
        wrapped(_how_eight(r, trees)),
        _eight_means(r),
        "**Goals of the kernel density forest**",
        _goals(r),
    ]
    parts += [wrapped(_before())]
    if TRUTH in r["rival"]:
        some = r.filter(pl.col("hellinger").is_not_null())
        parts += ["**Simulations only**", _simulations(some), wrapped(_by_chance())]
        parts += ["**Hellinger distance, kernel density less others**", _nearer(some)]
        parts += [wrapped(NEARER)]
    for family, names in FAMILIES.items():
        parts += [f"**Each set: {family}**", _sets(r, names)]
    return "\n\n".join(parts) + "\n"


def _how_eight(r: pl.DataFrame, trees: int) -> str:
    sets = r["set"].unique(maintain_order=False).sort()
    return (
        f"Means over {len(sets)} sets ({', '.join(sets)}), {settings(r, trees)}, "
        f"networks of two layers of {HIDDEN[0]} units and at most {EPOCHS} epochs. Real sets in halves, "
        f"simulations with {POINTS:,} points to learn from and {POINTS:,} to judge on. ± is the standard "
        "deviation over seeds of the mean over sets. ECE by chance: what the same posteriors would get on "
        "as many rows if they were true. Log loss held: of posteriors that are held at "
        f"{FLOOR:g} or more and divided by their sum. Rows with 0: test rows of a set, on average, whose "
        "true class has a posterior of 0, which costs 34.5 in the first log loss and at most 6.9 in the "
        "second, or a little more with many classes. At 5 radii: how far mean confidence is from the "
        "largest prior, on whichever side. Extra fit: processor time that it takes once the plain model is "
        "fitted, be it upon that model (temperature, kernel density forest) or with five models of its own "
        "(isotonic, kernel density network; the network's temperature fits five too). Extra fit and "
        "predict are divided by the plain model's own, which for predict is timed twice."
    )


def _eight_means(r: pl.DataFrame) -> str:
    columns = {
        "ece": ("ECE", 4),
        "ece_chance": ("by chance", 4),
        "brier": ("Brier", 4),
        "log_loss": ("log loss", 3),
        "log_loss_floor": ("held", 3),
        "zeros": ("rows with 0", 1),
        "error": ("error", 3),
        "kappa": ("kappa", 3),
        "off_5": ("at 5 radii", 3),
        "extra_fit": ("extra fit", 2),
        "predict": ("predict", 2),
    }
    found = {c: over_sets(r, c) for c in columns}
    bare = {"ece_chance", "zeros", "kappa", "extra_fit", "predict"}
    lines = [
        [
            rival,
            *(
                shown(found[c][rival][0], d) if c in bare else give_or_take(*found[c][rival], d)
                for c, (_, d) in columns.items()
            ),
        ]
        for rival in RIVALS
    ]
    return table(["", *(title for title, _ in columns.values())], lines)


def _goals(r: pl.DataFrame) -> str:
    head = ["", "forest", "isotonic", "published", "prototype", "here", "goal", "by the mean"]
    lines = [
        [
            TITLES[g.name],
            *BEFORE[g.name],
            give_or_take(g.found, g.chance, g.digits),
            f"<= {g.limit:g}",
            "" if isnan(g.found) else "reached" if g.reached else "**missed**",
        ]
        for g in goals(r)
    ]
    return table(head, lines)


def _before() -> str:
    return (
        "± is the standard deviation over seeds: where it is larger than what lies between the number and "
        "the goal, other seeds may judge otherwise. The columns forest to prototype were measured "
        "before, on the same kinds of sets with 500 trees and 5 seeds: published is the published code of "
        "the kernel density forest, prototype a draft of the estimator here. Ranges are over sets. Their "
        "simulations may differ in spread from those here, so that the columns to compare with are those "
        "of the table above."
    )


def _simulations(some: pl.DataFrame) -> str:
    columns = {"hellinger": "Hellinger", "ece": "ECE", "ece_chance": "by chance"}
    columns |= {
        "brier": "Brier",
        "log_loss": "log loss",
        "log_loss_floor": "held",
        "error": "error",
    }
    found = {c: over_sets(some, c) for c in columns}
    lines = [
        [rival, *(give_or_take(*found[c][rival], 4) for c in columns)] for rival in (*RIVALS, TRUTH)
    ]
    return table(["", *columns.values()], lines)


def _by_chance() -> str:
    return (
        "Hellinger: mean distance to the true posterior, 0 to 1. The true posterior has an ECE too, by "
        "chance, and on so few rows nobody can expect less."
    )


def _nearer(some: pl.DataFrame) -> str:
    """Distances to the true posterior compared over seeds, and over simulations."""
    pairs = [(names[KERNEL], names[i]) for names in FAMILIES.values() for i in (ISOTONIC, PLAIN)]
    lines = [
        [*pair, *(counted(how(some, "hellinger", *pair)) for how in (over_seeds, versus))]
        for pair in pairs
    ]
    return table(["", "less", "over seeds", "over simulations"], lines, 2)


NEARER = (
    "Means with Student's 95 % interval, and in brackets on how many simulations the kernel density is "
    "nearer. With each seed the points to learn from and to judge on are drawn anew, and so are the "
    "models; the first interval is over seeds, for these simulations, the second over simulations, as "
    "if they too were drawn."
)


def _sets(r: pl.DataFrame, names: tuple[str, ...]) -> str:
    means = {(row["set"], row["rival"]): row for row in by_set(r).iter_rows(named=True)}
    short = ("plain", "isotonic", "temperature", "kernel")
    head = ["set", "error: plain", "kernel", *(f"ECE: {k}" if k == "plain" else k for k in short)]
    head += [
        "truth",
        *(f"Hellinger: {k}" if k == "plain" else k for k in short),
        "kernel at 5 radii",
    ]
    lines = []
    for name in r["set"].unique().sort():
        rows = [means[name, rival] for rival in names]
        truth = means.get((name, TRUTH), {}).get("ece")
        cells = [rows[PLAIN]["error"], rows[KERNEL]["error"], *(row["ece"] for row in rows), truth]
        cells += [*(row["hellinger"] for row in rows), rows[KERNEL]["off_5"]]
        lines.append([name, *map(shown, cells)])
    return table(head, lines)


# sets of a folder


def cc18(r: pl.DataFrame, trees: int, source: str) -> str:
    """The whole file."""
    parts = [wrapped(_how_cc18(r, trees, source)), _cc18_means(r)]
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
    parts = [wrapped(_how_cc18(r, trees, source))]
    for measure in DETAILS:
        lines = [
            [name, *_best(row[:4], measure), *_best(row[4:], measure)]
            for name, row in zip(sets, wide(r, measure, RIVALS), strict=True)
        ]
        parts += [f"**{MEASURES[measure]}**", table(["set", *RIVALS], lines)]
    return "\n\n".join(parts) + "\n"


def _how_cc18(r: pl.DataFrame, trees: int, source: str) -> str:
    return (
        f"{source}: {r['set'].n_unique()} sets, those with the fewest rows, at most {ROWS:,} rows of each; "
        f"one half to learn from, the other to judge on; {settings(r, trees)}, "
        f"networks of two layers of {HIDDEN[0]} units and at most {EPOCHS} epochs. ± is the standard "
        "deviation over seeds of the mean over sets; halves of different seeds overlap, so it is no error "
        f"of that mean. Log loss held: of posteriors that are held at {FLOOR:g} or more and divided by "
        "their sum. Rows with 0: test rows of a set, on average, whose true class has a posterior of 0."
    )


def _cc18_means(r: pl.DataFrame) -> str:
    columns = {"error": "error", "kappa": "kappa", "ece": "ECE", "ece_chance": "by chance"}
    columns |= {"log_loss": "log loss", "log_loss_floor": "held", "brier": "Brier"}
    found = {c: over_sets(r, c) for c in columns}
    zeros = over_sets(r, "zeros")
    lines = [
        [k, *(give_or_take(*found[c][k]) for c in columns), shown(zeros[k][0], 1)] for k in RIVALS
    ]
    return table(["", *columns.values(), "rows with 0"], lines)


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
    return table(["", *map(str, RADII), f"worst set at {last}", f"signed at {last}"], lines)


def _ranks(r: pl.DataFrame) -> str:
    lines = []
    for family, names in FAMILIES.items():
        found = [ranked(r, measure, family) for measure in MEASURES]
        for i, name in enumerate(names):
            lines.append([name, *(shown(float(x.mean[i]), 2) for x in found)])
        lines.append([f"*Friedman's p, {family}*", *(p_value(x.p) for x in found)])
    return table(["", *MEASURES.values()], lines)


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
            found = (versus(r, measure, names[KERNEL], other) for measure in MEASURES)
            lines.append([names[KERNEL], other, *map(counted, found)])
    return table(["", "less", *MEASURES.values()], lines, 2)


def _best(values: np.ndarray, measure: str) -> list[str]:
    if not np.isfinite(values).all():
        return [shown(float(v)) for v in values]
    best = shown(float(values.max() if measure in HIGH else values.min()))
    cells = [shown(float(v)) for v in values]
    return [f"**{cell}**" if cell == best else cell for cell in cells]

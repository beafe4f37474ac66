"""The answers of the KDG study, as sentences made from the numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from experiments.kdg_eight import MINE, Goal, goals
from experiments.kdg_runs import TRUTH
from experiments.kdg_scale import DRAWS, LIMITS, slope
from experiments.kdg_summary import (
    HIGH,
    ISOTONIC,
    KERNEL,
    MEASURES,
    PLAIN,
    Versus,
    over_sets,
    versus,
    wide,
    within,
)
from experiments.markdown import between, give_or_take, shown, wrapped
from experiments.paired_tests import corrected_t
from experiments.rivals import FAMILIES

CLOSE = 0.01  # how near to the largest prior confidence shall be, far away


def markdown(eight: pl.DataFrame, sets: pl.DataFrame, scale: pl.DataFrame, trees: int) -> str:
    """The whole file: an answer to each question, and how it was found."""
    how = (
        f"{sets['set'].n_unique()} sets, seeds: {sets['seed'].n_unique()}, {trees} trees. Differences are "
        "means over sets with Student's 95 % interval."
    )
    said = [calibrated(sets, eight), modest(sets), cost(eight, scale, trees), loses(sets)]
    return "\n\n".join([wrapped(how), "\n".join(wrapped(text, "- ") for text in said)]) + "\n"


def calibrated(sets: pl.DataFrame, eight: pl.DataFrame) -> str:
    """Is it calibrated as isotonic is?"""
    told = []
    for names in FAMILIES.values():
        kernel, isotonic = names[KERNEL], names[ISOTONIC]
        for measure in ("log_loss", "ece"):
            v = versus(sets, measure, kernel, isotonic)
            told.append(
                f"{kernel}, {MEASURES[measure]} {verdict(v)}: {_interval(v)}, lower on {v.better} of "
                f"{v.sets} sets"
            )
    ece = next(g for g in goals(eight) if g.name == "ece")
    said = (
        f"**Is it calibrated as isotonic regression in 5 folds is?** Kernel density less isotonic: "
        f"{'; '.join(told)}. On the eight sets the ECE of the {MINE} is {_goal(ece)}"
    )
    if TRUTH in eight["rival"]:
        some = over_sets(eight.filter(pl.col("hellinger").is_not_null()), "ece")
        said += (
            f"; on the simulations alone it is {give_or_take(*some[MINE], 4)}, where the true posterior "
            f"itself has {give_or_take(*some[TRUTH], 4)} by chance"
        )
    return said + "."


def modest(sets: pl.DataFrame) -> str:
    """Is it modest far away?"""
    told = []
    for names in FAMILIES.values():
        kernel = wide(sets, "far_5", [names[KERNEL]])[:, 0]
        worst = sets["set"].unique().sort()[int(np.abs(kernel).argmax())]
        most = float(np.abs(kernel).max())
        mean, other = (corrected_t(wide(sets, "far_5", [names[i]])[:, 0], 1, 0) for i in (3, 1))
        reached = "reached on every set" if most <= CLOSE else f"missed on {_beyond(kernel)}"
        told.append(
            f"{names[KERNEL]} {between(mean.mean, mean.low, mean.high)}, at most {shown(most, 4)} "
            f"({worst}), so that the goal of {CLOSE:g} is {reached}; {names[ISOTONIC]} "
            f"{between(other.mean, other.low, other.high)}"
        )
    near = ", ".join(
        f"{names[KERNEL]} {shown(over_sets(sets, 'far_1')[names[KERNEL]][0])}"
        for names in FAMILIES.values()
    )
    return (
        "**Is it modest far away?** Mean confidence at 5 radii, less the largest prior: "
        f"{'. '.join(told)}. At 1 radius, where the outermost rows lie: {near}."
    )


def cost(eight: pl.DataFrame, scale: pl.DataFrame, trees: int) -> str:
    """What does it cost?"""
    here = {g.name: g for g in goals(eight)}
    net = FAMILIES["network"][KERNEL]
    extra, predict = (over_sets(eight, c)[net][0] for c in ("extra_fit", "predict"))
    told = []
    for draw in DRAWS:
        part = scale.filter((pl.col("draw") == draw) & (pl.col("trees") == trees))
        for column, word in (("extra_fit", "extra fit"), ("predict", "predict")):
            most = float(part[column].max())
            reached = "reached" if most <= LIMITS[column] else "missed"
            grows = slope(scale, draw, trees, column)
            told.append(
                f"classes {draw}, {word} {shown(float(part[column].min()), 2)} to {shown(most, 2)} "
                f"(goal of {LIMITS[column]:g} {reached}; grows with n to the power {grows})"
            )
    memory = ", ".join(str(slope(scale, draw, trees, "fit_mb")) for draw in DRAWS)
    sizes = f"{scale['n'].min():,} to {scale['n'].max():,}"
    return (
        f"**What does it cost?** On the eight sets the forest's extra fit is {_goal(here['extra_fit'])} "
        f"of the forest's, and predict {_goal(here['predict'])} times; the {net}'s {shown(extra, 2)} and "
        f"{shown(predict, 2)}, since it fits further networks for tuning. With {sizes} rows: "
        f"{'; '.join(told)}. The peak of memory in fit grows with n to the power {memory} "
        f"({', '.join(DRAWS)})."
    )


def loses(sets: pl.DataFrame) -> str:
    """Where does it lose?"""
    told = []
    for names in FAMILIES.values():
        for measure, place in (("log_loss", ISOTONIC), ("ece", ISOTONIC), ("kappa", PLAIN)):
            told.append(_losses(sets, measure, names[KERNEL], names[place]))
    return (
        f"**Where does it lose?** {'. '.join(told)}. Clear are differences whose interval over seeds "
        "(corrected for rows that halves share) leaves out 0; up to three sets with the largest are named."
    )


def _losses(sets: pl.DataFrame, measure: str, one: str, other: str) -> str:
    a, b = wide(sets, measure, (one, other)).T
    worse = (b - a) if measure in HIGH else (a - b)
    names = sets["set"].unique().sort().to_list()
    clear = {
        name
        for name, d in within(sets, measure, one, other).items()
        if (d.high < 0 if measure in HIGH else d.low > 0)
    }
    order = [i for i in np.argsort(-worse) if worse[i] > 0]
    top = ", ".join(f"{names[i]} by {worse[i]:.3f}" for i in order[:3])
    word = "lower" if measure in HIGH else "higher"
    return (
        f"{MEASURES[measure]} of the {one} is {word} than that of the {other} on {len(order)} of "
        f"{len(names)} sets, clearly on {len(clear)}{f' ({top})' if top else ''}"
    )


def verdict(v: Versus) -> str:
    """What a difference, low being good, and its interval say."""
    if v.over.high < 0:
        return "is better"
    if v.over.low > 0:
        return "is **worse**"
    side = "not worse on average" if v.over.mean <= 0 else "**worse on average**"
    return f"is {side}, though the interval has 0 in it"


def _interval(v: Versus) -> str:
    return between(v.over.mean, v.over.low, v.over.high, 4)


def _goal(g: Goal) -> str:
    said = give_or_take(g.found, g.error, 4 if g.limit < 0.2 else 2)
    return f"{said} (goal of {g.limit:g} {'reached' if g.reached else 'missed'})"


def _beyond(values: np.ndarray) -> str:
    return f"{int((np.abs(values) > CLOSE).sum())} of {len(values)} sets"

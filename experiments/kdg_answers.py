"""The answers of the KDG study, as sentences made from the numbers."""

from __future__ import annotations

from typing import NamedTuple

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
    ranked,
    settings,
    versus,
    wide,
    within,
)
from experiments.markdown import between, give_or_take, shown, wrapped
from experiments.paired_tests import corrected_t
from experiments.rivals import FAMILIES

CLOSE = 0.01  # how near to the largest prior confidence shall be, far away


class Answer(NamedTuple):
    """A question, and what the numbers say to it."""

    question: str
    said: list[str]

    def __str__(self) -> str:
        return "\n".join([f"**{self.question}**", "", *(wrapped(text, "- ") for text in self.said)])


def markdown(eight: pl.DataFrame, sets: pl.DataFrame, scale: pl.DataFrame, trees: int) -> str:
    """The whole file: how it was found, and an answer to each question."""
    how = (
        f"{sets['set'].n_unique()} sets, {settings(sets, trees)}. Intervals are "
        "Student's over sets, 95 %; where a goal is named, the number is a mean over the sets of the "
        "goals, ± its standard error over seeds."
    )
    found = [calibrated(sets, eight), modest(sets), cost(eight, scale, trees), loses(sets)]
    return "\n\n".join([wrapped(how), *map(str, found)]) + "\n"


def calibrated(sets: pl.DataFrame, eight: pl.DataFrame) -> Answer:
    """Kernel density against isotonic, over sets."""
    said = []
    for family, names in FAMILIES.items():
        kernel, isotonic = names[KERNEL], names[ISOTONIC]
        told = []
        for measure in ("log_loss", "ece"):
            v, ranks = versus(sets, measure, kernel, isotonic), ranked(sets, measure, family)
            apart = ranks.mean[KERNEL] - ranks.mean[ISOTONIC]
            differ = "differ" if abs(apart) > ranks.critical else "do not differ"
            told.append(
                f"{MEASURES[measure]} {verdict(v)}: {_interval(v)}, lower on {v.better} of {v.sets} "
                f"sets; mean ranks of {ranks.mean[KERNEL]:.2f} and {ranks.mean[ISOTONIC]:.2f} {differ} "
                f"(critical difference {ranks.critical:.2f})"
            )
        said.append(f"{_capital(kernel)} against {isotonic}: {'. '.join(told)}.")
    goal = {g.name: g for g in goals(eight)}
    said.append(f"ECE of the {MINE}: {_goal(goal['ece'])}; Brier: {_goal(goal['brier'])}.")
    if TRUTH in eight["rival"]:
        some = eight.filter(pl.col("hellinger").is_not_null())
        truth = give_or_take(*over_sets(some, "ece")[TRUTH], 4)
        said.append(
            f"ECE on the simulations alone: {_each(some, 'ece')}. The true posterior itself has {truth}, "
            "by chance."
        )
        said.append(f"Hellinger distance to the true posterior: {_each(some, 'hellinger')}.")
    return Answer("Is it calibrated as isotonic regression in 5 folds is?", said)


def modest(sets: pl.DataFrame) -> Answer:
    """Confidence far from the data, over sets."""
    said = []
    for names in FAMILIES.values():
        each = np.abs(wide(sets, "far_5", [names[KERNEL]])[:, 0])
        most = float(each.max())
        worst = f" ({sets['set'].unique().sort()[int(each.argmax())]})" if most >= 5e-5 else ""
        beyond = int((each > CLOSE).sum())
        reached = (
            "reached on every set" if not beyond else f"**missed** on {beyond} of {len(each)} sets"
        )
        others = ", ".join(f"{name} {_mean(sets, name)}" for name in names[:KERNEL])
        said.append(
            f"Mean confidence at 5 radii less the largest prior: {names[KERNEL]} "
            f"{_mean(sets, names[KERNEL])}, at most {shown(most, 4)}{worst}; the goal of {CLOSE:g} is "
            f"{reached}. {_capital(others)}."
        )
    near = ", ".join(
        f"{names[KERNEL]} {_mean(sets, names[KERNEL], 'far_1')}" for names in FAMILIES.values()
    )
    said.append(f"At 1 radius, where the outermost row lies: {near}.")
    return Answer("Is it modest far away?", said)


def cost(eight: pl.DataFrame, scale: pl.DataFrame, trees: int) -> Answer:
    """Time and memory, against the plain model's."""
    here = {g.name: g for g in goals(eight)}
    net = FAMILIES["network"][KERNEL]
    extra, predict = (over_sets(eight, c)[net][0] for c in ("extra_fit", "predict"))
    said = [
        f"{_capital(MINE)}: extra fit {_goal(here['extra_fit'])} of the forest's, predict "
        f"{_goal(here['predict'])} times the forest's.",
        f"{_capital(net)}: extra fit {shown(extra, 2)} of the network's, since further networks are fitted "
        f"for tuning; predict {shown(predict, 2)} times the network's.",
    ]
    sizes = f"{scale['n'].min():,} to {scale['n'].max():,} rows"
    for draw in DRAWS:
        part = scale.filter((pl.col("draw") == draw) & (pl.col("trees") == trees))
        told = []
        for column, word in (("extra_fit", "extra fit"), ("predict", "predict")):
            most = float(part[column].max())
            reached = "reached" if most <= LIMITS[column] else "**missed**"
            told.append(
                f"{word} {shown(float(part[column].min()), 2)} to {shown(most, 2)} (goal of "
                f"{LIMITS[column]:g} {reached}), growing with the rows to the power "
                f"{slope(scale, draw, trees, column)}"
            )
        memory = slope(scale, draw, trees, "fit_mb"), slope(scale, draw, trees, "predict_mb")
        said.append(
            f"{sizes}, classes {draw}: {'; '.join(told)}. The peak of memory grows to the power "
            f"{memory[0]} in fit and {memory[1]} in predict (1 is linear)."
        )
    return Answer("What does it cost?", said)


def loses(sets: pl.DataFrame) -> Answer:
    """Sets on which others are better."""
    pairs = (("log_loss", ISOTONIC), ("ece", ISOTONIC), ("error", PLAIN), ("kappa", PLAIN))
    said = [
        _losses(sets, measure, names[KERNEL], names[place])
        for names in FAMILIES.values()
        for measure, place in pairs
    ]
    few = "Up to three sets are named, those with the largest differences."
    clearly = "Clearly: the 95 % interval over seeds, corrected for rows that halves share, leaves out 0. "
    said.append(clearly + few if sets["seed"].n_unique() > 1 else few)
    return Answer("Where does it lose?", said)


def _each(r: pl.DataFrame, column: str) -> str:
    """Means of the isotonic and the kernel density models."""
    found = over_sets(r, column)
    names = [names[i] for names in FAMILIES.values() for i in (ISOTONIC, KERNEL)]
    return ", ".join(f"{name} {give_or_take(*found[name], 4)}" for name in names)


def _losses(sets: pl.DataFrame, measure: str, one: str, other: str) -> str:
    a, b = wide(sets, measure, (one, other)).T
    worse = (b - a) if measure in HIGH else (a - b)
    names = sets["set"].unique().sort().to_list()
    found = within(sets, measure, one, other)
    clear = sum(d.high < 0 if measure in HIGH else d.low > 0 for d in found.values())
    order = [i for i in np.argsort(-worse) if worse[i] > 0]
    top = ", ".join(f"{names[i]} by {worse[i]:.3f}" for i in order[:3])
    word = "lower" if measure in HIGH else "higher"
    return (
        f"{_capital(MEASURES[measure])} of {one} is {word} than of {other} on {len(order)} of {len(names)} "
        f"sets{f', clearly on {clear}' if found else ''}{f': {top}' if top else ''}."
    )


def verdict(v: Versus) -> str:
    """What a difference, low being good, and its interval say."""
    if v.over.high < 0:
        return "is lower"
    if v.over.low > 0:
        return "is **higher**"
    side = "not higher" if v.over.mean <= 0 else "**higher**"
    return f"is {side} on average, with 0 in the interval"


def _interval(v: Versus) -> str:
    return between(v.over.mean, v.over.low, v.over.high, 4)


def _mean(sets: pl.DataFrame, rival: str, column: str = "far_5") -> str:
    d = corrected_t(wide(sets, column, [rival])[:, 0], 1, 0)
    return between(d.mean, d.low, d.high)


def _goal(g: Goal) -> str:
    said = give_or_take(g.found, g.error, 4 if g.limit < 0.2 else 2)
    return f"{said} (goal of {g.limit:g} {'reached' if g.reached else '**missed**'})"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]

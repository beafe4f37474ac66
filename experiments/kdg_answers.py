"""The answers of the KDG study, as sentences made from the numbers."""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np
import polars as pl

from experiments.judging import FLOOR
from experiments.kdg_differences import (
    MARGIN,
    Versus,
    interval,
    over_seeds,
    verdict,
    versus,
    within,
)
from experiments.kdg_eight import MINE, goals
from experiments.kdg_runs import TRUTH
from experiments.kdg_scale import DRAWS, LIMITS, slope
from experiments.kdg_summary import (
    HIGH,
    ISOTONIC,
    KERNEL,
    MEASURES,
    PLAIN,
    over_sets,
    ranked,
    settings,
    wide,
)
from experiments.markdown import give_or_take, shown, wrapped
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
        f"{sets['set'].n_unique()} sets, {settings(sets, trees)}. Differences are of means over seeds, "
        f"with Student's 95 % interval over sets. Not worse means: the bad end of the interval is within a "
        f"margin of {100 * MARGIN:g} % of the other's mean value. Where a goal is named, the number is a "
        "mean over the sets of the goals, and chance the standard deviation over seeds of that mean (sd)."
    )
    found = [calibrated(sets, eight), modest(sets), cost(eight, scale, trees), loses(sets, eight)]
    return "\n\n".join([wrapped(how), *map(str, found)]) + "\n"


def calibrated(sets: pl.DataFrame, eight: pl.DataFrame) -> Answer:
    """Kernel density against isotonic, over sets."""
    said = []
    for family, names in FAMILIES.items():
        kernel, isotonic = names[KERNEL], names[ISOTONIC]
        ece = versus(sets, "ece", kernel, isotonic)
        said += [
            f"{_capital(kernel)} against {isotonic}: {log_losses(sets, kernel, isotonic)}; "
            f"{_ranks(sets, 'log_loss', family)}, held {_ranks(sets, 'log_loss_floor', family)}.",
            f"{_capital(kernel)} against {isotonic}: ECE {verdict(ece)}: {interval(ece)}, {_lower(ece)}; "
            f"{_ranks(sets, 'ece', family)}.",
        ]
    goal = {g.name: g for g in goals(eight)}
    said.append(f"ECE of the {MINE}: {goal['ece'].said}. Brier: {goal['brier'].said}.")
    if TRUTH in eight["rival"]:
        said += _simulated(eight.filter(pl.col("hellinger").is_not_null()))
    return Answer("Is it calibrated as isotonic regression in 5 folds is?", said)


def log_losses(sets: pl.DataFrame, one: str, other: str) -> str:
    """Both log losses: as they are, and of posteriors that are held above 0."""
    plain, floor = (versus(sets, measure, one, other) for measure in ("log_loss", "log_loss_floor"))
    held, zeros = f"with posteriors held at {FLOOR:g} or more", _zeros(sets, (one, other))
    counted = ", ".join(f"{count:,} of {name}" for name, count in zeros.items())
    counted += f", among {sets.filter(pl.col('rival') == one)['rows'].sum():,}"
    rows = f"{held} it {verdict(floor)}: {interval(floor)}, {_lower(floor)}"
    first = verdict(plain)
    if first == verdict(floor):
        told = f"{first}: {interval(plain)}, {_lower(plain)}; and {rows}"
    elif first == "is lower":
        few = "rows with 0" if any(zeros.values()) else f"posteriors below {FLOOR:g}"
        told = f"is lower, but only by {few}: {interval(plain)}, {_lower(plain)}; {rows}"
    else:
        told = f"{first}: {interval(plain)}, {_lower(plain)}; but {rows}"
    return f"log loss {told}; test rows with a posterior of 0 for the true class: {counted}"


def _zeros(sets: pl.DataFrame, rivals: tuple[str, str]) -> dict[str, int]:
    """Test rows of all sets and seeds whose true class was given a posterior of 0."""
    return {k: int(sets.filter(pl.col("rival") == k)["zeros"].sum()) for k in rivals}


def _ranks(sets: pl.DataFrame, measure: str, family: str) -> str:
    ranks = ranked(sets, measure, family)
    kernel, isotonic = ranks.mean[KERNEL], ranks.mean[ISOTONIC]
    if np.isnan(kernel):
        return "no mean ranks, since no set has all numbers"
    apart = "differ" if abs(kernel - isotonic) > ranks.critical else "are not told apart"
    return (
        f"mean ranks of {kernel:.2f} and {isotonic:.2f} {apart} "
        f"(critical difference {ranks.critical:.2f})"
    )


def _lower(v: Versus) -> str:
    return f"{'higher' if v.high else 'lower'} on {v.better} of {v.sets} sets"


def _simulated(some: pl.DataFrame) -> list[str]:
    """What is known only where the true posterior is."""
    truth = give_or_take(*over_sets(some, "ece")[TRUTH], 4)
    said = [
        f"ECE on the simulations alone, ± sd over seeds: {_each(some, 'ece')}. The true posterior itself "
        f"has {truth}, by chance.",
        f"Hellinger distance to the true posterior, ± sd over seeds: {_each(some, 'hellinger')}.",
    ]
    for names in FAMILIES.values():
        told = [_nearer(some, names[KERNEL], names[i]) for i in (ISOTONIC, PLAIN)]
        said.append(f"Hellinger distance of {names[KERNEL]}: {'; '.join(told)}.")
    said.append(
        "Intervals of the Hellinger distance: with each seed the points to learn from and to judge on are "
        "drawn anew, and so are the models; the first interval is over seeds, for these simulations, the "
        "second over simulations, as if they too were drawn."
    )
    return said


def _nearer(some: pl.DataFrame, one: str, other: str) -> str:
    seeds, sims = (how(some, "hellinger", one, other) for how in (over_seeds, versus))
    return (
        f"against {other} it {verdict(seeds)}: {interval(seeds)}, lower on {seeds.better} of {seeds.sets} "
        f"simulations; over simulations it {verdict(sims)}: {interval(sims)}"
    )


def modest(sets: pl.DataFrame) -> Answer:
    """How far confidence is from the largest prior, far from the data."""
    said = []
    for names in FAMILIES.values():
        kernel = names[KERNEL]
        each = wide(sets, "off_5", [kernel])[:, 0]
        each = each[np.isfinite(each)]
        beyond = int((each > CLOSE).sum())
        reached = (
            "reached on every set" if not beyond else f"**missed** on {beyond} of {len(each)} sets"
        )
        goal = f"the goal of {CLOSE:g} is {reached}" if len(each) else "the goal cannot be judged"
        others = ", ".join(_off(sets, name) for name in names[:KERNEL])
        said.append(
            f"Mean confidence at 5 radii is apart from the largest prior, mean over sets, by: "
            f"{_off(sets, kernel)}; {goal}. {_capital(others)}."
        )
    near = ", ".join(_off(sets, names[KERNEL], "off_1") for names in FAMILIES.values())
    said.append(f"At 1 radius, where the outermost row lies: {near}.")
    return Answer("Is it modest far away?", said)


def _off(sets: pl.DataFrame, rival: str, column: str = "off_5") -> str:
    """A rival's mean over sets, and its worst set."""
    each = wide(sets, column, [rival])[:, 0]
    if not np.isfinite(each).any():
        return f"{rival} not known"
    most = float(np.nanmax(each))
    worst = f" ({sets['set'].unique().sort()[int(np.nanargmax(each))]})" if most >= 5e-5 else ""
    return f"{rival} {shown(float(np.nanmean(each)))}, at most {shown(most, 4)}{worst}"


def cost(eight: pl.DataFrame, scale: pl.DataFrame, trees: int) -> Answer:
    """Time and memory, against the plain model's."""
    here = {g.name: g for g in goals(eight)}
    net = FAMILIES["network"][KERNEL]
    extra, predict = (over_sets(eight, c)[net][0] for c in ("extra_fit", "predict"))
    said = [
        f"{_capital(MINE)}, in units of the forest's: extra fit {here['extra_fit'].said}. Predict "
        f"{here['predict'].said}.",
        f"{_capital(net)}: extra fit {shown(extra, 2)} of the network's, since five networks are fitted "
        f"anew; predict {shown(predict, 2)} times the network's.",
    ]
    said += [_growth(scale, draw, trees) for draw in DRAWS]
    others = sorted(set(scale["trees"]) - {trees})
    said += [_growth(scale, draw, few) for few in others for draw in DRAWS]
    return Answer("What does it cost?", said)


def _growth(scale: pl.DataFrame, draw: str, trees: int) -> str:
    """Time and memory of one kind of data by the number of rows."""
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
    return (
        f"{part['n'].min():,} to {part['n'].max():,} rows, {trees} trees, {draw}: {'; '.join(told)}. The "
        f"peak of memory grows to the power {memory[0]} in fit and {memory[1]} in predict (1 is linear)."
    )


def loses(sets: pl.DataFrame, eight: pl.DataFrame) -> Answer:
    """Sets on which others are better, and what that comes to over sets."""
    pairs = [(measure, ISOTONIC) for measure in ("log_loss", "log_loss_floor", "ece")]
    pairs += [("error", PLAIN), ("kappa", PLAIN)]
    said = [
        _losses(sets, measure, names[KERNEL], names[place])
        for names in FAMILIES.values()
        for measure, place in pairs
    ]
    known = eight.filter(pl.col("hellinger").is_not_null())
    if known.height:
        said += [
            _losses(known, "hellinger", names[KERNEL], names[place])
            for names in FAMILIES.values()
            for place in (ISOTONIC, PLAIN)
        ]
    few = "Up to three sets are named, those with the largest differences."
    clearly = (
        "Clearly: the 95 % interval over seeds leaves out 0; that of real sets is corrected for rows that "
        "halves share, simulations share none. "
    )
    said.append(clearly + few if sets["seed"].n_unique() > 1 else few)
    return Answer("Where does it lose?", said)


def _losses(sets: pl.DataFrame, measure: str, one: str, other: str) -> str:
    """On which sets one is worse than another, and by how much over all of them."""
    drawn = measure == "hellinger"  # anew with each seed, and so without rows that are shared
    v = (over_seeds if drawn else versus)(sets, measure, one, other)
    if measure in ("error", "kappa"):
        v = v._replace(margin=nan)  # nobody wishes to pay a tenth of these for calibration
    a, b = wide(sets, measure, (one, other)).T
    worse = (b - a) if measure in HIGH else (a - b)
    names = sets["set"].unique().sort().to_list()
    found = within(sets, measure, one, other, shared=not drawn)
    clear = sum(d.high < 0 if measure in HIGH else d.low > 0 for d in found.values())
    order = [i for i in np.argsort(-worse) if worse[i] > 0]
    top = ", ".join(f"{names[i]} by {worse[i]:.3f}" for i in order[:3])
    word = "lower" if measure in HIGH else "higher"
    title = "Hellinger distance" if drawn else MEASURES[measure]
    return (
        f"{_capital(title)} of {one} less that of {other}: {interval(v)}; it {verdict(v)}; {word} on "
        f"{len(order)} of {v.sets} {'simulations' if drawn else 'sets'}"
        f"{f', clearly on {clear}' if found else ''}{f': {top}' if top else ''}."
    )


def _each(r: pl.DataFrame, column: str) -> str:
    """Means of the family's models but for those with a temperature."""
    found = over_sets(r, column)
    names = [names[i] for names in FAMILIES.values() for i in (PLAIN, ISOTONIC, KERNEL)]
    return ", ".join(f"{name} {give_or_take(*found[name], 4)}" for name in names)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]

"""The three claims about smAUC, each put to the test over all data sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from experiments.paired_tests import Correlation, Shift, shift, spearman
from experiments.smroc_runs import MODELS, SCHEMES
from experiments.smroc_verdicts import LEVEL

MIDPOINTS = {"sm_mean": "mean", "sm_fixed": "0.5"}


class Steadier(NamedTuple):
    """Claim (a): the standard deviation of smAUC against that of AUC, as it is and by its own range."""

    scheme: str
    midpoint: str
    model: str
    plain: Shift  # of the logarithm of the ratio
    relative: Shift
    no_range: int  # sets left out of `relative` because an area is no better than chance


class Lower(NamedTuple):
    """Claim (b): smAUC minus AUC, and whether the gap closes where scores are bold."""

    scheme: str
    midpoint: str
    model: str
    gap: Shift
    exceptions: list[str]
    boldness: Correlation
    bold: tuple[float, float]  # mean boldness of the exceptions, and of the others; NaN if none
    chance: tuple[float, float]  # and what their scores would get at random
    skill: Shift  # the gap as shares of the way from chance to 1


class Separates(NamedTuple):
    """Claim (c): in which sets the two models differ under each area."""

    scheme: str
    midpoint: str
    adjusted: bool
    both: list[str]
    only_auc: list[str]
    only_sm: list[str]
    neither: int
    p: float  # McNemar's exact test of one against the other
    opposed: list[str]  # both differ, but not in which model is better
    brier_agrees: (
        int  # of those that only smAUC separates: the model it prefers has the better Brier score
    )
    bolder: int  # and is the bolder one
    prefer_bolder: tuple[int, int, int]  # in how many sets smAUC does so, and AUC, of how many
    strength: Shift  # of the absolute t of smAUC minus that of AUC


class Claims(NamedTuple):
    """The answers to all claims."""

    steadier: list[Steadier]
    lower: list[Lower]
    separates: list[Separates]


def claims(table: pl.DataFrame) -> Claims:
    """Put all claims to the test, for each way of resampling and each midpoint."""
    parts = [(s, m, table.filter(pl.col("scheme") == s)) for s in SCHEMES for m in MIDPOINTS]
    return Claims(
        [_steadier(s, m, model, part) for s, m, part in parts for model in MODELS],
        [_lower(s, m, model, part) for s, m, part in parts for model in MODELS],
        [_separates(s, m, part, adjusted) for s, m, part in parts for adjusted in (False, True)],
    )


def _log_ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    # a spread of 0 under both is no difference, under one of them an infinite one
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(top) - np.log(bottom)
    return np.where((top == 0) & (bottom == 0), 0.0, ratio)


def _steadier(scheme: str, area: str, model: str, part: pl.DataFrame) -> Steadier:
    sds, ranges, level = [], [], np.zeros(part.height, dtype=bool)
    for a in (area, "auc"):
        mean, sd, chance = (part[f"{w}_{a}_{model}"].to_numpy() for w in ("mean", "sd", "chance"))
        sds.append(sd)
        ranges.append(np.where(mean > chance, mean - chance, np.nan))
        level |= mean <= chance
    relative = _log_ratio(sds[0] / ranges[0], sds[1] / ranges[1])
    plain = shift(_log_ratio(*sds))
    return Steadier(scheme, MIDPOINTS[area], model, plain, shift(relative), int(level.sum()))


def _lower(scheme: str, area: str, model: str, part: pl.DataFrame) -> Lower:
    sm, auc, bold, chance = (
        part[f"{column}_{model}"].to_numpy()
        for column in (f"mean_{area}", "mean_auc", "boldness", f"chance_{area}")
    )
    above, below = sm >= auc, sm < auc

    def sides(x: np.ndarray) -> tuple[float, float]:
        return tuple(float(x[m].mean()) if m.any() else np.nan for m in (above, below))

    return Lower(
        scheme,
        MIDPOINTS[area],
        model,
        shift(sm - auc),
        part["set"].filter(pl.Series(above)).to_list(),
        spearman(bold, sm - auc),
        sides(bold),
        sides(chance),
        shift((sm - chance) / (1 - chance) - (auc - 0.5) / 0.5),
    )


def _stronger(t: np.ndarray, other: np.ndarray) -> np.ndarray:
    # two infinite ones do not differ
    with np.errstate(invalid="ignore"):
        more = np.abs(t) - np.abs(other)
    return np.where(np.isinf(t) & np.isinf(other), 0.0, more)


def _separates(scheme: str, area: str, part: pl.DataFrame, adjusted: bool) -> Separates:
    kind = "holm" if adjusted else "p"
    sm, auc = (part[f"{kind}_{a}"].to_numpy() < LEVEL for a in (area, "auc"))
    side, other = (np.sign(part[f"diff_{a}"].to_numpy()) for a in (area, "auc"))
    calmer = np.sign((part["brier_tree"] - part["brier_bayes"]).to_numpy())
    bolder = np.sign((part["boldness_bayes"] - part["boldness_tree"]).to_numpy())
    names = part["set"].to_numpy()

    def named(mask: np.ndarray) -> list[str]:
        return [str(name) for name in names[mask]]

    only_sm, only_auc = sm & ~auc, auc & ~sm
    of = int(only_sm.sum() + only_auc.sum())
    p = float(stats.binomtest(int(only_sm.sum()), of).pvalue) if of else 1.0
    strength = _stronger(part[f"t_{area}"].to_numpy(), part["t_auc"].to_numpy())
    differ = np.abs(bolder) == 1
    return Separates(
        scheme,
        MIDPOINTS[area],
        adjusted,
        named(sm & auc),
        named(only_auc),
        named(only_sm),
        int((~sm & ~auc).sum()),
        p,
        named(sm & auc & (side != other)),
        int((side == calmer)[only_sm].sum()),
        int((side == bolder)[only_sm & differ].sum()),
        (*(int((x == bolder)[differ].sum()) for x in (side, other)), int(differ.sum())),
        shift(strength),
    )

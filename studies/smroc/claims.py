"""The numbers of the smROC study, and its three claims put to the test over all data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from scorewise.inference.differences import holm
from studies._comparisons import Correlation, Shift, corrected_t, shift, spearman
from studies.smroc.runs import AREAS, MODELS, SCHEMES

LEVEL = 0.05
MIDPOINTS = {"sm_mean": "mean", "sm_fixed": "0.5"}


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
    boldness: Correlation
    bold: tuple[
        float, float
    ]  # mean boldness where smAUC is not lower, and where it is; NaN if nowhere
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
        int  # of only_sm: sets in which smAUC prefers the model with the better Brier score
    )
    bolder: int  # and the bolder one
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

"""The tables of the smROC study: its claims over all data sets, and each data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import polars as pl

from scorewise.inference.differences import holm
from studies._comparisons import Correlation, Shift
from studies._tools import give_or_take, p_value, shown, table, wrapped
from studies.smroc.claims import LEVEL, MIDPOINTS, Lower, Separates, Steadier, claims
from studies.smroc.runs import FOLDS, MODELS, SCHEMES, SHARE

WORDS = {"tree": "tree", "bayes": "naive Bayes"}
RUNS = {"cv": "cross-validation", "sub": "subsamples"}
READ = (
    "Over the sets: ratios and differences are Hodges-Lehmann middles with 95 % intervals, effect is "
    "the matched-pairs rank-biserial correlation, p is Wilcoxon's, exact up to 50 sets, and Holm is p "
    "adjusted over the cases of the table. Not lower, lower: means over the sets in which smAUC is not "
    "lower than AUC, and over the others; boldness is the mean of abs(2 s - 1), and chance is what the "
    "same scores would get at random. Within a set: the corrected resampled t-test of Nadeau and "
    "Bengio; p in the last of these tables compares the numbers of sets that only one area separates "
    "(McNemar, exact), and opposed are sets that both separate, but the other way round. Better Brier "
    "and bolder: of the sets that only smAUC separates, those in which it prefers the model with the "
    "better Brier score, and the bolder one. Prefers the bolder: in how many of the sets in which "
    "boldness differs smAUC does so, and AUC. Skill is the share of the way from chance to 1."
)


def markdown(summary: pl.DataFrame, repeats: int) -> str:
    """The whole file."""
    found = claims(summary)
    parts = [wrapped(_how(summary, repeats))]
    parts += ["**The same model: sd of smAUC against that of AUC**", _steadier(found.steadier)]
    parts += ["**The same scores: smAUC against AUC**", _lower(found.lower)]
    parts += [
        "**Naive Bayes against tree: in how many sets p < 0.05**",
        _separates(found.separates),
    ]
    parts += [wrapped(READ)]
    for scheme, words in SCHEMES.items():
        part = summary.filter(pl.col("scheme") == scheme)
        for area, midpoint in MIDPOINTS.items():
            parts += [f"**Each set: {words}, midpoint {midpoint}**", _sets(part, area)]
    return "\n\n".join(parts) + "\n"


def _how(summary: pl.DataFrame, repeats: int) -> str:
    undefined = sum(int(summary[c].sum()) for c in summary.columns if c.startswith("undefined_"))
    runs = repeats * FOLDS
    return (
        f"{summary['set'].n_unique()} data sets. Both models learn from the same rows and are judged on "
        f"the same others: {runs} times by {repeats} x {FOLDS}-fold cross-validation, and {runs} times by "
        f"learning from {100 * SHARE:.0f} % of the rows and judging on the rest; classes keep their "
        "shares. sd is the standard deviation over these runs. The relative sd is the sd divided by how "
        "far the mean area lies above chance: 0.5 for AUC, and for smAUC what the same scores would get if "
        f"they were dealt out at random. Areas that were undefined: {undefined}."
    )


def _steadier(cases: list[Steadier]) -> str:
    head = ["runs", "midpoint", "model", "sd smaller on", "ratio of sds", "effect", "p", "Holm"]
    head += ["relative sd smaller on", "ratio of relative sds", "effect", "p", "Holm"]
    plain, relative = _tests([c.plain for c in cases]), _tests([c.relative for c in cases])
    lines = [
        [
            *(*_case(c), counted(c.plain), ratio(c.plain), *one),
            *(counted(c.relative, c.no_range), ratio(c.relative), *other),
        ]
        for c, one, other in zip(cases, plain, relative, strict=True)
    ]
    return table(head, lines, 3)


def _lower(cases: list[Lower]) -> str:
    head = ["runs", "midpoint", "model", "lower on", "smAUC minus AUC", "effect", "p", "Holm"]
    head += ["difference and boldness, Spearman", "p", "Holm", "boldness: not lower, lower"]
    head += ["chance: not lower, lower", "difference of skill"]
    gaps, closes = _tests([c.gap for c in cases]), _adjusted([c.boldness.p for c in cases])
    lines = [
        [
            *(*_case(c), counted(c.gap), signed(c.gap), *gap, correlation(c.boldness), *close),
            *(_both(c.bold), _both(c.chance), signed(c.skill)),
        ]
        for c, gap, close in zip(cases, gaps, closes, strict=True)
    ]
    return table(head, lines, 3)


def _separates(cases: list[Separates]) -> str:
    head = [
        "runs",
        "midpoint",
        "p-values",
        "both",
        "only AUC",
        "only smAUC",
        "neither",
        "p",
        "Holm",
    ]
    head += ["opposed", "better Brier", "bolder", "prefers the bolder: smAUC, AUC"]
    head += ["abs(t) of smAUC minus that of AUC", "p"]
    lines = []
    for c, adjusted in zip(cases, _adjusted([c.p for c in cases]), strict=True):
        about = [RUNS[c.scheme], c.midpoint, "Holm" if c.adjusted else "plain"]
        counts = [len(c.both), len(c.only_auc), len(c.only_sm), c.neither]
        more = [len(c.opposed), c.brier_agrees, c.bolder]
        ours, theirs, of = c.prefer_bolder
        rest = [f"{ours}, {theirs} of {of}", signed(c.strength, 2), p_value(c.strength.p)]
        lines.append([*about, *map(str, counts), *adjusted, *map(str, more), *rest])
    return table(head, lines, 3)


def _sets(part: pl.DataFrame, area: str) -> str:
    head = ["set", "rows", "tree AUC", "tree smAUC", "naive Bayes AUC", "naive Bayes smAUC"]
    head += ["difference of AUC", "p", "difference of smAUC", "p"]
    lines = []
    for r in part.iter_rows(named=True):
        kinds = [(a, m) for m in MODELS for a in ("auc", area)]
        cells = [give_or_take(r[f"mean_{a}_{m}"], r[f"sd_{a}_{m}"]) for a, m in kinds]
        for a in ("auc", area):
            gap, p = give_or_take(r[f"diff_{a}"], r[f"diff_sd_{a}"], sign="+"), r[f"p_{a}"]
            cells += [f"**{gap}**" if p < LEVEL else gap, p_value(p)]
        lines.append([r["set"], f"{r['rows']:,}", *cells])
    return table(head, lines)


def _case(c: Steadier | Lower) -> list[str]:
    return [RUNS[c.scheme], c.midpoint, WORDS[c.model]]


def _tests(shifts: Sequence[Shift]) -> list[list[str]]:
    """The effect of each shift, its p-value, and that adjusted over all of them."""
    adjusted = _adjusted([s.p for s in shifts])
    return [[shown(s.effect, 2, "+"), *p] for s, p in zip(shifts, adjusted, strict=True)]


def _adjusted(p: Sequence[float]) -> list[tuple[str, str]]:
    """P-values as they are, and adjusted by Holm; a case without a test is one of the cases, too."""
    adjusted = holm([1.0 if math.isnan(x) else x for x in p])
    return [
        (p_value(x), "" if math.isnan(x) else p_value(y)) for x, y in zip(p, adjusted, strict=True)
    ]


def _both(sides: tuple[float, float]) -> str:
    return ", ".join(shown(x, 2) or "none" for x in sides)


# numbers: a middle, its interval, and of how many sets


def ratio(s: Shift) -> str:
    """A shift of logarithms as a ratio."""
    return _interval(s.middle, s.low, s.high, lambda x, n: f"{_exp(x):.{n}f}", 3)


def signed(s: Shift, digits: int = 3) -> str:
    return _interval(s.middle, s.low, s.high, lambda x, n: f"{x:+.{n}f}", digits)


def correlation(r: Correlation) -> str:
    return _interval(r.value, r.low, r.high, lambda x, n: f"{x:+.{n}f}", 2)


def counted(s: Shift, at_chance: int = 0, unit: str = "") -> str:
    """On how many sets the difference is negative, and which were left out.

    >>> import numpy as np
    >>> from studies._comparisons import shift
    >>> counted(shift(np.array([-1, -2, 3, 0, np.nan, np.nan, np.nan])), 2)
    '2 of 3 (1 equal, 2 at chance, 1 undefined left out)'
    """
    kinds = {"equal": s.ties, "at chance": at_chance, "undefined": s.undefined - at_chance}
    out = ", ".join(f"{n} {why}" for why, n in kinds.items() if n)
    return f"{s.less} of {s.count}{unit}" + (f" ({out} left out)" if out else "")


def _interval(
    middle: float, low: float, high: float, write: Callable[[float, int], str], digits: int
) -> str:
    if math.isnan(middle):
        return "undefined"
    digits = max(_digits(end, write, digits) for end in (low, high))
    if math.isnan(low) or (low, high) == (-math.inf, math.inf):
        return f"{write(middle, digits)}, no interval".replace("inf", "infinite")
    ends = f"[{write(low, digits)}, {write(high, digits)}]"
    return f"{write(middle, digits)} {ends}".replace("inf", "infinite")


def _digits(end: float, write: Callable[[float, int], str], digits: int) -> int:
    """As many as tell an end of the interval from no difference, but six at most."""
    if not math.isfinite(end) or end == 0:
        return digits
    same = {n for n in range(digits, 6) if float(write(end, n)) == float(write(0.0, n))}
    return next(n for n in range(digits, 7) if n not in same)


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf

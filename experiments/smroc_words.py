"""The answers to the three claims, as sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from experiments.paired_tests import share
from experiments.smroc_claims import Claims, Lower, Separates, Steadier
from experiments.smroc_numbers import correlation, counted, equals, ratio, signed
from experiments.smroc_runs import MODELS
from experiments.smroc_verdicts import (
    Evidence,
    above,
    below,
    clear_sides,
    least_of,
    rising,
    verdict,
)

WORDS = {"tree": "tree", "bayes": "naive Bayes"}
RUNS = {"cv": "cross-validation", "sub": "subsamples"}
SHOWN = ("cv", "mean")  # the case that sentences give in full
FULL = "In cross-validation with the mean as midpoint"
LOWER = FULL[0].lower() + FULL[1:]

Case = TypeVar("Case", Steadier, Lower, Separates)


def answers(found: Claims) -> list[str]:
    """One paragraph for each claim: whether it holds, and the numbers that say so."""
    return [steadier(found.steadier), lower(found.lower), separates(found.separates)]


def steadier(cases: list[Steadier]) -> str:
    """Claim (a)."""
    plain = verdict([below(c.plain) for c in cases])
    scaled = verdict([below(c.relative) for c in cases])
    full = _each(
        cases, lambda c: f"smaller on {counted(c.plain, unit=' sets')}, ratio {ratio(c.plain)}"
    )
    own = _each(
        cases,
        lambda c: (
            f"smaller on {counted(c.relative, c.no_range, ' sets')}, ratio {ratio(c.relative)}"
        ),
    )
    return (
        f"**smAUC varies less for the same model, as a plain sd: {plain.said}.** The ratio of sds is "
        f"significantly below 1 in {plain.hits} and above 1 in {plain.reverse} of {plain.of} cases (two "
        f"models, two ways of resampling, two midpoints; p-values adjusted by Holm). {FULL}, {full}. "
        f"**Relative to its own range: {scaled.said}.** The ratio of relative sds is significantly "
        f"below 1 in {scaled.hits} and above 1 in {scaled.reverse} of {scaled.of} cases; {LOWER}, {own}."
        f"{_scale(cases) if plain.hits and not plain.reverse else ''}"
    )


def _scale(cases: list[Steadier]) -> str:
    """How much of a smaller spread is a smaller range."""
    plain, scaled = np.mean([(c.plain.middle, c.relative.middle) for c in cases], axis=0)
    if not (np.isfinite([scaled, plain]).all() and 2 * abs(scaled) < -plain):
        return ""
    return (
        " Most of the smaller spread is scale: the logarithm of the ratio is "
        f"{plain:+.3f} in the mean over cases, and {scaled:+.3f} when each area is measured by its own "
        "range."
    )


def lower(cases: list[Lower]) -> str:
    """Claim (b)."""
    gap = verdict([below(c.gap) for c in cases])
    refined = [_refined(c) for c in cases]
    closes = verdict(refined)
    full = _each(
        cases,
        lambda c: (
            f"lower on {counted(c.gap, unit=' sets')}, difference {signed(c.gap)}"
            + (f", not on {', '.join(c.exceptions)}" if 0 < len(c.exceptions) <= c.gap.less else "")
        ),
    )
    two = _each(cases, lambda c: f"Spearman {correlation(c.boldness)}")
    one_sided = sum(not _two_sided(c) for c in cases)
    three = _each(
        [c for c in cases if _two_sided(c)],
        lambda c: (
            f"chance {c.chance[0]:.2f} against {c.chance[1]:.2f}, boldness {c.bold[0]:.2f} against "
            f"{c.bold[1]:.2f}"
        ),
    )
    said = (
        f"**smAUC is lower than AUC: {gap.said}.** The difference is significantly below 0 in {gap.hits} "
        f"and above 0 in {gap.reverse} of {gap.of} cases. {FULL}, {full}. **Except where scores are "
        f"refined: {closes.said}.** Taking boldness, the mean of abs(2 s - 1), for refinement, the gap "
        f"significantly closes where scores are bolder in {closes.hits} and widens in {closes.reverse} of "
        f"{closes.of} cases ({_by_model(cases, clear_sides(refined))}); {LOWER}, {two}. "
    )
    if one_sided:
        said += (
            f"In {one_sided} of {len(cases)} cases smAUC is lower on all sets or on none, and there is "
            "nothing to compare. "
        )
    return said + f"Sets in which smAUC is not lower, against the others: {three}."


def _two_sided(c: Lower) -> bool:
    return not np.isnan(c.bold).any()


def _refined(c: Lower) -> Evidence:
    """Evidence that the gap closes; none where there is no exception, or nothing else."""
    found = rising(c.boldness)
    return found if _two_sided(c) else found._replace(p=np.nan, side=0)


def _by_model(cases: list[Lower], sides: list[int]) -> str:
    """In how many cases of each model the gap closes."""
    own = {m: [side for c, side in zip(cases, sides, strict=True) if c.model == m] for m in MODELS}
    return ", ".join(f"closes in {v.count(1)} of {len(v)} for {_the(m)}" for m, v in own.items())


def separates(cases: list[Separates]) -> str:
    """Claim (c)."""
    more = verdict([_more(c) for c in cases])
    some = sum(bool(c.only_sm) for c in cases)
    plain = [c for c in cases if not c.adjusted]
    stronger = verdict([above(c.strength) for c in plain])
    shown = [c for c in cases if c.midpoint == "mean"]
    preferred = "; ".join(
        f"{RUNS[c.scheme]}: the model with the better Brier score in {c.brier_agrees} of "
        f"{len(c.only_sm)}, the bolder one in {c.bolder}"
        for c in shown
        if not c.adjusted
    )
    bold = "; ".join(
        f"{RUNS[c.scheme]}: by smAUC in {c.prefer_bolder[0]}, by AUC in {c.prefer_bolder[1]} of "
        f"{c.prefer_bolder[2]}"
        for c in shown
        if not c.adjusted
    )
    return (
        f"**smAUC separates the models where AUC cannot: {more.said}.** There are "
        f"sets that only smAUC separates in {some} of {len(cases)} cases (two ways of resampling, two "
        f"midpoints, p-values within sets plain and adjusted by Holm); by McNemar's exact test, adjusted "
        f"over the cases, it separates significantly more sets than AUC in {more.hits} and fewer in "
        f"{more.reverse}. With the mean as midpoint: {'; '.join(map(_separated, shown))}. That the abs(t) "
        f"of smAUC is larger in the middle: {stronger.said}. Where only smAUC separates, with plain "
        f"p-values, it prefers, {preferred}. The bolder model is preferred, in sets in which boldness "
        f"differs, {bold}."
    )


def _more(c: Separates) -> Evidence:
    sets = len(c.both) + len(c.only_sm) + len(c.only_auc) + c.neither
    ours, theirs = len(c.only_sm), len(c.only_auc)
    return Evidence(c.p, (ours > theirs) - (ours < theirs), sets, least_of(sets))


def _separated(c: Separates) -> str:
    auc, sm = len(c.both) + len(c.only_auc), len(c.both) + len(c.only_sm)
    of = auc + len(c.only_sm) + c.neither
    low, high = share(len(c.only_sm), of)
    return (
        f"{RUNS[c.scheme]}{', adjusted' if c.adjusted else ''}: AUC {auc} of {of} sets, smAUC {sm}; only "
        f"smAUC {len(c.only_sm)}, a share of {len(c.only_sm) / max(of, 1):.2f} [{low:.2f}, {high:.2f}] "
        f"({', '.join(c.only_sm) or 'none'}); only AUC {len(c.only_auc)} "
        f"({', '.join(c.only_auc) or 'none'}); p {equals(c.p)}"
    )


def _each(cases: Sequence[Case], say) -> str:
    """What there is to say of each model in the case that is given in full."""
    shown = [c for c in cases if (c.scheme, c.midpoint) == SHOWN]
    return "; ".join(f"{WORDS[c.model]}: {say(c)}" for c in shown) or "none"


def _the(model: str) -> str:
    return {"tree": "the tree", "bayes": "naive Bayes"}[model]

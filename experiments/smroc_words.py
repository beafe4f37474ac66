"""The answers to the three claims, as sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from experiments.paired_tests import Correlation, Shift, share
from experiments.smroc_claims import Claims, Lower, Separates, Steadier
from experiments.smroc_runs import MODELS

WORDS = {"tree": "tree", "bayes": "naive Bayes"}
RUNS = {"cv": "cross-validation", "sub": "subsamples"}
SHOWN = ("cv", "mean")  # the case that sentences give in full
FULL = "In cross-validation with the mean as midpoint"

Case = TypeVar("Case", Steadier, Lower, Separates)


def answers(found: Claims) -> list[str]:
    """One paragraph for each claim: whether it holds, and the numbers that say so."""
    return [steadier(found.steadier), lower(found.lower), separates(found.separates)]


def verdict(hits: int, of: int) -> str:
    return "holds" if hits == of else "holds in part" if hits else "does not hold"


def steadier(cases: list[Steadier]) -> str:
    """Claim (a)."""
    plain = sum(c.plain.high < 0 for c in cases)
    scaled = sum(c.relative.high < 0 for c in cases)
    left = np.mean([c.relative.middle for c in cases]) / np.mean([c.plain.middle for c in cases])
    full = _each(cases, lambda c: f"smaller on {_on(c.plain)}, ratio {ratio(c.plain)}")
    own = _each(cases, lambda c: f"smaller on {_on(c.relative)}, ratio {ratio(c.relative)}")
    said = (
        f"**smAUC varies less for the same model: {verdict(plain, len(cases))} as a plain sd.** The "
        f"interval of the ratio of sds lies below 1 in {plain} of {len(cases)} cases (two models, two ways "
        f"of resampling, two midpoints). {FULL}, {full}. **Relative to its own range: "
        f"{verdict(scaled, len(cases))}**, in {scaled} of {len(cases)} cases; {own}."
    )
    if plain and left < 0.5:
        said += (
            " Most of the smaller spread is scale: of the logarithm of the ratio "
            f"{100 * max(left, 0):.0f} % is left when each area is measured by its own range."
        )
    return said


def lower(cases: list[Lower]) -> str:
    """Claim (b)."""
    below = sum(c.gap.high < 0 for c in cases)
    rising = {m: [c.boldness.low > 0 for c in cases if c.model == m] for m in MODELS}
    closes = sum(map(sum, rising.values()))
    full = _each(
        cases,
        lambda c: (
            f"lower on {_on(c.gap)}, difference {signed(c.gap)}"
            + (f", not on {', '.join(c.exceptions)}" if c.exceptions else "")
        ),
    )
    counts = ", ".join(f"{sum(v)} of {len(v)} for {_the(m)}" for m, v in rising.items())
    two = _each(cases, lambda c: f"Spearman {correlation(c.boldness)}")
    three = _each(
        [c for c in cases if c.exceptions],
        lambda c: (
            f"chance {c.chance[0]:.2f} against {c.chance[1]:.2f}, boldness {c.bold[0]:.2f} against "
            f"{c.bold[1]:.2f}"
        ),
    )
    return (
        f"**smAUC is lower than AUC: {verdict(below, len(cases))}.** The interval of the difference lies "
        f"below 0 in {below} of {len(cases)} cases. {FULL}, {full}. **Except where scores are refined: "
        f"{verdict(closes, len(cases))}.** Taking boldness, the mean of abs(2 s - 1), for refinement, the "
        f"gap closes where scores are bolder, with an interval above 0, in {closes} of {len(cases)} cases "
        f"({counts}); {FULL[0].lower()}{FULL[1:]}, {two}. Sets in which smAUC is not lower, against the "
        f"others: {three}."
    )


def separates(cases: list[Separates]) -> str:
    """Claim (c)."""
    more = sum(len(c.only_sm) > len(c.only_auc) and c.p < 0.05 for c in cases)
    some = sum(bool(c.only_sm) for c in cases)
    plain = [c for c in cases if not c.adjusted]
    stronger = sum(c.strength.low > 0 for c in plain)
    shown = [c for c in cases if c.midpoint == "mean"]
    preferred = "; ".join(
        f"{RUNS[c.scheme]}: the model with the better Brier score in {c.brier_agrees} of "
        f"{len(c.only_sm)}, the bolder one in {c.bolder}"
        for c in shown
        if not c.adjusted
    )
    bold = "; ".join(
        f"{RUNS[c.scheme]}: smAUC in {c.prefer_bolder[0]}, AUC in {c.prefer_bolder[1]}"
        for c in shown
        if not c.adjusted
    )
    return (
        f"**smAUC separates the models where AUC cannot: {verdict(more, len(cases))}.** There are "
        f"sets that only smAUC separates in {some} of {len(cases)} cases (two ways of resampling, two "
        f"midpoints, p-values plain and adjusted by Holm); it separates significantly more sets than AUC, "
        f"by McNemar's exact test, in {more}. With the mean as midpoint: "
        f"{'; '.join(map(_separated, shown))}. The abs(t) of smAUC is larger in the middle, with an "
        f"interval above 0, in {stronger} of {len(plain)} cases. Where only smAUC separates, with plain "
        f"p-values, it prefers, {preferred}. Of all sets, the bolder model is preferred, {bold}."
    )


def _separated(c: Separates) -> str:
    auc, sm = len(c.both) + len(c.only_auc), len(c.both) + len(c.only_sm)
    of = auc + len(c.only_sm) + c.neither
    low, high = share(len(c.only_sm), of)
    return (
        f"{RUNS[c.scheme]}{', adjusted' if c.adjusted else ''}: AUC {auc} of {of} sets, smAUC {sm}; only "
        f"smAUC {len(c.only_sm)}, a share of {len(c.only_sm) / of:.2f} [{low:.2f}, {high:.2f}] "
        f"({', '.join(c.only_sm) or 'none'}); only AUC {len(c.only_auc)} "
        f"({', '.join(c.only_auc) or 'none'}); p = {c.p:.3f}"
    )


def _each(cases: Sequence[Case], say) -> str:
    """What there is to say of each model in the case that is given in full."""
    shown = [c for c in cases if (c.scheme, c.midpoint) == SHOWN]
    return "; ".join(f"{WORDS[c.model]}: {say(c)}" for c in shown) or "none"


def _on(s: Shift) -> str:
    return f"{s.less} of {s.count} sets"


def _the(model: str) -> str:
    return {"tree": "the tree", "bayes": "naive Bayes"}[model]


def ratio(s: Shift) -> str:
    with np.errstate(over="ignore"):  # infinite where AUC does not vary at all
        middle, low, high = np.exp([s.middle, s.low, s.high])
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def signed(s: Shift, digits: int = 3) -> str:
    return f"{s.middle:+.{digits}f} [{s.low:+.{digits}f}, {s.high:+.{digits}f}]"


def correlation(r: Correlation) -> str:
    return f"{r.value:+.2f} [{r.low:+.2f}, {r.high:+.2f}]"

"""What kind of drift was seen, in words that claim no more than was seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from scorewise.drifting.change import Change
from scorewise.estimate import number

Kind = Literal["none seen", "prior", "covariate", "concept", "scores", "unclear", "untested"]

SAID: dict[Kind, str] = {
    "prior": (
        "Prior shift: the share of positives has changed; within each class there is no sign that the "
        "scores have."
    ),
    "covariate": (
        "The scores have moved (covariate shift); there is no sign that the same score means anything "
        "else than before."
    ),
    "concept": "Concept drift: the same score goes with other outcomes than before.",
    "scores": (
        "The scores have moved. Whether the outcomes have changed too cannot be said without labels."
    ),
    "unclear": "The samples differ, but there are too few rows to tell how.",
    "untested": "Nothing could be tested.",
}


MOVED = {"psi", "ks", "wasserstein", "midpoint"}  # whichever tells that scores have moved


class Verdict(NamedTuple):
    """The kind of drift, and the sentences that say so."""

    kind: Kind
    text: str
    evidence: str = ""


def judge(changes: Mapping[str, Change], labelled: bool) -> Verdict:
    """The verdict on changes whose p-values are adjusted."""
    tested = [c for c in changes.values() if not math.isnan(c.p)]
    if not tested:
        whys = dict.fromkeys(c.estimate.why for c in changes.values())
        return Verdict("untested", f"{SAID['untested'][:-1]}: {next(iter(whys))}.")
    seen = {name: c for name, c in changes.items() if c.seen}
    if not seen:
        return Verdict("none seen", _none(changes, len(tested)))
    kind = _kind(set(seen), labelled)
    evidence = _strongest(list(seen.values()))
    parts = [SAID[kind], *_remark(kind, changes, set(seen)), f"Strongest evidence: {evidence}"]
    return Verdict(kind, " ".join(parts), evidence)


def _kind(seen: set[str], labelled: bool) -> Kind:
    if not labelled:
        return "scores"
    answers = bool(seen & {"calibration", "calibration_distance"})
    within = bool(seen & {"class_distance", "auroc"})
    moved = bool(seen & MOVED)
    if "prevalence" in seen and not within:
        # without a sign either way, scores that moved may have moved the share of positives
        return "prior" if answers or not moved else "unclear"
    if answers:
        return "concept"
    return "covariate" if within or moved else "unclear"


def _remark(kind: Kind, changes: Mapping[str, Change], seen: set[str]) -> list[str]:
    if kind == "scores":
        e = changes.get("estimated_prevalence")
        if e is None or math.isnan(e.value):
            return []
        return [
            f"If nothing but the share of positives has changed, it has changed by about "
            f"{_signed(e.value)} (EM)."
        ]
    if kind != "concept":
        return []
    if not seen & MOVED:
        return [
            "The scores look as before: the outcomes have changed, or their labels (label noise)."
        ]
    if "auroc" not in seen:
        return [
            "The order is not seen to be worse or better (AUROC): new calibration may be enough."
        ]
    return []


def _strongest(seen: list[Change]) -> str:
    def size(c: Change) -> float:
        return abs(c.value) / c.by_chance if c.by_chance else math.inf

    c = min(seen, key=lambda c: (c.p_adjusted, -size(c)))
    value = _signed(c.value) if c.statistic.signed else number(c.value)
    return (
        f"{c.statistic.title} {value}, where chance stays within "
        f"{number(c.by_chance)} (p = {number(c.p_adjusted)} after Holm)."
    )


def _signed(x: float) -> str:
    return f"{'+' if x > 0 else ''}{number(x)}"


_SIZES = {
    "prevalence": "share of positives {}",
    "auroc": "AUROC {}",
    "ks": "KS distance {}",
    "calibration": "outcomes at the same score {}",
}


def _none(changes: Mapping[str, Change], tests: int) -> str:
    sizes = [
        words.format(number(changes[name].by_chance))
        for name, words in _SIZES.items()
        if name in changes and math.isfinite(changes[name].by_chance)
    ]
    said = f"No sign of drift in {tests} tests; that does not prove that there is none."
    if not sizes:
        return said
    return (
        f"{said} With so many rows, smaller changes than these would go unseen: {', '.join(sizes)}."
    )

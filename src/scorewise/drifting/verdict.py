"""What kind of drift was seen, in words that claim no more than was seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from scorewise.drifting.change import Change
from scorewise.estimate import number
from scorewise.inference.paired import holm

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


# signs that a score means something else, that scores within classes or altogether have moved
ANSWERS = ("calibration", "calibration_slope", "calibration_distance")
WITHIN = ("class_distance", "auroc")
MOVED = ("psi", "ks", "wasserstein", "midpoint")
EVIDENCE: dict[Kind, tuple[str, ...]] = {
    "prior": ("prevalence",),
    "covariate": (*MOVED, *WITHIN),
    "concept": (*ANSWERS, *WITHIN, "smauc", "smroc_distance"),
}


class Verdict(NamedTuple):
    """The kind of drift, and the sentences that say so."""

    kind: Kind
    text: str
    evidence: str = ""


def judge(changes: Mapping[str, Change], labelled: bool, blind: str = "") -> Verdict:
    """The verdict on changes whose p-values are adjusted; `blind` says why none could be small enough."""
    tested = [c for c in changes.values() if not math.isnan(c.p)]
    if tested and blind:
        return Verdict("untested", f"{SAID['untested'][:-1]}: {blind}.")
    if not tested:
        whys = dict.fromkeys(c.estimate.why for c in changes.values())
        return Verdict("untested", f"{SAID['untested'][:-1]}: {next(iter(whys))}.")
    seen = {name: c for name, c in changes.items() if c.seen}
    if not seen:
        return Verdict("none seen", _none(changes, len(tested)))
    kind = _kind(changes, labelled)
    telling = [c for name, c in seen.items() if name in EVIDENCE.get(kind, ())]
    evidence = _strongest(telling or list(seen.values()))
    parts = [SAID[kind], *_remark(kind, changes), f"Strongest evidence: {evidence}"]
    return Verdict(kind, " ".join(parts), evidence)


def _kind(changes: Mapping[str, Change], labelled: bool) -> Kind:
    """Which kind of drift it is, once it is known that there is some.

    A prior shift leaves the scores within classes as they were, a covariate shift what a score means; the
    joint distribution cannot change without one of these, or the scores altogether, changing.
    """
    if not labelled:
        return "scores"
    answers, within, moved, prior = (
        _sign(changes, family) for family in (ANSWERS, WITHIN, MOVED, ("prevalence",))
    )
    if answers:
        return "prior" if prior and not within else "concept"
    if within:
        return "covariate" if moved else "concept"
    return "unclear" if prior == moved else "prior" if prior else "covariate"


def _sign(changes: Mapping[str, Change], family: Sequence[str]) -> bool:
    """Whether one of a few changes is more than chance, adjusted for these few."""
    found = [changes[name] for name in family if name in changes]
    return any(
        q < 1 - c.estimate.level for q, c in zip(holm([c.p for c in found]), found, strict=True)
    )


def _remark(kind: Kind, changes: Mapping[str, Change]) -> list[str]:
    if kind == "scores":
        e = changes.get("estimated_prevalence")
        if e is None or math.isnan(e.value):
            return []
        return [
            f"If nothing but the share of positives has changed, it has changed by about "
            f"{_signed(e.value)} (EM)."
        ]
    if kind == "covariate":
        size = number(changes["calibration"].needed)
        return [f"Outcomes that differ by less than {size} at the same score would go unseen."]
    if kind != "concept":
        return []
    if not _sign(changes, MOVED):
        return [
            "The scores look as before: the outcomes have changed, or their labels (label noise)."
        ]
    if not _sign(changes, ("auroc",)):
        return ["There is no sign that the order is worse or better: new calibration may do."]
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
        words.format(number(changes[name].needed))
        for name, words in _SIZES.items()
        if name in changes and 0 < changes[name].needed < math.inf
    ]
    said = f"No sign of drift in {tests} tests; that does not prove that there is none."
    if not sizes:
        return said
    return (
        f"{said} With these rows, smaller changes than these would go unseen: {', '.join(sizes)}."
    )

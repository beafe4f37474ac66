"""What kind of drift was seen, in words that claim no more than was seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scorewise.drifting.changes import STATISTICS, Change, Settings, piloted
from scorewise.drifting.samples import Sample, check_alike
from scorewise.drifting.windows import Cut
from scorewise.errors import BadInput, plain
from scorewise.estimate import number
from scorewise.inference.paired import holm
from scorewise.show.page import rounded_up
from scorewise.show.shown import Shown

if TYPE_CHECKING:
    from scorewise.drifting.document import DriftDocument

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
    p = f"p ≤ {number(rounded_up(c.p_adjusted))}" if c.least else f"p = {number(c.p_adjusted)}"
    return (
        f"{c.statistic.title} {value}, where chance stays within "
        f"{number(c.by_chance)} ({p} after Holm)."
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


# Drift as users get it: for each window its changes and a verdict.


class Window(Mapping[str, Change]):
    """The changes of one sample against the reference, each by its name, and the verdict on them."""

    def __init__(
        self, sample: Sample, found: Mapping[str, Change], labelled: bool, blind: str = ""
    ) -> None:
        self.sample = sample
        self._changes = dict(found)
        self._verdict = judge(found, labelled, blind)

    def __getitem__(self, name: str) -> Change:
        if name not in self._changes:
            raise KeyError(f"no change is named {name}; there are {', '.join(self._changes)}")
        return self._changes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def name(self) -> str:
        """What the sample is called."""
        return self.sample.name

    @property
    def kind(self) -> Kind:
        """The kind of drift in one word or two."""
        return self._verdict.kind

    @property
    def verdict(self) -> str:
        """The verdict in sentences."""
        return self._verdict.text

    @property
    def evidence(self) -> str:
        """The strongest evidence of drift; nothing where none was seen."""
        return self._verdict.evidence

    def __repr__(self) -> str:
        return f"<Window {plain(self.name)}: {self.kind}>"


class Drift(Shown):
    """What has changed since the reference: `d["ks"]`, `d.verdict`, `d.kind`; prints as a table.

    There is one window, the current sample, or with `time=` several, in `d.windows`.
    """

    def __init__(
        self,
        reference: Sample,
        currents: Sequence[Sample],
        settings: Settings,
        time: Cut | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        for current in currents:
            check_alike(reference, current)
        self.reference, self.settings = reference, settings
        self.time, self.notes = time, tuple(notes)
        tests = len(STATISTICS) * len(currents)
        found = [piloted(reference, current, settings, tests) for current in currents]
        blind = _blind(found, settings)
        self.windows = tuple(
            Window(current, adjusted, reference.labelled and current.labelled, blind)
            for current, adjusted in zip(currents, _adjusted(found), strict=True)
        )

    @property
    def window(self) -> Window:
        """The only window."""
        if len(self.windows) > 1:
            raise BadInput(
                f"there are {len(self.windows)} windows; choose one, such as d.windows[0]"
            )
        return self.windows[0]

    def __getitem__(self, name: str) -> Change:
        return self.window[name]

    @property
    def kind(self) -> str:
        """The kind of drift of the only window."""
        return self.window.kind

    @property
    def seen(self) -> bool:
        """Whether any drift was seen."""
        return any(w.kind not in ("none seen", "untested") for w in self.windows)

    @property
    def verdict(self) -> str:
        """The verdict in sentences: of the current sample, or on all windows."""
        return self.windows[0].verdict if len(self.windows) == 1 else overall(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the samples with matplotlib; windows of time over the reference."""
        from scorewise.displays import DriftDisplay

        tallies = [(w.name, w.sample.tally) for w in self.windows]
        name, last = tallies[-1]
        windows = tallies if len(tallies) > 1 else []
        names = (self.reference.name, name)
        return DriftDisplay(self.reference.tally, last, windows, names=names).plot(ax=ax)

    def document(self) -> DriftDocument:
        """What is written and shown; `scorewise schema drift` prints its schema."""
        from scorewise.drifting.document import drift_document

        return drift_document(self)

    def to_frame(self) -> Any:
        """One row per window and statistic, as a polars frame."""
        import polars as pl

        rows = [
            {"window": w["name"], "rows": w["rows"], **change}
            for w in self.to_dict()["windows"]
            for change in w["changes"]
        ]
        return pl.DataFrame(rows, infer_schema_length=None)


def overall(d: Drift) -> str:
    """A sentence on all windows."""
    moved = [w for w in d.windows if w.kind not in ("none seen", "untested")]
    if not moved and all(w.kind == "untested" for w in d.windows):
        return d.windows[0].verdict
    if not moved:
        return (
            f"No sign of drift in {len(d.windows)} windows; that does not prove that there is none."
        )
    return (
        f"Drift is seen in {len(moved)} of {len(d.windows)} windows, first in {moved[0].name} "
        f"({moved[0].kind})."
    )


def _blind(found: Sequence[Mapping[str, Change]], s: Settings) -> str:
    """Why no p-value can be small enough after adjustment, or nothing."""
    tests = sum(not math.isnan(c.p) for w in found for c in w.values())
    if tests / (s.replicates + 1) < 1 - s.level:
        return ""
    enough = math.ceil(2 * tests / (1 - s.level))
    return (
        f"with {tests} tests and {s.replicates:,} replicates no p-value can be small enough after "
        f"Holm; pass replicates={enough} or more"
    )


def _adjusted(found: Sequence[Mapping[str, Change]]) -> list[dict[str, Change]]:
    """The same with p-values adjusted for the number of all of them (Holm)."""
    flat = [c.p for window in found for c in window.values()]
    left = iter(holm(flat))
    return [{n: replace(c, p_adjusted=next(left)) for n, c in w.items()} for w in found]

"""Drift between two samples or over time, and a verdict that claims no more than was seen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from scorewise.checks import at_least, check
from scorewise.columns import Kind as KindOfScore
from scorewise.columns import Missing
from scorewise.columns.grouping import Every
from scorewise.drifting.changes import Change, Settings, piloted
from scorewise.drifting.document import DriftDocument, Kind, drift_document
from scorewise.drifting.measures import STATISTICS
from scorewise.drifting.samples import (
    Columns,
    Cut,
    Sample,
    check_alike,
    is_source,
    read,
    read_windows,
)
from scorewise.errors import BadInput, Option, Setting, plain
from scorewise.estimate import Estimate, number
from scorewise.inference.paired import holm
from scorewise.show.shown import Shown
from scorewise.show.verdict import Claim, claim, figure
from scorewise.show.words import rounded_up
from scorewise.tallies import Tally
from scorewise.tallies.smroc import midpoint as midpoint_of

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures

Labels: TypeAlias = Literal["both", "reference", "none"]
REPLICATES = 999

SAID: dict[Kind, str] = {
    "prior": (
        "Prior shift: the share of positives has changed; within each class there is no sign that the "
        "scores have."
    ),
    "covariate": (
        "The scores have moved (covariate shift); there is no sign that the meaning of a "
        "score has changed."
    ),
    "concept": "Concept drift: the same score goes with other outcomes than before.",
    "scores": (
        "The scores have moved. Whether the outcomes have changed too cannot be said without labels."
    ),
    "unclear": "The samples differ, but what kind of change it is cannot be told.",
    "untested": "Nothing could be tested.",
}
NOT_SEEN = ("none seen", "untested")

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
    """The kind of drift, the sentences that say so, and the strongest evidence."""

    kind: Kind
    claims: list[Claim]
    evidence: str = ""


def judge(changes: Mapping[str, Change], labelled: bool, blind: str = "") -> Verdict:
    """The verdict on changes whose p-values are adjusted; `blind` says why none could be small enough."""
    tested = [c for c in changes.values() if not math.isnan(c.p)]
    if not tested or blind:
        why = blind or next(iter(changes.values())).estimate.why
        return Verdict(
            "untested", [claim("change", "untested", f"{SAID['untested'][:-1]}: {why}.")]
        )
    seen = {name: c for name, c in changes.items() if c.seen}
    if not seen:
        return Verdict("none seen", list(_none(changes, len(tested))))
    kind = _kind(changes, labelled)
    telling = [c for name, c in seen.items() if name in EVIDENCE.get(kind, ())]
    strongest = _strongest(telling or list(seen.values()))
    evidence = _words(strongest)
    rests = [figure(strongest.statistic.name, strongest.estimate)]
    made = [
        claim("change", kind, SAID[kind]),
        *_remark(kind, changes),
        claim("change", "evidence", f"Strongest evidence: {evidence}", rests),
    ]
    return Verdict(kind, made, evidence)


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
    adjusted = zip(holm([c.p for c in found]), found, strict=True)
    return any(p < 1 - c.estimate.level for p, c in adjusted)


def _remark(kind: Kind, changes: Mapping[str, Change]) -> Iterator[Claim]:
    """What follows from the kind of drift, or what could have gone unseen."""
    if kind == "scores":
        e = changes.get("estimated_prevalence")
        if e is not None and not math.isnan(e.value):
            text = (
                f"If nothing but the share of positives has changed, it has changed by about "
                f"{_signed(e.value)} (EM)."
            )
            yield claim("change", "estimated prior", text, [figure(e.statistic.name, e.estimate)])
    elif kind == "covariate":
        c = changes["calibration"]
        text = f"A change of less than {number(c.needed)} in outcomes at the same score would go unseen."
        yield claim("data", "unseen", text, [figure(c.statistic.name, Estimate(c.needed))])
    elif kind == "concept" and not _sign(changes, MOVED):
        text = (
            "The scores look as before: the outcomes have changed, or their labels (label noise)."
        )
        yield claim("change", "outcomes", text)
    elif kind == "concept" and not _sign(changes, ("auroc",)):
        text = "There is no sign that the order is worse or better: new calibration may do."
        yield claim("repair", "calibration", text, [figure("auroc", changes["auroc"].estimate)])


def _strongest(seen: list[Change]) -> Change:
    def size(c: Change) -> float:
        return abs(c.value) / c.by_chance if c.by_chance else math.inf

    return min(seen, key=lambda c: (c.p_adjusted, -size(c)))


def _words(c: Change) -> str:
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


def _none(changes: Mapping[str, Change], tests: int) -> Iterator[Claim]:
    text = f"No sign of drift in {tests} tests; that does not prove that there is none."
    yield claim("change", "none seen", text)
    sizes = {
        name: changes[name].needed
        for name in _SIZES
        if name in changes and 0 < changes[name].needed < math.inf
    }
    if sizes:
        words = ", ".join(_SIZES[name].format(number(size)) for name, size in sizes.items())
        text = f"With this many rows, changes smaller than these would go unseen: {words}."
        yield claim("data", "unseen", text, [figure(n, Estimate(x)) for n, x in sizes.items()])


# Drift as users get it: for each window its changes and a verdict.


class Window(dict[str, Change]):
    """The changes of one sample against the reference, each by its name, and the verdict on them.

    `kind` is the kind of drift in a word or two, `verdict` says so in sentences, and `evidence` is the
    strongest evidence, empty where no drift was seen.
    """

    def __init__(
        self, sample: Sample, found: Mapping[str, Change], labelled: bool, blind: str = ""
    ) -> None:
        super().__init__(found)
        self.sample, self.name = sample, sample.name
        self.kind, self.claims, self.evidence = judge(found, labelled, blind)
        self.verdict = " ".join(c.sentence for c in self.claims)

    def __missing__(self, name: str) -> Change:
        raise KeyError(f"no change is named {name}; there are {', '.join(self)}")

    def __repr__(self) -> str:
        return f"<Window {plain(self.name)}: {self.kind}>"


class Drift(Shown):
    """What has changed since the reference: `d["ks"]`, `d.verdict`, `d.kind`; prints as a table.

    There is one window, the current sample, or with `time=` several, in `d.windows`. `d.groups["north"]` is
    what has changed in a group, where columns of groups were named (`by`).
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
        self.groups: Mapping[str, Window] = {}
        tests = len(STATISTICS) * len(currents)
        found = [piloted(reference, current, settings, tests) for current in currents]
        unable = blind(found, settings)
        self.windows = tuple(
            Window(current, changed, reference.labelled and current.labelled, unable)
            for current, changed in zip(currents, adjusted(found), strict=True)
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
        return any(w.kind not in NOT_SEEN for w in self.windows)

    @property
    def verdict(self) -> str:
        """The verdict in sentences: of the current sample, or on all windows."""
        return " ".join(c.sentence for c in self.claims)

    @property
    def claims(self) -> list[Claim]:
        """The same, sentence by sentence, each with what it rests on."""
        n, moved = len(self.windows), [w for w in self.windows if w.kind not in NOT_SEEN]
        if n == 1 or all(w.kind == "untested" for w in self.windows):
            return self.windows[0].claims
        if not moved:
            text = f"No sign of drift in {n} windows; that does not prove that there is none."
            return [claim("change", "none seen", text)]
        first = f"{moved[0].name} ({moved[0].kind})"
        text = f"Drift is seen in {len(moved)} of {n} windows, first in {first}."
        return [claim("change", moved[0].kind, text)]

    def pictures(self) -> Pictures:
        """The samples: scores, curves and, of windows of time, areas and means; changes by group."""
        from scorewise.displays import DriftDisplay, ForestDisplay
        from scorewise.displays.overview import Pictures

        tallies = [(w.name, w.sample.tally) for w in self.windows]
        name, last = tallies[-1]
        windows = tallies if len(tallies) > 1 else []
        names = (self.reference.name, name)
        shown = DriftDisplay(self.reference.tally, last, windows, names=names)
        kinds: dict[str, Any] = {"samples": shown.plot}
        if self.groups:
            named = "auroc" if self.window["auroc"].estimate.defined else "midpoint"
            kinds["groups"] = partial(
                ForestDisplay.from_groups, {"": self}, named, title="Change of "
            )
        return Pictures(kinds, tuple(kinds))

    def document(self) -> DriftDocument:
        """What is written and shown; `scorewise schema drift` prints its schema."""
        return drift_document(self)


def blind(found: Sequence[Mapping[str, Change]], s: Settings) -> str:
    """Why no p-value can be small enough after adjustment, or nothing."""
    tests = sum(not math.isnan(c.p) for w in found for c in w.values())
    if tests / (s.replicates + 1) < 1 - s.level:
        return ""
    enough = math.ceil(2 * tests / (1 - s.level))
    return (
        f"with {tests} tests and {s.replicates:,} replicates no p-value can be small enough after "
        f"Holm; {enough:,} replicates or more are needed"
    )


def adjusted(found: Sequence[Mapping[str, Change]]) -> list[dict[str, Change]]:
    """The same with p-values adjusted for the number of all of them (Holm)."""
    flat = [c.p for window in found for c in window.values()]
    left = iter(holm(flat))
    return [{n: replace(c, p_adjusted=next(left)) for n, c in w.items()} for w in found]


def drift(
    reference: Any,
    current: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    positive: Any = None,
    kind: KindOfScore | None = None,
    missing: Missing = "refuse",
    labels: Labels = "both",
    time: str | None = None,
    windows: int | None = None,
    every: Every | None = None,
    reference_until: Any = None,
    midpoint: Literal["mean", "balanced", "median"] | float | Tally = "mean",
    level: float = 0.95,
    seed: int = 0,
    replicates: int | None = None,
    by: Any | Sequence[str] = None,
    min_rows: int = 20,
    encoding: str | None = None,
) -> Drift:
    """What has changed from the reference to the current sample, each change with its p-value.

    A sample is a `Tally`, a pair `(y, p)`, scores alone, or files, a data frame or a dict of columns. Files
    of text are in UTF-8, or in `encoding`.
    Labels that come late: `labels="reference"` says that only the reference has them, "none" that neither
    has. With `time=` there is one source, cut by that column into `windows` of equal numbers of rows (6
    unless said) or calendar periods (`every="month"`); the first window, or all rows up to
    `reference_until`, is the reference for the others.

    `by` names columns of groups, of files and frames: the document then has what has changed in each group,
    with p-values adjusted for all tests in all groups (Holm), and how much more it has than in the rest of
    the rows; `d.groups["north"]` is one. Groups of several columns are those combinations that occur.
    Groups of fewer than `min_rows` rows in one of the samples are shown and not judged.

    The null hypothesis is that both samples are drawn from the same source, so that any row might as well
    be in the other: p = (1 + number of |T*| >= |T|) / (1 + replicates), where T* is T after the rows were
    dealt out anew. For the calibration they are dealt out among rows of about the same score (null
    hypothesis: the same score means the same, wherever the scores are), and for the distance within
    classes among rows of the same class (the classes look the same, whatever their shares). P-values are
    adjusted for their number by Holm; drift is seen where one is below 1 - `level`.

    >>> d = drift(([0, 1] * 50, [0.2, 0.7] * 50), ([0, 1] * 50, [0.3, 0.9] * 50))
    >>> d.kind, d["ks"].value, round(d["midpoint"].value, 3)
    ('covariate', 0.5, 0.15)
    """
    columns = Columns(label, score, weight, positive, kind, missing, encoding, by)
    check(min_rows=min_rows)
    if labels not in get_args(Labels):
        raise BadInput(
            Option("labels", labels), ' is not known; pass "both", "reference" or "none"'
        )
    rule = _midpoint(midpoint)
    if time is None:
        given = {"windows": windows, "every": every, "reference_until": reference_until}
        if extra := [name for name, value in given.items() if value is not None]:
            raise BadInput(
                Option(extra[0]), " cuts time into windows; pass ", Option("time"),
                " with its column too",
            )  # fmt: skip
        if current is None:
            raise BadInput(
                "the current sample is missing; pass reference and current, or ", Option("time"),
                " to cut one source into windows by that column",
            )  # fmt: skip
        a, notes = read("reference", reference, columns, labels != "none")
        b, further = read("current", current, columns, labels == "both")
        made = Drift(a, [b], _settings(level, seed, replicates, rule, 1), notes=notes + further)
        if by is not None:
            from scorewise.drifting.groups import Groups, grouped

            g = grouped(a, b, min_rows)
            tested = max(int(g.judged.sum()), 2)  # a pilot, and fewer cells, as windows have
            made.groups = Groups(a, b, g, _settings(level, seed, replicates, rule, tested))
    else:
        if current is not None or not is_source(reference):
            raise BadInput(
                Option("time"), " cuts one file or data frame; pass that alone, or two samples"
            )
        if labels == "reference":
            raise BadInput(
                Option("labels", "reference"), " is for two samples; with ", Option("time"),
                ' pass "both", or "none" to leave the labels out',
            )  # fmt: skip
        if by is not None:
            raise BadInput(Option("by"), " needs two samples; leave it out with ", Option("time"))
        cut = Cut(time, windows, every, reference_until)
        a, later, notes = read_windows(reference, cut, columns, labels == "both")
        made = Drift(a, later, _settings(level, seed, replicates, rule, len(later)), cut, notes)
    for note in dict.fromkeys(made.notes):
        warnings.warn(plain(note), stacklevel=2)
    return made


def _settings(
    level: float, seed: int, replicates: int | None, rule: str | float, windows: int
) -> Settings:
    check(level=level, seed=seed)
    pilot = 0
    if replicates is None:
        pilot = 0 if windows == 1 else REPLICATES
        # enough for the smallest p-value to stay small when adjusted for all tests
        enough = math.ceil(1.5 * windows * len(STATISTICS) / (1 - level))
        replicates = max(REPLICATES, 2 * enough if windows == 1 else enough)
    at_least(1, REPLICATES, replicates=replicates)
    cells = 1024 if windows == 1 else 256 if windows <= 12 else 96
    tests = windows * len(STATISTICS)
    return Settings(level, seed, replicates, rule, cells, tests, pilot)


def _midpoint(given: Any) -> str | float:
    if isinstance(given, str) and given in ("mean", "balanced", "median"):
        return given
    if isinstance(given, str):
        raise BadInput(
            Setting("midpoint"),
            f" must be mean, balanced, median or a number from 0 to 1; got {given}",
        )
    return midpoint_of(Tally.empty(), given).value

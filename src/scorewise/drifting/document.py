"""What `drift` writes and shows: the samples, the changes between them, and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from scorewise.columns import Kind as ScoreKind
from scorewise.curves.smroc import four_sets
from scorewise.drifting.groups import WORDS, Groups
from scorewise.drifting.measures import Held
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import MANY
from scorewise.inference.ranking import area
from scorewise.show.data import WeightedRows
from scorewise.show.document import JudgedDocument
from scorewise.show.estimates import Measured, Titled, record_of
from scorewise.show.fields import (
    AnyRecord,
    Count,
    Level,
    Number,
    PValue,
    Record,
    Share,
    Weight,
    Word,
    means,
)
from scorewise.show.groups import GroupsRecord, group_section
from scorewise.show.page import Column, Section, Table, undefined
from scorewise.show.verdict import Claim, claim, columns_of, command
from scorewise.show.words import by_reason, count, counted, is_least, named, p_value, percent
from scorewise.tallies.smroc import midpoint, why_not_unit

if TYPE_CHECKING:
    from scorewise.drifting.result import Drift, Window

Kind = Literal["none seen", "prior", "covariate", "concept", "scores", "unclear", "untested"]
FEW = 50  # rows, below which a sample tells little


class SettingsRecord(Record):
    """The settings that the numbers depend on."""

    level: Level = means("Confidence level of the intervals; drift is seen below 1 - level.")
    seed: Count
    replicates: Count = means("How often the rows were dealt out by chance.")
    midpoint: Literal["mean", "balanced", "median", "fixed"] = means("How midpoints are found.")


class TimeRecord(Record):
    """How time was cut into windows."""

    column: str = means("Column of the times.")
    every: str | None = means("Calendar period of a window; null: equal numbers of rows.")
    reference_until: str | None = means("End of the reference; null: its first window.")


class SampleRecord(WeightedRows):
    """A sample, without what it is compared with."""

    name: Word
    labelled: bool = means("Whether its labels are known.")
    positives: Count | None
    positive: str | None = means("The positive class; null without labels.")
    exact: bool
    prevalence: Share | None = means("Share of positives, by weight.")
    midpoint: Share | None = means("Where a score turns from low to high.")
    auroc: Share | None
    high: Share | None = means("Share of scores at or above the midpoint.")
    low: Share | None = means("Share of scores below the midpoint.")
    rotation: Number


class _Named(Titled):
    meaning: str


class ChangeRecord(Measured, _Named):
    """One measure of drift. The value is null exactly when `why` gives the reason."""

    value: Number = means("Current minus reference, or the distance; null if undefined.")
    held: Held = means("What rows have in common that are dealt out by chance.")
    by_chance: Weight | None = means(
        "Size below which chance alone stays as often as `level` says."
    )
    p: PValue
    p_adjusted: PValue


class WindowRecord(SampleRecord):
    """One sample compared with the reference."""

    drift: Kind = means("The kind of drift seen.")
    verdict: Word
    evidence: str = means("The strongest evidence; empty where no drift was seen.")
    changes: list[ChangeRecord] = means("The measures of drift.", min_length=1)


class DriftDocument(JudgedDocument, command="drift"):
    """The reference, and what is compared with it."""

    settings: SettingsRecord
    time: TimeRecord | None = means("The cut by time; null where two samples were given.")
    kind: ScoreKind
    drift: bool = means("Whether drift was seen in any window.")
    reference: SampleRecord = means("The sample that the others are compared with.")
    windows: list[WindowRecord] = means(
        "The current sample, or the windows of time after the reference.", min_length=1
    )
    groups: list[GroupsRecord]
    group_windows: list[WindowRecord] = means(
        "The current rows of each group, compared with its reference."
    )

    def sections(self) -> list[Section]:
        """The verdict, the samples, and each change against chance."""
        sections = [Section(facts=_facts(self))]
        if len(self.windows) == 1:
            sections += [_samples(self.reference, self.windows[0]), _changes(self)]
        else:
            sections += [_overview(self), *_seen(self.windows)]
        sections += [s for g in self.groups for s in _groups(self, g)]
        changes = (c for window in self.windows for c in window.changes)
        return [*sections, *undefined(((c.why, c.title) for c in changes), "Not defined")]


def drift_document(d: Drift) -> DriftDocument:
    """The document of the reference and all windows."""
    rule, cut = d.settings.midpoint, d.time
    until = None if cut is None or cut.reference_until is None else str(cut.reference_until)
    return record_of(
        DriftDocument,
        d,
        settings=record_of(
            SettingsRecord, d.settings, midpoint=rule if isinstance(rule, str) else "fixed"
        ),
        time=cut and record_of(TimeRecord, cut, column=cut.time, reference_until=until),
        kind=d.reference.tally.kind,
        verdict=[
            *d.claims,
            *(d.groups.claims() if isinstance(d.groups, Groups) else ()),
            *_next(d),
        ],
        drift=d.seen,
        reference=_sample(SampleRecord, d.reference, rule),
        windows=[_window(w, rule) for w in d.windows],
        groups=[d.groups.record] if isinstance(d.groups, Groups) else [],
        group_windows=[_window(w, rule) for w in d.groups.values()],
        hints=list(_hints(d)),
    )


def _next(d: Drift) -> Iterator[Claim]:
    """The command, or what to do, after the drift that was seen."""
    w, origin = d.windows[-1], d.windows[-1].sample.tally.origin
    if len(d.windows) > 1 or w.kind == "untested":
        return
    if not w.sample.labelled:
        yield claim(
            "next", "label", "Next: label some of the current rows, and compare with labels"
        )
        return
    mend = w.kind in ("prior", "concept")
    if not origin.sources or origin.label is None:
        call = "sw.Recalibrator().fit(scores, labels)" if mend else "sw.evaluate(labels, scores)"
        yield claim(
            "next", "calibrate" if mend else "evaluate", f"Next: {call} of the current rows"
        )
        return
    columns = columns_of(origin)
    if mend:
        yield command("calibrate fit", origin.sources, [*columns, ("out", "map.json")])
    else:
        yield command("evaluate", origin.sources, columns)


def _window(w: Window, rule: str | float) -> WindowRecord:
    changes = [record_of(ChangeRecord, c, c.statistic, c.estimate) for c in w.values()]
    known = {"drift": w.kind, "verdict": w.verdict, "evidence": w.evidence, "changes": changes}
    return _sample(WindowRecord, w.sample, rule, **known)


def _sample(kind: type[AnyRecord], sample: Sample, rule: str | float, **known: Any) -> AnyRecord:
    """The record of a sample; what needs labels, or a place on [0, 1], is null without."""
    t, o = sample.tally, sample.tally.origin
    both = sample.labelled and not t.why_not_ranked
    names = ("positives", "positive", "prevalence", "midpoint", "auroc", "high", "low", "rotation")
    known |= dict.fromkeys(names)
    if sample.labelled:
        known |= {"positives": o.positives, "positive": o.positive}
    if sample.labelled and len(t.score):
        known["prevalence"] = t.positives / (t.positives + t.negatives)
    if both:
        known["auroc"] = area(t)
    if len(t.score) and not why_not_unit(t) and (both or rule not in ("balanced", "median")):
        middle = midpoint(t, rule).value  # type: ignore[arg-type]
        sets = four_sets(t, middle)
        high, low = sets.by_score
        known |= {"midpoint": middle, "high": high / (high + low), "low": low / (high + low)}
        known["rotation"] = sets.rotation if sample.labelled else None
    return record_of(kind, sample, o, exact=t.coarse is None, **known)


def _hints(d: Drift) -> Iterator[str]:
    """What a reader should be told in words."""
    samples = [d.reference, *(w.sample for w in d.windows)]
    if any(s.tally.coarse is not None for s in samples):
        yield "Scores were coarsened into cells; values are those of scores in the middle of their cell."
    if any(len(d.reference.tally.score) + len(s.tally.score) > MANY for s in samples[1:]):
        yield (
            f"There are more than {MANY:,} distinct scores; neighbours were tied on cells of at most "
            f"2 millionths of a sample."
        )
    few = [f"'{s.name}'" for s in samples if 0 < s.rows < FEW]
    if few:
        yield f"Fewer than {FEW} rows: {named(few)}; only large changes can be seen there."


def _facts(doc: DriftDocument) -> list[tuple[str, str]]:
    samples = [doc.reference, *doc.windows]
    facts = []
    if sources := list(dict.fromkeys([*doc.reference.sources, *doc.windows[0].sources])):
        facts.append(("Data", ", ".join(f"'{s}'" for s in sources)))
    if doc.time:
        cut = doc.time.every
        how = f"by {cut}" if cut else "into windows of about equal numbers of rows"
        facts.append(("Time", f"'{doc.time.column}', {how}; reference: {doc.reference.name}"))
    positive = next((f"; positive is '{s.positive}'" for s in samples if s.labelled), "")
    facts.append(("Scores", f"{doc.kind}{positive}"))
    if dropped := sum(s.dropped for s in samples):
        facts.append(("Dropped", f"{counted(dropped, 'row')} with missing values"))
    return facts


def _samples(*samples: SampleRecord) -> Section:
    columns = [Column("", "text"), *(Column(s.name.capitalize()) for s in samples)]
    rows = [
        ("Rows", *(count(s.rows) for s in samples)),
        ("Share of positives", *(s.prevalence for s in samples)),
        ("Midpoint of the scores", *(s.midpoint for s in samples)),
        ("Balance by label", *(_balance(s.prevalence) for s in samples)),
        ("Balance by score", *(_balance(s.high) for s in samples)),
        (
            "Rotation (degrees)",
            *(None if s.rotation is None else f"{s.rotation:.2f}" for s in samples),
        ),
        ("AUROC", *(s.auroc for s in samples)),
    ]
    return Section("Samples", table=Table(columns, rows))


def _balance(share: float | None) -> str | None:
    """Positives to negatives, or high to low scores, in a hundred."""
    return None if share is None else f"{100 * share:.1f} : {100 * (1 - share):.1f}"


def _changes(doc: DriftDocument) -> Section:
    known = [c for c in doc.windows[0].changes if not c.why]
    level = percent(doc.settings.level)
    rows: list[tuple[object, ...]] = []
    for c in known:
        least = is_least(c.p, doc.settings.replicates)
        both = (p_value(p, least=least) for p in (c.p, c.p_adjusted))
        rows.append((c.title, c, c, c.by_chance, *both))
    meaning = (
        f"Chance: what {level} of {count(doc.settings.replicates)} random splits of the same rows stay "
        f"within. Holm: p adjusted for {len(known)} tests."
    )
    columns = [Column("Change", "text"), Column("Value", "value"), Column(level, "interval")]
    columns += [Column("Chance"), Column("p", "p"), Column("Holm", "p")]
    return Section("Changes", table=Table(columns, rows), lines=[meaning])


def _overview(doc: DriftDocument) -> Section:
    """One line for each window, the reference first."""
    numbers = map(Column, ("Positive", "Midpoint", "AUROC", "KS"))
    columns = [Column("Window", "text"), Column("Rows", "count"), *numbers, Column("Drift", "text")]
    rows = [(*_line(doc.reference), "", "reference")]
    for w in doc.windows:
        ks: list[Any] = [c.value for c in w.changes if c.name == "ks"]
        rows.append((*_line(w), *(ks or [""]), w.drift))
    meaning = (
        "Positive: share of positives. KS: distance of the scores from the reference. p-values are "
        "adjusted for all tests in all windows (Holm)."
    )
    return Section("Windows", table=Table(columns, rows), lines=[meaning])


def _line(s: SampleRecord) -> tuple[Any, ...]:
    return s.name, s.rows, s.prevalence, s.midpoint, s.auroc


def _groups(doc: DriftDocument, g: GroupsRecord) -> Iterator[Section]:
    """The changes in each group, and the evidence where one is seen."""
    kinds = {w.name: w.drift for w in doc.group_windows}
    made = group_section(g, doc.settings.level, WORDS, "Change by group", {"Drift": kinds})
    yield made
    yield from _seen(doc.group_windows, "What was seen in groups")


def _seen(windows: Sequence[WindowRecord], title: str = "What was seen") -> list[Section]:
    """The evidence window by window, and once what each kind of drift means."""
    moved = [w for w in windows if w.evidence]
    facts = [(w.name, f"{w.drift}: {w.evidence}") for w in moved]
    lines = by_reason((w.verdict.partition(" Strongest evidence:")[0], w.name) for w in moved)
    return [Section(title, facts=facts, lines=lines)] if facts else []

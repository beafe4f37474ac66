"""What `drift` writes and shows: the samples, the changes between them, and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from scorewise.columns import Kind as ScoreKind
from scorewise.curves.smroc import four_sets
from scorewise.drifting.changes import Kind, Window
from scorewise.drifting.measures import STATISTICS
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import MAX_SCORES, Held
from scorewise.inference.ranking import auroc_value
from scorewise.show.data import WeightedRows
from scorewise.show.document import JudgedDocument
from scorewise.show.page import Heads, Section, Table, columns, section, undefined
from scorewise.show.records import (
    AnyRecord,
    Count,
    Level,
    Measured,
    Number,
    PValue,
    Record,
    Share,
    Titled,
    Weight,
    Word,
    field,
    record_of,
)
from scorewise.show.verdict import Claim, claim, recalibrate_or_evaluate
from scorewise.show.words import by_reason, count, is_smallest_p, listed, p_value, percent, plural
from scorewise.statistics.smroc import midpoint, why_not_unit
from scorewise.subgroups import GroupsRecord, GroupWording, group_section
from scorewise.subgroups.comparison import GroupComparison

if TYPE_CHECKING:
    from scorewise.drifting.result import Drift

FEW_ROWS = 50  # below which only large changes can be detected
WORDING = GroupWording(
    better={s.name: 0.0 for s in STATISTICS if s.signed},
    sentences={},  # the verdict says which groups have changed
    titles={
        "prevalence": "Positives",
        "midpoint": "Midpoint",
        "auroc": "AUROC",
        "calibration": "Calibration",
    },
    where=" in one of the samples",
)


class SettingsRecord(Record):
    """The settings that the numbers depend on."""

    level: Level = field("Confidence level of the intervals; drift is seen below 1 - level.")
    seed: Count
    replicates: Count = field("Number of random splits of the rows (permutations).")
    midpoint: Literal["mean", "balanced", "median", "fixed"] = field("How midpoints are found.")


class TimeRecord(Record):
    """How time was cut into windows."""

    column: str = field("Column of the times.")
    every: str | None = field("Calendar period of a window; null: equal numbers of rows.")
    reference_until: str | None = field("End of the reference; null: its first window.")


class SampleRecord(WeightedRows):
    """A sample, without what it is compared with."""

    name: Word
    labelled: bool = field("Whether its labels are known.")
    positives: Count | None
    positive: str | None = field("The positive class; null without labels.")
    exact: bool
    prevalence: Share | None = field("Share of positives, by weight.")
    midpoint: Share | None = field("Where a score turns from low to high.")
    auroc: Share | None
    high: Share | None = field("Share of scores at or above the midpoint.")
    low: Share | None = field("Share of scores below the midpoint.")
    rotation: Number


class _Named(Titled):
    meaning: str


class ChangeRecord(Measured, _Named):
    """One measure of drift. The value is null exactly when `why` gives the reason."""

    value: Number = field("Current minus reference, or the distance; null if undefined.")
    held: Held = field("What is held fixed when rows are permuted.")
    by_chance: Weight | None = field(
        "Quantile, at `level`, of the size in random splits of the rows."
    )
    p: PValue
    p_adjusted: PValue


class WindowRecord(SampleRecord):
    """One sample compared with the reference."""

    drift: Kind = field("The kind of drift seen.")
    verdict: Word
    evidence: str = field("The strongest evidence; empty where no drift was seen.")
    changes: list[ChangeRecord] = field("The measures of drift.", min_length=1)


class DriftDocument(JudgedDocument, command="drift"):
    """The reference, and what is compared with it."""

    settings: SettingsRecord
    time: TimeRecord | None = field("The cut by time; null where two samples were given.")
    kind: ScoreKind
    drift: bool = field("Whether drift was seen in any window.")
    reference: SampleRecord = field("The sample that the others are compared with.")
    windows: list[WindowRecord] = field(
        "The current sample, or the windows of time after the reference.", min_length=1
    )
    groups: list[GroupsRecord]
    group_windows: list[WindowRecord] = field(
        "The current rows of each group, compared with its reference."
    )

    def sections(self) -> list[Section]:
        """The verdict, the samples, and each change against chance."""
        sections = [Section(facts=_facts(self))]
        if len(self.windows) == 1:
            sections += [*_samples(self.reference, self.windows[0]), _changes(self)]
        else:
            sections += [*_overview(self), *_seen(self.windows)]
        kinds = {"Drift": {w.name: w.drift for w in self.group_windows}}
        for g in self.groups:
            sections.append(
                group_section(g, self.settings.level, WORDING, "Change by group", kinds)
            )
            sections += _seen(self.group_windows, "What was seen in groups")
        changes = (c for window in self.windows for c in window.changes)
        return [*sections, *undefined(((c.why, c.title) for c in changes), "Not defined")]


def drift_document(d: Drift) -> DriftDocument:
    """The document of the reference and all windows."""
    rule, cut = d.settings.midpoint, d.time
    until = None if cut is None or cut.reference_until is None else str(cut.reference_until)
    by_group = [d.groups] if isinstance(d.groups, GroupComparison) else []
    return record_of(
        DriftDocument,
        d,
        settings=record_of(
            SettingsRecord, d.settings, midpoint=rule if isinstance(rule, str) else "fixed"
        ),
        time=cut and record_of(TimeRecord, cut, column=cut.time, reference_until=until),
        kind=d.reference.tally.kind,
        verdict=[*d.claims, *(c for g in by_group for c in g.claims()), *_next_step(d)],
        drift=d.seen,
        reference=_sample(SampleRecord, d.reference, rule),
        windows=[_window(w, rule) for w in d.windows],
        groups=[g.record for g in by_group],
        group_windows=[_window(w, rule) for w in d.groups.values()],
        hints=list(_hints(d)),
    )


def _next_step(d: Drift) -> Iterator[Claim]:
    """The command, or the step, that comes next."""
    w = d.windows[-1]
    if len(d.windows) > 1 or w.kind == "untested":
        return
    if w.sample.labelled:
        mend = w.kind in ("prior", "concept")
        yield recalibrate_or_evaluate(w.sample.tally.origin, mend, " of the current rows")
    else:
        text = "Next: label some of the current rows, and compare again"
        yield claim("next", "label", text)


def _window(w: Window, rule: str | float) -> WindowRecord:
    changes = [record_of(ChangeRecord, c, c.statistic, c.estimate) for c in w.values()]
    drift = {"drift": w.kind, "verdict": w.verdict, "evidence": w.evidence, "changes": changes}
    return _sample(WindowRecord, w.sample, rule, **drift)


def _sample(kind: type[AnyRecord], sample: Sample, rule: str | float, **further: Any) -> AnyRecord:
    """The record of a sample; what needs labels, or a place on [0, 1], is null without."""
    t, o, labelled = sample.tally, sample.tally.origin, sample.labelled
    ranked = labelled and not t.why_not_ranked
    middle = high = angle = None
    if len(t.score) and not why_not_unit(t) and (ranked or rule not in ("balanced", "median")):
        middle = midpoint(t, rule).value  # type: ignore[arg-type]
        sets = four_sets(t, middle)
        high, angle = sets.by_score, sets.rotation
    return record_of(
        kind,
        sample,
        o,
        exact=t.coarse is None,
        positives=o.positives if labelled else None,
        positive=o.positive if labelled else None,
        prevalence=t.positives / (t.positives + t.negatives) if labelled and len(t.score) else None,
        auroc=auroc_value(t) if ranked else None,
        midpoint=middle,
        high=high and high[0] / sum(high),
        low=high and high[1] / sum(high),
        rotation=angle if labelled else None,
        **further,
    )


def _hints(d: Drift) -> Iterator[str]:
    """Remarks on coarse scores and small samples."""
    samples = [d.reference, *(w.sample for w in d.windows)]
    if any(s.tally.coarse is not None for s in samples):
        yield "Scores were coarsened into cells; each counts as the middle of its cell."
    if any(len(d.reference.tally.score) + len(s.tally.score) > MAX_SCORES for s in samples[1:]):
        yield (
            f"There are more than {MAX_SCORES:,} distinct scores; neighbours count as tied, in cells of "
            f"at most 2 millionths of a sample."
        )
    few = [f"'{s.name}'" for s in samples if 0 < s.rows < FEW_ROWS]
    if few:
        yield f"Fewer than {FEW_ROWS} rows in {listed(few)}: only large changes can be detected."


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
        facts.append(("Dropped", f"{plural(dropped, 'row')} with missing values"))
    return facts


def _samples(*samples: SampleRecord) -> list[Section]:
    turned = (None if s.rotation is None else f"{s.rotation:.2f}" for s in samples)
    rows = [
        ("Rows", *(count(s.rows) for s in samples)),
        ("Share of positives", *(s.prevalence for s in samples)),
        ("Midpoint of the scores", *(s.midpoint for s in samples)),
        ("Balance by label", *(_balance(s.prevalence) for s in samples)),
        ("Balance by score", *(_balance(s.high) for s in samples)),
        ("Rotation (degrees)", *turned),
        ("AUROC", *(s.auroc for s in samples)),
    ]
    return section("Samples", [("", "text"), *(s.name.capitalize() for s in samples)], rows)


def _balance(share: float | None) -> str | None:
    """Positives to negatives, or high to low scores, in percent."""
    return None if share is None else f"{100 * share:.1f} : {100 * (1 - share):.1f}"


def _changes(doc: DriftDocument) -> Section:
    defined = [c for c in doc.windows[0].changes if not c.why]
    level = percent(doc.settings.level)
    rows: list[tuple[object, ...]] = []
    for c in defined:
        least = is_smallest_p(c.p, doc.settings.replicates)
        both = (p_value(p, least=least) for p in (c.p, c.p_adjusted))
        rows.append((c.title, c, c, c.by_chance, *both))
    meaning = (
        f"Chance: what {level} of {count(doc.settings.replicates)} random splits of the same rows stay "
        f"within. Holm: p adjusted for {len(defined)} tests."
    )
    heads: Heads = [
        ("Change", "text"), ("Value", "value"), (level, "interval"), "Chance", ("p", "p"), ("Holm", "p"),
    ]  # fmt: skip
    return Section("Changes", table=Table(columns(heads), rows), lines=[meaning])


def _overview(doc: DriftDocument) -> list[Section]:
    """One line for each window, the reference first."""
    ks: list[Any] = [next((c.value for c in w.changes if c.name == "ks"), "") for w in doc.windows]
    last = [("", "reference"), *zip(ks, (w.drift for w in doc.windows), strict=True)]
    rows = [
        (s.name, s.rows, s.prevalence, s.midpoint, s.auroc, *found)
        for s, found in zip((doc.reference, *doc.windows), last, strict=True)
    ]
    meaning = (
        "Positive: share of positives. KS: distance from the scores of the reference. p-values are "
        "adjusted for all tests in all windows (Holm)."
    )
    numbers = ("Positive", "Midpoint", "AUROC", "KS")
    heads: Heads = [("Window", "text"), ("Rows", "count"), *numbers, ("Drift", "text")]
    return section("Windows", heads, rows, [meaning])


def _seen(windows: Sequence[WindowRecord], title: str = "What was seen") -> list[Section]:
    """The evidence in each window, and once what each kind of drift means."""
    drifted = [w for w in windows if w.evidence]
    facts = [(w.name, f"{w.drift}: {w.evidence}") for w in drifted]
    lines = by_reason((w.verdict.partition(" Strongest evidence:")[0], w.name) for w in drifted)
    return [Section(title, facts=facts, lines=lines)] if facts else []

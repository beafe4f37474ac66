"""Drift between two samples, by group or over time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise import subgroups
from scorewise.checks import at_least, check, one_of, refuse_given
from scorewise.columns import Kind as KindOfScore
from scorewise.columns import Missing, Rows
from scorewise.columns.grouping import Every, Grouping, grouping
from scorewise.columns.sources import is_source
from scorewise.drifting.changes import Change, Settings, Window, changes
from scorewise.drifting.document import WORDING, DriftDocument, drift_document
from scorewise.drifting.measures import STATISTICS
from scorewise.drifting.samples import Cut, Reading, Sample, check_alike, read, read_windows
from scorewise.errors import BadInput, Option, Setting, plain
from scorewise.estimate import Estimate
from scorewise.inference.differences import holm
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import Claim, claim, figure
from scorewise.show.words import listed, plural, quoted
from scorewise.statistics.smroc import midpoint as midpoint_of
from scorewise.subgroups.comparison import OfGroups, OfRest
from scorewise.tallies import Tally

Labels: TypeAlias = Literal["both", "reference", "none"]
REPLICATES = 999
MAX_GROUPS = 200  # in which changes are tested


def windows_of(
    samples: Sequence[tuple[str, Sample, Sample]],
    s: Settings,
    judged: Sequence[bool],
    few: str = "",
) -> list[Window]:
    """Changes and verdict of each window, given its name, the reference and its sample.

    P-values are adjusted for all tests in windows that are `judged` (Holm); `few` says why others are not.
    """
    each, all_tests = [], len(STATISTICS) * sum(judged)
    for (_, a, b), ok in zip(samples, judged, strict=True):
        check_alike(a, b)
        pilot = ok and 0 < s.pilot < s.replicates
        found = changes(a, b, replace(s, replicates=s.pilot) if pilot else s, tested=ok)
        smallest = min((c.p for c in found.values() if not math.isnan(c.p)), default=1.0)
        # no more replicates where the pilot shows that none of them will be significant
        if pilot and smallest <= max(4 / (s.pilot + 1), 2 * (1 - s.level) / all_tests):
            found = changes(a, b, s)
        each.append(found)
    adjusted = iter(holm([c.p for window in each for c in window.values()]))
    tests = sum(not math.isnan(c.p) for window in each for c in window.values())
    untested = ""
    if tests / (s.replicates + 1) >= 1 - s.level:
        enough = math.ceil(2 * tests / (1 - s.level))
        untested = (
            f"with {tests} tests and {s.replicates:,} replicates no p-value can be significant after "
            f"Holm's adjustment; {enough:,} replicates or more are needed"
        )
    windows = []
    for (name, a, b), window, ok in zip(samples, each, judged, strict=True):
        tested = {n: replace(c, p_adjusted=next(adjusted)) for n, c in window.items()}
        why = untested if ok else few
        windows.append(Window(replace(b, name=name), tested, a.labelled and b.labelled, why))
    return windows


class Drift(Result):
    """What has changed since the reference: `d["ks"]`, `d.verdict`, `d.kind`; prints as a table.

    There is one window, the current sample, or with `time=` several, in `d.windows`. `d.groups["north"]` is
    what has changed in a group, where columns of groups were named (`by`).
    """

    def __init__(
        self,
        reference: Sample,
        later: Sequence[Sample],
        settings: Settings,
        time: Cut | None = None,
    ) -> None:
        self.reference, self.settings, self.time = reference, settings, time
        self.notes = tuple(dict.fromkeys(n for sample in (reference, *later) for n in sample.notes))
        self.groups: Mapping[str, Window] = {}
        samples = [(b.name, reference, b) for b in later]
        self.windows = tuple(windows_of(samples, settings, [True] * len(samples)))

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
        return any(w.evidence for w in self.windows)

    @property
    def verdict(self) -> str:
        """The verdict in sentences: of the current sample, or on all windows."""
        return " ".join(c.sentence for c in self.claims)

    @property
    def claims(self) -> list[Claim]:
        """The same, sentence by sentence, each with what it rests on."""
        n, drifted = len(self.windows), [w for w in self.windows if w.evidence]
        if n == 1 or all(w.kind == "untested" for w in self.windows):
            return self.windows[0].claims
        if not drifted:
            text = f"No sign of drift in {n} windows; that does not prove that there is none."
            return [claim("change", "none seen", text)]
        first = f"{drifted[0].name} ({drifted[0].kind})"
        text = f"Drift is seen in {len(drifted)} of {n} windows, first in {first}."
        return [claim("change", drifted[0].kind, text)]

    def pictures(self) -> Pictures:
        """The samples: scores, curves and, of windows of time, areas and means; changes by group."""
        from scorewise.displays import DriftDisplay, ForestDisplay

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


class Groups(subgroups.Groups[Window], subgroups.GroupComparison[dict[str, Estimate]]):
    """What has changed in each group since its part of the reference, by its name.

    `groups["north"]["ks"]` is a change, `groups["north"].kind` the kind of drift; p-values are adjusted for
    all tests in all groups (Holm).
    """

    wording = WORDING

    def __init__(
        self, samples: tuple[Sample, Sample], min_rows: int, settings: Callable[[int], Settings]
    ) -> None:
        self._samples = samples
        super().__init__(_grouping(samples[0].grouped, samples[1].grouped, min_rows))
        groups = int(self.grouping.judged.sum())
        if not groups:
            by = " and ".join(quoted(name) for name in self.by)
            raise BadInput(
                f"no group by {by} has {plural(min_rows, 'row')} in both samples; choose columns with "
                f"fewer values, or ask for fewer rows"
            )
        self.settings = settings(max(groups, 2))  # a pilot, and fewer cells, as windows have
        self.level, self.mass = self.settings.level, np.ones(len(self.grouping.codes))

    def _pair(self, k: int, inside: bool = True) -> tuple[Sample, Sample]:
        """Reference and current rows of a group, or of all others."""
        a, b = self._samples
        cut = len(a.grouped or ())
        which = (self.grouping.codes == k) == inside
        return a.at(which[:cut]), b.at(which[cut:])

    def _make(self, name: str) -> Window:
        few = f"fewer than {plural(self.min_rows, 'row')}{WORDING.where}"
        samples = [(name, *self._pair(k)) for k, name in enumerate(self)]
        judged = self.grouping.judged.tolist()
        made = {w.name: w for w in windows_of(samples, self.settings, judged, few)}
        self._made |= made
        return made[name]

    def _estimates(self, samples: tuple[Sample, Sample], **options: Any) -> dict[str, Estimate]:
        """The changes with a direction, without tests."""
        settings = replace(self.settings, level=options.pop("level", self.level))
        each = changes(*samples, settings, tested=False, **options)
        return {name: c.estimate for name, c in each.items()}

    @cached_property
    def overall(self) -> dict[str, Estimate]:  # type: ignore[override]
        """The changes with a direction in all rows."""
        return self._estimates(self._samples)

    @property
    def positives(self) -> list[int] | None:  # type: ignore[override]
        """The current positives of each group, where both samples have labels."""
        labelled = all(sample.labelled for sample in self._samples)
        return [w.sample.tally.origin.positives for w in self.values()] if labelled else None

    def estimates(self, k: int, inside: bool, level: float) -> dict[str, Estimate]:
        """The changes with a direction in a group, or in all other rows."""
        return self._estimates(self._pair(k, inside), level=level)

    def _compared(self) -> tuple[OfGroups, OfRest, OfRest | None]:
        groups = {n: [w[n].estimate for w in self.values()] for n in self.overall}
        # the influence of single rows is not known, but values without intervals are cheap
        rest = [self._estimates(self._pair(k, False), intervals=False) for k in range(len(self))]
        return self._against_rest(groups, {n: np.array([e[n].value for e in rest]) for n in groups})

    def claims(self, models: int = 1) -> Iterator[Claim]:
        """In which groups drift is seen."""
        by = " and ".join(map(quoted, self.by))
        judged = [w for w, ok in zip(self.values(), self.grouping.judged, strict=True) if ok]
        seen = [w for w in judged if w.evidence]
        many = plural(len(judged), "group")
        if all(w.kind == "untested" for w in judged):
            yield claim("groups", "untested", f"Nothing could be tested in any group by {by}.")
        elif not seen:
            text = (
                f"No sign of drift in any of {many} by {by} (Holm over all of them); that does not prove "
                f"that there is none."
            )
            yield claim("groups", "none seen", text)
        else:
            seen.sort(key=lambda w: min(c.clearness for c in w.seen))
            kinds = listed([f"{quoted(w.name)} ({w.kind})" for w in seen])
            most = f"; most clearly in {quoted(seen[0].name)}" if len(seen) > 1 else ""
            text = (
                f"Drift is seen in {len(seen)} of {many} by {by}, {kinds}{most}: {seen[0].evidence}"
            )
            figures = [
                figure(c.statistic.name, c.estimate, w.name) for w in seen[:3] for c in w.seen
            ]
            yield claim("groups", "drift", text, figures)


def _grouping(reference: Rows | None, current: Rows | None, min_rows: int) -> Grouping:
    """The groups of both samples together, the rows of the reference first; sizes are the current ones."""
    assert reference is not None
    assert current is not None
    columns = {}
    for name, (codes, words) in reference.groups.items():
        other_codes, other_words = current.groups[name]
        union, place = np.unique([*words, *other_words], return_inverse=True)
        first, second = np.split(place, [len(words)])
        columns[name] = np.concatenate([first[codes], second[other_codes]]), union.tolist()
    mass = np.concatenate([reference.mass(), current.mass()])
    now = np.repeat([0, 1], [len(reference), len(current)])
    g = grouping(columns, min_rows, mass=mass, times=now, most=MAX_GROUPS)
    codes = g.codes[: len(reference)]
    before = np.bincount(codes[codes >= 0], minlength=len(g))
    return replace(g, smallest=np.minimum(before, g.sizes))


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
    check(min_rows=min_rows, level=level, seed=seed)
    one_of("labels", labels, get_args(Labels))
    settings = partial(_settings, level, seed, replicates, _midpoint(midpoint))
    how = Reading(label, score, weight, positive, kind, missing, encoding, by)
    cut = None if time is None else Cut(time, windows, every, reference_until)
    if cut is None:
        refuse_given(
            " cuts time into windows; pass ", Option("time"), " with its column too",
            windows=windows, every=every, reference_until=reference_until,
        )  # fmt: skip
        if current is None:
            raise BadInput(
                "the current sample is missing; pass reference and current, or ", Option("time"),
                " to cut one source into windows by that column",
            )  # fmt: skip
        a = read("reference", reference, how, labels != "none")
        later = [read("current", current, how, labels == "both")]
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
        a, *later = read_windows(reference, cut, how, labels == "both")
    result = Drift(a, later, settings(len(later)), cut)
    if by is not None:
        result.groups = Groups((a, later[0]), min_rows, settings)
    for note in result.notes:
        warnings.warn(plain(note), stacklevel=2)
    return result


def _settings(
    level: float, seed: int, replicates: int | None, rule: str | float, windows: int
) -> Settings:
    pilot, tests = 0, windows * len(STATISTICS)
    if replicates is None:
        pilot = 0 if windows == 1 else REPLICATES
        # enough for the smallest p-value to stay small when adjusted for all tests
        enough = math.ceil(1.5 * tests / (1 - level))
        replicates = max(REPLICATES, 2 * enough if windows == 1 else enough)
    at_least(1, REPLICATES, replicates=replicates)
    cells = 1024 if windows == 1 else 256 if windows <= 12 else 96
    return Settings(level, seed, replicates, rule, cells, tests, pilot)


def _midpoint(rule: Any) -> str | float:
    if not isinstance(rule, str):
        return midpoint_of(Tally.empty(), rule).value
    if rule not in ("mean", "balanced", "median"):
        raise BadInput(
            Setting("midpoint"),
            f" must be mean, balanced, median or a number from 0 to 1; got {rule}",
        )
    return rule

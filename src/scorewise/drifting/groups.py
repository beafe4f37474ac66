"""Drift by group: which groups have changed, and how much more than the rest of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.columns import Rows
from scorewise.columns.grouping import Grouping, grouping
from scorewise.drifting.changes import Change, Settings, piloted, signed_changes
from scorewise.drifting.measures import STATISTICS
from scorewise.drifting.samples import Sample
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.show import groups as shared
from scorewise.show.groups import LARGE, GroupsRecord, GroupWords, ends, groups_record
from scorewise.show.verdict import Claim, claim, figure
from scorewise.show.words import counted, named, quoted
from scorewise.tallies import Tally

if TYPE_CHECKING:
    from scorewise.drifting.result import Window

MOST = 200  # groups in which changes are tested
SIGNED = [s for s in STATISTICS if s.signed]
WORDS = GroupWords(
    better={s.name: 0.0 for s in SIGNED},
    sentences={},  # the verdict says which groups have changed
    titles={
        "prevalence": "Positives", "midpoint": "Midpoint", "auroc": "AUROC",
        "calibration": "Calibration",
    },
    where=" in one of the samples",
)  # fmt: skip


def grouped(reference: Sample, current: Sample, least: int) -> Grouping:
    """The groups of both samples together, the rows of the reference first; sizes are the current ones."""
    a, b = reference.of, current.of
    assert a is not None
    assert b is not None
    columns = {}
    for name, (codes, words) in a.groups.items():
        further, also = b.groups[name]
        all_of = sorted({*words, *also})
        place = {word: k for k, word in enumerate(all_of)}
        both = [
            np.array([place[w] for w in known], np.int64)[at] if len(at) else at
            for at, known in ((codes, words), (further, also))
        ]
        columns[name] = np.concatenate(both), all_of
    mass = np.concatenate([a.mass(), b.mass()])
    g = grouping(columns, least, mass=mass, most=MOST)
    sides = (g.codes[: len(a)], g.codes[len(a) :])
    before, now = (np.bincount(c[c >= 0], minlength=len(g)) for c in sides)
    return replace(g, sizes=now, smallest=np.minimum(before, now))


class Groups(shared.Groups["Window"]):
    """What has changed in each group since its part of the reference, by its name.

    `groups["north"]["ks"]` is a change, `groups["north"].kind` the kind of drift; p-values are adjusted for
    all tests in all groups (Holm).
    """

    def __init__(self, reference: Sample, current: Sample, g: Grouping, settings: Settings) -> None:
        super().__init__(g)
        if not g.judged.any():
            by = " and ".join(quoted(name) for name in g.by)
            raise BadInput(
                f"no group by {by} has {counted(g.min_rows, 'row')} in both samples; name columns of fewer "
                f"values, or ask for fewer rows"
            )
        self._samples, self.settings = (reference, current), settings

    def _part(self, k: int, inside: bool = True) -> tuple[Sample, Sample]:
        """Reference and current rows of a group, or of all others."""
        reference, current = self._samples
        assert reference.of is not None
        assert current.of is not None
        which = (self.grouping.codes == k) == inside
        cut = len(reference.of)
        return _some(reference, reference.of, which[:cut]), _some(current, current.of, which[cut:])

    @cached_property
    def _windows(self) -> dict[str, Window]:
        from scorewise.drifting.result import Window, adjusted, blind

        judged = self.grouping.judged.tolist()
        tests = len(STATISTICS) * sum(judged)
        parts = {name: self._part(k) for k, name in enumerate(self)}
        kept = [name for name, ok in zip(parts, judged, strict=True) if ok]
        raw = [piloted(*parts[name], self.settings, tests) for name in kept]
        found: dict[str, Mapping[str, Change]] = dict(zip(kept, adjusted(raw), strict=True))
        unable = blind(raw, self.settings)
        few = f"fewer than {counted(self.min_rows, 'row')}{WORDS.where}"
        made = {}
        for name, (a, b) in parts.items():
            window = replace(b, name=name)
            if name in found:
                made[name] = Window(window, found[name], a.labelled and b.labelled, unable)
            else:
                signed = signed_changes(a, b, self.settings)
                alone = {n: Change(_STATISTIC[n], e) for n, e in signed.items()}
                made[name] = Window(window, alone, a.labelled and b.labelled, few)
        return made

    def _make(self, name: str) -> Window:
        return self._windows[name]

    @cached_property
    def record(self) -> GroupsRecord:
        """The changes with a direction in each group and in the rest, with tests of their difference."""
        g = self.grouping
        rest = self._rest()
        own = {n: [self[group][n].estimate for group in self] for n in rest}
        labelled = all(sample.labelled for sample in self._samples)
        positives = [w.sample.tally.origin.positives for w in self.values()] if labelled else None
        return groups_record(g, own, rest, self.settings.level, WORDS, positives=positives)

    def _rest(self) -> dict[str, Floats]:
        """The changes in all rows but those of each group: value, low and high.

        Without a group of less than a twentieth of the rows, the interval is that of all rows, as much
        wider as rows are fewer.
        """
        whole = signed_changes(*self._samples, self.settings)
        codes = self.grouping.codes
        part = np.bincount(codes[codes >= 0], minlength=len(self)) / len(codes)
        found = []
        for k, of in enumerate(part.tolist()):
            others = self._part(k, inside=False)
            made = signed_changes(*others, self.settings, intervals=of >= LARGE)
            if of < LARGE:
                wider = 1 / math.sqrt(1 - of)
                made = {n: _moved(e, whole[n], wider) for n, e in made.items()}
            found.append(made)
        return {n: ends([made[n] for made in found]) for n in whole}

    def claims(self) -> Iterator[Claim]:
        """In which groups drift is seen."""
        from scorewise.drifting.result import NOT_SEEN

        by = " and ".join(quoted(name) for name in self.by)
        judged = [w for w, ok in zip(self.values(), self.grouping.judged, strict=True) if ok]
        seen = [w for w in judged if w.kind not in NOT_SEEN]
        tested = [w for w in judged if w.kind != "untested"]
        many = counted(len(judged), "group")
        if not tested:
            text = f"In no group by {by} could anything be tested."
            yield claim("groups", "untested", text)
        elif not seen:
            text = (
                f"No sign of drift in any of {many} by {by} (Holm over all of them); that does not prove "
                f"that there is none."
            )
            yield claim("groups", "none seen", text)
        else:
            seen.sort(key=_clearest)
            words = [f"{quoted(w.name)} ({w.kind})" for w in seen]
            lead = seen[0]
            most = f"; most clearly in {quoted(lead.name)}" if len(seen) > 1 else ""
            text = f"Drift is seen in {len(seen)} of {many} by {by}, {named(words)}{most}: {lead.evidence}"
            figures = [figure(c.statistic.name, c.estimate, w.name) for w in seen[:3]
                       for c in w.values() if c.seen]  # fmt: skip
            yield claim("groups", "drift", text, figures)


def _moved(e: Estimate, whole: Estimate, wider: float) -> Estimate:
    """The estimate with the limits of another, as far from its value and wider."""
    if not e.defined or not whole.defined:
        return e
    low, high = (e.value + wider * (x - whole.value) for x in (whole.low, whole.high))
    return replace(e, low=low, high=high)


_STATISTIC = {s.name: s for s in STATISTICS}


def _clearest(w: Window) -> tuple[float, float]:
    """The smallest adjusted p-value; of equal ones, the change that is largest beside chance."""
    sizes = [abs(c.value) / c.by_chance for c in w.values() if c.seen and c.by_chance]
    return min(c.p_adjusted for c in w.values() if not math.isnan(c.p_adjusted)), -max(
        sizes, default=0.0
    )


def _some(sample: Sample, rows: Rows, which: Bools) -> Sample:
    part = replace(rows.at(which), dropped=0, groups={})
    score = next(iter(rows.scores))
    return Sample(sample.name, Tally.of_rows(part, score, rows.sources), sample.labelled)

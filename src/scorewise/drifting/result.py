"""Drift as users get it: for each window its changes and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scorewise.drifting.change import Change
from scorewise.drifting.judging import Settings, piloted
from scorewise.drifting.sample import Sample, check_alike
from scorewise.drifting.statistics import STATISTICS
from scorewise.drifting.verdict import judge
from scorewise.drifting.windows import Cut
from scorewise.errors import BadInput, plain
from scorewise.inference.paired import holm
from scorewise.views.shown import Shown
from scorewise.views.words import Document


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
    def kind(self) -> str:
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

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema drift` prints its schema."""
        from scorewise.drifting.document import document

        return document(self)

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

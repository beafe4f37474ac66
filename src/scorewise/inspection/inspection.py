"""Rows of one model or several that deserve a second look: `inspect` and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, refuse_names
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.reader import warn
from scorewise.columns.sources import is_source
from scorewise.computing import on_threads
from scorewise.errors import BadInput, no_scores
from scorewise.inspection.document import InspectDocument, Settings
from scorewise.inspection.opinions import Agreement, Opinions
from scorewise.inspection.suspects import (
    EVEN,
    Gap,
    Set,
    Suspect,
    gaps,
    most_suspicious,
    named_rows,
    set_name,
    suspects,
    suspicion,
    suspicion_of_cells,
)
from scorewise.show.result import Backend, Pictures, Result, framed
from scorewise.statistics.smroc import TOLERANCE, Midpoint, Rule, midpoint, why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.confusion import threshold_on_scale
from scorewise.tallies.losses import unit


@dataclass(frozen=True)
class Inspected:
    """Suspicious rows, hard successes and gaps of one model; `why` says why no rows could be ranked.

    `suspicion` has a value for each row of the input, NaN where a row was left out. `suspicious` are
    the rows whose label is most likely wrong, `successes` the right scores that were hardest to get
    right; neither has rows beyond all doubt. `sets` has the number of rows that score high or low, by
    class; `why_no_midpoint` says why scores are neither.
    """

    tally: Tally
    why: str
    midpoint: Midpoint | None
    why_no_midpoint: str
    suspicious: list[Suspect]
    successes: list[Suspect]
    sets: dict[Set, int]
    gaps: list[Gap]
    rows: Rows = field(repr=False)

    @cached_property
    def suspicion(self) -> Floats:
        """The suspicion of each row of the input, NaN where it was left out."""
        rows = self.rows
        values = np.full(len(rows) + rows.dropped, np.nan)
        if not self.why:
            kept = slice(None) if rows.place.kept is None else rows.place.kept
            values[kept] = np.where(rows.mass() > 0, suspicion(rows, self.tally).value, np.nan)
        return values


class Inspection(Result):
    """The rows that deserve a second look; prints as tables.

    `models` has what was found by the name of the scores. Of a single one, `suspicious`, `successes`,
    `gaps` and `suspicion` are at hand; several are also compared, in `agreement`.
    """

    def __init__(
        self,
        rows: Rows,
        settings: Settings,
        *,
        rule: Rule | float | Tally = "mean",
        ids: Any = None,
        tallies: Sequence[Tally] = (),
        agree: bool = True,
    ) -> None:
        self.settings, self.notes = settings, rows.notes
        self.agreement: Agreement | None = None
        names = named_rows(ids, len(rows) + rows.dropped)
        tallies = tallies or [Tally.of_rows(rows, name, rows.sources) for name in rows.scores]
        models = on_threads(lambda t: _inspected(rows, t, settings, rule, names), tallies, enough=1)
        self.models = {model.tally.origin.score: model for model in models}
        if agree and len(tallies) > 1:  # models as raters: each decides positive at the threshold
            columns = [(rows.scores[t.origin.score], t) for t in tallies]
            cut = settings.threshold
            opinions = Opinions(
                [*rows.scores],
                np.stack([c >= threshold_on_scale(t, cut) for c, t in columns], axis=1),
                np.stack([unit(c, t.kind) for c, t in columns], axis=1),
                tallies,
                rows,
                names,
            )
            self.agreement = opinions.compared(
                tolerance=settings.tolerance, rule=rule, top=settings.top
            )

    @property
    def _only(self) -> Inspected:
        if len(self.models) > 1:
            named = ", ".join(f"'{name}'" for name in self.models)
            raise AttributeError(f"there are several models ({named}); use .models[name]")
        return next(iter(self.models.values()))

    @property
    def suspicious(self) -> list[Suspect]:
        """The rows whose label is most likely wrong, the most suspicious first."""
        return self._only.suspicious

    @property
    def successes(self) -> list[Suspect]:
        """The right scores that were hardest to get right."""
        return self._only.successes

    @property
    def gaps(self) -> list[Gap]:
        """Gaps between scores, as natural cut-offs."""
        return self._only.gaps

    @property
    def suspicion(self) -> Floats:
        """The suspicion of each row of the input, NaN where it was left out."""
        return self._only.suspicion

    def pictures(self) -> Pictures:
        """The scores of both classes with the suspicious rows and, of several models, how they agree."""
        from scorewise.displays import OpinionsDisplay, Overview, SuspectsDisplay

        made = {
            name: SuspectsDisplay(
                m.tally,
                [(s.score, s.label == str(m.tally.origin.positive)) for s in m.suspicious],
                name if len(self.models) > 1 else None,
            )
            for name, m in self.models.items()
        }
        shown: Any = (
            next(iter(made.values()))
            if len(made) == 1
            else Overview({name: one.plot for name, one in made.items()})
        )
        kinds = {"suspects": shown.plot}
        if self.agreement is not None:
            kinds["agreement"] = OpinionsDisplay(self.agreement).plot
        return Pictures(kinds, ("suspects",))

    def document(self) -> InspectDocument:
        """What is written and shown; `scorewise schema inspect` prints its schema."""
        return InspectDocument.of(self)

    def to_frame(self, part: str | None = None, *, backend: Backend = "polars") -> Any:
        """One line for each suspicious row and model.

        `part` names another list of the document, such as "gaps"; `backend` is "polars" or "pandas".
        """
        if part is not None:
            return super().to_frame(part, backend=backend)
        lines = [
            {
                "model": name,
                "rank": rank,
                **vars(row),
                "id": None if row.id is None else str(row.id),
            }
            for name, model in self.models.items()
            for rank, row in enumerate(model.suspicious, 1)
        ]
        return framed(lines, backend)


def inspect(
    y: Any,
    p: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    positive: Any = None,
    weight: Any = None,
    count: Any = None,
    ids: Any = None,
    top: int = 20,
    midpoint: Rule | float | Tally = "mean",
    tolerance: float = 0.1,
    threshold: float = 0.5,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Inspection:
    """Rows ranked by the suspicion that their label is wrong, hard successes, and gaps between scores.

    `p` are the scores, or several models' scores by name, which are then also compared: decisions at
    `threshold`, scores within `tolerance`. Scores should come from a model that did not see the rows
    (out of fold): one that did may have learned their wrong labels. `ids` names the rows. From the
    `midpoint` on a score is high; see `smroc`. See `Tally.of` for `positive`, `kind` and `missing`.

    Without `p`, the first argument is a file, a pattern of files, a frame or a mapping from name to column,
    of which `label`, `score`, `weight`, `count` and `ids` name columns.

    >>> i = inspect([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.97, 0.51, 0.2, 0.0])
    >>> i.suspicious[0].row, i.suspicious[0].reason
    (2, 'negative, but scored 0.97, above every positive')
    """
    check(midpoint=midpoint)
    words = "learned" if isinstance(midpoint, Tally) else midpoint
    settings = Settings(
        midpoint=words if isinstance(words, str) else str(float(words)),
        top=top, tolerance=tolerance, threshold=threshold, seed=seed,
    )  # fmt: skip
    how: dict[str, Any] = {
        "weight": weight, "count": count, "positive": positive, "kind": kind, "missing": missing,
    }  # fmt: skip
    if p is not None:
        refuse_names(label=label, score=score, encoding=encoding)
        scores = p if isinstance(p, Mapping) else {"score": p}
        rows = binary_rows(None, label=y, score=scores, **how)
        return Inspection(rows, settings, rule=midpoint, ids=ids)
    if not is_source(y):
        raise no_scores("inspect(y, p)", 'inspect("file.csv", label=..., score=...)')
    rows = binary_rows(y, label=label, score=score, id=ids, encoding=encoding, **how)
    if not len(rows) or (rows.count is not None and not rows.count.any()):
        where = f"{', '.join(rows.sources)}: " if rows.sources else ""
        raise BadInput(
            f"{where}no rows are left to inspect; {rows.dropped} were dropped as missing"
        )
    warn(rows.notes)
    return Inspection(rows, settings, rule=midpoint, ids=rows.ids)


def _inspected(
    rows: Rows, t: Tally, s: Settings, rule: Rule | float | Tally, ids: Any
) -> Inspected:
    """Inspect the scores of one model."""
    cuts = gaps(rows, t, seed=s.seed)
    if why := t.why_not_ranked:
        return Inspected(t, why, None, why, [], [], {}, cuts, rows)
    of_cells = suspicion_of_cells(t)
    doubtful = (np.stack((t.neg, t.pos)) > 0) & (of_cells.value > 0)
    right = doubtful & (of_cells.value < EVEN)
    middle, at, sets = None, None, {}
    if not (why := why_not_unit(t)):
        middle = midpoint(t, rule)
        at = middle.value
        high, up = (
            unit(s, t.kind) >= at - TOLERANCE for s in (t.score, rows.scores[t.origin.score])
        )
        right &= np.stack((~high, high))
        sets = {
            set_name(side, positive): rows.number((up == side) & (rows.y == positive))
            for positive in (True, False)
            for side in (True, False)
        }
    worst, hardest = (
        suspects(rows, t, of_cells, most_suspicious(rows, t, of_cells, among, s.top), at, ids)
        for among in (doubtful, right)
    )
    return Inspected(t, "", middle, why, worst, hardest, sets, cuts, rows)

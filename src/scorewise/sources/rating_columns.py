"""Which columns hold ratings: as named, or guessed where only one guess makes sense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from scorewise.door.classes import coded
from scorewise.door.labels import listed
from scorewise.door.values import Coded, Numbers, Vector
from scorewise.door.vectors import vector
from scorewise.errors import BadInput

_ITEMS = (
    "item", "items", "item_id", "unit", "units", "subject", "id", "idx", "index", "question_id",
)  # fmt: skip
_RATERS = (
    "rater", "raters", "annotator", "coder", "judge", "observer", "worker", "rater_id", "who",
)  # fmt: skip
Form = Literal["items", "table", "counts"]
_RATINGS = ("rating", "ratings", "label", "value", "score", "category", "answer", "code")


@dataclass(frozen=True)
class Layout:
    """Which columns hold ratings: one for each rater, or one of items, raters and ratings, or counts.

    `form` says what all columns that are not named are: "items", one for each rater; "counts", one for
    each category; or the square "table" of two raters, with the first one's categories in the column
    `item`, or in the order of the columns.
    """

    raters: Sequence[str] = ()
    item: str | None = None
    rater: str | None = None
    rating: str | None = None
    counts: str | Mapping[str, str] | None = None
    form: Form | None = None
    weight: str | None = None
    count: str | None = None
    notes: list[str] = field(default_factory=list)


def spread(names: Sequence[str], layout: Layout) -> Layout:
    """The layout with patterns such as "annotator*" spread out to the columns they stand for.

    >>> spread(["id", "ann1", "ann2"], Layout(raters=["ann*"])).raters
    ['ann1', 'ann2']
    """
    found: list[str] = []
    for rater in layout.raters:
        fit = [n for n in names if "*" in rater and fnmatchcase(n, rater)]
        found += [rater] if rater in names or not fit else fit
    return replace(
        layout, raters=list(dict.fromkeys(found)) if found != list(layout.raters) else layout.raters
    )


def guessed(names: Sequence[str], read: Callable[[], Mapping[str, Any]], layout: Layout) -> Layout:
    """The same layout with what was not named; refused where columns do not look like raters."""
    if layout.raters or layout.rating or layout.counts is not None or layout.form == "table":
        return layout
    item, rater, rating = (_known(names, words) for words in (_ITEMS, _RATERS, _RATINGS))
    if item and rater and rating and layout.item in (None, item) and layout.form is None:
        note = f"items, raters and ratings: columns '{item}', '{rater}', '{rating}' (not named)"
        return replace(layout, item=item, rater=rater, rating=rating, notes=[note])
    item = layout.item or item or next((n for n in names if n.lower().endswith("_id")), None)
    rest = [n for n in names if n not in (item, layout.weight, layout.count)]
    if len(rest) < 2:
        raise BadInput(
            f"of the columns {listed(list(names))} no two can be raters; name a column for each rater, "
            f"or item=, rater= and rating="
        )
    also = f"; '{item}' names the items" if item else ""
    if layout.form == "counts":
        note = f"counts: columns {_quoted(rest)} (not named{also})"
        return replace(layout, counts={n: n for n in rest}, item=item, notes=[note])
    columns = read()
    vectors = {n: vector(columns[n], n) for n in rest}
    _check_alike(vectors)
    if layout.form is None:
        _check_ratings(vectors)
    note = f"raters: columns {_quoted(rest)} (not named{also})"
    return replace(layout, raters=rest, item=item, notes=[note])


def _check_alike(columns: Mapping[str, Vector]) -> None:
    """Refuse a column that no two raters would fill: without a value that another one has."""
    said = {name: _words(column) for name, column in columns.items()}
    times = Counter(word for words in said.values() for word in words)
    for name, words in said.items():
        if words and all(times[word] == 1 for word in words):
            raise BadInput(
                f"column '{name}' has no value in common with the others ({_quoted(list(columns))}), so it "
                f"is not plain who the raters are; name a column for each rater, or for one rating in each "
                f"row item=, rater= and rating="
            )


def _check_ratings(columns: Mapping[str, Vector]) -> None:
    """Refuse columns that may be counts."""
    whole = [c.values for c in columns.values() if isinstance(c, Numbers) and c.missing() is None]
    if len(whole) == len(columns) and len(whole[0]):
        table = np.stack([w.astype(np.float64) for w in whole], axis=1)
        total = table.sum(1)
        like = bool((table >= 0).all() and (table == np.floor(table)).all())
        if like and len(table) == table.shape[1]:
            raise BadInput(
                'the columns are a square of whole numbers: the table of two raters (form="table") or a '
                'column for each rater (form="items")?'
            )
        if like and total[0] > 1 and (total == total[0]).all() and len(table) > 2:
            raise BadInput(
                f'the numbers of each row add up to {total[0]:g}: counts (form="counts") or a column for '
                f'each rater (form="items")?'
            )


def _words(column: Vector) -> set[str]:
    gone = column.missing()
    kept = column if gone is None else column.keep(~gone)
    if isinstance(kept, Coded):
        used = np.unique(kept.codes)
        kept = Coded(np.arange(len(used)), [kept.values[k] for k in used])
    return set(coded(kept)[1])


def _quoted(words: Sequence[str]) -> str:
    shown = ", ".join(f"'{w}'" for w in words[:6])
    return shown if len(words) <= 6 else f"{shown} and {len(words) - 6} more"


def _known(names: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that goes by one of those names."""
    lower = {n.lower(): n for n in names}
    return next((lower[w] for w in words if w in lower), None)

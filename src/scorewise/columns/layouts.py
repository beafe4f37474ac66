"""Which columns hold ratings: as named, or guessed where only one guess makes sense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.files import Opened
from scorewise.columns.labels import distinct_words, listed
from scorewise.columns.roles import (
    ROLES,
    check_columns,
    expand_patterns,
    folded,
    names_items,
    only,
    quoted,
)
from scorewise.columns.vectors import Coded, Numbers, Vector, vector
from scorewise.errors import BadInput, Option

Form: TypeAlias = Literal["items", "table", "counts"]
RATERS: Sequence[Any] = (
    "name a column for each rater, or for one rating in each row those of item, rater and rating, or pass ",
    Option("form", "table"), " for a table of two raters",
)  # fmt: skip


class Layout(NamedTuple):
    """Which columns hold ratings: one for each rater, or one of items, raters and ratings, or counts."""

    raters: Any = ()
    item: Any = None
    rater: Any = None
    rating: Any = None
    counts: Any = None
    form: Form | None = None
    weight: Any = None
    count: Any = None
    cluster: Any = None
    groups: Any = None  # names of columns, or columns by name


def guessed(source: Opened, layout: Layout) -> tuple[Layout, tuple[str, ...]]:
    """The layout with what was not named, and a note; refused where columns do not look like raters."""
    names = source.names
    groups = [layout.groups] if isinstance(layout.groups, str) else layout.groups or ()
    check_columns(names, groups)
    if layout.counts == "*":  # all columns but those that are named or suggest themselves
        layout = layout._replace(counts=None, form="counts")
    layout = _one_layout(names, layout._replace(raters=expand_patterns(names, layout.raters)))
    if layout.raters or layout.rating or layout.counts is not None or layout.form == "table":
        return layout, ()
    if layout.form is None and (long := long_columns(names, layout)):
        note = f"items, raters and ratings: columns {quoted(long, most=6)} (not named)"
        return layout._replace(item=long[0], rater=long[1], rating=long[2]), (note,)
    free = [n for n in names if n not in (layout.weight, layout.count, layout.cluster, *groups)]
    item = layout.item or item_column(free)
    rest = [n for n in free if n != item]
    if len(rest) < 2:
        raise BadInput(f"of the columns {listed(names)} no two can be raters; ", *RATERS)
    also = f"; '{item}' names the items" if item else ""
    columns = source.read(rest, ())[0]
    vectors = {n: vector(columns[n], n) for n in rest}
    if layout.form == "counts":
        _check_counts(vectors)
        note = f"counts: columns {quoted(rest, most=6)} (not named{also})"
        return layout._replace(counts={n: n for n in rest}, item=item), (note,)
    if layout.form is None:
        _check_raters(vectors)
    _check_alike(vectors)
    if layout.form is None:
        _check_ratings(vectors)
    note = f"raters: columns {quoted(rest, most=6)} (not named{also})"
    return layout._replace(raters=rest, item=item), (note,)


def _one_layout(names: Sequence[str], layout: Layout) -> Layout:
    """The layout, if it is one, and whole."""
    ways = {
        "a column for each rater": bool(layout.raters) or layout.form == "items",
        "a column of ratings": layout.rating is not None,
        "columns of counts": layout.counts is not None or layout.form == "counts",
        "a table": layout.form == "table",
    }
    chosen = [way for way, there in ways.items() if there]
    if len(chosen) > 1:
        raise BadInput(f"{' and '.join(chosen)} were named; ratings come in one of these ways")
    single = (layout.item, layout.rater, layout.rating, layout.weight, layout.count)
    columns = [*layout.raters, *(c for c in single if c is not None)]
    check_columns(names, columns)
    if twice := next((c for c in columns if columns.count(c) > 1), None):
        raise BadInput(f"column '{twice}' is given twice; name a different column for each")
    if layout.rater is not None and layout.rating is None:
        raise BadInput(
            "a column of raters goes with ", Option("rating"), ", the column of what they said"
        )
    if layout.rating is not None and layout.item is None:
        raise BadInput(
            "a column of ratings goes with ", Option("item"), ", the column of what was rated"
        )
    if layout.rating is not None and (layout.weight or layout.count):
        raise BadInput("weight and count belong to items, one row each; these rows are ratings")
    return layout


def long_columns(names: Sequence[str], layout: Layout) -> list[str]:
    """The columns of items, raters and ratings, where all three have names that say so."""
    roles = ("item", "rater", "rating")
    if not all(any(map(ROLES[role].fits, names)) for role in roles):
        return []
    found = [layout.item or _named_as("item", names), _named_as("rater", names)]
    found.append(_named_as("rating", [n for n in names if n not in found]))
    return [name for name in found if name] if all(found) else []


def _named_as(role: str, names: Sequence[str]) -> str | None:
    """The column that goes by the name of the role, or else by another one that means it."""
    likely = [n for n in dict.fromkeys(names) if ROLES[role].fits(n)]
    named = [n for n in likely if folded(n) == role]
    return only(role, named or likely, names) if likely else None


def item_column(names: Sequence[str]) -> str | None:
    """The column named item, or else the first that is named as items are."""
    item = [n for n in names if folded(n) == "item"]
    fit = filter(ROLES["item"].fits, names)
    return next(iter([*item, *fit, *filter(names_items, names)]), None)


def _check_alike(columns: Mapping[str, Vector]) -> None:
    """Refuse a column that no two raters would fill: without a value that another one has."""
    said = {name: set(distinct_words(column)) for name, column in columns.items()}
    times = Counter(word for words in said.values() for word in words)
    for name, words in said.items():
        if words and all(times[word] == 1 for word in words):
            raise BadInput(
                f"column '{name}' has no value in common with the others "
                f"({quoted(list(columns), most=6)}), so the raters cannot be told; ",
                *RATERS,
            )


_AMOUNTS = {"count", "counts", "freq", "frequency", "n", "weight", "weights"}
_NUMBERING = 10  # rows from which on 1, 2, 3 and so on are their numbers


def _check_raters(columns: Mapping[str, Vector]) -> None:
    """Refuse columns that by their names or values are those of items, or say how many there are."""
    for name, column in columns.items():
        if folded(name) in _AMOUNTS:
            is_ = "may say how many items a row stands for, or how much it weighs"
            roles: list[Any] = [Option("count", name), " or ", Option("weight", name)]
        elif names_items(name) or _numbers_rows(column):
            is_, roles = "may number or name the items", [Option("item", name)]
        else:
            continue
        raise BadInput(
            f"column '{name}' {is_}, so the raters cannot be told; pass ",
            *roles,
            ", or name a column for each rater",
        )


def _numbers_rows(column: Vector) -> bool:
    """Whether a column counts the rows, from 0 or from 1."""
    if not isinstance(column, Numbers) or len(column) < _NUMBERING or column.missing() is not None:
        return False
    values = column.values
    return bool(values[0] in (0, 1) and (np.diff(values) == 1).all())


def _table(columns: Mapping[str, Vector]) -> Floats | None:
    """The columns side by side; None where they are not all numbers, without gaps."""
    whole = [c for c in columns.values() if isinstance(c, Numbers) and c.missing() is None]
    if len(whole) < len(columns) or not len(whole[0]):
        return None
    return np.stack([c.values.astype(np.float64) for c in whole], axis=1)


def _check_counts(columns: Mapping[str, Vector]) -> None:
    """Refuse a column that names or numbers items among counts of raters."""
    text = [n for n, c in columns.items() if isinstance(c, Coded)]
    odd = text or [n for n, c in columns.items() if _numbers_rows(c)]
    table = _table(columns)
    if not odd and table is not None and len(columns) > 2 and len(table) > 2:
        total = table.sum(1)
        if (total != total[0]).any():
            rest = (total[:, None] - table).T
            odd = [n for n, r in zip(columns, rest, strict=True) if r[0] > 1 and (r == r[0]).all()]
    if len(odd) == 1 or text:
        others = quoted([n for n in columns if n != odd[0]], most=6)
        raise BadInput(
            f"column '{odd[0]}' does not look like a count of raters beside the others ({others}); name it "
            f"as item if it names the items, or name the columns of counts"
        )


def _check_ratings(columns: Mapping[str, Vector]) -> None:
    """Refuse columns that may be counts."""
    table = _table(columns)
    if table is None or not ((table >= 0) & (table == np.floor(table))).all():
        return
    total = table.sum(1)
    if len(table) == table.shape[1]:
        raise BadInput(
            "the columns are a square of whole numbers: the table of two raters (",
            Option("form", "table"), ") or a column for each rater (", Option("form", "items"), ")?",
        )  # fmt: skip
    if total[0] > 1 and (total == total[0]).all() and len(table) > 2:
        raise BadInput(
            f"the numbers of each row add up to {total[0]:g}: counts (", Option("form", "counts"),
            ") or a column for each rater (", Option("form", "items"), ")?",
        )  # fmt: skip

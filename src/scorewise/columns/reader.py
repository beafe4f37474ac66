"""Columns by role, from any source: aligned, of one length, and complete or cut down to what is."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.files import Opened, open_source
from scorewise.columns.grouping import Groups, times
from scorewise.columns.labels import distinct_words, listed, word_codes
from scorewise.columns.numbers import Place, counts, is_text, numbers, truths, weights
from scorewise.columns.roles import IDS, MODELS, ROLES, Form, choose, folded
from scorewise.columns.texts import Texts, texts
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput, Option, plain

Missing: TypeAlias = Literal["refuse", "drop"]
_PEEK = 1000  # rows that tell whether a column holds text
_MAX_ID_ROWS = 200_000  # rows that tell whether ids are repeated


@dataclass(frozen=True)
class Names:
    """What the columns are called in messages and reports."""

    label: str = "label"
    weight: str = "weight"
    count: str = "count"
    cluster: str = "cluster"


@dataclass(frozen=True)
class Columns:
    """Columns by role and name, of one length; how many rows were left out, and where the others are.

    `notes` say what was guessed and how values were read, `hints` what one may want to do.
    """

    values: dict[str, dict[str, Any]]
    place: Place
    dropped: int = 0
    notes: tuple[str, ...] = ()
    in_memory: bool = False
    hints: tuple[str, ...] = ()

    def __getitem__(self, role: str) -> dict[str, Any]:
        """The columns of a role by name."""
        return self.values.get(role, {})

    def column(self, role: str) -> Any:
        """The only column of a role; None where there is none."""
        return next(iter(self[role].values()), None)

    def name(self, role: str) -> str:
        """What the only column of a role is called."""
        return next(iter(self[role]), role)

    @property
    def weight(self) -> Floats | None:
        """The weights, checked."""
        column = self.column("weight")
        return None if column is None else weights(column, self.name("weight"), self.place)

    @property
    def count(self) -> Ints | None:
        """The counts, checked."""
        column = self.column("count")
        return None if column is None else counts(column, self.name("count"), self.place)

    @property
    def clusters(self) -> Ints | None:
        """The number of the cluster of each row; None where rows stand alone."""
        column = self.column("cluster")
        if column is None:
            return None
        codes: Ints = np.unique(word_codes(column)[0], return_inverse=True)[1]
        if len(codes) and not codes.any():
            raise BadInput(
                f"{self.name('cluster')} is the same in all {len(codes):,} rows; intervals need two or ",
                "more clusters: name another column, or leave out ", Option("cluster"),
            )  # fmt: skip
        return codes

    @property
    def groups(self) -> Groups:
        """The columns of groups as codes with their words."""
        return {name: word_codes(column) for name, column in self["group"].items()}

    def checked(self, *notes: str) -> dict[str, Any]:
        """What all checked rows have, by the names of the fields of `CheckedRows`."""
        return {
            "weight": self.weight, "count": self.count, "dropped": self.dropped,
            "names": Names(*map(self.name, ("label", "weight", "count", "cluster"))),
            "place": self.place, "groups": self.groups, "cluster": self.clusters,
            "notes": self.all_notes(*notes), "hints": self.hints,
        }  # fmt: skip

    def all_notes(self, *more: str) -> tuple[str, ...]:
        """All notes; those on columns in memory are warnings, as nothing else would show them."""
        notes = (*self.notes, *(note for note in more if note))
        if self.in_memory:
            warn(notes)
        return notes


def warn(notes: Iterable[str]) -> None:
    """Warn of each note, where scorewise was called from."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("scorewise"):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(plain(note), stacklevel=level)


def read(
    source: Any,
    asked: Mapping[str, Any],
    *,
    missing: Missing = "refuse",
    required: Mapping[str, str] | None = None,
    excluded: Collection[str] = (),
    encoding: str | None = None,
    place: Place | None = None,
) -> Columns:
    """The columns of each role, checked once, from any source: arrays, frames, mappings, files, records.

    `asked` has for each role the name of its column, or several names; a role that is None is guessed, or
    not there. Where the source is None, it has the columns themselves, several of them by name. A row with
    a missing value (None, null, NaN) is refused, or with missing="drop" left out and counted; in the roles
    of `required` it is refused in any case, with that way out.

    >>> found = read({"y": ["a", "b"], "p": [0.5, None]}, {"label": "y", "score": None}, missing="drop")
    >>> found["score"]["p"].values, found.dropped, found.notes
    (array([0.5]), 1, ("score: column 'p' (not named; taken because of its name)",))
    >>> read(None, {"label": ["a", "b"], "score": {"x": ["7%", "9%"]}}).notes
    ("x: written in percent and read as shares: '7%' is 0.07",)
    """
    one_of("missing", missing, get_args(Missing))
    if source is None:
        return _checked(_in_memory(asked, place or Place()), missing, required or {})
    opened = source if isinstance(source, Opened) else open_source(source, encoding)
    choice = choose(opened.names, asked, excluded)
    text_roles = [role for role in choice.columns if ROLES[role].form == "texts"]
    as_text = [name for role in text_roles for name in choice.columns[role]]
    raw, at = opened.read(list(choice), as_text)
    choice.settle(lambda name: is_text(vector(raw[name][:_PEEK], name)), opened.names)
    if "label" in choice.columns and "score" in choice.columns:
        choice.notes += _several_models(opened, list(choice))
    # in the order asked, which is that of messages
    values = {
        role: {name: raw[name] for name in choice.columns[role]}
        for role in asked
        if role in choice.columns
    }
    made = _checked(Columns(values, at, notes=(*choice.notes,)), missing, required or {})
    if asked.get("cluster", "") is not None:
        return made
    ids = named_ids(opened.names, list(choice))
    hints = (_repeated(opened, name, what) for name, what in ids.items())
    return replace(made, hints=tuple(hint for hint in hints if hint)[:1])


# what was given, by a role that tells
_IN_MEMORY = {
    "label": "labels and scores", "rating": "ratings", "counts": "ratings", "human": "ratings",
    "gold": "the answers", "quality": "the answers",
}  # fmt: skip


def _in_memory(asked: Mapping[str, Any], place: Place) -> Columns:
    """The columns that were given themselves, by role and name."""
    values: dict[str, dict[str, Any]] = {}
    what = next((word for role, word in _IN_MEMORY.items() if role in asked), "columns")
    for role, given in asked.items():
        if role == "group":
            given = group_columns(given, what)
        elif role == "cluster" and isinstance(given, str):
            raise BadInput(
                Option(role, given), " names a column of files and frames; pass the column"
            )
        if ROLES[role].several and isinstance(given, Mapping):
            values[role] = {str(name): column for name, column in given.items()}
            if len(values[role]) < len(given):
                raise BadInput(
                    f"two {ROLES[role].plural} have the same name; give each a name of its own"
                )
        elif given is not None or role in ("label", "score"):
            values[role] = {role: given}
    return Columns(values, place, in_memory=True)


_READ_AS: dict[Form, Callable[[Any, str, Place], Any]] = {
    "values": lambda column, name, place: vector(column, name),
    "numbers": lambda column, name, place: numbers(vector(column, name), name, place),
    "truths": lambda column, name, place: truths(vector(column, name), name, place),
    "texts": texts,
    "times": lambda column, name, place: times(column, name),
}


def _checked(raw: Columns, missing: Missing, required: Mapping[str, str]) -> Columns:
    """Columns as numbers, texts or coded values, without the rows that lack something."""
    forms = {role: ROLES[role].form for role in raw.values if ROLES[role].form != "raw"}
    aligned((name, column) for role in forms for name, column in raw[role].items())
    values: dict[str, dict[str, Any]] = {
        role: {n: _READ_AS[form](c, n, raw.place) for n, c in raw[role].items()}
        for role, form in forms.items()
    }
    columns = [pair for named in values.values() for pair in named.items()]
    (first, one), *_ = columns
    if other := next(((n, c) for n, c in columns if len(c) != len(one)), None):
        raise BadInput(
            f"{first} has {len(one):,} rows and {other[0]} has {len(other[1]):,}; "
            f"they have to match row by row"
        )
    notes = [f"{name}: {column.note}" for name, column in columns if getattr(column, "note", "")]
    gaps = _gaps(values, missing, required, raw.place)
    dropped, place = 0, raw.place
    if gaps:
        keep: Bools = ~np.logical_or.reduce([gone for _, gone in gaps])
        dropped = len(keep) - int(np.count_nonzero(keep))
        values = {r: {n: c.keep(keep) for n, c in named.items()} for r, named in values.items()}
        place = place.keep(keep)
        if len(gaps) > 1 and keep.any():
            each = ", ".join(f"{np.count_nonzero(gone):,} without {name}" for name, gone in gaps)
            notes.append(f"{dropped:,} row{'s' if dropped != 1 else ''} left out: {each}")
    return replace(
        raw, values=raw.values | values, place=place, dropped=dropped, notes=(*raw.notes, *notes)
    )


def _gaps(
    values: Mapping[str, dict[str, Any]],
    missing: Missing,
    required: Mapping[str, str],
    place: Place,
) -> list[tuple[str, Bools]]:
    """The columns that have gaps, and where; refused unless they are to be dropped."""
    found = []
    for role, named in values.items():
        for name, column in named.items():
            gone = column.missing() if ROLES[role].gaps != "none" or role in required else None
            if gone is None:
                continue
            if role in required:
                raise BadInput(f"{name} is missing {place.rows(gone)}; {required[role]}")
            if missing == "refuse":
                them = "it" if np.count_nonzero(gone) == 1 else "them"
                csv = any(".csv" in file for file in place.sources)
                empty = '"" in quotes' if csv else "an empty text"
                instead = f", or write {empty} where there is no answer"
                raise BadInput(
                    f"{name} is missing {place.rows(gone)}; drop {them} or pass ",
                    Option("missing", "drop"), instead if isinstance(column, Texts) else "",
                )  # fmt: skip
            if ROLES[role].gaps == "row":
                found.append((name, gone))
    return found


def aligned(columns: Iterable[tuple[str, Any]]) -> None:
    """Refuse pandas columns whose indexes hold the same keys in another order: rows would not match."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    indexed = [(n, c.index) for n, c in columns if isinstance(c, pandas.Series)]
    for name, index in indexed[1:]:
        first, other = indexed[0]
        if index.equals(other) or len(index) != len(other):
            continue
        if len(index.union(other)) == len(index.unique()) == len(other.unique()):
            raise BadInput(
                f"{first} and {name} have the same pandas index in different orders; align them, or "
                f"pass .to_numpy() to match them by position"
            )


def group_columns(by: Any, what: str) -> Mapping[str, Any] | None:
    """Columns of groups by name, beside `what` was given as columns.

    >>> group_columns(["a", "b"], "the answers")
    {'group': ['a', 'b']}
    """
    if isinstance(by, str):
        raise BadInput(
            Option("by", by),
            f" names a column, but {what} were given as columns; pass the column itself, or "
            f"{{'{by}': column}}",
        )
    return by if by is None or isinstance(by, Mapping) else {"group": by}


# What the columns that nobody named tell: that there are several models, or rows that belong together.


def _several_models(opened: Opened, used: Collection[str]) -> Iterator[str]:
    """A note where rows of several models stand one below the other, as in long files."""
    for name in opened.names:
        if folded(name) not in MODELS or name in used or opened.names.count(name) > 1:
            continue
        column = opened.column(name)
        words = [] if column is None else distinct_words(column)
        if len(words) > 1:
            yield (
                f"column '{name}' has {len(words):,} values ({listed(words)}), whose rows are taken "
                f"together as one model; compare tells them apart, with this column as its model"
            )


def named_ids(names: Sequence[str], used: Collection[str]) -> dict[str, str]:
    """Columns that by their names may say what rows belong to, and what that is called.

    >>> named_ids(["patientId", "p", "id"], ["p"])
    {'patientId': 'patient', 'id': ''}
    """
    found = {}
    for name in names:
        words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
        known = [word for word in words if word in IDS]
        if known and name not in used and names.count(name) == 1:
            found[name] = next((word for word in known if word != "id"), "")
    return found


def _repeated(opened: Opened, name: str, what: str) -> str:
    """A hint where ids that nobody named are repeated, as those of patients with several rows."""
    column = opened.column(name, _MAX_ID_ROWS)
    if column is None:
        return ""
    codes = word_codes(column)[0]
    rows, sizes = len(codes), np.bincount(codes[codes >= 0])
    sizes = sizes[sizes > 0]
    # many values, none in a tenth of the rows, and most rows beside others of the same
    if len(sizes) < 20 or sizes.max() > rows / 10 or sizes[sizes > 1].sum() <= rows / 2:
        return ""
    where = f"{rows:,} rows" if rows < _MAX_ID_ROWS else f"the first {rows:,} rows"
    return (
        f"'{name}' has {len(sizes):,} values in {where}; if rows of one{f' {what}' if what else ''} "
        f"depend on each other, name it as cluster."
    )

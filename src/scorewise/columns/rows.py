"""Columns by role, from any source: aligned, of one length, and complete or cut down to what is."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.grouping import times
from scorewise.columns.labels import coded, distinct_words, listed
from scorewise.columns.numbers import Place, counts, is_text, numbers, truths, weights
from scorewise.columns.roles import IDS, MODELS, ROLES, Choice, Form, choose, only
from scorewise.columns.texts import Texts, texts
from scorewise.columns.vectors import Vector, vector
from scorewise.errors import BadInput, Option, plain

if TYPE_CHECKING:
    from scorewise.columns.files import Opened

Missing: TypeAlias = Literal["refuse", "drop"]
Values: TypeAlias = dict[str, dict[str, Any]]
_PEEK = 1000  # rows that tell whether a column holds text
_LOOKED = 200_000  # rows that tell whether ids are repeated


@dataclass(frozen=True)
class Names:
    """What the columns are called in messages and reports."""

    label: str = "label"
    weight: str = "weight"
    count: str = "count"
    cluster: str = "cluster"


Groups: TypeAlias = dict[str, tuple[Ints, list[str]]]  # the code of each row, and their words


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What checked rows of any kind have beside their values.

    `place` knows the numbers of the rows in the input, `notes` say what was decided on the way, and `hints`
    what one may want to do with the columns. `groups` has for each column of groups the code of each row
    and the words that codes stand for, and `cluster` the number of the cluster of each row, if rows come in
    clusters.
    """

    y: Any
    weight: Floats | None = None
    count: Ints | None = None
    names: Names = field(default_factory=Names)
    dropped: int = 0
    place: Place = field(default_factory=Place)
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    groups: Groups = field(default_factory=dict)
    cluster: Ints | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the files that the rows came from."""
        return self.place.sources

    def mass(self, power: int = 1) -> Floats:
        """Row weight, raised to a power, times row count."""
        return mass_of(self.weight, self.count, len(self), power)

    def at(self, which: Any) -> Self:
        """Some of the rows; clusters are numbered anew."""
        at = np.arange(len(self))[which]  # of a mask, a slice or places
        columns = ("y", "weight", "count", *self._values)
        made: dict[str, Any] = {name: cut(getattr(self, name), at) for name in columns}
        if self.cluster is not None:
            made["cluster"] = np.unique(self.cluster[at], return_inverse=True)[1]
        groups = {name: (codes[at], words) for name, (codes, words) in self.groups.items()}
        return replace(self, place=self.place.keep(at), groups=groups, **made)

    _values: ClassVar[tuple[str, ...]] = ("scores",)  # further columns, or columns by name


def mass_of(weight: Floats | None, count: Any, rows: int, power: int = 1) -> Floats:
    """Row weight, raised to a power, times row count; 1 each where there are none."""
    w: Any = 1.0 if weight is None else weight
    w = w if power == 1 else w**power
    total = w if count is None else w * count
    return np.broadcast_to(np.asarray(total, np.float64), rows)


def cut(column: Any, at: Ints) -> Any:
    """Some rows of a column, of columns by name, or of none."""
    if isinstance(column, dict):
        return {name: values[at] for name, values in column.items()}
    return None if column is None else column[at]


@dataclass(frozen=True)
class Columns:
    """Columns by role and name, of one length; how many rows were left out, and where the others are.

    `notes` say what was guessed and how values were read, `hints` what one may want to do.
    """

    values: Values
    place: Place
    dropped: int = 0
    notes: tuple[str, ...] = ()
    in_memory: bool = False
    hints: tuple[str, ...] = ()

    def __getitem__(self, role: str) -> dict[str, Any]:
        """The columns of a role by name."""
        return self.values.get(role, {})

    def one(self, role: str) -> Any:
        """The only column of a role; None where there is none."""
        return next(iter(self[role].values()), None)

    def name(self, role: str) -> str:
        """What the only column of a role is called."""
        return next(iter(self[role]), role)

    @property
    def names(self) -> Names:
        """What label, weight, count and cluster are called."""
        return Names(*map(self.name, ("label", "weight", "count", "cluster")))

    @property
    def weight(self) -> Floats | None:
        """The weights, checked."""
        column = self.one("weight")
        return None if column is None else weights(column, self.name("weight"), self.place)

    @property
    def count(self) -> Ints | None:
        """The counts, checked."""
        column = self.one("count")
        return None if column is None else counts(column, self.name("count"), self.place)

    @property
    def clusters(self) -> Ints | None:
        """The number of the cluster of each row; None where rows stand alone."""
        column = self.one("cluster")
        if column is None:
            return None
        name = self.name("cluster")
        for role in ("label", "score", "weight", "count"):
            if name in self[role] and not self.in_memory:
                raise BadInput(
                    f"column '{name}' is given as {role} and as cluster; name a different column for each"
                )
        codes: Ints = np.unique(coded(column)[0], return_inverse=True)[1]
        if len(codes) and not codes.any():
            raise BadInput(
                f"{self.name('cluster')} is the same in all {len(codes):,} rows; intervals need two or ",
                "more clusters: name another column, or leave out ", Option("cluster"),
            )  # fmt: skip
        return codes

    @property
    def groups(self) -> Groups:
        """The columns of groups as codes with their words."""
        return {name: coded(column) for name, column in self["group"].items()}

    def checked(self, *notes: str) -> dict[str, Any]:
        """What all checked rows have, by the names of `Checked`."""
        names = ("weight", "count", "names", "dropped", "place", "hints", "groups")
        made = {name: getattr(self, name) for name in names}
        return made | {"notes": self.told(*notes), "cluster": self.clusters}

    def told(self, *more: str) -> tuple[str, ...]:
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
    whole: Mapping[str, str] | None = None,
    beside: Collection[str] = (),
    encoding: str | None = None,
    place: Place | None = None,
) -> Columns:
    """The columns of each role, checked once, from any source: arrays, frames, mappings, files, records.

    `asked` has for each role the name of its column, or several names; a role that is None is guessed, or
    not there. Where the source is None, it has the columns themselves, several of them by name. A row with
    a missing value (None, null, NaN) is refused, or with missing="drop" left out and counted; in the roles
    of `whole` it is refused in any case, with that way out.

    >>> found = read({"y": ["a", "b"], "p": [0.5, None]}, {"label": "y", "score": None}, missing="drop")
    >>> found["score"]["p"].values, found.dropped, found.notes
    (array([0.5]), 1, ("score: column 'p' (not named; taken because of its name)",))
    >>> read(None, {"label": ["a", "b"], "score": {"x": ["7%", "9%"]}}).notes
    ("x: written in percent and read as shares: '7%' is 0.07",)
    """
    one_of("missing", missing, get_args(Missing))
    if source is None:
        return _checked(_in_memory(asked), missing, whole or {}, place or Place(), (), True)
    from scorewise.columns.files import Opened, open_source

    opened = source if isinstance(source, Opened) else open_source(source, encoding)
    choice = choose(opened.names, asked, beside)
    as_text = [n for role, named in choice.columns.items() if ROLES[role].form == "texts"
               for n in named.values()]  # fmt: skip
    raw, at = opened.read(list(choice), as_text)
    settle(choice, raw, opened.names)
    if "label" in choice.columns and "score" in choice.columns:
        choice.notes += _several_models(opened, list(choice))
    # in the order asked, which is that of messages
    found = {
        role: {name: raw[name] for name in choice.columns[role].values()}
        for role in asked
        if role in choice.columns
    }
    made = _checked(found, missing, whole or {}, at, choice.notes, False)
    if asked.get("cluster", "") is not None:
        return made
    ids = named_ids(opened.names, list(choice))
    hints = (_repeated(opened, name, what) for name, what in ids.items())
    return replace(made, hints=tuple(hint for hint in hints if hint)[:1])


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


def no_name(option: str, column: Any) -> None:
    """Refuse the name of a column beside columns that are given themselves."""
    if isinstance(column, str):
        raise BadInput(
            Option(option, column), " names a column of files and frames; pass the column"
        )


def _several_models(opened: Opened, used: Collection[str]) -> Iterator[str]:
    """A note where rows of several models stand one below the other, as in long files."""
    for name in opened.names:
        if name.strip().lower() not in MODELS or name in used or opened.names.count(name) > 1:
            continue
        try:
            column = vector(opened.read([name], ())[0][name], name)
        except BadInput:  # a column that nobody asked for may hold anything
            continue
        words = distinct_words(column)
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
    try:
        codes = coded(vector(opened.read([name], ())[0][name][:_LOOKED], name))[0]
    except (BadInput, TypeError, ValueError):
        return ""  # a column that nobody asked for may hold anything
    rows, sizes = len(codes), np.bincount(codes[codes >= 0])
    sizes = sizes[sizes > 0]
    # many values, none in a tenth of the rows, and most rows beside others of the same
    if len(sizes) < 20 or sizes.max() > rows / 10 or sizes[sizes > 1].sum() <= rows / 2:
        return ""
    where = f"{rows:,} rows" if rows < _LOOKED else f"the first {rows:,} rows"
    return (
        f"'{name}' has {len(sizes):,} values in {where}; if rows of one{f' {what}' if what else ''} "
        f"depend on each other, name it as cluster."
    )


def settle(choice: Choice, raw: Mapping[str, Any], names: Sequence[str]) -> None:
    """Take of the likely columns of a role the one that holds numbers."""
    for role, (likely, why) in choice.unsure.items():
        text = [n for n in likely if is_text(vector(raw[n][:_PEEK], n))]
        choice.take(role, only(role, [n for n in likely if n not in text], names, text), why)


def _in_memory(asked: Mapping[str, Any]) -> Values:
    return {
        role: {str(n): column for n, column in given.items()}
        if ROLES[role].several and isinstance(given, Mapping)
        else {role: given}
        for role, given in asked.items()
        if given is not None or role in ("label", "score")
    }


def _checked(
    raw: Values,
    missing: Missing,
    whole: Mapping[str, str],
    place: Place,
    notes: Sequence[str],
    in_memory: bool,
) -> Columns:
    """Columns as numbers, texts or coded values, without the rows that lack something."""
    read = {r: named for r, named in raw.items() if ROLES[r].form != "raw"}
    aligned((n, c) for named in read.values() for n, c in named.items())
    values: Values = {
        role: {n: _vector(ROLES[role].form, c, n, place) for n, c in named.items()}
        for role, named in read.items()
    }
    same_length([pair for named in values.values() for pair in named.items()])
    for role, named in values.items():
        if convert := _CONVERTED.get(ROLES[role].form):
            values[role] = {n: convert(c, n, place) for n, c in named.items()}
    written = [f"{n}: {c.note}" for named in values.values() for n, c in named.items()
               if getattr(c, "note", "")]  # fmt: skip
    gaps = _gaps(values, missing, whole, place)
    kept = {role: named for role, named in raw.items() if role not in values}
    if not gaps:
        return Columns({**values, **kept}, place, 0, (*notes, *written), in_memory)
    keep: Bools = ~np.logical_or.reduce([gone for _, gone in gaps])
    dropped = len(keep) - int(np.count_nonzero(keep))
    return Columns(
        {r: {n: c.keep(keep) for n, c in named.items()} for r, named in values.items()} | kept,
        place.keep(keep),
        dropped,
        (*notes, *written, *(_costs(gaps, dropped) if keep.any() else ())),
        in_memory,
    )


def _vector(form: Form, column: Any, name: str, place: Place) -> Vector | Texts:
    if form == "texts":
        return texts(column, name, place)
    return times(column, name) if form == "times" else vector(column, name)


_CONVERTED = {"numbers": numbers, "truths": truths}


def _gaps(
    values: Values, missing: Missing, whole: Mapping[str, str], place: Place
) -> list[tuple[str, Bools]]:
    """The columns that have gaps, and where; refused unless they are to be dropped."""
    found = []
    for role, named in values.items():
        for name, column in named.items():
            gone = column.missing() if ROLES[role].gaps != "none" or role in whole else None
            if gone is None:
                continue
            if role in whole:
                raise BadInput(f"{name} is missing {place.rows(gone)}; {whole[role]}")
            if missing == "refuse":
                them = "it" if np.count_nonzero(gone) == 1 else "them"
                empty = _empty_text(place) if isinstance(column, Texts) else ""
                raise BadInput(
                    f"{name} is missing {place.rows(gone)}; drop {them} or pass ",
                    Option("missing", "drop"), empty,
                )  # fmt: skip
            if ROLES[role].gaps == "row":
                found.append((name, gone))
    return found


def _empty_text(place: Place) -> str:
    csv = any(".csv" in file for file in place.sources)
    empty = '"" in quotes' if csv else "an empty text"
    return f", or write {empty} where there is no answer"


def _costs(gaps: Sequence[tuple[str, Bools]], dropped: int) -> list[str]:
    """How many rows each column cost, where there are several."""
    if len(gaps) < 2:
        return []
    each = ", ".join(f"{np.count_nonzero(gone):,} without {name}" for name, gone in gaps)
    return [f"{dropped:,} row{'s' if dropped != 1 else ''} left out: {each}"]


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


def same_length(columns: Sequence[tuple[str, Vector | Texts]]) -> None:
    """Refuse columns of different lengths."""
    (first, label), *others = columns
    for name, column in others:
        if len(column) != len(label):
            raise BadInput(
                f"{first} has {len(label):,} rows and {name} has {len(column):,}; "
                f"they have to match row by row"
            )

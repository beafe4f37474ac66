"""Models to compare: columns of one table, files joined on a key, or groups of a long file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.arrays import Ints
from scorewise.checks import refuse_given
from scorewise.columns.classes import ClassRows, rows_of_class_columns
from scorewise.columns.files import Opened, join, open_files, open_source, open_tables
from scorewise.columns.grouping import combinations, words_at
from scorewise.columns.labels import listed, text, word_codes
from scorewise.columns.numbers import Place
from scorewise.columns.paths import expand, names_of
from scorewise.columns.reader import Columns, Missing, named_ids, read
from scorewise.columns.roles import Spec, check_columns, class_columns
from scorewise.columns.rows import Kind, Rows, binary_rows, rows_of
from scorewise.columns.sources import is_source
from scorewise.columns.vectors import Coded, Numbers, vector
from scorewise.errors import BadInput, Option

EXACT = 2**53  # from which on floats skip whole numbers


@dataclass(frozen=True)
class Models:
    """The rows of each model: the same for all where they are paired, else its own.

    `joined` has for each model how many rows it has and how many of them every model has, where rows were
    found by a key; `columns` says that each model is a column of one table.
    """

    rows: Mapping[str, Rows] | Mapping[str, ClassRows]
    paired: bool = True
    joined: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    columns: bool = False


def models_of(
    source: Any, *, label: str | None = None, score: str | Sequence[str] | None = None,
    classes: Spec | None = None, model: str | None = None, key: str | Sequence[str] | None = None,
    unpaired: bool = False, by: Any = None, positive: Any = None, kind: Kind | None = None,
    missing: Missing = "refuse", encoding: str | None = None, **further: str | None,
) -> Models:  # fmt: skip
    """Models from files or frames; `further` names the columns of weight, count and cluster.

    Several files, or a mapping from names to files or frames, have a model each; with `model`, a column
    says whose score a row has; else each column of scores is a model.

    >>> long = {"id": [1, 2, 2, 1], "m": ["a", "a", "b", "b"], "y": [0, 1, 1, 0], "p": [0.2, 0.9, 0.8, 0.1]}
    >>> rows = models_of(long, model="m", key="id", label="y", score="p").rows["a"]
    >>> rows.scores
    {'a': array([0.2, 0.9]), 'b': array([0.1, 0.8])}
    """
    several = isinstance(score, Sequence) and not isinstance(score, str) and len(score) > 1
    apart = _apart(source) if model is None and not several else {}
    if several and (model is not None or key is not None):
        what = "model" if model is not None else "key"
        raise BadInput(
            Option(what), " goes with one column of scores, and there are several; name one ",
            Option("score"), ", or leave out ", Option(what),
        )  # fmt: skip
    if model is None and not apart:
        refuse_given(
            " belongs to several files, or to a long file with ", Option("model"),
            "; leave it out where each model has a column", key=key, unpaired=unpaired or None,
        )  # fmt: skip
        return _of_columns(source, score, classes, by, label=label, positive=positive, kind=kind,
                           missing=missing, encoding=encoding, **further)  # fmt: skip
    opened = _opened(apart, encoding) if apart else open_source(source, encoding)
    columns = None if classes is None else class_columns(opened.names, classes)
    if columns is not None and score is not None:
        raise BadInput(Option("score"), " and ", Option("classes"), " do not go together; name one")
    asked = {
        "label": label, "score": score if columns is None else columns, **further, "group": by,
        "model": model, "key": key,
    }  # fmt: skip
    found = read(opened, asked, missing=missing)
    codes, names = _models(found, [*apart])
    rows: Any
    if columns is None:
        _same_words(found, codes, names)
        rows = rows_of(found, positive=positive, kind=kind)
    else:
        rows = rows_of_class_columns(found, kind, columns, classes)
    at, joined, notes = _matched(found, codes, names, unpaired, bool(apart))
    made = _taken(rows, dict(zip(names, at, strict=True)))
    notes = (*rows.notes, *notes)
    if joined is None:
        return Models(made, False, {}, notes)
    if key is None:
        _same_ids(opened, found, at)
    for role in ("label", "weight", "count", "cluster", "group"):
        _agree(found, role, at, names)
    if columns is None:
        wide = replace(
            made[names[0]],
            scores={name: own.scores[name] for name, own in made.items()},
            kinds={name: own.kinds[name] for name, own in made.items()},
        )
        made = dict.fromkeys(names, wide)
    return Models(made, True, joined, notes)


def _of_columns(source: Any, score: Any, classes: Any, by: Any, **options: Any) -> Models:
    """Each column of scores is a model."""
    if classes is not None:
        raise BadInput(
            Option("classes"), " has the scores of one model; compare several files, one for each model, "
            "or a long file with ", Option("model"),
        )  # fmt: skip
    rows = binary_rows(source, score=score, group=by, **options)
    return Models(dict.fromkeys(rows.scores, rows), True, {}, rows.notes, columns=True)


def _apart(source: Any) -> dict[str, Any]:
    """The sources of models by name, where each has its own; none where there is a single table."""
    if isinstance(source, Mapping):
        own = [
            is_source(value) and not isinstance(value, list | tuple) for value in source.values()
        ]
        return {str(k): v for k, v in source.items()} if own and all(own) else {}
    if not isinstance(source, str | PathLike | list | tuple):
        return {}
    paths = expand(source if isinstance(source, list | tuple) else [source])
    if len(paths) < 2:
        return {}
    stems = [_stem(Path(path).name) for path in paths]
    if len({*stems}) < len(stems):
        stems = [_stem(name) for name in names_of(paths)]
    if twice := next((s for s in stems if stems.count(s) > 1), None):
        raise BadInput(f"two files are named '{twice}'; rename one, or name the models in Python")
    return dict(zip(stems, paths, strict=True))


def _stem(name: str) -> str:
    """The name of a file without its endings.

    >>> _stem("runs/tree.csv.gz"), _stem("tree.v2.parquet")
    ('runs/tree', 'tree.v2')
    """
    return str(Path(name.removesuffix(".gz")).with_suffix(""))


def _opened(apart: Mapping[str, Any], encoding: str | None) -> Opened:
    """The tables of all models, one below the other."""
    if all(isinstance(s, str | PathLike) for s in apart.values()):
        tables = open_files(list(apart.values()), encoding)
        if len(tables) == len(apart):
            return open_tables(tables)
    each = {name: open_source(s, encoding) for name, s in apart.items()}

    def get(wanted: list[str], texts: Any) -> tuple[dict[str, Any], Place]:
        parts = []
        for name, opened in each.items():
            check_columns(opened.names, wanted)
            raw = opened.read(wanted, texts)[0]
            parts.append((name, {c: _series(raw[c], c) for c in wanted}))
        heights = tuple((name, len(part[wanted[0]])) for name, part in parts)
        stacked = {c: join(c, [(name, part[c]) for name, part in parts]) for c in wanted}
        return stacked, Place(files=heights)

    return Opened(next(iter(each.values())).names, get)


def _series(column: Any, name: str) -> Any:
    """A column of any library as one of polars."""
    import polars as pl

    if isinstance(column, pl.Series):
        return column
    values = vector(column, name)
    if isinstance(values, Coded):
        return pl.Series(
            name, [values.values[c] if c >= 0 else None for c in values.codes.tolist()]
        )
    made = pl.Series(name, values.values)
    return made if values.null is None else made.set(pl.Series(values.null), None)


def _models(found: Columns, apart: Sequence[str]) -> tuple[Ints, list[str]]:
    """The number of the model of each row, and the names of the models."""
    if apart:
        ends = np.cumsum([height for _, height in found.place.files])
        at = found.place.kept
        many = len(found.column("label"))
        return np.searchsorted(ends, np.arange(many) if at is None else at, "right"), list(apart)
    codes, names = word_codes(found.column("model"))
    seen = codes[np.sort(np.unique(codes, return_index=True)[1])]  # in the order in which they come
    rank = np.zeros(len(names), np.int64)
    rank[seen] = np.arange(len(seen))
    names = [names[k] for k in seen.tolist()]
    if len(names) < 2:
        raise BadInput(
            f"column '{found.name('model')}' names one model only, '{names[0] if names else ''}'; "
            "compare takes two or more"
        )
    return rank[codes], names


def _matched(
    found: Columns, codes: Ints, names: Sequence[str], unpaired: bool, apart: bool
) -> tuple[list[Ints], dict[str, tuple[int, int]] | None, tuple[str, ...]]:
    """The rows of each model, in a common order unless unpaired; how many joined, if so; and notes."""
    at = [np.flatnonzero(codes == k) for k in range(len(names))]
    if unpaired and found["key"]:
        raise BadInput(
            Option("key"), " and ", Option("unpaired"), " do not go together; leave out one"
        )
    if unpaired:
        return at, None, ()
    if not found["key"]:
        label = word_codes(found.column("label"))[0]
        if any(len(x) != len(at[0]) or (label[x] != label[at[0]]).any() for x in at[1:]):
            raise BadInput(
                "the models have no common order of rows: their labels differ; pass ", Option("key"),
                " with the column that names the rows, or ", Option("unpaired"),
                " where they are different rows",
            )  # fmt: skip
        return at, {}, ("rows of the models are matched by their order, as their labels agree",)
    key, keys, word = _keys(found)
    what = " and ".join(f"'{name}'" for name in found["key"])
    place = np.bincount(codes * keys + key, minlength=len(names) * keys)
    if (place > 1).any():
        worst, at_key = divmod(int((place > 1).argmax()), keys)
        many = int((place[worst * keys : (worst + 1) * keys] > 1).sum())
        raise BadInput(
            f"{what} names {many:,} row{'s' * (many > 1)} of '{names[worst]}' more than once, first "
            f"{word(at_key)}; name further columns that tell rows apart, with ",
            Option("key"),
        )
    at_row = np.full((len(names), keys), -1)
    at_row[codes, key] = np.arange(len(codes))
    whole: Any = (at_row >= 0).all(0)
    if not whole.any():
        if not apart and not ((at_row >= 0).sum(0) > 1).any():
            note = f"no value of {what} occurs in two models, so that they are compared unpaired"
            return at, None, (note,)
        one, other = (word(int((at_row[k] >= 0).argmax())) for k in (0, 1))
        raise BadInput(
            f"no value of {what} occurs in every model: '{names[0]}' has {one}, '{names[1]}' has ",
            f"{other}; name the column that all share with ", Option("key"), ", or pass ",
            Option("unpaired"),
        )  # fmt: skip
    order = np.argsort(at_row[0][whole])
    joined = {name: (len(own), len(order)) for name, own in zip(names, at, strict=True)}
    lost = [f"{n - m:,} of {n:,} rows of '{name}'" for name, (n, m) in joined.items() if n > m]
    note = f"{', '.join(lost)} did not join on {what} and are left out"
    return [rows[whole][order] for rows in at_row], joined, (note,) if lost else ()


def _same_ids(opened: Opened, found: Columns, at: Sequence[Ints]) -> None:
    """Refuse rows matched by their order where ids that nobody named come in another one."""
    for name in named_ids(opened.names, [n for of in found.values.values() for n in of]):
        column = opened.column(name)
        if column is None:
            continue
        codes = word_codes(column)[0]
        codes = codes if found.place.kept is None else codes[found.place.kept]
        first, *others = (codes[rows] for rows in at)
        ids = np.unique(first)
        for own in others:
            if len(ids) == len(own) and (own != first).any() and (np.sort(own) == ids).all():
                raise BadInput(
                    f"the labels of the models agree in their order, but '{name}' has the same values in "
                    "another one; pass ", Option("key", name), " to join on it",
                )  # fmt: skip


def _keys(found: Columns) -> tuple[Ints, int, Callable[[int], str]]:
    """The number of the key of each row, of one column or several, how many there are, and their words."""
    for name, column in found["key"].items():
        floats = isinstance(column, Numbers) and column.values.dtype.kind == "f"
        if floats and (np.abs(column.values) >= EXACT).any():
            raise BadInput(
                f"'{name}' has numbers beyond {EXACT:,}, which are not told apart as floats; write the "
                "key as text or as whole numbers in every file"
            )
    columns = {name: word_codes(column) for name, column in found["key"].items()}
    key, first = combinations(columns)
    return key, len(first), lambda at: _said(words_at(columns, first[at]))


def _said(words: Sequence[str]) -> str:
    return " / ".join(f"'{word}'" for word in words)


def _same_words(found: Columns, codes: Ints, names: Sequence[str]) -> None:
    """Refuse labels that one model spells otherwise than the first."""
    label, words = word_codes(found.column("label"))
    first, *others = ({*np.unique(label[codes == k]).tolist()} for k in range(len(names)))
    for k, own in enumerate(others, 1):
        if first and own and not first & own:
            spelled = [listed([words[w] for w in sorted(side)]) for side in (first, own)]
            raise BadInput(
                f"{found.name('label')} is {spelled[0]} for '{names[0]}' and {spelled[1]} for "
                f"'{names[k]}'; spell the labels alike"
            )


def _agree(found: Columns, role: str, at: Sequence[Ints], names: Sequence[str]) -> None:
    """Refuse labels, weights, clusters or groups that differ between models on the same row."""
    for name, column in found[role].items():
        codes, words = word_codes(column)
        for k in range(1, len(names)):
            apart = codes[at[0]] != codes[at[k]]
            if apart.any():
                row = int(apart.argmax())
                one, other = (codes[at[j][row]] for j in (0, k))
                seen = [
                    f"'{text(words[code])}'" if code >= 0 else "nothing" for code in (one, other)
                ]
                key = {name: word_codes(keys) for name, keys in found["key"].items()}
                where = f" ({_said(words_at(key, at[0][row]))})" if key else ""
                many = int(apart.sum())
                raise BadInput(
                    f"{name} differs between '{names[0]}' and '{names[k]}' in {many:,} "
                    f"row{'s' * (many > 1)}, first at {found.place.row(int(at[0][row]))}{where}: "
                    f"{' and '.join(seen)}; correct it in one of them"
                )


def _taken(rows: Rows | ClassRows, at: Mapping[str, Ints]) -> dict[str, Any]:
    """The rows of each model, its scores named as the model is."""
    made: dict[str, Any] = {name: rows.at(index) for name, index in at.items()}
    for name, own in made.items():
        if isinstance(own, Rows):
            (score,), (kind,) = own.scores.values(), own.kinds.values()
            if kind == "score" and len(score) and score.min() >= 0 and score.max() <= 1:
                kind = "probability"  # of this model, whatever the others are
            made[name] = replace(own, scores={name: score}, kinds={name: kind})
    return made

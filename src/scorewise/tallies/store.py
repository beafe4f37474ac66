"""Tallies as files: one small Parquet file, with version, origin and a seal; and what no tally can be.

A tally of two classes is a row for each cell; that of several classes one row of lists; a set of tallies
has a row of lists for each group; distinct rows are a row each. What
rounding leaves of exact sums has its own columns (`neg_rest1`).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Kind
from scorewise.columns.classes import ClassKind, numbered
from scorewise.errors import BadInput
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.coarse import Coarse, Grid, Origin, Shard, cell_of
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.joint import JOINT, MARKS, MOST, Joint, Marks
from scorewise.tallies.losses import CLASS_LOSSES, CLIP, LOSSES, Moments, charges, unit
from scorewise.tallies.sets import RowTally, TallySet, role_columns
from scorewise.tallies.sorting import Numbers
from scorewise.tallies.tally import Tally
from scorewise.writing import write as put

Stored = dict[str, Any]
_SLACK = 1e-6  # relative; far above what rounding leaves in sums of a billion rows
_MOST = float(np.finfo(np.float64).max)
_LOG_OF_LEAST = 745.0  # log loss of the smallest float above 0
_LARGEST = {
    "log": math.inf, "log clipped": -math.log(CLIP), "brier": 2.0, "spherical": 1.0, "ranked": 1.0
}  # fmt: skip
AnyTally = Tally | ClassTally | TallySet | RowTally
_VERSION = 3
_UNREADABLE = (OSError, ValueError, RecursionError, IndexError)
_SEAL = "scorewise.sha256"
_SEALED = re.compile(_SEAL.encode().replace(b".", rb"\.") + rb"[^0-9a-f]{1,8}([0-9a-f]{64})")
_OPEN = "0" * 64  # where the seal of all other bytes will stand
_SIDES = ("neg", "pos")
_ENDS = ("low", "high", "sum")
_SUMS = ("neg_sum", "pos_sum")
_TALLY = ("score", "neg", "pos", "neg2", "pos2")
_MOST_TERMS = 80  # floats that do not overlap


def save(t: AnyTally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    put(path, content(t))


def content(t: AnyTally) -> bytes:
    """What a file of the tally holds; of several classes and of groups, lists in rows."""
    import polars as pl

    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    how = _FORMS[type(t)]
    columns, about = how.columns(t)
    series = [pl.Series(name, values) for name, values in columns.items()]
    frame = pl.DataFrame([s.implode() if isinstance(t, ClassTally) else s for s in series])
    text, buffer = json.dumps({"version": _VERSION, **about}), io.BytesIO()
    frame.write_parquet(buffer, metadata={how.key: text, _SEAL: _OPEN})
    data = bytearray(buffer.getbuffer())
    place, made = _sealed(data)
    data[place] = made
    return bytes(data)


def load(path: Path, kind: type) -> Any:
    """Read a kind of tally, refusing what is not one, is damaged or comes from another version."""
    return _loaded(path, _FORMS[kind])


def from_content(data: bytes) -> Tally:
    """The tally whose content is given, checked as a file is."""
    how = _FORMS[Tally]._replace(instead="pass that of a tally")
    found: Tally = _loaded(Path("the content"), how, data)
    return found


def load_any(path: Path) -> AnyTally:
    """Read whichever kind of tally a file holds."""
    _, metadata = _metadata(path)
    kind = next((kind for kind, how in _FORMS.items() if how.key in metadata), Tally)
    found: AnyTally = load(path, kind)
    return found


def _loaded(path: Path, how: _Form, data: bytes | None = None) -> Any:
    about, column = _read(path, how, data)
    try:
        t: Any = how.built(about, column)
        wrong = fault(t)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        wrong = "something in it is missing or wrong; make it anew"
        raise BadInput(f"{path.name} is not a valid tally: {wrong}") from e
    if wrong:
        raise BadInput(f"{path.name} is not a valid tally: {wrong}")
    return t


def _read(path: Path, how: _Form, data: bytes | None = None) -> tuple[Stored, Stored]:
    """What the file says of itself, and its columns."""
    import polars as pl

    data, metadata = _metadata(path, data)
    if how.key not in metadata:
        raise BadInput(f"{path.name} is a Parquet file, but not a saved tally; {how.instead}")
    try:
        about: Any = json.loads(metadata[how.key])
    except (ValueError, RecursionError) as e:
        raise _damaged(path) from e
    known = about.get("version") if isinstance(about, dict) else None
    if known != _VERSION:
        raise BadInput(
            f"{path.name} is a tally of version {known}, this scorewise reads "
            f"version {_VERSION}; update scorewise or make the tally anew"
        )
    if not _SEALED.search(data):
        raise _changed(path)
    frame = pl.read_parquet(io.BytesIO(data))
    if how.rows:
        return about, {s.name: s for s in frame}
    return about, {s.name: (s[0] if s.dtype == pl.List else s).to_numpy() for s in frame}


def _metadata(path: Path, data: bytes | None = None) -> tuple[bytes, Stored]:
    """The bytes of a file, read unless they are given, and what it says of itself.

    The seal is of the bytes, and looked at first: on damaged ones a reader of Parquet may end the process.
    """
    import polars as pl

    if data is None:
        data = _bytes_of(path)
    place, made = _sealed(bytearray(data))
    if place.stop and data[place] != made:
        raise _changed(path)
    try:
        return data, dict(pl.read_parquet_metadata(io.BytesIO(data)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *_UNREADABLE) as e:
        raise _damaged(path) from e


def _bytes_of(path: Path) -> bytes:
    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    try:
        return path.read_bytes()  # polars takes brackets in a path for a glob
    except OSError:
        raise _damaged(path) from None


def _changed(path: Path) -> BadInput:
    return BadInput(f"{path.name} is damaged or was edited after it was saved; make it anew")


def _damaged(path: Path) -> BadInput:
    return BadInput(f"{path.name} cannot be read as a saved tally; it is damaged or cut off")


def _sealed(data: bytearray) -> tuple[slice, bytes]:
    """Where the seal of a file stands, if it has one, and what it must be."""
    found = list(_SEALED.finditer(data))
    place = slice(*found[-1].span(1)) if found else slice(0, 0)
    if found:
        data[place] = _OPEN.encode()
    return place, hashlib.sha256(data).hexdigest().encode()


def _columns(t: Tally) -> tuple[Stored, Stored]:
    """The columns of a tally, and what else is to be known of it."""
    columns = {name: getattr(t, name) for name in (_TALLY if t.weighted else _TALLY[:3])}
    about: Stored = {"kind": t.kind, "origin": asdict(t.origin)}
    columns |= _rest_columns(_TALLY[1:], t.rest)
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            columns |= {f"{side}_{name}": getattr(t.coarse, name)[k] for name in _ENDS}
        columns |= _rest_columns(_SUMS, t.coarse.rest)
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    return columns, about


def _rest_columns(names: Sequence[str], rest: Any) -> Stored:
    """What rounding left of some columns, a column for each term that is not zero throughout."""
    terms = [] if rest is None else list(enumerate(rest, start=1))
    pairs = ((f"{n}_rest{k}", term[j]) for k, term in terms for j, n in enumerate(names))
    return {name: column for name, column in pairs if column.any()}


def _rest(names: Sequence[str], column: Stored, size: int) -> Any:
    """The same, read."""
    found = {(k, j): column[f"{n}_rest{k}"] for j, n in enumerate(names)
             for k in range(1, _MOST_TERMS) if f"{n}_rest{k}" in column}  # fmt: skip
    if not found:
        return None
    rest = np.zeros((max(k for k, _ in found), len(names), size))
    for (k, j), values in found.items():
        rest[k - 1, j] = values
    return rest


def _set_columns(t: TallySet) -> tuple[Stored, Stored]:
    """A row of lists for each group."""
    import polars as pl

    made = [(key, *_columns(t[key])) for key in t]
    names = dict.fromkeys(name for _, columns, _ in made for name in columns)
    columns = {}
    for name in names:
        values = [c.get(name) for _, c, _ in made]
        whole = np.result_type(*(v.dtype for v in values if v is not None))
        lists = [None if v is None else v.astype(whole).tolist() for v in values]
        inner: Any = {"i": pl.Int64, "f": pl.Float32 if whole == np.float32 else pl.Float64}
        columns[name] = pl.Series(name, lists, dtype=pl.List(inner[whole.kind]))
    parts = [{"key": key, **about} for key, _, about in made]
    about = {"by": t.by, "window": t.window, "origin": asdict(t.origin), "parts": parts}
    return columns, about


def _built_set(about: Stored, column: Stored) -> TallySet:
    by, parts = tuple(about["by"]), {}
    for k, of in enumerate(about["parts"]):
        own = {name: s[k].to_numpy() for name, s in column.items() if s[k] is not None}
        key = tuple(of["key"])
        if len(key) != len(by) or not all(isinstance(word, str) for word in (*key, *by)):
            raise TypeError
        parts[key] = _built(of, own)
    window = about["window"]
    if window is not None and not isinstance(window, str):
        raise TypeError
    return TallySet(by, parts, window, _origin(about["origin"]))


def _row_columns(t: RowTally) -> tuple[Stored, Stored]:
    """Distinct rows as they are, with their number."""
    about = {"roles": t.roles, "by": t.by, "window": t.window, "origin": asdict(t.origin)}
    return {s.name: s for s in t.frame}, about


def _built_rows(about: Stored, column: Stored) -> RowTally:
    import polars as pl

    frame = pl.DataFrame(list(column.values()))
    return RowTally(
        frame, dict(about["roles"]), tuple(about["by"]), about["window"], _origin(about["origin"])
    )


def _built(about: Stored, column: Stored) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    neg, pos = column["neg"], column["pos"]
    counted = neg.dtype.kind == "i"  # counts are their own squares, and are kept once
    neg2, pos2 = (neg, pos) if counted else (column["neg2"], column["pos2"])
    coarse = None
    if "grid" in about:
        ends = (np.stack([column[f"{side}_{name}"] for side in _SIDES]) for name in _ENDS)
        low, high, total = ends
        losses = {loss: (a, b) for loss, (a, b) in _losses(about["losses"]).items()}
        rest = _rest(_SUMS, column, len(neg))
        coarse = Coarse(about["grid"], column["cell"], low, high, total, losses, rest)
    return Tally(
        column["score"], neg, pos, neg2, pos2, about["kind"], _origin(about["origin"]), coarse,
        _rest(_TALLY[1:], column, len(neg)),
    )  # fmt: skip


def _origin(stored: Stored) -> Origin:
    """The origin as it was stored, refused where a part of it is of another type."""
    shards = tuple(Shard(*shard) for shard in stored["shards"])
    origin = Origin(**{**stored, "sources": tuple(stored["sources"]), "shards": shards})
    for name, size, rows, digest in shards:
        if not isinstance(name, str) or not isinstance(digest, str):
            raise TypeError
        if type(size) is not int or type(rows) is not int:
            raise TypeError
    if type(origin.half) is not bool:
        raise TypeError
    counts = origin.negatives, origin.positives, origin.dropped
    words = origin.score, origin.positive, origin.negative, origin.rule, *origin.sources
    maybe = origin.label, origin.weight
    if not all(type(n) is int and n >= 0 for n in counts):
        raise ValueError
    if not all(isinstance(w, str) for w in (*words, *(w for w in maybe if w is not None))):
        raise TypeError
    return origin


def _losses(stored: Stored) -> Any:
    """The moments of each loss by class, as they were stored."""
    if not all(type(n) in (int, float) for sums in stored.values() for m in sums for n in m):
        raise TypeError
    return {loss: tuple(Moments(*m) for m in sums) for loss, sums in stored.items()}


def _class_columns(t: ClassTally) -> tuple[Stored, Stored]:
    """The same of several classes, part by part."""
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "confusion": (t.confusion, ("weight", "weight2")),
        "top": (t.top, _TALLY),
        "ranked": (t.ranked, _TALLY),
    }
    parts |= {f"class {c}": (marks, MARKS) for c, marks in enumerate(t.each)}
    about: Stored = {
        "kind": t.kind, "classes": t.classes, "losses": t.losses, "rule": t.rule,
        "ordered": t.ordered,
        "tallies": {n: [parts[n][0].kind, asdict(parts[n][0].origin)] for n in ("top", "ranked")},
    }  # fmt: skip
    if t.joint is not None:
        parts["joint"] = (t.joint, JOINT)
        about["joint"] = [float(t.joint.total), float(t.joint.total2)]
    columns = {
        f"{name}: {field}": np.ravel(getattr(part, field))
        for name, (part, fields) in parts.items()
        for field in fields
        # counts are their own squares, and are kept once
        if not (field.endswith("2") and t.confusion.weight.dtype == np.int64)
    }
    for name in about["tallies"]:
        left = _rest_columns(_TALLY[1:], parts[name][0].rest)
        columns |= {f"{name}: {field}": values for field, values in left.items()}
    return columns, about


def _built_classes(about: Stored, column: Stored) -> ClassTally:
    classes, k = tuple(about["classes"]), len(about["classes"])
    if not all(isinstance(c, str) for c in classes):
        raise TypeError

    def weights(part: str, *fields: str) -> list[Any]:
        """Columns of weights; that of squares is the weights themselves where they are counts."""
        plain = [column[f"{part}: {field.removesuffix('2')}"] for field in fields]
        pairs = zip(plain, fields, strict=True)
        return [w if w.dtype.kind == "i" else column[f"{part}: {field}"] for w, field in pairs]

    def scores(name: str) -> Any:
        return column[name].astype(np.float64, copy=False)

    def codes(name: str) -> Any:
        found = column[name].astype(np.int64, copy=False)
        if not np.array_equal(found, column[name]):
            raise ValueError
        return found

    def tally(part: str) -> Tally:
        kind, origin = about["tallies"][part]
        neg, pos, neg2, pos2 = weights(part, *_TALLY[1:])
        own = {name.removeprefix(f"{part}: "): values for name, values in column.items()}
        rest = _rest(_TALLY[1:], own, len(neg))
        score = scores(f"{part}: score")
        return Tally(score, neg, pos, neg2, pos2, kind, _origin(origin), rest=rest)

    each: tuple[Marks, ...] = ()
    if "class 0: score" in column:
        parts = [f"class {c}" for c in range(k)]
        each = tuple(
            Marks(scores(f"{x}: score"), codes(f"{x}: true"), *weights(x, "weight", "weight2"))
            for x in parts
        )
    joint = None
    if "joint" in about:
        total, total2 = about["joint"]
        if type(total) is not float or type(total2) is not float:
            raise TypeError
        w, w2 = weights("joint", "weight", "weight2")
        rows = scores("joint: scores").reshape(-1, k), codes("joint: y")
        joint = Joint.of(*rows, w, w2, totals=(total, total2))
    w, w2 = (x.reshape(k, k) for x in weights("confusion", "weight", "weight2"))
    return ClassTally(
        classes, about["kind"], Confusion(w, w2, classes), tally("top"), tally("ranked"), each,
        None if about["losses"] is None else _losses(about["losses"]), joint, str(about["rule"]),
        bool(about.get("ordered", numbered(classes))),
    )  # fmt: skip


class _Form(NamedTuple):
    """How a kind of tally is kept: the key that tells it, its columns and what is built of them.

    `instead` is the way out if it is another file; `rows` says that columns are kept as they are.
    """

    key: str
    columns: Callable[[Any], tuple[Stored, Stored]]
    built: Callable[[Stored, Stored], Any]
    instead: str
    rows: bool = False


_FORMS: dict[type, _Form] = {
    Tally: _Form("scorewise.tally", _columns, _built, "read it with sw.tally"),
    ClassTally: _Form(
        "scorewise.class_tally",
        _class_columns,
        _built_classes,
        "make it with ClassTally.of and save",
    ),
    TallySet: _Form(
        "scorewise.tally_set", _set_columns, _built_set, "make it with scorewise tally --by", True
    ),
    RowTally: _Form(
        "scorewise.row_tally", _row_columns, _built_rows, "make it with scorewise tally", True
    ),
}


# What contradicts itself in a tally: asked before one is saved, and of one that was read from a file.


def fault(t: AnyTally) -> str:
    """What contradicts itself in a tally, in words; nothing where all is well.

    >>> fault(Tally.of([0, 1], [0.1, 0.2]))
    ''
    >>> one = np.array([1, 0])
    >>> fault(Tally(np.array([2.0, 8.0]), one, one, one, one, "probability"))
    'probabilities must lie in [0, 1]'
    """
    if isinstance(t, RowTally):
        return next(_of_rows(t), "")
    parts: Any = t.parts.values() if isinstance(t, TallySet) else (t,)
    found = (_of_classes(x) if isinstance(x, ClassTally) else _of_tally(x) for x in parts)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge scores are infinite
        return next((wrong for each in found for wrong in each), "")


def _of_rows(t: RowTally) -> Iterator[str]:
    if sorted(t.columns) != sorted(role_columns(t.roles, t.by)):
        yield "the columns must be those of the roles"
    count = t.frame[t.count]
    if not count.dtype.is_integer() or count.null_count() or (count < 0).any():
        yield "the number of rows must be a whole number, 0 or more"
    if t.frame.select(t.columns).is_duplicated().any():
        yield "rows must be distinct"


def _of_tally(t: Tally) -> Iterator[str]:
    """Each finding may rely on those before it being absent; comparisons are such that NaN fails."""
    sides = ((t.neg, t.neg2, t.origin.negatives), (t.pos, t.pos2, t.origin.positives))
    if t.kind not in get_args(Kind):
        yield f"{t.kind!r} is not a kind of score"
    weights = t.neg, t.pos, t.neg2, t.pos2
    if {x.shape for x in (t.score, *weights)} != {(len(t.score),)}:
        yield "columns must have the same length"
    if len({x.dtype.kind for x in weights}) > 1:
        yield "there must be counts of both classes, or weights of both"
    if not (t.score[1:] > t.score[:-1]).all() or not _within(t.score, -_MOST, _MOST):
        yield "scores must be finite and increase"
    if t.kind == "probability" and not _within(t.score, 0, 1):
        yield "probabilities must lie in [0, 1]"
    for w, w2, rows in sides:
        yield from _of_weights(w, w2, rows)
    if t.rest is not None and not _small(t.rest, np.stack(weights)):
        yield "what rounding left must be less than the sums show"
    if t.coarse is not None:
        yield from _of_coarse(t, t.coarse)


def _small(rest: Any, value: Any) -> bool:
    """Whether each term is what rounding may have left of the one before.

    That is half a step at most; next to a tie it is all but the half, which is then the term. Nothing is
    left of a sum that is beyond the floats.
    """
    before = [value, *rest[:-1]]
    with np.errstate(invalid="ignore"):
        steps = [np.where(np.isinf(a), 0, np.spacing(np.abs(a)) / 2) for a in before]
    return all((np.abs(b) <= step).all() for b, step in zip(rest, steps, strict=True))


def _of_weights(w: Numbers, w2: Numbers, rows: int) -> Iterator[str]:
    """Counts add up to the rows; of weights, the squares fit them and so many rows."""
    if not all(_within(x, 0, _MOST) for x in (w, w2)):
        yield "weights must be finite and 0 or more"
    if w.dtype.kind == "i":
        if w.sum() != rows or not (w2 is w or np.array_equal(w, w2)):
            yield "counts must add up to the number of rows"
        return
    # squares of n weights add up to at most the square of their sum, and to at least the n-th part of it;
    # the number of rows may be an effective one, which is rounded
    if not (w2 <= w * w * (1 + _SLACK)).all():
        yield "squared weights must fit the weights"
    if not w.sum() ** 2 <= 1.5 * rows * w2.sum() * (1 + _SLACK) or rows >= 2**63:
        yield "weights must fit the number of rows"


def _of_coarse(t: Tally, c: Coarse) -> Iterator[str]:
    if c.grid not in get_args(Grid) or c.cell.dtype.kind != "i":
        yield "the cells must be those of a known grid"
    wanted = set() if t.kind == "score" else set(LOSSES)
    if set(c.losses) != wanted:
        yield "the losses must be those of the kind of score"
    if not {x.shape for x in (c.low, c.high, c.sum)} == {(2, len(c.cell))} == {(2, len(t.score))}:
        yield "columns must have the same length"
    if c.rest is not None and not _small(c.rest, c.sum):
        yield "what rounding left must be less than the sums show"
    for k in (0, 1):
        yield from _of_side(t, c, k)
    size = np.maximum(np.abs(c.low.min(0)), np.abs(c.high.max(0)))
    near = max(1e-9, float(np.finfo(t.score.dtype).eps))  # scores of 32 bits have seven digits
    centred = (np.abs(c.middle - t.score) <= near * size).all()
    if not (np.diff(c.cell) > 0).all() or not centred:
        yield "the cells must increase, and their scores lie in their middle"


def _of_side(t: Tally, c: Coarse, k: int) -> Iterator[str]:
    """The negatives (0) or the positives (1) of a coarse tally."""
    sides: Any = ((t.neg, t.neg2), (t.pos, t.pos2))
    here = sides[k][0] > 0
    w, w2, low, high, total = (x[here] for x in (*sides[k], c.low[k], c.high[k], c.sum[k]))
    none = (c.low[k][~here] == np.inf).all() and (c.high[k][~here] == -np.inf).all()
    first, last = (0, 1) if t.kind == "probability" else (-_MOST, _MOST)
    if not none or not ((first <= low) & (low <= high) & (high <= last)).all():
        yield "the ends of each cell must be scores, and the lower below the upper"
    if not all(np.array_equal(cell_of(end, c.grid), c.cell[here]) for end in (low, high)):
        yield "the ends of each cell must lie in it"
    inside = _between(total, w * unit(low, t.kind), w * unit(high, t.kind))
    if not inside or c.sum[k][~here].any():
        yield "the sum of the scores of a cell must lie between its ends"
    for loss, moments in c.losses.items():
        on = charges(low, t.kind, loss)[k], charges(high, t.kind, loss)[k]
        least, most = np.minimum(*on), np.maximum(*on)
        endless = ~np.isfinite(most)  # infinite losses are left out of the sums
        least, most = np.where(endless, 0, least), np.where(endless, _LOG_OF_LEAST, most)
        sums = ((w, 1), (w2, 1), (w2, 2))
        if not all(
            _between(np.array(m), (x * least**power).sum(), (x * most**power).sum())
            for m, (x, power) in zip(moments[k], sums, strict=True)
        ):
            yield "the losses must fit the scores"


def _of_classes(t: ClassTally) -> Iterator[str]:
    k, w, w2 = len(t.classes), t.confusion.weight, t.confusion.weight2
    if t.kind not in get_args(ClassKind) or len(set(t.classes)) < max(k, 2):
        yield "there must be two different classes or more, and a known kind of score"
    if not w.shape == w2.shape == (k, k) or t.confusion.classes != t.classes:
        yield "there must be a decision for each class"
    yield from _of_weights(w.ravel(), w2.ravel(), t.rows)
    for part in (t.top, t.ranked):
        yield from _of_tally(part)
        sums = part.positives, part.squares[1], part.negatives + part.positives, sum(part.squares)
        near = _near(sums, (w.trace(), w2.trace(), w.sum(), w2.sum()))
        if not near or part.origin.rows != t.rows:
            yield "the confidence must be that of the decisions"
    if len(t.each) not in (0, k) or any(x is not None for x in (t.losses, t.joint)) > bool(t.each):
        yield "there must be scores of each class, or of none"
    for marks in t.each:
        yield from _of_marks(marks, t)
    yield from _of_class_losses(t)
    yield from _of_joint(t)


def _of_marks(marks: Any, t: ClassTally) -> Iterator[str]:
    score, true, k = marks.score, marks.true, len(t.classes)
    if {x.shape for x in (score, true, marks.weight, marks.weight2)} != {(len(score),)}:
        yield "columns must have the same length"
    if not _within(score, 0, 1) or not _within(true, 0, k - 1):
        yield "probabilities must lie in [0, 1], and classes be known"
    up = np.diff(score)
    if not ((up > 0) | ((up == 0) & (np.diff(true) > 0))).all():
        yield "probabilities must increase"
    for w, total in ((marks.weight, t.weight), (marks.weight2, t.weight2)):
        if not (w >= 0).all() or not _near(np.bincount(true, w, k), total):
            yield "each class must have the same weight in all parts"


def _of_class_losses(t: ClassTally) -> Iterator[str]:
    if t.losses is None:
        return
    many = {len(sums) for sums in t.losses.values()}
    if set(t.losses) != set(CLASS_LOSSES) or many != {len(t.classes)}:
        yield "there must be the sums of each loss for each class"
    for loss, sums in t.losses.items():
        # the probabilities of a row may add up to a little more than 1
        most = 1.1 * _LARGEST[loss]
        for m, w, w2 in zip(sums, t.weight.tolist(), t.weight2.tolist(), strict=True):
            # of no weight nothing, however large a loss may be
            if not all(
                0 <= x <= (many and many * most)
                for x, many in zip(m, (w, w2, m.square), strict=True)
            ):
                yield "the losses must fit the weights"


def _of_joint(t: ClassTally) -> Iterator[str]:
    j = t.joint
    if j is None:
        return
    if not len(j.scores) == len(j.y) == len(j.weight) == len(j.weight2) <= MOST:
        yield "columns must have the same length"
    known = np.isfinite(j.scores).all() and _within(j.y, 0, len(t.classes) - 1)
    if not known or (t.kind == "probability" and not _within(j.scores, 0, 1)):
        yield "scores must be finite, probabilities lie in [0, 1], and classes be known"
    if not all((w >= 0).all() for w in (j.weight, j.weight2)):
        yield "weights must be finite and 0 or more"
    sums = j.weight.sum(), j.weight2.sum()
    whole = t.weight.sum(), t.weight2.sum()
    if not _near((j.total, j.total2), whole) or (len(j.y) < MOST and not _near(sums, whole)):
        yield "the rows must have the weight of the whole"
    if not all(a <= b * (1 + _SLACK) for a, b in zip(sums, whole, strict=True)):
        yield "a sample of rows cannot weigh more than all"


def _within(x: NDArray[Any], low: float, high: float) -> bool:
    # the least and the largest of numbers with NaN among them are NaN, which fails
    return not x.size or (float(x.min()) >= low and float(x.max()) <= high)


def _between(x: NDArray[Any], low: Any, high: Any) -> bool:
    """Whether numbers lie between others, but for rounding."""
    slack = _SLACK * np.maximum(np.abs(low), np.abs(high))
    return bool((((low - slack <= x) | (x == low)) & ((x <= high + slack) | (x == high))).all())


def _near(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=_SLACK, atol=0))

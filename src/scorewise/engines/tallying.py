"""From a frame in its engine to a tally: rows counted in cells there, cells put together here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from scorewise.arrays import Ints
from scorewise.columns import Kind
from scorewise.columns.grouping import intersections
from scorewise.columns.labels import word_codes
from scorewise.columns.vectors import vector
from scorewise.engines import arithmetic
from scorewise.engines.arithmetic import Limbs, digits_for, top_of
from scorewise.engines.file_walk import TallyOptions
from scorewise.engines.frames import (
    CheckedFrame,
    Step,
    Totals,
    check_frame,
    choose_columns,
    refuse_counts,
)
from scorewise.errors import BadInput, Option
from scorewise.tallies import exact
from scorewise.tallies.coarse import Coarse, cell_of, empty_ends, grid_of
from scorewise.tallies.exact import Exact
from scorewise.tallies.losses import CLIP, Loss, Moments
from scorewise.tallies.origin import Origin
from scorewise.tallies.sets import TallySet
from scorewise.tallies.tally import Tally

EXACT_ROWS = 1 << 16  # of which the scores are no more than the cells would be
_IDLE = -(1 << 60)  # the key of rows without weight
_CHARGED: tuple[Loss, ...] = ("brier", "spherical", "log")
_LARGEST = {"brier": 1.0, "spherical": 1.0, "log": 745.0}


def tally_frame(source: Any, asked: TallyOptions) -> Tally | TallySet:
    """The tally of a frame that stays in its engine; by groups, one for each.

    Up to 65,536 rows it is exact. Of more it is coarse, on the grid that suits the scores, and the same as
    `Tally.of(...).coarsen()` of the rows, bit for bit.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9]})
    >>> tally_frame(frame, TallyOptions({"label": "y", "score": "p"}))
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """
    refuse_counts(asked.roles.get("count"))
    frame, groups = nw.from_native(source), asked.groups
    choice = choose_columns(frame, asked)
    if len(choice.columns["score"]) > 1:
        raise BadInput("a tally is of one column of scores; name one as ", Option("score"))
    found = check_frame(frame, choice, asked)
    plan = Plan.of(found, found.rows <= EXACT_ROWS)
    totals = plan.totals([f"g{k}" for k in range(len(groups))])
    cells = collected(totals.query(found.frame, partial(plan.columns, found.complete)))
    origin = Origin(
        found.names["y"], choice.columns["score"][0], found.names.get("w"),
        found.labels.positive, found.labels.negative, found.labels.rule, half=found.half,
    )  # fmt: skip
    if not groups:
        return plan.tally(cells, replace(origin, dropped=found.dropped))
    words = {name: word_codes(vector(cells[f"g{k}"], name)) for k, name in enumerate(groups)}
    codes, keys = intersections(words)
    parts = {
        key: plan.tally({c: v[codes == k] for c, v in cells.items() if c[0] != "g"}, origin)
        for k, key in enumerate(keys)
    }
    return TallySet(tuple(groups), parts, origin=replace(origin, dropped=found.dropped))


def collected(query: Any) -> dict[str, Any]:
    """What a query gives, as numpy arrays; columns of groups as their library has them."""
    made = query.collect()
    return {
        c: np.asarray(made[c].to_list(), object) if c[0] == "g" else made[c].to_numpy()
        for c in made.columns
    }


@dataclass(frozen=True)
class Plan:
    """Which sums are taken of one column of scores, and how they become a tally."""

    kind: Kind
    narrow: bool
    weighted: bool
    exact: bool
    # the least size that is not 0, or distance from 0 or 1; and the greatest size
    ends: tuple[float, float]
    limbs: tuple[Limbs, ...]

    @classmethod
    def of(cls, found: CheckedFrame, exact: bool) -> Plan:
        """The plan for checked columns."""
        scores, kind, weight = found.score, found.kind, found.weight
        largest = max(-scores.low, scores.high)
        ends = (scores.inside, 1.0) if kind == "probability" else (scores.least, largest)
        limbs: list[Limbs] = []
        if weight is not None:
            least, most = weight.least, weight.high
            limbs.append(Limbs("w", *digits_for(least, most)))
            limbs.append(Limbs("w2", *digits_for(least * least, most * most)))
        if not exact:
            limbs += _sums(kind, largest, None if weight is None else most)
        return cls(kind, found.narrow, weight is not None, exact, ends, (*limbs,))

    def totals(self, groups: Sequence[str] = ()) -> Totals:
        """What is counted: rows by label, group and key, the ends of their scores and sums of integers."""
        digits = [name for limbs in self.limbs for name in limbs.names]
        keys = ("y", "key", "scale", "own", *groups)
        return Totals(keys, ("n", *digits), ("low",), ("high",))

    def columns(self, complete: Step, frame: Any) -> Any:
        """Key, score and digits of each row of a frame whose columns were checked."""
        frame = complete(frame)
        if self.weighted:
            frame = frame.with_columns(w2=nw.col("w") * nw.col("w"))
        if self.exact:
            frame = frame.with_columns(key=nw.lit(0), scale=nw.lit(0), own=nw.col("s"))
        elif self.kind == "probability":
            frame = arithmetic.probability_keys(frame, self.ends[0])
            frame = _charged(arithmetic.losses(frame), self.weighted)
        else:
            frame = arithmetic.relative_keys(frame, *self.ends)
        if self.weighted:
            # rows of no weight are counted, and are in no cell
            idle = nw.col("w") == 0.0
            frame = frame.with_columns(
                ws=nw.col("w") * nw.col("s"),
                key=nw.when(idle).then(_IDLE).otherwise(nw.col("key")),
                scale=nw.when(idle).then(0).otherwise(nw.col("scale")),
                own=nw.when(idle).then(0.0).otherwise(nw.col("own")),
            )
        if self.limbs:
            frame = arithmetic.cut(frame, [*self.limbs])
        return frame.with_columns(n=nw.lit(1), low=nw.col("s"), high=nw.col("s"))

    def tally(self, cells: Mapping[str, Any], origin: Origin) -> Tally:
        """The tally of what came back."""
        rows = np.bincount(cells["y"], cells["n"], 2).astype(np.int64)
        origin = replace(origin, negatives=int(rows[0]), positives=int(rows[1]))
        used = cells["key"] != _IDLE
        g = _Groups({c: v[used] for c, v in cells.items() if c[0] != "g"}, self)
        score: Any
        if self.exact:
            score, at = np.unique(g["low"], return_inverse=True)
            coarse = None
        else:
            number, at = np.unique(cell_of(g["low"], grid_of(self.kind)), return_inverse=True)
            if not np.array_equal(number[at], cell_of(g["high"], grid_of(self.kind))):
                raise AssertionError("the engine put scores of two cells together")
            coarse = self._coarse(g, number, at)
            score = coarse.middle
        columns = self._weights(g, at, len(score))
        narrow = score.astype(np.float32) if self.narrow else score
        return Tally(narrow, kind=self.kind, origin=origin, coarse=coarse, **columns)

    def _weights(self, g: _Groups, at: Ints, size: int) -> dict[str, Any]:
        if not self.weighted:
            neg, pos = g.counted(at, size)
            return {"neg": neg, "pos": pos}
        sums = [g.added(name, at, size) for name in ("w", "w2")]
        return exact.as_columns(exact.together(sums, np.concatenate, -2))

    def _coarse(self, g: _Groups, number: Ints, at: Ints) -> Coarse:
        size = len(number)
        low, high = empty_ends(size)
        np.minimum.at(low, (g["y"], at), g["low"])
        np.maximum.at(high, (g["y"], at), g["high"])
        weighted = self.weighted  # what rounding leaves of products is not kept
        sums = exact.as_exact(g.added("ws", at, size).value) if weighted else g.scaled(at, size)
        losses = g.losses() if self.kind == "probability" else {}
        return Coarse.of(grid_of(self.kind), number, low, high, sums, losses)


def _sums(kind: Kind, largest: float, weight: float | None) -> list[Limbs]:
    """The sums that coarse tallies keep: of scores, and of losses and their squares."""
    weighted = weight is not None
    limbs = [Limbs("a", 0, 2) if weight is None else Limbs("ws", top_of(weight * largest), 3)]
    for loss in _CHARGED if kind == "probability" else ():
        for name, (of_weight, of_loss) in _products(loss, weighted).items():
            top = top_of((weight or 1.0) ** of_weight * _LARGEST[loss] ** of_loss)
            limbs.append(Limbs(name, top, 3 if weighted else 2 + top))
    return limbs


def _products(loss: str, weighted: bool) -> dict[str, tuple[int, int]]:
    """What is summed of a loss: columns by name, with their powers of the weight and of the loss."""
    if not weighted:
        return {loss: (0, 1), f"{loss}2": (0, 2)}
    return {f"{loss}_w": (1, 1), f"{loss}_w2": (2, 1), f"{loss}2_w2": (2, 2)}


def _charged(frame: Any, weighted: bool) -> Any:
    """Losses times weights, and their squares."""
    made = {}
    for loss in _CHARGED:
        for name, (of_weight, of_loss) in _products(loss, weighted).items():
            charge = nw.col(("", "w", "w2")[of_weight]) * nw.col(loss) if weighted else nw.col(loss)
            made[name] = charge * nw.col(loss) if of_loss == 2 else charge
    return frame.with_columns(**made)


class _Groups:
    """The groups that came back, by column."""

    def __init__(self, columns: Mapping[str, Any], plan: Plan) -> None:
        self._columns, self._plan = columns, plan
        self._limbs = {limbs.column: limbs for limbs in plan.limbs}

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def counted(self, at: Ints, size: int) -> Ints:
        """Rows by class and cell."""
        total = np.zeros((2, size), np.int64)
        np.add.at(total, (self["y"], at), self["n"])
        return total

    def added(self, name: str, at: Any, size: int, where: Any = True) -> Exact:
        """Exact sums by class and cell."""
        limbs = self._limbs[name]
        total = np.zeros((limbs.many, 2, size), np.int64)
        for k, column in enumerate(limbs.names):
            np.add.at(total[k], (self["y"], at), np.where(where, self[column], 0))
        return exact.from_digits(total, limbs.top)

    def scaled(self, at: Ints, size: int) -> Exact:
        """The exact sums of scores by class and cell, each group having a power of two of its own."""
        limbs = self._limbs["a"]
        sums = exact.from_digits(np.stack([self[name] for name in limbs.names]), limbs.top)
        sign = np.where(self["high"] < 0, -1.0, 1.0)
        with np.errstate(over="ignore"):
            terms = np.ldexp(sign * np.stack([sums.value, *sums.rest]), -self["scale"])
        value, rest = exact.add(2 * size, [(Exact(terms[0], terms[1:]), self["y"] * size + at)])
        return Exact(value.reshape(2, size), rest.reshape(-1, 2, size))

    def losses(self) -> dict[Loss, tuple[Moments, Moments]]:
        """Sums of losses and their squares by class; the clipped logarithm by the cells beyond the clip."""
        up = self["y"] == 1
        # the grid has edges at the clip, so that a group is on one side of it
        tiny, full = self["high"] < CLIP, self["low"] >= 1.0 - CLIP
        worst, best = np.where(up, tiny, full), np.where(up, full, tiny)
        made: dict[Loss, tuple[Moments, Moments]] = {}
        for loss in _CHARGED:
            made[loss] = self._moments(loss)
        inner = self._moments("log", ~(worst | best))
        ends = [(worst, -float(np.log(CLIP))), (best, -float(np.log1p(-CLIP)))]
        clipped = list(inner)
        for where, charge in ends:
            mass, square = self._mass(where)
            for side in (0, 1):
                clipped[side] += Moments(
                    mass[side] * charge, square[side] * charge, square[side] * charge**2
                )
        made["log clipped"] = clipped[0], clipped[1]
        return made

    def _mass(self, where: Any) -> list[Any]:
        """The weights and the squared weights of both classes."""
        if not self._plan.weighted:
            return [np.bincount(self["y"], np.where(where, self["n"], 0), 2)] * 2
        return [self.added(name, 0, 1, where).value[:, 0] for name in ("w", "w2")]

    def _moments(self, loss: str, where: Any = True) -> tuple[Moments, Moments]:
        names = list(_products(loss, self._plan.weighted))
        names = names if self._plan.weighted else [names[0], *names]
        sums = np.stack([self.added(name, 0, 1, where).value[:, 0] for name in names])
        both = [Moments(*side) for side in sums.T.tolist()]
        return both[0], both[1]

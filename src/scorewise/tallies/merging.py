"""Saved tallies added up: the month of its days; refused where they do not mean the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scorewise.columns.paths import expand, names_of
from scorewise.errors import BadInput, Option
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.sets import RowTally, TallySet
from scorewise.tallies.store import AnyTally, load_any
from scorewise.tallies.tally import Tally

ENDING = ".tally"


def is_saved(source: Any) -> bool:
    """Whether the source names files of saved tallies, and no others."""
    listed = list(source) if isinstance(source, list | tuple) else [source]
    if not listed or not all(isinstance(s, str | os.PathLike) for s in listed):
        return False
    saved = [os.fspath(s).lower().endswith(ENDING) for s in listed]
    if any(saved) and not all(saved):
        other = next(os.fspath(s) for s, own in zip(listed, saved, strict=True) if not own)
        raise BadInput(
            f"saved tallies do not go together with rows ({other}); make a tally of the rows first, with "
            "scorewise tally"
        )
    return all(saved)


def saved(source: Any, again: bool = False) -> AnyTally | None:
    """The sum of saved tallies, where the source names such files; else nothing."""
    if not is_saved(source):
        return None
    return merged(list(source) if isinstance(source, list | tuple) else [source], again)


def taken(source: Any, beside: Any = None) -> Any:
    """The tally of all rows where the source names saved tallies; else the source itself.

    With columns beside it, the source is a column.
    """
    found = saved(source) if beside is None else None
    if isinstance(found, RowTally | ClassTally):
        raise unread(found, "one score of two classes is")
    return source if found is None else found.whole if isinstance(found, TallySet) else found


def unread(t: AnyTally | None, needed: str) -> BadInput:
    """The refusal of a tally by a verb that needs something else: what it has, and which verbs read it."""
    what = "classes" if isinstance(t, ClassTally) else "score"
    if isinstance(t, RowTally):
        what = next((role for role in ("raters", "classes") if role in t.roles), "scores")
    has, verbs = _HELD[what]
    return BadInput(f"the tally has {has}, but {needed} needed here; {verbs}")


_HELD = {
    "score": (
        "one score of two classes",
        "evaluate, report, smroc, threshold, gate, plan, drift and calibrate fit read it",
    ),
    "scores": ("several scores", "evaluate, report and compare read it"),
    "classes": ("the scores of several classes", "evaluate, report, gate and plan read it"),
    "raters": ("ratings", "agree reads it"),
}


def not_rows(path: Path) -> BadInput:
    """The refusal of a saved tally by a verb that needs the rows themselves."""
    return unread(load_any(path), "single rows are")


def scores_of(t: RowTally, by: Any = None) -> dict[str, Any]:
    """The options with which verbs of scores read distinct rows; refused where they are ratings."""
    if "raters" in t.roles:
        raise unread(t, "scores are")
    return t.options(by)


def ratings_of(t: AnyTally, by: Any = None) -> dict[str, Any]:
    """The frame and options with which `agree` reads distinct rows; refused where they are no ratings."""
    if not isinstance(t, RowTally) or "raters" not in t.roles:
        raise unread(t, "ratings are")
    return {"ratings": t.frame, **t.options(by)}


def merged(files: Sequence[Any], again: bool = False) -> AnyTally:
    """The sum of the tallies in files.

    They have to be of the same columns, classes, kind of scores and grid; one that has a file of rows which
    another has too is refused, unless `again`.
    """
    paths = expand(files)
    names = names_of(paths)
    loaded = [(name, load_any(path)) for name, path in zip(names, paths, strict=True)]
    stack: list[tuple[str, AnyTally, int]] = []
    for last, t in loaded:
        name, found, size = str(last), t, _cells(t)
        while stack and stack[-1][2] <= 2 * size:  # small ones first
            before, other, _ = stack.pop()
            found, name = _added(before, other, name, found, again), before
            size = _cells(found)
        stack.append((name, found, size))
    name, total, _ = stack.pop()
    while stack:
        before, other, _ = stack.pop()
        total, name = _added(before, other, name, total, again), before
    return total


def _cells(t: AnyTally) -> int:
    if isinstance(t, Tally):
        return len(t.score)
    if isinstance(t, RowTally):
        return t.frame.height
    return sum(len(x.score) for x in t.values()) if isinstance(t, TallySet) else len(t.top.score)


def _added(first: str, a: AnyTally, second: str, b: AnyTally, again: bool) -> AnyTally:
    if isinstance(a, ClassTally) and isinstance(b, ClassTally):
        return a + b
    if isinstance(a, RowTally) and isinstance(b, RowTally):
        own = replace(b, origin=b.origin.apart_from(a.origin)) if again else b
        return a + own
    if isinstance(a, RowTally) or isinstance(b, RowTally):
        row, plain = (first, second) if isinstance(a, RowTally) else (second, first)
        raise BadInput(
            f"{row} has rows of several columns, and {plain} has one score; make both alike"
        )
    if isinstance(a, ClassTally) or isinstance(b, ClassTally):
        raise BadInput(f"{first} and {second} are not both of two classes, or both of several")
    if isinstance(a, TallySet) != isinstance(b, TallySet):
        by, plain = (first, second) if isinstance(a, TallySet) else (second, first)
        raise BadInput(
            f"{by} has tallies by group, and {plain} one of all rows; make both with the same ",
            Option("by"),
        )
    _check(first, a, second, b)
    if again:
        b = replace(b, origin=b.origin.apart_from(a.origin))
    if isinstance(a, TallySet):
        assert isinstance(b, TallySet)
        return a + b
    assert isinstance(b, Tally)
    return a + b


def _check(first: str, a: Tally | TallySet, second: str, b: Tally | TallySet) -> None:
    """Refuse tallies whose labels, scores, weights or cells do not mean the same."""
    for what, way, of in (
        ("label", "", lambda t: t.origin.label),
        ("score", "", lambda t: t.origin.score),
        ("positive class", "positive", lambda t: t.origin.positive),
        ("negative class", "positive", lambda t: t.origin.negative),
        ("weight", "", lambda t: t.origin.weight),
        ("kind of score", "kind", lambda t: _one(t).kind),
        ("grid", "grid", _grid),
    ):
        mine, other = of(a), of(b)
        if what == "grid" and None in (mine, other):
            continue  # exact ones go onto the grid of the other
        if mine != other:
            ways: tuple[Any, ...] = (
                ("make both with the same ", Option(way))
                if way
                else ("only rows that mean the same add up",)
            )
            raise BadInput(
                f"the {what} is {_said(mine)} in {first} and {_said(other)} in {second}; ", *ways
            )


def _one(t: Tally | TallySet) -> Tally:
    return t if isinstance(t, Tally) else next(iter(t.values()), Tally.empty())


def _grid(t: Tally | TallySet) -> str | None:
    coarse = _one(t).coarse
    return None if coarse is None else coarse.grid


def _said(value: Any) -> str:
    return "none" if value is None else f"'{value}'"


def check_path(path: str | Path) -> None:
    """Refuse an output that would not be known as a tally again."""
    if not os.fspath(path).lower().endswith(ENDING) and not Path(path).is_char_device():
        raise BadInput(Option("out", os.fspath(path)), f" has to end in {ENDING}")

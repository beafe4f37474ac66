"""Saved tallies added up: the month of its days; refused where they do not mean the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from scorewise.columns.paths import expand, names_of
from scorewise.errors import BadInput, Option
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.consistency import AnyTally
from scorewise.tallies.sets import RowTally, TallySet, pile, said
from scorewise.tallies.store import load
from scorewise.tallies.tally import Tally

ENDING = ".tally"


def as_list(source: Any) -> list[Any]:
    """One source or several as a list."""
    return list(source) if isinstance(source, list | tuple) else [source]


def is_saved(source: Any) -> bool:
    """Whether the source names files of saved tallies, and no others."""
    names = as_list(source)
    if not names or not all(isinstance(s, str | os.PathLike) for s in names):
        return False
    saved = [os.fspath(s).lower().endswith(ENDING) for s in names]
    if any(saved) and not all(saved):
        other = next(os.fspath(s) for s, is_tally in zip(names, saved, strict=True) if not is_tally)
        raise BadInput(
            f"saved tallies do not go together with rows ({other}); make a tally of the rows first, with "
            "scorewise tally"
        )
    return all(saved)


def sum_of_saved(source: Any, again: bool = False) -> AnyTally | None:
    """The sum of saved tallies, where the source names such files; else nothing."""
    return merge_files(as_list(source), again) if is_saved(source) else None


def tally_or_source(source: Any, column: Any = None) -> Any:
    """The tally of all rows where the source names saved tallies; else the source itself.

    With columns beside it, the source is a column.
    """
    tally = sum_of_saved(source) if column is None else None
    if isinstance(tally, RowTally | ClassTally):
        raise not_readable(tally, "one score of two classes is")
    return source if tally is None else tally.whole if isinstance(tally, TallySet) else tally


def not_readable(t: AnyTally | None, needed: str) -> BadInput:
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


def rows_needed(path: Path) -> BadInput:
    """The refusal of a saved tally by a verb that needs the rows themselves."""
    return not_readable(load(path), "single rows are")


def scores_of(t: RowTally, by: Any = None) -> dict[str, Any]:
    """The options with which verbs of scores read distinct rows; refused where they are ratings."""
    if "raters" in t.roles:
        raise not_readable(t, "scores are")
    return t.options(by)


def ratings_of(t: AnyTally, by: Any = None) -> dict[str, Any]:
    """The frame and options with which `agree` reads distinct rows; refused where they are no ratings."""
    if not isinstance(t, RowTally) or "raters" not in t.roles:
        raise not_readable(t, "ratings are")
    return {"ratings": t.frame, **t.options(by)}


def merge_files(files: Sequence[Any], again: bool = False) -> AnyTally:
    """The sum of the tallies in files.

    They have to be of the same columns, classes, kind of scores and grid; one that has a file of rows which
    another has too is refused, unless `again`.
    """
    paths = expand(files)
    loaded = [(str(name), load(p)) for name, p in zip(names_of(paths), paths, strict=True)]
    sums: list[tuple[str, AnyTally]] = []

    def both(first: tuple[str, AnyTally], second: tuple[str, AnyTally]) -> tuple[str, AnyTally]:
        return first[0], _added(*first, *second, again)

    for part in loaded:
        pile(sums, part, both, lambda part: part[1].cells)
    return reduce(lambda total, part: both(part, total), reversed(sums))[1]


def _added(first: str, a: Any, second: str, b: Any, again: bool) -> AnyTally:
    for kind, problem in _KINDS.items():
        if isinstance(a, kind) != isinstance(b, kind):
            special, plain = (first, second) if isinstance(a, kind) else (second, first)
            sentence = problem.format(first=first, second=second, own=special, plain=plain)
            raise BadInput(sentence, *[Option("by")] * (kind is TallySet))
    if isinstance(a, Tally | TallySet):
        _check(first, a, second, b)
    if again and not isinstance(a, ClassTally):
        b = replace(b, origin=b.origin.apart_from(a.origin))
    total: AnyTally = a + b
    return total


_KINDS: dict[type, str] = {
    RowTally: "{own} has rows of several columns, and {plain} has one score; make both alike",
    ClassTally: "{first} and {second} are not both of two classes, or both of several",
    TallySet: "{own} has tallies by group, and {plain} one of all rows; make both with the same ",
}


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
            ways: Any = ["make both with the same ", Option(way)]
            raise BadInput(
                f"the {what} is {said(mine)} in {first} and {said(other)} in {second}; ",
                *(ways if way else ["only rows that mean the same add up"]),
            )


def _one(t: Tally | TallySet) -> Tally:
    return t if isinstance(t, Tally) else next(iter(t.values()), Tally.empty())


def _grid(t: Tally | TallySet) -> str | None:
    coarse = _one(t).coarse
    return None if coarse is None else coarse.grid


def check_path(path: str | Path) -> None:
    """Refuse an output that would not be known as a tally again."""
    if not os.fspath(path).lower().endswith(ENDING) and not Path(path).is_char_device():
        raise BadInput(Option("out", os.fspath(path)), f" has to end in {ENDING}")

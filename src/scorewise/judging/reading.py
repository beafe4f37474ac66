"""Humans and automatic judges on the same items, read once: patterns of codes, and the truth."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns import Columns, Place, read
from scorewise.columns.files import Opened, open_frame, open_source
from scorewise.columns.grouping import check_groups
from scorewise.columns.labels import coded, listed, text
from scorewise.columns.rating_codes import coded_ratings
from scorewise.columns.ratings import Scale
from scorewise.columns.rows import group_columns, no_name
from scorewise.columns.vectors import Coded, Numbers, Vector
from scorewise.errors import BadInput, Option
from scorewise.inference.agreement_weights import agreements
from scorewise.tallies import Confusion
from scorewise.tallies.rating_patterns import folded
from scorewise.tallies.ratings import paired

NoAnswer: TypeAlias = Literal["drop", "wrong"]
Codes: TypeAlias = NDArray[np.int32]
MOST = 1000  # categories
SILENT = "no answer"
_KNOWN = (("1", "2"), ("a", "b"), ("first", "second"), ("left", "right"))


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Codes of humans, judges and judges asked again, a row for each pattern; -1 is no rating.

    `answers` are what the judges said, out of `words`. In `judges` and `swapped`, where no answer counts
    as wrong it is a category of its own, the last of `categories`, that no human uses. `count` is the
    number of items with each pattern, `weight` and `weight2` are the sums of their weights and of the
    squares of those. `agreement` says how much each two categories agree, `weights` how that is called.
    Where items come in clusters, each has a row of its own, and `cluster` is its number. `given` are all
    columns item by item, with the weights of items, if they have any, and the codes and words of `groups`.
    """

    humans: dict[str, Codes]
    answers: dict[str, Codes]
    judges: dict[str, Codes]
    swapped: dict[str, Codes]
    swap: Swap | None
    count: Ints
    weight: NDArray[Any]
    weight2: NDArray[Any]
    words: tuple[str, ...]
    categories: tuple[str, ...]
    values: Floats
    agreement: Floats
    weights: str
    weighted: bool
    place: Place
    given: Codes
    heavy: Floats | None = None
    cluster: Ints | None = None
    groups: dict[str, tuple[Ints, list[str]]] = field(default_factory=dict)

    def part(self, at: Ints) -> Panel:
        """Some of the items, in no groups."""
        codes, heavy = self.given[at], None if self.heavy is None else self.heavy[at]
        cluster = None
        if self.cluster is not None:
            cluster = np.unique(self.cluster[at], return_inverse=True)[1]
        names = ([*self.humans], [*self.answers], [*self.swapped])
        wrong = len(self.categories) > len(self.words)
        said = _patterns(codes, heavy, cluster, names, len(self.words), wrong)
        return replace(self, **said, given=codes, heavy=heavy, cluster=cluster, groups={})

    @cached_property
    def _votes(self) -> tuple[Codes, NDArray[np.int64]]:
        """The codes of the humans side by side, and for each how many of them said the same."""
        return _votes(np.stack(list(self.humans.values()), axis=1))

    @property
    def told(self) -> Bools:
        """Which items have a truth, item by item."""
        return np.asarray(_most(*_votes(self.given[:, : len(self.humans)])) >= 0)

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """How many humans rated each."""
        return np.asarray((self._votes[0] >= 0).sum(1), np.int64)

    @cached_property
    def truth(self) -> Codes:
        """What most humans said; -1 where nobody did or two ratings have as many votes."""
        return _most(*self._votes)

    def others(self, human: str) -> Codes:
        """What most of the other humans said."""
        codes, votes = self._votes
        at = list(self.humans).index(human)
        fewer = votes - (codes == codes[:, [at]]) * (codes >= 0)
        rest = np.arange(codes.shape[1]) != at
        return _most(codes[:, rest], fewer[:, rest])

    @cached_property
    def labelled(self) -> Bools:
        """Patterns with at least one human rating."""
        found: Bools = self.votes > 0
        return found

    def items(self, where: Bools) -> int:
        """How many items are there."""
        return int(self.count[where].sum())

    def sums(self, where: Bools) -> tuple[float, float]:
        """Their weight, and the sum of its squares."""
        return float(self.weight[where].sum()), float(self.weight2[where].sum())

    def confusion(self, first: Codes, second: Codes) -> Confusion:
        """The table of two columns, over the items that have both."""
        return paired(first, second, self.weight, self.weight2, self.categories)


def _patterns(
    codes: Codes,
    heavy: Floats | None,
    cluster: Ints | None,
    names: tuple[Sequence[str], Sequence[str], Sequence[str]],
    many: int,
    wrong: bool,
) -> dict[str, Any]:
    """What humans, judges and judges asked again say, in distinct patterns unless items are in clusters."""
    each = np.ones(len(codes), np.int64)
    patterns: Any
    if cluster is None:
        patterns, count, _ = folded(codes, each, each, many, True)
        sums = [count, count]
        if heavy is not None:
            _, *sums = folded(codes, heavy, heavy**2, many, False)
    else:
        patterns, count, sums = codes, each, [each, each] if heavy is None else [heavy, heavy**2]
    columns = iter(np.asarray(patterns).T)
    humans, answers, again = ({name: next(columns) for name in part} for part in names)
    said, said_again = (
        {n: np.where(c < 0, many, c).astype(np.int32) if wrong else c for n, c in part.items()}
        for part in (answers, again)
    )
    return {
        "humans": humans, "answers": answers, "judges": said, "swapped": said_again, "count": count,
        "weight": sums[0], "weight2": sums[1],
    }  # fmt: skip


def _votes(codes: Codes) -> tuple[Codes, NDArray[np.int64]]:
    votes = np.stack([(codes == column[:, None]).sum(1) for column in codes.T], axis=1)
    return codes, np.where(codes < 0, 0, votes)


def _most(codes: Codes, votes: NDArray[np.int64]) -> Codes:
    """The code with most votes of each row; -1 where there is none or a tie."""
    best = votes.max(1, keepdims=True)
    first = codes[np.arange(len(codes)), votes.argmax(1)]
    tied = ((votes == best) & (codes != first[:, None])).any(1)
    return np.where(tied | (best[:, 0] == 0), -1, first).astype(np.int32)


# What humans and judges say, checked once.


def read_panel(
    source: Any,
    second: Any,
    humans: Any,
    judges: Any,
    swapped: Any,
    weight: Any,
    encoding: str | None,
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    weights: Any = None,
    swap: Mapping[str, str] | str | None = None,
    ignore: Any = (),
    no_answer: NoAnswer = "drop",
    cluster: Any = None,
    by: Any = None,
) -> Panel:
    """Columns of humans and of judges on the same items, or a file or frame with the names of its columns.

    Values named in `ignore` count as no answer where a judge gives them.
    """
    one_of("scale", scale, get_args(Scale))
    further = {"weight": weight, "cluster": cluster, "group": by}
    read_in, people, machines, again = _found(
        source, second, humans, judges, swapped, further, encoding
    )
    vectors = _checked(read_in["rating"], people, machines, ignore)
    found = coded_ratings(vectors, scale, categories, read_in.place)
    many = len(found.categories)
    if many > MOST:
        raise BadInput(
            f"there are {many:,} different ratings, and a judge can be judged on {MOST:,} at most; round "
            f"or group them"
        )
    codes, heavy, clusters = found.codes, read_in.weight, read_in.clusters
    groups = {name: coded(column) for name, column in read_in["group"].items()}
    if heavy is not None:
        kept = heavy > 0
        codes, heavy = codes[kept], heavy[kept]
        clusters = None if clusters is None else np.unique(clusters[kept], return_inverse=True)[1]
        groups = {name: (at[kept], words) for name, (at, words) in groups.items()}
    known = found.categories
    table, name = agreements(weights, scale, known, found.values, categories is not None)
    wrong = no_answer == "wrong"
    if wrong:
        table = np.pad(table, (0, 1))
        table[many, many] = 1.0
    read_in.told()
    return Panel(
        **_patterns(codes, heavy, clusters, (people, machines, [*again]), many, wrong),
        swap=read_swap(swap, known) if again else None, words=known,
        categories=(*known, SILENT) if wrong else known, values=found.values, agreement=table,
        weights=name, weighted=heavy is not None, place=read_in.place, given=codes, heavy=heavy,
        cluster=clusters, groups=groups,
    )  # fmt: skip


# checked columns, those of humans and of judges, and the second column of each judge asked again
Found: TypeAlias = tuple[Columns, list[str], list[str], dict[str, str]]


def _found(
    source: Any,
    second: Any,
    humans: Any,
    judges: Any,
    swapped: Any,
    further: Mapping[str, Any],
    encoding: str | None,
) -> Found:
    """The columns as they are, or by their names in a source."""
    if second is not None:
        if humans is not None or judges is not None:
            raise BadInput(
                Option("humans"), " or ", Option("judges"),
                " is given twice; pass each once, by place or by name",
            )  # fmt: skip
        humans, judges = source, second
    elif isinstance(source, str | os.PathLike) or not (source is None or humans is None):
        return _named(open_source(source, encoding), humans, judges, swapped, further)
    else:
        humans = source if humans is None else humans
    if isinstance(humans, str | os.PathLike):
        raise BadInput(
            "humans is a path or a name; pass a file with the names of its columns, such as "
            'judge("file.csv", humans=["ann"], judges=["gpt"])'
        )
    people, machines = named_columns(humans, "human"), named_columns(judges, "judge")
    _refuse_both(people, machines)
    again = _again(swapped, machines)
    given = {**people, **machines, **{_rerun(name): column for name, column in again.items()}}
    if len(given) < len(people) + len(machines) + len(again):
        raise BadInput("two columns have the same name; give each a name of its own")
    by, cluster = group_columns(further["group"], "ratings"), further["cluster"]
    no_name("cluster", cluster)
    found = read(None, {"rating": given, **further, "group": by}, whole=_EACH)
    return found, list(people), list(machines), {name: _rerun(name) for name in again}


_EACH = dict.fromkeys(("weight", "cluster", "group"), "give each item one")


def named_columns(given: Any, what: str) -> dict[str, Any]:
    """Columns by name: of a mapping, a frame, an array of columns, or one column.

    >>> sorted(named_columns(np.zeros((5, 2)), "human"))
    ['human 1', 'human 2']
    """
    if isinstance(given, Mapping):
        columns = {str(name): column for name, column in given.items()}
        if len(columns) < len(given):
            raise BadInput(f"two {what}s have the same name; give each a name of its own")
    elif isinstance(given, np.ndarray) and given.ndim == 2:
        columns = {f"{what} {k + 1}": given[:, k] for k in range(given.shape[1])}
    elif hasattr(given, "columns") or hasattr(given, "collect_schema"):
        names, get = open_frame(given)
        columns = get(names)
    elif given is None:
        columns = {}
    else:
        columns = {what: given}
    if not columns:
        raise BadInput(f"no {what} was given; pass the ratings of at least one {what}")
    return columns


def _refuse_both(humans: Any, judges: Any) -> None:
    if both := [name for name in judges if name in humans]:
        raise BadInput(f"'{both[0]}' is named as a human and as a judge; it can be one of them")


def _rerun(name: str) -> str:
    return f"swapped verdicts of {name}"


def _again(swapped: Any, judges: Mapping[str, Any]) -> dict[str, Any]:
    if swapped is None:
        return {}
    if not isinstance(swapped, Mapping):
        raise BadInput(
            Option("swapped"), " takes verdicts by the name of the judge, such as {'gpt': verdicts}"
        )
    for name in swapped:
        if str(name) not in judges:
            raise BadInput(
                Option("swapped"),
                f" has verdicts of '{name}', which is not a judge; the judges are {', '.join(judges)}",
            )  # fmt: skip
    return {str(name): column for name, column in swapped.items()}


def _without(column: Vector, words: set[str]) -> Vector:
    """The same with ignored values as missing."""
    if not words:
        return column
    if isinstance(column, Coded):
        keep = np.array([text(v) not in words for v in column.values], bool)
        codes = np.append(np.where(keep, keep.cumsum() - 1, -1), -1)
        left = [v for v, kept in zip(column.values, keep, strict=True) if kept]
        return Coded(codes[column.codes], left, column.declared)
    values, place = np.unique(column.values, return_inverse=True)
    ignored = np.array([text(v) in words for v in values], bool)[place]
    return Numbers(column.values, ignored if column.null is None else ignored | column.null)


def _checked(
    given: Mapping[str, Vector], people: Sequence[str], machines: Sequence[str], ignore: Any
) -> dict[str, Vector]:
    """All columns, without what is ignored where judges say it; refuses those that say nothing."""
    one = isinstance(ignore, str | int | float | np.generic)
    words = {text(v) for v in ([ignore] if one else () if ignore is None else ignore)}
    vectors = {n: v if n in people else _without(v, words) for n, v in given.items()}
    items = len(next(iter(vectors.values())))
    if items < 2:
        raise BadInput(f"there {'is 1 item' if items else 'are no items'}; at least two are needed")
    blank = {n for n, v in vectors.items() if (gone := v.missing()) is not None and gone.all()}
    if blank.issuperset(people):
        raise BadInput("no item is labelled: every human rating is missing; label some of them")
    if silent := [name for name in vectors if name not in people and name in blank]:
        who = f"judge '{silent[0]}' gives" if silent[0] in machines else f"'{silent[0]}' give"
        raise BadInput(f"{who} no answer on any of {items:,} items; leave it out")
    return vectors


# Columns of humans and judges, by their names in a file or frame.


def _names(names: Any, what: str) -> list[str]:
    """Names of columns, each once."""
    listed = [names] if isinstance(names, str) else () if names is None else names
    if isinstance(listed, Mapping) or not all(isinstance(n, str) for n in listed):
        raise BadInput(Option(what), " names columns of the file or frame; pass a list of names")
    if not listed:
        raise BadInput("no ", Option(what), " was given; name at least one column")
    return list(listed)


def _named(
    opened: Opened, humans: Any, judges: Any, swapped: Any, further: Mapping[str, Any]
) -> Found:
    """The columns of a file or a frame, by their names."""
    people, machines = _names(humans, "humans"), _names(judges, "judges")
    _refuse_both(people, machines)
    weight, by = further["weight"], further["group"]
    single = {"weight": weight, "cluster": further["cluster"]}
    names = by is None or isinstance(by, str) or (
        isinstance(by, list | tuple) and all(isinstance(name, str) for name in by)
    )  # fmt: skip
    wrong = [option for option, x in single.items() if not isinstance(x, str | None)]
    if wrong := [*wrong, *([] if names else ["by"])]:
        raise BadInput(
            Option(wrong[0]), " is the name of a column where ratings are in a file or a frame"
        )
    again = _asked_again(machines, swapped, opened.names)
    columns = [*people, *machines, *again.values()]
    wanted = [*columns, *([] if weight is None else [weight])]
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        raise BadInput(f"column '{twice[0]}' is given twice; name a different column for each")
    if by is not None:
        check_groups(by, {"human": people, "judge": [*machines, *again.values()], "weight": weight})
    found = read(opened, {"rating": columns, **further}, whole=_EACH)
    return found, people, machines, again


def _asked_again(judges: Sequence[str], swapped: Any, columns: Sequence[str]) -> dict[str, str]:
    """The column of the exchanged run of each judge: by judge, or in their order.

    >>> _asked_again(["gpt", "small"], ["small=other"], ["gpt", "small", "other"])
    {'small': 'other'}
    >>> _asked_again(["gpt"], ["gpt=1"], ["gpt", "gpt=1"])
    {'gpt': 'gpt=1'}
    """
    if isinstance(swapped, Mapping):
        return {str(judge): str(column) for judge, column in swapped.items()}
    asked = [swapped] if isinstance(swapped, str) else list(swapped or ())
    # a column whose name has a = is a column
    parts = [("", name) if name in columns else _by_judge(name, judges) for name in asked]
    named = {judge: name for judge, name in parts if judge}
    if named:
        if len(named) < len(parts):
            raise BadInput(
                Option("swapped"),
                " names judges for some columns and not for others, or one twice; write each as ",
                "JUDGE=COLUMN",
            )
        return named
    if asked and len(asked) != len(judges):
        raise BadInput(
            Option("swapped"),
            f" has {len(asked)} and there {'is' if len(judges) == 1 else 'are'} {len(judges)} of ",
            "judges; name one column for each, in their order, or write JUDGE=COLUMN",
        )
    return dict(zip(judges, asked, strict=False))


def _by_judge(name: str, judges: Sequence[str]) -> tuple[str, str]:
    """The judge and the column of JUDGE=COLUMN; no judge where it is none."""
    return next(
        ((j, name[len(j) + 1 :]) for j in judges if name.startswith(f"{j}=")),
        ("", name),
    )


# Which verdict is the same when the two answers change places.


@dataclass(frozen=True)
class Swap:
    """For each category the one it turns into, and its side: 1 first, -1 second, 0 neither."""

    to: Codes
    side: Codes


def read_swap(given: Mapping[str, str] | str | None, categories: tuple[str, ...]) -> Swap:
    """The categories that change into each other; those that are not named stay.

    The first of two that are named is the verdict for the first position.

    >>> read_swap("A=B", ("A", "B", "tie")).to.tolist()
    [1, 0, 2]
    """
    pairs = _guessed(categories) if given is None else _given(given)
    to = np.arange(len(categories), dtype=np.int32)
    side = np.zeros(len(categories), np.int32)
    at = {word: k for k, word in enumerate(categories)}
    for one, other in pairs:
        for word in (one, other):
            if word not in at:
                raise BadInput(
                    Option("swap"), f" names '{word}', which is not a category; the categories are ",
                    f"{listed(list(categories))}",
                )  # fmt: skip
        a, b = at[one], at[other]
        if a == b:
            raise BadInput(
                Option("swap"), f" turns '{one}' into itself; name verdicts that change places"
            )
        if (to[a], to[b]) == (b, a):
            continue
        if to[a] != a or to[b] != b:
            raise BadInput(
                Option("swap"), f" turns '{one}' into '{other}', and not back; name each pair once"
            )
        to[a], to[b], side[a], side[b] = b, a, 1, -1
    return Swap(to, side)


def _guessed(categories: tuple[str, ...]) -> list[tuple[str, str]]:
    words = {word.casefold(): word for word in categories}
    for one, other in _KNOWN:
        if one in words and other in words:
            return [(words[one], words[other])]
    raise BadInput(
        f"which of the categories {listed(list(categories))} change into each other when ",
        "positions are swapped is not known; pass ", Option("swap", "A=B"), " with your words",
    )  # fmt: skip


def _given(given: Mapping[str, str] | str) -> list[tuple[str, str]]:
    if isinstance(given, Mapping):
        return [(text(a), text(b)) for a, b in given.items()]
    if not isinstance(given, str):
        raise BadInput(Option("swap", given), " is not understood; write it as 'A=B' or 'A=B,C=D'")
    parts = [part.split("=") for part in given.split(",")]
    if any(len(part) != 2 or not all(word.strip() for word in part) for part in parts):
        raise BadInput(Option("swap", given), " is not understood; write it as 'A=B' or 'A=B,C=D'")
    return [(a.strip(), b.strip()) for a, b in parts]

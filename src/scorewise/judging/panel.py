"""Humans and automatic judges on the same items: what each says, how humans vote, and the truth."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import at_least, check, one_of
from scorewise.columns import Columns, Place, read
from scorewise.columns.files import open_source
from scorewise.columns.grouping import Groups
from scorewise.columns.labels import listed, text
from scorewise.columns.rating_codes import coded_ratings
from scorewise.columns.ratings import Scale
from scorewise.columns.rows import cut
from scorewise.columns.sources import open_frame
from scorewise.columns.vectors import Coded, Numbers, Vector
from scorewise.errors import BadInput, Option
from scorewise.inference.agreement_weights import agreements
from scorewise.show.records import Count, Repeatable, field
from scorewise.tallies.rating_patterns import distinct_patterns

NoAnswer: TypeAlias = Literal["drop", "wrong"]
Interval: TypeAlias = Literal["formula", "bootstrap"]
Codes: TypeAlias = NDArray[np.int32]
Swap: TypeAlias = tuple[Codes, Codes]
MAX_CATEGORIES = 1000
NO_ANSWER = "no answer"
_POSITIONS = (("1", "2"), ("a", "b"), ("first", "second"), ("left", "right"))
_COMPLETE = dict.fromkeys(("weight", "cluster", "group"), "give each item one")


class Settings(Repeatable):
    """The settings that the numbers depend on."""

    scale: Scale = field("What ratings are.", default="nominal")
    weights: str = field("How near misses count in kappa; own: by a matrix.", default="")
    no_answer: NoAnswer = field("What a judge's silence is.", default="drop")
    interval: Interval = field("How gaps between kappas got intervals.", default="formula")
    replicates: Count = field("Resamples of the items.", default=2000)
    width: float | None = field("Width of intervals asked for; null when none was.", default=None)

    def __post_init__(self) -> None:
        one_of("scale", self.scale, get_args(Scale))
        one_of("no_answer", self.no_answer, get_args(NoAnswer))
        one_of("interval", self.interval, get_args(Interval))
        check(level=self.level, seed=self.seed, width=self.width)
        at_least(100, 2000, replicates=self.replicates)


@dataclass(eq=False, kw_only=True)
class Panel:
    """What humans, judges, and judges asked again with positions exchanged say of the same items.

    `codes` has a row for each item and a column for each of `names`: places in `words`, -1 where there is
    no rating. Items with the same codes are one pattern, unless they come in clusters: `humans`, `answers`,
    `judges` and `swapped` are the codes of patterns by name, `count` is the number of items with each,
    `weight` and `weight2` are the sums of their weights and of the squares of those. In `judges` and
    `swapped`, where a silence counts as wrong, it is a category of its own, the last of `categories`, that
    no human uses. `agreement` says how much each two categories agree. `cluster` and `groups` are those of
    each item.
    """

    settings: Settings

    codes: Codes
    names: tuple[Sequence[str], Sequence[str], Sequence[str]]
    words: tuple[str, ...]
    values: Floats
    agreement: Floats
    swap: Swap | None
    place: Place
    item_weight: Floats | None
    cluster: Ints | None
    groups: Groups

    def __post_init__(self) -> None:
        many, each = len(self.words), np.ones(len(self.codes), np.int64)
        weight: Any = each if self.item_weight is None else self.item_weight
        patterns: Any = self.codes
        self.count, self.weight, self.weight2 = each, weight, weight**2
        if self.cluster is None:
            patterns, self.count, _ = distinct_patterns(self.codes, each, each, many)
            self.weight = self.weight2 = self.count
            if self.item_weight is not None:
                _, self.weight, self.weight2 = distinct_patterns(
                    self.codes, weight, weight**2, many
                )
        wrong, columns = self.settings.no_answer == "wrong", iter(patterns.T)
        self.humans, self.answers, again = (
            {name: next(columns) for name in names} for names in self.names
        )
        self.judges, self.swapped = (
            {n: np.where(c < 0, many, c).astype(np.int32) if wrong else c for n, c in x.items()}
            for x in (self.answers, again)
        )
        self.categories = (*self.words, NO_ANSWER) if wrong else self.words

    def part(self, at: Ints) -> Panel:
        """Some of the items, in no groups; clusters are numbered anew."""
        cluster = cut(self.cluster, at)
        cluster = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
        weight = cut(self.item_weight, at)
        return replace(self, codes=self.codes[at], item_weight=weight, cluster=cluster, groups={})

    @property
    def has_truth(self) -> Bools:
        """Which items have a truth, item by item."""
        return np.asarray(_majority(self.codes[:, : len(self.humans)]) >= 0)

    @cached_property
    def votes(self) -> Ints:
        """How many humans rated each pattern."""
        return np.asarray(sum((c >= 0).astype(np.int64) for c in self.humans.values()))

    @cached_property
    def truth(self) -> Codes:
        """What most humans say; -1 where nobody does or two ratings have as many votes."""
        return _majority(np.stack(list(self.humans.values()), axis=1))

    def others(self, human: str) -> Codes:
        """What most of the other humans say."""
        return _majority(np.stack([c for n, c in self.humans.items() if n != human], axis=1))

    @cached_property
    def labelled(self) -> Bools:
        """Patterns with at least one human rating."""
        return np.asarray(self.votes > 0)

    def items(self, where: Bools) -> int:
        """The number of items with these patterns."""
        return int(self.count[where].sum())

    def sums(self, where: Bools) -> tuple[float, float]:
        """Their weight, and the sum of its squares."""
        return float(self.weight[where].sum()), float(self.weight2[where].sum())


def _majority(codes: Codes) -> Codes:
    """The code that most columns of each row have; -1 where there is none or a tie."""
    votes = np.stack([(codes == column[:, None]).sum(1) for column in codes.T], axis=1)
    votes[codes < 0] = 0
    best = votes.max(1, keepdims=True)
    first = codes[np.arange(len(codes)), votes.argmax(1)]
    tied = ((votes == best) & (codes != first[:, None])).any(1)
    return np.where(tied | (best[:, 0] == 0), -1, first).astype(np.int32)


def read_panel(
    source: Any,
    second: Any,
    roles: Mapping[str, Any],
    settings: Settings,
    *,
    categories: Sequence[Any] | None,
    weights: Any,
    swap: Mapping[str, str] | str | None,
    ignore: Any,
    encoding: str | None,
) -> Panel:
    """Humans and judges on the same items: columns, or names of columns in a file or frame, by their role.

    Values named in `ignore` count as no answer where a judge gives them.
    """
    columns, rejudged = _read(source, second, dict(roles), encoding)
    humans, judges, rerun = (columns[role] for role in ("human", "judge", "swapped"))
    judges, rerun = (_without(of_judges, ignore) for of_judges in (judges, rerun))
    ratings = {**humans, **judges, **rerun}
    if len(ratings) < len(humans) + len(judges) + len(rerun):
        raise BadInput("two columns have the same name; give each a name of its own")
    _refuse_blank(ratings, humans, judges)
    coded = coded_ratings(ratings, settings.scale, categories, columns.place)
    words = coded.categories
    if len(words) > MAX_CATEGORIES:
        raise BadInput(
            f"there are {len(words):,} different ratings, and a judge can be judged on "
            f"{MAX_CATEGORIES:,} at most; round or group them"
        )
    table, name = agreements(weights, settings.scale, words, coded.values, categories is not None)
    if settings.no_answer == "wrong":
        table = np.pad(table, (0, 1))
        table[-1, -1] = 1.0
    weight = columns.weight
    panel = Panel(
        settings=replace(settings, weights=name), codes=coded.codes,
        names=([*humans], [*judges], rejudged), words=words, values=coded.values, agreement=table,
        swap=read_swap(swap, words) if rerun else None, place=columns.place, item_weight=weight,
        cluster=columns.clusters, groups=columns.groups,
    )  # fmt: skip
    columns.all_notes()
    if weight is None or (weight > 0).all():
        return panel
    kept = np.flatnonzero(weight > 0)
    groups = {name: (codes[kept], known) for name, (codes, known) in panel.groups.items()}
    return replace(panel.part(kept), groups=groups)


def _read(
    source: Any, second: Any, roles: dict[str, Any], encoding: str | None
) -> tuple[Columns, list[str]]:
    """The columns by role, and the judges that were asked again."""
    humans, judges, swapped = roles["human"], roles["judge"], roles["swapped"]
    if second is not None:
        if humans is not None or judges is not None:
            raise BadInput(
                Option("humans"), " or ", Option("judges"),
                " is given twice; pass each once, by place or by name",
            )  # fmt: skip
        source, humans, judges = None, source, second
    elif humans is None and not isinstance(source, str | os.PathLike):
        source, humans = None, source
    if source is not None:
        source = open_source(source, encoding)
        humans, judges = _names(humans, "humans"), _names(judges, "judges")
        rerun = swapped = _names_by_judge(judges, swapped, source.names)
    elif isinstance(humans, str | os.PathLike):
        raise BadInput(
            "humans is a path or a name; pass a file with the names of its columns, such as "
            'judge("file.csv", humans=["ann"], judges=["gpt"])'
        )
    else:
        humans, judges = named_columns(humans, "human"), named_columns(judges, "judge")
        swapped = _by_judge(swapped, [*map(str, judges)])
        rerun = {f"swapped verdicts of {name}": column for name, column in swapped.items()}
    if both := [name for name in judges if name in humans]:
        raise BadInput(f"'{both[0]}' is named as a human and as a judge; it can be one of them")
    roles |= {"human": humans, "judge": judges, "swapped": rerun}
    return read(source, roles, required=_COMPLETE), [*swapped]


def named_columns(given: Any, what: str) -> Mapping[str, Any]:
    """Columns by name: of a mapping, a frame, an array of columns, or one column.

    >>> sorted(named_columns(np.zeros((5, 2)), "human"))
    ['human 1', 'human 2']
    """
    columns: Mapping[str, Any]
    if isinstance(given, Mapping):
        columns = given
    elif isinstance(given, np.ndarray) and given.ndim == 2:
        columns = {f"{what} {k + 1}": given[:, k] for k in range(given.shape[1])}
    elif hasattr(given, "columns") or hasattr(given, "collect_schema"):
        names, get = open_frame(given)
        columns = get(names)
    else:
        columns = {} if given is None else {what: given}
    if not columns:
        raise BadInput(f"no {what} was given; pass the ratings of at least one {what}")
    return columns


def _names(names: Any, what: str) -> list[str]:
    """Names of columns in a file or frame."""
    listed = [names] if isinstance(names, str) else () if names is None else names
    if isinstance(listed, Mapping) or not all(isinstance(n, str) for n in listed):
        raise BadInput(Option(what), " names columns of the file or frame; pass a list of names")
    if not listed:
        raise BadInput("no ", Option(what), " was given; name at least one column")
    return list(listed)


def _by_judge(swapped: Any, judges: Collection[str]) -> dict[str, Any]:
    """The columns of judges that were asked again, by the judge."""
    if swapped is not None and not isinstance(swapped, Mapping):
        raise BadInput(
            Option("swapped"), " takes verdicts by the name of the judge, such as {'gpt': verdicts}"
        )
    columns = {str(name): column for name, column in (swapped or {}).items()}
    if unknown := [name for name in columns if name not in judges]:
        raise BadInput(
            Option("swapped"),
            f" has verdicts of '{unknown[0]}', which is not a judge; the judges are {', '.join(judges)}",
        )  # fmt: skip
    return columns


def _names_by_judge(judges: Sequence[str], swapped: Any, columns: Sequence[str]) -> dict[str, str]:
    """The column of the exchanged run of each judge: by judge, or in their order.

    >>> _names_by_judge(["gpt", "small"], ["small=other"], ["gpt", "small", "other"])
    {'small': 'other'}
    >>> _names_by_judge(["gpt"], ["gpt=1"], ["gpt", "gpt=1"])
    {'gpt': 'gpt=1'}
    """
    if isinstance(swapped, Mapping):
        return {judge: str(column) for judge, column in _by_judge(swapped, judges).items()}
    names = [swapped] if isinstance(swapped, str) else list(swapped or ())
    # a column whose name has a = is a column
    spelled = {n: [j for j in judges if n.startswith(f"{j}=") and n not in columns] for n in names}
    by_judge = {j[0]: name.removeprefix(f"{j[0]}=") for name, j in spelled.items() if j}
    if by_judge and len(by_judge) < len(names):
        raise BadInput(
            Option("swapped"),
            " names judges for some columns and not for others, or one twice; write each as ",
            "JUDGE=COLUMN",
        )
    if not by_judge and names and len(names) != len(judges):
        raise BadInput(
            Option("swapped"),
            f" has {len(names)} and there {'is' if len(judges) == 1 else 'are'} {len(judges)} of ",
            "judges; name one column for each, in their order, or write JUDGE=COLUMN",
        )
    return by_judge or dict(zip(judges, names, strict=False))


def _without(columns: Mapping[str, Vector], ignore: Any) -> dict[str, Vector]:
    """Columns in which ignored values are missing."""
    single = isinstance(ignore, str | int | float | np.generic)
    words = {text(v) for v in ([ignore] if single else () if ignore is None else ignore)}
    if not words:
        return dict(columns)
    left: dict[str, Vector] = {}
    for name, column in columns.items():
        if isinstance(column, Coded):
            keep = np.array([text(v) not in words for v in column.values], bool)
            codes = np.append(np.where(keep, keep.cumsum() - 1, -1), -1)[column.codes]
            values = [v for v, kept in zip(column.values, keep, strict=True) if kept]
            left[name] = Coded(codes, values, column.declared)
        else:
            distinct, place = np.unique(column.values, return_inverse=True)
            gone = np.array([text(v) in words for v in distinct], bool)[place]
            null = gone if column.null is None else gone | column.null
            left[name] = Numbers(column.values, null)
    return left


def _refuse_blank(
    columns: Mapping[str, Vector], humans: Collection[str], judges: Collection[str]
) -> None:
    """Refuse columns that say nothing, and fewer than two items."""
    items = len(next(iter(columns.values())))
    if items < 2:
        raise BadInput(f"there {'is 1 item' if items else 'are no items'}; at least two are needed")
    blank = [n for n, v in columns.items() if (gone := v.missing()) is not None and gone.all()]
    if set(humans) <= set(blank):
        raise BadInput("no item is labelled: every human rating is missing; label some of them")
    if silent := [name for name in blank if name not in humans]:
        who = f"judge '{silent[0]}' gives" if silent[0] in judges else f"'{silent[0]}' give"
        raise BadInput(f"{who} no answer on any of {items:,} items; leave it out")


# Which verdict is the same when the two answers change places.


def read_swap(given: Mapping[str, str] | str | None, categories: tuple[str, ...]) -> Swap:
    """For each category the one it turns into, and its side: 1 first, -1 second, 0 neither.

    Those that are not named stay. The first of two that are is the verdict for the first position.

    >>> to, side = read_swap("A=B", ("A", "B", "tie"))
    >>> to.tolist(), side.tolist()
    ([1, 0, 2], [1, -1, 0])
    """
    to = np.arange(len(categories), dtype=np.int32)
    side = np.zeros(len(categories), np.int32)
    for one, other in _swapped_pairs(given, categories):
        for word in (one, other):
            if word not in categories:
                raise BadInput(
                    Option("swap"), f" names '{word}', which is not a category; the categories are ",
                    f"{listed(list(categories))}",
                )  # fmt: skip
        a, b = categories.index(one), categories.index(other)
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
    return to, side


def _swapped_pairs(
    given: Mapping[str, str] | str | None, categories: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Verdicts for the first and for the second position: as named, or by their words."""
    if isinstance(given, Mapping):
        return [(text(a), text(b)) for a, b in given.items()]
    if given is not None:
        pairs = [part.split("=") for part in given.split(",")] if isinstance(given, str) else [[]]
        if any(len(pair) != 2 or not all(word.strip() for word in pair) for pair in pairs):
            raise BadInput(
                Option("swap", given), " is not understood; write it as 'A=B' or 'A=B,C=D'"
            )
        return [(a.strip(), b.strip()) for a, b in pairs]
    words = {word.casefold(): word for word in categories}
    for one, other in _POSITIONS:
        if one in words and other in words:
            return [(words[one], words[other])]
    raise BadInput(
        f"which of the categories {listed(list(categories))} change into each other when ",
        "positions are swapped is not known; pass ", Option("swap", "A=B"), " with your words",
    )  # fmt: skip

"""Which column is the label, which are the scores."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from scorewise.columns.classes import coded
from scorewise.columns.labels import listed
from scorewise.columns.vectors import Coded, Numbers, Vector, vector
from scorewise.errors import BadInput

_LABELS = frozenset(
    {"y", "label", "labels", "target", "truth", "outcome", "class", "y_true", "actual"}
    | {"ground_truth", "gold", "true_label", "is_positive"}
)
_SCORES = frozenset(
    {"p", "score", "scores", "prob", "probs", "proba", "probability", "prediction", "predictions"}
    | {"predicted", "pred", "y_score", "y_prob", "y_proba", "y_pred", "y_pred_proba", "y_hat"}
    | {"yhat", "confidence", "risk", "logit"}
)


@dataclass(frozen=True)
class Picked:
    """The columns chosen; `notes` say which of them were not named, and why they were taken."""

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    count: str | None = None
    ids: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        """Every column chosen."""
        further = [c for c in (self.weight, self.count, self.ids) if c is not None]
        return [self.label, *self.scores, *further]


def pick(
    columns: Sequence[str],
    label: str | None = None,
    scores: Sequence[str] = (),
    weight: str | None = None,
    count: str | None = None,
    ids: str | None = None,
) -> Picked:
    """Choose columns by name; one that is not named is taken where a single one suggests itself.

    >>> pick(["id", "y", "p"])  # doctest: +ELLIPSIS
    Picked(label='y', scores=('p',), ..., notes=["label: column 'y' (not named; taken because ...
    """
    named = [
        ("label", label),
        *(("score", s) for s in scores),
        ("weight", weight),
        ("count", count),
        ("id", ids),
    ]
    if not columns:
        raise BadInput("the source has no columns")
    taken: dict[str, str] = {}
    for role, name in named:
        if name is None:
            continue
        if name not in columns:
            raise BadInput(_no_column(name, columns))
        if name in taken:
            twice = "twice as score" if taken[name] == role else f"as {taken[name]} and as {role}"
            raise BadInput(f"column '{name}' is given {twice}; name a different column for each")
        taken[name] = role
    notes: list[str] = []
    if label is None:
        label, why = guess("label", _LABELS, columns, taken)
        taken[label] = "label"
        notes.append(f"label: column '{label}' (not named; {why})")
    if not scores:
        score, why = guess("score", _SCORES, columns, taken)
        scores = (score,)
        notes.append(f"score: column '{score}' (not named; {why})")
    picked = Picked(label, tuple(scores), weight, count, ids, notes)
    for name in picked.all:
        if columns.count(name) > 1:
            raise BadInput(
                f"{columns.count(name)} columns are named '{name}'; give them names apart"
            )
    return picked


def pick_score(
    columns: Sequence[str], score: str | None = None, taken: Collection[str] = ()
) -> tuple[str, list[str]]:
    """The column of scores where there are no labels, and a note when it was not named.

    >>> pick_score(["id", "p"])
    ('p', ["score: column 'p' (not named; taken because of its name)"])
    """
    notes = []
    if score is None:
        score, why = guess("score", _SCORES, columns, dict.fromkeys(taken, ""))
        notes.append(f"score: column '{score}' (not named; {why})")
    check_columns(columns, [score])
    return score, notes


def check_columns(columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are not there, or more than once."""
    for name in wanted:
        if name not in columns:
            raise BadInput(_no_column(name, columns))
        if columns.count(name) > 1:
            raise BadInput(
                f"{columns.count(name)} columns are named '{name}'; give them names apart"
            )


def guess(
    role: str, known: frozenset[str], columns: Sequence[str], taken: Mapping[str, str]
) -> tuple[str, str]:
    """The one column that suggests itself for a role, and why.

    >>> guess("label", frozenset({"y"}), ["id", "Y"], {})
    ('Y', 'taken because of its name')
    """
    free = [c for c in dict.fromkeys(columns) if c not in taken]
    likely = [c for c in free if c.strip().lower() in known]
    if len(likely) == 1:
        return likely[0], "taken because of its name"
    if len(free) == 1 and taken:
        return free[0], "the only column left"
    if likely:
        raise BadInput(
            f"the {role} column is not named and may be {_listed(likely, ' or ')}; "
            f"pass {role}= with one of them"
        )
    raise BadInput(
        f"the {role} column is not named and no name suggests it; "
        f"pass {role}= with one of the columns {_listed(columns)}"
    )


def _no_column(name: str, columns: Sequence[str]) -> str:
    near = near_names(name, columns)
    if near:
        return (
            f"there is no column '{name}'; did you mean {_listed(near, ' or ')} "
            f"(the columns are {_listed(columns)})?"
        )
    return f"there is no column '{name}'; the columns are {_listed(columns)}"


def near_names(name: str, columns: Sequence[str]) -> list[str]:
    """Up to three columns whose names are like this one, whatever the case.

    >>> near_names("Lable", ["id", "label", "p"])
    ['label']
    """
    folded = {c.strip().casefold(): c for c in reversed(columns)}
    return [folded[m] for m in difflib.get_close_matches(name.strip().casefold(), folded, n=3)]


def _listed(names: Sequence[str], between: str = ", ") -> str:
    quoted = [f"'{n}'" for n in names[:12]]
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return between.join(quoted) + more


# Which columns hold the scores of which classes.


def class_columns(names: Sequence[str], spec: str, option: str = "classes") -> dict[str, str]:
    """The column of each class: "cat=p_cat,dog=p_dog", "cat,dog" or a pattern, "p_*".

    Without "=" a class is named as its column is; in a pattern, it is what the star stands for. The
    classes are in the order in which they are named, or in which their columns are found.

    >>> class_columns(["id", "p_cat", "p_dog"], "p_*")
    {'cat': 'p_cat', 'dog': 'p_dog'}
    >>> class_columns(["y", "a", "b"], "no=a,yes=b")
    {'no': 'a', 'yes': 'b'}
    """
    found = (
        _listed_classes(spec, option)
        if "=" in spec or "," in spec
        else _matched(names, spec, option)
    )
    for what, words in zip(("class", "column"), zip(*found, strict=True), strict=False):
        if twice := next((w for w in words if words.count(w) > 1), None):
            raise BadInput(f"{option}={spec} names the {what} '{twice}' twice; name each once")
    if len(found) < 2:
        said = f"the column '{found[0][1]}' only" if found else "no column"
        raise BadInput(
            f'{option}={spec} stands for {said}; two or more are needed, such as "p_*" for p_cat and '
            f'p_dog, or "cat=p_cat,dog=p_dog"'
        )
    check_columns(names, [column for _, column in found])
    return dict(found)


def _listed_classes(spec: str, option: str) -> list[tuple[str, str]]:
    """Classes and columns as they are written one by one."""
    found = []
    for part in spec.split(","):
        name, equals, column = (word.strip() for word in part.partition("="))
        if not name or (equals and not column):
            raise BadInput(
                f'{option}={spec} has a part "{part.strip()}" without a class or a column; write '
                f'"cat=p_cat,dog=p_dog"'
            )
        found.append((name, column or name))
    return found


def _matched(names: Sequence[str], spec: str, option: str) -> list[tuple[str, str]]:
    """Columns that fit a pattern, and what the star stands for in each."""
    before, star, after = spec.strip().partition("*")
    if not star or "*" in after:
        raise BadInput(
            f'{option}={spec} is no pattern with one star; write "p_*", or "cat=p_cat,dog=p_dog"'
        )
    least = len(before) + len(after)
    fit = (n for n in names if n.startswith(before) and n.endswith(after) and len(n) > least)
    return [(n[len(before) : len(n) - len(after)], n) for n in fit]


# Which columns hold ratings: as named, or guessed where only one guess makes sense.


_ITEMS = (
    "item", "items", "item_id", "unit", "units", "subject", "id", "idx", "index", "question_id",
)  # fmt: skip
_RATERS = (
    "rater", "raters", "annotator", "coder", "judge", "observer", "worker", "rater_id", "who",
)  # fmt: skip
Form = Literal["items", "table", "counts"]
_RATINGS = ("rating", "ratings", "label", "value", "score", "category", "answer", "code")


@dataclass(frozen=True)
class Layout:
    """Which columns hold ratings: one for each rater, or one of items, raters and ratings, or counts.

    `form` says what all columns that are not named are: "items", one for each rater; "counts", one for
    each category; or the square "table" of two raters, with the first one's categories in the column
    `item`, or in the order of the columns.
    """

    raters: Sequence[str] = ()
    item: str | None = None
    rater: str | None = None
    rating: str | None = None
    counts: str | Mapping[str, str] | None = None
    form: Form | None = None
    weight: str | None = None
    count: str | None = None
    notes: list[str] = field(default_factory=list)


def spread(names: Sequence[str], layout: Layout) -> Layout:
    """The layout with patterns such as "annotator*" spread out to the columns they stand for.

    >>> spread(["id", "ann1", "ann2"], Layout(raters=["ann*"])).raters
    ['ann1', 'ann2']
    """
    found: list[str] = []
    for rater in layout.raters:
        fit = [n for n in names if "*" in rater and fnmatchcase(n, rater)]
        found += [rater] if rater in names or not fit else fit
    return replace(
        layout, raters=list(dict.fromkeys(found)) if found != list(layout.raters) else layout.raters
    )


def guessed(names: Sequence[str], read: Callable[[], Mapping[str, Any]], layout: Layout) -> Layout:
    """The same layout with what was not named; refused where columns do not look like raters."""
    if layout.raters or layout.rating or layout.counts is not None or layout.form == "table":
        return layout
    item, rater, rating = (_known(names, words) for words in (_ITEMS, _RATERS, _RATINGS))
    if item and rater and rating and layout.item in (None, item) and layout.form is None:
        note = f"items, raters and ratings: columns '{item}', '{rater}', '{rating}' (not named)"
        return replace(layout, item=item, rater=rater, rating=rating, notes=[note])
    item = layout.item or item or next((n for n in names if n.lower().endswith("_id")), None)
    rest = [n for n in names if n not in (item, layout.weight, layout.count)]
    if len(rest) < 2:
        raise BadInput(
            f"of the columns {listed(list(names))} no two can be raters; name a column for each rater, "
            f"or item=, rater= and rating="
        )
    also = f"; '{item}' names the items" if item else ""
    if layout.form == "counts":
        note = f"counts: columns {_quoted(rest)} (not named{also})"
        return replace(layout, counts={n: n for n in rest}, item=item, notes=[note])
    columns = read()
    vectors = {n: vector(columns[n], n) for n in rest}
    _check_alike(vectors)
    if layout.form is None:
        _check_ratings(vectors)
    note = f"raters: columns {_quoted(rest)} (not named{also})"
    return replace(layout, raters=rest, item=item, notes=[note])


def _check_alike(columns: Mapping[str, Vector]) -> None:
    """Refuse a column that no two raters would fill: without a value that another one has."""
    said = {name: _words(column) for name, column in columns.items()}
    times = Counter(word for words in said.values() for word in words)
    for name, words in said.items():
        if words and all(times[word] == 1 for word in words):
            raise BadInput(
                f"column '{name}' has no value in common with the others ({_quoted(list(columns))}), so it "
                f"is not plain who the raters are; name a column for each rater, or for one rating in each "
                f"row item=, rater= and rating="
            )


def _check_ratings(columns: Mapping[str, Vector]) -> None:
    """Refuse columns that may be counts."""
    whole = [c.values for c in columns.values() if isinstance(c, Numbers) and c.missing() is None]
    if len(whole) == len(columns) and len(whole[0]):
        table = np.stack([w.astype(np.float64) for w in whole], axis=1)
        total = table.sum(1)
        like = bool((table >= 0).all() and (table == np.floor(table)).all())
        if like and len(table) == table.shape[1]:
            raise BadInput(
                'the columns are a square of whole numbers: the table of two raters (form="table") or a '
                'column for each rater (form="items")?'
            )
        if like and total[0] > 1 and (total == total[0]).all() and len(table) > 2:
            raise BadInput(
                f'the numbers of each row add up to {total[0]:g}: counts (form="counts") or a column for '
                f'each rater (form="items")?'
            )


def _words(column: Vector) -> set[str]:
    gone = column.missing()
    kept = column if gone is None else column.keep(~gone)
    if isinstance(kept, Coded):
        used = np.unique(kept.codes)
        kept = Coded(np.arange(len(used)), [kept.values[k] for k in used])
    return set(coded(kept)[1])


def _quoted(words: Sequence[str]) -> str:
    shown = ", ".join(f"'{w}'" for w in words[:6])
    return shown if len(words) <= 6 else f"{shown} and {len(words) - 6} more"


def _known(names: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that goes by one of those names."""
    lower = {n.lower(): n for n in names}
    return next((lower[w] for w in words if w in lower), None)

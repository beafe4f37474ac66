"""Which column is the label, which are the scores."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

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

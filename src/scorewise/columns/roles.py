"""What a column is for: the names it is guessed by, how it is read, and what a gap in it means."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

from scorewise.columns.labels import listed
from scorewise.errors import BadInput, Option

Form: TypeAlias = Literal["values", "numbers", "truths", "texts", "times", "raw"]
Gaps: TypeAlias = Literal["row", "mark", "none"]
Shared: TypeAlias = Literal["", "names", "any"]


@dataclass(frozen=True)
class Role:
    """What columns are for.

    `words` are the names that a column is guessed by, in lower case, and `otherwise` is what to pass in
    place of such a column. `form` is what its values become: values of any kind, numbers, numbers or words
    for true and false, texts, times, or nothing else than they are. A gap costs the row; or is marked where
    gaps are dropped, and else refused; or is none. `several` columns may have the role. What is `shared`
    may have another role too: any, or one of those that name rows, not values that are judged.
    """

    words: frozenset[str] = frozenset()
    form: Form = "values"
    gaps: Gaps = "row"
    several: bool = False
    shared: Shared = ""
    otherwise: tuple[str | Option, ...] = ()
    plural: str = "columns"

    def fits(self, name: str) -> bool:
        """Whether a column of that name may have the role without being named."""
        return folded(name) in self.words


def folded(name: str) -> str:
    """A name as it is compared: without case, and blanks around it."""
    return name.strip().lower()


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_QUALITY = (", or ", Option("quality"), " with a column that says how good each answer is")

ROLES = {
    "label": Role(
        _words(
            "y label labels target truth outcome class y_true actual ground_truth gold true_label "
            "is_positive default correct obs"
        )
    ),
    "score": Role(
        _words(
            "p score scores prob probs proba probability prediction predictions predicted pred y_score "
            "y_prob y_proba y_pred y_pred_proba y_hat yhat confidence risk logit"
        ),
        "numbers",
        several=True,
        plural="columns of scores",
    ),
    "weight": Role(form="numbers"),
    "count": Role(form="numbers"),
    "id": Role(form="raw"),
    "time": Role(form="times"),
    "group": Role(several=True, shared="names"),
    "cluster": Role(shared="names"),
    # models one below the other: whose score a row has, and what names the rows that all of them have
    "model": Role(),
    "key": Role(several=True, shared="any"),
    # several classes
    "decision": Role(several=True),
    "own confidence": Role(form="numbers", several=True),
    # answers
    "gold": Role(
        _words(
            "gold gold_answer gold_answers answer answers reference references ground_truth target targets "
            "correct_answer expected"
        ),
        "texts",
        otherwise=_QUALITY,
    ),
    "predicted": Role(
        _words(
            "predicted prediction predictions predicted_answer pred output response generated generation "
            "model_answer completion"
        ),
        "texts",
        otherwise=_QUALITY,
    ),
    "confidence": Role(
        _words("confidence conf score probability prob proba p certainty stated_confidence"),
        "numbers",
        "mark",
        several=True,
    ),
    "quality": Role(form="truths"),
    # raters
    "item": Role(
        _words(
            "item items item_id unit units subject id idx index question question_id task task_id"
        ),
        gaps="none",
    ),
    "rater": Role(
        _words("rater raters annotator coder judge observer worker rater_id who"), gaps="none"
    ),
    "rating": Role(
        _words("rating ratings label value score category answer code"),
        gaps="none",
        several=True,
        plural="raters",
    ),
    "counts": Role(form="numbers", gaps="none", several=True, plural="categories"),
    # automatic judges beside humans; a judge asked again with positions exchanged
    "human": Role(gaps="none", several=True, plural="humans"),
    "judge": Role(gaps="none", several=True, plural="judges"),
    "swapped": Role(gaps="none", several=True),
}


# columns that say whose score a row has, where models stand one below the other
MODELS = _words("model models classifier algorithm estimator llm")
# words in names of columns that say what several rows may belong to
IDS = _words(
    "id patient subject person participant game match user customer client session visitor question "
    "document doc household family school hospital player driver device"
)


@dataclass
class Choice:
    """The columns of each role, and those that a role may mean."""

    columns: dict[str, list[str]]
    unsure: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        """Every column to read, once."""
        chosen = (name for named in self.columns.values() for name in named)
        likely = (name for names, _ in self.unsure.values() for name in names)
        return iter(dict.fromkeys((*chosen, *likely)))

    def take(self, role: str, name: str, why: str) -> None:
        """Give a role to a column that was not named."""
        self.columns[role] = [name]
        self.notes.append(f"{role}: column '{name}' (not named; {why})")

    def settle(self, is_text: Callable[[str], bool], names: Sequence[str]) -> None:
        """Take of the likely columns of a role the one that holds numbers."""
        for role, (likely, why) in self.unsure.items():
            text = [name for name in likely if is_text(name)]
            self.take(role, only(role, [n for n in likely if n not in text], names, text), why)


def choose(
    names: Sequence[str],
    asked: Mapping[str, str | Collection[str] | Mapping[str, str] | None],
    excluded: Collection[str] = (),
) -> Choice:
    """The columns of each role; one that is not named is taken where a single one suggests itself.

    A role has the name of a column, several names, or a mapping to names. Which columns hold numbers is not
    known before they are read, so that roles of numbers stay `unsure`. None is guessed to be one that is
    `excluded`.

    >>> choose(["id", "y", "w"], {"label": None, "weight": "w"})
    Choice(columns={'weight': ['w'], 'label': ['y']}, unsure={}, notes=["label: column 'y' (not named; \
taken because of its name)"])
    """
    if not names:
        raise BadInput("the source has no columns")
    found = Choice({})
    taken = dict.fromkeys(excluded, "")
    for role, spec in asked.items():
        if spec is None or (not isinstance(spec, str) and not len(spec)):
            continue
        named = _named(role, spec, names)
        for name in named:
            check_columns(names, [name])
            if (before := taken.get(name)) and not _together(before, role):
                twice = f"twice as {role}" if before == role else f"as {before} and as {role}"
                way = "name each once" if role == "group" == before else _APART
                raise BadInput(f"column '{name}' is given {twice}; {way}")
            taken.setdefault(name, role)
        found.columns[role] = named
    for role in asked:
        if role in found.columns or not ROLES[role].words:
            continue
        likely, why = _likely(role, names, taken)
        if ROLES[role].form == "numbers":
            found.unsure[role] = likely, why
        else:
            found.take(role, only(role, likely, names), why)
        taken |= dict.fromkeys(likely, role)
    check_columns(names, list(found))
    return found


def _named(role: str, spec: Any, names: Sequence[str]) -> list[str]:
    """The columns that were named; refused where columns themselves were given."""
    if isinstance(spec, str):
        return [spec]
    named = list(spec.values() if isinstance(spec, Mapping) else spec)
    foreign = hasattr(spec, "dtype") and not any(name in names for name in named)
    if foreign or not all(isinstance(name, str) for name in named):
        raise BadInput(
            f"{role} was given as values, but rows are read from a file or frame; name a column of it"
        )
    return named


_APART = "name a different column for each"
_JUDGED = ("label", "score", "weight", "count", "decision", "human", "judge", "swapped")


def _together(role: str, other: str) -> bool:
    """Whether a column that has a role may have the other, too."""
    shared = ROLES[other].shared
    return shared == "any" or (shared == "names" and role != other and role not in _JUDGED)


def _likely(role: str, names: Sequence[str], taken: Mapping[str, str]) -> tuple[list[str], str]:
    """The columns that suggest themselves for a role, and why."""
    free = [c for c in dict.fromkeys(names) if c not in taken]
    likely = [c for c in free if ROLES[role].fits(c)]
    if not likely and len(free) == 1 and taken and not names_items(free[0]):
        return free, "the only column left"
    return likely, "taken because of its name"


def only(role: str, likely: Sequence[str], names: Sequence[str], text: Sequence[str] = ()) -> str:
    """The one column that a role may mean; refused where there are several, or none but those of text.

    >>> only("label", ["Y"], ["id", "Y"])
    'Y'
    """
    if len(likely) == 1:
        return likely[0]
    if likely:
        raise BadInput(
            f"the {role} column is not named and may be {quoted(likely, ' or ')}; pass ",
            Option(role), " with one of them", *ROLES[role].otherwise,
        )  # fmt: skip
    why = f", as {quoted(text, ' and ')} holds text" if text else ""
    raise BadInput(
        f"the {role} column is not named and no name suggests it{why}; pass ", Option(role),
        f" with one of the columns {quoted(names)}", *ROLES[role].otherwise,
    )  # fmt: skip


def names_items(name: str) -> bool:
    """Whether a column of that name tells rows apart.

    >>> names_items("Question"), names_items("task_id"), names_items("p")
    (True, True, False)
    """
    return ROLES["item"].fits(name) or folded(name).endswith("_id")


def check_columns(columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are not there, or more than once."""
    for name in wanted:
        if name not in columns:
            near = near_names(name, columns)
            if near:
                raise BadInput(
                    f"there is no column '{name}'; did you mean {quoted(near, ' or ')} "
                    f"(the columns are {quoted(columns)})?"
                )
            raise BadInput(f"there is no column '{name}'; the columns are {quoted(columns)}")
        if columns.count(name) > 1:
            raise BadInput(
                f"{columns.count(name)} columns are named '{name}'; give them names apart"
            )


def near_names(name: str, columns: Sequence[str]) -> list[str]:
    """Up to three columns whose names are like this one, whatever the case.

    >>> near_names("Lable", ["id", "label", "p"])
    ['label']
    """
    by_word = {c.strip().casefold(): c for c in reversed(columns)}
    return [by_word[m] for m in difflib.get_close_matches(name.strip().casefold(), by_word, n=3)]


def quoted(names: Sequence[str], between: str = ", ", most: int = 12) -> str:
    """The first names in quotes, and how many more there are."""
    return listed([f"'{name}'" for name in names], between, most)


# Which columns hold the scores of which classes.


Spec: TypeAlias = str | Sequence[str] | Mapping[str, str]


def class_columns(names: Sequence[str], spec: Spec, option: str = "classes") -> dict[str, str]:
    """The column of each class: "cat=p_cat,dog=p_dog", "cat,dog", a pattern, a list or a mapping.

    Without "=" a class is named as its column is; in a pattern, "p_*", it is what the star stands for. The
    classes are in the order in which they are named, or in which their columns are found.

    >>> class_columns(["id", "p_cat", "p_dog"], "p_*")
    {'cat': 'p_cat', 'dog': 'p_dog'}
    >>> class_columns(["y", "a", "b"], "no=a,yes=b")
    {'no': 'a', 'yes': 'b'}
    """
    if not isinstance(spec, str):
        by_class = spec if isinstance(spec, Mapping) else {c: c for c in spec}
        found = [*{str(c): str(n) for c, n in by_class.items()}.items()]
        if len(found) < 2:
            raise BadInput(
                Option(option), ' names fewer than two columns; name more, such as "p_*"'
            )
    else:
        found = _spelled(spec, option) if set("=,") & set(spec) else _matched(names, spec, option)
        for what, words in zip(("class", "column"), zip(*found, strict=True), strict=False):
            if twice := next((w for w in words if words.count(w) > 1), None):
                raise BadInput(
                    Option(option, spec), f" names the {what} '{twice}' twice; name each once"
                )
        if len(found) < 2:
            of = f"the column '{found[0][1]}' only" if found else "no column"
            raise BadInput(
                Option(option, spec),
                f' stands for {of}; two or more are needed, such as "p_*" for p_cat and ',
                'p_dog, or "cat=p_cat,dog=p_dog"',
            )
    check_columns(names, [column for _, column in found])
    return dict(found)


def _spelled(spec: str, option: str) -> list[tuple[str, str]]:
    """Classes and columns as they are written one by one."""
    found = []
    for part in spec.split(","):
        name, equals, column = (word.strip() for word in part.partition("="))
        if not name or (equals and not column):
            raise BadInput(
                Option(option, spec),
                f' has a part "{part.strip()}" without a class or a column; write ',
                '"cat=p_cat,dog=p_dog"',
            )
        found.append((name, column or name))
    return found


def _matched(names: Sequence[str], spec: str, option: str) -> list[tuple[str, str]]:
    """Columns that fit a pattern, and what the star stands for in each."""
    before, star, after = spec.strip().partition("*")
    if not star or "*" in after:
        raise BadInput(
            Option(option, spec),
            ' is not a pattern with one star; write "p_*", or "cat=p_cat,dog=p_dog"',
        )
    least = len(before) + len(after)
    fit = (n for n in names if n.startswith(before) and n.endswith(after) and len(n) > least)
    return [(n[len(before) : len(n) - len(after)], n) for n in fit]


def expand_patterns(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Columns by name, with patterns such as "annotator*" expanded to those they stand for.

    >>> expand_patterns(["id", "ann1", "ann2"], ["ann*"])
    ['ann1', 'ann2']
    """
    found: list[str] = []
    for name in wanted:
        fit = [n for n in names if "*" in name and fnmatchcase(n, name)]
        found += [name] if name in names or not fit else fit
    return list(dict.fromkeys(found)) if found != list(wanted) else found

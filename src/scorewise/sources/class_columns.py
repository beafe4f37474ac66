"""Which columns hold the scores of which classes."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise.errors import BadInput
from scorewise.sources.columns import check_columns


def class_columns(names: Sequence[str], spec: str, option: str = "classes") -> dict[str, str]:
    """The column of each class: "cat=p_cat,dog=p_dog", "cat,dog" or a pattern, "p_*".

    Without "=" a class is named as its column is; in a pattern, it is what the star stands for. The
    classes are in the order in which they are named, or in which their columns are found.

    >>> class_columns(["id", "p_cat", "p_dog"], "p_*")
    {'cat': 'p_cat', 'dog': 'p_dog'}
    >>> class_columns(["y", "a", "b"], "no=a,yes=b")
    {'no': 'a', 'yes': 'b'}
    """
    found = _listed(spec, option) if "=" in spec or "," in spec else _matched(names, spec, option)
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


def _listed(spec: str, option: str) -> list[tuple[str, str]]:
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

"""Categories that look like slips of the pen: one word spelled in two ways, or a word for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scorewise.door.wording import plain

# a sign, a star or a dash beside a number means something: A+, A*, -1, 1-2, 0.5
_DECORATION = re.compile(r"(?<=[^\W\d_])[-_ ](?=[^\W\d_])|[:;!'\"()\[\]\s]|(?<!\d)[.,]|[.,](?!\d)")
_NOTHING = frozenset(("", "n/a", "na", "nan", "none", "null", "#n/a", "<na>"))


def spelled_alike(categories: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of categories that differ only in case, blanks or punctuation; the first seen comes first.

    >>> spelled_alike(["Yes", "no", "yes", "yes.", "non-toxic", "Nontoxic"])
    [('Yes', 'yes'), ('Yes', 'yes.'), ('non-toxic', 'Nontoxic')]
    >>> spelled_alike(["A", "A+", "A-", "1", "-1", "1.5", "15"])
    []
    """
    seen: dict[str, str] = {}
    found = []
    for category in categories:
        form = _DECORATION.sub("", plain(category)) or category
        if (first := seen.setdefault(form, category)) != category:
            found.append((first, category))
    return found


def looks_missing(categories: Iterable[str]) -> list[str]:
    """Categories whose names are words for a missing value.

    >>> looks_missing(["good", "N/A", "nan", " "])
    ['N/A', 'nan', ' ']
    """
    return [category for category in categories if plain(category) in _NOTHING]

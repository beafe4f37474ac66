"""Which verdict is the same when the two answers change places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.columns.labels import listed, text
from scorewise.errors import BadInput

_KNOWN = (("1", "2"), ("a", "b"), ("first", "second"), ("left", "right"))


@dataclass(frozen=True)
class Swap:
    """For each category the one it turns into, and its side: 1 first, -1 second, 0 neither."""

    to: NDArray[np.int32]
    side: NDArray[np.int32]


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
                    f"swap= names '{word}', which is no category; the categories are "
                    f"{listed(list(categories))}"
                )
        a, b = at[one], at[other]
        if a == b:
            raise BadInput(f"swap= turns '{one}' into itself; name verdicts that change places")
        if (to[a], to[b]) == (b, a):
            continue
        if to[a] != a or to[b] != b:
            raise BadInput(f"swap= turns '{one}' into '{other}', and not back; name each pair once")
        to[a], to[b], side[a], side[b] = b, a, 1, -1
    return Swap(to, side)


def _guessed(categories: tuple[str, ...]) -> list[tuple[str, str]]:
    words = {word.casefold(): word for word in categories}
    for one, other in _KNOWN:
        if one in words and other in words:
            return [(words[one], words[other])]
    raise BadInput(
        f"which of the categories {listed(list(categories))} change into each other when positions are "
        f'swapped is not known; pass swap="A=B" with your words'
    )


def _given(given: Mapping[str, str] | str) -> list[tuple[str, str]]:
    if isinstance(given, Mapping):
        return [(text(a), text(b)) for a, b in given.items()]
    if not isinstance(given, str):
        raise BadInput(f"swap={given!r} is not understood; write it as 'A=B' or 'A=B,C=D'")
    parts = [part.split("=") for part in given.split(",")]
    if any(len(part) != 2 or not all(word.strip() for word in part) for part in parts):
        raise BadInput(f"swap={given!r} is not understood; write it as 'A=B' or 'A=B,C=D'")
    return [(a.strip(), b.strip()) for a, b in parts]

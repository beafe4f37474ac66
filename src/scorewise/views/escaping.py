"""Words that are not ours, made harmless in Markdown."""

from __future__ import annotations

import re

from scorewise.views.words import plain


def escape(text: object) -> str:
    r"""Text that Markdown shows as it is, also within a table.

    >>> print(escape("a|b *c* <d> @e"))
    a\|b \*c\* \<d\> @<!-- -->e
    """
    text = re.sub(r"([\\`*_{}\[\]<>|~$&])", r"\\\1", plain(text))
    return re.sub(r"([@#])", r"\1<!-- -->", text)  # names nobody and links to no issue


def code(text: object) -> str:
    r"""A user's word as code, where no markup counts.

    >>> print(code("risk"), code("a`b"), code("a|b"))
    `risk` ``a`b`` a\|b
    """
    word = plain(text)
    if not word.strip() or "|" in word:  # no code is empty, nor can it hold a | in every table
        return escape(word) if word.strip() else f"'{word}'"
    ticks = "`" * (max(map(len, re.findall("`+", word)), default=0) + 1)
    pad = " " if {word[0], word[-1]} & {"`", " "} else ""
    return f"{ticks}{pad}{word}{pad}{ticks}"

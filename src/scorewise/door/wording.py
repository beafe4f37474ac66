"""Text brought to a form in which answers that mean the same are the same."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, get_args

from scorewise.door.columns import one_of
from scorewise.errors import BadInput

Normalise: TypeAlias = Literal["plain", "squad", "none"]
Form: TypeAlias = Callable[[str], str | None]

UNANSWERABLE = (
    "unanswerable",
    "not answerable",
    "no answer",
    "cannot be answered",
    "cannot answer",
)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_HYPHENS = re.compile(r"[-_]")


def plain(text: str) -> str:
    r"""Text in Unicode's form NFKC, without case, with single blanks between words and none around.

    NFKC writes a letter and its accent as one character where Unicode has one, and letters of full width,
    ligatures and raised digits as the usual ones.

    >>> plain("  The ﬁrst  STRASSE "), plain("Cafe\u0301") == plain("CAFÉ"), plain("Straße")
    ('the first strasse', True, 'strasse')
    """
    if not text.isascii():
        # taking away case may take apart what NFKC put together
        folded = unicodedata.normalize("NFKC", text).casefold()
        return " ".join(unicodedata.normalize("NFKC", folded).split())
    return " ".join(text.lower().split())


def squad(text: str) -> str:
    """Plain text without punctuation and without the articles a, an and the.

    As in the evaluation of SQuAD (Rajpurkar et al. 2016), where punctuation is that of ASCII; here that of
    Unicode is left out too, as in MLQA (Lewis et al. 2020).

    >>> squad("The U.S.A., “a land”")
    'usa land'
    """
    return _bald(plain(text))


def _bald(folded: str) -> str:
    return " ".join(_ARTICLES.sub(" ", folded.translate(_PUNCTUATION)).split())


def former(normalise: Normalise, unanswerable: Iterable[str]) -> Form:
    """The function that gives the form in which a text is compared, None if it says "no answer".

    That is any blank text, and those words for it; case, hyphens and a full stop do not matter there.

    >>> form = former("squad", UNANSWERABLE)
    >>> form("The end."), form(" "), form("Not-answerable."), form("none")
    ('end', None, None, 'none')
    """
    one_of("normalise", normalise, get_args(Normalise))
    if isinstance(unanswerable, str) or not isinstance(unanswerable, Iterable):
        raise BadInput(
            f"unanswerable={unanswerable!r} is no list; pass words that say there is no answer"
        )
    unanswerable = list(unanswerable)
    if other := [word for word in unanswerable if not isinstance(word, str)]:
        raise BadInput(f"unanswerable= has {other[0]!r}, which is no text; pass words")
    none = {_bare(word) for word in unanswerable} - {""}
    beginnings = tuple({word[:3].rstrip() for word in none})  # tells most answers apart at once

    def form(text: str) -> str | None:
        folded = plain(text)
        if not folded or (folded.startswith(beginnings) and _bare(folded) in none):
            return None
        if normalise == "plain":
            return folded
        return text if normalise == "none" else _bald(folded)

    return form


def _bare(text: str) -> str:
    return " ".join(_HYPHENS.sub(" ", plain(text)).split()).removesuffix(".")


class _Punctuation(dict[int, str | int]):
    """For `str.translate`: nothing in place of punctuation, other characters as they are."""

    def __missing__(self, code: int) -> str | int:
        mark = chr(code)
        is_mark = mark in string.punctuation or unicodedata.category(mark).startswith("P")
        kept = self[code] = "" if is_mark else code
        return kept


_PUNCTUATION = _Punctuation()

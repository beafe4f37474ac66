"""The one exception that users of scorewise see, the options it names, and text that is safe to show."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A setting in a sentence: Python is told `missing="drop"`, the command line `--missing drop`.

    >>> print(Option("missing", "drop"), Option("positive"), Option("clip", 1e-15))
    missing="drop" positive= clip=1e-15
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        shown = "" if self.value is None else short(self.value)
        return (
            f'{self.name}="{shown[1:-1]}"'
            if isinstance(self.value, str)
            else f"{self.name}={shown}"
        )


class Setting(Option):
    """One that is the subject of its sentence: `level` in Python, `--level` on the command line."""

    def __str__(self) -> str:
        return self.name


class BadInput(ValueError):  # noqa: N818  (named for the reader of the message)
    """Input that cannot be used: one sentence with column, count, first row and the way out.

    Options are parts of the sentence by themselves, so that the command line, which prints the sentence and
    exits with code 2, can spell them in its way and leaves all other words as they are.

    >>> raise BadInput("score is NaN in 3 rows; drop them or pass ", Option("missing", "drop"))
    Traceback (most recent call last):
    scorewise.errors.BadInput: score is NaN in 3 rows; drop them or pass missing="drop"
    """

    def __init__(self, *parts: str | Option) -> None:
        # it may quote the data, and ends in a terminal
        super().__init__("".join(plain(part) for part in parts))
        self.parts = parts


# Arabic, Indic and other scripts, and emoji, with their selectors of colour and skin
_BINDING = "[\u0590-\u1fff\u2190-\u2bff\ufb1d-\ufdff\ufe0f\ufe70-\ufefc\U0001f000-\U0001faff]"
_JOINED = re.compile(f"(?<={_BINDING})[\u200c\u200d](?={_BINDING})")


def plain(text: object) -> str:
    r"""Text on one line, with everything that does not print shown as an escape.

    >>> plain("a\nb\x1b[31m\u202ec")
    'a\\nb\\x1b[31m\\u202ec'

    Joiners that bind letters of other scripts than Latin, or parts of an emoji, are shown as they are.

    >>> plain("a\u200db"), plain("\N{WOMAN}\u200d\N{MICROSCOPE}") == "\N{WOMAN}\u200d\N{MICROSCOPE}"
    ('a\\u200db', True)
    """
    line = str(text)
    if line.isprintable():
        return line
    joined = {found.start() for found in _JOINED.finditer(line)}
    return "".join(
        c if c.isprintable() or at in joined else ascii(c)[1:-1] for at, c in enumerate(line)
    )


def no_scores(call: str, of_files: str) -> BadInput:
    """Labels without scores: how a verb is called with columns, and how with a file.

    >>> raise no_scores("smroc(y, s)", 'smroc("file.csv", label=..., score=...)')
    Traceback (most recent call last):
    scorewise.errors.BadInput: scores are missing; call smroc(y, s) with labels and scores, or
        smroc("file.csv", label=..., score=...) for files and data frames
    """
    return BadInput(
        f"scores are missing; call {call} with labels and scores, or {of_files} for files and data frames"
    )


def short(value: Any) -> str:
    """A value as shown in a sentence, on one line and cut to 40 characters.

    >>> short("yes"), short(10**5000)
    ("'yes'", 'about 1e5000')
    """
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"about {'-' if value < 0 else ''}1e{int(abs(value).bit_length() * math.log10(2))}"
    try:
        shown = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:  # of an object that cannot even be shown
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 40 else shown[:37] + "..."

"""The one exception that users of scorewise see, and text that is safe to show."""

from __future__ import annotations


class BadInput(ValueError):  # noqa: N818  (named for the reader of the message)
    """Input that cannot be used: one sentence with column, count, first row and the way out.

    The command line prints the sentence and exits with code 2. A sentence that begins with the name of a
    setting has it as `option`, and the command line writes it as its option.

    >>> raise BadInput("score is NaN in 3 rows, first at row 17; drop them or pass missing='drop'")
    Traceback (most recent call last):
    scorewise.errors.BadInput: score is NaN in 3 rows, first at row 17; drop them or pass missing='drop'
    """

    def __init__(self, sentence: str, *, option: str | None = None) -> None:
        super().__init__(plain(sentence))  # it may quote the data, and ends in a terminal
        self.option = option


def plain(text: object) -> str:
    r"""Text on one line, with everything that does not print shown as an escape.

    >>> plain("a\nb\x1b[31m\u202ec")
    'a\\nb\\x1b[31m\\u202ec'
    """
    line = str(text)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)

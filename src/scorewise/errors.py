"""The one exception that users of scorewise see."""

from __future__ import annotations


class BadInput(ValueError):  # noqa: N818  (named for the reader of the message)
    """Input that cannot be used: one sentence with column, count, first row and the way out.

    The command line prints the sentence and exits with code 2.

    >>> raise BadInput("score is NaN in 3 rows, first at row 17; drop them or pass missing='drop'")
    Traceback (most recent call last):
    scorewise.errors.BadInput: score is NaN in 3 rows, first at row 17; drop them or pass missing='drop'
    """

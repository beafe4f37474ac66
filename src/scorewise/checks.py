"""Settings that many functions take, each checked in one place and refused in one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

from scorewise.errors import BadInput, Option, Setting

MAX_DRAWS = 10_000_000
MIDPOINTS = ("mean", "balanced", "median", "crossing")


class Rule(NamedTuple):
    """What a setting must be, in words and as a test; where it is `optional`, None passes."""

    must: str
    holds: Callable[[Any], bool]
    optional: bool = False


def is_number(value: Any) -> bool:
    """Whether it is a real number, of Python or numpy; not True or False.

    >>> is_number(0.5), is_number(3), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether it is a real number, neither infinite nor NaN.

    >>> is_finite(1), is_finite(math.inf), is_finite("1")
    (True, False, False)
    """
    return is_number(value) and bool(-math.inf < value < math.inf)


def is_integer(value: Any, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether it is an integer from `least` to `most`, of Python or numpy.

    >>> is_integer(2, least=2), is_integer(1, least=2), is_integer(2.0), is_integer(True)
    (True, False, False, False)
    """
    return is_number(value) and isinstance(value, Integral) and least <= int(value) <= most


def _is_level(value: Any) -> bool:
    # so near 1 that its normal quantile is infinite is 1
    return is_number(value) and 0 < value < 1 and 0.5 < 0.5 + value / 2 < 1


def _is_midpoint(value: Any) -> bool:
    if isinstance(value, str):
        return value in MIDPOINTS
    # what is neither a word nor a number is a tally
    return (is_number(value) and 0 <= value <= 1) or not isinstance(value, Real)


def within(
    low: float, high: float, ends: str = "[]", *, whole: bool = False
) -> Callable[[Any], bool]:
    """Whether a number lies between two others, which count where their brackets are square.

    >>> within(0, 0.5, "()")(0.5), within(0, 1, "(]")(1), within(1, 10, whole=True)(2.0)
    (False, True, False)
    """

    def holds(x: Any) -> bool:
        if not is_number(x) or (whole and not isinstance(x, Integral)):
            return False
        above = x > low if ends[0] == "(" else x >= low
        return bool(above and (x < high if ends[1] == ")" else x <= high))

    return holds


def _positive(such_as: float) -> Rule:
    must = f"be a positive number, such as {such_as}"
    return Rule(must, within(0, math.inf, "()"), optional=True)


RULES = {
    "bandwidth": _positive(0.1),
    "bins": Rule("be a positive integer, such as 15", within(1, 10**6, whole=True)),
    "clip": Rule("lie between 0 and 0.5, such as 1e-15", within(0, 0.5, "()"), optional=True),
    "cost": _positive(10),
    "coverage": Rule("lie above 0 and be at most 1, such as 0.8", within(0, 1, "(]")),
    "folds": Rule("be an integer from 2 up, such as 5", within(2, math.inf, whole=True)),
    "guarantee": Rule(
        "lie between 0 and 1, such as 0.95, or be 0 for none",
        lambda x: x == 0 or _is_level(x),
        optional=True,
    ),
    "level": Rule("lie between 0 and 1, such as 0.95", _is_level),
    "margin": _positive(0.02),
    "midpoint": Rule(f"be {', '.join(MIDPOINTS)} or a number from 0 to 1", _is_midpoint),
    "min_rows": Rule("be a positive integer, such as 20", within(1, math.inf, whole=True)),
    "norm": Rule("be a number from 1 up, such as 2", within(1, math.inf)),
    "power": Rule("lie between 0.5 and 1, such as 0.8", within(0.5, 1 - 1e-9, "[)")),
    "prevalence": Rule("lie between 0 and 1, such as 0.02", within(0, 1, "()"), optional=True),
    "review": _positive(0.2),
    "seed": Rule("be an integer from 0 up, such as 0", within(0, math.inf, whole=True)),
    "tau": Rule("be at least 0 and below 1, such as 0.5", within(0, 1, "[)")),
    "threshold": Rule("be a finite number, such as 0.5", within(-math.inf, math.inf, "()")),
    "tolerance": Rule("be 0 or a positive number, such as 0.1", within(0, math.inf, "[)")),
    "top": Rule("be an integer from 0 up, such as 10", within(0, math.inf, whole=True)),
    "width": Rule("lie between 0 and 2, such as 0.1", within(0, 2, "()"), optional=True),
}


def check(**settings: Any) -> None:
    """Refuse invalid settings, each by the rule of its name.

    >>> check(level=0.9, seed=7, clip=None)
    >>> check(level=95)
    Traceback (most recent call last):
    scorewise.errors.BadInput: level must lie between 0 and 1, such as 0.95; got 95
    """
    for name, value in settings.items():
        rule = RULES[name]
        if not (rule.optional and value is None) and not rule.holds(value):
            raise refused(name, rule.must, value)


def at_least(least: int, such_as: int, **settings: Any) -> None:
    """Refuse what is not an integer from `least` up, and more draws than anybody waits for.

    >>> at_least(100, 2000, replicates=3)
    Traceback (most recent call last):
    scorewise.errors.BadInput: replicates must be an integer from 100 up, such as 2000; got 3
    """
    for name, value in settings.items():
        if not is_integer(value, least):
            raise refused(name, f"be an integer from {least} up, such as {such_as}", value)
        if name in ("replicates", "draws") and value > MAX_DRAWS:
            raise refused(name, f"be at most {MAX_DRAWS:,}, such as {such_as}", value)


def one_of(option: str, word: Any, known: tuple[Any, ...]) -> None:
    """Refuse a word that is none of those known."""
    if (word is None or isinstance(word, str)) and word in known:
        return
    *first, last = [f'"{k}"' for k in known if k is not None]
    words = f"{', '.join(first)} or {last}" if first else last
    raise BadInput(Option(option, word), f" is not known; pass {words}")


def refuse_given(*why: str | Option, **settings: Any) -> None:
    """Refuse settings that have no meaning here: the first that is given.

    >>> refuse_given(" belongs to files; leave it out", label=None, score="p")
    Traceback (most recent call last):
    scorewise.errors.BadInput: score= belongs to files; leave it out
    """
    for name, value in settings.items():
        if value is not None:
            raise BadInput(Option(name), *why)


def refuse_names(**columns: Any) -> None:
    """Refuse names of columns where labels and scores are columns themselves.

    >>> refuse_names(label="y", score=None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    scorewise.errors.BadInput: label= belongs to files and frames, but labels and scores are ...
    """
    refuse_given(
        " belongs to files and frames, but labels and scores are given as columns", **columns
    )


def refuse_beside_tally(**settings: Any) -> None:
    """Refuse settings that a tally has been made with.

    >>> refuse_beside_tally(label="y", weight=None, kind="logit")
    Traceback (most recent call last):
    scorewise.errors.BadInput: a tally has its scores and labels already; leave out label and kind
    """
    given = [Setting(name) for name, value in settings.items() if value is not None]
    if given:
        listed = [part for setting in given for part in (" and ", setting)]
        raise BadInput("a tally has its scores and labels already; leave out ", *listed[1:])


def refused(name: str, must: str, value: Any) -> BadInput:
    """The error for a setting that breaks its rule."""
    got = f"{value:g}" if is_number(value) and not isinstance(value, Integral) else str(value)
    return BadInput(Setting(name), f" must {must}; got {got}")

"""Verdicts: what numbers mean, in plain sentences that are never stronger than their intervals."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from scorewise.errors import plain
from scorewise.estimate import Estimate
from scorewise.inference.agreement import band
from scorewise.show.records import Number, Record, Word, field, finite
from scorewise.show.words import interval, value

if TYPE_CHECKING:
    from scorewise.tallies.origin import Origin


NARROW_INTERVAL = 0.02  # an interval of a share that has decimals


class Figure(Record):
    """A number that a sentence rests on."""

    name: Word
    of: str = field("What it was measured of, such as a model or a pair; may be empty.")
    value: Number
    low: Number
    high: Number


class Claim(Record):
    """A sentence of the verdict, what it finds, and the numbers it rests on."""

    about: Literal[
        "data",
        "ranking",
        "decisions",
        "probabilities",
        "repair",
        "models",
        "agreement",
        "coefficient",
        "raters",
        "trust",
        "groups",
        "change",
        "labels",
        "gate",
        "plan",
        "next",
    ] = field("What the sentence is about.")
    finding: Word = field("What was found, in a word or two that stay the same.")
    sentence: Word
    figures: list[Figure] = field("The numbers that the sentence rests on.")


Claims: TypeAlias = list[Claim]
Hints: TypeAlias = list[Word]


def claim(about: Any, finding: str, sentence: str, figures: Sequence[Figure] = ()) -> Claim:
    """A sentence with what it finds and rests on; words of the user in it are made printable."""
    return Claim(about=about, finding=finding, sentence=plain(sentence), figures=list(figures))


def figure(name: str, e: Any, of: str = "") -> Figure:
    """The record of an estimate that a sentence rests on."""
    value, low, high = map(finite, (e.value, e.low, e.high))
    return Figure(name=name, of=of, value=value, low=low, high=high)


class Step(str):
    """The sentence of a command that would come next, with the parts that it is made of."""

    task: str
    paths: Sequence[str]
    options: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, task: str, paths: Sequence[str], options: Sequence[tuple[str, str]]) -> Step:
        """The command as a shell takes it."""
        dashes = ((f"-{name}" if len(name) == 1 else f"--{name}", x) for name, x in options)
        words = [*paths, *(word for pair in dashes for word in pair)]
        step = cls(plain(f"Next: scorewise {task} {shlex.join(words)}"))
        step.task, step.paths, step.options = task, paths, options
        return step


def next_command(task: str, sources: Sequence[str], options: Sequence[tuple[str, str]]) -> Claim:
    """The command that would come next, as a shell takes it; files that are not at hand are FILE.

    >>> next_command("agree", ["my file.csv"], [("rater", "ann"), ("rater", "bob")]).sentence
    'Next: scorewise agree FILE --rater ann --rater bob'
    """
    paths = [getattr(source, "path", source) for source in sources]
    at_hand = all(path == "-" or Path(path).is_file() for path in paths)
    step = Step.of(task, paths if at_hand else ["FILE"], options)
    return Claim(about="next", finding=task.partition(" ")[0], sentence=step, figures=[])


def column_options(origin: Origin, *scores: str) -> list[tuple[str, str]]:
    """The options that name the columns of a file again: label, scores, what was said to be positive."""
    options = [("label", str(origin.label)), *(("score", s) for s in scores or (origin.score,))]
    options += [("positive", str(origin.positive))] if origin.rule == "given" else []
    return options + ([("weight", origin.weight)] if origin.weight is not None else [])


def next_step(
    task: str, origin: Origin, call: str, further: Sequence[tuple[str, str]] = (), *scores: str
) -> Claim:
    """The command on the same columns that would come next; the call, where rows came from no file."""
    if not origin.sources or origin.label is None:
        return claim("next", task.partition(" ")[0], f"Next: {call}")
    return next_command(task, origin.sources, [*column_options(origin, *scores), *further])


def recalibrate_or_evaluate(origin: Origin, recalibrate: bool, of: str = "") -> Claim:
    """That a map would come next, where probabilities are shown to be off, or all measures."""
    if recalibrate:
        call, out = "sw.Recalibrator().fit(scores, labels)", ("out", "map.json")
        return next_step("calibrate fit", origin, call + of, [out])
    return next_step("evaluate", origin, f"sw.evaluate(labels, scores){of}")


def with_ci(e: Any) -> str:
    """An estimate, or the record of one, within a sentence.

    >>> with_ci(Estimate(0.8591, 0.823, 0.888))
    '0.859 [0.823, 0.888]'
    """
    ends = interval(e)
    return f"{value(e)} {ends}".rstrip()


def agreement_bands(e: Estimate) -> list[str]:
    """The words for both ends of the interval of a coefficient of agreement (Landis and Koch 1977).

    >>> agreement_bands(Estimate(0.476, 0.355, 0.598)), agreement_bands(Estimate(0.7, 0.65, 0.75))
    (['fair', 'moderate'], ['substantial'])
    """
    return list(dict.fromkeys(band(min(x, 1.0)) for x in (e.low, e.high)))


def as_percent(e: Estimate) -> str:
    """A share within a sentence, in percent; with decimals where its interval is narrow.

    What is not quite 0 or 1 does not read so.

    >>> as_percent(Estimate(0.248, 0.18, 0.332)), as_percent(Estimate(0.9991, 0.998, 0.9997))
    ('25% [18, 33]', '99.9% [99.8, 99.97]')
    >>> as_percent(Estimate(0.9391, 0.9352, 0.9428)), as_percent(Estimate(0.71, 0.696, 0.724))
    ('93.9% [93.5, 94.3]', '71% [70, 72]')
    """
    digits = 0 if e.high - e.low >= NARROW_INTERVAL else 1
    value, low, high = (_percent(x, digits) for x in (e.value, e.low, e.high))
    return f"{value}% [{low}, {high}]"


def _percent(x: float, digits: int) -> str:
    """With that many decimals, or as many as tell it from 0 and from 100."""
    while digits < 6 and 0 < x < 1 and round(100 * x, digits) in (0, 100):
        digits += 1
    return f"{100 * x + 0.0:.{digits}f}"

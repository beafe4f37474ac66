"""From the options of a command to the document, and from the document to its readers."""

from __future__ import annotations

import glob
import math
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scorewise.cli.options import FURTHER
from scorewise.errors import BadInput, plain
from scorewise.show.document import dumps
from scorewise.show.page import quoted
from scorewise.show.shown import render
from scorewise.writing import check, write_all

if TYPE_CHECKING:
    from scorewise.cli.options import HowMissing, KindOfScore
    from scorewise.columns import Rows

STDOUT = "-"


_KEYWORD = re.compile(
    r"\b(label|score|weight|count|positive|kind|missing|clip|labels|time|windows|every|midpoint"
    r"|replicates|reference_until|classes|predicted|confidence|name|scale|categories|weights|item"
    r"|rater|rating|counts|interval|swap|swapped|ignore|no_answer|gold|quality|tau|by|bins|normalise|lists|unanswerable|threshold"
    r"|encoding|form)=(?:\"([\w-]+)\"|'([^']*)'|([\d.e-]*\d)|(?=([\w*])))?"
)


def as_options(sentence: str) -> str:
    """A sentence that names keywords of Python, with the options of the command line in their place.

    >>> as_options('drop them or pass missing="drop"'), as_options("pass positive= or clip=1e-15")
    ('drop them or pass --missing drop', 'pass --positive or --clip 1e-15')
    """
    return _KEYWORD.sub(
        lambda m: (
            f"--{m[1].replace('_', '-')} {m[2] or m[3] or m[4] or ''}".rstrip()
            + " " * (m[5] is not None)
        ),
        sentence,
    )


def only(option: str, given: Sequence[str] | None) -> str | None:
    """What an option that can be said once was given."""
    if given and len(given) > 1:
        raise BadInput(f"{option} is given {len(given)} times; give it once")
    return given[0] if given else None


def check_settings(*, threshold: float, level: float, seed: int, clip: float | None) -> None:
    """Refuse settings that mean nothing."""
    if not math.isfinite(threshold):
        raise BadInput(f"--threshold is {threshold}; it must be a finite number, for example 0.5")
    if not 0 < level < 1:
        raise BadInput(f"--level is {level:g}; it must lie between 0 and 1, for example 0.95")
    if seed < 0:
        raise BadInput(f"--seed is {seed}; it must be 0 or more")
    if clip is not None and not 0 < clip < 0.5:
        raise BadInput(f"--clip is {clip:g}; it must lie between 0 and 0.5, for example 1e-15")


def check_outputs(files: Sequence[str], outputs: Mapping[str, str | None]) -> None:
    """Refuse outputs that could not be written, before the work is done."""
    further = {f"--{form}": path for form, path in FURTHER.get({}).items()}
    named = {option: path for option, path in {**outputs, **further}.items() if path is not None}
    places = {option: path if path == STDOUT else check(path) for option, path in named.items()}
    if len(set(places.values())) < len(places):
        said = "standard output" if STDOUT in places.values() else "the same file"
        raise BadInput(f"{' and '.join(named)} both go to {said}; send one of them elsewhere")
    inputs = {Path(os.path.realpath(m)) for f in files if f != STDOUT for m in _meant(f)}
    for option, place in places.items():
        if place in inputs:
            raise BadInput(f"{option} {named[option]} would overwrite an input; name another file")


def _meant(file: str) -> list[str]:
    """The files that an argument stands for: itself, or what its pattern matches."""
    path = os.path.expanduser(file)  # noqa: PTH111 (leaves the name of nobody as it is)
    if glob.has_magic(path) and not os.path.exists(path):  # noqa: PTH110 (bears long names)
        from scorewise.columns.paths import matches

        return matches(path)
    return [path]


def columns(
    label: str | None,
    score: Sequence[str] | None,
    positive: str | None,
    weight: str | None,
    count: str | None,
    kind: KindOfScore | None,
    missing: HowMissing,
    encoding: str | None = None,
) -> dict[str, Any]:
    """The options that say which columns to read, and how."""
    return {
        "label": label,
        "score": tuple(score or ()),
        "weight": weight,
        "count": count,
        "positive": positive,
        "kind": kind.value if kind else None,
        "missing": missing.value,
        "encoding": encoding,
    }


def midpoint_rule(word: str) -> str | float:
    """A rule by its name, or a number."""
    if word in ("mean", "balanced", "median", "crossing"):
        return word
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise BadInput(
            f"--midpoint is {word}; it must be mean, balanced, median, crossing or a number from 0 to 1"
        )
    return number


def read(files: Sequence[str], chosen: Mapping[str, Any]) -> Rows:
    """The checked rows of the files; what was guessed is told on standard error."""
    with busy("reading"):
        from scorewise.columns import binary_rows

        with reading(files):
            rows = binary_rows(files[0] if len(files) == 1 else list(files), **chosen)
    tell_parts(rows.sources)
    for note in rows.notes:
        tell(f"note: {note}")
    tell_positive(rows.labels)
    return rows


def tell_parts(sources: Sequence[str]) -> None:
    """Say that several files are read as one data set, and how to compare models or samples."""
    if len(sources) > 1:
        names = ", ".join(sources[:3]) + (", ..." if len(sources) > 3 else "")
        tell(
            f"note: {len(sources):,} files are read as parts of one data set ({names}); to compare models, "
            f"give each a column of scores (--score twice; compare in Python), and samples with drift"
        )


def evaluated(files: Sequence[str], options: Mapping[str, Any]) -> Any:
    """The document of all scores in the files."""
    from scorewise.evaluation import evaluate

    with busy("reading"), reading(files), quiet():
        found = evaluate(files[0] if len(files) == 1 else list(files), **options)
    with busy("judging"):
        doc = found.document()
    tell_parts(doc.data.sources)
    for note in found.notes:
        tell(f"note: {as_options(note)}")
    tell_positive(doc.data)
    return with_options(doc)


def tell_positive(data: Any) -> None:
    """Say which class is positive where nothing but the order of the words told it."""
    if data.rule == "last in sort order":
        tell(
            f"note: positive class: {quoted(data.positive)}, the last in sort order; --positive chooses"
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings that repeat a result's notes, which are told on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def with_options(part: Any) -> Any:
    """The same document with reasons and hints that name options of the command line."""
    if isinstance(part, list):
        return [with_options(item) for item in part]
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: dict[str, Any] = {f.name: with_options(getattr(part, f.name)) for f in fields(part)}
    changed |= {key: as_options(changed[key]) for key in changed if key.startswith("why")}
    if "hints" in changed:
        changed["hints"] = [as_options(hint) for hint in changed["hints"]]
    return replace(part, **changed)


def drifted(files: Sequence[str], options: Mapping[str, Any]) -> Any:
    """The document of what has changed between two files, or over time in one."""
    with busy("looking for drift"), warnings.catch_warnings():
        from scorewise.drifting import drift

        warnings.simplefilter("ignore")  # the notes are told below
        with reading(files):
            found = drift(*files, **options)
    for note in dict.fromkeys(found.notes):
        tell(f"note: {note}")
    return with_options(found.document())


def agreed(files: Sequence[str], options: Mapping[str, Any]) -> Any:
    """The document of how far raters agree."""
    with busy("judging agreement"):
        from scorewise.agreeing import agree

        with reading(files):
            found = agree(files[0] if len(files) == 1 else list(files), **options)
        for note in found.notes:
            tell(f"note: {as_options(note)}")
        doc = found.document()
    return replace(doc, hints=[as_options(hint) for hint in doc.hints])


def rated(
    files: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    label: str | None,
    ids: str | None,
    settings: Mapping[str, Any],
    encoding: str | None = None,
) -> Any:
    """The document of raters, each a pair of columns: decisions and scores."""
    named = [name for pair in pairs for name in pair]
    further = [name for name in (label, ids) if name is not None]
    with busy("reading"):
        from scorewise.columns.files import open_source
        from scorewise.columns.roles import check_columns
        from scorewise.inspection import raters

        opened = open_source(files[0] if len(files) == 1 else list(files), encoding)
        check_columns(opened.names, [*named, *further])
        columns, place = opened.read(list(dict.fromkeys([*named, *further])), ())
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            found = raters(
                {decision: (columns[decision], columns[score]) for decision, score in pairs},
                y=None if label is None else columns[label],
                ids=None if ids is None else columns[ids],
                place=place,
                **settings,
            )
    for note in notes:
        tell(f"note: {note.message}")
    return with_options(found.document())


def deliver(
    doc: Any,
    *,
    json: str | None = None,
    md: str | None = None,
    files: dict[str, bytes] | None = None,
) -> None:
    """Write the files that were asked for; print one document, or else the table."""
    forms = {"md": md, **FURTHER.get({})}
    texts = [] if json is None else [(json, dumps(doc))]
    texts += [(path, render(doc, form)) for form, path in forms.items() if path is not None]
    whole: dict[str | Path, str | bytes] = {path: text for path, text in texts if path != STDOUT}
    whole.update(files or {})
    write_all(whole)
    printed = [text for path, text in texts if path == STDOUT]
    if printed:
        typer.echo(printed[0].encode(), nl=False)  # bytes: UTF-8 whatever the terminal speaks
    else:
        show(doc)
    for path in whole:
        tell(f"wrote {path}")


def tell(sentence: str) -> None:
    """Say something beside the result, on standard error; no control reaches the terminal."""
    typer.echo(plain(sentence), err=True)


def show(doc: Any) -> None:
    """Print the table."""
    from rich.console import Console

    from scorewise.show.terminal import print_document

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal without box characters still shows numbers
    print_document(doc, Console(highlight=False))


@contextmanager
def reading(files: Sequence[str]) -> Iterator[None]:
    """What the system says against a file, as a sentence."""
    try:
        yield
    except OSError as error:
        where = plain(error.filename or ", ".join(files))
        raise BadInput(f"cannot read {where}: {error.strerror or error}") from error


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """A spinner on standard error while the work lasts, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(doing):
        yield

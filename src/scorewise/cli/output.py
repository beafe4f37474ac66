"""From a document to its readers: files that are checked first and written whole, or the terminal."""

from __future__ import annotations

import glob
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from scorewise.cli.options import flag
from scorewise.errors import BadInput, plain
from scorewise.writing import check, make_folder, write_all

STDOUT = "-"


def check_outputs(
    files: Sequence[str],
    outputs: Mapping[str, str | None],
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuse outputs that could not be written, before the work is done."""
    named = {flag(name): path for name, path in outputs.items() if path is not None}
    places = {option: path if path == STDOUT else check(path) for option, path in named.items()}
    if len(set(places.values())) < len(places):
        said = "standard output" if STDOUT in places.values() else "the same file"
        raise BadInput(f"{' and '.join(named)} both go to {said}; send one of them elsewhere")
    inputs = {Path(os.path.realpath(m)) for f in files if f != STDOUT for m in _meant(f)}
    for option, place in places.items():
        if place in inputs:
            raise BadInput(f"{option} {named[option]} would overwrite an input; name another file")
    for name, known in (endings or {}).items():
        path = outputs[name]
        if known and path is not None and Path(path).suffix.lower() not in known:
            raise BadInput(f"{flag(name)} {path} has to end in {', '.join(known)}")


def check_drawing(path: str | None) -> None:
    """Refuse to draw without matplotlib, before the work is done."""
    if path is not None and find_spec("matplotlib") is None:
        raise BadInput("--plot needs matplotlib: pip install 'scorewise[plot]'")


def picture(result: Any, ending: str) -> bytes:
    """The picture of a result as a file of that kind."""
    figure, buffer = result.plot().figure_, io.BytesIO()
    with warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(buffer, format=ending[1:], bbox_inches="tight", dpi=150)
    return buffer.getvalue()


def _meant(file: str) -> list[str]:
    """The files that an argument stands for: itself, or what its pattern matches."""
    path = os.path.expanduser(file)  # noqa: PTH111 (leaves the name of nobody as it is)
    if glob.has_magic(path) and not os.path.exists(path):  # noqa: PTH110 (bears long names)
        from scorewise.columns.paths import matches

        return matches(path)
    return [path]


def deliver(
    doc: Any,
    forms: Mapping[str, str | None],
    files: Mapping[str, bytes],
    others: Mapping[str, Any] | None = None,
) -> None:
    """Write the files that were asked for; print one form of the document, or else the table.

    `others` are documents of which a form is made in place of this one.
    """
    from scorewise.show.document import dumps
    from scorewise.show.shown import render

    by_form = {form: (others or {}).get(form, doc) for form in forms}
    texts = [
        (path, dumps(by_form[form]) if form == "json" else render(by_form[form], form))
        for form, path in forms.items()
        if path is not None
    ]
    whole: dict[str | Path, str | bytes] = {path: text for path, text in texts if path != STDOUT}
    whole.update(files)
    write_all(whole)
    printed = [text for path, text in texts if path == STDOUT]
    if printed:
        typer.echo(printed[0].encode(), nl=False)  # bytes: UTF-8 whatever the terminal speaks
    else:
        show(doc)
    for path in whole:
        tell(f"wrote {path}")


def write_figures(folder: str | None, files: Mapping[str, bytes]) -> None:
    """Write figures into a folder, which is made unless it is there, and say so."""
    if folder is None:
        return
    make_folder(folder)
    write_all({Path(path): content for path, content in files.items()})
    from scorewise.show.words import counted

    endings = " and ".join(sorted({Path(path).suffix for path in files}, reverse=True))
    number = len({Path(path).stem for path in files})
    tell(f"wrote {counted(number, 'figure')} into {folder} ({endings})")


def show(doc: Any) -> None:
    """Print the table."""
    from rich.console import Console

    from scorewise.show.terminal import print_document

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal without box characters still shows numbers
    print_document(doc, Console(highlight=False))


def tell(sentence: str) -> None:
    """Say something beside the result, on standard error; no control reaches the terminal."""
    typer.echo(plain(sentence), err=True)


def tell_notes(result: Any) -> None:
    """Tell the notes of a result, each once."""
    for note in dict.fromkeys(getattr(result, "notes", ())):
        tell(f"note: {note}")


def tell_parts(doc: Any) -> None:
    """Say that several files are read as one data set, and how to compare models or samples."""
    sources = getattr(getattr(doc, "data", None), "sources", ())
    if len(sources) > 1:
        names = ", ".join(sources[:3]) + (", ..." if len(sources) > 3 else "")
        tell(
            f"note: {len(sources):,} files are read as parts of one data set ({names}); models are "
            f"compared with scorewise compare (--key names the rows), and samples with drift"
        )


def tell_written(paths: Mapping[str, str | None], rows: int) -> None:
    """Tell how many rows were written where."""
    from scorewise.show.words import counted

    for path in paths.values():
        tell(f"wrote {path}: {counted(rows, 'row')}")


def tell_positive(doc: Any) -> None:
    """Say which class is positive where nothing but the order of the words told it."""
    data = getattr(doc, "data", None)
    if getattr(data, "rule", "") == "last in sort order":
        from scorewise.show.words import quoted

        positive = quoted(data.positive)  # type: ignore[union-attr]
        tell(f"note: positive class: {positive}, the last in sort order; --positive chooses")


@contextmanager
def working(files: Sequence[str]) -> Iterator[None]:
    """A spinner on a terminal, no warnings that repeat notes, one sentence where a file is not read."""
    with _busy(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except OSError as error:
            where = plain(error.filename or ", ".join(files))
            raise BadInput(f"cannot read {where}: {error.strerror or error}") from error


@contextmanager
def _busy() -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from scorewise.progress import listening

    with Console(stderr=True).status("working") as status, listening(status.update):
        yield

"""A verb on the command line: its options from its signature, its document to files and the terminal."""

from __future__ import annotations

import inspect
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import typer

from scorewise.checks import RULES, check
from scorewise.cli.options import ARGUMENTS, FILES, OPTIONS, Help, flag
from scorewise.cli.signatures import argument_of, option_of, parameter, signature
from scorewise.errors import BadInput, plain
from scorewise.show import FULL_FORMS, RENDERERS, render
from scorewise.show.words import plural, quoted
from scorewise.writing import check as check_path
from scorewise.writing import check_folder, make_folder, write, write_all

STDOUT = "-"
GATE = "scorewise.gating:gate"
FIGURES = "scorewise.figures:figure_files"
# options that say how rows are read, which the command that comes next needs too
READING = ("weight", "count", "cluster", "kind", "missing", "encoding")
PAGES = (".html", ".htm")


class Output(NamedTuple):
    """A file that a command can write beside its document.

    `make` ("module:function") gives its bytes from the result and the ending of its name; without it the
    verb writes the file itself. `refusal` gives them from the refusal of bad input.
    """

    make: str = ""
    endings: tuple[str, ...] = ()
    refusal: str = ""


PLOT = Output("scorewise.cli.command:picture", (".png", ".svg", ".pdf"))


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb on the command line.

    `verb` is "module:function", imported when the command is called. Its first parameter is given by place,
    and so are those in `ARGUMENTS`; others that have a place and no option make sense in Python only, as do
    those in `without`. `texts` are help texts that differ from those in the table of options, also with
    another metavar. `brief` says that it shows a first screen, and all it knows with --all. `gated` are the
    parameters of `gate` that it takes, to be judged by what it found. `drawn` says that its document has
    figures. `paths` are where forms are written unless said.
    """

    verb: str
    summary: str
    help: str
    without: tuple[str, ...] = ()
    texts: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    brief: bool = False
    gated: tuple[str, ...] = ()
    drawn: bool = True
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_document(self) -> bool:
        """Whether there is a document to write, or the verb does all the writing."""
        return all(output.make for output in self.outputs.values())

    @property
    def files(self) -> Mapping[str, Output]:
        """The files that it can write beside its document: a picture, and those of its own."""
        return {"plot": PLOT, **self.outputs} if self.has_document else self.outputs

    def arguments(self) -> list[str]:
        """The parameters that are given by place."""
        first, *rest = signature(self.verb).parameters.values()
        return [first.name, *(p.name for p in rest if _placed(p) and p.name in ARGUMENTS)]

    def function(self) -> Callable[..., None]:
        """What typer makes the command of: options, their types and defaults are those of the verb."""
        verb_parameters, arguments = signature(self.verb).parameters, self.arguments()
        forms = ["json", *(form for form in RENDERERS if form != "text")]
        forms = forms if self.has_document else []
        parameters = [
            p
            for p in verb_parameters.values()
            if p.name in arguments
            or (p.name not in self.without and (p.name in OPTIONS or not _placed(p)))
        ]
        if self.brief:
            parameters.append(parameter("all", bool, False))
        if self.drawn and self.has_document:
            parameters.append(parameter("figures", str | None, None))
        parameters += [p for p in signature(GATE).parameters.values() if p.name in self.gated]
        parameters += [
            parameter(name, str | None, self.paths.get(name))
            for name in (*self.files, *forms)
            if name not in verb_parameters
        ]
        fields = {
            p.name: argument_of(p, self._shown(p.name, ARGUMENTS.get(p.name, FILES)))
            if p.name in arguments
            else option_of(p, self._shown(p.name, OPTIONS.get(p.name)))
            for p in parameters
        }

        def command(**given: Any) -> None:
            values = {name: field.value(given[name]) for name, field in fields.items()}
            self.run(values, arguments, {name: values.pop(name) for name in forms})

        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [fields[name].parameter for name in sorted(fields, key=lambda n: n not in arguments)]
        )
        return command

    def _shown(self, name: str, known: Help | None) -> Help:
        """What is shown of a parameter: as in the table of options, or as this command has it."""
        if known is None and name not in RENDERERS:
            raise LookupError(f"{name} has no line in the table of options")
        known = known or Help("PATH", f"Write it as {name}; - prints it.")
        text = self.texts.get(name, known.help)
        metavar, text = (known.metavar, text) if isinstance(text, str) else text
        taken = name != "out" and "out" in self.outputs and known.short == OPTIONS["out"].short
        return known._replace(metavar=metavar, help=text, short="" if taken else known.short)

    def run(
        self, values: dict[str, Any], arguments: Sequence[str], forms: Mapping[str, str | None]
    ) -> None:
        """Check settings and outputs, call the verb, tell its notes, and deliver its document."""
        check(**{name: x for name, x in values.items() if name in RULES and x is not None})
        forms = _report_instead(values, forms)
        read = {name for name in values if OPTIONS.get(name, FILES).metavar == FILES.metavar}
        given = [x for name, x in values.items() if name in read or name in arguments]
        files = [name for x in given for name in (x if isinstance(x, list) else [x]) if name]
        paths = {name: values.get(name) for name in self.files}
        endings = {name: output.endings for name, output in self.files.items()}
        if forms.get("html", STDOUT) != STDOUT:
            endings["html"] = PAGES
        check_outputs(files, {**paths, **forms}, endings)
        folder = values.pop("figures", None)
        if folder is not None:
            check_folder(folder)
        show_all = values.pop("all", True)
        gate = {name: values.pop(name) for name in self.gated}
        mine = {*arguments, *(name for name, output in self.files.items() if output.make)}
        options = {name: value for name, value in values.items() if name not in mine}
        try:
            with working(files):
                result = resolve_name(self.verb)(*(values[name] for name in arguments), **options)
        except BadInput as error:
            self._write_refusal(error, paths)
            raise
        if not self.has_document:
            notify_notes(result)
            for path in paths.values():
                notify(f"wrote {path}: {plural(result.rows, 'row')}")
            return
        with working(files):
            reading = {name: value for name, value in values.items() if name in READING}
            doc = with_reading(
                result.document() if show_all else result.brief(), self.verb, reading
            )
            brief = not show_all and any(forms[form] for form in FULL_FORMS)
            full = with_reading(result.document(), self.verb, reading) if brief else doc
            contents = {
                path: resolve_name(self.files[name].make)(result, Path(path).suffix.lower())
                for name, path in paths.items()
                if path is not None
            }
            figures = {} if folder is None else resolve_name(FIGURES)(result.document(), folder)
            judged = result  # before anything is written, as a requirement may be refused
            if any(gate.get(name) is not None for name in ("require", "fail_on")):
                judged = resolve_name(GATE)(result, **gate)
        one_model = "score" in values and "model" not in values
        notify_notes(result, getattr(doc, "data", None), one_model=one_model)
        deliver(doc, full, forms, contents)
        write_figures(folder, figures)
        for c in judged.checks if gate and judged is not result else ():
            notify(f"gate: {c.outcome}: {c.sentence}")
        if code := getattr(judged, "exit_code", 0):
            raise typer.Exit(code)

    def _write_refusal(self, error: BadInput, paths: Mapping[str, str | None]) -> None:
        for name, output in self.files.items():
            if output.refusal and (path := paths[name]):
                write(path, resolve_name(output.refusal)(error))


def _placed(p: inspect.Parameter) -> bool:
    return p.kind is not inspect.Parameter.KEYWORD_ONLY


def with_reading(doc: Any, verb: str, given: Mapping[str, Any]) -> Any:
    """The document, whose next command reads the rows as this one did: what it takes of `given`."""
    from scorewise.cli.commands import COMMANDS
    from scorewise.show.verdict import Step

    parameters = signature(verb).parameters
    changed = {n: str(v) for n, v in given.items() if v is not None and v != parameters[n].default}

    def reading(step: Any) -> Any:
        """With those of the options that it takes and does not have."""
        if not isinstance(step, Step) or step.task not in COMMANDS:
            return step
        takes, present = signature(COMMANDS[step.task].verb).parameters, dict(step.options)
        named = ((flag(n).lstrip("-"), value) for n, value in changed.items() if n in takes)
        more = [(name, value) for name, value in named if name not in present]
        return step.of(step.task, step.paths, [*step.options, *more])

    claims = [replace(c, sentence=reading(c.sentence)) for c in getattr(doc, "verdict", ())]
    return replace(doc, verdict=claims) if claims else doc


def _report_instead(
    values: dict[str, Any], forms: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The forms asked for: where -o writes a rule or a map, a name of a page is that of the report."""
    path = values.get("out")
    if not path or forms.get("html", path) is not None or not path.lower().endswith(PAGES):
        return forms
    values["out"] = None
    return {**forms, "html": path}


# Files.


def check_outputs(
    files: Sequence[str], outputs: Mapping[str, str | None], endings: Mapping[str, Sequence[str]]
) -> None:
    """Refuse outputs that could not be written, before the work is done."""
    named = {flag(name): path for name, path in outputs.items() if path is not None}
    places = {
        option: path if path == STDOUT else check_path(path) for option, path in named.items()
    }
    if len(set(places.values())) < len(places):
        where = "standard output" if STDOUT in places.values() else "the same file"
        raise BadInput(f"{' and '.join(named)} both go to {where}; send one of them elsewhere")
    from scorewise.columns.paths import expand

    inputs = set()
    for file in files:
        found: Sequence[str | Path] = [file]
        with suppress(BadInput):  # the verb says it
            found = expand([file])
        inputs |= {Path(os.path.realpath(path)) for path in found}
    for option, place in places.items():
        if place in inputs:
            raise BadInput(f"{option} {named[option]} would overwrite an input; name another file")
    for name, allowed in endings.items():
        path = outputs[name]
        if allowed and path is not None and Path(path).suffix.lower() not in allowed:
            raise BadInput(f"{flag(name)} {path} has to end in {', '.join(allowed)}")
    if outputs.get("plot") is not None and find_spec("matplotlib") is None:
        raise BadInput("--plot needs matplotlib: pip install 'scorewise[plot]'")


def picture(result: Any, ending: str) -> bytes:
    """The picture of a result as a file of that kind."""
    figure, buffer = result.plot().figure_, io.BytesIO()
    with warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(buffer, format=ending[1:], bbox_inches="tight", dpi=150)
    return buffer.getvalue()


def deliver(
    doc: Any, full: Any, forms: Mapping[str, str | None], files: Mapping[str, bytes]
) -> None:
    """Write the files that were asked for; print one form of the document, or else the table.

    `full` is the document of the forms that show all there is.
    """
    from scorewise.show.document import dumps

    written: dict[str | Path, str | bytes] = {}
    for form, path in forms.items():
        if path is not None:
            of = full if form in FULL_FORMS else doc
            written[path] = dumps(of) if form == "json" else render(of, form)
    printed = written.pop(STDOUT, None)
    written.update(files)
    write_all(written)
    if isinstance(printed, str):
        typer.echo(printed.encode(), nl=False)  # bytes: UTF-8 whatever the terminal speaks
    else:
        show(doc)
    for place in written:
        notify(f"wrote {place}")


def write_figures(folder: str | None, files: Mapping[str, bytes]) -> None:
    """Write figures into a folder, which is made unless it is there, and say so."""
    if folder is None:
        return
    make_folder(folder)
    write_all({Path(path): content for path, content in files.items()})
    endings = " and ".join(sorted({Path(path).suffix for path in files}, reverse=True))
    number = len({Path(path).stem for path in files})
    notify(f"wrote {plural(number, 'figure')} into {folder} ({endings})")


def show(doc: Any) -> None:
    """Print the table."""
    from rich.console import Console

    from scorewise.show.terminal import print_document

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal without box characters still shows numbers
    print_document(doc, Console(highlight=False))


def notify(sentence: str) -> None:
    """Say something beside the result, on standard error; no control reaches the terminal."""
    typer.echo(plain(sentence), err=True)


def notify_notes(result: Any, data: Any = None, *, one_model: bool = False) -> None:
    """Tell the notes of a result, also on files that are one data set and on the positive class."""
    sources, notes = getattr(data, "sources", ()), [*getattr(result, "notes", ())]
    if one_model and len(sources) > 1:
        names = ", ".join(sources[:3]) + (", ..." if len(sources) > 3 else "")
        parts = f"{len(sources):,} files are read as parts of one data set ({names}); models are compared"
        notes.insert(
            0, f"{parts} with scorewise compare (--key names the rows), and samples with drift"
        )
    if getattr(data, "rule", "") == "last in sort order":
        positive = quoted(data.positive)
        notes.append(f"positive class: {positive}, the last in sort order; --positive chooses")
    for note in dict.fromkeys(notes):
        notify(f"note: {note}")


@contextmanager
def working(files: Sequence[str]) -> Iterator[None]:
    """A spinner on a terminal, no warnings that repeat notes, one sentence where a file is not read."""
    with ExitStack() as stack, warnings.catch_warnings():
        if sys.stderr.isatty():
            from rich.console import Console

            from scorewise.engines.file_walk import listening

            status = stack.enter_context(Console(stderr=True).status("working"))
            stack.enter_context(listening(status.update))
        warnings.simplefilter("ignore")
        try:
            yield
        except OSError as error:
            where = plain(error.filename or ", ".join(files))
            raise BadInput(f"cannot read {where}: {error.strerror or error}") from error

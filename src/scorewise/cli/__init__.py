"""The command line: what it exits with, and how it fails.

Exit codes: 0 good; 2 bad input or usage, told in one sentence, nothing written; 70 a fault of
scorewise itself (SCOREWISE_DEBUG=1 shows where), or an output that takes nothing; 130 interrupted;
141 the reader of the output went away. Codes 1 and 3 are left to commands that judge: failed, inconclusive.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from scorewise import __version__
from scorewise.cli.command import Command
from scorewise.cli.commands import COMMANDS
from scorewise.cli.options import refusal
from scorewise.errors import BadInput, plain

BAD_INPUT, FAULT, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141

# typer has click inside or beside it, depending on its version; this is the root of its errors
UsageError: type[Exception] = typer.BadParameter.__mro__[2]


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> int:
    """Run the command line; the exit code."""
    if sys.stderr is None:  # closed by the caller: then nobody wants to be told
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (open until the end)
    try:
        code = _invoke(list(args))
        if sys.stdout is None:
            return _fail("standard output is closed; send it to a file or a pipe", FAULT)
        sys.stdout.flush()
    except BadInput as error:
        return _fail(refusal(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("SCOREWISE_DEBUG") == "1":
            import traceback

            for line in traceback.format_exc().splitlines():
                sys.stderr.write(f"{plain(line)}\n")
        if isinstance(error, OSError):
            _discard_output()
        name = type(error).__name__
        return _fail(f"unexpected {name}: {error} (SCOREWISE_DEBUG=1 shows where)", FAULT)
    return code


def _invoke(args: list[str]) -> int:
    # not the command's own main(), which would print boxes and hide a closed pipe
    command = typer.main.get_command(app)
    try:
        with command.make_context("scorewise", args) as context:
            command.invoke(context)
    except typer.Exit as leave:
        return int(leave.exit_code)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except UsageError as error:
        raise BadInput(_usage(error)) from error
    return 0


def _usage(error: Exception) -> str:
    """One sentence about a wrong command line, with the way to the help."""
    message = str(getattr(error, "format_message", error.__str__)())
    # the parser of types puts words before its sentence
    sentence = " ".join(message.split()).rstrip(".").replace("Value error, ", "", 1)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "scorewise"
    return f"{sentence[:1].lower()}{sentence[1:]}; see {command} --help"


def _fail(sentence: str, code: int) -> int:
    # one line whatever the message holds, and no terminal codes from the data
    with suppress(OSError, ValueError):  # the code tells, when words cannot
        sys.stderr.write(f"scorewise: {plain(' '.join(sentence.split()))}\n")
        sys.stderr.flush()
    return code


def _discard_output() -> None:
    """Point standard output nowhere, so that Python does not stumble over it on leaving."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # not a real file, as under test
        return


# The commands as typer sees them; each is built when it is asked for.


class Group(TyperGroup):
    """Commands that are known by name and summary until they are asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command with all its options, and its arguments."""
        both = " ".join(args[:2])  # of two words, beside one that is the first of them
        if both in self.commands:
            args = [both, *args[2:]]
        name, command, rest = super().resolve_command(ctx, args)
        entry = getattr(getattr(command, "callback", None), "entry", None)
        return name, command if entry is None else _built(entry), rest


def _built(entry: Command) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(help=inspect.cleandoc(entry.help))(entry.function())
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Judge classifier scores: decisions, order, probabilities, raters, judges, answers and drift.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
calibrate = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    no_args_is_help=False,
    help="Learn a map from scores to probabilities, and apply it.",
)


def add(name: str, entry: Command) -> None:
    """Make a verb a command; of two words, the first is the group, unless it is a command itself."""

    def asked() -> None:
        """Stands for the command until it is built."""

    asked.entry = entry  # type: ignore[attr-defined]
    group, _, last = name.rpartition(" ")
    if group in COMMANDS:
        group, last = "", name
    (calibrate if group else app).command(last, short_help=entry.summary)(asked)


for _name, _entry in COMMANDS.items():
    add(_name, _entry)
app.add_typer(calibrate, name="calibrate")


@calibrate.command("sql", short_help="Print a map as a SQL expression.")
def calibrate_sql(
    map_file: Annotated[str, typer.Argument(metavar="MAP", help="What calibrate fit wrote.")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[CLASS=]COLUMN",
            help="Column with the scores; of several classes CLASS=COLUMN for each, else those fitted to.",
        ),
    ] = None,
    quote: Annotated[
        str,
        typer.Option(
            metavar="MARK", help='Mark around names: " unless given, ` in Spark, or none.'
        ),
    ] = '"',
) -> None:
    """Print the map as an expression of standard SQL, to be applied where the scores are.

    Example: scorewise calibrate sql map.json --column risk
    """
    from scorewise.recalibrating.applying import sql_text

    typer.echo(sql_text(map_file, column or [], quote).encode(), nl=False)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"scorewise {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Without a command, show the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(short_help="Simulate data, evaluate them, and show where to go from there.")
def demo(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder to write into; made if absent.")
    ] = "scorewise-demo",
) -> None:
    """Simulate a screening programme, evaluate it and write the results into DIR."""
    from scorewise.cli.demo import demonstrate

    demonstrate(folder)


@app.command()
def schema(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="The command whose output is meant.")
    ] = "evaluate",
) -> None:
    """Print the JSON Schema of what COMMAND writes with --json."""
    from scorewise.show.document import DOCUMENTS, dumps
    from scorewise.show.document import schema as schema_of

    if command not in DOCUMENTS:
        raise BadInput(f"no schema of '{command}'; there are {', '.join(sorted(DOCUMENTS))}")
    typer.echo(dumps(schema_of(command)).encode(), nl=False)

"""The command line as typer sees it; a command is built when it is asked for."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from scorewise import __version__
from scorewise.cli.commands import COMMANDS, Command


class Group(TyperGroup):
    """Commands that are known by name and summary until they are asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command with all its options, and its arguments."""
        if (
            " ".join(args[:2]) in self.commands
        ):  # of two words, beside one that is the first of them
            args = [" ".join(args[:2]), *args[2:]]
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
    from scorewise.recalibrating.sql import sql_text

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
    from scorewise.errors import BadInput
    from scorewise.show.document import DOCUMENTS, dumps
    from scorewise.show.document import schema as schema_of

    if command not in DOCUMENTS:
        raise BadInput(f"no schema of '{command}'; there are {', '.join(sorted(DOCUMENTS))}")
    typer.echo(dumps(schema_of(command)).encode(), nl=False)

"""The command line: what it exits with, and how it fails.

Exit codes: 0 good; 2 bad input or usage, told in one sentence, nothing written; 70 a fault of
scorewise itself (SCOREWISE_DEBUG=1 shows where), or an output that takes nothing; 130 interrupted;
141 the reader of the output went away. Codes 1 and 3 are left to commands that judge: failed, inconclusive.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import typer

from scorewise.cli.app import app
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
        _let_go()
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("SCOREWISE_DEBUG") == "1":
            import traceback

            for line in traceback.format_exc().splitlines():
                sys.stderr.write(f"{plain(line)}\n")
        if isinstance(error, OSError):
            _let_go()
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
    said = " ".join(str(getattr(error, "format_message", error.__str__)()).split()).rstrip(".")
    said = said.replace("Value error, ", "", 1)  # what the parser of types puts before its sentence
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "scorewise"
    return f"{said[:1].lower()}{said[1:]}; see {command} --help"


def _fail(sentence: str, code: int) -> int:
    # one line whatever the message holds, and no terminal codes from the data
    with suppress(OSError, ValueError):  # the code tells, when words cannot
        sys.stderr.write(f"scorewise: {plain(' '.join(sentence.split()))}\n")
        sys.stderr.flush()
    return code


def _let_go() -> None:
    """Point standard output nowhere, so that Python does not stumble over it on leaving."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # not a real file, as under test
        return

"""The examples of a page: run them, and put what they print where the page says they print it.

In a ```pycon block every `>>>` is run, and what follows it is its output; a ```python block is run as a
whole. In a ```console block every `$` is run by the shell, in the same folder. A comment
`<!-- setup: COMMAND -->` is run first and shown to nobody.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import scorewise
from scorewise.cli import run
from scorewise.registry import MEASURES

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>python|pycon|console)\n(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)
SETUP = re.compile(r"^<!-- setup: (.*?) -->$", re.M)
FAILED = "Traceback (most recent call last):"
QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")
GOES_ON = re.compile(r"[;&]")
_PART = re.compile(r"((?:'[^']*'|\"[^\"]*\"|[^|>])*)([|>]?)(.*)", re.S)  # up to a pipe or a file
SHELL = re.compile(r"[|&;<>()$`*?\[\]#~=\n]")  # what the shell would do something with


def refreshed(page: str) -> str:
    """The page with the outputs that its examples give now, run in a folder of their own."""
    with (
        tempfile.TemporaryDirectory() as tools,
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):
        before = dict(MEASURES)
        try:
            shell = Shell(Path(tools))
            for command in SETUP.findall(page):
                said = shell.run(command)
                if shell.code:
                    raise RuntimeError(f"{command}: {said}")
            space: dict[str, Any] = {"__name__": "page"}
            return FENCE.sub(lambda fence: _block(fence, space, shell), page)
        finally:  # a page may add a measure of its own
            MEASURES.clear()
            MEASURES.update(before)


def _block(fence: re.Match[str], space: dict[str, Any], shell: Shell) -> str:
    indent, language, body = fence["indent"], fence["language"], fence["body"]
    lines = [line.removeprefix(indent) for line in body.splitlines()]
    ran = _console(lines, shell) if language == "console" else _python(lines, space)
    inside = "".join(f"{indent}{line}".rstrip() + "\n" for line in ran)
    return f"{indent}```{language}\n{inside}{indent}```"


def _python(lines: list[str], space: dict[str, Any]) -> list[str]:
    if not any(line.startswith(">>>") for line in lines):
        exec(compile("\n".join(lines), "<page>", "exec"), space)
        return lines
    ran: list[str] = []
    for example, said in _parts(lines, (">>>", "...")):
        source = "\n".join(line[4:] for line in example) + "\n"
        ran += [*example, *_answer(source, space, may_fail=FAILED in said), *_gap(said)]
    return ran


def _console(lines: list[str], shell: Shell) -> list[str]:
    ran: list[str] = []
    for example, said in _parts(lines, ("$ ",)):
        command = "\n".join(example).removeprefix("$ ")
        ran += [*example, *shell.run(command).rstrip("\n").splitlines(), *_gap(said)]
    return ran


def _parts(lines: list[str], marks: tuple[str, ...]) -> list[tuple[list[str], list[str]]]:
    """Each example, of one or more lines, with the output that the page gives."""
    parts: list[tuple[list[str], list[str]]] = []
    for line in lines:
        if line.startswith(marks[0]):
            parts.append(([line], []))
        elif parts and not parts[-1][1] and _goes_on(parts[-1][0][-1], line, marks):
            parts[-1][0].append(line)
        elif parts:
            parts[-1][1].append(line)
        else:
            raise ValueError(f"output before any example: {line}")
    return parts


def _goes_on(last: str, line: str, marks: tuple[str, ...]) -> bool:
    return line.startswith(marks[1:]) if marks[1:] else last.endswith("\\")


def _gap(said: list[str]) -> list[str]:
    """An empty line after the output, where the page has one."""
    return [""] if said and not said[-1] else []


def _answer(source: str, space: dict[str, Any], *, may_fail: bool) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<page>", "single"), space)
        except Exception as error:
            if not may_fail:
                raise
            kind = type(error)
            out.write(f"{FAILED}\n  ...\n{kind.__module__}.{kind.__qualname__}: {error}")
    return out.getvalue().rstrip("\n").splitlines()


class Shell:
    """A shell that knows `scorewise`, with a terminal of 80 columns and no colours."""

    def __init__(self, tools: Path) -> None:
        self.code = 0
        tool = tools / "scorewise"
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scorewise "$@"\n')
        tool.chmod(0o755)
        self._environment = {
            **os.environ,
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(scorewise.__file__).parents[1]),
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, command: str) -> str:
        """What the command prints, on standard output and standard error."""
        first, then, rest = _PART.fullmatch(command.replace("\\\n", " ")).groups()
        more = GOES_ON.search(QUOTED.sub("", rest))
        if not first.startswith("scorewise ") or SHELL.search(QUOTED.sub("", first)) or more:
            return self._started(command)
        out = io.BytesIO()
        err = io.BytesIO() if then else out
        code = self._called(shlex.split(first)[1:], out, err)
        if not then:
            self.code = code
            return out.getvalue().decode()
        said = err.getvalue().decode() + self._started(
            f"cat {then} {rest}", out.getvalue().decode()
        )
        if then == ">":
            self.code = self.code or code
        return said

    def _started(self, command: str, given: str = "") -> str:
        """The same of any command, in a process of its own, which is given a text to read."""
        done = subprocess.run(
            ["sh", "-c", f"(exit {self.code})\n{command}"],
            env=self._environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.code = done.returncode
        return done.stdout

    def _called(self, words: list[str], out: io.BytesIO, err: io.BytesIO) -> int:
        """The code of scorewise alone, without the second that a new process takes."""
        known = dict(os.environ)
        texts = [io.TextIOWrapper(x, "utf-8", write_through=True) for x in (out, err)]
        os.environ.update({name: self._environment[name] for name in ("COLUMNS", "NO_COLOR")})
        try:
            with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
                return run(words)
        finally:
            for text in texts:
                text.detach()
            os.environ.clear()
            os.environ.update(known)

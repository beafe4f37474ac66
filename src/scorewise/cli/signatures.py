"""From the signature of a verb to the options of its command.

The signature is read from the source: help must not wait for numpy, and importing a verb brings all that it
works with, which takes several times as long as showing its options.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import typer

from scorewise.checks import RULES, refused
from scorewise.cli.options import FILES, Help, flag
from scorewise.errors import BadInput

LIGHT = ("typing", "collections.abc", "os", "pathlib")  # may be imported for a type


def signature(verb: str) -> inspect.Signature:
    """The signature of "module:function", with types and defaults as values.

    What would have to be imported is Any; a name from another file is followed to where it is defined.

    >>> signature("scorewise.drifting:drift").parameters["every"].default is None
    True
    >>> signature("scorewise.drifting:drift").parameters["level"]
    <Parameter "level: float = 0.95">
    """
    module, _, name = verb.partition(":")
    names = _names(module)
    while not isinstance(node := names.nodes.get(name), ast.FunctionDef):
        if not isinstance(node, tuple):
            raise LookupError(f"there is no function {name} in {names.path}")
        names, name = _names(node[0]), node[1]
    arguments = node.args
    typed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    types = {arg.arg: arg.annotation for arg in typed}
    stub = names.value(ast.fix_missing_locations(ast.Lambda(arguments, ast.Constant(None))))
    return inspect.Signature(
        [
            p.replace(annotation=Any if (kind := types[p.name]) is None else names.value(kind))
            for p in inspect.signature(stub).parameters.values()
            if p.name in types
        ]
    )


class Names:
    """What the names at the top of a module stand for, as far as a type or a default needs it."""

    def __init__(self, module: str) -> None:
        self.module, self.path = module, _path(module)
        self.nodes: dict[str, ast.AST | tuple[str, str]] = {}
        for node in ast.parse(self.path.read_bytes()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.nodes[node.name] = node
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.nodes |= {a.asname or a.name: (node.module, a.name) for a in node.names}
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self.nodes[node.target.id] = node.value or node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.nodes[node.targets[0].id] = node.value

    def value(self, expression: ast.expr) -> Any:
        """The value of a type or a default; Any where it needs what is not imported."""
        code = compile(ast.Expression(expression), str(self.path), "eval")
        try:
            return eval(code, {}, self)  # type: ignore[arg-type]
        except (TypeError, AttributeError, NameError):  # NDArray[...] of what is Any, np.nan
            return Any

    def __getitem__(self, name: str) -> Any:
        node = self.nodes[name]
        if isinstance(node, ast.expr):
            return self.value(node)
        if isinstance(node, tuple):
            module, original = node
            if module.partition(".")[0] in ("scorewise", self.module.partition(".")[0]):
                return _names(module)[original]
            return getattr(import_module(module), original) if module in LIGHT else Any
        return Any


_names = cache(Names)


def _path(module: str) -> Path:
    """The file of a module, which is not imported."""
    top, *rest = module.split(".")
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no module {module}")
    if not rest:
        return Path(spec.origin)
    place = Path(spec.origin).parent.joinpath(*rest)
    file = place.with_suffix(
        ".py"
    )  # first: a folder of that name may be what an older version left
    return file if file.exists() else place / "__init__.py"


# parameters as typer takes them


EXAMPLES = {  # of numbers that have no rule
    "auroc": 0.85,
    "correlation": 0.5,
    "delta": 0.02,
    "difference": 0.02,
    "half_width": 0.02,
    "looks": 20,
    "replicates": 2000,
    "rows": 1000,
    "value": 0.85,
    "windows": 10,
}


class CliParameter(NamedTuple):
    """A parameter of a command, and what the verb takes, made of what typer gives."""

    parameter: inspect.Parameter
    value: Callable[[Any], Any]


def parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """A parameter of the command itself."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def argument_of(p: inspect.Parameter, known: Help) -> CliParameter:
    """What is given by place: a file, or one or several."""
    info = typer.Argument(metavar=known.metavar, help=known.help, show_default=False)
    if known.metavar == FILES.metavar:  # one or several
        kind: Any = list[str] if p.default is inspect.Parameter.empty else list[str] | None
        several = parameter(p.name, Annotated[kind, info], p.default)
        return CliParameter(several, lambda files: files[0] if files and len(files) == 1 else files)
    kind = str if p.default is inspect.Parameter.empty else str | None
    return CliParameter(parameter(p.name, Annotated[kind, info], p.default), lambda file: file)


def option_of(p: inspect.Parameter, known: Help) -> CliParameter:
    """The option of a parameter: a list where it can be repeated, or is given once and read."""
    kind, many = _kind(p.annotation, known)
    default, text = p.default, known.help
    number = next((t for t in (int, float) if kind in (t, t | None)), None)
    if number is not None:  # read here, so that what is none is refused in words of its own
        kind = str | None if default is None else str
    if many:
        default = [default] if known.read and isinstance(default, str) else None
        if not known.read and "repeat it" not in text:
            text = f"{text.rstrip('.')}; repeat it for several."
    flags = [flag(p.name), *([known.short] if known.short else [])]
    info = typer.Option(
        *flags, metavar=known.metavar, help=text, show_default=not many or bool(known.read)
    )

    def value(given: Any) -> Any:
        if number is not None:
            return _number(p, number, given) if isinstance(given, str) else given
        if not many:
            return given.value if isinstance(given, StrEnum) else given
        if not given or known.read is None:
            return list(given) if given else p.default
        if len(given) > 1:
            raise BadInput(f"{flag(p.name)} is given {len(given)} times; give it once")
        return known.read(given[0])

    return CliParameter(parameter(p.name, Annotated[kind, info], default), value)


def _number(p: inspect.Parameter, kind: type[int] | type[float], text: str) -> float:
    """The number that a text is; a sentence says what it must be instead."""
    try:
        return kind(text)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        rule, example = RULES.get(p.name), EXAMPLES.get(p.name)
        must = rule.must if rule else f"be {what}, such as {example}"
        raise refused(p.name, must, text.strip() or "nothing") from None


def _kind(hint: Any, known: Help) -> tuple[Any, bool]:
    """The type of an option, and whether it comes as a list."""
    parts = _parts(hint)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if known.read or any(get_origin(part) is Sequence for part in parts):
        return list[str] | None, True
    kind: Any = next((t for t in (bool, int, float) if t in parts), str)
    if words and kind is str:
        choice: Any = StrEnum
        kind = choice(known.metavar.title(), {word: word for word in words})
    return (kind | None if type(None) in parts or hint is Any else kind), False


def _parts(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, UnionType):
        return [part for arg in get_args(hint) for part in _parts(arg)]
    return [hint]

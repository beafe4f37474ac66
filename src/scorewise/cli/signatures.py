"""The signature of a function, read from its source: help must not wait for numpy.

Importing a verb brings all that it works with, which takes several times as long as showing its options.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    missing = [None] * (len(positional) - len(given.defaults))
    kinds = [inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY]
    parameters = [
        inspect.Parameter(
            arg.arg,
            kind,
            default=inspect.Parameter.empty if default is None else names.value(default),
            annotation=Any if arg.annotation is None else names.value(arg.annotation),
        )
        for kind, args, defaults in (
            (kinds[0], positional, [*missing, *given.defaults]),
            (kinds[1], given.kwonlyargs, given.kw_defaults),
        )
        for arg, default in zip(args, defaults, strict=True)
    ]
    return inspect.Signature(parameters)


@cache
def _names(module: str) -> Names:
    return Names(module)


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


def _path(module: str) -> Path:
    """The file of a module, which is not imported."""
    top, *rest = module.split(".")
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no module {module}")
    if not rest:
        return Path(spec.origin)
    place = Path(spec.origin).parent.joinpath(*rest)
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")

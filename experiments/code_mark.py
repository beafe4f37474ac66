"""A mark of the code that makes a study's numbers, so that runs of other code are not taken up."""

from __future__ import annotations

import ast
from functools import cache
from hashlib import sha256
from pathlib import Path

import sklearn

import scorewise as sw

HERE = Path(__file__).parent
LIBRARY = Path(sw.__file__).parent


@cache
def code_mark(parts: tuple[str, ...], makers: tuple[str, ...]) -> str:
    """Of parts of the library and files of experiments; comments and documentation do not change it."""
    files = [file for part in parts for file in sorted((LIBRARY / part).rglob("*.py"))]
    files += [HERE / f"{name}.py" for name in makers]
    said = "".join(ast.dump(bare(ast.parse(file.read_text()))) for file in files)
    return sha256((said + sklearn.__version__).encode()).hexdigest()[:16]


def bare(tree: ast.Module) -> ast.Module:
    """Code without docstrings.

    >>> ast.unparse(bare(ast.parse("def f():\\n    'Half of one.'\\n    return 0.5  # of course")))
    'def f():\\n    return 0.5'
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return tree

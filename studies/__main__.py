"""List the studies, or run one: `python -m studies [NAME ...]`, `make study NAME=coverage`."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def listed() -> dict[str, str]:
    """The name of each study and the first sentence of its docstring, read without importing it."""
    files = {f.stem: f for f in HERE.glob("[!_]*.py")}
    files |= {f.parent.name: f for f in HERE.glob("[!_]*/__init__.py")}
    told = {name: ast.get_docstring(ast.parse(files[name].read_text())) for name in sorted(files)}
    return {name: (text or "").partition("\n")[0] for name, text in told.items()}


def main(args: list[str]) -> None:
    known = listed()
    if not args:
        width = max(map(len, known))
        print("\n".join(f"{name:<{width}}  {sentence}" for name, sentence in known.items()))
        return
    name, *rest = args
    if name not in known:
        raise SystemExit(f"there is no study {name}; known: {', '.join(known)}")
    importlib.import_module(f"studies.{name}").main(rest)


if __name__ == "__main__":
    main(sys.argv[1:])

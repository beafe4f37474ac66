"""List the studies, or run one: `python -m studies [NAME ...]`, `make study NAME=coverage`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import studies


def listed() -> dict[str, str]:
    """The name of each study and the first sentence of its docstring."""
    names = sorted(m.name for m in pkgutil.iter_modules(studies.__path__) if m.name != "__main__")
    found = {name: importlib.import_module(f"studies.{name}") for name in names}
    return {name: (m.__doc__ or "").partition("\n")[0] for name, m in found.items()}


def main(words: list[str]) -> None:
    if not words:
        for name, sentence in listed().items():
            print(f"{name:<16} {sentence}")
        return
    name, *rest = words
    if name not in listed():
        raise SystemExit(f"there is no study {name}; known: {', '.join(listed())}")
    importlib.import_module(f"studies.{name}").main(rest)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Count the functions and files that run from a call to its answer: what a reader has to walk through.

`python -m benchmarks.walk` prints both counts of each case; a word picks cases and lists their functions.
Comprehensions and generator expressions belong to the function that they stand in, and imports are no part.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import scorewise as sw

HOME = sw.__file__.removesuffix("__init__.py")


def functions(call: Callable[[], object]) -> dict[tuple[str, int, str], None]:
    """The functions of scorewise that a call runs, in order: file, line and name."""
    ran: dict[tuple[str, int, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        inner = code.co_name.startswith("<") and code.co_name != "<lambda>"
        body = code.co_flags & 2 == 0  # of a class or a module
        if event == "call" and code.co_filename.startswith(HOME) and not inner and not body:
            name = getattr(code, "co_qualname", code.co_name)
            ran[code.co_filename.removeprefix(HOME), code.co_firstlineno, name] = None

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return ran


def main(words: list[str]) -> None:
    agreement = sw.agree([[25, 10], [15, 20]])
    rng = np.random.default_rng(0)
    label = rng.random(500) < 0.4
    score = 0.7 * rng.random(500) + 0.3 * label
    cases: dict[str, Callable[[], object]] = {
        "a.cohen_kappa": lambda: agreement.cohen_kappa,
        "print(sw.evaluate(y, s))": lambda: str(sw.evaluate(label, score)),
    }
    for name, call in cases.items():
        if words and not any(word in name for word in words):
            continue
        ran = functions(call)
        print(f"{name}: {len(ran)} functions in {len({file for file, *_ in ran})} files")
        for file, line, function in ran if words else ():
            print(f"  {file}:{line} {function}")


if __name__ == "__main__":
    main(sys.argv[1:])

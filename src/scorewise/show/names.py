"""Very long names of a document, cut so that a page that says them a hundred times stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

LONG = 400  # characters, which no sentence has that names nothing long
FIRST, LAST = 32, 8  # characters of a long name that are left
WHOLE = 12_000  # characters of all long names together, as far as they are told whole
AROUND = 20  # characters beside a long name that make a sentence of it


def cut_names(doc: Any) -> tuple[Any, dict[str, str]]:
    """The document with each very long name cut, wherever it is said, and the names by their cut form.

    >>> short, names = cut_names({"model": "x" * 500, "text": f"'{'x' * 500}' ranks better than 'y'."})
    >>> len(short["model"]), names[short["model"]] == "x" * 500, short["text"][-25:]
    (41, True, "x' ranks better than 'y'.")
    """
    names: dict[str, str] = {}
    for text in sorted({*_long(doc)}, key=lambda x: (len(x), x)):
        left, known = text, 0
        for name in sorted(names.values(), key=len, reverse=True):
            known += left.count(name)
            left = left.replace(name, "")
        if not known or (known == 1 and len(left) < AROUND):
            names[_cut(text, names)] = text
    if not names:
        return doc, {}
    by_length = sorted(names.items(), key=lambda pair: len(pair[1]), reverse=True)

    def change(text: str) -> str:
        for short, name in by_length:
            text = text.replace(name, short)
        return text

    return _changed(doc, change), names


def told_whole(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each cut name beside the whole one, or as much of it as there is room for."""
    room = max(LONG, WHOLE // max(len(names), 1))
    for short, name in names.items():
        more = len(name) - room
        yield short, name if more <= 0 else f"{name[:room]}… and {more:,} more characters"


def _cut(name: str, taken: Mapping[str, str]) -> str:
    short, k = f"{name[:FIRST]}…{name[-LAST:]}", 1
    while short in taken:
        k += 1
        short = f"{name[:FIRST]}…{name[-LAST:]} ({k})"
    return short


def _long(item: Any) -> Iterator[str]:
    """The long texts in a document."""
    if isinstance(item, str):
        if len(item) > LONG:
            yield item
    elif is_dataclass(item):
        for field in fields(item):
            yield from _long(getattr(item, field.name))
    elif isinstance(item, Mapping):
        for key, part in item.items():
            yield from _long(key)
            yield from _long(part)
    elif isinstance(item, list | tuple) and item and not isinstance(item[-1], int | float):
        for part in item:
            yield from _long(part)


def _changed(item: Any, change: Callable[[str], str]) -> Any:
    if isinstance(item, str):
        return change(item) if len(item) > LONG else item
    if is_dataclass(item) and not isinstance(item, type):
        parts = {f.name: _changed(getattr(item, f.name), change) for f in fields(item) if f.init}
        return replace(item, **parts)
    if isinstance(item, Mapping):
        return {_changed(key, change): _changed(part, change) for key, part in item.items()}
    if isinstance(item, list | tuple):
        made = [_changed(part, change) for part in item]
        return made if isinstance(item, list) else tuple(made)
    return item

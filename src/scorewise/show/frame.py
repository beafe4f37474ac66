"""A result as a frame: one line for each estimate of its document, with what it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, Literal, get_args

from scorewise.errors import BadInput

Backend = Literal["polars", "pandas"]
FIRST = ("name", "value", "low", "high")
LAST = ("p", "p_adjusted", "level", "method", "why")  # behind what the estimate is of
# fields that tell records of a list apart, beside their names, and the columns that they become
KEYS = {
    **{
        word: word
        for word in ("model", "first", "second", "category", "confidence", "radius", "tau")
    },
    **{word: word for word in ("rows", "items", "answers")},
    "method": "map",  # of a record; that of an estimate is how its interval was made
}
KEY_TYPES = (str, int, float)
SINGULAR = {"classes": "class", "categories": "category"}
APART = ("verdict", "settings", "data")  # which hold no estimates of their own


def document_frame(doc: Any, part: str | None = None, backend: Backend = "polars") -> Any:
    """One line for each estimate in a part of the document; the first list of them unless named."""
    parts = {f.name: getattr(doc, f.name) for f in fields(doc) if f.name not in APART}
    of = {"by": getattr(getattr(doc, "data", None), "by", ())}
    found = {name: list(_lines(item, name, "", of)) for name, item in parts.items()}
    if not any(found.values()):  # no estimates: the records themselves, list by list
        found = dict(_records(doc))
    found = {name: lines for name, lines in found.items() if lines}
    if part is None:
        part = next((n for n in found if isinstance(parts.get(n), list)), next(iter(found), None))
    elif part not in found:
        from scorewise.registry import unknown

        raise BadInput(unknown(part, found, "part"))
    return framed([] if part is None else found[part], backend)


def framed(lines: Sequence[Mapping[str, Any]], backend: Backend = "polars") -> Any:
    """Lines as a frame, the estimates first, then what they are of.

    >>> framed([{"model": "tree", "name": "auroc", "value": 0.9, "low": 0.8, "high": 0.95}]).columns
    ['name', 'value', 'low', 'high', 'model']
    """
    if backend not in get_args(Backend):
        raise BadInput(f"no frames of {backend}; there are those of {', '.join(get_args(Backend))}")
    there = dict.fromkeys(name for line in lines for name in line)
    if {*FIRST} <= there.keys() or not lines:
        middle = [name for name in there if name not in (*FIRST, *LAST)]
        there = dict.fromkeys([*FIRST, *middle, *(name for name in LAST if name in there)])
    columns = {name: [line.get(name) for line in lines] for name in there}
    if backend == "polars":
        import polars as pl

        return pl.DataFrame(columns, strict=False)
    try:
        return import_module("pandas").DataFrame(columns)
    except ImportError as e:
        raise BadInput("a frame of pandas needs pandas: pip install pandas") from e


def _lines(item: Any, field: str, path: str, of: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The estimates in a record or list, each by its name or its path, with what it is of."""
    if isinstance(item, list | tuple):
        for one in item:
            yield from _lines(one, field, path, of)
    if not is_dataclass(item):
        return
    own = {f.name: getattr(item, f.name) for f in fields(item)}
    if {"value", "low", "high"} <= own.keys():
        line = _scalars(own)
        line["name"] = line.pop("measure", None) or line.get("name") or path
        yield {**{key: x for key, x in of.items() if key != "by"}, **line}
        return
    known = {KEYS[key]: x for key, x in own.items() if key in KEYS and isinstance(x, KEY_TYPES)}
    if isinstance(own.get("name"), str):
        known[SINGULAR.get(field, field.removesuffix("s"))] = own["name"]
    context = {**of, **known} | ({"by": own["by"]} if "by" in own else {})
    if "words" in own:  # of a group, one for each column of groups
        context |= dict(zip(context["by"], own["words"], strict=False))
    for name, inside in own.items():
        if name == "summary":  # the means over groups are no group
            continue
        yield from _lines(inside, name, f"{path}.{name}" if path else name, context)


def _scalars(own: Mapping[str, Any]) -> dict[str, Any]:
    from scorewise.show.document import to_dict

    return {k: to_dict(x) for k, x in own.items() if not isinstance(x, list | tuple | dict)}


def _records(item: Any, field: str = "") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The lists of records that have no estimates, by the names of their fields."""
    if isinstance(item, list):
        yield field, [_scalars(vars(one)) for one in item if is_dataclass(one)]
    elif is_dataclass(item):
        for f in fields(item):
            if f.name not in APART:
                yield from _records(getattr(item, f.name), f.name)

"""Results: how they show themselves, as JSON, frame, page or figures, all from one document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from html import escape
from importlib import import_module
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple, get_args

from scorewise.errors import BadInput
from scorewise.registry import unknown
from scorewise.show import FULL_FORMS, render
from scorewise.show.records import members

Backend = Literal["polars", "pandas"]
FIRST_COLUMNS = ("name", "value", "low", "high")
LAST_COLUMNS = ("p", "p_adjusted", "level", "method", "why")  # behind what the estimate is of
# fields that tell records of a list apart, beside their names, and the columns that they become
CONTEXT = (
    "model", "first", "second", "category", "confidence", "radius", "tau", "rows", "items", "answers"
)  # fmt: skip
# the method of a record is a map; that of an estimate is how its interval was made
KEYS = {**{word: word for word in CONTEXT}, "method": "map"}
KEY_TYPES = (str, int, float)
SINGULAR = {"classes": "class", "categories": "category"}
WITHOUT_ESTIMATES = ("verdict", "settings", "data")  # which hold no estimates of their own


class Pictures(NamedTuple):
    """The pictures that a result has, by name, and those that are drawn where none is named."""

    kinds: Mapping[str, Callable[..., Any]]
    first: Sequence[str]


class Result:
    """What has a document can be read as a table, JSON, Markdown or any other form of a page."""

    def document(self) -> Any:
        """What is written and shown: a typed record."""
        return self.to_dict()

    def brief(self) -> Any:
        """What the first screen shows: the document, or one with fewer measures."""
        return self.document()

    def all(self) -> FullResult:
        """All that is known, in place of the first screen."""
        return FullResult(self)

    def to_dict(self) -> dict[str, Any]:
        """The document as mappings and lists; `scorewise schema` prints its schema."""
        from scorewise.show.document import to_dict

        document: dict[str, Any] = to_dict(self.document())
        return document

    def to_json(self) -> str:
        """The document as JSON."""
        from scorewise.show.document import dumps

        return dumps(self.document())

    def to_markdown(self) -> str:
        """The page as Markdown, for a pull request or a notebook."""
        return self.render("md")

    def to_latex(self) -> str:
        """The page as LaTeX: the verdict as text, and tables with the rules of booktabs."""
        return self.render("latex")

    def to_frame(self, part: str | None = None, *, backend: Backend = "polars") -> Any:
        """One line for each estimate, with what it is of: model, group, class, judge, window.

        Of a document with several lists of estimates, `part` names another than the first, such as
        "differences", "groups" or "classes". `backend` is "polars" or "pandas".
        """
        return document_frame(self.document(), part, backend)

    def pictures(self) -> Pictures:
        """The pictures there are of it, by name, and those that are drawn where none is named."""
        raise BadInput(f"there are no pictures of this {type(self).__name__}")

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw it with matplotlib (`pip install 'scorewise[plot]'`): what people expect, or one `kind`.

        The options are those of the display that is drawn. `pictures().kinds` has all kinds by name.
        """
        import scorewise  # by its public name: no view depends on another

        return scorewise.displays.canvas.draw(self.pictures(), kind, ax, options)

    def figures(self) -> dict[str, Any]:
        """Its figures by name, as SVG: notebooks show them, and `save` writes them (.svg, .png)."""
        # by its name: no view depends on another
        found: dict[str, Any] = import_module("scorewise.figures").saved_figures(self.document())
        if not found:
            raise BadInput(f"there are no figures of this {type(self).__name__}")
        return found

    def render(self, form: str) -> str:
        """The page in one of its forms: "text", "md" or "latex"; "html" is the whole report."""
        return render(self.document() if form in FULL_FORMS else self.brief(), form)

    def report(self, path: str | PathLike[str]) -> None:
        """Write the report: one HTML file with sentences, figures and tables, which needs no network."""
        from scorewise.writing import check, write

        place = fspath(path)
        if not place.lower().endswith((".html", ".htm")):
            raise BadInput(f"cannot write {place}: a report ends in .html")
        check(place)
        write(place, self.render("html"))

    def __repr__(self) -> str:
        return self.render("text")

    def iframe(self, height: int = 600) -> Frame:
        """The report within a notebook, as it is in its file; it stays when the notebook is saved."""
        return Frame(self.render("html"), height)

    def widget(self) -> Any:
        """The report as a widget (`pip install 'scorewise[widget]'`), which shares its `threshold`."""
        from scorewise.show.report import widget

        return widget(self.document())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: plain tables, which also survive where styles and scripts are stripped."""
        from scorewise.show.html import fragment

        doc = self.brief()
        return {
            "text/plain": render(doc, "text"),
            "text/markdown": render(doc, "md"),
            "text/html": fragment(doc),
        }


class FullResult(Result):
    """A result that shows all it knows, not only what the first screen has."""

    def __init__(self, of: Result) -> None:
        self.of = of

    def document(self) -> Any:
        """The whole document."""
        return self.of.document()

    def pictures(self) -> Pictures:
        """Those of the result."""
        return self.of.pictures()


# Frames: one line for each estimate of a document, with what it is of.


def document_frame(doc: Any, part: str | None = None, backend: Backend = "polars") -> Any:
    """One line for each estimate in a part of the document; the first list of them unless named."""
    inside = {name: item for name, item in members(doc) if name not in WITHOUT_ESTIMATES}
    of = {"by": getattr(getattr(doc, "data", None), "by", ())}
    lines_of = {name: list(_lines(item, name, "", of)) for name, item in inside.items()}
    if not any(lines_of.values()):  # no estimates: the records themselves, list by list
        lines_of = dict(_records(doc))
    lines_of = {name: lines for name, lines in lines_of.items() if lines}
    if part is None:
        part = next(
            (n for n in lines_of if isinstance(inside.get(n), list)), next(iter(lines_of), None)
        )
    elif part not in lines_of:
        raise BadInput(unknown(part, lines_of, "part"))
    return framed([] if part is None else lines_of[part], backend)


def framed(lines: Sequence[Mapping[str, Any]], backend: Backend = "polars") -> Any:
    """Lines as a frame, the estimates first, then what they are of.

    >>> framed([{"model": "tree", "name": "auroc", "value": 0.9, "low": 0.8, "high": 0.95}]).columns
    ['name', 'value', 'low', 'high', 'model']
    """
    if backend not in get_args(Backend):
        raise BadInput(f"no frames of {backend}; there are those of {', '.join(get_args(Backend))}")
    names = dict.fromkeys(name for line in lines for name in line)
    if {*FIRST_COLUMNS} <= names.keys() or not lines:
        middle = [name for name in names if name not in (*FIRST_COLUMNS, *LAST_COLUMNS)]
        names = dict.fromkeys(
            [*FIRST_COLUMNS, *middle, *(name for name in LAST_COLUMNS if name in names)]
        )
    columns = {name: [line.get(name) for line in lines] for name in names}
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
    fields = dict(members(item))
    if {"value", "low", "high"} <= fields.keys():
        line = _scalars(fields)
        line["name"] = line.pop("measure", None) or line.get("name") or path
        yield {**{key: x for key, x in of.items() if key != "by"}, **line}
        return
    known = {KEYS[key]: x for key, x in fields.items() if key in KEYS and isinstance(x, KEY_TYPES)}
    if isinstance(fields.get("name"), str):
        known[SINGULAR.get(field, field.removesuffix("s"))] = fields["name"]
    context = {**of, **known} | ({"by": fields["by"]} if "by" in fields else {})
    if "words" in fields:  # of a group, one for each column of groups
        context |= dict(zip(context["by"], fields["words"], strict=False))
    for name, inside in fields.items():
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
        for name, inside in members(item):
            if name not in WITHOUT_ESTIMATES:
                yield from _records(inside, name)


class Frame:
    """A whole HTML page that a notebook shows in a frame, apart from its own."""

    def __init__(self, page: str, height: int = 600) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="scorewise report" width="100%" height="{int(self.height)}" frameborder="0" '
            f'sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<scorewise report, {len(self.page.encode()):,} bytes>"

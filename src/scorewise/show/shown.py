"""How results show themselves: as JSON, and as a page in one of several forms, all from one document."""

from __future__ import annotations

from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.show.frame import Backend
    from scorewise.show.notebook import Frame

# from a page to its text, by the name of the form, which is an option of the command line too;
# imported when asked for
RENDERERS = {
    "text": "scorewise.show.terminal:text",
    "md": "scorewise.show.markdown:markdown",
    "latex": "scorewise.show.latex:latex",
    "html": "scorewise.show.html:html",
}
WHOLE = {"html"}  # forms that show all there is, never only the first screen


def render(doc: Any, form: str) -> str:
    """The page of a document in one of the forms."""
    from scorewise.show.document import page_of

    if form not in RENDERERS:
        raise BadInput(f"no form is named {form}; there are {', '.join(RENDERERS)}")
    module, _, name = RENDERERS[form].partition(":")
    return str(getattr(import_module(module), name)(page_of(doc)))


class Shown:
    """What has a document can be read as a table, JSON, Markdown or any other form of a page."""

    def document(self) -> Any:
        """What is written and shown: a typed record."""
        return self.to_dict()

    def brief(self) -> Any:
        """What the first screen shows: the document, or one with fewer measures."""
        return self.document()

    def all(self) -> Everything:
        """All that is known, in place of the first screen."""
        return Everything(self)

    def to_dict(self) -> dict[str, Any]:
        """The document as mappings and lists; `scorewise schema` prints its schema."""
        from scorewise.show.document import to_dict

        made: dict[str, Any] = to_dict(self.document())
        return made

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
        from scorewise.show.frame import document_frame

        return document_frame(self.document(), part, backend)

    def pictures(self) -> Any:
        """The pictures there are of it, by name, and those that are drawn where none is named."""
        raise BadInput(f"there are no pictures of this {type(self).__name__}")

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw it with matplotlib (`pip install 'scorewise[plot]'`): what people expect, or one `kind`.

        The options are those of the display that is drawn. `pictures().kinds` has all kinds by name.
        """
        import scorewise  # by its public name: no view depends on another

        return scorewise.displays.overview.draw(self.pictures(), kind, ax, options)

    def figures(self) -> dict[str, Any]:
        """Its figures by name, as SVG: notebooks show them, and `save` writes them (.svg, .png)."""
        # by its name: no view depends on another
        made: dict[str, Any] = import_module("scorewise.figures.files").saved_figures(
            self.document()
        )
        if not made:
            raise BadInput(f"there are no figures of this {type(self).__name__}")
        return made

    def render(self, form: str) -> str:
        """The page in one of its forms: "text", "md" or "latex"; "html" is the whole report."""
        return render(self.document() if form in WHOLE else self.brief(), form)

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
        from scorewise.show.notebook import Frame

        return Frame(self.render("html"), height)

    def widget(self) -> Any:
        """The report as a widget (`pip install 'scorewise[widget]'`), which shares its `threshold`."""
        from scorewise.show.notebook import widget

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


class Everything(Shown):
    """A result that shows all it knows, not only what the first screen has."""

    def __init__(self, of: Shown) -> None:
        self.of = of

    def document(self) -> Any:
        """The whole document."""
        return self.of.document()

    def pictures(self) -> Any:
        """Those of the result."""
        return self.of.pictures()

"""How results show themselves: as JSON, and as a page in one of several forms, all from one document."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scorewise.errors import BadInput

# from a page to its text, by the name of the form, which is an option of the command line too;
# imported when asked for
RENDERERS = {
    "text": "scorewise.show.terminal:text",
    "md": "scorewise.show.markdown:markdown",
}


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

    def render(self, form: str) -> str:
        """The page in one of its forms: "text" or "md"."""
        return render(self.brief(), form)

    def __repr__(self) -> str:
        return self.render("text")

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


class Everything(Shown):
    """A result that shows all it knows, not only what the first screen has."""

    def __init__(self, of: Shown) -> None:
        self.of = of

    def document(self) -> Any:
        """The whole document."""
        return self.of.document()

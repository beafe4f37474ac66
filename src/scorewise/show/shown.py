"""How results show themselves: as a table, JSON or Markdown, all from one document."""

from __future__ import annotations

from typing import Any

from scorewise.show.document import Json


class Shown:
    """What has a document can be read as a table, JSON or Markdown."""

    def document(self) -> Any:
        """What is written and shown: a typed record."""
        return self.to_dict()

    def to_dict(self) -> Json:
        """The document as mappings and lists; `scorewise schema` prints its schema."""
        from scorewise.show.document import to_dict

        made: Json = to_dict(self.document())
        return made

    def to_json(self) -> str:
        """The document as JSON."""
        from scorewise.show.document import dumps

        return dumps(self.document())

    def to_markdown(self) -> str:
        """The document as Markdown, for a pull request or a notebook."""
        from scorewise.show.markdown import markdown

        return markdown(self.document())

    def __repr__(self) -> str:
        from scorewise.show.terminal import text

        return text(self.document())

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

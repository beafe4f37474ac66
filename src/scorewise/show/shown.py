"""How results show themselves: as a table, JSON or Markdown, all from one document."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scorewise.show.words import Document


class Shown(ABC):
    """What can be written as a document can be read as a table, JSON or Markdown."""

    @abstractmethod
    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema` prints its schema."""

    def to_json(self) -> str:
        """The document as JSON."""
        from scorewise.show.documents import dumps

        return dumps(self.to_dict())

    def to_markdown(self) -> str:
        """The document as Markdown, for a pull request or a notebook."""
        from scorewise.show.markdown import markdown

        return markdown(self.to_dict())

    def __repr__(self) -> str:
        from scorewise.show.terminal import text

        return text(self.to_dict())

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

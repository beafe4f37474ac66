"""What the commands other than `evaluate` of two classes show, as pages that every text view renders alike.

Each command has a file here with one function, from its document to the sections of its page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scorewise.show.document import DOCUMENTS, document_type, from_dict
from scorewise.show.document import Document as Typed
from scorewise.show.page import Page
from scorewise.show.pages.agree import agree
from scorewise.show.pages.evaluate_classes import evaluate_classes
from scorewise.show.pages.judge import judge
from scorewise.show.pages.section import Section
from scorewise.show.words import Document

PAGES: dict[str, Callable[[Document], list[Section]]] = {
    "agree": agree,
    "evaluate-classes": evaluate_classes,
    "judge": judge,
}


def page_of(doc: Any) -> Page | None:
    """The page of a document; none of that of `evaluate` of two classes, which has its own views."""
    if not isinstance(doc, Typed) and doc["command"] in DOCUMENTS:
        doc = from_dict(document_type(doc["command"]), doc)
    if isinstance(doc, Typed):
        return doc.page()
    page = PAGES.get(doc["command"])
    return None if page is None else Page(doc["command"], page(doc))

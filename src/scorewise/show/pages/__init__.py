"""What commands show whose documents have no types yet, as pages that every text view renders alike.

Each command has a file here with one function, from its document to the sections of its page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scorewise.show.document import DOCUMENTS, document_type, from_dict
from scorewise.show.document import Document as Typed
from scorewise.show.page import Page
from scorewise.show.pages.calibrate import calibrate
from scorewise.show.pages.calibrate_classes import calibrate_classes
from scorewise.show.pages.in_and_out import in_and_out
from scorewise.show.pages.section import Section
from scorewise.show.words import Document

PAGES: dict[str, Callable[[Document], list[Section]]] = {
    "calibrate": calibrate,
    "calibrate-classes": calibrate_classes,
    "in-and-out": in_and_out,
}


def page_of(doc: Any) -> Page:
    """The page of a document, be it typed or read from JSON."""
    if isinstance(doc, Page):
        return doc
    if not isinstance(doc, Typed) and doc["command"] in DOCUMENTS:
        doc = from_dict(document_type(doc["command"]), doc)
    if isinstance(doc, Typed):
        return doc.page()
    return Page(doc["command"], PAGES[doc["command"]](doc))

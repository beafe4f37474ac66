"""The JSON Schemas of the documents that every view renders, one for each command."""

from __future__ import annotations

from scorewise.show.document import DOCUMENTS
from scorewise.show.document import schema as derived
from scorewise.show.schemas.calibrate import calibrate, calibrate_classes
from scorewise.show.schemas.in_and_out import in_and_out
from scorewise.show.schemas.parts import Schema

SCHEMAS = {
    "calibrate": calibrate,
    "calibrate-classes": calibrate_classes,
    "in-and-out": in_and_out,
}


def document_schema(command: str = "evaluate") -> Schema:
    """The schema of what a command writes, in draft 2020-12.

    >>> document_schema()["title"]
    'scorewise evaluate'
    """
    return derived(command) if command in DOCUMENTS else SCHEMAS[command]()

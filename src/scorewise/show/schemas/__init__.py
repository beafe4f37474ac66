"""The JSON Schemas of the documents that every view renders, one for each command."""

from __future__ import annotations

from scorewise.show.document import DOCUMENTS
from scorewise.show.document import schema as derived
from scorewise.show.schemas.agree import agree
from scorewise.show.schemas.evaluate import evaluate
from scorewise.show.schemas.evaluate_classes import evaluate_classes
from scorewise.show.schemas.judge import judge
from scorewise.show.schemas.parts import Schema

SCHEMAS = {
    "agree": agree,
    "evaluate": evaluate,
    "evaluate-classes": evaluate_classes,
    "judge": judge,
}


def document_schema(command: str = "evaluate") -> Schema:
    """The schema of what a command writes, in draft 2020-12.

    >>> document_schema()["properties"]["schema"]["const"]
    1
    """
    return derived(command) if command in DOCUMENTS else SCHEMAS[command]()

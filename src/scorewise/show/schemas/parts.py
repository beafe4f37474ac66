"""What JSON Schemas are made of: each part with its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

VERSION = 1


def document(command: str, **properties: Schema) -> Schema:
    """The schema of the document that a command makes, in draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:scorewise:document:{VERSION}:{command}",
        "title": f"scorewise {command}",
        **an_object(
            "What scorewise found. Numbers that are not finite are null.",
            schema=constant("Version of this format.", VERSION),
            scorewise=text("Version of scorewise that wrote the document."),
            command=constant("The command that made the document.", command),
            **properties,
        ),
    }


def an_object(description: str, **properties: Schema) -> Schema:
    """An object with exactly these fields."""
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def a_list(description: str, items: Schema, least: int = 0) -> Schema:
    """A list of such items."""
    return {"description": description, "type": "array", "items": items, "minItems": least}


def text(description: str, least: int = 0) -> Schema:
    """A text."""
    return {"description": description, "type": "string", "minLength": least}


def number(description: str, **limits: float) -> Schema:
    """A number."""
    return {"description": description, "type": "number", **limits}


def between(description: str) -> Schema:
    """A number between 0 and 1, neither of them."""
    return number(description, exclusiveMinimum=0, exclusiveMaximum=1)


def count(description: str) -> Schema:
    """A whole number from 0 up."""
    return {"description": description, "type": "integer", "minimum": 0}


def flag(description: str) -> Schema:
    """True or false."""
    return {"description": description, "type": "boolean"}


def constant(description: str, value: object) -> Schema:
    """Always the same."""
    return {"description": description, "const": value}


def choice(description: str, words: Sequence[str | None]) -> Schema:
    """One of these words; null, where it is among them."""
    return {"description": description, "enum": list(words)}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}

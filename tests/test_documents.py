"""Every typed document: its schema is described and true, and it is read back as it was written."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from schemas import check_described, short
from scorewise import BadInput
from scorewise.show.document import DOCUMENTS, OPTIONAL, document_type, from_dict, schema, to_dict

GOLDEN = Path(__file__).parent / "golden"
WRITTEN = [command for command in DOCUMENTS if (GOLDEN / f"{command}.json").exists()]


def written(command):
    return json.loads((GOLDEN / f"{command}.json").read_text("utf-8"))


def places(node, path=()):
    """Every record of a document, by the way to it, one of each list."""
    if isinstance(node, dict):
        yield path
        for key, value in node.items():
            yield from places(value, (*path, key))
    elif isinstance(node, list) and node:
        yield from places(node[0], (*path, 0))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def test_what_every_command_writes_has_a_schema():
    known = {json.loads(path.read_text("utf-8"))["command"] for path in GOLDEN.glob("*.json")}
    assert known <= set(DOCUMENTS), "add the document to DOCUMENTS in show/document.py"


@pytest.mark.parametrize("command", DOCUMENTS)
def test_every_field_of_the_schema_is_described(command):
    check_described(schema(command))


@pytest.mark.parametrize("command", WRITTEN)
def test_what_was_written_is_read_as_it_was(command):
    doc = written(command)
    jsonschema.Draft202012Validator(schema(command)).validate(doc)
    assert to_dict(from_dict(document_type(command), doc)) == doc


FREE = {("map", "parameters")}  # parameters of a map are checked where the map is read


@pytest.mark.parametrize("command", WRITTEN)
def test_unknown_absent_and_wrong_fields_are_refused(command):
    kind, validator = document_type(command), jsonschema.Draft202012Validator(schema(command))

    def refused(doc, read=True):
        assert not validator.is_valid(doc)
        if read:
            with pytest.raises(BadInput):
                from_dict(kind, doc)

    whole = short(written(command))
    validator.validate(whole)
    # a report is made of documents, which have their own turn
    own = [()] if command == "report" else places(whole)
    for path in (p for p in own if p not in FREE):
        doc = copy.deepcopy(whole)
        at(doc, path)["surprise"] = 1
        refused(doc)
        for key in at(whole, path):
            if (*path, key) in FREE:
                continue
            doc = copy.deepcopy(whole)
            at(doc, path)[key] = {"not": "this"}
            refused(doc)
            doc = copy.deepcopy(whole)
            del at(doc, path)[key]
            refused(doc, read=key not in OPTIONAL)

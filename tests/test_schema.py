"""The schema accepts what scorewise writes and refuses everything else."""

import json
import math

import jsonschema
import pytest

from schemas import check_described
from scorewise.show.document import dumps
from scorewise.show.document import schema as document_schema
from view_documents import awkward, document, find, hostile

Validator = jsonschema.Draft202012Validator


def valid(doc):
    return Validator(document_schema()).is_valid(doc)


def test_schema_is_itself_valid():
    Validator.check_schema(document_schema())


@pytest.mark.parametrize("make", [document, awkward, hostile])
@pytest.mark.parametrize("models", [1, 2, 5])
def test_documents_conform(make, models):
    Validator(document_schema()).validate(json.loads(dumps(make(models))))


def places(node, path=()):
    """Every object of the document, by the way to it, one of each list."""
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


PLACES = list(places(document()))
FIELDS = [(*path, key) for path in PLACES for key in at(document(), path)]


def test_there_are_places():
    assert len(PLACES) == 7
    assert len(FIELDS) > 50


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_unknown_field_is_refused(path):
    doc = document()
    at(doc, path)["surprise"] = 1
    assert not valid(doc)


@pytest.mark.parametrize("path", FIELDS, ids=str)
def test_absent_field_is_refused(path):
    doc = document()
    del at(doc, path[:-1])[path[-1]]
    assert not valid(doc)


@pytest.mark.parametrize("path", FIELDS, ids=str)
def test_wrong_type_is_refused(path):
    doc = document()
    at(doc, path[:-1])[path[-1]] = {"not": "this"}
    assert not valid(doc)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 2),
        (("command",), "frobnicate"),
        (("settings", "level"), 1.0),
        (("settings", "level"), 0),
        (("data", "rows"), -1),
        (("data", "rows"), 1.5),
        (("models",), []),
        (("hints",), [""]),
        (("models", 0, "kind"), "rank"),
        (("models", 0, "confusion", "tp"), -1),
        (("models", 0, "measures", 0, "group"), "other"),
        (("models", 0, "measures", 0, "better"), "more"),
        (("models", 0, "measures", 0, "bound"), -0.1),
        (("models", 0, "measures", 0, "skill"), 1.1),
    ],
    ids=str,
)
def test_impossible_value_is_refused(path, value):
    doc = document()
    at(doc, path[:-1])[path[-1]] = value
    assert not valid(doc)


@pytest.mark.parametrize(("value", "why"), [(0.5, "no positives"), (None, "")])
def test_value_is_null_exactly_when_there_is_a_reason(value, why):
    doc = document()
    find(doc, "auroc").update(value=value, why=why)
    assert not valid(doc)


def test_every_field_is_described():
    check_described(document_schema("evaluate"))


def test_json_is_strict_and_round_trips():
    doc = {"b": 0.1 + 0.2, "a": [math.nan, math.inf, -math.inf, 1e-300], "t": (1, True, None)}
    back = json.loads(dumps(doc), parse_constant=lambda word: pytest.fail(word))
    assert back == {"b": 0.1 + 0.2, "a": [None, None, None, 1e-300], "t": [1, True, None]}
    assert list(back) == ["b", "a", "t"]


def test_json_takes_numpy_numbers_and_broken_names():
    import numpy as np

    text = dumps({"n": np.int64(3), "x": np.float32("nan"), "file": "a\udcff.csv", "ö": "ü"})
    assert json.loads(text.encode()) == {"n": 3, "x": None, "file": "a\\udcff.csv", "ö": "ü"}
    assert "ö" in text

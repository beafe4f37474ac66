"""The JSON Schemas of the documents that every view renders, one for each command."""

from __future__ import annotations

from scorewise.views.schemas.agree import agree
from scorewise.views.schemas.answers import answers
from scorewise.views.schemas.calibrate import calibrate, calibrate_classes
from scorewise.views.schemas.drift import drift
from scorewise.views.schemas.evaluate import evaluate
from scorewise.views.schemas.evaluate_classes import evaluate_classes
from scorewise.views.schemas.in_and_out import in_and_out
from scorewise.views.schemas.inspect import inspect, raters
from scorewise.views.schemas.judge import judge
from scorewise.views.schemas.parts import Schema
from scorewise.views.schemas.smroc import smroc

SCHEMAS = {
    "agree": agree,
    "answers": answers,
    "calibrate": calibrate,
    "calibrate-classes": calibrate_classes,
    "drift": drift,
    "evaluate": evaluate,
    "evaluate-classes": evaluate_classes,
    "in-and-out": in_and_out,
    "inspect": inspect,
    "judge": judge,
    "raters": raters,
    "smroc": smroc,
}


def document_schema(command: str = "evaluate") -> Schema:
    """The schema of what a command writes, in draft 2020-12.

    >>> document_schema()["properties"]["schema"]["const"]
    1
    """
    return SCHEMAS[command]()

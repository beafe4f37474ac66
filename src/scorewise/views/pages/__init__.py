"""What the commands other than `evaluate` of two classes show, as pages that every text view renders alike.

Each command has a file here with one function, from its document to the sections of its page.
"""

from __future__ import annotations

from collections.abc import Callable

from scorewise.views.pages.agree import agree
from scorewise.views.pages.answers import answers
from scorewise.views.pages.calibrate import calibrate
from scorewise.views.pages.calibrate_classes import calibrate_classes
from scorewise.views.pages.drift import drift
from scorewise.views.pages.evaluate_classes import evaluate_classes
from scorewise.views.pages.in_and_out import in_and_out
from scorewise.views.pages.inspect import inspect_page, raters_page
from scorewise.views.pages.judge import judge
from scorewise.views.pages.section import Section
from scorewise.views.pages.smroc import smroc
from scorewise.views.words import Document

PAGES: dict[str, Callable[[Document], list[Section]]] = {
    "agree": agree,
    "answers": answers,
    "calibrate": calibrate,
    "calibrate-classes": calibrate_classes,
    "drift": drift,
    "evaluate-classes": evaluate_classes,
    "in-and-out": in_and_out,
    "inspect": inspect_page,
    "judge": judge,
    "raters": raters_page,
    "smroc": smroc,
}

"""What the commands other than `evaluate` of two classes show, as pages that every text view renders alike.

Each command has a file here with one function, from its document to the sections of its page.
"""

from __future__ import annotations

from collections.abc import Callable

from scorewise.show.pages.agree import agree
from scorewise.show.pages.answers import answers
from scorewise.show.pages.calibrate import calibrate
from scorewise.show.pages.calibrate_classes import calibrate_classes
from scorewise.show.pages.drift import drift
from scorewise.show.pages.evaluate_classes import evaluate_classes
from scorewise.show.pages.in_and_out import in_and_out
from scorewise.show.pages.inspect import inspect_page, raters_page
from scorewise.show.pages.judge import judge
from scorewise.show.pages.section import Section
from scorewise.show.pages.smroc import smroc
from scorewise.show.words import Document

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

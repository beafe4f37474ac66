"""How calibrated stated and token confidence of language models are, by model and set of questions.

`make study NAME=answers` or `python -m studies answers` writes docs/tables/answers.md; it needs the data
sets of the project beside the checkout.
"""

from __future__ import annotations

import warnings

import scorewise as sw
from studies import _tools
from studies._tools import absent, options, table, write

DATA = _tools.DATA / "predictions" / "llm_confidence.parquet"
KINDS = {"stated_confidence": "stated", "chosen_token_confidence": "token"}


def judged() -> sw.Answers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sw.answers(
            DATA, quality="correct", confidence=list(KINDS), by=["llm", "qset"], missing="drop"
        )


def main(args: list[str]) -> None:
    given = options(__name__, __doc__).parse_args(args)
    if absent(DATA):
        return
    lines = []
    for name, part in judged().groups.items():
        model, questions = name.split(" / ")
        stated = part["stated_confidence"]
        errors = [str(part[k].ece) if k in part else "" for k in KINDS]
        share = f"{100 * stated.accuracy.value:.0f} %"
        lines.append([model, questions, f"{stated.answers:,}", share, *errors])
    head = ["model", "questions", "answers", "right", *(f"ECE, {kind}" for kind in KINDS.values())]
    write(table(head, lines, 2) + "\n", given.out / "answers.md")

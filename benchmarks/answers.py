"""The calibration of stated and of token confidence, model by model and question set by question set.

`python -m benchmarks.answers` or `make answers` writes docs/tables/answers.md; it needs the data sets of
the project beside the checkout.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import scorewise as sw

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "predictions" / "llm_confidence.parquet"
OUT = ROOT / "docs" / "tables" / "answers.md"
KINDS = {"stated_confidence": "stated", "chosen_token_confidence": "token"}


def judged() -> sw.Answers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sw.answers(
            DATA, quality="correct", confidence=list(KINDS), by=["llm", "qset"], missing="drop"
        )


def markdown(a: sw.Answers) -> str:
    lines = [
        "| model | questions | answers | right | ECE, stated | ECE, token |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (model, questions), part in a.groups.items():
        stated = part["stated_confidence"]
        errors = [str(part[k].ece) if k in part else "" for k in KINDS]
        share = f"{100 * stated.accuracy.value:.0f} %"
        lines.append(
            f"| {model} | {questions} | {stated.answers:,} | {share} | {errors[0]} | {errors[1]} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = markdown(judged())
    OUT.write_text(text)
    print(text)

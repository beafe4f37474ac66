"""Documents for the tests of the views."""

import copy
import json
from itertools import combinations
from pathlib import Path
from typing import Any

STORED = json.loads((Path(__file__).parent / "documents" / "evaluation.json").read_text("utf-8"))

NASTY = "[red]bold[/red] \x1b[31m a\nb | `c` <img src=x> *d* \u202e :smile: \\"


def document(models: int = 1) -> dict[str, Any]:
    """The evaluation of a simulated screening programme, with that many models."""
    doc = copy.deepcopy(STORED)
    while len(doc["models"]) < models:
        extra = copy.deepcopy(doc["models"][0])
        extra["name"] = f"model {len(doc['models']) + 1}"
        doc["models"].append(extra)
    del doc["models"][models:]
    return doc


def find(doc: dict[str, Any], name: str, model: int = 0) -> dict[str, Any]:
    return next(m for m in doc["models"][model]["measures"] if m["name"] == name)


def undefine(doc: dict[str, Any], name: str, why: str, model: int = 0) -> None:
    find(doc, name, model).update(value=None, low=None, high=None, method="", why=why, skill=None)


def differ(doc: dict[str, Any], name: str, *ends: tuple[float, float]) -> dict[str, Any]:
    """Give the document paired differences of a measure, one interval for each pair of models."""
    pairs = combinations([model["name"] for model in doc["models"]], 2)
    doc["differences"] = [
        {
            "measure": name, "title": find(doc, name)["title"], "first": first, "second": second,
            "value": (low + high) / 2, "low": low, "high": high, "level": 0.95, "method": "paired",
            "why": "", "bound": 0.0, "baseline": 0.0, "expected": None, "caution": "",
            "p": 0.5 if low <= 0 <= high else 0.01, "p_adjusted": 0.5 if low <= 0 <= high else 0.03,
        }
        for (first, second), (low, high) in zip(pairs, ends, strict=True)
    ]  # fmt: skip
    return doc


def awkward(models: int = 1) -> dict[str, Any]:
    """Undefined and coarsened measures, weights, dropped rows, hints."""
    doc = document(models)
    doc["data"].update(
        rule="last in sort order",
        dropped=3,
        weight="w",
        weight_positives=118.25,
        weight_negatives=881.75,
    )
    doc["models"][0].update(exact=False)
    find(doc, "auroc")["bound"] = 0.0000123
    undefine(doc, "precision", "no positive decisions")
    undefine(
        doc,
        "dor",
        "infinite: no false negatives among the positives and no false positives"
        " among the negatives at this threshold",
    )
    find(doc, "log_loss")["value"] = 1.25
    find(doc, "log_loss")["skill"] = -2.4
    doc["hints"] = [
        "AUROC of 'risk' is below 0.5: a higher score goes with the negative class;"
        " is positive= right?",
        "Scores of 'risk' look like logits.",
    ]
    return doc


def hostile(models: int = 1) -> dict[str, Any]:
    """User text that tries to be markup, control characters or very long."""
    doc = document(models)
    doc["data"].update(sources=[NASTY, "x" * 200], label=NASTY, positive=NASTY, negative="n" * 90)
    doc["data"].update(weight="日本語" * 20)
    doc["models"][0]["name"] = NASTY
    doc["models"][-1]["name"] = "模型" * 30
    undefine(doc, "precision", NASTY)
    doc["hints"] = [NASTY, "y" * 200]
    return doc


def names(folder: Path) -> list[str]:
    """What a folder holds."""
    return sorted(path.name for path in folder.iterdir())

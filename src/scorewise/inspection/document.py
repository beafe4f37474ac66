"""The documents that every view renders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from scorewise.inspection.agreement import Agreement, Instance, Pair, Rater
from scorewise.show.documents import data_of, documented, finite
from scorewise.show.words import Document
from scorewise.tallies import Tally

if TYPE_CHECKING:
    from scorewise.inspection.models import Inspected, Inspection
    from scorewise.inspection.rating import Raters

NAMELESS: Document = {"label": None}  # arrays have no columns


def inspection(i: Inspection) -> Document:
    """The rows of each model that deserve a second look."""
    s = i.settings
    found = next(iter(i.models.values()))
    rule = "learned" if isinstance(s.midpoint, Tally) else s.midpoint
    return documented(
        "inspect",
        {
            "settings": {
                "midpoint": rule if isinstance(rule, str) else str(float(rule)),
                "top": s.top,
                "tolerance": s.tolerance,
                "threshold": s.threshold,
                "seed": s.seed,
            },
            "data": data_of(found.tally) | (NAMELESS if not found.tally.origin.sources else {}),
            "models": [_model(name, model) for name, model in i.models.items()],
            "agreement": None if i.agreement is None else _agreement(i.agreement),
            "hints": [
                *(hint for name, model in i.models.items() for hint in _hints(name, model)),
                *_scales(i),
            ],
        },
    )


def raters(r: Raters) -> Document:
    """Raters compared on the same rows."""
    return documented(
        "raters",
        {
            "data": {
                "sources": list(r.sources),
                "positive": r.labels.positive,
                "negative": r.labels.negative,
                "rule": r.labels.rule,
                "rows": r.rows,
                "dropped": r.dropped,
                "truth": r.truth,
            },
            "agreement": _agreement(r.agreement),
            "hints": list(r.hints),
        },
    )


def _model(name: str, model: Inspected) -> Document:
    middle = model.midpoint
    return {
        "name": name,
        "kind": model.tally.kind,
        "distinct": len(model.tally.score),
        "why": model.why,
        "midpoint": None if middle is None else middle.value,
        "rule": None if middle is None else middle.rule,
        "why_no_midpoint": model.why_no_midpoint,
        "sets": [{"set": kind, "rows": rows} for kind, rows in model.sets.items()],
        "suspicious": [asdict(row) for row in model.suspicious],
        "successes": [asdict(row) for row in model.successes],
        "gaps": [asdict(gap) | {"recall": finite(gap.recall)} for gap in model.gaps],
    }


def _agreement(a: Agreement) -> Document:
    names = [r.name for r in a.raters]
    return {
        "tolerance": a.tolerance,
        "same_decisions": finite(a.decisions),
        "within_tolerance": finite(a.within),
        "numbers": dict(a.numbers),
        "raters": [_rater(r) for r in a.raters],
        "pairs": [_pair(p) for p in a.pairs],
        "apparent": [_instance(row, names) for row in a.apparent],
        "real": [_instance(row, names) for row in a.real],
        "hidden": [_instance(row, names) for row in a.hidden],
    }


def _rater(r: Rater) -> Document:
    return {
        "name": r.name,
        "midpoint": r.midpoint,
        "smauc": finite(r.area.value),
        "why": r.area.why,
    }


def _pair(p: Pair) -> Document:
    return {
        "first": p.first,
        "second": p.second,
        "distance": finite(p.distance.value),
        "why": p.distance.why,
        "same_decisions": finite(p.same_decisions),
        "within_tolerance": finite(p.within_tolerance),
    }


def _instance(row: Instance, names: list[str]) -> Document:
    given = zip(names, row.decisions, row.scores, strict=True)
    return {
        "row": row.row,
        "file": row.file,
        "id": row.id,
        "apart": row.apart,
        "ratings": [{"name": n, "positive": d, "score": s} for n, d, s in given],
    }


def _hints(name: str, model: Inspected) -> Iterator[str]:
    """What a reader should be told in words."""
    if model.why:
        yield f"'{name}': rows cannot be ranked by suspicion: {model.why}"
    elif model.why_no_midpoint:
        yield f"'{name}': no score is high or low, for there is no midpoint: {model.why_no_midpoint}"
    else:
        wrong = model.sets["low positive"] + model.sets["high negative"]
        rows = model.tally.origin.rows
        if 2 * wrong > rows:
            yield (
                f"'{name}': {wrong:,} of {rows:,} scores lie on the wrong side of the midpoint; "
                f"is '{model.tally.origin.positive}' the positive class?"
            )


def _scales(i: Inspection) -> Iterator[str]:
    """Scores of several models can be compared only on one scale."""
    kinds = {name: model.tally.kind for name, model in i.models.items()}
    if "score" in kinds.values() and len(kinds) > 1:
        beyond = ", ".join(f"'{name}'" for name, kind in kinds.items() if kind == "score")
        yield (
            f"the scores of {beyond} are no probabilities; distances between scores, and agreement within "
            f"the tolerance, mean something only where all models use one scale"
        )

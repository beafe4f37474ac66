"""Figures of documents as SVG: pure functions of what a command wrote.

`figures_of` knows which figures a document yields; the modules beside have one function for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from scorewise.show.page import Figure

Made: TypeAlias = Mapping[str, Sequence[Figure | None]]


def figures_of(document: Any) -> dict[str, list[Figure]]:
    """The figures that a document yields, by the section of a report that they belong to.

    >>> import scorewise as sw
    >>> e = sw.evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> found = figures_of(e.document())
    >>> [f.kind for f in found["ranking"]]
    ['roc', 'smroc', 'precision_recall']
    """
    made = _BY_COMMAND.get(getattr(document, "command", ""))
    found = made(document) if made else {}
    drawn = {section: [f for f in figures if f is not None] for section, figures in found.items()}
    return {section: figures for section, figures in drawn.items() if figures}


def _evaluate(doc: Any) -> Made:
    from scorewise.figures import decisions, ranking, scores, slices

    if doc.classes:
        return {
            "ranking": ranking.ranking(doc),
            "threshold": [decisions.class_confusion(doc)],
            "slices": [*slices.classes(doc), *_slices(doc)],
        }
    return {
        "scores": [scores.densities(doc)],
        "ranking": ranking.ranking(doc),
        "probabilities": [scores.reliability(doc)],
        "threshold": [
            decisions.confusion(doc), decisions.threshold_curves(doc), decisions.decision_curve(doc)
        ],
        "slices": _slices(doc),
        "comparison": [slices.differences(doc)],
    }  # fmt: skip


def _slices(doc: Any) -> list[Figure]:
    """Groups beside each other, with the measures of all rows where the document has them."""
    from scorewise.figures.shared import measure
    from scorewise.figures.slices import groups

    owners = getattr(doc, "models", None) or getattr(doc, "confidences", None) or [doc]

    def overall(i: int, name: str) -> Any:
        owner = owners[i] if i < len(owners) else None
        return measure(owner, name) if hasattr(owner, "measures") else None

    return groups(doc.groups, overall, doc)


def _compare(doc: Any) -> Made:
    from scorewise.figures.slices import differences

    return {"comparison": [differences(doc)]}


def _threshold(doc: Any) -> Made:
    from scorewise.figures.decisions import chosen_cuts
    from scorewise.figures.slices import promised

    return {"threshold": [chosen_cuts(doc)], "slices": [promised(doc)]}


def _smroc(doc: Any) -> Made:
    from scorewise.figures.ranking import smooth

    return {"ranking": [smooth(doc)]}


def _inspect(doc: Any) -> Made:
    from scorewise.figures.changes import suspects

    return {"instances": [suspects(doc)]}


def _drift(doc: Any) -> Made:
    from scorewise.figures.changes import drift

    return {"drift": drift(doc)}


def _agree(doc: Any) -> Made:
    from scorewise.figures.agreement import coefficients, pairs

    return {"agreement": [coefficients(doc), pairs(doc)], "slices": _slices(doc)}


def _judge(doc: Any) -> Made:
    from scorewise.figures.agreement import judges

    return {"agreement": judges(doc), "slices": _slices(doc)}


def _answers(doc: Any) -> Made:
    from scorewise.figures.agreement import answers

    return {"probabilities": answers(doc), "slices": _slices(doc)}


def _calibrate(doc: Any) -> Made:
    from scorewise.figures.changes import recalibration

    return {"recalibration": recalibration(doc)}


def _report(doc: Any) -> Made:
    own: dict[str, list[Figure]] = {}
    for home, _, other in doc.others():
        own.setdefault(home, []).extend(figures_of(other).get(home, ()))
    return figures_of(doc.evaluation) | own  # rather than those that the evaluation has of the same


_BY_COMMAND: dict[str, Callable[[Any], Made]] = {
    "agree": _agree,
    "answers": _answers,
    "calibrate": _calibrate,
    "calibrate-classes": _calibrate,
    "compare": _compare,
    "drift": _drift,
    "evaluate": _evaluate,
    "inspect": _inspect,
    "judge": _judge,
    "report": _report,
    "smroc": _smroc,
    "threshold": _threshold,
}
DRAWN = frozenset(_BY_COMMAND)  # commands whose documents have figures

__all__ = ["DRAWN", "Figure", "figures_of"]

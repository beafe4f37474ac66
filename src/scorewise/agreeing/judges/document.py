"""The document of a judgement, which every view renders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorewise.agreeing.judges.against import Against, Category
from scorewise.agreeing.judges.ceiling import BesideHumans, Ceiling
from scorewise.agreeing.judges.comparing import Difference
from scorewise.agreeing.judges.hints import hints
from scorewise.agreeing.judges.panel import Panel
from scorewise.agreeing.judges.prevalence import Prevalence
from scorewise.agreeing.judges.repeating import Repeated
from scorewise.tallies import Confusion
from scorewise.views.documents import estimate_of, finite, head
from scorewise.views.words import Document

if TYPE_CHECKING:
    from scorewise.agreeing.judges.judging import Judged, Judgement


def document(j: Judgement) -> Document:
    """Judges against humans."""
    return {
        **head("judge"),
        "settings": {
            "scale": j.settings.scale,
            "weights": j.panel.weights,
            "no_answer": j.settings.no_answer,
            "level": j.settings.level,
            "seed": j.settings.seed,
            "replicates": j.settings.replicates,
            "width": j.settings.width,
        },
        "data": _data(j),
        "ceiling": None if j.ceiling is None else _ceiling(j.ceiling),
        "judges": [_judge(x) for x in j.judges.values()],
        "differences": [_difference(d) for d in j.differences],
        "needed": _needed(j),
        "hints": list(hints(j)),
    }


def _data(j: Judgement) -> Document:
    panel, told = j.panel, j.panel.truth >= 0
    return {
        "sources": [name for name, _ in panel.said.place.files],
        "items": int(panel.said.count.sum()),
        "labelled": panel.items(told),
        "tied": panel.items(panel.labelled & ~told),
        "unlabelled": panel.items(~panel.labelled),
        "weighted": panel.said.weighted,
        "truth": j.truth,
        "categories": list(panel.said.categories),
        "humans": [_human(panel, name) for name in panel.humans],
    }


def _human(panel: Panel, name: str) -> Document:
    return {"name": name, "rated": panel.items(panel.humans[name] >= 0)}


def _ceiling(c: Ceiling) -> Document:
    return {
        "pairs": [{"first": p.first, "second": p.second, **_against(p.found)} for p in c.pairs],
        "kappa": estimate_of(c.mean),
    }


def _judge(j: Judged) -> Document:
    return {
        "name": j.name,
        "silent": j.silent,
        **_against(j.truth),
        "categories": [_category(c) for c in j.categories],
        "confusion": _cells(j.truth.confusion),
        "humans": [{"name": a.name, **_against(a)} for a in j.humans],
        "ceiling": None if j.ceiling is None else _beside(j.ceiling),
        "swap": None if j.swap is None else _swap(j.swap),
        "prevalence": [_prevalence(p) for p in j.prevalence],
    }


def _against(a: Against) -> Document:
    return {
        "items": a.items,
        "accuracy": estimate_of(a.accuracy),
        "kappa": estimate_of(a.kappa),
    }


def _category(c: Category) -> Document:
    return {
        "category": c.category,
        "truth": finite(c.truth),
        "judge": finite(c.judge),
        "p": finite(c.p),
        "precision": estimate_of(c.precision),
        "recall": estimate_of(c.recall),
    }


def _cells(c: Confusion) -> list[Document]:
    """The cells of a table that are not empty."""
    return [
        {"truth": c.classes[i], "judge": c.classes[k], "weight": float(c.weight[i, k])}
        for i, k in np.argwhere(c.weight > 0).tolist()
    ]


def _beside(b: BesideHumans) -> Document:
    return {
        "single": estimate_of(b.single),
        "single_gap": estimate_of(b.single_gap),
        "human": estimate_of(b.human),
        "judge": estimate_of(b.judge),
        "gap": estimate_of(b.gap),
    }


def _swap(r: Repeated) -> Document:
    return {
        "items": r.items,
        "consistent": estimate_of(r.consistent),
        "kappa": estimate_of(r.kappa),
        "first": estimate_of(r.first),
        "leaning": list(r.leaning),
    }


def _prevalence(p: Prevalence) -> Document:
    return {
        "category": p.category,
        "judge": estimate_of(p.judge),
        "labelled": estimate_of(p.labelled),
        "powered": estimate_of(p.powered),
        "tuned": estimate_of(p.tuned),
        "tuning": p.tuning,
        "rates": estimate_of(p.rates),
    }


def _difference(d: Difference) -> Document:
    return {
        "first": d.first,
        "second": d.second,
        "items": d.items,
        "only_first": finite(d.only_first),
        "only_second": finite(d.only_second),
        "accuracy": estimate_of(d.accuracy),
        "accuracy_adjusted": finite(d.accuracy_holm),
        "kappa": estimate_of(d.kappa),
        "kappa_adjusted": finite(d.kappa_holm),
    }


def _needed(j: Judgement) -> list[Document]:
    """Items for the width that was asked for."""
    if (width := j.settings.width) is None:
        return []
    return [
        {"of": title, "name": name, "items": items}
        for of, title in (("kappa", "kappa"), ("share", "accuracy"), ("difference", "difference"))
        for name, items in j.items_needed(width, of).items()  # type: ignore[arg-type]
    ]

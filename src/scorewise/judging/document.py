"""The document of a judgement, which every view renders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorewise.estimate import Estimate
from scorewise.judging.accuracy import Against, BesideHumans, Category, Ceiling, Difference
from scorewise.judging.hints import hints
from scorewise.judging.judgement import Repeated
from scorewise.judging.needed import Of
from scorewise.judging.panel import Panel
from scorewise.judging.shares import Grades, Prevalence
from scorewise.show.documents import documented, estimate_of, finite
from scorewise.show.words import Document
from scorewise.tallies import Confusion

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judged, Judgement


_WIDTHS: tuple[Of, ...] = ("kappa", "accuracy", "difference")


def document(j: Judgement) -> Document:
    """Judges against humans."""
    return documented(
        "judge",
        {
            "settings": {
                "scale": j.settings.scale,
                "weights": j.panel.weights,
                "no_answer": j.settings.no_answer,
                "interval": j.settings.interval,
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
        },
    )


def rows(j: Judgement) -> list[Document]:
    """A row for each judge and measure; of humans with one another, for those."""
    found = [
        (judge.name, name, judge.truth.items, e)
        for judge in j.judges.values()
        for name, e in _measures(judge)
    ]
    if j.ceiling is not None:
        found.append(("humans", "kappa_in_pairs", j.panel.items(j.panel.labelled), j.ceiling.mean))
    return [
        {"judge": judge, "measure": name, "items": items, **estimate_of(e)}
        for judge, name, items, e in found
    ]


def _measures(j: Judged) -> list[tuple[str, Estimate]]:
    found = [("accuracy", j.accuracy), ("kappa", j.kappa)]
    if j.ceiling is not None:
        found += [("kappa_with_humans", j.ceiling.single), ("gap_to_humans", j.ceiling.gap)]
    if j.swap is not None:
        found.append(("consistent", j.swap.consistent))
    if j.grades is not None:
        g = j.grades
        found += [
            ("mean_difference", g.difference),
            ("within_one_step", g.near),
            ("spearman", g.ranks),
        ]
    found += [(f"share_of_{p.category}", p.tuned) for p in j.prevalence]
    return found


def _data(j: Judgement) -> Document:
    panel, told = j.panel, j.panel.truth >= 0
    return {
        "sources": [name for name, _ in panel.said.place.files],
        "items": int(panel.said.count.sum()),
        "labelled": panel.items(told),
        "tied": panel.items(panel.labelled & ~told),
        "single": panel.items(panel.votes == 1) if len(panel.humans) > 1 else 0,
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
        "grades": None if j.grades is None else _grades(j.grades),
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


def _grades(g: Grades) -> Document:
    return {
        "items": g.items,
        "difference": estimate_of(g.difference),
        "higher": g.higher,
        "same": g.same,
        "lower": g.lower,
        "p": g.p,
        "near": estimate_of(g.near),
        "step": g.step,
        "ranks": estimate_of(g.ranks),
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
        {"of": of, "name": name, "items": items}
        for of in _WIDTHS
        for name, items in j.items_needed(width, of).items()
    ]

"""The document of judged answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scorewise.answering.hints import cut, hints
from scorewise.answering.means import thresholds
from scorewise.answering.measures import ALL, OF_GROUPS, OVER_TAU, SHOWN
from scorewise.errors import BadInput
from scorewise.show.documents import documented, estimate_of, finite
from scorewise.show.words import Document

if TYPE_CHECKING:
    from scorewise.answering.measures import Judged
    from scorewise.answering.result import Answers

MANY = 2000  # groups, some milliseconds each


def document(a: Answers) -> Document:
    """The document of answers, all together, over thresholds, and group by group."""
    s, rows = a.settings, a.rows
    if len(a.groups) > MANY:
        raise BadInput(
            f"{' and '.join(a.groups.columns)} make {len(a.groups):,} groups, more than the {MANY:,} "
            f"that are listed; name columns of fewer words with by="
        )
    return documented(
        "answers",
        {
            "settings": {
                "tau": float(s.tau),
                "bins": int(s.bins),
                "level": s.level,
                "seed": int(s.seed),
            },
            "data": {
                "sources": list(a.sources),
                "answers": len(rows),
                "dropped": rows.dropped,
                "quality": rows.rule,
                "normalise": rows.normalise,
                "column": rows.names.quality if rows.rule == "own" else None,
                "weight": None if rows.weight is None else rows.names.weight,
                "cases": [{"name": name, "answers": n} for name, n in rows.cases.items()],
                "by": list(rows.groups),
            },
            "confidences": [_confidence(name, j, a) for name, j in a.items()],
            "groups": [
                {
                    "words": list(key),
                    "confidence": name,
                    "answers": judged.answers,
                    **_estimates(judged, OF_GROUPS),
                }
                for key, part in a.groups.items()
                for name, judged in part.items()
            ],
            "hints": list(hints(a)),
        },
    )


def _confidence(name: str, j: Judged, a: Answers) -> Document:
    """One confidence on all answers that have it."""
    t = j.tally
    lowest, highest = t.ends
    taus = thresholds(j.sample.quality)
    return {
        "name": name,
        "answers": j.answers,
        "missing": len(a.rows) - j.answers,
        "distinct": len(t.score),
        "lowest": finite(lowest),
        "highest": finite(highest),
        "measures": _measures(j, SHOWN),
        "confident_errors": [
            {
                "file": e.file,
                "row": e.row,
                "confidence": e.confidence,
                "quality": e.quality,
                "gold": None if e.gold is None else cut(e.gold),
                "predicted": None if e.predicted is None else cut(e.predicted),
            }
            for e in a.confident_errors(confidence=name)
        ],
        "over_tau": [
            {
                "tau": tau,
                "correct": j.sample.correct(tau),
                **_estimates(j.at(tau), OVER_TAU),
            }
            for tau in (taus if len(taus) > 1 else ())
        ],
    }


def _estimates(j: Judged, names: Iterable[str]) -> Document:
    return {name: estimate_of(j[name]) for name in names}


def _measures(j: Judged, names: Iterable[str]) -> list[Document]:
    return [
        {
            "name": m.name,
            "title": f"{m.title}, {j.settings.bins} bins" if m.name == "ece" else m.title,
            "group": m.group,
            "meaning": m.meaning,
            "better": m.better,
            **estimate_of(j[m.name]),
        }
        for m in (ALL[name] for name in names)
    ]

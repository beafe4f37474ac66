"""The document of drift that every view renders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scorewise.curves.smroc import four_sets
from scorewise.drifting.changes import Change
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import MANY
from scorewise.inference.ranking import area
from scorewise.show.documents import documented, finite
from scorewise.show.words import Document, named
from scorewise.tallies.smroc import midpoint, why_not_unit

if TYPE_CHECKING:
    from scorewise.drifting.result import Drift

FEW = 50  # rows, below which a sample tells little


def document(d: Drift) -> Document:
    """The document of the reference and all windows."""
    s = d.settings
    return documented(
        "drift",
        {
            "settings": {
                "level": s.level,
                "seed": s.seed,
                "replicates": s.replicates,
                "midpoint": s.midpoint if isinstance(s.midpoint, str) else "fixed",
            },
            "time": _time(d),
            "kind": d.reference.tally.kind,
            "verdict": d.verdict,
            "drift": d.seen,
            "reference": _sample(d.reference, s.midpoint),
            "windows": [
                {
                    **_sample(w.sample, s.midpoint),
                    "drift": w.kind,
                    "verdict": w.verdict,
                    "evidence": w.evidence,
                    "changes": [_row(c) for c in w.values()],
                }
                for w in d.windows
            ],
            "hints": list(_hints(d)),
        },
    )


def _time(d: Drift) -> Document | None:
    if d.time is None:
        return None
    until = d.time.reference_until
    return {
        "column": d.time.time,
        "every": d.time.every,
        "reference_until": None if until is None else str(until),
    }


def _sample(sample: Sample, rule: str | float) -> Document:
    t, o = sample.tally, sample.tally.origin
    both = sample.labelled and not t.why_not_ranked
    found: dict[str, Any] = dict.fromkeys(
        ("prevalence", "midpoint", "auroc", "high", "low", "rotation")
    )
    if sample.labelled and len(t.score):
        found["prevalence"] = t.positives / (t.positives + t.negatives)
    if both:
        found["auroc"] = area(t)
    if len(t.score) and not why_not_unit(t) and (both or rule not in ("balanced", "median")):
        middle = midpoint(t, rule).value  # type: ignore[arg-type]
        sets = four_sets(t, middle)
        high, low = sets.by_score
        found |= {"midpoint": middle, "high": high / (high + low), "low": low / (high + low)}
        if sample.labelled:
            found["rotation"] = sets.rotation
    return {
        "name": sample.name,
        "sources": list(o.sources),
        "labelled": sample.labelled,
        "rows": o.rows,
        "positives": o.positives if sample.labelled else None,
        "positive": o.positive if sample.labelled else None,
        "dropped": o.dropped,
        "weight": o.weight,
        "exact": t.coarse is None,
        **{name: None if x is None else finite(x) for name, x in found.items()},
    }


def _row(c: Change) -> Document:
    s, e = c.statistic, c.estimate
    return {
        "name": s.name,
        "title": s.title,
        "meaning": s.meaning,
        "value": finite(e.value),
        "low": finite(e.low),
        "high": finite(e.high),
        "level": e.level,
        "method": e.method,
        "why": e.why,
        "held": s.held,
        "by_chance": finite(c.by_chance),
        "p": finite(c.p),
        "p_adjusted": finite(c.p_adjusted),
    }


def _hints(d: Drift) -> Iterator[str]:
    """What a reader should be told in words."""
    samples = [d.reference, *(w.sample for w in d.windows)]
    if any(s.tally.coarse is not None for s in samples):
        yield "Scores were coarsened into cells; values are those of scores in the middle of their cell."
    if any(len(d.reference.tally.score) + len(s.tally.score) > MANY for s in samples[1:]):
        yield (
            f"There are more than {MANY:,} distinct scores; neighbours were tied on cells of at most "
            f"2 millionths of a sample."
        )
    few = [f"'{s.name}'" for s in samples if 0 < s.rows < FEW]
    if few:
        yield f"Fewer than {FEW} rows: {named(few)}; only large changes can be seen there."

"""What a reader should be told of the ratings themselves: ties, single votes, odd categories."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scorewise.agreeing.judges.panel import Panel
from scorewise.columns.rating_codes import looks_missing, spelled_alike
from scorewise.views.words import counted, named, percent

_TIES = 0.02  # a share of ties that is worth a word


def data_hints(panel: Panel) -> Iterator[str]:
    """Sentences on the ratings of humans and judges."""
    yield from _ties(panel)
    yield from _single_votes(panel)
    yield from _never_human(panel)
    yield from _spelling(panel)


def _ties(panel: Panel) -> Iterator[str]:
    rated, tied = panel.items(panel.labelled), panel.items(panel.labelled & (panel.truth < 0))
    if tied > _TIES * rated:
        yield (
            f"humans tie on {tied:,} of {rated:,} items that they rated ({percent(tied / rated)}): "
            f"accuracy and kappa leave those out, shares of votes do not"
        )


def _single_votes(panel: Panel) -> Iterator[str]:
    if len(panel.humans) > 1 and (single := panel.items(panel.votes == 1)):
        rated = panel.items(panel.labelled)
        yield f"the truth of {single:,} of {rated:,} items rests on the vote of one human"


def _never_human(panel: Panel) -> Iterator[str]:
    """A verdict that a judge gives and no human ever."""
    said = panel.said
    people = {int(k) for codes in said.humans.values() for k in np.unique(codes)}
    for name, codes in said.judges.items():
        odd = [int(k) for k in np.unique(codes) if k >= 0 and int(k) not in people]
        for k in odd[:3]:
            word, times = said.categories[k], int(said.count[codes == k].sum())
            yield (
                f"'{name}' says '{word}' {counted(times, 'time')}, humans never; if that is no answer pass "
                f"ignore='{word}'"
            )


def _spelling(panel: Panel) -> Iterator[str]:
    words = panel.said.categories
    if alike := spelled_alike(words):
        pairs = named([f"'{a}' and '{b}'" for a, b in alike])
        yield f"{pairs} are different categories; if they mean the same, spell them alike"
    if blank := looks_missing(words):
        found = named([f"'{word}'" for word in blank])
        verb = (
            "looks like a missing value and is a category"
            if len(blank) == 1
            else ("look like missing values and are categories")
        )
        yield f"{found} {verb}; leave such cells empty if nothing was said"

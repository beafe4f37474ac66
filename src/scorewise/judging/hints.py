"""What a reader should be told of the ratings themselves: ties, single votes, odd categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns.rating_codes import looks_missing, spelled_alike
from scorewise.estimate import Estimate
from scorewise.judging.panel import Panel
from scorewise.show.words import chance, counted, named, percent

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judged, Judgement


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


# What a reader should be told of judges, in words.


_NEAR = 0.1  # a gap within this on both ends is about none
_SURE = 0.05


def hints(j: Judgement) -> Iterator[str]:
    """Sentences on the whole, then on each judge."""
    yield from data_hints(j.panel)
    for judge in j.judges.values():
        yield from _ceiling(judge)
        if j.settings.scale == "nominal":
            yield from _accuracy(judge)
        yield from _base_rates(judge)
        yield from _silence(j, judge)
        yield from _position(judge)
        yield from _shares(judge)
    yield from _better(j)


def _ceiling(judge: Judged) -> Iterator[str]:
    found = judge.ceiling
    if found is None or not found.gap.defined or found.gap.p is None:
        return
    gap, name = found.gap, f"'{judge.name}'"
    kappas = f"kappa {found.judge.value:.2f} against {found.human.value:.2f}"
    if gap.high < 0:
        yield f"{name} agrees with humans less than they with one another: {kappas}"
    elif gap.low > 0:
        yield f"{name} agrees with humans better than they with one another: {kappas}"
    elif gap.low > -_NEAR and gap.high < _NEAR:
        yield f"{name} agrees with humans about as well as they with one another: {kappas}"
    else:
        yield (
            f"whether {name} agrees with humans as well as they with one another cannot be told from these "
            f"items: {kappas}, difference {gap}"
        )


def _accuracy(judge: Judged) -> Iterator[str]:
    e = judge.accuracy
    if e.defined and e.baseline is not None and e.low <= e.baseline:
        most = max(judge.categories, key=lambda c: c.truth)
        how = "worse than" if e.high < e.baseline else "not surely better than"
        yield (
            f"'{judge.name}' is {how} always saying '{most.category}': accuracy "
            f"{e.value:.3f}, {e.baseline:.3f} for that"
        )


def _base_rates(judge: Judged) -> Iterator[str]:
    """The category that the judge uses most differently, where that is not chance."""
    known = [c for c in judge.categories if c.truth > 0 or c.precision.defined]
    sure = [c for c in known if c.p * len(known) < _SURE and c.category in _words(judge)]
    if not sure:
        return
    c = max(sure, key=lambda c: _size(c.judge - c.truth))
    more = "more" if c.judge > c.truth else "less"
    yield (
        f"'{judge.name}' says '{c.category}' {more} often than the humans: {100 * c.judge:.1f}% against "
        f"{100 * c.truth:.1f}% ({chance(c.p)})"
    )


def _words(judge: Judged) -> set[str]:
    """The categories that have a recall: those that humans use, too."""
    return {c.category for c in judge.categories if c.recall.defined}


def _silence(j: Judgement, judge: Judged) -> Iterator[str]:
    if judge.silent:
        dropped = j.settings.no_answer == "drop"
        end = (
            'they are left out (no_answer="wrong" counts them as errors)'
            if dropped
            else "they count as errors"
        )
        total = int(j.panel.said.count.sum())
        yield f"'{judge.name}' gives no answer on {judge.silent:,} of {total:,} items; {end}"


def _position(judge: Judged) -> Iterator[str]:
    if judge.swap is None or not _sure(judge.swap.first):
        return
    first, (one, two) = judge.swap.first, judge.swap.leaning
    side = "first" if first.value > 0.5 else "second"
    yield (
        f"'{judge.name}' leans to the {side} position: of {one + two:,} verdicts that change with the "
        f"order, {max(one, two):,} favour it"
    )


def _shares(judge: Judged) -> Iterator[str]:
    """The category whose share the judge alone gets most wrong."""
    off = [p for p in judge.prevalence if not p.tuned.low <= p.judge.value <= p.tuned.high]
    if off:
        p = max(off, key=lambda p: _size(p.judge.value - p.tuned.value))
        yield (
            f"'{judge.name}' puts {100 * p.judge.value:.1f}% of all items in '{p.category}'; corrected "
            f"by the labelled items it is {p.tuned}"
        )


def _better(j: Judgement) -> Iterator[str]:
    for d in j.differences:
        if d.accuracy_holm < _SURE:
            one, two = (d.first, d.second) if d.accuracy.value > 0 else (d.second, d.first)
            yield (
                f"'{one}' is right more often than '{two}' on the same {d.items:,} items "
                f"({chance(d.accuracy_holm)})"
            )


def _size(gap: float) -> tuple[float, bool]:
    """How large a gap is; of two categories, which have the same, what is said too often comes first."""
    return round(abs(gap), 9), gap > 0


def _sure(e: Estimate) -> bool:
    return e.defined and e.p is not None and e.p < _SURE

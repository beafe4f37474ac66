"""What `judge` writes: judges against the truth, the human level, each other and themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

import numpy as np
from msgspec import Meta

from scorewise.columns.rating_codes import looks_missing, spelled_alike
from scorewise.estimate import Estimate
from scorewise.judging.accuracy import Ceiling, Difference
from scorewise.judging.judgement import Judge, Settings
from scorewise.judging.page import judge_page
from scorewise.judging.panel import Panel
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Hints,
    Json,
    cautions,
    estimated,
    says,
    to_dict,
)
from scorewise.show.page import Page, counted, named, p_value, percent

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judgement

IntervalOf: TypeAlias = Literal["kappa", "accuracy", "difference"]
_TIES = 0.02  # a share of ties that is worth a word
_NEAR = 0.1  # a gap within this on both ends is about none
_SURE = 0.05  # a p-value below this is worth a word


@dataclass(frozen=True, kw_only=True)
class HumanRecord:
    """A human who rated items."""

    name: Annotated[str, says("Name of the human.")]
    rated: Annotated[Count, says("Items that the human rated.")]


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """The items that were rated."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    items: Annotated[Count, says("All items.")]
    labelled: Annotated[Count, says("Items with a truth.")]
    tied: Annotated[Count, says("Items on which humans tie, which have none.")]
    single: Annotated[Count, says("Items with the vote of one of several humans.")]
    unlabelled: Annotated[Count, says("Items that no human rated.")]
    weighted: Annotated[bool, says("Whether items have weights.")]
    truth: Annotated[str, says("What stands for the truth.")]
    categories: Annotated[list[str], Meta(min_length=1), says("The categories, in order.")]
    humans: Annotated[list[HumanRecord], Meta(min_length=1), says("The humans.")]


@dataclass(frozen=True, kw_only=True)
class NeededRecord:
    """Labelled items for an interval of the width asked for."""

    of: Annotated[IntervalOf, says("What the interval is of.")]
    name: Annotated[str, says("Judge, or pair of judges.")]
    items: Annotated[Count, says("How many items.")]


@dataclass(frozen=True, kw_only=True)
class JudgeDocument(Document):
    """Automatic judges against humans."""

    command: Annotated[Literal["judge"], says(COMMAND)] = "judge"
    settings: Settings
    data: DataRecord
    ceiling: Annotated[
        Ceiling | None, says("How well humans agree with one another; null for one human.")
    ]
    judges: Annotated[list[Judge], Meta(min_length=1), says("The judges, in the order given.")]
    differences: Annotated[list[Difference], says("Each two judges on the same items.")]
    needed: Annotated[list[NeededRecord], says("Items for intervals of the width asked for.")]
    hints: Hints

    def page(self) -> Page:
        """Judges against the truth, the human level, each other and themselves."""
        return judge_page(self)


def judge_document(j: Judgement) -> JudgeDocument:
    """The document of a judgement."""
    made = JudgeDocument(
        settings=j.settings,
        data=_data(j),
        ceiling=j.ceiling,
        judges=list(j.judges.values()),
        differences=j.differences,
        needed=_needed(j),
        hints=list(_hints(j)),
    )
    return replace(made, hints=[*made.hints, *cautions(made)])


def _data(j: Judgement) -> DataRecord:
    panel = j.panel
    has_truth = panel.truth >= 0
    return DataRecord(
        sources=[name for name, _ in panel.said.place.files],
        items=int(panel.said.count.sum()),
        labelled=panel.items(has_truth),
        tied=panel.items(panel.labelled & ~has_truth),
        single=panel.items(panel.votes == 1) if len(panel.humans) > 1 else 0,
        unlabelled=panel.items(~panel.labelled),
        weighted=panel.said.weighted,
        truth=j.truth,
        categories=list(panel.said.categories),
        humans=[
            HumanRecord(name=name, rated=panel.items(codes >= 0))
            for name, codes in panel.humans.items()
        ],
    )


def _needed(j: Judgement) -> list[NeededRecord]:
    """Items for the width that was asked for."""
    if (width := j.settings.width) is None:
        return []
    kinds: tuple[IntervalOf, ...] = get_args(IntervalOf)
    return [
        NeededRecord(of=of, name=name, items=items)
        for of in kinds
        for name, items in j.items_needed(width, of).items()
    ]


def frame_rows(j: Judgement) -> list[Json]:
    """A row for each judge and measure; of humans with one another, for those."""
    found = [
        (judge.name, name, judge.items, e)
        for judge in j.judges.values()
        for name, e in _measures(judge)
    ]
    if j.ceiling is not None:
        found.append(("humans", "kappa_in_pairs", j.panel.items(j.panel.labelled), j.ceiling.kappa))
    return [
        {"judge": judge, "measure": name, "items": items, **to_dict(estimated(e))}
        for judge, name, items, e in found
    ]


def _measures(j: Judge) -> list[tuple[str, Estimate]]:
    found = [("accuracy", j.accuracy), ("kappa", j.kappa)]
    if j.ceiling is not None:
        found += [("kappa_with_humans", j.ceiling.single), ("gap_to_humans", j.ceiling.gap)]
    if j.swap is not None:
        found.append(("consistent", j.swap.consistent))
    if (g := j.grades) is not None:
        found += [
            ("mean_difference", g.difference),
            ("within_one_step", g.near),
            ("spearman", g.ranks),
        ]
    return [*found, *((f"share_of_{p.category}", p.tuned) for p in j.prevalence)]


def _hints(j: Judgement) -> Iterator[str]:
    """What a reader should be told of the ratings themselves, then of each judge."""
    yield from _ties(j.panel)
    yield from _single_votes(j.panel)
    yield from _never_human(j.panel)
    yield from _spelling(j.panel)
    for judge in j.judges.values():
        yield from _human_level(judge)
        if j.settings.scale == "nominal":
            yield from _no_better(judge)
        yield from _base_rates(judge)
        yield from _silence(j, judge)
        yield from _position(judge)
        yield from _shares(judge)
    yield from _better(j)


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
            else "look like missing values and are categories"
        )
        yield f"{found} {verb}; leave such cells empty if nothing was said"


def _human_level(judge: Judge) -> Iterator[str]:
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


def _no_better(judge: Judge) -> Iterator[str]:
    e = judge.accuracy
    if e.defined and e.baseline is not None and e.low <= e.baseline:
        most = max(judge.categories, key=lambda c: c.truth)
        how = "worse than" if e.high < e.baseline else "not surely better than"
        yield (
            f"'{judge.name}' is {how} always saying '{most.category}': accuracy "
            f"{e.value:.3f}, {e.baseline:.3f} for that"
        )


def _base_rates(judge: Judge) -> Iterator[str]:
    """The category that the judge uses most differently, where that is not chance."""
    known = [c for c in judge.categories if c.truth > 0 or c.precision.defined]
    sure = [c for c in known if c.p * len(known) < _SURE and c.category in _words(judge)]
    if not sure:
        return
    c = max(sure, key=lambda c: _size(c.judge - c.truth))
    more = "more" if c.judge > c.truth else "less"
    yield (
        f"'{judge.name}' says '{c.category}' {more} often than the humans: {percent(c.judge)} against "
        f"{percent(c.truth)} (p = {p_value(c.p)})"
    )


def _words(judge: Judge) -> set[str]:
    """The categories that have a recall: those that humans use, too."""
    return {c.category for c in judge.categories if c.recall.defined}


def _silence(j: Judgement, judge: Judge) -> Iterator[str]:
    if judge.silent:
        dropped = j.settings.no_answer == "drop"
        end = (
            'they are left out (no_answer="wrong" counts them as errors)'
            if dropped
            else "they count as errors"
        )
        total = int(j.panel.said.count.sum())
        yield f"'{judge.name}' gives no answer on {judge.silent:,} of {total:,} items; {end}"


def _position(judge: Judge) -> Iterator[str]:
    if judge.swap is None or not _sure(judge.swap.first):
        return
    first, (one, two) = judge.swap.first, judge.swap.leaning
    side = "first" if first.value > 0.5 else "second"
    yield (
        f"'{judge.name}' leans to the {side} position: of {one + two:,} verdicts that change with the "
        f"order, {max(one, two):,} favour it"
    )


def _shares(judge: Judge) -> Iterator[str]:
    """The category whose share the judge alone gets most wrong."""
    off = [p for p in judge.prevalence if not p.tuned.low <= p.judge.value <= p.tuned.high]
    if off:
        p = max(off, key=lambda p: _size(p.judge.value - p.tuned.value))
        yield (
            f"'{judge.name}' puts {percent(p.judge.value)} of all items in '{p.category}'; corrected "
            f"by the labelled items it is {p.tuned}"
        )


def _better(j: Judgement) -> Iterator[str]:
    for d in j.differences:
        if d.accuracy_adjusted < _SURE:
            one, two = (d.first, d.second) if d.accuracy.value > 0 else (d.second, d.first)
            yield (
                f"'{one}' is right more often than '{two}' on the same {d.items:,} items "
                f"(p = {p_value(d.accuracy_adjusted)})"
            )


def _size(gap: float) -> tuple[float, bool]:
    """How large a gap is; of two categories, which have the same, what is said too often comes first."""
    return round(abs(gap), 9), gap > 0


def _sure(e: Estimate) -> bool:
    return e.defined and e.p is not None and e.p < _SURE

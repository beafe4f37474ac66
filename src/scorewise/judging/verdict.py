"""What a judgement means: which judges may stand in for a human, which is right more often, and remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns.rating_codes import looks_missing, spelled_alike
from scorewise.show.verdict import Claim, agreement_bands, claim, figure, next_command, with_ci
from scorewise.show.words import listed, p_phrase, p_value, percent, plural, quoted, value

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judge, Judgement
    from scorewise.judging.panel import Panel

SMALL_GAP = 0.1  # of kappas
ALPHA = 0.05  # a p-value below this is worth a word
MANY_TIES = 0.02  # a share of ties that is worth a word
MAX_COMPARED = 3  # judges of which every pair is compared in words


def verdict(j: Judgement) -> list[Claim]:
    """The sentences on judges of the same items."""
    trusted = [_trust(judge, j) for judge in j.judges.values()]
    return [*trusted, *_compared(j), *j.groups.claims(), *_next(j, [c.finding for c in trusted])]


def _trust(judge: Judge, j: Judgement) -> Claim:
    """Whether a judge may stand in for a human, by the interval of its gap to the human level."""
    who, beside = quoted(judge.name), judge.ceiling
    if beside is None:
        return _of_one_human(judge, next(iter(j.panel.humans)))
    gap, human, finding = beside.gap, beside.human, "cannot tell"
    figures = [
        figure(key, e, judge.name)
        for key, e in (("kappa", beside.judge), ("human_kappa", human), ("gap", gap))
    ]
    if not gap.defined or gap.p is None:
        why = gap.why or "no item tells the judge from the humans"
        text = f"Whether {who} may be trusted like a human cannot be told: {why}."
        return claim("trust", finding, text, figures)
    if human.low <= 0:
        text = (
            f"Whether {who} may be trusted cannot be told, as humans are not shown to agree with one "
            f"another: kappa {with_ci(human)}."
        )
        return claim("trust", finding, text, figures)
    text = f"{who} agrees with humans"
    if gap.low > 0:
        finding, text = "yes", f"{text} better than they do with one another"
    elif gap.low > -SMALL_GAP and gap.high < 0:
        finding, text = "nearly", f"{text} a little less than they do with one another"
    elif gap.low > -SMALL_GAP:
        finding, text = "yes", f"{text} about as well as they do with one another"
    elif gap.high < 0:
        finding, text = "no", f"{text} less than they do with one another"
    else:
        items = plural(j.panel.items(j.panel.labelled), "item")
        text = f"Whether {text} as well as they do with one another cannot be told with {items}"
    answers = {
        "yes": ", and can stand in for a human", "no": ", and cannot stand in for a human",
    }  # fmt: skip
    kappas = (
        f"kappa with the majority of the others is {value(beside.judge)} for the judge and {value(human)} "
        f"for a human, difference {with_ci(gap)}"
    )
    return claim("trust", finding, f"{text}{answers.get(finding, '')}: {kappas}.", figures)


def _of_one_human(judge: Judge, human: str) -> Claim:
    """Agreement with a single human, beside which there is no human level."""
    both, k = f"{quoted(judge.name)} agrees with {quoted(human)}", judge.kappa
    finding = "cannot tell"
    if not k.defined:
        text = f"Whether {both} beyond chance cannot be told: {k.why}."
    elif k.high < 0:
        finding, text = "no", f"{both} less than by chance: kappa {with_ci(k)}."
    elif k.low <= 0:
        items = plural(judge.items, "item")
        text = f"Whether {both} beyond chance cannot be told with {items}: kappa {with_ci(k)}."
    else:
        text = (
            f"{both} beyond chance ({' to '.join(agreement_bands(k))}): kappa {with_ci(k)}; one human "
            f"alone does not show how well another would agree."
        )
    return claim("trust", finding, text, [figure("kappa", k, judge.name)])


def _compared(j: Judgement) -> Iterator[Claim]:
    """Which judge is right more often on the same items, as far as p-values after Holm tell."""
    for d in j.differences:
        gap = d.accuracy
        if not gap.defined or gap.p is None:
            continue
        one, two = map(quoted, (d.first, d.second) if gap.value >= 0 else (d.second, d.first))
        figures = [figure("accuracy", gap, f"{d.first} - {d.second}")]
        items, p = plural(d.items, "item"), p_phrase(d.accuracy_adjusted)
        if d.accuracy_adjusted < ALPHA:
            text = f"{one} is right more often than {two} on the same {items} ({p})."
            yield claim("models", "better", text, figures)
        elif len(j.judges) <= MAX_COMPARED:
            text = f"{one} and {two} cannot be told apart by how often they are right ({p})."
            yield claim("models", "not told apart", text, figures)


def _next(j: Judgement, findings: list[str]) -> Iterator[Claim]:
    """How many items would tell, or where judges and humans differ."""
    sources, names = [name for name, _ in j.panel.place.files], [*j.panel.humans, *j.judges]
    plan = "cannot tell" in findings and j.settings.width is None
    if not sources and plan:
        text = "Next: items_needed(0.2) of the result, how many labelled items would tell"
        yield claim("next", "judge", text)
    elif not sources:
        yield claim("next", "agree", "Next: sw.agree(columns), where judges and humans differ")
    elif plan:
        roles = [("human" if x in j.panel.humans else "judge", x) for x in names]
        yield next_command("judge", sources, [*roles, ("width", "0.2")])
    else:
        yield next_command("agree", sources, [("rater", x) for x in names])


# Remarks for the reader.


def hints(j: Judgement) -> Iterator[str]:
    """Remarks on the ratings and on each judge."""
    yield from _of_ratings(j.panel)
    if j.panel.cluster is not None:
        yield (
            "Intervals of accuracies, kappas and their differences are by cluster; those of categories, "
            "grades, positions and shares of votes take items for independent."
        )
    for judge in j.judges.values():
        yield from _of_judge(judge, j)


def _of_ratings(panel: Panel) -> Iterator[str]:
    """Ties, single votes, verdicts that no human gives, and words that may be slips."""
    rated, tied = panel.items(panel.labelled), panel.items(panel.labelled & (panel.truth < 0))
    if tied > MANY_TIES * rated:
        yield (
            f"humans tie on {tied:,} of {rated:,} items that they rated ({percent(tied / rated)}): "
            f"accuracy and kappa leave those out, shares of votes do not"
        )
    if len(panel.humans) > 1 and (single := panel.items(panel.votes == 1)):
        yield f"the truth of {single:,} of {rated:,} items rests on the vote of one human"
    by_humans = np.unique([-1, *(k for codes in panel.humans.values() for k in np.unique(codes))])
    for name, codes in panel.answers.items():
        for k in np.setdiff1d(codes, by_humans)[:3]:
            word, times = panel.words[k], panel.items(codes == k)
            yield (
                f"'{name}' says '{word}' {plural(times, 'time')}, humans never; if that is no answer, "
                f"add '{word}' to ignore"
            )
    if alike := spelled_alike(panel.words):
        pairs = listed([f"'{a}' and '{b}'" for a, b in alike])
        yield f"{pairs} are different categories; if they mean the same, spell them alike"
    if blank := looks_missing(panel.words):
        verb = "look like missing values and are categories"
        verb = "looks like a missing value and is a category" if len(blank) == 1 else verb
        words = listed([f"'{word}'" for word in blank])
        yield f"{words} {verb}; leave such cells empty if nothing was said"


def _of_judge(judge: Judge, j: Judgement) -> Iterator[str]:
    """Whether it beats a constant, how often it uses categories, silence, position, shares."""
    e, name = judge.accuracy, f"'{judge.name}'"
    nominal = j.settings.scale == "nominal"
    if nominal and e.defined and e.baseline is not None and e.low <= e.baseline:
        most = max(judge.categories, key=lambda c: c.truth)
        how = "worse than" if e.high < e.baseline else "not surely better than"
        yield (
            f"{name} is {how} always saying '{most.category}': accuracy {e.value:.3f}, "
            f"{e.baseline:.3f} for that"
        )
    # the category that it uses most differently, of those that humans use too, where that is not chance
    used = [c for c in judge.categories if c.truth > 0 or c.precision.defined]
    if told := [c for c in used if c.p * len(used) < ALPHA and c.recall.defined]:
        c = max(told, key=lambda c: _size(c.judge - c.truth))
        yield (
            f"{name} says '{c.category}' {'more' if c.judge > c.truth else 'less'} often than the humans: "
            f"{percent(c.judge)} against {percent(c.truth)} (p = {p_value(c.p)})"
        )
    if judge.silent:
        end = "they count as errors"
        if j.settings.no_answer == "drop":
            end = "they are left out; with no answer as wrong they count as errors"
        total = int(j.panel.count.sum())
        yield f"{name} gives no answer on {judge.silent:,} of {total:,} items; {end}"
    if (swap := judge.swap) is not None and swap.first.p is not None and swap.first.p < ALPHA:
        side = "first" if swap.first.value > 0.5 else "second"
        yield (
            f"{name} leans to the {side} position: of {sum(swap.leaning):,} verdicts that change with the "
            f"order, {max(swap.leaning):,} favour it"
        )
    # the category whose share the judge alone gets most wrong
    if off := [p for p in judge.prevalence if not p.tuned.low <= p.judge.value <= p.tuned.high]:
        p = max(off, key=lambda p: _size(p.judge.value - p.tuned.value))
        yield (
            f"{name} puts {percent(p.judge.value)} of all items in '{p.category}'; corrected by the "
            f"labelled items it is {p.tuned}"
        )


def _size(gap: float) -> tuple[float, bool]:
    """How large a gap is; of two categories, which have the same, what is said too often comes first."""
    return round(abs(gap), 9), gap > 0

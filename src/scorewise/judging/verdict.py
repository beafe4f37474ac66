"""What a judgement means: which judges may stand in for a human, and which of them is right more often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scorewise.judging.groups import Groups
from scorewise.show.verdict import Claim, bands, claim, command, figure, shown
from scorewise.show.words import chance, counted, quoted, value

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judge, Judgement

NEAR = 0.1  # a gap of kappas that is within this is small
SURE = 0.05
SHOWN = 3  # judges of which every pair is compared in words


def verdict_of(j: Judgement) -> list[Claim]:
    """The sentences on judges of the same items."""
    trusted = [_trust(judge, j) for judge in j.judges.values()]
    groups = j.groups.claims() if isinstance(j.groups, Groups) else ()
    return [*trusted, *_compared(j), *groups, *_next(j, [c.finding for c in trusted])]


def _trust(judge: Judge, j: Judgement) -> Claim:
    """Whether a judge may stand in for a human, by the interval of its gap to the human level."""
    who, found = quoted(judge.name), judge.ceiling
    if found is None:
        return _of_one_human(judge, j)
    gap, human = found.gap, found.human
    figures = [
        figure(key, e, judge.name)
        for key, e in (("kappa", found.judge), ("human_kappa", human), ("gap", gap))
    ]
    if not gap.defined or gap.p is None:
        why = gap.why or "no item tells the judge from the humans"
        text = f"Whether {who} may be trusted like a human cannot be told: {why}."
        return claim("trust", "cannot tell", text, figures)
    kappas = (
        f"kappa with the majority of the others is {value(found.judge)} for the judge and {value(human)} "
        f"for a human, difference {shown(gap)}"
    )
    if human.low <= 0:
        finding = "cannot tell"
        text = (
            f"Whether {who} may be trusted cannot be told, as humans are not shown to agree with one "
            f"another: kappa {shown(human)}"
        )
        return claim("trust", finding, f"{text}.", figures)
    if gap.low > 0:
        finding, text = "yes", f"{who} agrees with humans better than they do with one another"
    elif gap.low > -NEAR and gap.high < 0:
        finding, text = (
            "nearly",
            f"{who} agrees with humans a little less than they do with one another",
        )
    elif gap.low > -NEAR:
        finding = "yes"
        text = f"{who} agrees with humans about as well as they do with one another"
    elif gap.high < 0:
        finding, text = "no", f"{who} agrees with humans less than they do with one another"
    else:
        finding = "cannot tell"
        text = (
            f"Whether {who} agrees with humans as well as they do with one another cannot be told with "
            f"{counted(j.panel.items(j.panel.labelled), 'item')}"
        )
    answer = {"yes": "can stand in for a human", "no": "cannot stand in for a human"}
    text = f"{text}, and {answer[finding]}" if finding in answer else text
    return claim("trust", finding, f"{text}: {kappas}.", figures)


def _of_one_human(judge: Judge, j: Judgement) -> Claim:
    """Agreement with a single human, beside which there is no human level."""
    who, human, k = quoted(judge.name), quoted(next(iter(j.panel.humans))), judge.kappa
    figures = [figure("kappa", k, judge.name)]
    if not k.defined:
        text = f"Whether {who} agrees with {human} beyond chance cannot be told: {k.why}."
    elif k.high < 0:
        text = f"{who} agrees with {human} less than by chance: kappa {shown(k)}."
        return claim("trust", "no", text, figures)
    elif k.low <= 0:
        items = counted(judge.items, "item")
        text = f"Whether {who} agrees with {human} beyond chance cannot be told with {items}"
        text = f"{text}: kappa {shown(k)}."
    else:
        words = " to ".join(bands(k))
        text = (
            f"{who} agrees with {human} beyond chance ({words}): kappa {shown(k)}; one human "
            f"alone does not show how well another would agree."
        )
    return claim("trust", "cannot tell", text, figures)


def _compared(j: Judgement) -> Iterator[Claim]:
    """Which judge is right more often on the same items, as far as p-values after Holm tell."""
    for d in j.differences:
        gap = d.accuracy
        if not gap.defined or gap.p is None:
            continue
        one, two = (d.first, d.second) if gap.value >= 0 else (d.second, d.first)
        figures = [figure("accuracy", gap, f"{d.first} - {d.second}")]
        items, p = counted(d.items, "item"), chance(d.accuracy_adjusted)
        if d.accuracy_adjusted < SURE:
            text = (
                f"{quoted(one)} is right more often than {quoted(two)} on the same {items} ({p})."
            )
            yield claim("models", "better", text, figures)
        elif len(j.judges) <= SHOWN:
            both = f"{quoted(one)} and {quoted(two)}"
            text = f"{both} cannot be told apart by how often they are right ({p})."
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
        yield command("judge", sources, [*roles, ("width", "0.2")])
    else:
        yield command("agree", sources, [("rater", x) for x in names])

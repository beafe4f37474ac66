"""What a comparison means: which model is better, which are not told apart, the rows still missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scorewise.estimate import Estimate
from scorewise.inference.paired import holm
from scorewise.show.verdict import Claim, claim, columns_of, command, figure, shown
from scorewise.show.words import chance, counted, named, quoted, value, within

if TYPE_CHECKING:
    from scorewise.evaluation.compare_document import (
        CompareGroup,
        McNemarRecord,
        NonInferiorityRecord,
        PairRecord,
    )
    from scorewise.evaluation.comparing import ModelComparison
    from scorewise.evaluation.document import DifferenceRecord

MOST_ROWS = 1_000_000  # more of them are not counted
SHOWN = 3  # sentences on better models, and on pairs that are not told apart


def compare_verdict(
    c: ModelComparison,
    ranking: Sequence[PairRecord],
    differences: Sequence[DifferenceRecord],
    decided: Sequence[McNemarRecord],
    held: Sequence[NonInferiorityRecord],
    groups: Sequence[CompareGroup],
) -> list[Claim]:
    """The sentences on models, the ranking first."""
    claims = [*_ranked(c, ranking), *_joint(c)]
    if len(c) == 2:
        claims += _beside(c, differences, decided)
    return [*claims, *map(_held, held), *_grouped(c, groups), *_next(c, ranking)]


def _ranked(c: ModelComparison, ranking: Sequence[PairRecord]) -> Iterator[Claim]:
    """Which model is better than which others, and which pairs are not told apart."""
    if not ranking:
        why = next(
            (e[c.measure].why for e in c.values() if not e[c.measure].defined), "no interval"
        )
        title = within(c._register[c.measure].title)
        yield claim("models", "unknown", f"Models cannot be compared by {title}: {why}.")
        return
    better: dict[str, list[PairRecord]] = {}
    for pair in ranking:
        if pair.finding == "better":
            better.setdefault(pair.first, []).append(pair)
    for first, beaten in list(better.items())[:SHOWN]:
        yield _better(c, first, beaten)
    if len(better) > SHOWN:
        text = f"{len(better) - SHOWN} more models are better than others; see the differences."
        yield claim("models", "better", text)
    order = list(dict.fromkeys(name for p in ranking for name in (p.first, p.second)))
    apart = [p for p in ranking if p.finding != "better"]
    beside = [p for p in apart if order.index(p.second) - order.index(p.first) == 1]
    told = apart if len(apart) <= SHOWN else beside[:SHOWN] or apart[:SHOWN]
    yield from (_apart(c, p) for p in told)
    if len(apart) > len(told):
        more = counted(len(apart) - len(told), "further pair")
        yield claim("models", "not told apart", f"{more} cannot be told apart either.")


def _better(c: ModelComparison, first: str, beaten: Sequence[PairRecord]) -> Claim:
    """One sentence on a model and all those that it is shown to be better than."""
    m, own = c._register[c.measure], c[first][c.measure]
    names = [p.second for p in beaten]
    figures = [figure(m.name, c[x][m.name], x) for x in (first, *names)]
    figures += [figure(m.name, p, f"{first} - {p.second}") for p in beaten]
    verb = "ranks better" if m.group == "order" and not c.several else "is better"
    others = " and ".join(value(c[x][m.name]) for x in names[:5])
    numbers = f"{within(m.title)} {value(own)} against {others}" + ", ..." * (len(names) > 5)
    if len(beaten) == 1:
        numbers += f", difference {shown(_gap(beaten[0]))}"
    than = (
        " and ".join(quoted(x) for x in names)
        if len(names) < 6
        else named([*map(quoted, names)], 5)
    )
    return claim("models", "better", f"{quoted(first)} {verb} than {than}: {numbers}.", figures)


def _apart(c: ModelComparison, p: PairRecord) -> Claim:
    """A pair that is not told apart, and how many rows would tell."""
    m = c._register[c.measure]
    both = f"{quoted(p.first)} and {quoted(p.second)}"
    values = " against ".join(value(c[x][m.name]) for x in (p.first, p.second))
    figures = [figure(m.name, c[x][m.name], x) for x in (p.first, p.second)]
    figures.append(figure(m.name, p, f"{p.first} - {p.second}"))
    if p.finding == "alike":
        how = "rank the rows alike" if m.group == "order" and not c.several else "are alike"
        return claim("models", p.finding, f"{both} {how}: {within(m.title)} {values}.", figures)
    more = missing_rows(p.rows_missing, "" if c.paired else " of each")
    if not p.low <= 0 <= p.high:  # and yet the p-value, adjusted, is too large
        more = f" ({chance(p.p_adjusted or 1.0)} once adjusted for {counted(len(c.pairs), 'pair')}){more}"
    text = f"{both} cannot be told apart: {within(m.title)} {values}, difference {shown(_gap(p))}{more}."
    return claim("models", p.finding, text, figures)


def missing_rows(rows: float | None, of: str = "") -> str:
    """How many more rows would show a difference, as a clause; nothing where that is not known.

    >>> missing_rows(4086.0)
    '; if it is real, about 4,100 more rows would be needed to show it'
    >>> missing_rows(2.0e6)
    '; if it is real, more than 1 million more rows would be needed to show it'
    """
    if rows is None or not rows > 0:
        return ""
    if rows > MOST_ROWS:
        return f"; if it is real, more than 1 million more rows{of} would be needed to show it"
    digits = 1 - math.floor(math.log10(rows))
    about = max(round(rows, digits), 1)
    return f"; if it is real, about {about:,.0f} more row{'s' * (about > 1)}{of} would be needed to show it"


def _gap(p: Any) -> Estimate:
    return Estimate(p.value, p.low, p.high)


def _joint(c: ModelComparison) -> Iterator[Claim]:
    test = c.joint
    if test is None or test.why or c.measure != "auroc":
        return
    sure = test.p <= 1 - c.settings.level
    what = "differ" if sure else "are not shown to differ"
    numbers = f"chi-square {test.statistic:.2f}, {counted(test.df, 'degree')} of freedom"
    text = f"The AUROCs of the {len(c)} models {what} (DeLong's joint test: {numbers}, {chance(test.p)})."
    yield claim("models", "differ" if sure else "no difference shown", text)


def _beside(
    c: ModelComparison, differences: Sequence[DifferenceRecord], decided: Sequence[McNemarRecord]
) -> Iterator[Claim]:
    """Which of two models has the lower loss and which errs less often; p adjusted for both by Holm."""
    name = next((x for x in ("brier", "log_loss") if x != c.measure), "")
    loss = [d for d in differences if d.measure == name and None not in (d.value, d.low, d.high)]
    asked: list[Any] = [*loss[:1], *decided[:1]]
    found = [math.nan if d.p is None else d.p for d in asked]
    sure = 1 - c.settings.level
    for d, p, q in zip(asked, found, holm(found), strict=True):
        chances = f"{chance(q)} once adjusted for loss and errors" if p <= sure < q else ""
        yield _errors(c, d, chances) if d in decided else _loss(c, d, chances)


def _loss(c: ModelComparison, d: Any, chances: str) -> Claim:
    """Which of two models has the lower loss."""
    loss = d.measure
    first, second = (d.first, d.second) if d.value <= 0 else (d.second, d.first)
    sign = 1 if first == d.first else -1
    low, high = sorted((sign * d.low, sign * d.high))
    gap = Estimate(sign * d.value, low, high)
    values = " against ".join(value(c[x][loss]) for x in (first, second))
    numbers, title = f"{values}, difference {shown(gap)}", within(d.title)
    figures = [figure(loss, c[x][loss], x) for x in (first, second)]
    figures.append(figure(loss, gap, f"{first} - {second}"))
    if high < 0 and not chances:
        text, finding = f"{quoted(first)} has the lower {title}: {numbers}.", "lower loss"
    else:
        numbers += f" ({chances})" * bool(chances)
        text, finding = f"No clear difference in {title}: {numbers}.", "not told apart"
    return claim("probabilities", finding, text, figures)


def _errors(c: ModelComparison, d: Any, chances: str) -> Claim:
    """Which of two models errs less often, by McNemar's test."""
    (most, first), (least, second) = sorted(
        [(d.only_first, d.first), (d.only_second, d.second)], reverse=True, key=lambda x: x[0]
    )
    at = "" if c.several else f"At {c.settings.threshold:g}, "
    rows = counted(most, "row")
    seen = f"{quoted(first)} alone is right in {rows}, {quoted(second)} alone in {least:,}"
    if not most:
        text, finding = f"{at}both models make the same errors.", "alike"
    elif d.p <= 1 - c.settings.level and not chances:
        text, finding = f"{at}{quoted(first)} errs less often: {seen}", "fewer errors"
    else:
        text, finding = (
            f"{at}no clear difference in the number of errors: {seen}",
            "not told apart",
        )
    test = ", ".join(x for x in (f"McNemar, {d.kind}", chance(d.p), chances) if x)
    text += f" ({test})." if most else ""
    return claim("decisions", finding, text[0].upper() + text[1:])


def _held(n: NonInferiorityRecord) -> Claim:
    """Whether a model is at most the margin worse than the baseline."""
    both, of = (
        (quoted(n.model), quoted(n.baseline_model)),
        [figure(n.measure, n, f"{n.model} - {n.baseline_model}")],
    )
    if n.value is None or n.low is None or n.high is None:
        text = (
            f"Whether {both[0]} is non-inferior to {both[1]} cannot be told: {n.why or n.method}."
        )
        return claim("models", n.finding, text, of)
    gap, ends = (
        shown(_gap(n)),
        f"two-sided {100 * n.level:g}% interval of the gain in {within(n.title)}",
    )
    if n.finding == "non-inferior":
        text = f"{both[0]} is non-inferior to {both[1]} by a margin of {n.margin:g}: {gap} ({ends})"
        text += ", and shown to be better" * n.superior
    elif n.finding == "inferior":
        text = f"{both[0]} is inferior to {both[1]} by more than the margin of {n.margin:g}: {gap} ({ends})"
    else:
        text = (
            f"Whether {both[0]} is non-inferior to {both[1]} by a margin of {n.margin:g} cannot be told: "
            f"{gap} ({ends})"
        )
    return claim("models", n.finding, f"{text}.", of)


def _grouped(c: ModelComparison, groups: Sequence[CompareGroup]) -> Iterator[Claim]:
    """The group in which models differ most clearly, by the measure of the comparison."""
    m = c._register[c.measure]
    found = [(d.p_adjusted, g, d) for g in groups for d in g.differences
             if d.measure == m.name and d.p_adjusted is not None]  # fmt: skip
    if not found:
        return
    clear = [x for x in found if x[0] <= 1 - c.settings.level]
    many = counted(len(groups), "group")
    if not clear:
        yield claim(
            "groups",
            "not told apart",
            f"In none of {many} is a difference in {within(m.title)} shown (Holm).",
        )
        return
    _, g, d = min(clear, key=lambda x: x[0])
    apart = len({x[1].name for x in clear})
    text = (
        f"Models differ in {within(m.title)} in {apart} of {many} (Holm), most clearly in "
        f"{quoted(g.name)}: {quoted(d.first)} - {quoted(d.second)} {shown(_gap(d))}."
    )
    yield claim("groups", "differ", text, [figure(m.name, d, g.name)])


def _next(c: ModelComparison, ranking: Sequence[PairRecord]) -> Iterator[Claim]:
    """Whether the better model can be believed is for evaluate to say."""
    best = ranking[0].first if ranking else next(iter(c))
    origin = c[best].tally.origin if c.models.columns else None
    if origin is not None and origin.label and origin.sources:
        yield command("evaluate", origin.sources, columns_of(origin, best))

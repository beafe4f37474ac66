"""What a comparison means: which model is better, which are not told apart, the rows still missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scorewise.evaluation.verdict import of_pair
from scorewise.inference.differences import holm
from scorewise.show.verdict import Claim, claim, column_options, figure, next_command, with_ci
from scorewise.show.words import in_text, listed, p_phrase, plural, quoted, value

if TYPE_CHECKING:
    from scorewise.comparing.comparison import ModelComparison
    from scorewise.comparing.document import (
        CompareDocument,
        CompareGroup,
        McNemarRecord,
        NonInferiorityRecord,
        PairRecord,
    )
    from scorewise.evaluation.document import DifferenceRecord

MAX_ROWS = 1_000_000  # more of them are not counted
SHOWN = 3  # sentences on better models, and on pairs that are not told apart


def compare_verdict(c: ModelComparison, doc: CompareDocument) -> list[Claim]:
    """The sentences on models, the ranking first."""
    claims = [*_ranking(c, doc.ranking), *_joint_test(c)]
    if len(c) == 2:
        claims += _loss_and_errors(c, doc)
    claims += [*map(_noninferior, doc.noninferiority), *_by_group(c, doc.groups)]
    # whether the better model can be believed is for evaluate to say
    best = doc.ranking[0].first if doc.ranking else next(iter(c))
    origin = c[best].tally.origin if c.models.columns else None
    if origin is not None and origin.label and origin.sources:
        claims.append(next_command("evaluate", origin.sources, column_options(origin, best)))
    return claims


def _ranking(c: ModelComparison, ranking: Sequence[PairRecord]) -> Iterator[Claim]:
    """Which model is better than which others, and which pairs are not told apart."""
    if not ranking:
        undefined = (e[c.measure].why for e in c.values() if not e[c.measure].defined)
        title, why = in_text(c.register[c.measure].title), next(undefined, "no interval")
        yield claim("models", "unknown", f"Models cannot be compared by {title}: {why}.")
        return
    better: dict[str, list[PairRecord]] = {}
    for pair in ranking:
        if pair.finding == "better":
            better.setdefault(pair.first, []).append(pair)
    for first, pairs in list(better.items())[:SHOWN]:
        yield _better(c, first, pairs)
    if len(better) > SHOWN:
        text = f"{len(better) - SHOWN} more models are better than others; see the differences."
        yield claim("models", "better", text)
    order = list(dict.fromkeys(name for p in ranking for name in (p.first, p.second)))
    unclear = [p for p in ranking if p.finding != "better"]
    neighbours = [p for p in unclear if order.index(p.second) - order.index(p.first) == 1]
    shown = unclear if len(unclear) <= SHOWN else neighbours[:SHOWN] or unclear[:SHOWN]
    yield from (_not_told_apart(c, p) for p in shown)
    if len(unclear) > len(shown):
        more = plural(len(unclear) - len(shown), "further pair")
        yield claim("models", "not told apart", f"{more} cannot be told apart either.")


def _better(c: ModelComparison, first: str, pairs: Sequence[PairRecord]) -> Claim:
    """One sentence on a model and all those that it is shown to be better than."""
    m, others = c.register[c.measure], [p.second for p in pairs]
    figures = [figure(m.name, c[x][m.name], x) for x in (first, *others)]
    figures += [figure(m.name, p, f"{first} - {p.second}") for p in pairs]
    verb = "ranks better" if m.group == "order" and not c.several else "is better"
    many = len(others) > 5
    values = " and ".join(value(c[x][m.name]) for x in others[:5]) + ", ..." * many
    numbers = f"{in_text(m.title)} {value(c[first][m.name])} against {values}"
    if len(pairs) == 1:
        numbers += f", difference {with_ci(pairs[0])}"
    words = [*map(quoted, others)]
    than = listed(words, 5) if many else " and ".join(words)
    return claim("models", "better", f"{quoted(first)} {verb} than {than}: {numbers}.", figures)


def _not_told_apart(c: ModelComparison, p: PairRecord) -> Claim:
    """A pair that is not told apart, and how many rows would tell."""
    m = c.register[c.measure]
    both = f"{quoted(p.first)} and {quoted(p.second)}"
    values, figures = of_pair(c, m.name, p.first, p.second, p)
    if p.finding == "alike":
        how = "rank the rows alike" if m.group == "order" and not c.several else "are alike"
        return claim("models", p.finding, f"{both} {how}: {in_text(m.title)} {values}.", figures)
    numbers = f"{in_text(m.title)} {values}, difference {with_ci(p)}"
    if not p.low <= 0 <= p.high:  # and yet the p-value, adjusted, is too large
        adjusted = f"once adjusted for {plural(len(c.pairs), 'pair')}"
        numbers += f" ({p_phrase(p.p_adjusted or 1.0)} {adjusted})"
    more = missing_rows(p.rows_missing, "" if c.paired else " of each")
    return claim("models", p.finding, f"{both} cannot be told apart: {numbers}{more}.", figures)


def missing_rows(rows: float | None, of: str = "") -> str:
    """How many more rows would show a difference, as a clause; nothing where that is not known.

    >>> missing_rows(4086.0)
    '; if it is real, about 4,100 more rows would be needed to show it'
    >>> missing_rows(2.0e6)
    '; if it is real, more than 1 million more rows would be needed to show it'
    """
    if rows is None or not rows > 0:
        return ""
    if rows > MAX_ROWS:
        return f"; if it is real, more than 1 million more rows{of} would be needed to show it"
    about = max(round(rows, 1 - math.floor(math.log10(rows))), 1)
    return f"; if it is real, about {about:,.0f} more row{'s' * (about > 1)}{of} would be needed to show it"


def _joint_test(c: ModelComparison) -> Iterator[Claim]:
    test = c.joint
    if test is None or test.why or c.measure != "auroc":
        return
    differ = test.p <= 1 - c.settings.level
    what = "differ" if differ else "are not shown to differ"
    numbers = f"chi-square {test.statistic:.2f}, {plural(test.df, 'degree')} of freedom"
    text = f"The AUROCs of the {len(c)} models {what} (DeLong's joint test: {numbers}, {p_phrase(test.p)})."
    yield claim("models", "differ" if differ else "no difference shown", text)


def _loss_and_errors(c: ModelComparison, doc: CompareDocument) -> Iterator[Claim]:
    """Which of two models has the lower loss and which errs less often; p adjusted for both by Holm."""
    name = next((x for x in ("brier", "log_loss") if x != c.measure), "")
    loss = next((d for d in doc.differences if d.measure == name and d.has_interval), None)
    errors = next(iter(doc.mcnemar), None)
    p = [None if x is None else x.p for x in (loss, errors)]
    adjusted = [
        f"{p_phrase(after)} once adjusted for loss and errors"
        if before is not None and before <= 1 - c.settings.level < after
        else ""
        for before, after in zip(p, holm(p), strict=True)
    ]
    if loss is not None:
        yield _lower_loss(c, loss, adjusted[0])
    if errors is not None:
        yield _fewer_errors(c, errors, adjusted[1])


def _lower_loss(c: ModelComparison, d: DifferenceRecord, adjusted: str) -> Claim:
    """Which of two models has the lower loss; `adjusted` says that it is not clear after all."""
    first, second = (d.first, d.second) if (d.value or 0.0) <= 0 else (d.second, d.first)
    gap = d.with_first(first)
    values, figures = of_pair(c, d.measure, first, second, gap)
    numbers, title = f"{values}, difference {with_ci(gap)}", in_text(d.title)
    if gap.high < 0 and not adjusted:
        text, finding = f"{quoted(first)} has the lower {title}: {numbers}.", "lower loss"
    else:
        numbers += f" ({adjusted})" * bool(adjusted)
        text, finding = f"No clear difference in {title}: {numbers}.", "not told apart"
    return claim("probabilities", finding, text, figures)


def _fewer_errors(c: ModelComparison, t: McNemarRecord, adjusted: str) -> Claim:
    """Which of two models errs less often, by McNemar's test."""
    (most, first), (least, second) = sorted(
        [(t.only_first, t.first), (t.only_second, t.second)], reverse=True, key=lambda x: x[0]
    )
    at = "" if c.several else f"At {c.settings.threshold:g}, "
    rows = f"{quoted(first)} alone is right in {plural(most, 'row')}, {quoted(second)} alone in {least:,}"
    finding = "not told apart"
    if not most:
        text, finding = f"{at}both models make the same errors", "alike"
    elif t.p <= 1 - c.settings.level and not adjusted:
        text, finding = f"{at}{quoted(first)} errs less often: {rows}", "fewer errors"
    else:
        text = f"{at}no clear difference in the number of errors: {rows}"
    if most:
        test = ", ".join(filter(None, (f"McNemar, {t.kind}", p_phrase(t.p), adjusted)))
        text += f" ({test})"
    return claim("decisions", finding, f"{text[0].upper()}{text[1:]}.")


def _noninferior(n: NonInferiorityRecord) -> Claim:
    """Whether a model is at most the margin worse than the baseline."""
    model, baseline = quoted(n.model), quoted(n.baseline_model)
    figures = [figure(n.measure, n, f"{n.model} - {n.baseline_model}")]
    if n.value is None or n.low is None or n.high is None:
        why = n.why or n.method
        text = f"Whether {model} is non-inferior to {baseline} cannot be told: {why}."
        return claim("models", n.finding, text, figures)
    gain = f"two-sided {100 * n.level:g}% interval of the gain in {in_text(n.title)}"
    numbers = f"{with_ci(figures[0])} ({gain})"
    noninferior = f"{model} is non-inferior to {baseline} by a margin of {n.margin:g}"
    text = f"Whether {noninferior} cannot be told: {numbers}"
    if n.finding == "non-inferior":
        text = f"{noninferior}: {numbers}" + ", and shown to be better" * n.superior
    elif n.finding == "inferior":
        text = (
            f"{model} is inferior to {baseline} by more than the margin of {n.margin:g}: {numbers}"
        )
    return claim("models", n.finding, f"{text}.", figures)


def _by_group(c: ModelComparison, groups: Sequence[CompareGroup]) -> Iterator[Claim]:
    """The group in which models differ most clearly, by the measure of the comparison."""
    m, many = c.register[c.measure], plural(len(groups), "group")
    pairs = [(g, d) for g in groups for d in g.differences if d.measure == m.name]
    pairs = [(g, d) for g, d in pairs if d.p_adjusted is not None]
    clear = [(g, d) for g, d in pairs if d.significant]
    if clear:
        g, d = min(clear, key=lambda x: x[1].p_adjusted or 0.0)
        several, shown = len({g.name for g, _ in clear}), figure(m.name, d, g.name)
        text = (
            f"Models differ in {in_text(m.title)} in {several} of {many} (Holm), most clearly in "
            f"{quoted(g.name)}: {quoted(d.first)} - {quoted(d.second)} {with_ci(shown)}."
        )
        yield claim("groups", "differ", text, [shown])
    elif pairs:
        text = f"In none of {many} is a difference in {in_text(m.title)} shown (Holm)."
        yield claim("groups", "not told apart", text)

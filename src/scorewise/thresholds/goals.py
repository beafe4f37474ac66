"""What a cut is for: constraints such as "recall >= 0.9 and alert_rate <= 2%", and an objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import check, one_of
from scorewise.errors import BadInput, Option, short
from scorewise.grammar import NAMES, WORDS, Comparison, comparison, conjuncts, percent_hint, spelled
from scorewise.registry import MEASURES
from scorewise.statistics.formulas import DECISIONS, FN, FP, TN, TP, f_beta, value_at_cuts

Best: TypeAlias = Literal["youden", "f1", "f2", "kappa", "cost"]
CONFIDENCE = 0.95  # of a guarantee, unless asked for
GRAMMAR = 'write "recall >= 0.9", or several, such as "precision >= 80% and alert_rate <= 0.02"'
# shares that have an exact test: the cells that count, out of tp, fp, fn, tn, and those they are a share of
SHARES = {
    "sensitivity": ((TP,), (TP, FN)),
    "fnr": ((FN,), (TP, FN)),
    "specificity": ((TN,), (FP, TN)),
    "fpr": ((FP,), (FP, TN)),
    "alert_rate": ((TP, FP), (TP, FP, FN, TN)),
    "precision": ((TP,), (TP, FP)),
    "fdr": ((FP,), (TP, FP)),
    "npv": ((TN,), (FN, TN)),
}
# what the rows are called that a share is of
UNITS: dict[Any, str] = {(TP, FN): "positives", (FP, TN): "negatives", (TP, FP): "alerts"}
# which of >= and <= the highest cuts keep; the other is kept by the lowest
KEPT_BY_HIGH_CUTS = {
    ("sensitivity", "<="), ("fnr", ">="), ("specificity", ">="), ("fpr", "<="), ("alert_rate", "<="),
    ("precision", ">="), ("fdr", "<="), ("npv", "<="),
}  # fmt: skip
MONOTONE = ("sensitivity", "fnr", "specificity", "fpr", "alert_rate")  # in the cut, in any data
# (measure, sign) that can be guaranteed although they are not monotone
SEQUENCED = {("precision", ">="), ("fdr", "<="), ("npv", ">=")}
SIGNED = ("youden", "kappa", "mcc")
TITLES = {"youden": "Youden's J", "f1": "F1", "f2": "F2", "mcc": "MCC"}  # others: their names


class Constraint(Comparison):
    """What one measure has to be at least or at most; `word` is the user's name of the measure."""

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return NAMES[self.word]

    @property
    def least_share(self) -> float:
        """The share of rows that has to be as it should, at least."""
        return self.limit if self.upward else 1 - self.limit

    @property
    def opposite(self) -> Constraint:
        """What breaks it: the other side of its value."""
        return replace(self, sign="<=" if self.upward else ">=")

    @property
    def kept_by_high_cuts(self) -> bool:
        """Whether the highest cuts keep it, as they do a precision, rather than the lowest, a recall."""
        return (self.measure, self.sign) in KEPT_BY_HIGH_CUTS

    @property
    def monotone(self) -> bool:
        """Whether a cut that keeps it tells that all cuts on one side do."""
        return self.measure in MONOTONE

    @property
    def unit(self) -> str:
        """What the rows are called that it is a share of."""
        return UNITS.get(SHARES[self.measure][1], "rows")

    @property
    def why_not_guaranteed(self) -> str:
        """Why there is no guarantee of it, in the words of a reason; empty where there is one."""
        if self.monotone or (self.measure, self.sign) in SEQUENCED:
            return ""
        return (
            f"{self.word} {self.sign} has no guarantee; there is one of recall, specificity, fpr, fnr, "
            f"alert_rate, precision >= and npv >="
        )

    def shares(self, cells: Sequence[Any]) -> tuple[Any, Any]:
        """Rows that count and rows that they are a share of, at cuts with these tp, fp, fn, tn."""
        hit, of = SHARES[self.measure]
        return sum(cells[i] for i in hit), sum(cells[i] for i in of)

    def kept(self, cells: Sequence[Any]) -> Bools:
        """Whether rows with these tp, fp, fn, tn keep it; they do not where it is undefined."""
        values = measured(self.measure, cells)
        with np.errstate(invalid="ignore"):
            above, below = values >= self.limit - 1e-12, values <= self.limit + 1e-12
        return above if self.upward else below

    def p_value(self, cells: Sequence[Any]) -> Floats:
        """The chance of such shares, or better ones, if it were just broken (exact binomial)."""
        from scipy.stats import binom

        (hit, of), limit = self.shares(cells), self.limit
        p = binom.sf(hit - 1, of, limit) if self.upward else binom.cdf(hit, of, limit)
        return np.where(np.asarray(of) > 0, p, 1.0)

    def rows_needed(self, confidence: float) -> int | None:
        """How many rows that are all as they should be show it; none where no number does.

        >>> [c.rows_needed(0.95) for c in parse_constraints("recall >= 0.95 and fpr <= 1%")]
        [59, 299]
        """
        share = self.least_share
        if share >= 1:
            return None
        if share <= 0:
            return 1
        return max(1, int(np.ceil(np.log(1 - confidence) / np.log(share) - 1e-9)))


def formula(name: str) -> Callable[..., Any]:
    """A measure as a formula of tp, fp, fn, tn; it can be pickled, as rules that hold it are."""
    if name in SHARES:
        return partial(_share, *SHARES[name])
    if name in ("f1", "f2"):
        return partial(f_beta, beta=float(name[1]))
    return partial(_decision, name)


def _decision(name: str, *cells: Any) -> Any:
    return DECISIONS[name](*cells)


def _share(hit: Sequence[int], of: Sequence[int], *cells: Any) -> Any:
    return sum(cells[i] for i in hit) / sum(cells[i] for i in of)


def _saved(cost: Any, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return -(cost * fn + fp) / (tp + fp + fn + tn)


def _not_alerted(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return -(tp + fp)


def measured(name: str, cells: Sequence[Any]) -> Floats:
    """A measure at cuts with these tp, fp, fn, tn; NaN where it is undefined."""
    return value_at_cuts(formula(name), cells)


def parse_constraints(at: str | Sequence[str] | None) -> list[Constraint]:
    """The constraints in a text, or in several.

    >>> [c.text for c in parse_constraints("precision >= 80% and alert rate <= 0.02")]
    ['precision >= 0.8', 'alert_rate <= 0.02']
    """
    texts = [] if at is None else list(at) if isinstance(at, list | tuple) else [at]
    parsed = []
    for text in texts:
        if not isinstance(text, str):
            raise BadInput(f"constraints are text, but {short(text)} is given; {GRAMMAR}")
        parsed += [_constraint(part, text) for part in conjuncts(text)]
    for a in parsed:
        for b in parsed:
            if a.measure == b.measure and a.contradicts(b):
                raise BadInput(
                    f"{a.text} and {b.text} contradict each other: no cut keeps both; leave out one"
                )
    return parsed


def _constraint(part: str, whole: str) -> Constraint:
    parsed, asked = comparison(part), short(part.strip() or whole)
    if parsed is None or parsed.sign not in (">=", "<="):
        raise BadInput(f"{asked} is not a constraint; {GRAMMAR}")
    word, limit = spelled(parsed.word), parsed.limit
    name = NAMES.get(word)
    if name is None:
        near = get_close_matches(word, NAMES, n=1, cutoff=0.6) if word not in MEASURES else []
        mean = f"did you mean {near[0]}? Else " if near else ""
        names = ", ".join(words[0] for words in WORDS.values())
        raise BadInput(f"{short(word)} is no measure of a cut; {mean}there are {names}")
    least = -1.0 if name in SIGNED else 0.0
    if not least <= limit <= 1:
        hint = percent_hint(limit)
        raise BadInput(f"{word} lies between {least:g} and 1, but {asked} is given{hint}")
    return Constraint(word, parsed.sign, limit)


class Objective(NamedTuple):
    """What is largest at the best cut: a name, a formula of tp, fp, fn, tn, and the words for it."""

    name: str
    value: Callable[..., Any]
    words: str


def objective(best: str | None, cost: float | None, wanted: Sequence[Constraint]) -> Objective:
    """What was asked for; else fewest alerts for constraints that low cuts keep, and else most recall."""
    if best == "cost":
        words = f"lowest cost, a missed positive counting as {cost:g} false alarms"
        return Objective(best, partial(_saved, cost), words)
    if best is not None:
        return Objective(best, formula(best), f"highest {TITLES.get(best, best)}")
    if all(c.kept_by_high_cuts for c in wanted):
        return Objective("recall", formula("sensitivity"), "highest recall")
    return Objective("alerts", _not_alerted, "fewest alerts")


@dataclass(frozen=True)
class Goal:
    """What a cut has to keep and what is best among those that do, checked.

    `guarantee` is its confidence, None where none is wanted; `strict` refuses rows that are too few for it,
    rather than to say so.
    """

    constraints: list[Constraint]
    objective: Objective
    best: Best | None
    cost: float | None
    review: float | None
    prevalence: float | None
    guarantee: float | None
    strict: bool
    level: float

    @classmethod
    def of(
        cls, at: Any, best: Any, cost: Any, review: Any, prevalence: Any, guarantee: Any,
        level: float,
    ) -> Goal:  # fmt: skip
        """What a call of `threshold` asks for, checked."""
        check(level=level, cost=cost, review=review, prevalence=prevalence, guarantee=guarantee)
        one_of("best", best, (None, *get_args(Best)))
        wanted = parse_constraints(at)
        if best is None and cost is not None and not wanted:
            best = "cost"
        if not wanted and best is None:
            raise BadInput(
                "no goal of the threshold is given; pass ", Option("at", "recall >= 0.9"), " or ",
                Option("best", "youden"), ", or ", Option("cost", 10),
                " where a missed positive costs as much as 10 false alarms",
            )  # fmt: skip
        if best == "cost" and cost is None:
            raise BadInput(
                "the cost of a missed positive is missing; pass ", Option("cost", 10),
                " where it is worth 10 false alarms",
            )  # fmt: skip
        if cost is not None and best != "cost" and review is None:
            why = " has no effect here; pass "
            raise BadInput(Option("cost", cost), why, Option("best", "cost"), " with it")
        if review is not None and cost is None:
            why = " needs the cost of a missed positive; pass "
            raise BadInput(Option("review", review), why, Option("cost", 10))
        if guarantee and not wanted:
            why = " needs a constraint; pass "
            raise BadInput(Option("guarantee", guarantee), why, Option("at", "recall >= 0.9"))
        confidence = CONFIDENCE if guarantee is None else guarantee or None
        return cls(
            wanted, objective(best, cost, wanted), best, cost, review, prevalence,
            confidence if wanted else None, bool(guarantee), level,
        )  # fmt: skip

"""What a cut has to keep: constraints such as "recall >= 0.9 and alert_rate <= 2%"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.errors import BadInput, short
from scorewise.grammar import NAMES, WORDS, comparison, conjuncts, spelled
from scorewise.registry import MEASURES
from scorewise.tallies.formulas import DECISIONS, f_beta

GRAMMAR = 'write "recall >= 0.9", or several, such as "precision >= 80% and alert_rate <= 0.02"'
TP, FP, FN, TN = range(4)
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
# which of >= and <= the highest cuts keep; the other is kept by the lowest
STRICT = {
    "sensitivity": "<=", "fnr": ">=", "specificity": ">=", "fpr": "<=", "alert_rate": "<=",
    "precision": ">=", "fdr": "<=", "npv": "<=",
}  # fmt: skip
MONOTONE = ("sensitivity", "fnr", "specificity", "fpr", "alert_rate")  # in the cut, in any data
# (measure, sign) that can be guaranteed although they are not monotone
SEQUENCED = {("precision", ">="), ("fdr", "<="), ("npv", ">=")}
SIGNED = ("youden", "kappa", "mcc")


class Constraint(NamedTuple):
    """What one measure has to be at least or at most; `word` is the user's name of the measure."""

    measure: str
    sign: str
    value: float
    word: str

    @property
    def text(self) -> str:
        """As it was written, such as recall >= 0.9."""
        return f"{self.word} {self.sign} {self.value:g}"

    @property
    def turned(self) -> Constraint:
        """What breaks it: the other side of its value."""
        return self._replace(sign="<=" if self.sign == ">=" else ">=")

    @property
    def strict(self) -> bool:
        """Whether the highest cuts keep it, as they do a precision, rather than the lowest, a recall."""
        return STRICT.get(self.measure) == self.sign

    @property
    def monotone(self) -> bool:
        """Whether a cut that keeps it tells that all cuts on one side do."""
        return self.measure in MONOTONE

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
        found = measured(self.measure, cells)
        with np.errstate(invalid="ignore"):
            low, high = found >= self.value - 1e-12, found <= self.value + 1e-12
        return np.asarray(low if self.sign == ">=" else high)

    def p_value(self, cells: Sequence[Any]) -> Floats:
        """The chance of such shares, or better ones, if it were just broken (exact binomial)."""
        from scipy.stats import binom

        hit, of = self.shares(cells)
        p = (
            binom.sf(hit - 1, of, self.value)
            if self.sign == ">="
            else binom.cdf(hit, of, self.value)
        )
        return np.where(np.asarray(of) > 0, p, 1.0)

    def rows_needed(self, confidence: float) -> int | None:
        """How many rows that are all as they should be show it; none where no number does.

        >>> [c.rows_needed(0.95) for c in constraints("recall >= 0.95 and fpr <= 1%")]
        [59, 299]
        """
        share = self.value if self.sign == ">=" else 1 - self.value
        if share >= 1:
            return None
        return (
            max(1, int(np.ceil(np.log(1 - confidence) / np.log(share) - 1e-9))) if share > 0 else 1
        )

    @property
    def rows(self) -> str:
        """What the rows are called that it is a share of."""
        words: dict[tuple[int, ...], str] = {
            (TP, FN): "positives",
            (FP, TN): "negatives",
            (TP, FP): "alerts",
        }
        return words.get(SHARES[self.measure][1], "rows")


def measured(name: str, cells: Sequence[Any]) -> Floats:
    """A measure at cuts with these tp, fp, fn, tn; NaN where it is undefined."""
    tp, fp, fn, tn = (np.asarray(c, np.float64) for c in cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(formula(name)(tp, fp, fn, tn))


def formula(name: str) -> Callable[..., Any]:
    """A measure as a formula of tp, fp, fn, tn."""
    if name in SHARES:
        hit, of = SHARES[name]
        return lambda *c: sum(c[i] for i in hit) / sum(c[i] for i in of)
    if name in ("f1", "f2"):
        return lambda tp, fp, fn, tn: f_beta(tp, fp, fn, tn, float(name[1]))
    return DECISIONS[name]


def constraints(at: str | Sequence[str] | None) -> list[Constraint]:
    """The constraints in a text, or in several.

    >>> [c.text for c in constraints("precision >= 80% and alert rate <= 0.02")]
    ['precision >= 0.8', 'alert_rate <= 0.02']
    """
    texts = [] if at is None else list(at) if isinstance(at, list | tuple) else [at]
    found = []
    for text in texts:
        if not isinstance(text, str):
            raise BadInput(f"constraints are text, but {short(text)} is given; {GRAMMAR}")
        found += [_parsed(part, text) for part in conjuncts(text)]
    for a in found:
        for b in found:
            if a.measure == b.measure and (a.sign, b.sign) == (">=", "<=") and a.value > b.value:
                raise BadInput(
                    f"{a.text} and {b.text} contradict each other: no cut keeps both; leave out one"
                )
    return found


def _parsed(part: str, whole: str) -> Constraint:
    found = comparison(part)
    if found is None or found.sign not in (">=", "<="):
        what = short(part.strip()) if part.strip() else short(whole)
        raise BadInput(f"{what} is not a constraint; {GRAMMAR}")
    word, value = spelled(found.word), found.value
    name = NAMES.get(word)
    if name is None:
        near = get_close_matches(word, NAMES, n=1, cutoff=0.6) if word not in MEASURES else []
        mean = f"did you mean {near[0]}? Else " if near else ""
        known = ", ".join(words[0] for words in WORDS.values())
        raise BadInput(f"{short(word)} is no measure of a cut; {mean}there are {known}")
    least = -1.0 if name in SIGNED else 0.0
    if not least <= value <= 1:
        percents = f"; did you mean {value:g}%?" if 2 <= value <= 100 else ""
        asked = short(part.strip())
        raise BadInput(f"{word} lies between {least:g} and 1, but {asked} is given{percents}")
    return Constraint(name, found.sign, value, word)

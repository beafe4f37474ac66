"""What a gate requires: its grammar, and when an estimate passes, fails or leaves it open."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from scorewise.errors import BadInput, short
from scorewise.estimate import Estimate
from scorewise.grammar import (
    COMPLEMENTS,
    NAMES,
    Comparison,
    comparison,
    conjuncts,
    percent_hint,
    spelled,
)
from scorewise.inference.differences import p_of_interval
from scorewise.inference.scales import normal_quantile
from scorewise.registry import Measure, unknown

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive"]
End: TypeAlias = Literal["", "low", "high", "value"]
GRAMMAR = (
    'write "auroc >= 0.8", "ece <= 0.05", "brier.delta <= 0 vs old.csv" or '
    '"every site: recall.low >= 0.7"'
)
MAX_ROWS = 10**12  # a larger number of them says nothing
# further names of measures; of what is the complement of one, that one
ALSO = {
    "auc": "auroc", "roc_auc": "auroc", "c_statistic": "auroc", "ap": "average_precision",
    "auprc": "average_precision", "pr_auc": "average_precision", "logloss": "log_loss",
    "cross_entropy": "log_loss", "brier_score": "brier", "slope": "calibration_slope",
}  # fmt: skip
_EVERY = re.compile(r"\s*(?:every|each)\s+(.+?)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_VERSUS = re.compile(r"(.*?)\s+vs\.?\s+(.+?)\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Requirement(Comparison):
    """One measure, or its difference to a baseline, against a limit, in all rows or in every group.

    `end` is the end of the interval that decides, "value" for the value alone; else it is the end that
    shows the requirement: the lower for >=, the upper for <=.
    """

    end: End = ""
    delta: bool = False
    baseline: str = ""
    by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As it would be written.

        >>> parsed("Every site: AUROC.low ≥ 80%")[0].text
        'every site: auroc.low >= 0.8'
        """
        every = f"every {', '.join(self.by)}: " if self.by else ""
        versus = f" vs {self.baseline}" if self.baseline else ""
        return f"{every}{self.term} {self.sign} {self.limit:g}{versus}"

    @property
    def term(self) -> str:
        """The measure and what of it decides, such as brier.delta.low."""
        return self.word + ".delta" * self.delta + (f".{self.end}" if self.end else "")

    @property
    def name(self) -> str:
        """The measure, whatever name of it was written."""
        return NAMES.get(self.word, ALSO.get(self.word, self.word))

    @property
    def lenient(self) -> bool:
        """Whether it fails only where it is shown to be broken, and else passes."""
        return self.end == ("high" if self.upward else "low")

    def holds(self, x: float) -> bool:
        """Whether a number keeps it; a difference by rounding alone does not break it."""
        if math.isclose(x, self.limit, rel_tol=1e-12, abs_tol=1e-12):
            return len(self.sign) == 2
        return x > self.limit if self.upward else x < self.limit

    def ends(self, e: Estimate) -> tuple[float, float]:
        """The end of an interval that shows the requirement where it keeps it, and the other."""
        return (e.low, e.high) if self.upward else (e.high, e.low)

    def measure(self, known: Collection[str]) -> tuple[str, bool]:
        """The name of the measure among those known, and whether it is the complement of that one."""
        if found := measure_of(self.word, known):
            return found
        raise BadInput(f"{short(self.text)}: {unknown(self.word, known)}")

    def check_limit(self, m: Measure) -> None:
        """Refuse a limit that no value of the measure reaches, or that all do."""
        low, high = m.bounds
        if self.delta:
            low, high = low - high, high - low
        if not low <= self.limit <= high:
            what = f"a difference in {m.name}" if self.delta else m.name
            ends = f"{low:g} and {high:g}" if math.isfinite(high) else f"{low:g} and infinity"
            raise BadInput(
                f"{what} lies between {ends}, but '{self.text}' is required{percent_hint(self.limit)}"
            )


def measure_of(word: str, known: Collection[str]) -> tuple[str, bool] | None:
    """The measure that a word means among those known, and whether as its complement; None: none of them.

    >>> measure_of("fpr", ["auroc", "specificity"])
    ('specificity', True)
    """
    for name in (word, NAMES.get(word, ""), ALSO.get(word, "")):
        if name in known:
            return name, False
        if COMPLEMENTS.get(name) in known:
            return COMPLEMENTS[name], True
    return None


def parsed(require: Any) -> list[Requirement]:
    """The requirements in a text, or in several.

    >>> [r.text for r in parsed("auroc >= 0.8 and brier.delta <= 1% vs old.csv")]
    ['auroc >= 0.8', 'brier.delta <= 0.01 vs old.csv']
    """
    texts = [require] if isinstance(require, str) else require
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f"requirements are text, but {short(require)} is given; {GRAMMAR}")
    found = [one for text in texts for one in _parsed(text)]
    for a in found:
        for b in found:
            same = (a.name, a.delta, a.baseline, a.by) == (b.name, b.delta, b.baseline, b.by)
            if same and a.contradicts(b):
                raise BadInput(
                    f"'{a.text}' and '{b.text}' contradict each other: nothing keeps both; leave out one"
                )
    return list(dict.fromkeys(found))


def _parsed(whole: str) -> list[Requirement]:
    text, baseline = whole, ""
    by: tuple[str, ...] = ()
    if match := _EVERY.fullmatch(text):
        names, text = match.groups()
        by = tuple(name.strip() for name in names.split(","))
    if match := _VERSUS.fullmatch(text):
        text, baseline = match.groups()
    found = []
    for part in conjuncts(text):
        c = comparison(part)
        if c is None or not all(by or ["x"]):
            raise BadInput(f"{short(part.strip() or whole)} is not a requirement; {GRAMMAR}")
        word, *ends = (spelled(x) for x in c.word.split("."))
        delta = bool(ends) and ends[0] == "delta"
        end: Any = (ends[delta:] or [""])[0]
        if len(ends) - delta > 1 or end not in ("", "low", "high", "value"):
            raise BadInput(
                f"{short(c.word)} has '.{'.'.join(ends)}'; a measure is followed by .low, .high, .value or "
                f".delta, or by .delta.low, .delta.high or .delta.value"
            )
        found.append(Requirement(word, c.sign, c.limit, end, delta, "", by))
    if baseline and not any(one.delta for one in found):
        term = found[0].term
        raise BadInput(
            f"{short(whole)} has a baseline, but no difference; write {term}.delta to compare with "
            f"{baseline}, or leave out vs"
        )
    return [replace(one, baseline=baseline) if one.delta else one for one in found]


class Decision(NamedTuple):
    """The outcome, and how many rows in all would tell, if the value stayed; none where none would."""

    outcome: Outcome
    rows: int | None = None


def decide(r: Requirement, e: Estimate, rows: int, groups: int = 1) -> Decision:
    """Whether an estimate of so many rows passes, fails or leaves it open.

    Of a requirement of every group each has to pass, and one fails where its p-value, adjusted for the
    number of groups (Bonferroni), says that it is broken; so the rows that would tell are more, too.

    >>> r = parsed("auroc >= 0.8")[0]
    >>> [decide(r, Estimate(0.85, low, 0.9), 100) for low in (0.81, 0.75)]
    [Decision(outcome='pass', rows=None), Decision(outcome='inconclusive', rows=400)]
    """
    near, far = r.ends(e)
    if r.end == "value":
        return Decision("pass" if r.holds(e.value) else "fail")
    broken = not r.holds(far)
    if groups > 1:
        broken = not r.holds(e.value) and p_of_interval(e, r.limit, e.level) * groups < 1 - e.level
    if broken:
        return Decision("fail")
    if r.lenient or r.holds(near):
        return Decision("pass")
    away = abs(e.value - r.limit)
    reach = abs(e.value - near)
    if not r.holds(e.value):
        reach = abs(e.value - far) * normal_quantile(bonferroni_level(e.level, groups))
        reach /= normal_quantile(e.level)
    total = rows * (reach / away) ** 2 if away > 0 else math.inf
    if total > MAX_ROWS:
        return Decision("inconclusive")
    return Decision("inconclusive", max(math.ceil(total * (1 - 1e-9)), rows + 1))


def with_rule_of_three(e: Estimate, m: Measure, rows: int) -> Estimate:
    """An estimate; if it is a point at its best value, with the limit of events not seen in n rows.

    >>> from scorewise.registry import MEASURES
    >>> import scorewise.measures
    >>> with_rule_of_three(Estimate(0.0, 0.0, 0.0), MEASURES["brier"], 300)
    0.000 [0.000, 0.012]
    """
    low, high = m.bounds
    if not why_no_interval(e) or e.value != m.best or not math.isfinite(high - low) or not rows:
        return e
    reach = (high - low) * largest_unseen(e.level, rows)
    ends = (e.value - reach, e.value) if m.better == "high" else (e.value, e.value + reach)
    return replace(e, low=ends[0], high=ends[1], method="rule of three")


def largest_unseen(level: float, rows: int) -> float:
    """The most that the share of something may be that so many rows do not show."""
    return float(1 - ((1 - level) / 2) ** (1 / rows))


def bonferroni_level(level: float, looks: int) -> float:
    """The level of each of several looks that are to be right together (Bonferroni)."""
    return 1 - (1 - level) / looks


def rescaled(e: Estimate, times: float, value: float | None = None) -> Estimate:
    """An estimate with an interval that many times as narrow, about its value or another.

    >>> rescaled(Estimate(0.5, 0.3, 0.9), 2)
    0.500 [0.400, 0.700]
    """
    at = e.value if value is None else value
    low, high = at - (e.value - e.low) / times, at + (e.high - e.value) / times
    return replace(e, value=at, low=low, high=high)


NO_INTERVAL = "it has no interval"


def why_no_interval(e: Estimate) -> str:
    """Why an estimate cannot be judged by its interval; empty where it can."""
    if not e.defined:
        return e.why
    if not math.isfinite(e.low) or not math.isfinite(e.high):
        return e.method.removeprefix("none: ") if e.method.startswith("none: ") else NO_INTERVAL
    return (e.method.removeprefix("none: ") or "a point") if e.low == e.high else ""


def complement(e: Estimate, delta: bool) -> Estimate:
    """The estimate of 1 less a share, or of the difference of two such."""
    base = 0.0 if delta else 1.0
    return replace(e, value=base - e.value, low=base - e.high, high=base - e.low)

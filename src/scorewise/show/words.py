"""Words that are not ours, made harmless in Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from scorewise.errors import plain as plain
from scorewise.estimate import decimals, number


def escape(text: object) -> str:
    r"""Text that Markdown shows as it is, also within a table.

    >>> print(escape("a|b *c* <d> @e"))
    a\|b \*c\* \<d\> @<!-- -->e
    """
    text = re.sub(r"([\\`*_{}\[\]<>|~$&])", r"\\\1", plain(text))
    return re.sub(r"([@#])", r"\1<!-- -->", text)  # names nobody and links to no issue


def code(text: object) -> str:
    r"""A user's word as code, where no markup counts.

    >>> print(code("risk"), code("a`b"), code("a|b"))
    `risk` ``a`b`` a\|b
    """
    word = plain(text)
    if not word.strip() or "|" in word:  # no code is empty, nor can it hold a | in every table
        return escape(word) if word.strip() else f"'{word}'"
    ticks = "`" * (max(map(len, re.findall("`+", word)), default=0) + 1)
    pad = " " if {word[0], word[-1]} & {"`", " "} else ""
    return f"{ticks}{pad}{word}{pad}{ticks}"


# Words and numbers that the terminal and Markdown views share.


Document = dict[str, Any]
UNRELIABLE = "†"  # behind an interval that has a caution

TITLES = {
    "decisions": "Decisions",
    "order": "Order",
    "scores": "Scores",
    "probability": "Probabilities",
    "calibration": "Calibration",
}


def quoted(text: object) -> str:
    """A user's word, marked off from ours."""
    return f"'{plain(text)}'"


def shown(x: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return number(math.nan if x is None else x, digits)


def value(measure: Document) -> str:
    """The value of a measure, with as many decimals as its interval needs."""
    return shown(measure["value"], _digits(measure))


def _digits(measure: Document) -> int:
    low, high = measure["low"], measure["high"]
    return 3 if low is None or high is None else decimals(low, high)


def percent(share: float) -> str:
    """A share in percent, to three digits.

    >>> percent(0.12), percent(0.95), percent(1 / 30000)
    ('12%', '95%', '0.00333%')
    """
    return f"{100 * share:.3g}%"


def whole_percent(share: float) -> str:
    """A share in whole percent.

    >>> whole_percent(0.124), whole_percent(-0.001)
    ('12%', '0%')
    """
    return f"{round(100 * share)}%"


def amount(x: float) -> str:
    """A count, or a sum of weights.

    >>> amount(1234567), amount(118.25)
    ('1,234,567', '118.250')
    """
    return f"{x:,.0f}" if float(x).is_integer() else number(x)


def counted(n: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def interval(measure: Document) -> str:
    """The interval of a measure in brackets, marked where it is unreliable; nothing where it has none."""
    if measure["low"] is None and measure["high"] is None:
        return ""
    digits = _digits(measure)
    mark = UNRELIABLE if measure.get("caution") else ""
    return f"[{shown(measure['low'], digits)}, {shown(measure['high'], digits)}]{mark}"


def bound(measure: Document) -> str:
    """The half-width that coarsening left; nothing where the value is exact."""
    return f"±{measure['bound']:.1g}" if measure["bound"] and measure["value"] is not None else ""


def same_decisions(cut: Document) -> str:
    """The thresholds that decide as this one does, rounded inwards so that the claim stays true.

    >>> same_decisions({"threshold": 0.5, "above": 0.498712, "upto": 0.501256})
    '(0.4988, 0.5012]'
    >>> same_decisions({"threshold": 0.5, "above": 0.4999999, "upto": None})
    '(0.4999999, ∞)'
    """
    threshold = Decimal(repr(float(cut["threshold"])))
    above = Decimal("-inf" if cut["above"] is None else repr(float(cut["above"])))
    upto = Decimal("inf" if cut["upto"] is None else repr(float(cut["upto"])))
    for digits in range(4, 18):
        low = Context(prec=digits, rounding=ROUND_CEILING).plus(above)
        high = Context(prec=digits, rounding=ROUND_FLOOR).plus(upto)
        if low < threshold <= high:
            break
    left = f"{low.normalize():f}" if low.is_finite() else "-∞"
    return f"({left}, {high.normalize():f}]" if high.is_finite() else f"({left}, ∞)"


def named(words: Sequence[str], most: int = 3) -> str:
    """A list in words, cut short where it is long.

    >>> named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def data_facts(
    doc: Document, quote: Callable[[object], str], escape: Callable[[object], str]
) -> list[tuple[str, str]]:
    """What was judged, as pairs of a key and a sentence; `quote` also marks off users' words."""
    data = doc["data"]
    facts = [("Data", named([quote(s) for s in data["sources"]]))] if data["sources"] else []
    share = f" ({percent(data['positives'] / data['rows'])})" if data["rows"] else ""
    positives, negatives = amount(data["positives"]), amount(data["negatives"])
    facts.append(
        ("Rows", f"{amount(data['rows'])}: {positives} positive{share}, {negatives} negative")
    )
    positive, negative = (
        "none" if data[k] is None else quote(data[k]) for k in ("positive", "negative")
    )
    column = "" if data["label"] is None else f" in column {quote(data['label'])}"
    rule = f" ({escape(data['rule'])})" if data["rule"] else ""
    facts.append(("Positive", f"{positive}{column}{rule}; negative is {negative}"))
    if data["dropped"]:
        facts.append(("Dropped", f"{counted(data['dropped'], 'row')} with missing values"))
    if data["weight"] is not None:
        plus, minus = data["weight_positives"], data["weight_negatives"]
        share = f" ({percent(plus / (plus + minus))})" if plus + minus else ""
        text = f"{quote(data['weight'])}: {amount(plus)} on positives{share}"
        facts.append(("Weights", f"{text}, {amount(minus)} on negatives"))
    return facts


def model_facts(model: Document) -> list[tuple[str, str]]:
    """What kind of scores a model has, and where they are cut."""
    distinct = counted(model["distinct"], "distinct value")
    ends = (
        f" from {shown(model['lowest'])} to {shown(model['highest'])}" if model["distinct"] else ""
    )
    coarse = "" if model["exact"] else "; coarsened"
    cut = model["cut"]
    return [
        ("Scores", f"{plain(model['kind'])}, {distinct}{ends}{coarse}"),
        (
            "Decision",
            f"{'probability' if model['kind'] == 'logit' else 'score'} >= {cut['threshold']!r} is positive;"
            f" the same for any cut in {same_decisions(cut)}",
        ),
    ]


def grouped(models: Sequence[Document]) -> list[tuple[str, list[Document]]]:
    """Each group's title and its measures, in the order in which the models bring them."""
    groups: dict[str, dict[str, Document]] = {}
    for model in models:
        for measure in model["measures"]:
            groups.setdefault(measure["group"], {}).setdefault(measure["name"], measure)
    return [(TITLES.get(g, plain(g).capitalize()), list(ms.values())) for g, ms in groups.items()]


def find(model: Document, name: str) -> Document | None:
    """The measure of that name."""
    return next((m for m in model["measures"] if m["name"] == name), None)


def best(models: Sequence[Document], name: str) -> int | None:
    """Which model has the better point value; none where the best tie, or one may be infinite."""
    found = [find(model, name) for model in models]
    values = [None if m is None else m["value"] for m in found]
    known = [v for v in values if v is not None]
    better = next((m["better"] for m in found if m is not None), "high")
    # without a value a loss may be infinite, which is worst; anything else might be best
    if len(known) < (2 if better == "low" else max(2, len(models))):
        return None
    if better == "neither":
        return None
    if better == "near":
        target = next(m["expected"] for m in found if m is not None and m["value"] is not None)
        values = [None if v is None else -abs(v - target) for v in values]
        known = [v for v in values if v is not None]
    top = (min if better == "low" else max)(known)
    return values.index(top) if known.count(top) == 1 else None


def baselines(models: Sequence[Document], measures: Sequence[Document]) -> list[str] | None:
    """The baseline of each measure, if it is the same for all models."""
    texts = []
    for measure in measures:
        found = [find(model, measure["name"]) for model in models]
        values = {m["baseline"] for m in found if m is not None}
        if len(values) > 1:
            return None
        texts.append(given(values.pop()))
    return texts


def given(x: float | None) -> str:
    """A number, or nothing where there is none."""
    return "" if x is None else shown(x)


def baseline(measure: Document) -> str:
    """What the value is to be compared with: its baseline, or what calibrated scores would get."""
    known, expected = measure["baseline"], measure.get("expected")
    if known is None and expected is not None:
        return shown(expected, _digits(measure))  # as many decimals as the value that it is beside
    return given(known)


def chance(p: float) -> str:
    """A p-value in words.

    >>> chance(0.03), chance(0.000999), chance(0.0)
    ('p = 0.030', 'p = 0.001', 'p < 1e-300')
    """
    return f"p = {chance_digits(p)}" if p > 1e-300 else "p < 1e-300"


def chance_digits(p: float) -> str:
    """A p-value, to three decimals where that says enough."""
    return f"{p:.3f}" if p >= 0.00095 else number(p)


def differences(doc: Document, mark: Callable[[object], str]) -> list[str]:
    """Each difference of two models as a line."""
    pairs = doc["differences"]
    return [
        f"{d['title']} {mark(d['first'])} - {mark(d['second'])}: {_gap(d, pairs)}" for d in pairs
    ]


def _gap(d: Document, pairs: Sequence[Document]) -> str:
    if d["value"] is None:
        return f"{shown(None)}  {d['why']}"
    text = f"{value(d)} {interval(d)}"
    several = sum(other["measure"] == d["measure"] for other in pairs) > 1
    if d["p"] is not None:
        text += f", {chance(d['p'])}"
        text += f" ({chance(d['p_adjusted'])} by Holm)" if several else ""
    return text + f"; {d['method']}"

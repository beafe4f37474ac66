"""What cases of two classes, of several and of raters share: rows with weights, comparing, and laws."""

import math
from dataclasses import replace

import numpy as np

from scorewise import BadInput

UNDEFINED = object()  # what an oracle says where the definition gives no value
# reasons for which a value that exists is not told
CAREFUL = ("too rare for floating point", "too uneven", "fewer than", "too large",
           "does not vary", "beyond the largest number", "certain probabilities", "one row")  # fmt: skip
UNITS = (1e-30, 0.1, 10.0, 1e30)


class Rows:
    """Rows as a caller would pass them: columns of one length, of which weights and counts may be none."""

    def at(self, which):
        """Some of the rows, or all in another order."""
        columns = {k: v for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **{k: column[which] for k, column in columns.items()})


def weights(case, n, many=5):
    """Weights or counts of some rows, or none of either: whole, broken, equal or very far apart."""
    how = case.one(
        "none", "count", "whole", "broken", "apart", "equal", p=(0.5, 0.15, 0.1, 0.15, 0.06, 0.04)
    )
    if how == "none":
        return {}
    if how == "count":
        return {"count": case.rng.integers(0, many, n)}
    found = {
        "whole": case.rng.integers(0, 5, n) * 1.0,
        "broken": case.rng.uniform(0.01, 5, n),
        "apart": 10.0 ** (case.rng.uniform(-1, 1, n) * case.one(5, 15, 45, 45)),
        "equal": np.full(n, 3.0),
    }[how]
    return {"weight": found} if found.any() else {}


def answer(case, what, function, *args, **options):
    """The estimate; a refusal, of rows that were taken, is a finding as much as an error."""
    found = case.call(what, function, *args, **options)
    if isinstance(found, BadInput):
        case.wrong(f"{what}: refused", found)
        return None
    return found


def compare(case, m, e, expected, *, uneven, rel, options, careful=CAREFUL):
    """The value against that of the oracle, which is a number, UNDEFINED, or None if it cannot tell."""
    if expected is None:
        return
    case.covered[m.name] += 1
    if expected is UNDEFINED:
        # what is nothing beside other weights may still be told
        if e.defined and not uneven:
            case.wrong(f"{m.name}: defined where it should not be", f"{options} {e!r}")
    elif not e.defined and math.isfinite(expected):
        if not any(reason in e.why for reason in careful):
            case.wrong(
                f"{m.name}: undefined where it should not be",
                f"{options} {e.why!r} {float(expected)!r}",
            )
    elif not case.near(f"{m.name}: value", e.value, float(expected), rel, rel / 10):
        case.found[-1].detail += f" {options}"


def laws(case, rows, made, judge, some, further=None):
    """What must not matter: order, shards, repetition, unit of weights; levels nest. `made` tallies rows.

    `further` are other ways to make the same, by name.
    """
    which = case.one("order", "shards", "repetition", "unit", "levels", *(further or {}))
    case.covered[f"law: {which}"] += 1
    one = made(rows)
    if which == "levels":
        for m in some:
            found = [
                answer(case, m.name, judge, m, one, level=level) for level in (0.8, 0.95, 0.99)
            ]
            if None not in found:
                case.nested(m.name, *found)
        return
    other = further[which]() if which in (further or {}) else changed(case, rows, made, which)
    for m in some if other is not None else ():
        a, b = (answer(case, m.name, judge, m, x) for x in (one, other))
        if a is not None and b is not None:
            case.alike(
                f"{m.name}: {which} matters",
                a,
                b,
                1e-3 if uneven(rows.weight) else 1e-5,
                drawn=rows.weight is not None and m.group == "calibration" and "seed" in m.options,
            )


def uneven(weight):
    """Whether weights are so far apart that floats lose digits of some."""
    used = [] if weight is None else weight[weight > 0]
    return len(used) > 0 and max(used) > 1e6 * min(used)


def changed(case, rows, made, which):
    """The tally of the same rows, made another way; None where there is none."""
    n = len(next(v for v in vars(rows).values() if isinstance(v, np.ndarray)))
    if which == "order":
        return made(rows.at(case.rng.permutation(n)))
    if which == "repetition" and rows.count is not None and rows.count.sum() < 10**5:
        return made(replace(rows.at(np.repeat(np.arange(n), rows.count)), count=None))
    if which == "unit" and rows.weight is not None:
        return made(replace(rows, weight=rows.weight * case.one(*UNITS)))
    if which != "shards" or not n:
        return None
    part = case.rng.integers(0, 3, n)
    if rows.weight is not None:  # a part of which no row weighs anything is refused
        part[rows.weight == 0] = part[np.argmax(rows.weight > 0)]
    first, *rest = (made(rows.at(part == k)) for k in range(3))
    return sum(rest, first)

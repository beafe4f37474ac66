"""Raters: every measure, with weights and scales, against fractions and other packages; their laws."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from fuzz.measured import CAREFUL, UNDEFINED, Rows, answer, compare, laws, weights
from scorewise import Ratings, measures
from scorewise.inference.agreement_weights import BY_SCALE, NAMES
from scorewise.registry import RATER_MEASURES

assert measures
NUMBERS = {"low": (1, 2, 3, 4, 5), "zero": (0, 1, 2, 5, 9), "wild": (-3.5, 1e-9, 0.25, 7, 1e6)}


@dataclass(frozen=True)
class Items(Rows):
    """Items x raters of the places of categories, -1 where an item was not rated."""

    codes: np.ndarray
    values: tuple
    scale: str
    weight: np.ndarray | None = None
    count: np.ndarray | None = None

    @property
    def columns(self):
        numbers = np.array([*self.values, np.nan])
        return {f"rater{k}": numbers[c] for k, c in enumerate(self.codes.T)}

    @property
    def ratings(self):
        return Ratings.of(
            self.columns,
            scale=self.scale,
            categories=list(self.values),
            weight=self.weight,
            count=self.count,
        )


def drawn(case):
    rng, one = case.rng, case.one
    n, raters, many = int(one(0, 1, 2, 4, 8, 20, 60)), int(one(2, 2, 3, 5)), int(one(2, 2, 3, 5))
    truth = rng.integers(0, many, (n, 1)) if case.chance(0.7) else np.zeros((n, 1), int)
    codes = np.where(
        rng.random((n, raters)) < one(0.0, 0.5, 0.9, 1.0), truth, rng.integers(0, many, (n, raters))
    )
    codes[rng.random(codes.shape) < one(0.0, 0.0, 0.2, 0.6)] = -1
    scale = one("nominal", "ordinal", "interval", "ratio")
    values = NUMBERS[one("low", "zero", "wild" if scale != "ratio" else "low")]
    return Items(codes, values[:many], scale, **weights(case, n, int(one(4, 1000))))


def apart(values, name):
    """The disagreement of each two categories, as Gwet (2014) writes the weights."""
    v, q = [Fraction(x) for x in values], len(values)
    low, high = min(v), max(v)
    around = [[math.sin(math.pi * float((a - b) / (high - low + 1))) ** 2 for b in v] for a in v]
    formulas = {
        "identity": lambda i, j: Fraction(i != j),
        "linear": lambda i, j: abs(v[i] - v[j]) / (high - low),
        "quadratic": lambda i, j: (v[i] - v[j]) ** 2 / (high - low) ** 2,
        "ordinal": lambda i, j: Fraction(math.comb(abs(i - j) + 1, 2), math.comb(q, 2)),
        "radical": lambda i, j: Fraction(math.sqrt(abs(v[i] - v[j]) / (high - low))),
        "ratio": lambda i, j: (
            (((v[i] - v[j]) / (v[i] + v[j])) / ((high - low) / (high + low))) ** 2
        ),
        "circular": lambda i, j: Fraction(around[i][j] / max(map(max, around))),
        "bipolar": lambda i, j: (
            (v[i] - v[j]) ** 2 / ((v[i] + v[j] - 2 * low) * (2 * high - v[i] - v[j]))
        ),
    }
    return [[Fraction(0) if i == j else formulas[name](i, j) for j in range(q)] for i in range(q)]


class Said:
    """Items that have a rating and weigh something, with weights as fractions."""

    def __init__(self, items):
        n = len(items.codes)
        one = (
            [Fraction(1)] * n
            if items.weight is None
            else [Fraction(float(w)) for w in items.weight]
        )
        times = [1] * n if items.count is None else items.count.tolist()
        used = [i for i in range(n) if one[i] * times[i] and (items.codes[i] >= 0).any()]
        self.rows = [items.codes[i].tolist() for i in used]
        self.w = [one[i] * times[i] for i in used]
        self.w2 = [one[i] ** 2 * times[i] for i in used]
        self.raters, self.q = items.codes.shape[1], len(items.values)
        # of ordinal ratings only the order counts
        self.values = items.values if items.scale != "ordinal" else tuple(range(self.q))
        self.scale = items.scale

    def only(self, kept, raters=None):
        made = object.__new__(Said)
        made.__dict__.update(self.__dict__)
        at = [i for i, row in enumerate(self.rows) if kept(row)]
        made.rows = [[self.rows[i][r] for r in raters or range(self.raters)] for i in at]
        made.w, made.w2 = [self.w[i] for i in at], [self.w2[i] for i in at]
        made.raters = len(raters or range(self.raters))
        return made

    @property
    def paired(self):
        return self.only(lambda row: sum(c >= 0 for c in row) > 1)

    @property
    def worth(self):
        return sum(self.w) ** 2 / sum(self.w2)

    def mean(self, of, weigh=lambda row: 1):
        return sum(w * weigh(r) * of(r) for r, w in zip(self.rows, self.w, strict=True)) / sum(
            w * weigh(r) for r, w in zip(self.rows, self.w, strict=True)
        )


def given(row):
    return [c for c in row if c >= 0]


def within(row, d):
    """The mean disagreement of two ratings of an item."""
    pairs = list(permutations(given(row), 2))
    return sum(d[a][b] for a, b in pairs) / len(pairs)


def shares(x, weigh=lambda row: 1):
    return [
        x.mean(lambda r, k=k: Fraction(given(r).count(k), len(given(r))), weigh) for k in range(x.q)
    ]


def spread(p, s, d):
    return sum(a * b * d[i][j] for i, a in enumerate(p) for j, b in enumerate(s))


def by_rater(x, r):
    rated = x.only(lambda row: row[r] >= 0)
    return [rated.mean(lambda row, k=k: row[r] == k) for k in range(x.q)]


def chance_of(name, x, d):
    """The disagreement by chance."""
    if name == "percent_agreement":
        return 1
    if name in ("fleiss_kappa", "scott_pi"):
        return spread(shares(x), shares(x), d)
    if name == "brennan_prediger":
        return sum(map(sum, d)) / x.q**2
    if name == "gwet_ac":
        return 1 - sum(p * (1 - p) for p in shares(x)) * (x.q**2 - sum(map(sum, d))) / (
            x.q * (x.q - 1)
        )
    if x.rows and any(max(row[r] for row in x.rows) < 0 for r in range(x.raters)):
        return None  # a rater who said nothing
    pairs = list(combinations([by_rater(x, r) for r in range(x.raters)], 2))
    return sum(spread(p, s, d) for p, s in pairs) / len(pairs)


def coefficient(name):
    def oracle(x, weights):
        d = apart(x.values, weights)
        if name in ("cohen_kappa", "scott_pi"):
            if x.raters != 2:
                return UNDEFINED
            x = x.paired
        elif name == "percent_agreement":
            x = x.paired
        chance = chance_of(name, x, d)
        return None if chance is None else 1 - x.paired.mean(lambda r: within(r, d)) / chance

    return oracle


def light(x, weights):
    found = []
    for a, b in combinations(range(x.raters), 2):
        both = x.only(lambda row, a=a, b=b: row[a] >= 0 and row[b] >= 0, (a, b))
        if both.worth <= 1:
            return UNDEFINED
        found.append(coefficient("cohen_kappa")(both, weights))
    return sum(found) / len(found)


def alpha(x, weights):
    x = x.paired
    ratings = x.mean(lambda r: len(given(r)))
    p = shares(x, lambda r: len(given(r)))
    if weights == "midranks":
        rank = [sum(p[:k]) + p[k] / 2 for k in range(x.q)]
        d = [[(a - b) ** 2 for b in rank] for a in rank]
    else:
        d = apart(x.values, weights)
    seen = x.mean(lambda r: within(r, d), lambda r: len(given(r))) * (1 - 1 / (ratings * x.worth))
    return 1 - seen / spread(p, p, d)


def table(x):
    """Weights and squared weights of the table of two raters."""
    both = x.paired
    found = [[[Fraction(0)] * x.q for _ in range(x.q)] for _ in range(2)]
    for (a, b), w, w2 in zip(both.rows, both.w, both.w2, strict=True):
        found[0][a][b] += w
        found[1][a][b] += w2
    return found


def two_raters(oracle):
    return lambda x, *weights: oracle(x, *weights) if x.raters == 2 and x.paired.rows else UNDEFINED


def kappa_max(x, weights):
    """The table with the same margins that agrees most: both raters put the items in one order.

    The tests find the same by linear programming, whose tolerance is too wide for small shares.
    """
    if weights not in ("identity", "linear", "quadratic"):
        return None
    d, x = apart(x.values, weights), x.paired
    a, b = by_rater(x, 0), by_rater(x, 1)
    chance, least = spread(a, b, d), Fraction(0)
    if weights == "identity":
        return 1 - (1 - sum(map(min, a, b))) / chance
    order = sorted(range(x.q), key=lambda k: x.values[k])
    left, right = ([[p[k], k] for k in order if p[k]] for p in (a, b))
    while left and right:
        moved = min(left[0][0], right[0][0])
        least += moved * d[left[0][1]][right[0][1]]
        for side in (left, right):
            side[0][0] -= moved
            if not side[0][0]:
                side.pop(0)
    return 1 - least / chance


def stuart_maxwell(x):
    if min(x.w) < Fraction(1, 10**4) * max(x.w):
        return None
    w, w2 = (np.array(t, float) / float(max(map(max, t))) for t in table(x))
    apart = w.sum(1) - w.sum(0)
    factor = float(max(map(max, table(x)[0])) ** 2 / max(map(max, table(x)[1])))
    s = np.diag(w2.sum(1) + w2.sum(0)) - w2 - w2.T
    return apart @ np.linalg.pinv(s, rcond=1e-10, hermitian=True) @ apart * factor


def bowker(x):
    w, w2 = table(x)
    pairs = [(i, j) for i, j in combinations(range(x.q), 2) if w2[i][j] + w2[j][i]]
    return sum(((w[i][j] - w[j][i]) ** 2 / (w2[i][j] + w2[j][i]) for i, j in pairs), Fraction(0))


def two_categories(of):
    def oracle(x):
        w, _ = table(x)
        return of(w) / sum(map(sum, w)) if x.q == 2 else UNDEFINED

    return oracle


def icc(kind, mean):
    def oracle(x):
        if x.scale == "nominal":
            return UNDEFINED
        if kind > 1:
            x = x.only(lambda row: min(row) >= 0)
        if not x.rows or x.worth <= 1:
            return UNDEFINED
        number = [Fraction(v) for v in x.values]
        rows = [[number[c] for c in given(row)] for row in x.rows]
        w = [w * sum(x.w) / sum(x.w2) for w in x.w]  # which add up to the items they are worth
        n, total = sum(w), sum(a * len(r) for a, r in zip(w, rows, strict=True))
        grand = sum(a * sum(r) for a, r in zip(w, rows, strict=True)) / total
        between = sum(
            a * len(r) * (sum(r) / len(r) - grand) ** 2 for a, r in zip(w, rows, strict=True)
        ) / (n - 1)
        off = sum(
            a * sum((v - sum(r) / len(r)) ** 2 for v in r) for a, r in zip(w, rows, strict=True)
        )
        if kind == 1:
            if total == n:
                return UNDEFINED
            k = (total - sum(a * len(r) ** 2 for a, r in zip(w, rows, strict=True)) / total) / (
                n - 1
            )
            k = max(k, 1)
            rest = off / (total - n)
            return (between - rest) / (between if mean else between + (k - 1) * rest)
        k = x.raters
        columns = [sum(a * r[c] for a, r in zip(w, rows, strict=True)) / n for c in range(k)]
        raters = n * sum((c - grand) ** 2 for c in columns)
        rest = (off - raters) / ((n - 1) * (k - 1))
        raters /= k - 1
        if kind == 3:
            return (between - rest) / (between if mean else between + (k - 1) * rest)
        extra = (raters - rest) / n
        below = between + extra if mean else between + (k - 1) * rest + k * extra
        # a variance that is not positive, of single ratings or of means, leaves nothing to compare
        if between + (k - 1) * rest + k * extra <= 0 or below <= 0:
            return UNDEFINED
        return (between - rest) / below

    return oracle


WEIGHED = {
    "percent_agreement",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "brennan_prediger",
    "cohen_kappa",
    "scott_pi",
}
ORACLES = {
    **{name: coefficient(name) for name in WEIGHED},
    "light_kappa": light, "krippendorff_alpha": alpha, "kappa_max": two_raters(kappa_max),
    "stuart_maxwell": two_raters(stuart_maxwell), "bowker": two_raters(bowker),
    "bias_index": two_raters(two_categories(lambda w: w[0][1] - w[1][0])),
    "prevalence_index": two_raters(two_categories(lambda w: w[0][0] - w[1][1])),
    **{f"icc_{k}_{m}": icc(k, m == "k") for k in (1, 2, 3) for m in "1k"},
}  # fmt: skip
METRICS = {"nominal": "identity", "ordinal": "midranks", "interval": "quadratic", "ratio": "ratio"}
SILENT = (*CAREFUL, "one item", "no room", "by chance alone", "do not differ", "add up to nothing",
          "all ratings are", "one rater", "no item")  # fmt: skip


def compared(case, m, items, r, said):
    options, name = (
        {},
        METRICS[items.scale] if m.name == "krippendorff_alpha" else BY_SCALE[items.scale],
    )
    if "weights" in m.options and case.chance(0.5):
        name = case.one(*[w for w in NAMES if w != "ratio" or min(items.values) >= 0])
        options["weights"] = name
    if "interval" in m.options and case.chance(0.1):
        options["interval"] = "bootstrap"
        options |= {"replicates": 40} if "replicates" in m.options else {}
    e = answer(case, m.name, m, r, **options)
    if e is None:
        return
    case.lawful(m.name, m, e)
    tested = e.p is not None and m.better == "high" and not m.name.startswith("icc")
    if tested and e.p > 0.3 and not e.low <= 0 <= e.high and not e.caution:
        case.wrong(f"{m.name}: excludes chance", f"{e!r} with p {e.p:.3g}; {options}")
    try:
        expected = UNDEFINED
        if said.rows:
            expected = ORACLES[m.name](said, *([name] if "weights" in m.options else []))
        if isinstance(expected, int | float | Fraction) and abs(expected) > 10**5:  # beside a pole
            return
    except ZeroDivisionError:
        expected = UNDEFINED
    uneven = bool(said.w) and min(said.w) < Fraction(1, 10**6) * max(said.w)
    compare(
        case,
        m,
        e,
        expected,
        uneven=uneven,
        rel=1e-3 if uneven else 1e-7,
        options=options,
        careful=SILENT,
    )
    if e.defined and case.chance(0.3):
        outside(case, m, items, e, name)


def outside(case, m, items, e, name):
    """The same by irrCAC, krippendorff and scikit-learn, of plain nominal ratings."""
    import rater_oracles
    from rater_cases import RaterCase

    plain = items.weight is None and items.count is None and name == "identity"
    if not plain or m.name not in WEIGHED | {"krippendorff_alpha"} or len(items.codes) < 4:
        return
    x = np.where(items.codes < 0, np.nan, items.codes + 1.0)
    x = x[~np.isnan(x).all(1)]
    if np.isnan(x).all(0).any() or len(np.unique(x[~np.isnan(x)])) < 2:
        return
    try:
        with np.errstate(all="ignore"):
            expected = float(rater_oracles.RATER_ORACLES[m.name](RaterCase(x, len(items.values))))
    except (ValueError, ZeroDivisionError, KeyError):
        return
    if math.isfinite(expected):
        case.covered[f"{m.name} outside"] += 1
        case.near(f"{m.name}: by another package", e.value, expected, 1e-6, 1e-6)


def long(items):
    """The same ratings one by one, where that can be."""
    if items.weight is not None or items.count is not None or not (items.codes >= 0).any(0).all():
        return None
    at, who = np.nonzero(items.codes >= 0)
    names, numbers = (
        np.array(list(items.columns))[who],
        np.array(items.values)[items.codes[at, who]],
    )
    return Ratings.of_long(at, names, numbers, scale=items.scale, categories=list(items.values))


def raters(case):
    """One case of raters."""
    items = drawn(case)
    case.inputs = {"items": items}
    r = case.call("Ratings.of", lambda: items.ratings)
    if r is None or isinstance(r, Exception):
        return
    said = Said(items)
    for m in RATER_MEASURES.values():
        compared(case, m, items, r, said)
    some = [m for m in RATER_MEASURES.values() if m.name != "bias_index"]  # which turns round
    further = {
        "raters": lambda: replace(items, codes=items.codes[:, ::-1]).ratings,
        "long": lambda: long(items),
    }
    laws(case, items, lambda x: x.ratings, lambda m, r, **options: m(r, **options), some, further)

"""Several classes: every measure, with options, against fractions and loops over rows; and their laws."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from scipy import optimize, special

from class_oracles import mean_risk
from fuzz import exact
from fuzz.exact import Cells, decimal_ratio
from fuzz.measured import UNDEFINED, Rows, answer, compare, laws, weights
from scorewise import ClassTally, measures
from scorewise.inference.class_resampling import ClassSample, pairs_of_rows
from scorewise.registry import CLASS_MEASURES

assert measures


@dataclass(frozen=True)
class Scored(Rows):
    """Labels, which are the numbers of the columns, and a score for each class."""

    y: np.ndarray
    scores: np.ndarray
    kind: str
    weight: np.ndarray | None = None
    count: np.ndarray | None = None

    @property
    def tally(self):
        return ClassTally.of(
            self.y, self.scores, kind=self.kind, weight=self.weight, count=self.count,
            classes=range(self.scores.shape[1]),
        )  # fmt: skip


def drawn(case):
    """Rows with ties, certain and impossible classes, classes that do not occur, weights and counts."""
    rng, one = case.rng, case.one
    k, n = int(one(2, 3, 3, 4, 6)), int(one(0, 1, 2, 4, 8, 16, 30))
    kind = one("probability", "probability", "logit")
    if kind == "logit":
        scores = rng.normal(0, one(0.1, 2, 30), (n, k)).round(int(one(0, 1, 15)))
        scores = scores + one(0, 0, 800, -1e5)
    else:
        parts = rng.choice([0.0, 1, 1, 2, 3, 5, 1000, 1e-18, 5e-324, 1e-300], (8, k), p=[0.1] * 10)
        parts[~parts.any(1)] = 1.0
        scores = (parts / parts.sum(1, keepdims=True))[rng.integers(0, 8, n)]
        if case.chance(0.5):
            scores = rng.dirichlet([one(0.1, 1, 5)] * k, n).round(int(one(3, 15)))
            scores /= scores.sum(1, keepdims=True)
        if case.chance(0.1):  # within what is allowed
            scores = np.clip(scores * one(0.995, 1.004), 0, 1)
    used = rng.permutation(k)[: int(rng.integers(1, k + 1))]
    y = rng.choice(used, n)
    if n and case.chance(0.5):
        y = np.array([rng.choice(k, p=p / p.sum()) for p in softmax(scores, kind)])
    return Scored(y.astype(int), scores, kind, **weights(case, n, int(one(4, 60))))


def softmax(scores, kind):
    if kind != "logit":
        return scores
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


class Table:
    """The rows that weigh something: labels, probabilities, decisions and weights as fractions."""

    def __init__(self, rows):
        n = len(rows.y)
        w = [Fraction(1)] * n if rows.weight is None else [Fraction(float(x)) for x in rows.weight]
        times = [1] * n if rows.count is None else rows.count.tolist()
        used = [i for i in range(n) if w[i] * times[i]]
        self.kind, self.k, self.scores = rows.kind, rows.scores.shape[1], rows.scores[used]
        self.y, self.p = rows.y[used], softmax(rows.scores, rows.kind)[used]
        self.called = self.scores.argmax(1) if used else self.y
        self.w, self.times = [w[i] * times[i] for i in used], [times[i] for i in used]
        self.one = [w[i] for i in used]
        self.total = sum(self.w, Fraction(0))
        self.there = sorted(set(self.y.tolist()))
        gaps = np.diff(np.unique(self.p))
        self.blurred = rows.kind == "logit" and ((gaps > 0) & (gaps < 1e-13)).any()
        self.uneven = bool(self.w) and min(self.w) < Fraction(1, 10**6) * max(self.w)

    def cells(self, up, score):
        return Cells(up, score, "probability", self.one, self.times)

    def against_rest(self, c):
        return self.cells(self.y == c, self.p[:, c])

    @property
    def top(self):
        return self.cells(self.called == self.y, np.minimum(self.p.max(1), 1.0))

    def confusion(self):
        table = [[Fraction(0)] * self.k for _ in range(self.k)]
        for y, c, w in zip(self.y, self.called, self.w, strict=True):
            table[y][c] += w
        truth, calls = [sum(row) for row in table], [sum(col) for col in zip(*table, strict=True)]
        return [table[c][c] for c in range(self.k)], truth, calls

    def mean(self, values):
        return math.fsum(float(w / self.total) * v for w, v in zip(self.w, values, strict=True))

    def sample(self):
        """Rows one by one, equal ones joined as often as their weights are worth; and shares of weight."""
        sums = {}
        for i, (y, w, one, times) in enumerate(
            zip(self.y, self.w, self.one, self.times, strict=True)
        ):
            found = sums.setdefault((y, *(self.scores[i] + 0.0)), [i, 0, 0])
            found[1], found[2] = found[1] + w, found[2] + one * one * times
        at, share = [], []
        for i, w, w2 in sums.values():
            many = max(round(w * w / w2), 1)
            at += [i] * many
            share += [w / self.total / many] * many
        p = self.p[at]
        return self.y[at], p / p.sum(1, keepdims=True), np.array(share, float)


def mean_of(values):
    return sum(values) / len(values)


def f1s(t):
    hit, truth, calls = t.confusion()
    return {c: 2 * hit[c] / (truth[c] + calls[c]) for c in range(t.k) if truth[c] + calls[c]}, truth


def kappa(t):
    hit, truth, calls = t.confusion()
    chance = sum(a * b for a, b in zip(truth, calls, strict=True)) / t.total**2
    return (sum(hit) / t.total - chance) / (1 - chance)


def mcc(t):
    hit, truth, calls = t.confusion()
    both = sum(a * b for a, b in zip(truth, calls, strict=True))
    squares = [t.total**2 - sum(x * x for x in side) for side in (truth, calls)]
    return decimal_ratio(sum(hit) * t.total - both, squares[0] * squares[1])


def ordered(formula):
    return lambda t: None if t.blurred else UNDEFINED if len(t.there) < 2 else formula(t)


def hand_till(t):
    found = []
    for a, b in permutations(t.there, 2):
        used = [i for i, y in enumerate(t.y) if y in (a, b)]
        weights = [t.one[i] for i in used], [t.times[i] for i in used]
        found.append(exact.auroc(Cells(t.y[used] == a, t.p[used, a], "probability", *weights)))
    return mean_of(found)


def micro_auroc(t):
    own = (t.y[:, None] == np.arange(t.k)).ravel()
    one, times = ([x for x in side for _ in range(t.k)] for side in (t.one, t.times))
    return exact.auroc(Cells(own, t.p.ravel(), "probability", one, times))


def log_loss(t, clip=None):
    at = t.p[np.arange(len(t.y)), t.y]
    if clip is not None:
        return t.mean(-np.log(np.clip(at, clip, 1 - clip)))
    if t.kind == "logit":
        return t.mean(special.logsumexp(t.scores, axis=1) - t.scores[np.arange(len(t.y)), t.y])
    return t.mean(-np.log(at)) if (at > 0).all() else math.inf


def brier(t, convention="sum"):
    own = t.y[:, None] == np.arange(t.k)
    # rows that add up to a little more than 1 may lose more than the most there is
    found = min(t.mean(((t.p - own) ** 2).sum(1)), 2.0)
    return found / (1 if convention == "sum" else 2)


def spherical(t):
    return t.mean([1 - p[y] / math.hypot(*p) for y, p in zip(t.y, t.p, strict=True)])


def rps(t):
    below = np.cumsum(t.p, 1)[:, :-1] - (t.y[:, None] <= np.arange(t.k - 1))
    return t.mean((below**2).sum(1) / (t.k - 1))


def kept(t):
    """Of each confidence, from the surest down: weight, squares and what is wrong."""
    return [
        (float(c.w / t.total), float(c.w2 / t.total**2), float(c.neg / t.total))
        for c in reversed(t.top.list)
    ]


def excess_aurc(t):
    cells = t.top
    right = cells.pos / t.total, sum(c.pos2 for c in cells.list) / t.total**2, 0
    wrong = [
        (c.neg / t.total, c.neg2 / t.total**2, c.neg / t.total)
        for c in reversed(cells.list)
        if c.neg
    ]
    best = [tuple(map(float, x)) for x in ([right] if right[0] else []) + wrong]
    return max(0.0, mean_risk(kept(t)) - mean_risk(best))


def augrc(t):
    total = missed = Fraction(0)
    for c in reversed(t.top.list):
        total += c.w * (missed + c.neg / 2)
        missed += c.neg
    return total / t.total**2


def topped(oracle):
    def of_top(t, **options):
        return None if t.blurred else oracle(t.top, **options)

    return of_top


def classwise_ece(t, bins=15, binning="width", norm=1):
    parts = []
    for c in range(t.k):
        cells = t.against_rest(c)
        index = exact.index_of(cells, bins, binning)
        if index is None or t.blurred:
            return None
        if t.kind == "logit" and any(
            1e-16 < abs(x.p * bins - round(x.p * bins)) < 1e-9 for x in cells.list
        ):
            return None
        parts += exact.gaps_of(cells, index, t.k)
    return exact.normed(parts, norm)


def alone(share):
    return (share**2).sum() > 1 - 1e-9


def canonical_ce(t, norm=1, smoothed="labels", bandwidth=None):
    """Dirichlet kernels on the other rows, row by row; the bandwidth likeliest without the row itself."""
    y, p, share = t.sample()
    if alone(share):
        return UNDEFINED if (share**2).sum() > 1 - 1e-13 else None
    if len(y) > 300:
        return None
    own, log = np.eye(t.k)[y], np.log(np.maximum(p, np.finfo(float).tiny))

    def kernels(h):
        found = []
        for i in range(len(y)):  # the density at row i of the distribution around each other row
            a = p / h + 1
            scale = special.gammaln(a.sum(1)) - special.gammaln(a).sum(1)
            found.append(scale + ((a - 1) * log[i]).sum(1) + np.log(share))
            found[i][i] = -np.inf
        return np.array(found)

    if bandwidth is None:
        sizes = [*np.logspace(-5, -1, 15), *np.linspace(0.2, 1, 5)]
        likely = [(share * special.logsumexp(kernels(h), axis=1)).sum() for h in sizes]
        first, second = sorted(likely)[-2:][::-1]
        if first - second < 1e-9 * (1 + abs(first)):
            return None
        bandwidth = sizes[int(np.argmax(likely))]
    weights = special.softmax(kernels(bandwidth), axis=1)
    gap = weights @ own - p if smoothed == "labels" else weights @ (own - p)
    return (share[:, None] * np.abs(gap) ** norm).sum() ** (1 / norm)


def skce(t, distance="total variation", width=None):
    y, p, share = t.sample()
    if len(y) > pairs_of_rows(t.k):  # of which the measure takes a sample
        return None
    if alone(share):
        return UNDEFINED if (share**2).sum() > 1 - 1e-13 else None
    far = np.abs(p[:, None] - p).sum(2) / 2
    if distance == "euclidean":
        far = np.sqrt(((p[:, None] - p) ** 2).sum(2))
    pairs = ~np.eye(len(y), dtype=bool)
    width = width or max(float(np.median(far[np.triu_indices(len(y), 1)])), 0.05)
    gap = np.eye(t.k)[y] - p
    each = np.outer(share, share) * np.exp(-far / width) * (gap @ gap.T)
    return each[pairs].sum() / np.outer(share, share)[pairs].sum()


def calibration_gain(t, tally, folds=5):
    """Each fold by the temperature that is best on the others, by search; the project deals the rows."""
    s = ClassSample.of(tally, 4096).shuffled(0)
    if len(s) < folds:
        return UNDEFINED
    log, n = np.log(np.maximum(s.p, 1e-15)), len(s)
    fold = np.searchsorted(np.arange(folds) * n // folds, np.arange(n), side="right") - 1

    def losses(b):
        return special.logsumexp(b * log, axis=1) - b * log[np.arange(n), s.y]

    saved, end = losses(1.0), math.log(32)
    for f in range(folds):
        rest = fold != f

        def total(x, rest=rest):
            return (s.weight * losses(math.exp(x)))[rest].sum()

        x = optimize.minimize_scalar(
            total, bounds=(-end, end), method="bounded", options={"xatol": 1e-9}
        ).x
        if (
            min(total(max(x - 0.1, -end)), total(min(x + 0.1, end))) - total(x)
            < 1e-8 * s.weight[rest].sum()
        ):
            return None  # so flat that rounding chooses
        saved[~rest] -= losses(math.exp(x))[~rest]
    return (s.weight * saved).sum()


calibration_gain.dealt = True
TOP = ("ece", "max_ce", "ce_l2_debiased", "smece", "ece_sweep")  # of two classes, of the confidence
ORACLES = {
    "accuracy": lambda t: sum(t.confusion()[0]) / t.total,
    "balanced_accuracy": lambda t: UNDEFINED if len(t.there) < 2 else mean_of(
        [t.confusion()[0][c] / t.confusion()[1][c] for c in t.there]),
    "macro_precision": lambda t: mean_of(
        [h / c for h, _, c in zip(*t.confusion(), strict=True) if c]),
    "macro_f1": lambda t: mean_of(list(f1s(t)[0].values())),
    "weighted_f1": lambda t: sum(f * f1s(t)[1][c] for c, f in f1s(t)[0].items()) / t.total,
    "kappa": kappa,
    "mcc": mcc,
    "macro_auroc": ordered(lambda t: mean_of([exact.auroc(t.against_rest(c)) for c in t.there])),
    "weighted_auroc": ordered(lambda t: sum(
        exact.auroc(t.against_rest(c)) * t.confusion()[1][c] / t.total for c in t.there)),
    "micro_auroc": ordered(micro_auroc),
    "hand_till": ordered(hand_till),
    "macro_average_precision": ordered(
        lambda t: mean_of([exact.average_precision(t.against_rest(c)) for c in t.there])),
    "log_loss": log_loss, "brier": brier, "spherical": spherical, "rps": rps,
    "aurc": lambda t: None if t.blurred else mean_risk(kept(t)),
    "excess_aurc": lambda t: None if t.blurred else excess_aurc(t),
    "augrc": lambda t: None if t.blurred else augrc(t),
    **{name: topped(exact.ORACLES[name]) for name in TOP},
    "classwise_ece": classwise_ece, "canonical_ce": canonical_ce, "skce": skce,
    "calibration_gain": calibration_gain,
}  # fmt: skip
WITHIN = {"smece": 3e-4, "canonical_ce": 1e-5, "calibration_gain": 1e-5}


def options_of(case, name):
    one = case.one
    if case.chance(0.5):
        return {}, None
    bins = {"bins": int(one(1, 2, 10, 20)), "binning": one("width", "mass", "value")}
    return {
        "ece": (bins | {"norm": one(1.0, 2.0, math.inf)}, None),
        "classwise_ece": (bins | {"norm": one(1, 2, 3.0, math.inf)}, None),
        "max_ce": (bins, None),
        "ce_l2_debiased": (bins | {"squared": True}, (-1.0, 1.0)),
        "canonical_ce": ({"norm": one(1, 2), "smoothed": one("labels", "gaps"),
                          "bandwidth": one(0.001, 0.1, None)}, None),
        "skce": ({"distance": one("total variation", "euclidean"), "width": one(None, 0.1, 1.0)}, None),
        "calibration_gain": ({"folds": int(one(2, 3, 10))}, None),
        "log_loss": ({"clip": one(1e-15, 1e-3)}, None),
        "brier": ({"convention": "half"}, (0.0, 1.0)),
    }.get(name, ({}, None))  # fmt: skip


def compared(case, m, t, table):
    options, bounds = options_of(case, m.name)
    e = answer(case, m.name, m, t, **options)
    if e is None:
        return
    case.lawful(m.name, m, e, bounds)
    oracle, expected, taken = ORACLES[m.name], UNDEFINED, (table,)
    taken += (t,) if hasattr(oracle, "dealt") else ()
    try:
        expected = oracle(*taken, **options) if table.total else UNDEFINED
    except ZeroDivisionError:
        expected = UNDEFINED
    if not (table.uneven and m.group == "calibration"):
        rel = max(WITHIN.get(m.name, 0.0), 1e-3 if table.uneven else 1e-8)
        compare(case, m, e, expected, uneven=table.uneven, rel=rel, options=options)


def classes(case):
    """One case of several classes."""
    rows = drawn(case)
    case.inputs = {"rows": rows}
    t = case.call("ClassTally.of", lambda: rows.tally)
    if t is None or isinstance(t, Exception):
        return
    table = Table(rows)
    every = list(CLASS_MEASURES.values())
    for m in every:
        if m.group != "calibration" or case.chance(0.6):
            compared(case, m, t, table)
    some = [every[k] for k in case.rng.permutation(len(every))[:8]]
    laws(case, rows, lambda x: x.tally, lambda m, t, **options: m(t, **options), some)

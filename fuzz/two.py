"""Two classes: every measure, with options, against exact fractions and loops; and the laws they keep."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import stats

from fuzz.exact import UNDEFINED, Cells, by_width, gaps_of, value_of
from fuzz.exact import ORACLES as EXACT
from scorewise import Tally, measures
from scorewise.registry import MEASURES
from strategies import SPECIAL

assert measures
OUTSIDE = {"mcb_crossfit"}  # whose oracle takes single rows
ORACLES = {*EXACT, *OUTSIDE}
NOT_HOW_NEAR = {"ce_variational", "ece_sweep"}  # of coarse tallies they say that, and no bound
# reasons for which a value that exists is not told
CAREFUL = ("too rare for floating point", "too uneven for floating point", "fewer than", "too large",
           "does not vary", "beyond the largest number", "certain probabilities", "one row")  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Rows as a caller would pass them."""

    y: np.ndarray
    s: np.ndarray
    kind: str
    threshold: float
    weight: np.ndarray | None = None
    count: np.ndarray | None = None

    @property
    def tally(self):
        return Tally.of(self.y, self.s, kind=self.kind, weight=self.weight, count=self.count)

    def at(self, which):
        columns = {k: getattr(self, k) for k in ("y", "s", "weight", "count")}
        return replace(self, **{k: c[which] for k, c in columns.items() if c is not None})

    @property
    def cells(self):
        at = self.threshold
        if self.kind == "logit":
            with np.errstate(divide="ignore"):
                at = float(np.log(at) - np.log1p(-at))
        called = self.s >= at  # as numpy compares, also in 32 bits
        return Cells(self.y, self.s, self.kind, self.weight, self.count, called)


def drawn(case):
    """Rows with ties, ends of floats, edges of bins, rare events, counts, weights and 32 bits."""
    rng, one = case.rng, case.one
    kind = one("probability", "logit", "score", p=(0.7, 0.15, 0.15))
    n = int(one(0, 1, 2, 3, 6, 12, 24, 40, p=(0.02, 0.04, 0.06, 0.08, 0.2, 0.25, 0.25, 0.1)))
    style = one("ties", "extreme", "edges", "rare", "free", p=(0.3, 0.25, 0.15, 0.15, 0.15))
    if kind != "probability":
        pool = rng.normal(0, one(1e-3, 1, 8), 12).round(int(one(1, 15)))
        pool = np.append(pool, rng.choice(SPECIAL[kind], 4)) if style == "extreme" else pool
    elif style == "extreme":
        pool = np.append(rng.choice(SPECIAL[kind], 4), rng.random(2))
    elif style == "edges":
        pool = rng.integers(0, 16, 8) / one(15, 15, 10, 16)
        pool = np.clip(one(pool, np.nextafter(pool, 0), np.nextafter(pool, 1)), 0, 1)
    elif style == "rare":
        n = int(one(n, 60, 200))
        pool = 10.0 ** -rng.uniform(1, 6, int(one(6, 400))) * one(1, 0.1)
        pool = one(pool, 1 - pool)
    else:
        pool = rng.random(n + 1).round(int(one(1, 2, 2, 15)))
    s = rng.choice(pool, n)
    p = s if kind == "probability" else 1 / (1 + np.exp(-np.clip(s, -40, 40)))
    y = rng.random(n) < (np.clip(p, 0, 1) if case.chance(0.6) else rng.uniform(0, 1))
    if case.chance(0.05):
        y[:] = case.chance(0.5)
    if case.chance(0.15):
        with np.errstate(over="ignore", under="ignore"):
            s = np.clip(s, -3e38, 3e38).astype(np.float32)
    threshold = one(0.5, 0.3, 0.7, 0.1, 0.0, 1.0)
    if n and kind != "logit" and case.chance(0.5):
        # what a caller would write for the score of a row
        threshold = float(str(s[0])) if s.dtype == np.float32 else float(s[0])
    weight = count = None
    how = one("none", "count", "many", "whole", "broken", "apart", "equal", p=(0.4, 0.15, 0.1, 0.1, 0.15, 0.05, 0.05))
    if how in ("count", "many"):
        count = rng.integers(0, 5 if how == "count" else one(200, 5000, 10**7), n)
        if style == "rare" and how == "many":  # events as rare as they should be
            y = np.repeat([False, True], n)
            s, count = np.tile(s, 2), np.append(count, rng.binomial(count, np.clip(p, 0, 1)))
    elif how != "none":
        weight = {"whole": rng.integers(0, 5, n) * 1.0, "broken": rng.uniform(0.01, 5, n),
                  "apart": 10.0 ** rng.uniform(-60, 60, n), "equal": np.full(n, 3.0)}[how]  # fmt: skip
        if not weight.any():
            weight = None
    return Rows(y, s, kind, float(threshold), weight, count)


def options_of(case, name, rows):
    """Options of a measure, and the bounds that they leave it; none in half of all cases."""
    one = case.one
    if case.chance(0.4):
        return {}, None
    bins = {"bins": int(one(1, 2, 5, 10, 15, 20, 100)), "binning": one("width", "mass", "value")}
    loss = one("brier", "log", "spherical")
    if name == "ece":
        return bins | {"norm": one(1.0, 2.0, 3.5, math.inf)}, None
    if name == "max_ce":
        return bins, None
    if name == "ce_l2_debiased":
        return bins | {"squared": True}, (-1.0, 1.0)
    if name == "partial_auroc":
        width = one(0.05, 0.25, 0.5, 1.0)
        scale = one("area", "mcclish")
        bounds = (0.0, max(width, 1 - (1 - width))) if scale == "area" else (0.0, 1.0)
        return one({"max_fpr": width}, {"min_tpr": 1 - width}) | {"scale": scale}, bounds
    return {
        "f_beta": ({"beta": one(0.1, 0.5, 1.0, 3.0)}, None),
        "h_measure": ({"costs": one((2.0, 2.0), (0.5, 3.0), (1.0, 1.0))}, None),
        "smauc": ({"midpoint": one("mean", "balanced", "median", 0.4)}, None),
        "log_loss": ({"clip": one(1e-15, 1e-3)}, None),
        "brier": ({"convention": "sum"}, (0.0, 2.0)),
        "mcb": ({"loss": loss, "clip": 1e-6}, (0.0, math.inf)),
        "dsc": ({"loss": loss}, None),
        "unc": ({"loss": loss}, (0.0, 0.7)),
        "hosmer_lemeshow": ({"groups": int(one(2, 5, 20))}, None),
        "ce_variational": ({"folds": int(one(2, 3, 10))}, None),
        "skce": ({"width": one(0.01, 0.1, 1.0)}, None),
        "calibration_slope": ({"clip": 1e-6}, None),
        "calibration_intercept": ({"clip": 1e-6}, None),
        "mcb_crossfit": ({"folds": int(one(2, 5))}, None),
    }.get(name, ({}, None))


def crossfitted(rows, folds=10):
    """By the oracle of the tests, which takes single rows."""
    import oracles

    y, s, w = rows.y, rows.s, rows.weight
    apart = np.diff(np.unique(s.astype(float)))
    if rows.kind != "probability" or (apart < 1e-12).any() or (rows.count is not None and rows.count.sum() > 300):
        return None
    if rows.count is not None:
        y, s = np.repeat(y, rows.count), np.repeat(s, rows.count)
    return oracles.crossfitted(y, s.astype(float), w, 0.0, folds)


def judge(m, rows, t, **options):
    return m(t.confusion(rows.threshold) if m.group == "decisions" else t, **options)


def compared(case, m, rows, cells, t):
    """The estimate of a measure with drawn options, looked at from all sides."""
    options, bounds = options_of(case, m.name, rows)
    what = m.name + (f" {options}" if options else "")
    e = case.call(m.name, judge, m, rows, t, **options)
    if e is None or isinstance(e, Exception):
        if isinstance(e, Exception):
            case.wrong(f"{m.name}: refused", e)
        return
    case.lawful(m.name, m, e, bounds)
    uneven = cells.uneven()
    if uneven and m.name in ("ce_variational", "calibration_slope", "calibration_intercept"):
        return
    if m.name in OUTSIDE:
        expected = crossfitted(rows, **options) if e.defined and not uneven else None
    else:
        expected = value_of(m.name, cells, t, options)
    if expected is None:
        return
    case.covered[m.name] += 1
    if expected is UNDEFINED:
        # what is within the floats nothing, or infinite, may still be told
        if e.defined and not uneven:
            case.wrong(f"{m.name}: defined where it should not be", f"{what} {e!r}")
    elif not e.defined and math.isfinite(expected):
        if not any(reason in e.why for reason in CAREFUL):
            case.wrong(f"{m.name}: undefined where it should not be", f"{what} {e.why!r} {expected!r}")
    else:
        rel = 3e-4 if m.name == "smece" else 1e-5 if uneven else 1e-8
        case.near(f"{m.name}: value", e.value, expected, rel, rel / 10)


def conventions(case, rows, t):
    """Bins as other packages cut them, by those packages."""
    import warnings

    convention = case.one("sklearn", "netcal", "torchmetrics", "relplot", "jordyvl", "smooth")
    times = np.ones(len(rows.y), int) if rows.count is None else rows.count
    y, p = np.repeat(rows.y, times).astype(int), np.repeat(rows.s, times)
    p = p.astype(float) if convention == "netcal" else p  # which loses rows in 32 bits
    bins = int(case.one(1, 2, 3, 7, 10, 13, 15, 20, 100))
    name = "smece" if convention == "smooth" else "ece"
    options = {"convention": "relplot"} if name == "smece" else {"convention": convention, "bins": bins}
    e = case.call(f"{name} {convention}", MEASURES[name], t, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = OTHERS[convention](y, p, bins)
    if e is not None and not isinstance(e, Exception):
        case.covered[f"{name} {convention}"] += 1
        close = 3e-6 if p.dtype == np.float32 else 1e-9
        case.near(f"{name}: as {convention}", e.value, expected, close, close)


def _sklearn(y, p, bins):
    from sklearn.calibration import calibration_curve

    share, mean = calibration_curve(y, p, n_bins=bins)
    index = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p)
    return (np.unique(index, return_counts=True)[1] / len(p) * abs(share - mean)).sum()


def _netcal(y, p, bins):
    from netcal.metrics import ECE

    return ECE(bins).measure(p, y)


def _torchmetrics(y, p, bins):
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    return float(binary_calibration_error(torch.tensor(p), torch.tensor(y), n_bins=bins))


def _relplot(y, p, bins):
    import relplot

    return relplot.metrics.binnedECE(p.astype(float), y, nbins=bins)


def _smooth(y, p, bins):
    import relplot

    return relplot.smECE(p.astype(float), y)


def _jordyvl(y, p, bins):
    edges, p = np.linspace(0, 1, bins + 1), p.astype(float)
    index = np.searchsorted(edges[1:-1], p, side="right")
    return sum((index == k).mean() * abs(y[index == k].mean() - edges[k + 1]) for k in set(index))


OTHERS = {"sklearn": _sklearn, "netcal": _netcal, "torchmetrics": _torchmetrics, "relplot": _relplot,
          "smooth": _smooth, "jordyvl": _jordyvl}  # fmt: skip


def by_chance(case, rows, t, cells, draws=4000):
    """The p-values of binned errors against labels drawn from the scores."""
    n = np.array([int(c.w) for c in cells.list])
    p = np.array([float(c.p) for c in cells.list])
    index = by_width(cells, 15)
    if index is None or n.sum() < 2:
        return
    start = np.flatnonzero(np.diff(index, prepend=-1))
    hits = np.vstack([[int(c.pos) for c in cells.list], case.rng.binomial(n, p, (draws, len(n)))])
    size, expected = (np.add.reduceat(x, start) for x in (n, n * p))
    positives = np.add.reduceat(hits, start, axis=1)
    gap, share = (positives - expected) / size, positives / size
    noise = np.where(size > 1, gap**2 - share * (1 - share) / np.maximum(size - 1, 1), 0.0)
    found = {"ece": (size * abs(gap)).sum(1), "max_ce": abs(gap).max(1), "ce_l2_debiased": (size * noise).sum(1)}
    for name, values in found.items():
        e = case.call(name, MEASURES[name], t)
        if e is None or e.p is None:
            continue
        slack = 1e-9 * max(1.0, abs(values[0]))
        expected = (values[1:] >= values[0] - slack).mean()
        error = math.sqrt(max(expected * (1 - expected), 0.002) * (1 / 1000 + 1 / draws))
        case.covered[f"{name} p"] += 1
        if abs(e.p - expected) > 6 * error + 0.01 * expected:
            case.wrong(f"{name}: p", f"{e.p!r}, by {draws} draws of labels {expected!r}")


def by_tests(case, rows, t, cells):
    """No interval without a caution may exclude chance where an exact test is far from doing so."""
    c = t.confusion(rows.threshold)
    tp, fp, fn, tn = (int(x) for x in c.table)
    if 20 <= tp + fp + fn + tn < 10**5:
        p = stats.fisher_exact([[tp, fp], [fn, tn]])[1]
        targets = {"kappa": 0, "mcc": 0, "youden": 0, "markedness": 0, "balanced_accuracy": 0.5, "dor": 1, "lift": 1}
        for name, none in targets.items():
            e = case.call(name, MEASURES[name], c)
            if p > 0.5 and e is not None and e.defined and not e.low <= none <= e.high and not e.caution:
                case.wrong(f"{name}: excludes chance", f"{e!r}, but Fisher's p is {p:.3g}; {tp, fp, fn, tn}")
    times = [int(c.neg) for c in cells.list], [int(c.pos) for c in cells.list]
    if min(map(sum, times)) > 1 and max(map(sum, times)) < 2000:
        neg, pos = (np.repeat(np.arange(len(x)), x) for x in times)
        tests = {"ks": (0, stats.ks_2samp(neg, pos).pvalue)}
        tests["auroc"] = (0.5, stats.mannwhitneyu(neg, pos).pvalue if len(cells.list) > 1 else 1.0)
        for name, (none, p) in tests.items():
            e = case.call(name, MEASURES[name], t)
            if p > 0.5 and e is not None and not e.low <= none <= e.high and not e.caution:
                case.wrong(f"{name}: excludes chance", f"{e!r}, but p is {p:.3g} in an exact test")


def laws(case, rows, t, some):
    """What must not matter: order of rows, shards, repetition, unit of weights; and levels."""
    n = len(rows.y)
    rng = case.rng
    which = case.one("order", "shards", "repetition", "unit", "levels", "coarse")
    other, rel = t, 1e-6
    if which == "order":
        other = rows.at(rng.permutation(n)).tally
    elif which == "shards":
        part = rng.integers(0, 3, n)
        if rows.weight is not None:  # a part of which no row weighs anything is refused
            part[rows.weight == 0] = part[np.argmax(rows.weight > 0)]
        other = sum((rows.at(part == k).tally for k in range(3)), Tally.empty())
    elif which == "repetition" and rows.count is not None and rows.count.sum() < 10**5:
        other = replace(rows, count=None).at(np.repeat(np.arange(n), rows.count)).tally
    elif which == "unit" and rows.weight is not None:
        other = replace(rows, weight=rows.weight * case.one(1e-30, 0.1, 10.0, 1e30)).tally
    for m in some:
        if which == "levels":
            found = [case.call(m.name, judge, m, rows, t, level=level) for level in (0.8, 0.95, 0.99)]
            if all(e is not None and not isinstance(e, Exception) for e in found):
                case.nested(m.name, *found)
            continue
        if which == "coarse":
            coarse = t.coarsen(case.one("relative", *(["probability"] * (rows.kind == "probability"))))
            a, b = (case.call(m.name, judge, m, rows, x) for x in (coarse, t))
            if a is None or b is None or not (a.defined and b.defined) or m.name in NOT_HOW_NEAR:
                continue
            if not abs(a.value - b.value) <= a.bound + 1e-9 * max(1.0, abs(b.value)):
                case.wrong(f"{m.name}: coarse beyond its bound", f"{a.value!r} ± {a.bound!r}, exact {b.value!r}")
            continue
        a, b = (case.call(m.name, judge, m, rows, x) for x in (t, other))
        if a is not None and b is not None and not isinstance(a, Exception):
            case.alike(f"{m.name}: {which} matters", a, b, rel)
    case.covered[f"law: {which}"] += 1


def many(case):
    """More distinct scores than have cells of their own, against numpy."""
    rng = case.rng
    n = int(rng.integers(65_537, 75_000))
    s = rng.random(n)
    y = rng.random(n) < s**1.3
    t, total = Tally.of(y, s), n
    order = np.argsort(s)
    rank = np.empty(n)
    rank[order] = np.arange(n)
    up, down = y.sum(), n - y.sum()
    index = np.minimum((s * 15).astype(int), 14)
    gaps = np.bincount(index, y - s, 15)
    expected = {
        "auroc": (rank[y].sum() - up * (up - 1) / 2) / (up * down),
        "brier": ((y - s) ** 2).mean(),
        "log_loss": -np.where(y, np.log(s), np.log1p(-s)).mean(),
        "ece": np.abs(gaps).sum() / total,
        "ecce_range": np.ptp(np.append(0, np.cumsum((y - s)[order]))) / n,
        "ks": stats.ks_2samp(s[y], s[~y]).statistic,
    }
    for name, value in expected.items():
        e = case.call(name, MEASURES[name], t)
        case.covered[name] += 1
        if e is not None:
            case.near(f"{name}: of many scores", e.value, value, 1e-9)
    e = case.call("ece", MEASURES["ece"], t, binning="value")
    value = np.abs(y - s).mean()
    told = e is None or not e.defined or any(w in f"{e.method} {e.caution}" for w in ("coarse", "cell", "grid"))
    if not told and abs(e.value - value) > e.bound + 1e-9:
        case.wrong("ece: a bin for each of many values", f"{e.value!r} ± {e.bound!r}, expected {value!r}")


def two(case):
    """One case of two classes."""
    if case.seed % 500 == 499:
        return many(case)
    rows = drawn(case)
    case.inputs = {"rows": rows}
    t = case.call("Tally.of", lambda: rows.tally)
    if t is None or isinstance(t, Exception):
        return None
    cells = rows.cells
    table = case.call("confusion", t.confusion, rows.threshold)
    decides = table is not None and np.allclose(
        table.table.tolist(), [float(x) for x in cells.table()], rtol=1e-9, atol=0
    )
    if not decides:
        case.wrong(f"confusion: of {rows.s.dtype} scores", f"{table} {cells.table()}")
    order = case.rng.permutation(len(MEASURES))
    some = [list(MEASURES.values())[k] for k in order]
    some = [m for m in some if decides or m.group != "decisions"]
    # all cheap ones, and some of those that draw labels anew
    slow = [m for m in some if "seed" in m.options]
    for m in [m for m in some if m not in slow] + slow[:6]:
        compared(case, m, rows, cells, t)
    laws(case, rows, t, some[:6])
    if rows.weight is None and len(cells.list):
        by_tests(case, rows, t, cells)
        if rows.kind == "probability" and rows.s.dtype == np.float64 and case.chance(0.4):
            by_chance(case, rows, t, cells)
        small = rows.count is None or 0 < rows.count.sum() < 2000
        if rows.kind == "probability" and small and case.chance(0.3):
            conventions(case, rows, t)
    return None

"""Two classes: every measure, with options, against exact fractions and loops; and the laws they keep."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fuzz.exact import ORACLES as EXACT
from fuzz.exact import Cells, by_width, value_of
from fuzz.measured import Rows, answer, compare, laws, weights
from scorewise import Tally, measures
from scorewise.registry import MEASURES
from strategies import SPECIAL

assert measures
OUTSIDE = {"mcb_crossfit"}  # whose oracle takes single rows
ORACLES = {*EXACT, *OUTSIDE}
NOT_HOW_NEAR = {
    "ce_variational",
    "ece_sweep",
    "ici",
    "e50",
    "e90",
}  # of coarse tallies they say that, and no bound
UNSTEADY = {
    "ce_variational",
    "calibration_slope",
    "calibration_intercept",
    "ici",
    "e50",
    "e90",
}  # with weights far apart


@dataclass(frozen=True)
class Scored(Rows):
    """Labels and scores."""

    y: np.ndarray
    s: np.ndarray
    kind: str
    threshold: float
    weight: np.ndarray | None = None
    count: np.ndarray | None = None

    @property
    def tally(self):
        return Tally.of(self.y, self.s, kind=self.kind, weight=self.weight, count=self.count)

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
    further = weights(case, n, int(one(5, 5, 200, 5000, 10**7)))
    if style == "rare" and "count" in further:  # events as rare as they should be
        y, s, count = np.repeat([False, True], n), np.tile(s, 2), further["count"]
        further = {"count": np.append(count, case.rng.binomial(count, np.clip(p, 0, 1)))}
    return Scored(y, s, kind, float(threshold), **further)


def options_of(case, name):
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
        "mcb_crossfit": ({"folds": int(one(2, 5)), "loss": loss}, None),
    }.get(name, ({}, None))


def crossfitted(rows, folds=10, loss="brier"):
    """By the oracle of the tests, which takes single rows."""
    import oracles

    y, s, w = rows.y, rows.s, rows.weight
    apart = np.diff(np.unique(s.astype(float)))
    if (
        rows.kind != "probability"
        or loss != "brier"
        or (apart < 1e-12).any()
        or (rows.count is not None and rows.count.sum() > 300)
    ):
        return None
    if rows.count is not None:
        y, s = np.repeat(y, rows.count), np.repeat(s, rows.count)
    return oracles.crossfitted(y, s.astype(float), w, 0.0, folds)


def compared(case, m, rows, cells, t, judge):
    """The estimate of a measure with drawn options, looked at from all sides."""
    options, bounds = options_of(case, m.name)
    e = answer(case, m.name, judge, m, t, **options)
    if e is None:
        return
    case.lawful(m.name, m, e, bounds)
    uneven = cells.uneven()
    if uneven and m.name in UNSTEADY:
        return
    if m.name in OUTSIDE:
        expected = crossfitted(rows, **options) if e.defined and not uneven else None
    else:
        expected = value_of(m.name, cells, t, options)
    rel = 3e-4 if m.name == "smece" else 1e-3 if uneven else 1e-8
    rel = max(rel, 1e-6) if m.name in ("calibration_slope", "calibration_intercept") else rel
    compare(case, m, e, expected, uneven=uneven, rel=rel, options=options)


def conventions(case, rows, t):
    """Bins as other packages cut them, by those packages."""
    convention = case.one("sklearn", "netcal", "torchmetrics", "relplot", "jordyvl", "smooth")
    times = np.ones(len(rows.y), int) if rows.count is None else rows.count
    y, p = np.repeat(rows.y, times).astype(int), np.repeat(rows.s, times)
    p = p.astype(float) if convention == "netcal" else p  # which loses rows in 32 bits
    bins = int(case.one(1, 2, 3, 7, 10, 13, 15, 20, 100))
    name = "smece" if convention == "smooth" else "ece"
    options = (
        {"convention": "relplot"} if name == "smece" else {"convention": convention, "bins": bins}
    )
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
    """The p-values of calibration errors against labels drawn from the scores."""
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
    cell = (hits - n * p) / n.sum()
    path = np.cumsum(cell, axis=1)
    own = (hits * (1 - p) ** 2 + (n - hits) * p**2).sum(1) / n.sum() ** 2
    near = np.exp(-np.abs(p[:, None] - p) / 0.25)
    found = {
        "ece": (size * abs(gap)).sum(1), "max_ce": abs(gap).max(1), "ce_l2_debiased": (size * noise).sum(1),
        "ecce_mad": abs(path).max(1), "ecce_range": np.maximum(path.max(1), 0) - np.minimum(path.min(1), 0),
        "skce": ((cell @ near) * cell).sum(1) - own, "smece": None,
    }  # fmt: skip
    names = list(found)[: 3 if len(n) > 90 else None]  # others pool more cells than that
    for name in case.rng.permutation(names)[:4]:
        e, values = case.call(name, MEASURES[name], t), found[name]
        if e is None or e.p is None or (name == "smece" and e.value < 0.005):
            continue
        values = smoothed(p, cell, e.value) if values is None else values
        # smECE is drawn on a grid, on which sizes that differ by less may be equal
        slack = 1e-9 * max(abs(values[0]), 1 / n.sum()) if name != "smece" else 2e-3 * values[0]
        above, reached = ((values[1:] >= values[0] + s).mean() for s in (slack, -slack))
        replicates = 1000 if name in ("ece", "max_ce", "ce_l2_debiased") else 300
        error = math.sqrt(max(reached * (1 - reached), 0.002) * (1 / replicates + 1 / draws))
        case.covered[f"{name} p"] += 1
        if not above - 6 * error - 0.01 < e.p < reached + 6 * error + 0.01 and not e.caution:
            case.wrong(f"{name}: p", f"{e.p!r}, by {draws} draws of labels {reached!r}")


def smoothed(p, gaps, width, points=400):
    """The size of each row of gaps under a Gaussian of that width that is reflected at 0 and 1."""
    points = max(points, int(6 / width))
    x = ((np.arange(points) + 0.5) / points)[:, None]
    reach = int(np.ceil(4 * width))
    kernel = sum(
        np.exp(-(((x - 2 * turn - s * p) / width) ** 2) / 2)
        for turn in range(-reach, reach + 1)
        for s in (1, -1)
    )
    return np.abs(gaps @ kernel.T).mean(1) / (width * math.sqrt(2 * math.pi))


def by_tests(case, rows, t, cells):
    """No interval without a caution may exclude chance where an exact test is far from doing so."""
    c = t.confusion(rows.threshold)
    tp, fp, fn, tn = (int(x) for x in c.table)
    if 20 <= tp + fp + fn + tn < 10**5:
        p = stats.fisher_exact([[tp, fp], [fn, tn]])[1]
        targets = {
            "kappa": 0,
            "mcc": 0,
            "youden": 0,
            "markedness": 0,
            "balanced_accuracy": 0.5,
            "dor": 1,
            "lift": 1,
        }
        for name, none in targets.items():
            e = case.call(name, MEASURES[name], c)
            if (
                p > 0.5
                and e is not None
                and e.defined
                and not e.low <= none <= e.high
                and not e.caution
            ):
                case.wrong(
                    f"{name}: excludes chance",
                    f"{e!r}, but Fisher's p is {p:.3g}; {tp, fp, fn, tn}",
                )
    times = [int(c.neg) for c in cells.list], [int(c.pos) for c in cells.list]
    if min(map(sum, times)) > 1 and max(map(sum, times)) < 2000:
        neg, pos = (np.repeat(np.arange(len(x)), x) for x in times)
        # the test knows no ties, and finds the less the more there are
        tied = 2 * len(cells.list) < len(neg) + len(pos)
        tests = {} if tied else {"ks": (0, stats.ks_2samp(neg, pos).pvalue)}
        tests["auroc"] = (0.5, stats.mannwhitneyu(neg, pos).pvalue if len(cells.list) > 1 else 1.0)
        for name, (none, p) in tests.items():
            e = case.call(name, MEASURES[name], t)
            if p > 0.5 and e is not None and not e.low <= none <= e.high and not e.caution:
                case.wrong(f"{name}: excludes chance", f"{e!r}, but p is {p:.3g} in an exact test")


def coarse(case, rows, t, some, judge):
    """A coarse tally is as near as it certifies."""
    near = t.coarsen(case.one("relative", *(["probability"] * (rows.kind == "probability"))))
    case.covered["law: coarse"] += 1
    for m in some:
        a, b = (answer(case, m.name, judge, m, x) for x in (near, t))
        if a is None or b is None or not (a.defined and b.defined) or m.name in NOT_HOW_NEAR:
            continue
        if not abs(a.value - b.value) <= a.bound + 1e-9 * max(1.0, abs(b.value)):
            case.wrong(
                f"{m.name}: coarse beyond its bound",
                f"{a.value!r} ± {a.bound!r}, exact {b.value!r}",
            )


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
    told = (
        e is None
        or not e.defined
        or any(w in f"{e.method} {e.caution}" for w in ("coarse", "cell", "grid"))
    )
    if not told and abs(e.value - value) > e.bound + 1e-9:
        case.wrong(
            "ece: a bin for each of many values", f"{e.value!r} ± {e.bound!r}, expected {value!r}"
        )


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

    def judge(m, t, **options):
        return m(t.confusion(rows.threshold) if m.group == "decisions" else t, **options)

    # all cheap ones, and some of those that draw labels anew
    slow = [m for m in some if "seed" in m.options]
    for m in [m for m in some if m not in slow] + slow[:6]:
        compared(case, m, rows, cells, t, judge)
    if case.chance(0.8):
        laws(case, rows, lambda x: x.tally, judge, some[:6])
    else:
        coarse(case, rows, t, some[:6], judge)
    if rows.weight is None and len(cells.list):
        by_tests(case, rows, t, cells)
        if rows.kind == "probability" and rows.s.dtype == np.float64 and case.chance(0.7):
            by_chance(case, rows, t, cells)
        small = rows.count is None or 0 < rows.count.sum() < 2000
        if rows.kind == "probability" and small and case.chance(0.3):
            conventions(case, rows, t)
    return None

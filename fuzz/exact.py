"""Measures of two classes once more, in fractions and loops over cells, from their definitions.

An oracle takes `Cells` and options. It returns the value, UNDEFINED where the definition has none (also by
dividing by zero), and None where it cannot tell, as on an edge that rounding decides.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from scipy import optimize, special

import calibration_loops as loops
import smooth_loops
from fuzz.measured import UNDEFINED
from scorewise.registry import MEASURES

HAIR = Fraction(1, 10**9)  # what the package allows sums of weights to fall below an edge


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else Decimal(x)


def precise(function):
    """Decimals of sixty digits within."""

    def inside(*args, **options):
        with localcontext() as context:
            context.prec = 60
            return function(*args, **options)

    return inside


root = precise(lambda x: float(decimal(x).sqrt()))


@precise
def sigmoid(z):
    """Probability of a logit and of its opposite, each with all its digits."""
    e = (-abs(Decimal(z))).exp()
    low, high = Fraction(e / (1 + e)), Fraction(1 / (1 + e))
    return (high, low) if z >= 0 else (low, high)


@dataclass(frozen=True)
class Cell:
    """All rows of one score: what it is, and the (squared) weights of both classes."""

    s: float
    p: Fraction
    q: Fraction
    neg: Fraction
    pos: Fraction
    neg2: Fraction
    pos2: Fraction
    called: bool = False

    @property
    def w(self):
        return self.neg + self.pos

    @property
    def w2(self):
        return self.neg2 + self.pos2

    @property
    def gap(self):
        return self.pos * self.q - self.neg * self.p


class Cells:
    """The cells of some rows, from the lowest score up."""

    def __init__(self, y, s, kind, weight=None, count=None, called=None):
        sums = {}
        n = len(y)
        called = np.zeros(n, bool) if called is None else called
        weight = [1] * n if weight is None else weight
        count = [1] * n if count is None else count
        for up, score, w, c, yes in zip(y, s, weight, count, called, strict=True):
            w, c = Fraction(float(w)), int(c)
            if w * c:
                found = sums.setdefault(float(score) + 0.0, [0, 0, 0, 0, yes])
                found[bool(up)] += w * c
                found[2 + bool(up)] += w * w * c
        self.kind = kind
        self.list = []
        for score, (neg, pos, neg2, pos2, yes) in sorted(sums.items()):
            p = Fraction(score)
            p, q = sigmoid(score) if kind == "logit" else (p, 1 - p)
            self.list.append(Cell(score, p, q, neg, pos, neg2, pos2, yes))
        self.neg, self.pos = (
            sum((getattr(c, k) for c in self.list), Fraction(0)) for k in ("neg", "pos")
        )
        self.total = self.neg + self.pos

    def table(self):
        tp, fp = (
            sum((getattr(c, k) for c in self.list if c.called), Fraction(0)) for k in ("pos", "neg")
        )
        return tp, fp, self.pos - tp, self.neg - fp

    def columns(self):
        """Share of positives, probability and share of weight of each cell, as floats."""
        found = [(c.pos / c.w, c.p, c.w / self.total) for c in self.list]
        return (np.array(x, float) for x in zip(*found, strict=True))

    def uneven(self):
        """Whether weights are so far apart that floats lose some of them."""
        sizes = [c.w / self.total for c in self.list] + [x for x in (self.neg, self.pos) if x]
        return bool(sizes) and min(sizes) < Fraction(1, 10**6) * max(sizes)


# decisions

TABLE = {
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "sensitivity": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "npv": lambda tp, fp, fn, tn: tn / (tn + fn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "youden": lambda tp, fp, fn, tn: tp / (tp + fn) + tn / (tn + fp) - 1,
    "markedness": lambda tp, fp, fn, tn: tp / (tp + fp) + tn / (tn + fn) - 1,
    "g_mean": lambda tp, fp, fn, tn: root(tp / (tp + fn) * tn / (tn + fp)),
    "lr_plus": lambda tp, fp, fn, tn: tp / (tp + fn) / (fp / (fp + tn)),
    "lr_minus": lambda tp, fp, fn, tn: fn / (tp + fn) / (tn / (fp + tn)),
    "mcc": lambda tp, fp, fn, tn: decimal_ratio(
        tp * tn - fp * fn, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    ),
    "dor": lambda tp, fp, fn, tn: tp * tn / (fp * fn),
    "lift": lambda tp, fp, fn, tn: tp * (tp + fp + fn + tn) / ((tp + fp) * (tp + fn)),
}


@precise
def decimal_ratio(above, square):
    if not square:
        raise ZeroDivisionError
    return float(decimal(above) / decimal(square).sqrt())


def f_beta(tp, fp, fn, tn, beta=2.0):
    b2 = Fraction(beta) ** 2
    return (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp)


def kappa(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    by_chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
    return ((tp + tn) / n - by_chance) / (1 - by_chance)


def decided(formula):
    return lambda cells, **options: formula(*cells.table(), **options)


# order


def auroc(cells):
    below = won = Fraction(0)
    for c in cells.list:
        won += c.pos * (below + c.neg / 2)
        below += c.neg
    return won / (cells.neg * cells.pos)


def roc(cells):
    """Points from the highest threshold down."""
    fpr, tpr = [Fraction(0)], [Fraction(0)]
    for c in reversed(cells.list):
        fpr.append(fpr[-1] + c.neg / cells.neg)
        tpr.append(tpr[-1] + c.pos / cells.pos)
    return list(zip(fpr, tpr, strict=True))


def partial_auroc(cells, max_fpr=None, min_tpr=None, scale="area"):
    points = roc(cells)
    width = Fraction(1 - min_tpr if min_tpr is not None else 0.1 if max_fpr is None else max_fpr)
    if min_tpr is not None:  # labels exchanged and scores turned round
        points = [(1 - t, 1 - f) for f, t in reversed(points)]
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 < width and x1 > x0:
            end = min(x1, width)
            y_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            area += (end - x0) * (y0 + y_end) / 2
    chance = width * width / 2
    return area if scale == "area" else Fraction(1, 2) + (area - chance) / (width - chance) / 2


def ks(cells):
    return max(abs(t - f) for f, t in roc(cells))


def retrieved(cells):
    """Precision and the share of positives found, from the highest threshold down."""
    tp = fp = Fraction(0)
    for c in reversed(cells.list):
        tp, fp = tp + c.pos, fp + c.neg
        yield tp / (tp + fp), tp / cells.pos


def average_precision(cells):
    points = [(Fraction(1), Fraction(0)), *retrieved(cells)]
    return sum((b[1] - a[1]) * b[0] for a, b in pairwise(points))


def pr_trapezoid(cells):
    points = [(Fraction(1), Fraction(0)), *retrieved(cells)]
    return sum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairwise(points))


def h_measure(cells, costs=None):
    """The least loss over all thresholds, integrated piece by piece over the Beta of costs."""
    rate = cells.pos / cells.total
    a, b = costs or (1 + float(rate), 2 - float(rate))
    lines = {
        ((1 - rate) * f, rate * (1 - t)) for f, t in roc(cells)
    }  # c * first + (1 - c) * second

    def loss(lines):
        lines = sorted(lines)
        turns = {Fraction(0), Fraction(1)}
        for (x0, y0), (x1, y1) in combinations(lines, 2):
            if x1 - x0 - y1 + y0:
                c = (y0 - y1) / (x1 - x0 - y1 + y0)
                turns |= {c} if 0 < c < 1 else set()
        total = 0.0
        for c0, c1 in pairwise(sorted(turns)):
            middle = (c0 + c1) / 2
            x, y = min(lines, key=lambda line: middle * line[0] + (1 - middle) * line[1])
            ends = np.array([float(c0), float(c1)])
            of_c = a / (a + b) * np.diff(special.betainc(a + 1, b, ends))[0]
            of_rest = b / (a + b) * np.diff(special.betainc(a, b + 1, ends))[0]
            total += float(x) * of_c + float(y) * of_rest
        return total

    if len(lines) > 24:
        lines = hull(lines)
    return 1 - loss(lines) / loss({(Fraction(0), rate), (1 - rate, Fraction(0))})


def hull(lines):
    """The lines that are least somewhere: the lower left hull of their two ends."""
    kept = []
    for x, y in sorted(lines):
        while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (y - kept[-2][1]) <= (
            kept[-1][1] - kept[-2][1]
        ) * (x - kept[-2][0]):
            kept.pop()
        kept.append((x, y))
    return set(kept)


def smauc(cells, midpoint="mean"):
    rows = [
        (up, float(c.p), float(w / cells.total))
        for c in cells.list
        for up, w in enumerate((c.neg, c.pos))
        if w
    ]
    y, s, w = zip(*rows, strict=True)
    if cells.kind == "score" and (min(s) < 0 or max(s) > 1):
        return UNDEFINED
    at = midpoint if isinstance(midpoint, float) else smooth_loops.midpoint(y, s, w, midpoint)
    if any(1e-14 < abs(x - at) < 1e-10 for x in s):
        return None
    found = smooth_loops.area(y, s, w, at)
    return UNDEFINED if math.isnan(found) else found


# proper scores


@precise
def charge(p, q, loss, clip=None):
    """The loss of a positive with probability p, where q = 1 - p."""
    if loss == "brier":
        return q * q
    if loss == "spherical":
        return 1 - decimal(p) / decimal(p * p + q * q).sqrt()
    p = p if clip is None else min(max(p, Fraction(clip)), 1 - Fraction(clip))
    return -decimal(p).ln() if p else Decimal("inf")


@precise
def mean_loss(cells, loss, clip=None, of=None):
    """The mean loss of the probabilities, or of others given by cell."""
    total = Decimal(0)
    for k, c in enumerate(cells.list):
        p, q = (c.p, c.q) if of is None else (of[k], 1 - of[k])
        for w, chances in ((c.pos, (p, q)), (c.neg, (q, p))):
            if w:
                found = charge(*chances, loss, clip)
                total += decimal(w / cells.total) * (
                    decimal(found) if isinstance(found, Fraction) else found
                )
    return float(total)


def proper(loss):
    def oracle(cells, clip=None, convention="binary"):
        return mean_loss(cells, loss, clip) * (2 if convention == "sum" else 1)

    return oracle


def isotonic(cells):
    """The increasing shares that fit best, by pooling neighbours that fall."""
    pools = []
    for c in cells.list:
        pools.append([c.pos, c.w, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    return [pos / w for pos, w, many in pools for _ in range(many)]


def constant(cells):
    return [cells.pos / cells.total] * len(cells.list)


def mcb(cells, loss="brier", clip=None):
    own = mean_loss(cells, loss, clip if loss == "log" else None)
    return own if math.isinf(own) else own - mean_loss(cells, loss, of=isotonic(cells))


def dsc(cells, loss="brier"):
    return mean_loss(cells, loss, of=constant(cells)) - mean_loss(cells, loss, of=isotonic(cells))


def unc(cells, loss="brier"):
    return mean_loss(cells, loss, of=constant(cells))


# calibration


def by_width(cells, bins, edges=None):
    """The bin of each cell, or None where rounding of a logit decides."""
    found = []
    for c in cells.list:
        place = c.p * bins
        near = round(place)
        if cells.kind == "logit" and c.s and 0 < near < bins and abs(place - near) < HAIR:
            return None
        inside = [k for k in range(1, bins) if float(c.p) >= k / bins]
        found.append(len(inside))
    return found


def by_mass(cells, bins):
    """The bin in which the middle of each cell's mass lies."""
    below, found = Fraction(0), []
    for c in cells.list:
        place = (below + c.w / 2) * bins / cells.total + HAIR
        if abs(place - round(place)) < Fraction(1, 10**12):
            return None
        found.append(min(int(place), bins - 1))
        below += c.w
    return found


def joined(cells, index):
    """Weight, squares, positives and sum of probabilities of each bin in use."""
    sums = {}
    for at, c in zip(index, cells.list, strict=True):
        found = sums.setdefault(at, [Fraction(0)] * 4)
        sums[at] = [a + b for a, b in zip(found, (c.w, c.w2, c.pos, c.pos - c.gap), strict=True)]
    return [sums[k] for k in sorted(sums)]


def index_of(cells, bins, binning):
    if binning == "value":
        return list(range(len(cells.list)))
    return by_width(cells, bins) if binning == "width" else by_mass(cells, bins)


def normed(parts, norm):
    """(sum share * gap^norm)^(1/norm) of pairs of share and gap."""
    if math.isinf(norm):
        return float(max(gap for _, gap in parts))
    if norm == 1:
        return float(sum(share * gap for share, gap in parts))
    return math.fsum(float(share) * float(gap) ** norm for share, gap in parts) ** (1 / norm)


def gaps_of(cells, index, parts=1):
    return [(w / cells.total / parts, abs(pos - p) / w) for w, _, pos, p in joined(cells, index)]


def ece(cells, bins=15, binning="width", norm=1.0):
    index = index_of(cells, bins, binning)
    return None if index is None else normed(gaps_of(cells, index), norm)


def max_ce(cells, bins=15, binning="width"):
    return ece(cells, bins, binning, math.inf)


def ce_l2_debiased(cells, bins=15, binning="width", squared=False):
    index, total = index_of(cells, bins, binning), 0
    if index is None:
        return None
    for w, w2, pos, p in joined(cells, index):
        rows, share = w * w / w2, pos / w
        if 0 < rows - 1 < Fraction(1, 10**6):
            return None
        if rows > 1:
            total += w / cells.total * (((pos - p) / w) ** 2 - share * (1 - share) / (rows - 1))
    return float(total) if squared else root(max(total, Fraction(0)))


def ece_sweep(cells):
    rising = [sweep(cells, Fraction(hair)) for hair in ("0", "1e-12", "1e-9")]
    return rising[0] if len(set(rising)) == 1 else None


def sweep(cells, hair):
    def rises(index):
        shares = [pos / w for w, _, pos, _ in joined(cells, index)]
        return all(b >= a - hair for a, b in pairwise(shares))

    each = list(range(len(cells.list)))
    if rises(each):
        return ece(cells, binning="value")
    last = [0] * len(each)
    for bins in range(2, len(each) + 1):
        index = by_mass(cells, bins)
        if index is None:
            return None
        if not rises(index):
            break
        last = index
    return normed(gaps_of(cells, last), 1)


def smece(cells):
    y, p, w = cells.columns()
    least = 4e-3

    def above(s):
        return loops.smoothed_size(y, p, w, s, max(300, int(6 / s))) - s

    if loops.smoothed_size(y, p, w, least, 600) < least or above(least) <= 0:
        return None
    return optimize.brentq(above, least, 1.1, xtol=1e-6)


def skce(cells, width=0.25):
    squares = sum(c.w2 for c in cells.list)
    pairs = cells.total**2 - squares
    if pairs < cells.total**2 * Fraction(1, 10**9):
        return UNDEFINED if pairs < cells.total**2 * Fraction(1, 10**14) else None
    gap = np.array([float(c.gap / cells.total) for c in cells.list])
    p = np.array([float(c.p) for c in cells.list])
    both = gap @ np.exp(-np.abs(p[:, None] - p) / width) @ gap
    own = sum(c.neg2 * c.p**2 + c.pos2 * c.q**2 for c in cells.list) / cells.total**2
    return float((both - float(own)) * float(cells.total**2 / pairs))


def path(cells):
    found = [Fraction(0)]
    for c in cells.list:
        found.append(found[-1] + c.gap / cells.total)
    return found


def spiegelhalter(cells):
    above = sum(c.gap * (c.q - c.p) for c in cells.list)
    variance = sum(c.w2 * (c.q - c.p) ** 2 * c.p * c.q for c in cells.list)
    row = sum(c.w2 for c in cells.list) / cells.total
    if variance / row**2 < Fraction(1, 10**190):
        return None if variance else UNDEFINED
    return decimal_ratio(above, variance)


def hosmer_lemeshow(cells, groups=10):
    index = list(range(len(cells.list))) if len(cells.list) <= groups else by_mass(cells, groups)
    if index is None:
        return None
    total = Fraction(0)
    for w, w2, pos, expected in joined(cells, index):
        p = expected / w
        if min(p, 1 - p) < Fraction(1, 10**7):  # where 1 - p has lost its digits
            return None
        total += (pos - expected) ** 2 / (w2 * p * (1 - p))
    return total


def log_odds(cells, clip):
    """Log-odds and weights of both classes; None where a probability is certain."""
    found = []
    for c in cells.list:
        p, q = c.p, c.q
        if clip is not None and cells.kind != "logit":
            p = min(max(p, Fraction(clip)), 1 - Fraction(clip))
            q = 1 - p
        if not p or not q:
            return None
        found.append(
            (
                float(precise(lambda a, b: decimal(a).ln() - decimal(b).ln())(p, q)),
                c.neg / cells.total,
                c.pos / cells.total,
            )
        )
    return (np.array(x, float) for x in zip(*found, strict=True))


def score_of(a, b, x, neg, pos):
    """The slope of the likelihood of log-odds a + b x in a, and in b."""
    p, q = special.expit(a + b * x), special.expit(-a - b * x)
    gap = pos * q - neg * p
    return gap.sum(), (gap * x).sum()


def intercept_at(b, x, neg, pos):
    far = 500 + abs(b) * np.abs(x).max()
    return optimize.brentq(
        lambda a: score_of(a, b, x, neg, pos)[0], -far, far, xtol=1e-13, maxiter=1000, rtol=1e-14
    )


def calibration_intercept(cells, clip=None):
    found = log_odds(cells, clip) if cells.neg and cells.pos else None
    if found is None:
        return UNDEFINED
    x, neg, pos = found
    a = intercept_at(1.0, x, neg, pos)
    flat = ((neg + pos) * special.expit(a + x) * special.expit(-a - x)).sum() < 1e-12
    return None if flat else a


def calibration_slope(cells, clip=None):
    found = log_odds(cells, clip) if cells.neg and cells.pos else None
    if found is None:
        return UNDEFINED
    x, neg, pos = found
    up, down = x[pos > 0], x[neg > 0]
    if up.min() >= down.max() or down.min() >= up.max() or len(set(x)) < 2:
        return UNDEFINED
    unit = np.abs(x - x.mean()).max()  # logits of 1e-300 and of 1e3 alike
    x = x / unit

    def steep(b):
        return score_of(intercept_at(b, x, neg, pos), b, x, neg, pos)[1]

    if not steep(-30) > 0 > steep(30):
        return None
    return optimize.brentq(steep, -30, 30, xtol=1e-12, rtol=1e-13) / unit


def oe_ratio(cells):
    expected = sum(c.w * c.p for c in cells.list)
    if expected < Fraction(1, 10**99) * cells.total:
        return UNDEFINED if expected < Fraction(1, 10**101) * cells.total else None
    return cells.pos / expected


def far_from_curve(share):
    """The mean distance from a local quadratic fit, or a quantile, by least squares at each cell."""

    def oracle(cells):
        y, p, w = cells.columns()
        if len(p) > 60 or (len(p) > 1 and np.diff(p).min() < 1e-3 * (p[-1] - p[0])):
            return None  # which rounding decides
        far = []
        for at in p:
            away = np.abs(p - at)
            order = np.argsort(away, kind="stable")
            sums = w[order].cumsum()
            if np.abs(sums - 0.75).min() < 1e-8:
                return None
            width = away[order][(sums >= 0.75).argmax()]
            near = np.maximum(1 - (away / width) ** 3, 0) ** 3 if width else (away == 0) * 1.0
            near[near < 1e-11] = 0.0  # a score at the edge counts for nothing
            root, u = np.sqrt(near * w), (p - at) / (width or 1.0)
            basis = np.stack([root, root * u, root * u * u], 1)[:, : (near > 0).sum()]
            size = np.linalg.svd(basis, compute_uv=False)
            if size[-1] < 1e-3 * size[0]:
                return None
            far.append(abs(np.clip(np.linalg.lstsq(basis, root * y)[0][0], 0, 1) - at))
        if share is None:
            return float(np.sum(w * far))
        order = np.argsort(far, kind="stable")
        sums = w[order].cumsum()
        if np.abs(sums - share).min() < 1e-8:
            return None
        return float(np.array(far)[order][(sums >= share).argmax()])

    return oracle


def folded(oracle):
    """An oracle of rows dealt to folds by the project, the only thing taken from it."""
    oracle.dealt = True
    return oracle


@folded
def ce_variational(cells, tally, folds=5):
    from scorewise.inference.folds import deal_cells
    from scorewise.statistics.probabilities import probability_cells

    share, positive = deal_cells(probability_cells(tally), folds, 0)
    whole = cells.total
    columns = ((c.p, c.w / whole, c.w2 / whole**2) for c in cells.list)
    p, w, w2 = np.array([[float(x) for x in row] for row in columns]).T
    return loops.directed(p, w, w2, share, positive / float(whole), folds)


ORACLES = {
    **{name: decided(formula) for name, formula in TABLE.items()}, "f_beta": decided(f_beta),
    "kappa": decided(kappa), "auroc": auroc, "partial_auroc": partial_auroc, "ks": ks,
    "average_precision": average_precision, "pr_trapezoid": pr_trapezoid, "h_measure": h_measure,
    "smauc": smauc, "log_loss": proper("log"), "brier": proper("brier"),
    "spherical": proper("spherical"), "mcb": mcb, "dsc": dsc, "unc": unc, "ece": ece, "max_ce": max_ce,
    "ce_l2_debiased": ce_l2_debiased, "ece_sweep": ece_sweep, "smece": smece, "skce": skce,
    "spiegelhalter": spiegelhalter, "ecce_mad": lambda cells: max(map(abs, path(cells))),
    "ecce_range": lambda cells: max(path(cells)) - min(path(cells)), "hosmer_lemeshow": hosmer_lemeshow,
    "calibration_slope": calibration_slope, "calibration_intercept": calibration_intercept,
    "ce_variational": ce_variational, "oe_ratio": oe_ratio, "ici": far_from_curve(None),
    "e50": far_from_curve(0.5), "e90": far_from_curve(0.9),
}  # fmt: skip
RANKED = {"auroc", "partial_auroc", "ks", "h_measure", "smauc", "dsc"}
FOUND = {"average_precision", "pr_trapezoid"}
# all others of calibration and of probability are of scores that can be read as probabilities
ANY_SCORE = {"dsc", "unc"}


def value_of(name, cells, tally, options):
    """What the oracle says, as a float, UNDEFINED or None."""
    probable = MEASURES[name].group in ("calibration", "probability") and name not in ANY_SCORE
    if probable and cells.kind == "score":
        return UNDEFINED
    if (
        not cells.list
        or (name in RANKED and not (cells.neg and cells.pos))
        or (name in FOUND and not cells.pos)
    ):
        return UNDEFINED
    oracle = ORACLES[name]
    try:
        found = (
            oracle(cells, tally, **options)
            if hasattr(oracle, "dealt")
            else oracle(cells, **options)
        )
    except ZeroDivisionError:
        return UNDEFINED
    return float(found) if isinstance(found, Fraction) else found

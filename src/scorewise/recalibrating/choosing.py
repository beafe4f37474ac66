"""Which map, if any, is shown to help: candidates judged on rows that they were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.folds import deal_clusters, deal_rows, fold_cells, other_folds
from scorewise.inference.influence import clustered
from scorewise.inference.means import cluster_mean, mean_estimate, row_mean
from scorewise.inference.scales import effective_size
from scorewise.recalibrating.cells import MAX_COMPARED, Cells, Scale
from scorewise.recalibrating.maps import CLASS_METHODS, Table, fitted, mapped
from scorewise.recalibrating.methods import METHODS
from scorewise.registry import MEASURES
from scorewise.show.records import EstimateField, Record, Weight, Word, doc, field
from scorewise.tallies import Tally
from scorewise.tallies.losses import class_losses, unit
from scorewise.tallies.runs import add_runs, equal_mass_runs
from scorewise.tallies.sorting import sum_cells

MAX_ROWS = 10_000  # of several classes on which methods are compared
MAX_CLASSES = 30  # beyond which strengths are compared on one fold
TOLERANCE = 1e-3  # of maps that are compared: loss is flat where it is least
CONFIDENCE = 0.99  # level at which what a map saves has to be above 0
RATIO = 1000.0  # or how many times likelier the rows have to be with it
AS_GOOD = 0.25  # standard errors within which a simpler map is as good
Gain: TypeAlias = Annotated[
    EstimateField, doc("Log loss of the scores as they are, minus that of this method; paired.")
]


class TriedRecord(Record):
    """One method, cross-fitted."""

    method: Word
    log_loss: EstimateField
    brier: EstimateField
    gain: Gain
    in_the_large: EstimateField = field("Calibration in the large: 0 is right.")
    slope: EstimateField = field("Calibration slope: 1 is right, below 1 is too bold.")


# the measures of two classes by the fields of the record
BY_MEASURE = {
    "log_loss": "log_loss",
    "brier": "brier",
    "in_the_large": "calibration_intercept",
    "slope": "calibration_slope",
}


class ClassTriedRecord(Record):
    """One method for several classes, cross-fitted."""

    method: Word
    strength: Weight
    log_loss: EstimateField
    brier: EstimateField = field("Brier score, the sum over classes.")
    accuracy: EstimateField = field("Share of rows whose most probable class is right.")
    gain: Gain


class Choice(NamedTuple):
    """The method chosen with its strength, why, all that were tried, and on how many rows."""

    chosen: str
    strength: float
    reason: str
    table: tuple[Any, ...]
    compared: int


def choose(
    t: Tally | Table,
    method: str,
    *,
    folds: int,
    seed: int,
    clip: float,
    level: float,
    rows: Any = None,
) -> Choice:
    """Judge the candidates, or the method that was named, beside identity.

    Of the candidates, one is chosen by its cross-fitted log loss if it is shown to help, see `verdict`;
    else identity is kept. Scores of any scale have no identity: of those maps the best is chosen. `rows`
    are those of the tally where they come in clusters, which are dealt whole to the folds.
    """
    cross_fit: CellFolds | RowFolds
    if isinstance(t, Table):
        cross_fit = RowFolds(t, folds, seed, clip)
    else:
        cross_fit = CellFolds(t, folds, seed, clip, rows)
    auto, comparable, sample = method == "auto", cross_fit.comparable, cross_fit.sample
    names = cross_fit.candidates() if auto else [method]
    names = list(dict.fromkeys(["identity", *names] if comparable else names))
    unseen = {name: cross_fit.unseen(name) for name in names}
    losses = {name: cross_fit.losses(p) for name, (_, p) in unseen.items()}
    table = []
    for name, (strength, p) in unseen.items():
        gain = Estimate.undefined("scores of any scale have no log loss of their own", level)
        if comparable:
            gain = sample.paired(losses["identity"] - losses[name], level)
        table.append(cross_fit.record(p, level, method=name, strength=strength, gain=gain))
    chosen, reason = method, "asked for"
    if auto and comparable:
        chosen, reason = verdict(losses, sample, level)
    elif auto:
        chosen = min(table, key=lambda row: row.log_loss.value).method
        reason = "least log loss of all that take scores of any scale"
    return Choice(chosen, unseen[chosen][0], reason, tuple(table), cross_fit.compared)


class Sample(NamedTuple):
    """Weights of what has a loss, sums of squared weights, folds, and clusters if it comes in any."""

    w: Floats
    w2: Floats
    fold: Ints
    cluster: Ints | None = None

    def mean(self, gap: Floats) -> tuple[float, float, float]:
        """The mean, its standard error and how many rows, or clusters, it is worth."""
        if self.cluster is not None:
            return cluster_mean(gap, self.w, self.cluster)
        return row_mean(gap, self.w, self.w2)

    def paired(self, gap: Floats, level: float) -> Estimate:
        """The mean of paired differences, with its t interval; by cluster where rows come in clusters."""
        method = "t, paired" if self.cluster is None else "t, paired; by cluster"
        return mean_estimate(*self.mean(gap), level, method)

    def evidence(self, gap: Floats) -> float:
        """Log of how many times likelier the rows of a fold are with a map fitted to the others; the mean.

        If the scores are calibrated and rows are split without regard to labels, chance makes it log(1000)
        or more in at most one of 1,000 samples (Wasserman, Ramdas and Balakrishnan 2020), however few rows
        there are and however skewed their losses. Here folds are dealt class by class and one of several
        maps is chosen, so that this is a guide and no guarantee. A cluster counts as one row with the mean
        of its logs, since the mean of likelihood ratios, however they depend on each other, is one.
        """
        rows = self.w * (self.w.sum() / self.w2.sum())  # weights as if they were rows
        if self.cluster is not None:
            mass = np.bincount(self.cluster, self.w)
            rows = self.w / np.where(mass > 0, mass, 1.0)[self.cluster]
        each = np.bincount(self.fold, rows * gap)
        return float(np.logaddexp.reduce(each) - math.log(len(each)))


def verdict(losses: Mapping[str, Floats], sample: Sample, level: float) -> tuple[str, str]:
    """The name of the map to take, and why; `losses` has the loss of each row, simple maps first.

    The best is the one with the least mean loss, or the first that is worse by no more than a quarter
    of the standard error of their paired difference. It is taken if what it saves against identity is
    above 0 at a level of 0.99, or if it is above its standard error and the rows are 1,000 times
    likelier with it (see `Sample.evidence`); both are stricter at a level beyond 0.99.
    """
    if len(losses) == 1:
        return "identity", "too few rows to try anything else"
    least = min(losses, key=lambda name: sample.mean(losses[name])[0])
    if least == "identity":
        return "identity", "nothing else has a lower log loss on rows not seen"

    def as_good(name: str) -> bool:
        mean, error, _ = sample.mean(losses[name] - losses[least])
        return mean <= AS_GOOD * error + 1e-15

    best = next(name for name in losses if name != "identity" and as_good(name))
    gap, strict = losses["identity"] - losses[best], max(level, CONFIDENCE)
    (mean, error, _), how = sample.mean(gap), ""
    if not sample.paired(gap, strict).low > 0:
        if not (mean > error and sample.evidence(gap) >= math.log(max(RATIO, 1 / (1 - level)))):
            why = f"{best}, the best of what was tried, is not shown to help"
            return "identity", f"{why} (its {100 * strict:g}% interval reaches 0)"
        how = ", by the likelihood of the rows"
    if best != least:
        return best, f"shown to help{how}: as good as {least} on rows not seen, and simpler"
    return best, f"shown to help{how}: least log loss on rows not seen"


class CellFolds:
    """Cells of one score a row, whose rows are dealt to folds at random.

    Beyond 8,192 distinct scores neighbours are pooled first. The `sample` are the negatives, then the
    positives of each cell, fold after fold; or single rows where these come in clusters, which are dealt
    whole.
    """

    def __init__(
        self, t: Tally, folds: int, seed: int, clip: float, rows: Rows | None = None
    ) -> None:
        rng = np.random.default_rng(seed)
        full = Cells.of(t, Scale.of(t, clip))
        start = equal_mass_runs(full.mass, MAX_COMPARED)
        self.tally, self.clip, self.cells = t, clip, full.pooled(MAX_COMPARED)
        self.comparable, self.compared = t.kind != "score", t.origin.rows
        self.rows = rows
        if rows is None or rows.cluster is None:
            sides = ((t.neg, t.neg2), (t.pos, t.pos2))
            pooled = ([add_runs(c.astype(float), start) for c in side] for side in sides)
            both = zip(*(deal_rows(w, w2, folds, rng) for w, w2 in pooled), strict=True)
            weight, square = (np.stack(x) for x in both)
            fold = np.broadcast_to(np.arange(folds)[:, None], weight.shape).ravel()
            self.sample = Sample(weight.ravel(), square.ravel(), fold)
        else:
            fold = deal_clusters(rows.cluster, folds, seed)
            weight, square, self.at = fold_cells(rows, t, start, fold)
            self.sample = Sample(rows.mass(), rows.mass(2), fold, rows.cluster)
        (self.neg, self.pos), (self.neg2, self.pos2) = weight, square

    def candidates(self) -> list[str]:
        """The methods that suit the kind of score and the number of rows of the smaller class.

        Of rows that come in clusters, those with a row of that class are counted.
        """
        t, r = self.tally, self.rows
        sides = zip((t.negatives, t.positives), t.squares, strict=True)
        rows = min(effective_size(w, w2) for w, w2 in sides)
        if r is not None and r.cluster is not None:
            rows = min(len(np.unique(r.cluster[r.y == up])) for up in (False, True))
        fit = [m.name for m in METHODS.values() if t.kind in m.kinds and rows >= m.least]
        # isotonic says 0 and 1, and its variant says the same otherwise
        return [name for name in fit if name != "isotonic"] or ["platt"]

    def unseen(self, method: str) -> tuple[float, Floats]:
        """The probability of each cell in each fold, by the map that was fitted to all other folds."""
        cells = self.cells
        if method == "identity":
            p = unit(cells.points.score, self.tally.kind)
            return 1.0, np.broadcast_to(p, self.neg.shape)
        folds = []
        for neg, pos in zip(other_folds(self.neg), other_folds(self.pos), strict=True):
            parameters, _ = fitted(method, replace(cells, neg=neg, pos=pos))
            folds.append(METHODS[method].apply(parameters, cells.points))
        return 1.0, np.stack(folds)

    def losses(self, p: Floats) -> Floats:
        """The log loss of each row."""
        p = np.clip(p, self.clip, 1 - self.clip)
        losses = np.concatenate((-np.log1p(-p).ravel(), -np.log(p).ravel()))
        return losses if self.sample.cluster is None else losses[self.at]

    def record(self, p: Floats, level: float, *, strength: float, **known: Any) -> TriedRecord:
        """How good those probabilities are: the rows with them as a tally, judged like any other."""
        columns = np.stack([w.ravel() for w in (self.neg, self.pos, self.neg2, self.pos2)])
        used = columns[:2].sum(0) > 0
        score, (neg, pos, neg2, pos2) = sum_cells(p.ravel()[used], columns[:, used])
        if not self.tally.weighted:
            neg, pos = (np.rint(w).astype(np.int64) for w in (neg, pos))
            neg2, pos2 = neg, pos
        cells: dict[str, Any] = {"score": score, "neg": neg, "pos": pos, "neg2": neg2, "pos2": pos2}
        t = replace(self.tally, **cells, kind="probability", coarse=None)
        settings, r = {"level": level, "clip": self.clip, "seed": 0}, self.rows
        estimates: Any = {}
        for key, name in BY_MEASURE.items():
            m = MEASURES[name]
            estimates[key] = m.under(settings, t)
            if r is not None and r.cluster is not None:
                scores = np.broadcast_to(p, (2, *p.shape)).ravel()[self.at]
                rows = replace(r, scores={t.origin.score: scores})
                estimates[key] = clustered(estimates[key], m, rows, t, settings, r.cluster)
        return TriedRecord(**known, **estimates)


class RowFolds:
    """Rows of several classes, dealt to folds at random, class by class.

    The rows are sorted by what is in them, so their order in the input does not matter. Beyond 10,000,
    as many are drawn. Rows that come in clusters are dealt, and drawn, in whole clusters.
    """

    comparable = True

    def __init__(self, t: Table, folds: int, seed: int, clip: float) -> None:
        rng = np.random.default_rng(seed)
        units = np.arange(len(t)) if t.cluster is None else t.cluster
        self.rows = int(units.max()) + 1
        if len(t) > MAX_ROWS:
            # the first when shuffled, as many as their rows allow, and one for each fold
            order = rng.permutation(self.rows)
            within = int((np.bincount(units)[order].cumsum() <= MAX_ROWS).sum())
            t = t.at(np.isin(units, order[: max(within, folds)]))
        fold, cluster = np.empty(len(t), np.int64), None
        if t.cluster is None:
            by_class = np.argsort(t.y, kind="stable")
            shuffled = by_class[np.lexsort((rng.random(len(t)), t.y[by_class]))]
            fold[shuffled] = np.arange(len(t)) % folds
        else:
            cluster = np.unique(t.cluster, return_inverse=True)[1]
            fold = deal_clusters(cluster, folds, seed)
        self.sample = Sample(t.w, t.w**2, fold, cluster)
        self.table, self.clip, self.compared = t, clip, len(t)

    def candidates(self) -> list[str]:
        """The methods that suit the number of rows."""
        return [
            m.name for m in CLASS_METHODS.values() if self.rows >= m.least(len(self.table.classes))
        ]

    def unseen(self, method: str) -> tuple[float, Floats]:
        """The strength, strong ones first, after which a weaker one is no better, and the probabilities.

        It is chosen on all folds; with many classes, whose matrix takes long, on the first alone.
        """
        m, t = CLASS_METHODS[method], self.table
        if not m.names:
            return m.strengths[0], t.p
        folds = range(int(self.sample.fold.max()) + 1)
        compared = folds if len(t.classes) <= MAX_CLASSES else folds[:1]
        starts: dict[int, Any] = dict.fromkeys(compared)
        rows: Bools = np.isin(self.sample.fold, compared)
        best, least = None, np.inf
        for strength in m.strengths:
            p = t.p.copy()
            for k in compared:
                starts[k] = self._fill(p, method, k, strength, starts[k])
            loss = float((t.w * self.losses(p))[rows].sum())
            if loss >= least:
                break
            best, least, start = (strength, p), loss, starts[0]
        assert best is not None
        for k in folds[len(compared) :]:
            start = self._fill(best[1], method, k, best[0], start)
        return best

    def _fill(self, p: Floats, method: str, k: int, strength: float, start: Any) -> Any:
        """Put in the probabilities of a fold by the map of all others; gives the vector it comes from."""
        t, held = self.table, self.sample.fold == k
        rest = t.at(~held)
        parameters, theta = CLASS_METHODS[method].fit(rest, strength, start, exact=TOLERANCE)
        p[held] = mapped(parameters, t.x[held])
        return theta

    def losses(self, p: Floats) -> Floats:
        """The log loss of each row."""
        t = self.table
        return -np.log(np.clip(p[np.arange(len(t)), t.y], self.clip, 1 - self.clip))

    def record(self, p: Floats, level: float, **known: Any) -> ClassTriedRecord:
        """How good those probabilities are."""
        t, loss = self.table, self.losses(p)

        def mean(values: Floats) -> Estimate:
            return replace(self.sample.paired(values, level), baseline=None)

        return ClassTriedRecord(
            **known,
            log_loss=mean(loss),
            brier=mean(class_losses(t.y, p, -loss, "brier")),
            accuracy=mean((p.argmax(1) == t.y).astype(float)),
        )

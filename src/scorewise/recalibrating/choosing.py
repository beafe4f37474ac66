"""Which map, if any, is shown to help: candidates judged on rows that they were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.clusters import cluster_mean, deal_clusters, fold_cells
from scorewise.inference.effects import clustered
from scorewise.inference.resampling import dealt, others
from scorewise.inference.scales import effective, one_row
from scorewise.measures import brier, calibration_intercept, calibration_slope, log_loss
from scorewise.recalibrating.cells import FEW, Cells, Scale
from scorewise.recalibrating.maps import CLASS_METHODS, Table, fitted, mapped
from scorewise.recalibrating.methods import METHODS
from scorewise.registry import MEASURES
from scorewise.show.estimates import EstimateField
from scorewise.show.fields import Record, Weight, Word, means, says
from scorewise.tallies import Tally
from scorewise.tallies.losses import class_charges, unit
from scorewise.tallies.sorting import add_runs, runs, sum_cells

MOST = 10_000  # rows of several classes on which methods are compared
MANY = 30  # classes beyond which strengths are compared on one fold
ROUGH = 1e-3  # how exact maps need to be to be compared: loss is flat where it is least
Gain: TypeAlias = Annotated[
    EstimateField, says("Log loss of the scores as they are, minus that of this method; paired.")
]


class TriedRecord(Record):
    """One method, cross-fitted."""

    method: Word
    log_loss: EstimateField
    brier: EstimateField
    gain: Gain
    in_the_large: EstimateField = means("Calibration in the large: 0 is right.")
    slope: EstimateField = means("Calibration slope: 1 is right, below 1 is too bold.")


class ClassTriedRecord(Record):
    """One method for several classes, cross-fitted."""

    method: Word
    strength: Weight
    log_loss: EstimateField
    brier: EstimateField = means("Brier score, the sum over classes.")
    accuracy: EstimateField = means("Share of rows whose most probable class is right.")
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
    rows: Rows | None = None,
) -> Choice:
    """Judge the candidates, or the method that was named, beside identity.

    Of the candidates, one is chosen by its cross-fitted log loss if it is shown to help, see `verdict`;
    else identity is kept. Scores of any scale have no identity: of those maps the best is chosen. `rows`
    are those of the tally where they come in clusters, which are dealt whole to the folds.
    """
    dealt_rows: CellFolds | RowFolds = (
        RowFolds(t, folds, seed, clip)
        if isinstance(t, Table)
        else CellFolds(t, folds, seed, clip, rows)
    )
    auto = method == "auto"
    names = dealt_rows.candidates() if auto else [method]
    names = list(dict.fromkeys(["identity", *names] if dealt_rows.comparable else names))
    unseen = {name: dealt_rows.unseen(name) for name in names}
    losses = {name: dealt_rows.losses(p) for name, (_, p) in unseen.items()}
    table = []
    for name, (strength, p) in unseen.items():
        gain = Estimate.undefined("scores of any scale have no log loss of their own", level)
        if dealt_rows.comparable:
            gain = paired(losses["identity"] - losses[name], dealt_rows.sample, level)
        table.append(dealt_rows.judged(p, level, method=name, strength=strength, gain=gain))
    chosen, reason = method, "asked for"
    if auto and dealt_rows.comparable:
        chosen, reason = verdict(losses, dealt_rows.sample, level)
    elif auto:
        chosen = min(table, key=lambda row: row.log_loss.value).method
        reason = "least log loss of all that take scores of any scale"
    return Choice(chosen, unseen[chosen][0], reason, tuple(table), dealt_rows.compared)


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
        total = float(self.w.sum())
        n = effective(total, float(self.w2.sum()))
        mean = float((self.w * gap).sum() / total)
        if one_row(n):
            return mean, math.inf, n
        variance = float((self.w2 * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
        return mean, float(np.sqrt(variance)), n


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
        start = runs(full.mass, FEW)
        self.tally, self.clip, self.cells = t, clip, full.pooled(FEW)
        self.comparable, self.compared = t.kind != "score", t.origin.rows
        self.rows, many = rows, len(self.cells.x)
        columns: list[Floats] = []
        if rows is None or rows.cluster is None:
            for side in ((t.neg, t.neg2), (t.pos, t.pos2)):
                w, w2 = (add_runs(c.astype(float), start) for c in side)
                columns += dealt(w, w2, folds, rng)
            fold = np.tile(np.repeat(np.arange(folds), many), 2)
            w, w2 = (np.concatenate([columns[k].ravel(), columns[k + 2].ravel()]) for k in (0, 1))
            self.sample = Sample(w, w2, fold)
        else:
            fold = deal_clusters(rows.cluster, folds, seed)
            w, w2, self.at = fold_cells(rows, t, start, fold)
            self.sample = Sample(rows.mass(), rows.mass(2), fold, rows.cluster)
            columns = [w[0], w2[0], w[1], w2[1]]
        self.neg, self.neg2, self.pos, self.pos2 = columns

    def candidates(self) -> list[str]:
        """The methods that suit the kind of score and the number of rows of the smaller class.

        Of rows that come in clusters, those with a row of that class are counted.
        """
        t, r = self.tally, self.rows
        sides = zip((t.negatives, t.positives), t.squares, strict=True)
        rows = min(effective(w, w2) for w, w2 in sides)
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
        made = []
        for neg, pos in zip(others(self.neg), others(self.pos), strict=True):
            parameters, _ = fitted(method, replace(cells, neg=neg, pos=pos))
            made.append(METHODS[method].apply(parameters, cells.points))
        return 1.0, np.stack(made)

    def losses(self, p: Floats) -> Floats:
        """The log loss of each row."""
        kept = np.clip(p, self.clip, 1 - self.clip)
        found = np.concatenate((-np.log1p(-kept).ravel(), -np.log(kept).ravel()))
        return found if self.sample.cluster is None else found[self.at]

    def judged(self, p: Floats, level: float, *, strength: float, **known: Any) -> TriedRecord:
        """How good those probabilities are: the rows with them as a tally, judged like any other."""
        columns = np.stack([w.ravel() for w in (self.neg, self.pos, self.neg2, self.pos2)])
        used = columns[:2].sum(0) > 0
        score, (neg, pos, neg2, pos2) = sum_cells(p.ravel()[used], columns[:, used])
        if not self.tally.weighted:
            neg, pos = (np.rint(w).astype(np.int64) for w in (neg, pos))
            neg2, pos2 = neg, pos
        cells: dict[str, Any] = {"score": score, "neg": neg, "pos": pos, "neg2": neg2, "pos2": pos2}
        made = replace(self.tally, **cells, kind="probability", coarse=None)
        found = {
            "log_loss": log_loss(made, clip=self.clip, level=level),
            "brier": brier(made, level=level),
            "calibration_intercept": calibration_intercept(made, clip=self.clip, level=level),
            "calibration_slope": calibration_slope(made, clip=self.clip, level=level),
        }
        if self.rows is not None and self.rows.cluster is not None:
            own = np.broadcast_to(p, (2, *p.shape)).ravel()[self.at]
            rows = replace(self.rows, scores={made.origin.score: own})
            settings = {"level": level, "clip": self.clip, "seed": 0}
            found = {
                name: clustered(e, MEASURES[name], rows, made, settings, self.rows.cluster)
                for name, e in found.items()
            }
        losses, (large, slope) = list(found.values())[:2], list(found.values())[2:]
        return TriedRecord(
            **known, log_loss=losses[0], brier=losses[1], in_the_large=large, slope=slope
        )


class RowFolds:
    """Rows of several classes, dealt to folds at random, class by class.

    The rows are sorted by what is in them, so their order in the input does not matter. Beyond 10,000,
    as many are drawn. Rows that come in clusters are dealt, and drawn, in whole clusters.
    """

    comparable = True

    def __init__(self, t: Table, folds: int, seed: int, clip: float) -> None:
        rng = np.random.default_rng(seed)
        self.rows = len(t) if t.cluster is None else int(t.cluster.max()) + 1
        if t.cluster is not None:
            if len(t) > MOST:
                # the first of the shuffled clusters, as many as their rows allow, and one for each fold
                order = rng.permutation(self.rows)
                sizes = np.bincount(t.cluster)[order]
                used = order[: max(int((sizes.cumsum() <= MOST).sum()), folds)]
                t = t.at(np.isin(t.cluster, used))
            assert t.cluster is not None
            cluster: Ints = np.unique(t.cluster, return_inverse=True)[1]
            self.sample = Sample(t.w, t.w**2, deal_clusters(cluster, folds, seed), cluster)
        else:
            if len(t) > MOST:
                t = t.at(np.sort(rng.permutation(len(t))[:MOST]))
            by_class = np.argsort(t.y, kind="stable")
            shuffled = by_class[np.lexsort((rng.random(len(t)), t.y[by_class]))]
            fold: Ints = np.empty(len(t), np.int64)
            fold[shuffled] = np.arange(len(t)) % folds
            self.sample = Sample(t.w, t.w**2, fold)
        self.table, self.clip, self.compared = t, clip, len(t)

    def candidates(self) -> list[str]:
        """The methods that suit the number of rows."""
        return [m.name for m in CLASS_METHODS.values() if self.rows >= m.least(self.table.many)]

    def unseen(self, method: str) -> tuple[float, Floats]:
        """The strength, strong ones first, after which a weaker one is no better, and the probabilities.

        It is chosen on all folds; with many classes, whose matrix takes long, on the first alone.
        """
        m, t = CLASS_METHODS[method], self.table
        if not m.names:
            return m.strengths[0], t.p
        folds = range(int(self.sample.fold.max()) + 1)
        looked = folds if t.many <= MANY else folds[:1]
        starts: dict[int, Any] = dict.fromkeys(looked)
        judged: Bools = np.isin(self.sample.fold, looked)
        best, least = None, np.inf
        for strength in m.strengths:
            p = t.p.copy()
            for k in looked:
                starts[k] = self._fill(p, method, k, strength, starts[k])
            loss = float((t.w * self.losses(p))[judged].sum())
            if loss >= least:
                break
            best, least, near = (strength, p), loss, starts[0]
        assert best is not None
        for k in folds[len(looked) :]:
            near = self._fill(best[1], method, k, best[0], near)
        return best

    def _fill(self, p: Floats, method: str, k: int, strength: float, start: Any) -> Any:
        """Put in the probabilities of a fold by the map of all others; gives the vector it comes from."""
        t, held = self.table, self.sample.fold == k
        parameters, found = CLASS_METHODS[method].fit(t.at(~held), strength, start, exact=ROUGH)
        p[held] = mapped(parameters, t.x[held])
        return found

    def losses(self, p: Floats) -> Floats:
        """The log loss of each row."""
        t = self.table
        return -np.log(np.clip(p[np.arange(len(t)), t.y], self.clip, 1 - self.clip))

    def judged(self, p: Floats, level: float, **known: Any) -> ClassTriedRecord:
        """How good those probabilities are."""
        t, loss = self.table, self.losses(p)

        def mean(values: Floats) -> Estimate:
            return replace(paired(values, self.sample, level), baseline=None)

        return ClassTriedRecord(
            **known,
            log_loss=mean(loss),
            brier=mean(class_charges(t.y, p, -loss, "brier")),
            accuracy=mean((p.argmax(1) == t.y).astype(float)),
        )


# Which of the maps that were tried is taken, if any: shown to help, and no rougher than need be.


SURE = 0.99  # level at which what a map saves has to be above 0
LIKELIER = 1000.0  # or how many times likelier the rows have to be with it
NEAR = 0.25  # standard errors within which a simpler map is as good


def paired(gap: Floats, of: Sample, level: float) -> Estimate:
    """The mean of differences, row by row, with its t interval; by cluster where rows come in clusters."""
    mean, error, n = of.mean(gap)
    if one_row(n):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    if error <= 1e-13:
        return Estimate(mean, mean, mean, level, "none: no row differs", "", 0.0, 0.0)
    method = "t, paired" if of.cluster is None else "t, paired; by cluster"
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Estimate(mean, mean - half, mean + half, level, method, "", 0.0, 0.0)


def verdict(losses: Mapping[str, Floats], of: Sample, level: float) -> tuple[str, str]:
    """The name of the map to take, and why; `losses` has the loss of each row, simple maps first.

    The best is the one with the least mean loss, or the first that is worse by no more than a quarter
    of the standard error of their paired difference. It is taken if what it saves against identity is
    above 0 at a level of 0.99, or if it is above its standard error and the rows are 1,000 times
    likelier with it (see `evidence`); both are stricter at a level beyond 0.99.
    """
    if len(losses) == 1:
        return "identity", "too few rows to try anything else"
    least = min(losses, key=lambda name: of.mean(losses[name])[0])
    if least == "identity":
        return "identity", "nothing else has a lower log loss on rows not seen"
    best = next(n for n in losses if n != "identity" and _near(losses[n] - losses[least], of))
    gap, sure = losses["identity"] - losses[best], max(level, SURE)
    if not (paired(gap, of, sure).low > 0 or _likelier(gap, of, level)):
        said = f"{best}, the best of what was tried, is not shown to help"
        return "identity", f"{said} (its {100 * sure:g}% interval reaches 0)"
    how = "" if paired(gap, of, sure).low > 0 else ", by the likelihood of the rows"
    if best != least:
        return best, f"shown to help{how}: as good as {least} on rows not seen, and simpler"
    return best, f"shown to help{how}: least log loss on rows not seen"


def evidence(gap: Floats, of: Sample) -> float:
    """Log of how many times likelier the rows of a fold are with a map fitted to the others, mean of all.

    If the scores are calibrated and rows are split without regard to labels, chance makes it log(1000) or
    more in at most one of 1,000 samples (Wasserman, Ramdas and Balakrishnan 2020), however few rows there
    are and however skewed their losses. Here folds are dealt class by class and one of several maps is
    chosen, so that this is a guide and no guarantee. A cluster counts as one row with the mean of its logs,
    since the mean of likelihood ratios, however they depend on each other, is one.
    """
    w, w2, fold, cluster = of
    rows = w * (w.sum() / w2.sum())  # weights as if they were rows
    if cluster is not None:
        mass = np.bincount(cluster, w)
        rows = w / np.where(mass > 0, mass, 1.0)[cluster]
    each = np.bincount(fold, rows * gap)
    return float(np.logaddexp.reduce(each) - math.log(len(each)))


def _likelier(gap: Floats, of: Sample, level: float) -> bool:
    mean, error, _ = of.mean(gap)
    enough = math.log(max(LIKELIER, 1 / (1 - level)))
    return mean > error and evidence(gap, of) >= enough


def _near(gap: Floats, of: Sample) -> bool:
    mean, error, _ = of.mean(gap)
    return mean <= NEAR * error + 1e-15

"""How far are the scores from being probabilities? What a second opinion would gain."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.inversion import Direction, Noise, inverted
from scorewise.inference.resampling import dealt_cells
from scorewise.measures.calibration_bins import FEWER, METHOD, calibrated, lacking
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.losses import logit
from scorewise.tallies.probabilities import Chances, chances, displacement, equal_mass
from scorewise.tallies.sorting import add_runs, first_of_runs, kept

_CELLS = 20
_MOST = 1 << 12  # cells on which f is constant, at the most
_CERTAIN = 1e-4  # logits end here
_CLEAR = 2.0  # standard errors of a gap that shows a direction by itself


@measure(group="calibration", better="low", bounds=(-1.0, 1.0), title="Variational L1 error")
def ce_variational(t: Tally, *, folds: int = 5, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean gap between labels and probabilities, in the direction that other rows have shown.

    E[f(p) (y - p)] with |f| <= 1 is at most the L1 calibration error, and reaches it for the right f.
    Here f is the sign of the gap that the rows of the other folds have, in the same of twenty cells of
    equal mass, where it is more than two standard errors; elsewhere that of a logistic recalibration's
    correction (one step of Newton from the scores as they are). No row judges itself, so the value is
    about 0, on either side, for calibrated scores, and otherwise rather too small. Rows are dealt to folds
    by `seed`, whatever their order; scores with broken weights as a whole. The interval is of the L1
    error of the twenty cells, and begins at the value where that is below 0; it inverts consistency
    tests of both the value and the plain size of the gaps, along the gaps seen.

    >>> ce_variational(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.090 [0.000, 0.479]
    """
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)) or folds < 2:
        raise BadInput(f"folds={folds!r} is no number of folds; 5 is usual, 2 the least")
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    fine, few = kept(t, ("folds", folds, seed), lambda: _parts(t, int(folds), seed))
    value = float(fine.error((fine.cells.gap / fine.cells.total)[None])[0])
    noise = kept(few, ("noise", seed), lambda: Noise(few.cells, FEWER, seed, whole=few.direction()))
    found = inverted(noise, few.error, level, size=few.size, value=value)
    # a direction that other rows do not show hides an error that the plain size of the gaps has
    most = inverted(noise, few.size, level).high
    found = found._replace(high=max(found.high, most))
    how = f"{METHOD}, on coarse cells" if displacement(t) else METHOD
    return calibrated(found, level, bounds=(-1.0, 1.0), how=how)


class Parts:
    """Cells of all folds, fold by fold, each within a group of cells, and what their gaps show."""

    def __init__(self, cells: Chances, fold: Ints, group: Ints) -> None:
        self.cells = cells
        self._start = first_of_runs(fold)
        self._fold = np.searchsorted(fold[self._start], fold)
        self._part = first_of_runs(fold, group)  # the groups of each fold
        self._of = np.repeat(np.arange(len(self._part)), np.diff(self._part, append=len(fold)))
        self._group = group[self._part]
        self._order = np.argsort(self._group, kind="stable")
        self._runs = first_of_runs(self._group[self._order])
        self._place = np.searchsorted(self._group[self._order][self._runs], self._group)
        # every fold with one cell of every group, as replicates mostly have
        whole = len(fold) == len(self._part) == len(self._start) * len(self._runs)
        self._grid = (len(self._start), len(self._runs)) if whole else None
        p = np.clip(cells.p, _CERTAIN, 1 - _CERTAIN)
        self._logit = logit(p)
        v = cells.weight * p * (1 - p) / cells.total
        self._known = [add_runs(v * self._logit**k, self._start) for k in (0, 1, 2)]
        # of the others in the group: the variance of their gap, and no less than that of a row
        row = np.divide(
            cells.squares, cells.weight, out=np.zeros(len(cells)), where=cells.weight > 0
        )
        noise = np.maximum(cells.noise, 0.0) / cells.total**2
        self._least = _CLEAR * np.sqrt(
            np.maximum(self._others(add_runs(noise, self._part)), 0.0)
            + (row.max() / cells.total) ** 2
        )

    def error(self, gaps: Floats) -> Floats:
        """The gaps, each in the direction that the other folds have shown."""
        seen = self._others(self._parts(gaps))
        clear = np.abs(seen) > self._least
        if self._grid is None:
            seen, clear = seen[..., self._of], clear[..., self._of]
        total: Floats = (gaps * np.sign(np.where(clear, seen, self._trend(gaps)))).sum(-1)
        return total

    def size(self, gaps: Floats) -> Floats:
        """The size of the gaps of the groups: the error if there were no chance."""
        total: Floats = np.abs(self._groups(self._parts(gaps))).sum(-1)
        return total

    def direction(self) -> Direction:
        """Where the rates of the groups move, alike in all folds."""
        c = self.cells
        joined = c.joined(self._part)
        columns = (joined.weight, joined.squares, joined.pos, joined.sum, joined.noise)
        w, w2, pos, total, noise = (add_runs(x[self._order], self._runs) for x in columns)
        low = joined.low[self._order][self._runs]
        way = Direction.of(Chances(low, w, w2, pos, total, noise, c.weighted))
        share = c.weight / w[self._place][self._of]
        toward, back = (x[self._place][self._of] * share for x in (way.toward, way.back))
        return way._replace(toward=toward, back=back)

    def _others(self, each: Floats) -> Floats:
        """What a group has in all other folds, of what it has in each."""
        total = self._groups(each)
        others: Floats
        if self._grid is None:
            others = total[..., self._place] - each
        else:
            others = total[..., None, :] - each.reshape(*each.shape[:-1], *self._grid)
        return others.reshape(each.shape)

    def _parts(self, gaps: Floats) -> Floats:
        """What each fold has in each group."""
        return gaps if self._grid else add_runs(gaps, self._part)

    def _groups(self, each: Floats) -> Floats:
        """What all folds together have in each group, of what each has."""
        total: Floats
        if self._grid is None:
            total = add_runs(each[..., self._order], self._runs)
        else:
            total = each.reshape(*each.shape[:-1], *self._grid).sum(-2)
        return total

    def _trend(self, gaps: Floats) -> Floats:
        """The way of the logistic correction of each cell, fitted on the other folds."""
        z = self._logit
        sums = (self._folds(g) for g in (gaps, gaps * z))
        first, second = (s.sum(-1, keepdims=True) - s for s in sums)
        i0, i1, i2 = (k.sum(-1, keepdims=True) - k for k in self._known)
        known = i0 * i2 - i1 * i1 > 1e-9 * i0 * i2
        shift = np.where(known, i2 * first - i1 * second, first)
        slope = np.where(known, i0 * second - i1 * first, 0.0)
        toward = slope[..., self._fold]
        toward *= z
        toward += shift[..., self._fold]
        # what rounding leaves of nothing is no direction
        least = 1e-12 * (np.abs(i2) + np.abs(i1) + i0)[self._fold] * (1 + np.abs(z))
        toward[np.abs(toward) <= least] = 0.0
        return toward

    def _folds(self, gaps: Floats) -> Floats:
        """The sum of each fold."""
        total: Floats
        if self._grid is None:
            total = add_runs(gaps, self._start)
        else:
            total = gaps.reshape(*gaps.shape[:-1], *self._grid).sum(-1)
        return total


def _parts(t: Tally, folds: int, seed: int) -> tuple[Parts, Parts]:
    """All cells dealt to folds, for the value, and a few of equal mass, for replicates."""
    c = chances(t)
    if len(c) > _MOST:
        c = c.joined(equal_mass(c, _MOST))
    share, pos = dealt_cells(c, folds, seed)
    start = equal_mass(c, _CELLS)
    fold, cell = np.nonzero(share * c.weight > 0)
    group = (np.searchsorted(start, np.arange(len(c)), side="right") - 1)[cell]
    weight, squares, total, noise = (
        (share * x)[fold, cell] for x in (c.weight, c.squares, c.sum, c.noise)
    )
    columns = c.low[cell], weight, squares, pos[fold, cell], total, noise
    fine = Chances(*columns, c.weighted)
    first = first_of_runs(fold, group)
    return Parts(fine, fold, group), Parts(fine.joined(first), fold[first], group[first])

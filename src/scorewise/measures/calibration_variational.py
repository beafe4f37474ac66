"""How far are the scores from being probabilities? What a second opinion would gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.inversion import inverted
from scorewise.measures._calibrated import FEWER, METHOD, calibrated, lacking, noise_of
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.bins import Ints, equal_mass
from scorewise.tallies.chances import Chances, Floats, chances
from scorewise.tallies.displacement import displacement
from scorewise.tallies.folds import dealt
from scorewise.tallies.once import kept
from scorewise.tallies.sorting import add_runs, first_of_runs

_CELLS = 20
_MOST = 1 << 12  # cells on which f is constant, at the most
_CERTAIN = 1e-4  # logits end here


@measure(group="calibration", better="low", bounds=(-1.0, 1.0), title="Variational L1 error")
def ce_variational(t: Tally, *, folds: int = 5, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean gap between labels and probabilities, in the direction that other rows have shown.

    E[f(p) (y - p)] with |f| <= 1 is at most the L1 calibration error, and reaches it for the right f.
    Here f is the sign of a logistic recalibration's correction (one step of Newton from the scores as
    they are), fitted on the other folds; beyond 4,096 distinct scores it is constant on so many cells. No
    row judges itself, so the value is about 0, on either side, for calibrated scores, and otherwise
    rather too small. Rows are dealt to folds by `seed`, whatever their order; scores with broken weights
    are dealt as a whole. The interval inverts consistency tests along the gaps seen.

    >>> ce_variational(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.090 [0.000, 0.479]
    """
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)) or folds < 2:
        raise BadInput(f"folds={folds!r} is no number of folds; 5 is usual, 2 the least")
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    fine, few = kept(t, ("folds", folds, seed), lambda: _parts(t, int(folds), seed))
    value = float(fine.error((fine.cells.gap / fine.cells.total)[None])[0])
    found = inverted(noise_of(few.cells, seed, FEWER), few.error, level, size=few.size, value=value)
    how = f"{METHOD}, on coarse cells" if displacement(t) else METHOD
    return calibrated(found, level, bounds=(-1.0, 1.0), how=how)


class Parts:
    """Cells of all folds, fold by fold, and the directions that their gaps show."""

    def __init__(self, cells: Chances, fold: Ints) -> None:
        self.cells = cells
        self._start = first_of_runs(fold)
        self._fold = (
            fold - fold[0] if len(self._start) == 1 else np.searchsorted(fold[self._start], fold)
        )
        p = np.clip(cells.p, _CERTAIN, 1 - _CERTAIN)
        self._logit = np.log(p) - np.log1p(-p)
        v = cells.weight * p * (1 - p) / cells.total
        self._known = [add_runs(v * self._logit**k, self._start) for k in (0, 1, 2)]

    def error(self, gaps: Floats) -> Floats:
        """The gaps, each in the direction that the other folds have shown."""
        return self._along(gaps, lambda sums: sums.sum(-1, keepdims=True) - sums)

    def size(self, gaps: Floats) -> Floats:
        """The same in the direction of all rows together: the error if there were no chance."""
        return self._along(gaps, lambda sums: sums.sum(-1, keepdims=True) + 0 * sums)

    def _along(self, gaps: Floats, used: Callable[[Floats], Floats]) -> Floats:
        z = self._logit
        first, second = (used(add_runs(g, self._start)) for g in (gaps, gaps * z))
        i0, i1, i2 = (used(k) for k in self._known)
        known = i0 * i2 - i1 * i1 > 1e-9 * i0 * i2
        shift = np.where(known, i2 * first - i1 * second, first)
        slope = np.where(known, i0 * second - i1 * first, 0.0)
        toward = shift[..., self._fold] + slope[..., self._fold] * z
        # what rounding leaves of nothing is no direction
        least = 1e-12 * (np.abs(i2) + np.abs(i1) + i0)[self._fold] * (1 + np.abs(z))
        total: Floats = (gaps * np.where(np.abs(toward) > least, np.sign(toward), 0.0)).sum(-1)
        return total


def _parts(t: Tally, folds: int, seed: int) -> tuple[Parts, Parts]:
    """All cells dealt to folds, for the value, and a few of equal mass, for replicates."""
    c = chances(t)
    if len(c) > _MOST:
        c = c.joined(equal_mass(c, _MOST))
    share, pos = dealt(c, folds, seed)
    columns = [share * x for x in (c.weight, c.squares)]
    columns += [pos, *(share * x for x in (c.sum, c.noise))]
    start = equal_mass(c, _CELLS)
    fine = _joined(c.low, columns, c.weighted)
    return fine, _joined(c.low[start], [add_runs(x, start) for x in columns], c.weighted)


def _joined(low: Floats, columns: list[Floats], weighted: bool) -> Parts:
    fold, cell = np.nonzero(columns[0] > 0)
    weight, squares, pos, total, noise = (x[fold, cell] for x in columns)
    return Parts(Chances(low[cell], weight, squares, pos, total, noise, weighted), fold)

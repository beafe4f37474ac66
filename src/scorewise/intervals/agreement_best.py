"""The best agreement that the margins of two raters allow."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.agreement import constant, subject
from scorewise.intervals.agreement_parts import Rated
from scorewise.intervals.agreement_weights import Weights
from scorewise.intervals.disagreement import Identity, Linear, Quadratic
from scorewise.tallies.ratings import Ratings


def most_kappa(r: Ratings, weights: Weights = None) -> float | str:
    """The largest Cohen's kappa of a table with these margins, or why it is not known.

    >>> round(most_kappa(Ratings.of_table([[25, 10], [15, 20]])), 4)
    0.8571
    """
    found = subject(r, "cohen_kappa", weights)
    if isinstance(found, str):
        return found
    parts = found.formula(found.rated)
    if why := constant(r, found.rated, parts):
        return why
    least = _least(found.rated)
    if least is None:
        return "the largest kappa is known for identity, linear and quadratic weights"
    return 1 - least / float(parts.chance)


def _least(x: Rated) -> float | None:
    """The least disagreement of two raters with these margins."""
    a, b = x.by_rater()
    if isinstance(x.kernel, Identity):
        return float(np.maximum(a - b, 0.0).sum())
    if isinstance(x.kernel, Linear | Quadratic):
        far = _coupled(a, b, x.kernel.values)
        return float(far[0] if isinstance(x.kernel, Linear) else far[1])
    return None


def _coupled(first: Floats, second: Floats, values: Floats) -> tuple[float, float]:
    """Mean distance and squared distance of the numbers when both raters put items in one order."""
    order = np.argsort(values, kind="stable")
    v = values[order]
    ends = [p[order].cumsum() for p in (first, second)]
    cuts = np.sort(np.concatenate(ends))
    mass = np.diff(cuts, prepend=0.0)
    middle = cuts - mass / 2
    a, b = (v[np.minimum(np.searchsorted(e, middle), len(v) - 1)] for e in ends)
    return float((mass * np.abs(a - b)).sum()), float((mass * (a - b) ** 2).sum())

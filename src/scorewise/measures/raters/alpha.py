"""Are ratings reliable? Krippendorff's alpha."""

from __future__ import annotations

from typing import Literal

from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.agreement import METRICS
from scorewise.intervals.agreement_limits import Interval
from scorewise.intervals.agreement_weights import Weights
from scorewise.measures.raters._judged import SIGNED, judged
from scorewise.registry import measure
from scorewise.tallies.ratings import Ratings

Metric = Literal["nominal", "ordinal", "interval", "ratio"]


@measure(group="agreement", of="raters", bounds=SIGNED, title="Krippendorff's alpha")
def krippendorff_alpha(
    r: Ratings, *, metric: Metric | None = None, weights: Weights = None,
    interval: Interval = "formula", replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement beyond that of ratings shuffled over all items.

    1 - observed / expected disagreement over all pairs of ratings of one item and of the whole table,
    where the disagreement is 0 or 1 (nominal), the squared distance of mid-ranks (ordinal) or of numbers
    (interval), or that divided by the squared sum (ratio): by the scale of the ratings unless `metric`
    is given (Krippendorff 2011). Items with one rating are left out. `weights` take the place of a
    metric. p tests that raters are independent. Score interval, by resampling items, or as published with
    Gwet's variance and Student's t (of mid-ranks with what items do to these).

    >>> krippendorff_alpha(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.124, 0.635]
    """
    if metric is not None:
        one_of("metric", metric, tuple(METRICS))
    if metric is not None and weights is not None:
        raise BadInput(f"metric is {metric!r} and there are weights; give one of both")
    told = None
    if weights is None:
        scale = metric or r.scale
        weights, told = METRICS[scale], "" if scale == "nominal" else f"; {scale}"
    return judged(
        r, "krippendorff_alpha", "Gwet's variance, t", weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed, bounds=SIGNED, told=told,
    )  # fmt: skip

"""On which categories raters agree: the specific agreement of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scorewise.estimate import Estimate
from scorewise.inference.shares import share_over_items
from scorewise.tallies import Ratings


@dataclass(frozen=True)
class CategoryAgreement:
    """A category, the share of all ratings that say it, and how often another rating then does too."""

    category: str
    share: float
    agreement: Estimate


def specific_agreement(r: Ratings, *, level: float = 0.95) -> list[CategoryAgreement]:
    """Given that one rater says a category, the chance that another says it of the same item.

    sum m (m - 1) / sum m (k - 1) over items with m of k ratings in the category; for two raters
    2 n_cc / (n_c. + n_.c) (Fleiss 1981, Cicchetti and Feinstein 1990; positive and negative agreement
    where there are two categories). Wilson's interval, with the variance over items.

    >>> for row in specific_agreement(Ratings.of_table([[80, 10], [5, 5]])):
    ...     print(row.category, row.share, row.agreement)
    0 0.875 0.914 [0.860, 0.949]
    1 0.125 0.400 [0.188, 0.658]
    """
    order = np.argsort(r.counted.code, kind="stable")
    at, category, said = (x[order] for x in (r.counted.at, r.counted.code, r.counted.times))
    others = said * (r.rated[at] - 1)
    weight, weight2 = r.weight[at], r.weight2[at]
    times = np.bincount(category, weight * said, len(r.categories))
    total = float(times.sum())
    ends = np.searchsorted(category, np.arange(len(r.categories) + 1))
    made = []
    for k, name in enumerate(r.categories):
        its = slice(ends[k], ends[k + 1])
        share = float(times[k]) / total if total else 0.0
        if not its.stop > its.start:
            e = Estimate.undefined("nobody said it", level)
        elif not others[its].any():
            e = Estimate.undefined("no item that it was said of has a second rating", level)
        else:
            pairs = said[its] * (said[its] - 1)
            e = share_over_items(pairs, others[its], weight[its], weight2[its], level=level)
        made.append(CategoryAgreement(name, share, e))
    return made

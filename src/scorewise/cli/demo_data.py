"""A simulated screening programme, for trying things out."""

from __future__ import annotations

import csv
import io
from typing import Any

ROWS = 1000
SITES = ("north", "south", "east", "west")


def screening_csv(rows: int = ROWS, seed: int = 16) -> str:
    """Patients with an outcome and two scores: `risk` is calibrated, `sharp` overconfident.

    The outcome is drawn with probability `risk`. `sharp` sees the same signs through some noise,
    and doubles their weight.

    >>> screening_csv(rows=2).splitlines()[0]
    'id,site,age,outcome,risk,sharp'
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    site = rng.choice(len(SITES), rows, p=(0.4, 0.3, 0.2, 0.1))
    age = rng.integers(40, 76, rows)
    signs = -2.85 + 0.03 * (age - 57) + rng.normal(0.0, 1.7, rows)
    risk = _probability(signs)
    ill = rng.random(rows) < risk
    sharp = _probability(2.0 * (signs + 0.7 + rng.normal(0.0, 0.6, rows)))
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(("id", "site", "age", "outcome", "risk", "sharp"))
    for i in range(rows):
        outcome = "ill" if ill[i] else "well"
        sheet.writerow(
            (i + 1, SITES[site[i]], age[i], outcome, f"{risk[i]:.4f}", f"{sharp[i]:.4f}")
        )
    return out.getvalue()


def _probability(logit: Any) -> Any:
    import numpy as np

    # four decimals are written: stay off 0 and 1, where a wrong answer costs infinitely much
    return np.clip(1.0 / (1.0 + np.exp(-logit)), 0.0001, 0.9999)

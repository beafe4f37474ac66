"""How often 95 % intervals of selective prediction hold: AURC, excess AURC and AUGRC.

`make study NAME=selective` or `python -m studies selective [RUNS]` writes docs/tables/selective.md.
Confidence is normal; a row is right with probability expit(level + use * confidence), so that `use` is how
well confidence tells right rows from wrong ones. The truth is measured on 2 million rows.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from scorewise import Tally
from scorewise.measures import augrc, aurc, excess_aurc
from studies._tools import options, percent, table, write

AREAS = (aurc, excess_aurc, augrc)
SIZES = (50, 200, 1000)
KINDS = list(product((0.0, 1.0, 2.5), (1.0, 2.5), (False, True)))  # use, level, ties
MANY = 2_000_000


def draw(rng: np.random.Generator, rows: int, use: float, level: float, ties: bool) -> Tally:
    sure = rng.normal(size=rows)
    sure = np.round(2 * sure) / 2 if ties else sure
    right = rng.random(rows) < 1 / (1 + np.exp(-(level + use * sure)))
    return Tally.of(right.astype(int), sure, positive=1)


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 500, "samples of each kind and size").parse_args(args)
    rng = np.random.default_rng(1)
    lines = []
    for use, level, ties in KINDS:
        whole = draw(rng, MANY, use, level, ties)
        truth = [m(whole).value for m in AREAS]
        error = whole.negatives / whole.origin.rows
        for rows in SIZES:
            hits = np.zeros(len(AREAS))
            for _ in range(given.runs):
                t = draw(rng, rows, use, level, ties)
                found = [m(t) for m in AREAS]
                hits += [e.low <= x <= e.high for e, x in zip(found, truth, strict=True)]
            about = [f"{use:g}", f"{level:g}", "yes" if ties else "no", f"{error:.3f}", f"{rows:,}"]
            lines.append([*about, *(percent(share, 92, 98) for share in hits / given.runs)])
    head = ["use", "level", "ties", "error rate", "rows", *(m.__name__ for m in AREAS)]
    text = (
        f"How often, in percent of {given.runs:,} simulated samples, the 95 % interval contained the\n"
        "truth; bold where it lies outside 92 to 98.\n\n"
    )
    write(text + table(head, lines, 0) + "\n", given.out / "selective.md")

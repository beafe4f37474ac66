"""How often the intervals of selective prediction hold: `python -m benchmarks.selective`."""

from itertools import product

import numpy as np

from scorewise import Tally
from scorewise.measures import augrc, aurc, excess_aurc

AREAS = (aurc, excess_aurc, augrc)
DRAWS = 500


def draw(rng: np.random.Generator, rows: int, use: float, level: float, ties: bool) -> Tally:
    """Confidence of such a use for telling right rows from wrong ones."""
    sure = rng.normal(size=rows)
    sure = np.round(2 * sure) / 2 if ties else sure
    right = rng.random(rows) < 1 / (1 + np.exp(-(level + use * sure)))
    return Tally.of(right.astype(int), sure, positive=1)


def main() -> None:
    rng = np.random.default_rng(1)
    print("use  level  ties   error  rows   " + "  ".join(m.__name__ for m in AREAS))
    for use, level, ties in product((0.0, 1.0, 2.5), (1.0, 2.5), (False, True)):
        whole = draw(rng, 2_000_000, use, level, ties)
        truth = [m(whole).value for m in AREAS]
        error = whole.negatives / whole.origin.rows
        for rows in (50, 200, 1000):
            hits = np.zeros(3)
            for _ in range(DRAWS):
                t = draw(rng, rows, use, level, ties)
                found = [m(t) for m in AREAS]
                hits += [e.low <= x <= e.high for e, x in zip(found, truth, strict=True)]
            shares = "  ".join(f"{share:.3f}" for share in hits / DRAWS)
            print(f"{use:3g}  {level:5g}  {ties!s:5}  {error:.3f}  {rows:4}   {shares}", flush=True)


if __name__ == "__main__":
    main()

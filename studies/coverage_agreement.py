"""How often 95 % intervals of agreement coefficients hold, by formula and by resampling items.

`make study NAME=coverage_agreement` or `python -m studies coverage_agreement [RUNS]` writes
docs/tables/coverage_agreement.md. Items are of one of two categories; each rater is right on 85 % of the
items, or knows 30 % and guesses the others by the shares. The truth is that of 1 million items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import RATER_MEASURES
from studies._coverage import Estimates, Setting, held, simulate
from studies._tools import options, percent, table, write

SIZES = (20, 50, 200)
PREVALENCES = ((0.5, False), (0.9, False), (0.95, True))  # of which raters know little
SHARED = ("percent_agreement", "gwet_ac", "brennan_prediger", "krippendorff_alpha")
NAMES = {
    2: (*SHARED, "cohen_kappa", "scott_pi"),
    4: (*SHARED, "fleiss_kappa", "conger_kappa", "light_kappa"),
}
WAYS = ("formula", "bootstrap")
REPLICATES = 400
NOTE = """
Where one category is rare, resampling knows only what a small sample happens to show, and too few of its
intervals hold; those by formula, which are the default, hold there too.
"""


def rated(
    rng: np.random.Generator, n: int, prevalence: float, weak: bool, raters: int
) -> sw.Ratings:
    truth = rng.random((n, 1)) < prevalence
    guess = rng.random((n, raters)) < prevalence if weak else ~truth
    codes = np.where(rng.random((n, raters)) < (0.3 if weak else 0.85), truth, guess).astype(int)
    return sw.Ratings.of({f"rater{k}": codes[:, k] for k in range(raters)}, categories=[0, 1])


@dataclass(frozen=True)
class Raters(Setting):
    """Samples of all sizes; estimates are named by coefficient, way and size."""

    prevalence: float = 0.5
    weak: bool = False
    raters: int = 2

    def truths(self) -> dict[tuple[str, str, int], float]:
        r = rated(np.random.default_rng(1), self.many, self.prevalence, self.weak, self.raters)
        values = {name: RATER_MEASURES[name](r).value for name in NAMES[self.raters]}
        return {(m, way, n): value for m, value in values.items() for way in WAYS for n in SIZES}

    def samples(self, rng: np.random.Generator, runs: int) -> Iterator[Estimates]:
        for n in SIZES:
            for run in range(runs):
                r = rated(rng, n, self.prevalence, self.weak, self.raters)
                options = {"formula": {}, "bootstrap": {"replicates": REPLICATES, "seed": run}}
                yield {
                    (name, way, n): RATER_MEASURES[name](r, interval=way, **options[way])
                    for name in NAMES[self.raters]
                    for way in WAYS
                }


SETTINGS = [
    Raters(
        f"{k}, {q:.0%}{', weak' * weak}", 0, lambda rng, n: {}, many=1_000_000,
        seed=(k, int(100 * q)), prevalence=q, weak=weak, raters=k,
    )
    for k in NAMES
    for q, weak in PREVALENCES
]  # fmt: skip


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 400, "simulated samples").parse_args(args)
    runs = given.runs
    columns = [(way, n) for way in WAYS for n in SIZES]
    lines = [
        [s.name, name, *(percent(held(seen[name, *column]), 92, 98) for column in columns)]
        for s, seen in simulate(__name__, runs, given.processes, 4)
        for name in dict.fromkeys(key[0] for key in seen)
    ]
    head = ["raters, larger category", "coefficient", *(f"{way}, n = {n}" for way, n in columns)]
    text = [
        f"How often, in percent of {runs:,} simulated samples of n items, the 95 % interval contained",
        "the truth; bold where it lies outside 92 to 98. There are two categories; each rater is right on",
        "85 % of the items, or, where it says weak, knows 30 % of them and guesses the others.",
        "",
        table(head, lines, 2),
    ]
    write("\n".join(text) + "\n" + NOTE, given.out / "coverage_agreement.md")

"""Simulated coverage of the 95 % intervals of agreement coefficients, by formula and by resampling items.

`python -m benchmarks.agreement_coverage [runs]` or `make agreement-coverage` prints the table and writes
docs/tables/agreement_coverage.md. Items are of one of two categories; each rater says the true one of 85 %
of the items, or knows 30 % and guesses the others by the shares. The truth is that of 1 million items.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import scorewise.measures
from scorewise import Ratings
from scorewise.registry import RATER_MEASURES

assert scorewise.measures
SIZES = (20, 50, 200)
PREVALENCES = ((0.5, False), (0.9, False), (0.95, True))  # of which raters know little
RATERS = (2, 4)
SHARED = ("percent_agreement", "gwet_ac", "brennan_prediger", "krippendorff_alpha")
NAMES = {
    2: (*SHARED, "cohen_kappa", "scott_pi"),
    4: (*SHARED, "fleiss_kappa", "conger_kappa", "light_kappa"),
}
NOTE = """
Where one category is rare, a small sample may show no agreement on it at all; no interval of a kappa or of
alpha knows what it has not seen, and too few hold. Those of AC1 and of Brennan-Prediger do not lean on
the rarer category.
"""
OUT = Path(__file__).parents[1] / "docs" / "tables" / "agreement_coverage.md"
REPLICATES = 400
Setting = tuple[float, bool, int]
Seen = dict[tuple[str, str, int], list[int]]


def draw(rng: np.random.Generator, n: int, prevalence: float, weak: bool, raters: int) -> Ratings:
    truth = rng.random((n, 1)) < prevalence
    guess = rng.random((n, raters)) < prevalence if weak else ~truth
    said = np.where(rng.random((n, raters)) < (0.3 if weak else 0.85), truth, guess).astype(int)
    return Ratings.of({f"rater{k}": said[:, k] for k in range(raters)}, categories=[0, 1])


def hits(job: tuple[float, bool, int, int, int, dict[str, float]]) -> Seen:
    """For each coefficient, way and size: intervals that hold the truth, and all."""
    prevalence, weak, raters, runs, seed, truth = job
    rng = np.random.default_rng([seed, raters, int(100 * prevalence)])
    seen: Seen = {
        (m, way, n): [0, 0] for m in truth for way in ("formula", "bootstrap") for n in SIZES
    }
    for n in SIZES:
        for run in range(runs):
            r = draw(rng, n, prevalence, weak, raters)
            for name, value in truth.items():
                for way in ("formula", "bootstrap"):
                    options = {"replicates": REPLICATES, "seed": run} if way == "bootstrap" else {}
                    e = RATER_MEASURES[name](r, interval=way, **options)
                    if e.defined:
                        seen[name, way, n][0] += e.low <= value <= e.high
                        seen[name, way, n][1] += 1
    return seen


def truths(prevalence: float, weak: bool, raters: int) -> dict[str, float]:
    r = draw(np.random.default_rng(1), 1_000_000, prevalence, weak, raters)
    return {name: RATER_MEASURES[name](r).value for name in NAMES[raters]}


def simulate(runs: int) -> dict[Setting, Seen]:
    settings = [(*p, k) for k in RATERS for p in PREVALENCES]
    truth = {s: truths(*s) for s in settings}
    parts = 4
    jobs = [(*s, runs // parts, seed, truth[s]) for s in settings for seed in range(parts)]
    total: dict[Setting, Seen] = {s: {} for s in settings}
    with ProcessPoolExecutor() as pool:
        for (p, weak, k, *_), seen in zip(jobs, pool.map(hits, jobs), strict=True):
            for key, (held, all_of) in seen.items():
                before = total[p, weak, k].get(key, [0, 0])
                total[p, weak, k][key] = [before[0] + held, before[1] + all_of]
    return total


def markdown(total: dict[Setting, Seen], runs: int) -> str:
    head = " | ".join(f"{way}, n = {n}" for way in ("formula", "bootstrap") for n in SIZES)
    lines = [
        f"How often, in percent of {runs:,} simulated samples of n items, the 95 % interval contained",
        "the truth; bold where it lies outside 92 to 98. There are two categories; each rater is right on",
        "85 % of the items, or, where it says weak, knows 30 % of them and guesses the others.",
        "",
        f"| raters, larger category | coefficient | {head} |",
        f"|---|---|{'---:|' * 2 * len(SIZES)}",
    ]
    for (prevalence, weak, raters), seen in total.items():
        for name in NAMES[raters]:
            cells = [shown(seen[name, way, n]) for way in ("formula", "bootstrap") for n in SIZES]
            said = f"{raters}, {prevalence:.0%}{', weak' * weak}"
            lines.append(f"| {said} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" + NOTE


def shown(seen: list[int]) -> str:
    share = 100 * seen[0] / seen[1]
    return f"{share:.1f}" if 92 <= share <= 98 else f"**{share:.1f}**"


def main(runs: int) -> None:
    text = markdown(simulate(runs), runs)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)

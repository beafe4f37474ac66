"""How often drift of known kinds and sizes is seen, and how often there is a false alarm.

`make study NAME=drift` or `python -m studies drift [RUNS]` writes docs/tables/drift.md. Reference and
current sample are drawn, 1,000 rows each, from a pool of rows: a simulated one of calibrated probabilities
at prevalence .3, and, where it lies beside the checkout, a real one (sentiment of film reviews, 25,000
rows). P-values are of 399 random splits on 256 cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scorewise import Tally
from scorewise.drifting.changes import Settings
from scorewise.drifting.result import Drift
from scorewise.drifting.samples import Sample
from studies import _tools
from studies._tools import DATA, in_order, options, write

ROWS = 1000
PARTS = 4
REAL = DATA / "predictions" / "imdb_test_probs.parquet"
SIZES = {
    "prior": (0.05, 0.1, 0.2),
    "covariate": (0.1, 0.2, 0.4),
    "label noise": (0.05, 0.1, 0.2),
    "calibration": (1.15, 1.3, 1.6),
}
SETTINGS = [("none", 0.0), *((kind, size) for kind, sizes in SIZES.items() for size in sizes)]
PLANTED = {
    "none": "nothing",
    "prior": "added to the share of positives; within classes the scores stay",
    "covariate": "rows drawn with odds exp(size x standardised logit); a score means what it meant",
    "label noise": "share of labels turned round",
    "calibration": "factor on the logits: scores turn overconfident, their order stays",
}
RIGHT = {
    "none": "none seen",
    "prior": "prior",
    "covariate": "covariate",
    "label noise": "concept",
    "calibration": "concept",
}
ALONE = {
    "ks": "KS",
    "wasserstein": "W1",
    "psi": "PSI",
    "midpoint": "midpoint",
    "smroc_distance": "smROC",
    "smauc": "smAUC",
    "auroc": "AUROC",
    "rotation": "rotation",
    "prevalence": "prevalence",
    "class_distance": "KS in classes",
    "calibration": "calibration",
    "calibration_slope": "slope",
    "calibration_distance": "reliability",
}


class Pool(NamedTuple):
    y: np.ndarray
    p: np.ndarray


def simulated() -> Pool:
    rng = np.random.default_rng(7)
    y = rng.random(100_000) < 0.3
    z = rng.normal(size=len(y)) + 1.2 * y
    return Pool(y, 1 / (1 + np.exp(-(1.2 * z - 0.72 + np.log(0.3 / 0.7)))))


def real() -> Pool:
    import polars as pl

    data = pl.read_parquet(REAL)
    return Pool(
        data["label"].to_numpy() == 1, np.clip(data["p1"].to_numpy().astype(float), 1e-6, 1 - 1e-6)
    )


POOLS = {"simulated": simulated, **({"film reviews": real} if REAL.exists() else {})}


def planted(pool: Pool, kind: str, size: float, rng: np.random.Generator) -> Pool:
    """A current sample with a drift of that kind and size."""
    logit = np.log(pool.p / (1 - pool.p))
    weight = np.ones(len(pool.y))
    if kind == "prior":
        share = pool.y.mean() + size
        weight = np.where(pool.y, share / pool.y.mean(), (1 - share) / (1 - pool.y.mean()))
    elif kind == "covariate":
        weight = np.exp(size * (logit - logit.mean()) / logit.std())
    # by inversion, which is faster than Generator.choice
    rows = np.searchsorted(weight.cumsum() / weight.sum(), rng.random(ROWS))
    y, p = pool.y[rows], pool.p[rows]
    if kind == "label noise":
        y = y ^ (rng.random(ROWS) < size)
    if kind == "calibration":
        p = 1 / (1 + np.exp(-size * logit[rows]))
    return Pool(y, p)


def seen(job: tuple[str, int, int, int]) -> np.ndarray:
    """For each run: the verdict, the right kind, each statistic alone, PSI by its rules."""
    base, setting, runs, part = job
    kind, size = SETTINGS[setting]
    pool = POOLS[base]()
    rng = np.random.default_rng([setting, part, base == "simulated"])
    rows = []
    for run in range(runs):
        pair = [planted(pool, "none", 0.0, rng), planted(pool, kind, size, rng)]
        a, b = (
            Sample(name, Tally.of(*rows, positive=True))
            for name, rows in zip(("reference", "current"), pair, strict=True)
        )
        d = Drift(a, [b], Settings(seed=run, replicates=399, cells=256))
        alone = [d[name].p <= 0.05 for name in ALONE]
        psi = d["psi"].value
        rows.append([d.seen, d.kind == RIGHT[kind], *alone, psi > 0.1, psi > 0.2])
    return np.array(rows, float)


HEAD = ("verdict", "right kind", *ALONE.values(), "PSI > .1", "PSI > .2")


def table(shares: np.ndarray) -> str:
    lines = [
        [kind, f"{size:g}", *(f"{100 * x:.0f}" for x in row)]
        for (kind, size), row in zip(SETTINGS, shares, strict=True)
    ]
    return _tools.table(["drift", "size", *HEAD], lines)


def compared(shares: np.ndarray, column: str) -> str:
    """Where one statistic alone does as well as the verdict, and where it does not."""
    at = HEAD.index(column)
    gaps = [(100 * (row[at] - row[0]), s) for s, row in zip(SETTINGS[1:], shares[1:], strict=True)]
    better = [f"{kind} {size:g} ({gap:+.0f})" for gap, (kind, size) in gaps if gap > 3]
    same = [f"{kind} {size:g}" for gap, (kind, size) in gaps if abs(gap) <= 3]
    worse = [f"{kind} {size:g} ({gap:+.0f})" for gap, (kind, size) in gaps if gap < -3]
    said = [("sees more", better), ("the same within 3 points", same), ("sees less", worse)]
    return f"- {column} alone: " + "; ".join(f"{w}: {', '.join(x) or 'nowhere'}" for w, x in said)


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 200, "pairs of samples for each drift").parse_args(args)
    each = -(-given.runs // PARTS)
    jobs = [(b, s, each, i) for b in POOLS for s in range(len(SETTINGS)) for i in range(PARTS)]
    found = np.array(in_order(seen, jobs, given.processes, "simulating"))
    total = found.reshape(len(POOLS), len(SETTINGS), PARTS * each, -1).mean(2)
    runs = PARTS * each
    error = 100 * 1.96 * np.sqrt(0.05 * 0.95 / runs)
    lines = [
        f"How often, in percent of {runs} runs, drift was seen between two samples of {ROWS:,} rows: by",
        f"the verdict (any of {len(ALONE)} p-values below .05 after Holm), by each statistic alone (its",
        "p-value at most .05, not adjusted), and by PSI above the usual .1 and .2. *Right kind* is how",
        "often the verdict named the kind that was planted. The first line of each table is of false",
        f"alarms, of which .05 allows 5 (give or take {error:.0f} by chance).",
        "",
        "What was planted:",
        "",
        *(f"- {kind}: {what}" for kind, what in PLANTED.items()),
    ]
    for base, shares in zip(POOLS, total, strict=True):
        lines += ["", f"### {base.capitalize()}", "", table(shares), ""]
        lines += ["Against the verdict, in percentage points:", ""]
        lines += [compared(shares, column) for column in ("KS", "PSI", "PSI > .1", "PSI > .2")]
    write("\n".join(lines) + "\n", given.out / "drift.md")

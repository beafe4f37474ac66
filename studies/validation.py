"""How well intervals of a clinical validation hold, and one on the data of COMPAS.

`make study NAME=validation` or `python -m studies validation [RUNS]` writes docs/tables/validation.md (O/E,
ICI, E50 and E90, rows alone and in clusters), validation_sites.md (means over sites and prediction
intervals) and, where the data set is beside the checkout, validation_compas.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

import scorewise as sw
from studies._tools import DATA, options, percent, table, write

NAMES = ("oe_ratio", "ici", "e50", "e90")
APART = 1.5  # of two normal classes
# rows, prevalence, and what is added to log-odds and what they are multiplied by
CASES = (
    (200, 0.3, 0.0, 1.0),
    (200, 0.3, 0.5, 1.5),
    (1000, 0.1, 0.3, 0.7),
    (500, 0.03, 0.4, 1.0),
    (5000, 0.02, 0.3, 1.3),
)
SITES = ((5, 0.0), (5, 0.4), (12, 0.2), (30, 0.4))
ROWS = 300  # of a site, on average


def drawn(
    rng: np.random.Generator, n: int, prevalence: float, shift: float, times: float, size: int = 1
) -> tuple[Any, Any, Any]:
    """Labels, probabilities whose log-odds are so far off, and clusters of so many rows."""
    shared = np.repeat(rng.normal(size=-(-n // size)), size)[:n]
    own = rng.normal(size=n)
    noise = own if size == 1 else np.sqrt(0.5) * (shared + own)
    y = rng.random(n) < prevalence
    odds = APART * (noise + APART * y) - APART**2 / 2 + logit(prevalence)
    return y.astype(int), expit(shift + times * odds), np.repeat(np.arange(-(-n // size)), size)[:n]


def held(runs: int, size: int) -> list[list[str]]:
    lines = []
    for n, prevalence, shift, times in CASES:
        far = sw.evaluate(*drawn(np.random.default_rng(1), 400_000, prevalence, shift, times)[:2])
        truth = {name: far[name].value for name in NAMES}
        rng, hits = np.random.default_rng(n), dict.fromkeys(NAMES, 0)
        for _ in range(runs):
            y, p, cluster = drawn(rng, n, prevalence, shift, times, size)
            y[0] = 1  # at least one positive
            e = sw.evaluate(y, p, cluster=cluster if size > 1 else None, positive=1)
            for name in NAMES:
                hits[name] += e[name].low <= truth[name] <= e[name].high
        what = f"{n:,}, {prevalence:g}, {shift:g} + {times:g} x" + (
            "" if size == 1 else f", by {size}"
        )
        lines.append([what, *(percent(hits[name] / runs) for name in NAMES)])
    return lines


def over_sites(runs: int) -> list[list[str]]:
    """How often the mean over sites and the value of a new one are within their intervals."""
    lines = []
    for many, apart in SITES:
        rng, mean, new = np.random.default_rng(many), 0, 0
        for _ in range(runs):
            shift = rng.normal(0, apart, many + 1)
            slope = 1 + rng.normal(0, apart / 2, many + 1)
            site = rng.integers(0, many, many * ROWS)
            x = rng.normal(-1, 1.2, many * ROWS)
            y = rng.random(len(x)) < expit(shift[site] + slope[site] * x)
            e = sw.evaluate(y, expit(x), by={"site": site})
            found = next(r for r in e.groups.record.summary if r.measure == "calibration_slope")
            mean += found.low <= 1 <= found.high
            new += found.prediction_low <= slope[-1] <= found.prediction_high
        lines.append([f"{many}", f"{apart / 2:g}", percent(mean / runs), percent(new / runs)])
    return lines


def compas() -> str:
    """Deciles of COMPAS as risks: a line fitted to those screened first, judged on those screened later."""
    import polars as pl

    d = pl.read_parquet(DATA / "predictions" / "compas_two_years.parquet").sort(
        "compas_screening_date"
    )
    early = np.asarray(d["compas_screening_date"] < d["compas_screening_date"].median())
    y, x = d["two_year_recid"].to_numpy(), d["decile_score"].to_numpy().astype(float)
    made = sw.Recalibrator("platt").fit(x[early], y[early])
    later = d.filter(~early).with_columns(risk=pl.Series(made.transform(x[~early])))
    frame = later.select("two_year_recid", "risk", race=pl.col("race").cast(str))
    e = sw.evaluate(frame, label="two_year_recid", score="risk", by="race")
    names = (
        "auroc",
        "calibration_intercept",
        "calibration_slope",
        "oe_ratio",
        "ici",
        "e50",
        "e90",
        "brier",
    )
    whole = "\n".join(f"{name:22} {e[name]}" for name in names)
    said = "\n".join(c.sentence for c in e.document().verdict if c.about != "next")
    groups = [
        [
            g.name,
            f"{g.rows:,}",
            *(_cell(g, name) for name in ("auroc", "calibration_slope", "oe_ratio")),
        ]
        for g in e.groups.record.groups
    ]
    latex = e.to_latex()
    start = latex.index(r"\begin{tabular}", latex.rindex("Groups"))
    cut = latex[start : latex.index(r"\end{tabular}", start) + len(r"\end{tabular}")]
    head = ["race", "rows", "AUROC", "calibration slope", "O/E"]
    return (
        f"```text\n{said}\n\n{whole}\n```\n\n{table(head, groups)}\n\nThe groups as LaTeX:\n\n"
        f"```latex\n{cut}\n```\n"
    )


def _cell(group: Any, name: str) -> str:
    m = next(m for m in group.measures if m.name == name)
    return f"{m.value:.3f} [{m.low:.3f}, {m.high:.3f}]" if m.low is not None else "—"


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 400, "simulated data sets").parse_args(args)
    lines = [*held(given.runs, 1), *held(given.runs, 5)]
    head = ["rows, prevalence, log-odds", "O/E", "ICI", "E50", "E90"]
    write(table(head, lines) + "\n", given.out / "validation.md")
    head = ["sites", "true spread of slopes", "mean held, %", "new site held, %"]
    write(table(head, over_sites(given.runs)) + "\n", given.out / "validation_sites.md")
    if (DATA / "predictions" / "compas_two_years.parquet").exists():
        write(compas(), given.out / "validation_compas.md")

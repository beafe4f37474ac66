"""Are kernel density forests and networks as calibrated as isotonic regression, and modest far away?

`make study NAME=kdg` or `python -m studies kdg` judges plain, isotonic, tempered and kernel density models
on the eight sets of the goals, on the 20 smallest sets of OpenML-CC18 beside the checkout, and at growing
sizes, and writes docs/tables/kdg*.md, cc18*.md, kdg_study.csv and the figures. `--data DIR` takes another
folder of parquet files, and `--small` only what ships with scikit-learn; their tables go to the results.
Runs are kept in studies/results until the code is changed; `--fresh` begins anew.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from studies._tools import FIGURES, RESULTS, TABLES, absent, forget, options, save, write
from studies.kdg import figures, scale, tables
from studies.kdg.runs import jobs, run_all
from studies.kdg.sets import CC18, EIGHT, FEW, SHIPPED, smallest
from studies.kdg.summary import SEEDS, TREES, by_set


def main(args: list[str]) -> None:
    parser = options(__name__, __doc__)
    parser.set_defaults(out=None)
    parser.add_argument("--data", type=Path, default=CC18, help="folder of parquet files")
    parser.add_argument("--small", action="store_true", help="the sets that ship with scikit-learn")
    parser.add_argument("--trees", type=int, default=TREES, help="of each forest")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="splits of each set")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where runs are kept")
    parser.add_argument("--fresh", action="store_true", help="forget runs that were kept")
    given = parser.parse_args(args)
    # only what all can compare goes into the documentation
    ours = not given.small and given.data == CC18
    if ours and absent(CC18):
        return
    folder, label = (None, "small") if given.small else (given.data, given.data.name)
    results = given.results / ("kdg" if ours else f"kdg-{label}")
    if given.fresh:
        forget(results)
    sets = SHIPPED if given.small else smallest(given.data)
    todo = jobs("cc18", folder, sets, given.seeds, given.trees)
    todo += jobs("eight", None, FEW if given.small else EIGHT, given.seeds, given.trees)
    todo.sort(key=lambda job: job.seed)  # what is stopped has some seeds in full
    runs = run_all(todo, results, given.processes)
    sizes = scale.SMALL if given.small else scale.SIZES
    cases = scale.cases(sizes, (given.trees, max(given.trees // 5, 1)))
    grown = scale.run_all(cases, results, given.processes)
    out = given.out or (TABLES if ours else results)
    source = "OpenML-CC18" if ours else "Sets of scikit-learn" if given.small else label
    for name, text in pages(runs, grown, given.trees, source).items():
        write(text, out / name)
    by_set(runs).write_csv(out / "kdg_study.csv", float_precision=6)
    if ours:
        for name, draw in figures.FIGURES.items():
            save(draw(out / "kdg_study.csv"), (given.out or FIGURES) / name)
    print(f"Tables are in {out}.")


def pages(runs: pl.DataFrame, grown: pl.DataFrame, trees: int, source: str) -> dict[str, str]:
    """The tables under their file names."""
    short = "" if trees >= TREES else "**A short run** of few trees.\n\n"
    eight, sets = (runs.filter(pl.col("study") == name) for name in ("eight", "cc18"))
    return {
        "kdg.md": tables.eight(eight, trees),
        "cc18.md": tables.cc18(sets, trees, source),
        "cc18_sets.md": tables.details(sets, trees, source),
        "kdg_scale.md": short + scale.markdown(grown),
    }

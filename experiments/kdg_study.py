"""The KDG study: kernel density forest and network against plain, isotonic and tempered ones.

`python -m experiments.kdg_study` or `make study-kdg` judges them on the eight sets of the goals, on the 20
smallest sets of OpenML-CC18 beside the checkout, and at growing sizes, and writes docs/tables/kdg*.md,
cc18*.md, kdg_study.csv and the figures. `--data DIR` takes another folder of parquet files, and `--small`
only what ships with scikit-learn; their tables go to the results. Runs are kept in experiments/results
for as long as the code that made them is the same; `--fresh` begins anew.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from experiments import cc18_tables, kdg_answers, kdg_eight, kdg_scale
from experiments.kdg_runs import jobs, run_all
from experiments.kdg_sets import CC18, EIGHT, FEW, SHIPPED, smallest
from experiments.kdg_summary import SEEDS, TREES, by_set

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = Path(__file__).parent / "results"


def main(args: list[str]) -> None:
    given = _options().parse_args(args)
    ours = (
        not given.small and given.data == CC18
    )  # only what all can compare goes into the documentation
    folder, label = (None, "small") if given.small else (given.data, given.data.name)
    results = given.results / ("kdg" if ours else f"kdg-{label}")
    if given.fresh:
        for path in results.glob("*.parquet"):
            path.unlink()
    eight = FEW if given.small else EIGHT
    sets = SHIPPED if given.small else smallest(given.data)
    todo = jobs("cc18", folder, sets, given.seeds, given.trees)
    todo += jobs("eight", None, eight, given.seeds, given.trees)
    todo.sort(key=lambda job: job.seed)  # what is stopped has some seeds in full
    runs = run_all(todo, results, given.processes)
    sizes = kdg_scale.SMALL if given.small else kdg_scale.SIZES
    few = max(given.trees // 5, 1)
    cases = kdg_scale.cases(sizes, (given.trees, few))
    scale = kdg_scale.run_all(cases, results, given.processes)
    out = DOCS / "tables" if ours else results
    source = "OpenML-CC18" if ours else "Sets of scikit-learn" if given.small else label
    for name, text in pages(runs, scale, given.trees, source).items():
        (out / name).write_text(text)
    by_set(runs).write_csv(out / "kdg_study.csv", float_precision=6)
    if ours:
        _draw()
    print((out / "kdg_answers.md").read_text())
    print(f"Tables are in {out}.")


def pages(runs: pl.DataFrame, scale: pl.DataFrame, trees: int, source: str) -> dict[str, str]:
    """The page parts under their file names."""
    short = "" if trees >= TREES else "**A short run** of few trees.\n\n"
    eight, sets = (runs.filter(pl.col("study") == name) for name in ("eight", "cc18"))
    return {
        "kdg.md": kdg_eight.markdown(eight, trees),
        "cc18.md": cc18_tables.markdown(sets, trees, source),
        "cc18_sets.md": cc18_tables.details(sets, trees, source),
        "kdg_scale.md": short + kdg_scale.markdown(scale),
        "kdg_answers.md": kdg_answers.markdown(eight, sets, scale, trees),
    }


def _draw() -> None:
    sys.path.insert(0, str(DOCS))
    import _figures
    import _kdg_figures

    for name in _kdg_figures.FIGURES:
        (DOCS / "figures" / name).write_bytes(_figures.png(name))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=CC18, help="folder of parquet files")
    parser.add_argument("--small", action="store_true", help="the sets that ship with scikit-learn")
    parser.add_argument("--trees", type=int, default=TREES, help="of each forest")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="splits of each set")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where runs are kept")
    parser.add_argument("--processes", type=int, default=None, help="all cores unless said")
    parser.add_argument("--fresh", action="store_true", help="forget stored runs")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])

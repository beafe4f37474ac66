"""The study that smROC came with, redone: a probability estimating tree against naive Bayes.

`python -m experiments.smroc_study` or `make study-smroc` judges both on the data sets beside the checkout
and writes docs/tables/smroc_study.md and .csv and the figures. `--data DIR` takes any folder of parquet
files with a column `y`, and `--small` the sets that ship with scikit-learn; their tables and figures go to
the results. Runs are kept in experiments/results, so that a study that was stopped goes on where it was;
`--fresh` begins anew, and so does each set after a change of the code or its rows.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from experiments.data_sets import UCI, names
from experiments.smroc_report import markdown
from experiments.smroc_runs import run_all
from experiments.smroc_summary import summary

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = Path(__file__).parent / "results"


def main(args: list[str]) -> None:
    given = _options().parse_args(args)
    folder = None if given.small else given.data
    ours = folder == UCI  # only what all can compare goes into the documentation
    results = given.results / (
        "smroc" if ours else f"smroc-{'small' if folder is None else folder.name}"
    )
    if given.fresh:
        for path in results.glob("*.parquet"):
            path.unlink()
    found = run_all(folder, names(folder), given.repeats, results, given.processes)
    out = DOCS / "tables" if ours else results
    write(summary(found), given.repeats, out)
    _draw(out, DOCS / "figures" if ours else results)
    print((out / "smroc_study.md").read_text())


def write(table: pl.DataFrame, repeats: int, out: Path) -> None:
    """The tables in words and as numbers, with all digits, so that the words follow from the file."""
    table.write_csv(out / "smroc_study.csv")
    (out / "smroc_study.md").write_text(markdown(table, repeats))


def _draw(numbers: Path, out: Path) -> None:
    sys.path.insert(0, str(DOCS))
    import matplotlib as mpl

    mpl.use("Agg")
    import _study_figures

    for name in _study_figures.FIGURES:
        _study_figures.draw(name, numbers / "smroc_study.csv", out)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=UCI, help="folder of parquet files")
    parser.add_argument("--small", action="store_true", help="the sets that ship with scikit-learn")
    parser.add_argument("--repeats", type=int, default=10, help="of ten runs each")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where runs are kept")
    parser.add_argument("--processes", type=int, default=None, help="all cores unless said")
    parser.add_argument("--fresh", action="store_true", help="forget stored runs")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])

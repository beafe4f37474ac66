"""Does smAUC vary less than AUC, and tell a probability estimating tree from naive Bayes where AUC cannot?

`make study NAME=smroc` or `python -m studies smroc` redoes the study that smROC came with on the data sets
beside the checkout, and writes docs/tables/smroc_study.md and .csv and the figures. `--data DIR` takes any
folder of parquet files with a column `y`, and `--small` the sets that ship with scikit-learn; their tables
and figures go to the results. Runs are kept in studies/results, so that a study that was stopped goes on
where it was; `--fresh` begins anew, and so does each set after a change of the code or its rows.
"""

from __future__ import annotations

from pathlib import Path

from studies._tools import FIGURES, RESULTS, TABLES, absent, forget, options, save, write
from studies.smroc import figures
from studies.smroc.claims import summary
from studies.smroc.runs import UCI, names, run_all
from studies.smroc.tables import markdown


def main(args: list[str]) -> None:
    parser = options(__name__, __doc__)
    parser.set_defaults(out=None)
    parser.add_argument("--data", type=Path, default=UCI, help="folder of parquet files")
    parser.add_argument("--small", action="store_true", help="the sets that ship with scikit-learn")
    parser.add_argument("--repeats", type=int, default=10, help="of ten runs each")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where runs are kept")
    parser.add_argument("--fresh", action="store_true", help="forget runs that were kept")
    given = parser.parse_args(args)
    folder = None if given.small else given.data
    ours = folder == UCI  # only what all can compare goes into the documentation
    if ours and absent(UCI):
        return
    label = "smroc" if ours else f"smroc-{'small' if folder is None else folder.name}"
    results = given.results / label
    if given.fresh:
        forget(results)
    found = run_all(folder, names(folder), given.repeats, results, given.processes)
    out = given.out or (TABLES if ours else results)
    numbers = summary(found)
    write(markdown(numbers, given.repeats), out / "smroc_study.md")
    numbers.write_csv(out / "smroc_study.csv")  # with all digits, so that the tables follow from it
    for name, draw in figures.FIGURES.items():
        place = given.out or (FIGURES if ours else results)
        save(draw(out / "smroc_study.csv"), place / name)

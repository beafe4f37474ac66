"""What studies share: options, data sets beside the checkout, processes, and Markdown."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from math import isnan
from multiprocessing import get_context, parent_process
from pathlib import Path
from textwrap import fill
from threading import Thread
from typing import Any

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "docs" / "tables"
FIGURES = ROOT / "docs" / "figures"
RESULTS = ROOT / "studies" / "results"
SHARED = Path(os.environ.get("SCOREWISE_SHARED") or ROOT.parent / "shared")
DATA = SHARED / "data"


def options(
    module: str, about: str | None, runs: int = 0, what: str = ""
) -> argparse.ArgumentParser:
    """The options that all studies take; `runs` is how many of `what` there are by default."""
    name = module.removeprefix("studies.")
    parser = argparse.ArgumentParser(f"python -m studies {name}", description=about)
    if runs:
        parser.add_argument(
            "runs", type=int, nargs="?", default=runs, help=f"{what}, {runs:,} unless given"
        )
    parser.add_argument("--out", type=Path, default=TABLES, help="folder for the tables")
    parser.add_argument("--processes", type=int, help="as many as there are cores unless given")
    return parser


def absent(path: Path) -> bool:
    """Whether a data set is missing, in which case a sentence says that the study is left out."""
    if not path.exists():
        print(f"left out: this study needs {path}, which is not there")
    return not path.exists()


def write(text: str, path: Path) -> None:
    """Print a table and keep it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(text)


# processes


def tracked(work: Any, todo: list[Any], processes: int | None, title: str) -> Iterator[Any]:
    """Each job with its result, as they come, and a progress bar."""
    from rich.progress import track

    yield from track(done(work, todo, processes), title, len(todo), disable=not todo)


def in_order(work: Any, todo: list[Any], processes: int | None, title: str) -> list[Any]:
    """The results in the order of the jobs."""
    found = {id(job): result for job, result in tracked(work, todo, processes, title)}
    return [found[id(job)] for job in todo]


def done(work: Any, todo: list[Any], processes: int | None) -> Iterator[tuple[Any, Any]]:
    """Each job with its result, as they come; in this process if only one is asked for."""
    if processes == 1 or not todo:
        yield from ((job, work(job)) for job in todo)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # the processes are the threads
    # polars has threads, which do not survive a fork
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _follow)
    try:
        waiting: dict[Future[Any], Any] = {pool.submit(work, job): job for job in todo}
        yield from ((waiting[one], one.result()) for one in as_completed(waiting))
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _stop(pool: ProcessPoolExecutor) -> None:
    """End all processes of a pool at once, whatever they are at."""
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
    for process in running:
        process.join()


def _follow() -> None:
    """End this process when its parent ends, even by a signal that leaves the parent no last word."""
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


# runs that are kept, so that a study that was stopped goes on


def code_time() -> float:
    """When the code that makes the numbers was last changed."""
    files = (f for folder in ("src", "studies") for f in (ROOT / folder).rglob("*.py"))
    return max(f.stat().st_mtime for f in files)


def store(path: Path, rows: list[dict[str, Any]], settings: str = "") -> Any:
    """Keep the rows of a run, which is never left half written."""
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    frame.write_parquet(unfinished, metadata={"settings": settings})
    unfinished.replace(path)
    return frame


def stored(path: Path, settings: str = "") -> Any:
    """What was kept with the same settings since the code was last changed, or None."""
    import polars as pl

    if not path.is_file() or path.stat().st_mtime < code_time():
        return None
    same = pl.read_parquet_metadata(path).get("settings") == settings
    return pl.read_parquet(path) if same else None


def forget(results: Path) -> None:
    """Delete all runs that were kept."""
    for path in results.glob("*.parquet"):
        path.unlink()


# Markdown


def table(
    head: Sequence[str], lines: Sequence[Sequence[str]], words: int = 1, also: Sequence[str] = ()
) -> str:
    """A table; all columns after the first `words` hold numbers, but for those that are named in `also`.

    >>> print(table(["measure", "n"], [["auroc", "50"]]))
    | measure | n |
    |---|---:|
    | auroc | 50 |
    """
    rule = "|".join("---" if i < words or x in also else "---:" for i, x in enumerate(head))
    return "\n".join(
        [f"| {' | '.join(head)} |", f"|{rule}|", *(f"| {' | '.join(x)} |" for x in lines)]
    )


def wrapped(text: str, mark: str = "") -> str:
    """Lines of a page; the first begins with `mark`."""
    text = text.replace(" + ", "\N{NO-BREAK SPACE}+ ")  # a plus at the start of a line makes a list
    indent = " " * len(mark)
    return fill(text, 108, break_on_hyphens=False, initial_indent=mark, subsequent_indent=indent)


def percent(share: float, low: float = 0, high: float = 100) -> str:
    """A share in percent, bold outside of bounds, nothing where it is not known.

    >>> percent(0.95, 93, 97), percent(0.9, 93, 97), percent(float("nan"))
    ('95.0', '**90.0**', '')
    """
    if isnan(share):
        return ""
    shown = f"{100 * share:.1f}"
    return shown if low <= 100 * share <= high else f"**{shown}**"


def shown(value: float | None, digits: int = 3, sign: str = "") -> str:
    """A number, or nothing where there is none; no minus before a zero."""
    if value is None or isnan(value):
        return ""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def give_or_take(value: float | None, spread: float | None, digits: int = 3, sign: str = "") -> str:
    """A number with its spread, where there is one."""
    beside = shown(spread, digits)
    return shown(value, digits, sign) + (f" ± {beside}" if beside else "")


def p_value(p: float) -> str:
    """A p-value, or nothing where there is none."""
    return "< 0.001" if p < 0.001 else shown(p)


# figures


def panels(rows: int, columns: int, size: tuple[float, float], **how: Any) -> tuple[Any, Any]:
    """A figure of several axes."""
    from matplotlib import pyplot as plt

    return plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **how)


def save(figure: Any, file: Any) -> None:
    """Write a figure as a PNG file, and let go of it."""
    from matplotlib import pyplot as plt

    how = {"dpi": 80, "bbox_inches": "tight", "metadata": {"Software": None}}
    figure.savefig(file, format="png", **how)
    plt.close(figure)

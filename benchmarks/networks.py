"""What a kernel density network costs to fit and to predict with, against its network.

`python -m benchmarks.networks` prints the table and writes docs/tables/networks.md.
Seconds of processor time to fit and to predict 2,000 rows of 20 columns, and the most memory that
is held meanwhile; networks of 64 and 64 units, the best of five runs.
"""

import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from scorewise.models import KernelDensityNetwork

ASKED = 2_000
KNOWN = (1_000, 2_000, 4_000, 8_000, 16_000)
HEAD = "| rows | fit: network | density | ratio | predict: network | density | ratio | MB |"
OUT = Path(__file__).parents[1] / "docs" / "tables" / "networks.md"


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """Least processor time of several runs."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def megabytes(work: Callable[[], object]) -> float:
    """Most memory that is held at once."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def table() -> str:
    """One line for each number of rows."""
    rows = max(KNOWN) + ASKED
    x, y = make_classification(rows, 20, n_informative=10, n_classes=4, random_state=0)
    lines = [HEAD, "|" + "---:|" * HEAD.count(" | ") + "---:|"]
    for known in KNOWN:
        network = MLPClassifier((64, 64), max_iter=10, random_state=0)
        density = KernelDensityNetwork(MLPClassifier((64, 64), max_iter=10), random_state=0)
        lines.append(line(network, density, x[:known], y[:known], x[-ASKED:]))
    return "\n".join(lines) + "\n"


def line(network: Any, density: Any, x: Any, y: Any, asked: Any) -> str:
    """The two models fitted to some rows, and asked for others."""
    fits = [seconds(lambda model=model: model.fit(x, y), 1) for model in (network, density)]
    alone, whole = (
        seconds(lambda model=model: model.predict_proba(asked)) for model in (network, density)
    )
    most = megabytes(lambda: density.predict_proba(asked))
    return (
        f"| {len(y):,} | {fits[0]:.2f} s | {fits[1]:.2f} s | {fits[1] / fits[0]:.1f} | "
        f"{1000 * alone:.1f} ms | {1000 * whole:.0f} ms | {whole / alone:.0f} | {most:.0f} |"
    )


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    text = table()
    OUT.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()

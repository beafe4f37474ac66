"""What a prediction of the kernel density network costs: `python -m benchmarks.networks`.

Seconds of processor time for 2,000 rows of 20 columns, against the network's own, and the most memory that
is held meanwhile; networks of 64 and 64 units, the best of five runs.
"""

import time
import tracemalloc
import warnings
from collections.abc import Callable

from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from scorewise.models import KernelDensityNetwork

ASKED = 2_000
KNOWN = (1_000, 4_000, 16_000)


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


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = max(KNOWN) + ASKED
    x, y = make_classification(rows, 20, n_informative=10, n_classes=4, random_state=0)
    asked = x[-ASKED:]
    print(
        "| rows learned from | fit: network | density | predict: network | density | ratio | MB |"
    )
    print("|---|---|---|---|---|---|---|")
    for known in KNOWN:
        network = MLPClassifier((64, 64), max_iter=10, random_state=0)
        density = KernelDensityNetwork(MLPClassifier((64, 64), max_iter=10), random_state=0)
        fits = [
            seconds(lambda model=model, n=known: model.fit(x[:n], y[:n]), 1)
            for model in (network, density)
        ]
        alone, whole = (
            seconds(lambda model=model: model.predict_proba(asked)) for model in (network, density)
        )
        most = megabytes(lambda model=density: model.predict_proba(asked))
        print(
            f"| {known:,} | {fits[0]:.2f} s | {fits[1]:.2f} s | {1000 * alone:.1f} ms | "
            f"{1000 * whole:.0f} ms | {whole / alone:.0f} | {most:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

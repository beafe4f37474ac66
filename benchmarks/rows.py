"""The rows of the budget table: what is measured, against what, and how much it may cost."""

from __future__ import annotations

import compileall
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import scorewise as sw
from scorewise.inference.resampling import resampled_weights
from scorewise.statistics import formulas

BestOf = Callable[[Callable[[], object], int], float]
Measured = tuple[float, float | None]


@dataclass(frozen=True)
class Budget:
    what: str
    against: str
    budget: float
    measure: Callable[[BestOf], Measured]
    unit: str = "s"


@cache
def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and calibrated probabilities of a moderately good model, prevalence .3."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(np.int64)
    return y, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.2 * y - 1)))


def sklearn_auc(n: int) -> Callable[[], object]:
    from sklearn.metrics import roc_auc_score

    return lambda: roc_auc_score(*data(n))


def beside(
    ours: Callable[[], object], peer: Callable[[], object], best_of: BestOf, times: int, peers: int
) -> Measured:
    ours()
    return best_of(ours, times), best_of(peer, peers)


def auroc(best_of: BestOf) -> Measured:
    y, s = data(10_000_000)
    return beside(
        lambda: sw.measures.auroc(sw.Tally.of(y, s)), sklearn_auc(10_000_000), best_of, 3, 1
    )


def smauc(best_of: BestOf) -> Measured:
    y, s = data(10_000_000)
    return beside(
        lambda: sw.measures.smauc(sw.Tally.of(y, s)),
        lambda: sw.measures.auroc(sw.Tally.of(y, s)),
        best_of,
        5,
        5,
    )


def every(e: Mapping[str, object]) -> dict[str, object]:
    """All measures of an evaluation, which computes one when it is asked for."""
    return dict(e.items())


def evaluate(n: int, times: int, peers: int) -> Callable[[BestOf], Measured]:
    def measure(best_of: BestOf) -> Measured:
        y, s = data(n)
        return beside(lambda: every(sw.evaluate(y, s)), sklearn_auc(n), best_of, times, peers)

    return measure


def thousand_groups(best_of: BestOf) -> Measured:
    """A thousand groups of a million rows with every difference and test, beside no groups."""
    y, s = data(1_000_000)
    by = np.random.default_rng(1).integers(0, 1000, len(y))
    return beside(
        lambda: sw.evaluate(y, s, by=by).groups.record,
        lambda: every(sw.evaluate(y, s)),
        best_of,
        3,
        3,
    )


def twelve_groups(best_of: BestOf) -> Measured:
    """6,172 rows in twelve groups, three measures with intervals."""
    from fairlearn.metrics import MetricFrame, false_positive_rate, true_positive_rate
    from sklearn.metrics import accuracy_score

    y, s = (x[:6172] for x in data(100_000))
    by = np.random.default_rng(1).integers(0, 12, len(y))
    metrics = {"tpr": true_positive_rate, "fpr": false_positive_rate, "accuracy": accuracy_score}

    def peer() -> object:
        return MetricFrame(
            metrics=metrics, y_true=y, y_pred=s >= 0.5, sensitive_features=by,
            n_boot=100, ci_quantiles=[0.025, 0.975], random_state=0,
        ).by_group_ci  # fmt: skip

    return beside(lambda: sw.evaluate(y, s, by=by).groups.record, peer, best_of, 3, 1)


def evaluate_thousand(best_of: BestOf) -> Measured:
    y, s = data(1000)
    every(sw.evaluate(y, s))
    return best_of(lambda: every(sw.evaluate(y, s)), 10), None


def processor(work: Callable[[], object], times: int = 15) -> Measured:
    """Least milliseconds of processor time after the first call."""
    work()
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return 1000 * min(spent), None


def first_screen(_: BestOf) -> Measured:
    """All that is printed of a thousand rows: ten measures, the verdict and the page."""
    y, s = data(1000)
    return processor(lambda: str(sw.evaluate(y, s)))


def one_measure(_: BestOf) -> Measured:
    y, s = data(1300)
    return processor(lambda: sw.evaluate(y, s).auroc)


def help_page(_: BestOf) -> Measured:
    """Processor time of `scorewise --help`, the start of Python included."""
    code = "from scorewise.cli import run\nrun(['--help'])\nimport time\nprint(time.process_time())"
    return min(fresh(code)[0] for _ in range(5)), None


def compare(best_of: BestOf) -> Measured:
    """Two models, the ten measures of the first screen with intervals and paired differences."""
    from sklearn.metrics import roc_auc_score

    y, s = data(5_000_000)
    q = np.clip(s + 0.1 * np.random.default_rng(1).normal(size=len(s)), 0.001, 0.999)
    return beside(
        lambda: sw.compare(y, {"a": s, "b": q}).brief(),
        lambda: [roc_auc_score(y, x) for x in (s, q)],
        best_of,
        1,
        1,
    )


def delong(best_of: BestOf) -> Measured:
    from confidenceinterval import roc_auc_score

    y, s = data(1_000_000)
    return beside(
        lambda: sw.measures.auroc(sw.Tally.of(y, s)), lambda: roc_auc_score(y, s), best_of, 5, 1
    )


def bootstrap(best_of: BestOf) -> Measured:
    from confidenceinterval import f1_score

    y, s = data(100_000)
    called = (s >= 0.5).astype(int)

    def ours() -> object:
        c = sw.Tally.of(y, s).confusion(0.5)
        tables = resampled_weights(c.table, c.squares, 1000, np.random.default_rng(0))
        drawn = formulas.f_beta(*tables.T)
        return np.quantile(drawn, [0.025, 0.975])

    def peer() -> object:
        return f1_score(
            y, called, average="binary", method="bootstrap_percentile", n_resamples=1000
        )

    return beside(ours, peer, best_of, 5, 1)


def density(best_of: BestOf) -> Measured:
    x = np.random.default_rng(0).normal(size=10_000_000)
    return beside(lambda: sw.density(x), lambda: np.sort(x), best_of, 5, 5)


def smece(best_of: BestOf) -> Measured:
    import relplot

    y, s = data(1_000_000)
    return beside(
        lambda: sw.measures.smece(sw.Tally.of(y, s)), lambda: relplot.smECE(s, y), best_of, 15, 5
    )


def ten_classes(best_of: BestOf) -> Measured:
    """Logits of ten classes, read as such, and every measure of them with its interval."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(100_000, 10))
    y = (z + rng.gumbel(size=z.shape)).argmax(1)

    def ours() -> object:
        e = sw.evaluate(y, z, kind="logit")
        return [e[name] for name in e]

    ours()
    return best_of(ours, 3), None


def anls_of_pairs(best_of: BestOf) -> Measured:
    """ANLS of distinct answers, half of them right, and the same by a loop over pairs."""
    from rapidfuzz.distance import Levenshtein

    from scorewise.answering.quality import RULES

    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnop    "))
    texts = ["".join(row) for row in rng.choice(letters, (150_000, 20))]
    gold, said = texts[:100_000], texts[:50_000] + texts[100_000:]

    def tidy(text: str) -> str:
        return " ".join(unicodedata.normalize("NFKC", text).casefold().split())

    def loop() -> list[float]:
        pairs = ((tidy(a), tidy(b)) for a, b in zip(gold, said, strict=True))
        far = [Levenshtein.normalized_distance(a, b) for a, b in pairs]
        return [1 - f if f < 0.5 else 0.0 for f in far]

    return beside(lambda: RULES["anls"].compared(gold, said).quality, loop, best_of, 5, 5)


def agreement(best_of: BestOf) -> Measured:
    """Columns of five raters, five categories, a tenth missing: both with their intervals."""
    import krippendorff

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, (1_000_000, 1))
    x = np.where(rng.random((1_000_000, 5)) < 0.5, truth, rng.integers(0, 5, (1_000_000, 5)))
    x = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    columns = {f"rater{k}": np.ascontiguousarray(x[:, k]) for k in range(5)}
    by_rater = np.ascontiguousarray(x.T)

    def ours() -> object:
        r = sw.Ratings.of(columns)
        return sw.measures.krippendorff_alpha(r), sw.measures.fleiss_kappa(r)

    def peer() -> object:
        return krippendorff.alpha(by_rater, level_of_measurement="nominal")

    return beside(ours, peer, best_of, 5, 2)


@cache
def compiled() -> None:
    """Compile our modules, as pip does when it installs them: a start does not pay for it."""
    compileall.compile_dir(str(Path(sw.__file__).parent), quiet=2)


def fresh(code: str) -> tuple[float, float]:
    """Seconds that the code says it took in a process of its own, and that process's peak in MB."""
    compiled()
    # not ru_maxrss: a child begins with its parent's
    tail = "\nprint([s for s in open('/proc/self/status') if 'VmHWM' in s][0].split()[1])"
    run = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True
    )
    *_, seconds, peak = run.stdout.split()
    return float(seconds), float(peak) / 1024


TIMED = "import time; start = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


def imports(_: BestOf) -> Measured:
    ours = min(fresh(TIMED.format("import numpy, scorewise"))[0] for _ in range(5))
    numpy = min(fresh(TIMED.format("import numpy"))[0] for _ in range(5))
    return (ours - numpy) * 1000, None


def memory(_: BestOf) -> Measured:
    setup = (
        "import numpy as np, scorewise as sw\nfrom benchmarks.rows import data\n"
        "y, s = data(10_000_000)\nprint(1.0)\n"
    )
    sw_peak = fresh(setup + "dict(sw.evaluate(y, s).items())\nprint(1.0)")[1]
    y, s = data(10_000_000)
    return sw_peak, (y.nbytes + s.nbytes) / 2**20


def command_line() -> tuple[float, float]:
    """Seconds and peak of a whole run of `scorewise evaluate` on a file, two models, all outputs."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        y, s = data(1_000_000)
        path = Path(folder) / "scores.parquet"
        pl.DataFrame({"y": y, "p": s, "q": s**1.5}).write_parquet(path)
        words = ["evaluate", str(path), "--label", "y", "--score", "p", "--score", "q"]
        words += ["--json", f"{folder}/out.json", "--md", f"{folder}/out.md"]
        code = f"from scorewise.cli import run\nassert run({words}) == 0"
        return fresh(TIMED.format(code))


def report_file() -> tuple[float, float]:
    """Seconds of a whole run of `scorewise report`, two models and eight groups, and KB of the page."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        y, s = data(1_000_000)
        site = [f"site {k}" for k in np.arange(len(y)) % 8]
        scores, page = Path(folder) / "scores.parquet", Path(folder) / "report.html"
        pl.DataFrame({"y": y, "p": s, "q": s**1.5, "site": site}).write_parquet(scores)
        words = ["report", str(scores), "--label", "y", "--score", "p", "--score", "q"]
        words += ["--by", "site", "-o", str(page)]
        seconds, _ = fresh(TIMED.format(f"from scorewise.cli import run\nassert run({words}) == 0"))
        return seconds, page.stat().st_size / 1000


LLM = Path(__file__).parents[2] / "shared" / "data" / "predictions" / "llm_confidence.parquet"


def answers_by_group(_: BestOf) -> Measured:
    """Seconds of a whole run of `scorewise answers`: two confidences, eleven models, five sets."""
    words = ["answers", str(LLM), "--quality", "correct", "--confidence", "stated_confidence"]
    words += ["--confidence", "chosen_token_confidence", "--by", "llm", "--by", "qset"]
    words += ["--missing", "drop"]
    code = f"from scorewise.cli import run\nassert run({words}) == 0"
    return fresh(TIMED.format(code))[0], None


ROWS = [
    Budget("auroc(Tally.of(y, s)), 10 million rows", "sklearn roc_auc_score", 0.07, auroc),
    Budget("smauc with interval, 10 million", "auroc with interval", 1.3, smauc),
    Budget(
        "evaluate, every measure with interval, 10 million",
        "sklearn roc_auc_score",
        0.2,
        evaluate(10_000_000, 2, 1),
    ),
    Budget("evaluate, 1 million", "sklearn roc_auc_score", 0.6, evaluate(1_000_000, 5, 3)),
    Budget("evaluate, 100,000", "sklearn roc_auc_score", 4, evaluate(100_000, 10, 10)),
    Budget("evaluate, 1,000 groups of 1 million", "evaluate", 3, thousand_groups),
    Budget("evaluate, 12 groups of 6,172", "fairlearn, 100 bootstraps", 0.05, twelve_groups),
    Budget("evaluate, 1,000", "the clock", 0.1, evaluate_thousand),
    Budget("evaluate, the first screen, 1,000", "processor", 60, first_screen, "ms"),
    Budget("evaluate(y, p).auroc, 1,300", "processor", 3, one_measure, "ms"),
    Budget("compare two models, 5 million", "two sklearn roc_auc_score", 1, compare),
    Budget("AUC with DeLong interval, 1 million", "confidenceinterval", 0.02, delong),
    Budget("evaluate, ten classes, 100,000", "the clock", 3, ten_classes),
    Budget("smECE, 1 million", "relplot", 0.1, smece),
    Budget("ANLS of 100,000 answers", "rapidfuzz in a loop", 2, anls_of_pairs),
    Budget("1,000 bootstrap replicates of F1, 100,000", "confidenceinterval", 0.005, bootstrap),
    Budget("density of 10 million points", "np.sort of the same", 2, density),
    Budget("alpha and Fleiss, 1 million x 5", "krippendorff.alpha", 0.1, agreement),
    Budget("import scorewise, beyond numpy", "the clock", 150, imports, "ms"),
    Budget("scorewise --help", "processor", 0.3, help_page),
    Budget("evaluate 10 million: peak of the process", "its input arrays", 4, memory, "MB"),
    Budget(
        "command line, 1 million x 2 models", "the clock", 5, lambda _: (command_line()[0], None)
    ),
    Budget("command line, its peak", "memory", 600, lambda _: (command_line()[1], None), "MB"),
    Budget(
        "report: 1 million rows x 2 models x 8 groups",
        "the clock",
        5,
        lambda _: (report_file()[0], None),
    ),
    Budget("report: its size", "the file", 250, lambda _: (report_file()[1], None), "KB"),
]
if LLM.exists():  # beside the checkout, and not everywhere
    ROWS.append(Budget("answers, 72,185 rows in 55 groups", "the clock", 5, answers_by_group))

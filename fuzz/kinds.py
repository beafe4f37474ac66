"""The kinds of cases, what each has to cover, and the seeds that once found something."""

from collections.abc import Callable
from typing import NamedTuple

from fuzz import HERE, case, classes, containers, files, raters, saved, two
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES

SEEDS = HERE / "seeds.txt"


class Kind(NamedTuple):
    """How a case is run, its part of the time, the measures it is to look at, and those with an oracle."""

    run: Callable
    part: int
    measures: dict = {}  # noqa: RUF012
    oracles: frozenset = frozenset()


KINDS = {
    "two": Kind(two.two, 3, MEASURES, frozenset(two.ORACLES)),
    "classes": Kind(classes.classes, 3, CLASS_MEASURES, frozenset(classes.ORACLES)),
    "raters": Kind(raters.raters, 2, RATER_MEASURES, frozenset(raters.ORACLES)),
    "containers": Kind(containers.containers, 1),
    "files": Kind(files.files, 3),
    "saved": Kind(saved.saved, 1),
}


def lacking():
    """Registered measures that no oracle is said for."""
    return [
        f"{m} ({name})"
        for name, kind in KINDS.items()
        for m in sorted(set(kind.measures) - kind.oracles)
    ]


def run_case(kind, seed):
    return case.run(kind, KINDS[kind].run, seed)


def kept_seeds():
    """Kind, seed and the words beside them; those of faults that are not mended begin with "open"."""
    lines = SEEDS.read_text("utf-8").splitlines() if SEEDS.exists() else []
    for line in lines:
        if line and not line.startswith("#"):
            kind, seed, *words = line.split(maxsplit=2)
            yield kind, int(seed), words[0] if words else ""

"""Recalibration learned from few rows: how often and how much `auto` does harm.

`python -m benchmarks.recalibration_of_few [repetitions]` writes docs/tables/recalibration_of_few.md. Maps
are fitted to 100, 250 and 1,000 rows drawn at random and judged on the others, at most 5,000 for several
classes.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.recalibration import OUT, data_sets, loss
from benchmarks.recalibration_of_classes import CLIP, class_loss, class_sets
from scorewise import Recalibrator
from scorewise.errors import BadInput
from scorewise.recalibrating.classes.methods import ClassMap
from scorewise.recalibrating.mapping import Map
from scorewise.tallies.losses import softmax

SIZES = (100, 250, 1000)
HEAD = """\
Maps fitted to few rows of the sets above, drawn {times} times each, and judged on the others: how often
`auto` changed the scores; how often the log loss was then higher by more than 0.5 %, and by how much at
worst; the mean change; and how often it was within 1 % of the best of the methods tried, in hindsight.

| scores | rows | trials | changed | worse by 0.5 % | at worst | mean change | within 1 % |
|---|---:|---:|---:|---:|---:|---:|---:|"""


def one_score(p, y, rows: int, seed: int) -> tuple[float, float, float] | None:
    """Log loss before, after auto, and of the best method tried."""
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = order[:rows], order[rows:]
    try:
        r = Recalibrator().fit(p[a], y[a])
    except BadInput:
        return None  # one class only
    before, after = loss(p[b], y[b]), loss(r.transform(p[b]), y[b])
    made = (Map.fit(row.method, r.tally_, CLIP)(p[b]) for row in r.table)
    return before, after, min(loss(q, y[b]) for q in made)


def several_classes(s, rows: int, seed: int) -> tuple[float, float, float]:
    """The same for several classes."""
    order = np.random.default_rng(seed).permutation(len(s.y))
    a, b = order[:rows], order[rows : rows + 5000]
    r = Recalibrator(kind=s.kind).fit(s.p[a], s.y[a], classes=range(s.p.shape[1]))
    new = np.asarray(s.p[b], float)
    before = class_loss(softmax(new) if s.kind == "logit" else new, s.y[b])
    made = (
        ClassMap.fit(row.method, r.rows_, r.classes_, s.kind, CLIP, row.strength)(new)
        for row in r.table
    )
    best = min(class_loss(q, s.y[b]) for q in made)
    return before, class_loss(r.transform(new), s.y[b]), best


def line(name: str, rows: int, found) -> str:
    before, after, best = np.array(found).T
    change = after / before - 1
    return (
        f"| {name} | {rows:,} | {len(change)} | {np.mean(change != 0):.0%} | {np.sum(change > 0.005)} | "
        f"{max(change.max(), 0):.1%} | {change.mean():+.1%} | {np.mean(after <= 1.01 * best):.0%} |"
    )


def main(times: int) -> None:
    made = [HEAD.format(times=times)]
    for rows in SIZES:
        fit = [(p, y) for p, y in data_sets().values() if len(y) >= 1.5 * rows]
        runs = [one_score(p, y, rows, seed) for p, y in fit for seed in range(times)]
        made.append(line(f"one score ({len(fit)} sets)", rows, [r for r in runs if r is not None]))
        print(made[-1], flush=True)
    for rows in SIZES:
        sets = class_sets()
        runs = [several_classes(s, rows, seed) for s in sets.values() for seed in range(times)]
        made.append(line(f"several classes ({len(sets)} sets)", rows, runs))
        print(made[-1], flush=True)
    OUT.with_name("recalibration_of_few.md").write_text("\n".join(made) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)

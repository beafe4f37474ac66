"""Random panels of humans and judges, and loops that judge them."""

from collections import Counter

import numpy as np
from sklearn.metrics import cohen_kappa_score


def panel(seed, n=120, humans=3, judges=2, categories=3, missing=0.1, unlabelled=0.0):
    """Columns by name: each rater sees the truth of an item with some errors; None is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(categories, n, p=rng.dirichlet(np.full(categories, 4)))

    def column(errors, gone):
        said = np.where(rng.random(n) < errors, rng.integers(0, categories, n), truth)
        return [None if rng.random() < gone else f"c{code}" for code in said]

    people = {f"h{k}": column(0.25, missing) for k in range(humans)}
    blank = rng.random(n) < unlabelled
    people = {
        k: [None if b else x for x, b in zip(v, blank, strict=True)] for k, v in people.items()
    }
    return people, {f"j{k}": column(0.35 + 0.1 * k, missing / 2) for k in range(judges)}


def majority(columns):
    """The most frequent rating of each row; None where there is none, or two are."""
    found = []
    for row in zip(*columns, strict=True):
        votes = Counter(x for x in row if x is not None).most_common(2)
        tie = len(votes) == 2 and votes[0][1] == votes[1][1]
        found.append(None if tie or not votes else votes[0][0])
    return found


def both(*columns):
    """The rows that miss nothing, column by column."""
    rows = [row for row in zip(*columns, strict=True) if None not in row]
    return [list(column) for column in zip(*rows, strict=True)]


def kappa(a, b, **options):
    return cohen_kappa_score(*both(a, b), **options)


def without_one(people, judge):
    """The mean kappa of humans, and of a judge, with the majority of the other humans."""
    human, machine = [], []
    for name, own in people.items():
        rest = majority([c for other, c in people.items() if other != name])
        rest, own, said = both(rest, own, judge)
        human.append(cohen_kappa_score(rest, own))
        machine.append(cohen_kappa_score(rest, said))
    return np.mean(human), np.mean(machine)

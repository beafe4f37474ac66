"""Every measure of raters once more, by packages that this project did not write.

Each oracle takes a `RaterCase` of nominal ratings and gives the value. A new measure of raters needs a
line in RATER_ORACLES.
"""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics import cohen_kappa_score

from rater_part_oracles import PART_ORACLES


def irrcac(name, weights="identity"):
    """A coefficient of irrCAC, of raw ratings."""

    def oracle(case):
        return irrcac_estimate(case, name, weights)["coefficient_value"]

    return oracle


def irrcac_estimate(case, name, weights="identity"):
    """All that irrCAC says of a coefficient, unrounded."""
    pd = pytest.importorskip("pandas")
    raw = pytest.importorskip("irrCAC.raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(case.x)
        categories = [float(k) for k in range(1, case.many + 1)]
        found = raw.CAC(frame, weights=weights, categories=categories, digits=14)
        return getattr(found, name)()["est"]


def agreeing_pairs(case):
    """The mean over items of the share of agreeing pairs, one pair at a time."""
    found = []
    for row in case.x:
        said = row[~np.isnan(row)]
        if len(said) > 1:
            found.append(np.mean([a == b for a, b in combinations(said, 2)]))
    return np.mean(found)


def cohen(case):
    return cohen_kappa_score(*case.both.T, labels=range(1, case.many + 1))


def light(case):
    pairs = combinations(range(case.x.shape[1]), 2)
    both = [case.x[:, list(p)][~np.isnan(case.x[:, list(p)]).any(1)] for p in pairs]
    return np.mean([cohen_kappa_score(*b.T, labels=range(1, case.many + 1)) for b in both])


def table(case):
    """The table of two raters."""
    a, b = case.both.astype(int).T - 1
    found = np.zeros((case.many, case.many))
    np.add.at(found, (a, b), 1)
    return found


def scott(case):
    tables = pytest.importorskip("irrCAC.table")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(case))
    return tables.CAC(frame, digits=14).scott()["est"]["coefficient_value"]


def best_table(case, away=None):
    """Kappa of the table with the same margins that agrees most, found by linear programming."""
    t = table(case) / len(case.both)
    q = case.many
    away = 1 - np.eye(q) if away is None else away
    cells = np.arange(q * q)
    margins = [cells // q == k for k in range(q)] + [cells % q == k for k in range(q)]
    found = linprog(away.ravel(), A_eq=np.array(margins, float), b_eq=[*t.sum(1), *t.sum(0)])
    return 1 - found.fun / (away * np.outer(t.sum(1), t.sum(0))).sum()


def alpha(case):
    return pytest.importorskip("krippendorff").alpha(case.x.T, level_of_measurement="nominal")


RATER_ORACLES = {
    "percent_agreement": agreeing_pairs,
    "cohen_kappa": cohen,
    "scott_pi": scott,
    "fleiss_kappa": irrcac("fleiss"),
    "conger_kappa": irrcac("conger"),
    "light_kappa": light,
    "krippendorff_alpha": alpha,
    "gwet_ac": irrcac("gwet"),
    "brennan_prediger": irrcac("bp"),
    "kappa_max": best_table,
    **PART_ORACLES,
}

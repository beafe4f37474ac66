"""Oracles of intraclass correlations and of the margins of two raters; see rater_oracles.py."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats


def icc(name):
    """A row of pingouin's table, of the items that all rated."""

    def oracle(case):
        pingouin = pytest.importorskip("pingouin")
        long = pd.DataFrame(case.both).reset_index()
        long = long.melt("index", var_name="rater", value_name="rating")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pingouin.intraclass_corr(long, "index", "rater", "rating")
        return found.set_index("Type").loc[name, "ICC"]

    return oracle


def one_way(of):
    """By scipy's analysis of variance of the ratings of each item."""

    def oracle(case):
        groups = [row[~np.isnan(row)] for row in case.x]
        sizes = np.array([len(g) for g in groups])
        f = stats.f_oneway(*groups).statistic
        return of(f, (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(groups) - 1))

    return oracle


def square(case):
    a, b = case.both.astype(int).T - 1
    found = np.zeros((case.many, case.many))
    np.add.at(found, (a, b), 1)
    return found


def homogeneity(case):
    """The differences of the margins by the generalised inverse of their covariance."""
    t = square(case)
    apart = t.sum(1) - t.sum(0)
    covariance = np.diag(t.sum(1) + t.sum(0)) - t - t.T
    return apart @ np.linalg.pinv(covariance) @ apart


def symmetry(case):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    return tables.SquareTable(square(case), shift_zeros=False).symmetry().statistic


def bias(case):
    first, second = (case.both == 1).mean(0)
    return first - second


def prevalence(case):
    return (case.both == 1).mean() - (case.both == 2).mean()


PART_ORACLES = {
    "icc_1_1": one_way(lambda f, k: (f - 1) / (f + k - 1)),
    "icc_1_k": one_way(lambda f, k: 1 - 1 / f),
    "icc_2_1": icc("ICC(A,1)"),
    "icc_2_k": icc("ICC(A,k)"),
    "icc_3_1": icc("ICC(C,1)"),
    "icc_3_k": icc("ICC(C,k)"),
    "stuart_maxwell": homogeneity,
    "bowker": symmetry,
    "bias_index": bias,
    "prevalence_index": prevalence,
}
OF_NUMBERS = {name for name in PART_ORACLES if name.startswith("icc")}

"""Rows whose probabilities are wrong in a known way."""

import numpy as np


def expit(z):
    return 1 / (1 + np.exp(-z))


def draw(seed, rows, slope=1.0, intercept=0.0, spread=1.5, digits=None):
    """Scores p, and labels whose log-odds are intercept + slope x those of p."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows) * spread
    p = expit(z)
    if digits is not None:
        p = np.clip(p.round(digits), 10.0**-digits, 1 - 10.0**-digits)
        z = np.log(p / (1 - p))
    return p, (rng.random(rows) < expit(intercept + slope * z)).astype(int)


def sandwich_df(line, y):
    """Degrees of freedom of the sandwich of a logistic regression by statsmodels, for its last coefficient.

    Those of the rarer class, or by Satterthwaite of the squares of what each row adds, at least five.
    """
    x = line.model.exog
    bread = np.linalg.inv((x * (line.mu * (1 - line.mu))[:, None]).T @ x)
    square = ((x @ bread[-1]) * (y - line.mu)) ** 2
    uneven = (square**2).sum() / square.sum() ** 2 - 1 / len(y)
    by_rows = max(2 / uneven, 5) if uneven > 0 else np.inf
    return min(y.sum() - 1, len(y) - y.sum() - 1, by_rows)

"""The study of planted wrong labels runs, on a case small enough for a test."""

import numpy as np
import pytest
from studies import labels

OURS, RANKINGS = labels.OURS, labels.RANKINGS


@pytest.fixture(scope="module")
def case():
    """Two clouds far apart, so that a wrong label stands out."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    x = rng.normal(size=(200, 3)) + 3 * y[:, None]
    wrong = labels.planted(y, 1)
    return x, y ^ wrong, wrong


def test_as_many_labels_are_planted_as_said(case):
    _, _, wrong = case
    assert wrong.sum() == 6
    assert not np.array_equal(wrong, labels.planted(wrong, 2))


@pytest.mark.parametrize("kind", labels.MODELS)
def test_easy_wrong_labels_are_found(case, kind):
    x, y, wrong = case
    p = labels.scores(x, y, kind, 0)
    found = labels.found(y, p, wrong)
    assert set(found) == set(RANKINGS)
    assert found[OURS] >= 0.8
    for ranking in RANKINGS.values():
        order = ranking(y, p)
        assert len(set(order)) == len(order) <= len(y)


def test_table_names_every_ranking():
    values = np.random.default_rng(0).random((2, len(RANKINGS)))
    runs = [dict(zip(RANKINGS, line, strict=True)) for line in values]
    total = {(s, m): runs for s in (*labels.SETS, *labels.UNSEEN) for m in labels.MODELS}
    table = labels.markdown(total, 2)
    assert all(name in table for name in RANKINGS)
    assert all(name in table for name in labels.SETS)

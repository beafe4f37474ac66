"""What the verdict on drift claims."""

import re

import numpy as np
import polars as pl
import pytest

import scorewise as sw


def test_what_would_go_unseen_is_larger_than_all_that_was_not_seen():
    """Some are beyond chance, but not beyond chance among thirteen tests."""
    rng = np.random.default_rng(5)

    def sample(prevalence):
        y = rng.random(500) < prevalence
        return y, 1 / (1 + np.exp(-(rng.normal(size=500) + 1.5 * y - 2.5)))

    unseen = 0
    for _ in range(12):
        d = sw.drift(sample(0.12), sample(0.175))
        c = d["prevalence"]
        assert c.by_chance <= c.needed
        if d.kind == "none seen":
            unseen += 1
            assert abs(c.value) <= c.needed + 1e-9
            assert f"share of positives {c.needed:.3f}" in d.verdict
    assert unseen


def moved(level, **options):
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 120), 0.3 * rng.random(120)
    return sw.drift((y, s), (y, s + 0.7), level=level, **options)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_a_large_change_is_seen_at_any_level(level):
    assert moved(level).seen


def test_too_few_replicates_are_no_verdict():
    d = moved(0.99, replicates=500)
    assert d.kind == "untested"
    needed = int(re.search(r"; ([\d,]+) replicates or more", d.verdict)[1].replace(",", ""))
    assert moved(0.99, replicates=needed).seen


def test_equal_weights_are_no_cause_of_alarm():
    """A small sample leaves bins empty, with weights as without."""
    alarms = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs = [((rng.random(n) < 0.5) * 1, rng.random(n)) for n in (400, 26)]
        weighted = [sw.Tally.of(y, s, weight=rng.uniform(0.5, 2, len(s))) for y, s in pairs]
        alarms += sw.drift(*weighted).seen
    assert alarms <= 3  # of 12 at 5 %: more than 3 has a chance below 1 %


def test_a_window_of_no_weight_has_a_reason():
    n = 60
    rng = np.random.default_rng(0)
    rows = {"t": np.arange(n), "y": rng.integers(0, 2, n), "p": rng.random(n)}
    rows["w"] = np.repeat([1.0, 0.0], n // 2)
    d = sw.drift(rows, time="t", label="y", score="p", weight="w", windows=2)
    assert "no rows in the 30 to 59 sample" in str(d).replace("\n         ", " ")


def test_dropped_rows_of_windows_are_counted():
    n = 100
    rng = np.random.default_rng(0)
    rows = {"t": np.arange(n), "y": rng.integers(0, 2, n), "p": rng.random(n)}
    rows["p"][[3, 70, 71]] = np.nan
    d = sw.drift(rows, time="t", label="y", score="p", windows=2, missing="drop", replicates=399)
    assert sum(s["dropped"] for s in (d.to_dict()["reference"], *d.to_dict()["windows"])) == 3
    assert "3 rows with missing values" in str(d)


def test_no_slope_where_samples_hardly_meet():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 200)
        d = sw.drift((y, 0.1 * rng.random(200)), (y, 0.9 + 0.1 * rng.random(200)), replicates=399)
        slope = d["calibration_slope"]
        assert slope.estimate.why or abs(slope.value) < 1e3


def test_months_are_those_on_the_wall():
    """Midnights of Paris lie in the month that they begin."""
    days = pl.datetime_range(
        pl.datetime(2025, 1, 1),
        pl.datetime(2025, 3, 31),
        "1d",
        time_zone="Europe/Paris",
        eager=True,
    )
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"day": days, "y": rng.integers(0, 2, len(days)), "p": rng.random(len(days))}
    )
    d = sw.drift(frame, time="day", every="month", label="y", score="p", replicates=99)
    assert d.reference.name == "2025-01"
    assert d.reference.rows == 31
    assert [(w.name, w.sample.rows) for w in d.windows] == [("2025-02", 28), ("2025-03", 31)]

"""Windows of time: how a source is cut, and what is said of each part."""

from datetime import UTC, date, datetime, timedelta

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import scorewise as sw
from drift_cases import draw
from scorewise import BadInput
from scorewise.show.document import schema as document_schema
from scorewise.show.terminal import text

FAST = {"label": "y", "score": "p", "replicates": 99}
N = 600


def source(times, **options):
    y, p = draw(1, len(times), **options)
    return {"y": y, "p": p, "t": times}


def names(d):
    return [d.reference.name, *(w.name for w in d.windows)]


def rows(d):
    return [s.rows for s in (d.reference, *(w.sample for w in d.windows))]


def cut(times, **options):
    return sw.drift(source(times), time="t", **FAST, **options)


DAYS = [date(2025, 1, 1) + timedelta(days=k % 360) for k in range(N)]


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        [str(d) for d in DAYS],
        [f"{d}T00:00:00Z" for d in DAYS],
        [datetime(d.year, d.month, d.day, 1, tzinfo=UTC) for d in DAYS],
        np.array(DAYS, "M8[D]"),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC"),
        pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime("ms", "UTC")),
        pl.Series([str(d) for d in DAYS]),
    ],
    ids=lambda t: type(t).__name__,
)
def test_dates_of_every_kind_are_cut_alike(times):
    d = cut(times, every="quarter")
    assert names(d) == ["2025-Q1", "2025-Q2", "2025-Q3", "2025-Q4"]
    expected = pl.Series(DAYS).dt.quarter().value_counts(sort=False).sort("").get_column("count")
    assert rows(d) == expected.to_list()


@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year"])
def test_calendar_periods_are_those_of_polars(every):
    days = [date(2024, 12, 20) + timedelta(days=int(k)) for k in np.arange(40) % 23]
    step = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}[every]
    starts = pl.Series("", days).dt.truncate(step)
    expected = starts.value_counts().sort("").get_column("count").to_list()
    assert rows(cut(days, every=every)) == expected


def test_names_of_periods():
    days = [date(2024, 12, 30), date(2025, 1, 6)] * 20
    assert names(cut(days, every="week")) == ["week of 2024-12-30", "week of 2025-01-06"]
    assert names(cut(days, every="month")) == ["2024-12", "2025-01"]
    assert names(cut(days, every="year")) == ["2024", "2025"]
    assert names(cut(days, every="day")) == ["2024-12-30", "2025-01-06"]


def test_windows_of_equal_numbers_of_rows():
    d = cut(np.random.default_rng(0).permutation(N))
    assert rows(d) == [100] * 6
    assert names(d)[0] == "0 to 99"
    assert rows(cut(np.arange(N), windows=4)) == [150] * 4


def test_rows_of_the_same_time_are_never_split():
    times = np.repeat([1, 2, 3], [290, 300, 10])
    d = cut(times, windows=4)
    assert sum(rows(d)) == N
    assert set(rows(d)) <= {290, 300, 10, 310}
    assert len(d.windows) < 4


def test_reference_until():
    hours = [datetime(2025, 1, 1) + timedelta(hours=6 * k) for k in range(N)]
    d = cut(hours, reference_until="2025-01-31", windows=3)
    assert rows(d)[0] == 31 * 4  # the whole last day
    assert len(d.windows) == 3
    assert names(d)[0] == "2025-01-01 to 2025-01-31T18:00:00"
    assert rows(cut(hours, reference_until=datetime(2025, 1, 31, 6)))[0] == 30 * 4 + 2
    assert rows(cut(np.arange(N), reference_until=99, windows=1)) == [100, 500]


def test_a_window_is_compared_as_two_samples_are():
    d = cut(np.arange(N), windows=2)
    y, p = draw(1, N)
    pair = sw.drift((y[:300], p[:300]), (y[300:], p[300:]), replicates=99)
    assert {n: c.value for n, c in d.window.items()} == {n: c.value for n, c in pair.window.items()}


def test_holm_is_over_all_windows():
    d = cut(np.arange(N), windows=4)
    p = [c.p for w in d.windows for c in w.values()]
    adjusted = [c.p_adjusted for w in d.windows for c in w.values()]
    assert len(p) == 39
    assert min(adjusted) == pytest.approx(min(1.0, 39 * min(p)))


def test_drift_is_found_where_it_begins():
    (y, p), (v, q) = draw(1, 3000), draw(2, 2000, noise=0.3)
    data = {"y": np.append(y, v), "p": np.append(p, q), "t": np.arange(5000)}
    d = sw.drift(data, time="t", windows=5, label="y", score="p")
    assert [w.kind for w in d.windows] == ["none seen", "none seen", "concept", "concept"]
    assert d.verdict.startswith("Drift is seen in 2 of 4 windows, first in 3000 to 3999 (concept)")
    doc = d.to_dict()
    jsonschema.Draft202012Validator(document_schema("drift")).validate(doc)
    shown = text(doc)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "What was seen" in shown
    assert d.to_frame().height == 4 * 13
    with pytest.raises(BadInput, match=r"there are 4 windows; choose one, such as d.windows\[0\]"):
        d["ks"]


def test_too_many_windows_for_so_few_replicates_are_told():
    d = cut(np.arange(N), windows=10)
    assert "no p-value can be significant after Holm" in d.verdict
    assert not d.seen
    assert {w.kind for w in d.windows} == {"untested"}
    enough = sw.drift(source(np.arange(N)), time="t", windows=2, label="y", score="p")
    assert not enough.to_dict()["hints"]


def test_windows_without_labels():
    d = sw.drift(source(np.arange(N)), time="t", labels="none", **FAST)
    assert d.windows[0]["auroc"].estimate.why.startswith("no labels in the 0 to 99 sample")


def test_missing_times_are_refused_or_dropped():
    times = [None if k % 100 == 7 else k for k in range(N)]
    with pytest.raises(BadInput, match="t is missing in 6 rows, first at row 7"):
        cut(times)
    d = cut(times, missing="drop")
    assert sum(rows(d)) == N - 6


def test_weights_and_kinds_go_along():
    data = {**source(np.arange(N)), "w": np.ones(N)}
    d = sw.drift(data, time="t", weight="w", kind="probability", **FAST)
    assert d.reference.tally.weighted
    assert d.to_dict()["reference"]["weight"] == "w"


REFUSED = {
    "all in one": (["2025-01-01"] * N, {}, "all rows fall into one window of 't' \\(2025-01-01\\)"),
    "no times": (["soon"] * N, {}, "t holds 'soon', which is not a time; write 2026-01-31"),
    "mixed": ([1, "2025-01-01"] * (N // 2), {}, "numbers beside dates"),
    "numbers by month": (np.arange(N), {"every": "month"}, "holds numbers, which have no month"),
    "period": (DAYS, {"every": "fortnight"}, 'every="fortnight" is not known'),
    "both": (DAYS, {"every": "month", "windows": 3}, "pass one of them"),
    "one window": (DAYS, {"windows": 1}, "windows=1 is too few; pass 2 or more"),
    "until before": (DAYS, {"reference_until": "2024-01-01"}, "the first is at 2025-01-01"),
    "until a number": (DAYS, {"reference_until": 3}, "does not fit the times, which are dates"),
    "labels": (DAYS, {"labels": "reference"}, "is for two samples; with time="),
    "until all": (DAYS, {"reference_until": "2027-01-01"}, "nothing to compare it with"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    times, options, said = REFUSED[name]
    with pytest.raises(BadInput, match=said):
        cut(times, **options)


def test_a_column_that_is_not_there():
    with pytest.raises(BadInput, match="there is no column 'when'"):
        sw.drift(source(DAYS), time="when", **FAST)

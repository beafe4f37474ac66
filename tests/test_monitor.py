"""The long-lived evaluator: exact under threads and processes, windows, decay, and bad batches."""

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import scorewise as sw
from scorewise.errors import BadInput
from scorewise.monitoring import windows

HOUR = timedelta(hours=1)


def drawn(rows, seed=0, digits=None):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, rows)
    p = p if digits is None else p.round(digits)
    return (rng.random(rows) < p).astype(int), p


class Clock:
    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now


def fed(monitor, y, p, size, **more):
    for i in range(0, len(y), size):
        at = slice(i, i + size)
        monitor.update(y[at], p[at], **{k: v[at] for k, v in more.items()})
    return monitor


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_of_any_size_give_the_tally_of_all_rows(size):
    y, p = drawn(3000)
    assert fed(sw.Monitor(), y, p, size).snapshot() == sw.Tally.of(y, p)


def test_many_distinct_scores_lie_on_the_grid_and_few_stay_exact():
    y, p = drawn(150_000)
    t = fed(sw.Monitor(), y, p, 10_000).snapshot()
    assert t == sw.Tally.of(y, p).coarsen()
    found = sw.measures.auroc(t)
    assert 0 < found.bound < 1e-3
    assert abs(found.value - roc_auc_score(y, p)) <= found.bound
    y, p = drawn(150_000, digits=3)
    t = fed(sw.Monitor(), y, p, 10_000).snapshot()
    assert t == sw.Tally.of(y, p)
    assert sw.measures.auroc(t).value == pytest.approx(roc_auc_score(y, p), abs=1e-12)


@pytest.mark.parametrize("kind", ["logit", "score"])
def test_scores_of_other_kinds(kind):
    y, p = drawn(100_000)
    s = np.log(p / (1 - p))
    t = fed(sw.Monitor(kind=kind), y, s, 30_000).snapshot()
    assert t.kind == kind
    assert t == sw.Tally.of(y, s, kind=kind).coarsen()


def test_weights_and_counts_may_come_in_some_batches_only():
    y, p = drawn(600, digits=2)
    w = np.ones(600)
    w[:200] = np.arange(200) % 4 + 0.5
    n = np.ones(600, int)
    n[400:] = 3
    m = sw.Monitor()
    m.update(y[:200], p[:200], weight=w[:200])
    m.update(y[200:400], p[200:400])
    m.update(y[400:], p[400:], count=n[400:])
    want = sw.Tally.of(y, p, weight=w, count=n)
    got = m.snapshot()
    assert got.origin.rows == want.origin.rows == 1000
    for name in ("neg", "pos", "neg2", "pos2"):
        np.testing.assert_allclose(getattr(got, name), getattr(want, name), rtol=1e-13)


def work(seed):
    """One process: eight threads share a monitor."""
    m = sw.Monitor()

    def feed(thread):
        rng = np.random.default_rng([seed, thread])
        for _ in range(10):
            n = int(rng.integers(1, 3000))
            p = rng.random(n)
            m.update(rng.random(n) < p, p)

    threads = [threading.Thread(target=feed, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    m.snapshot()  # in the midst of it
    for t in threads:
        t.join()
    return m


def test_eight_threads_in_each_of_four_processes_lose_and_double_nothing():
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = list(pool.map(work, range(4)))
    parts = []
    for seed in range(4):
        for thread in range(8):
            rng = np.random.default_rng([seed, thread])
            for _ in range(10):
                p = rng.random(int(rng.integers(1, 3000)))
                parts.append((rng.random(len(p)) < p, p))
    y, p = (np.concatenate(x) for x in zip(*parts, strict=True))
    total = sum(found[1:], found[0])
    assert total.snapshot() == sw.Tally.of(y, p).coarsen()
    first = found[0].snapshot()
    assert first.origin.rows < len(y)  # adding changed neither of both


def test_a_snapshot_does_not_change_and_arrays_may_be_filled_anew():
    y, p = np.array([0, 1, 1]), np.array([0.1, 0.2, 0.3])
    m = sw.Monitor()
    m.update(y, p)
    p[:], y[:] = 0.9, 0
    before = m.snapshot()
    m.update(y, p)
    assert before == sw.Tally.of([0, 1, 1], [0.1, 0.2, 0.3])
    assert m.snapshot().origin.rows == 6


BAD = {
    "missing": (([0, 1], [0.5, np.nan]), "score is missing in 1 row"),
    "outside": (([0, 1], [0.5, 1.5]), r"score is outside \[0, 1\]"),
    "lengths": (([0, 1], [0.5]), "label has 2 rows and score has 1"),
    "labels": ((["a", "b"], [0.5, 0.5]), "label is 'a' in 2 rows"),
    "third": (([0, 2], [0.5, 0.5]), "label is '2' in 1 row, .* the classes are '0' and '1'"),
    "another": (([2.5], [0.5]), "label is '2.5' in 1 row"),
    "classes": (([True, False], [0.5, 0.5]), "'False' and 'True', but were '0' and '1' before"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_batch_changes_nothing(name):
    m = sw.Monitor()
    m.update([0, 1], [0.25, 0.75])
    (y, p), sentence = BAD[name]
    with pytest.raises(BadInput, match=sentence):
        m.update(y, p)
    assert m.snapshot() == sw.Tally.of([0, 1], [0.25, 0.75])
    m.update([1], [0.5])
    assert m.snapshot().origin.rows == 3


def test_words_of_the_classes():
    m = sw.Monitor(classes=("blue", "red"))
    m.update(["blue", "blue"], [0.1, 0.2])
    m.update(["red"], [0.3])
    t = m.snapshot()
    assert (t.origin.negative, t.origin.positive, t.positives) == ("blue", "red", 1)
    with pytest.raises(
        BadInput, match=r"label is 'green' in 1 row, row 1.*; the classes are 'blue'"
    ):
        m.update(["red", "green"], [0.1, 0.2])
    with pytest.raises(BadInput, match=r"one value only .blue.*classes=, the negative first"):
        sw.Monitor().update(["blue"], [0.1])
    guessed = sw.Monitor()
    guessed.update(["blue", "red"], [0.1, 0.2])
    guessed.update(["blue"], [0.1])  # the words are known from the first batch on
    assert guessed.snapshot().origin.rows == 3
    numbers = sw.Monitor(classes=(1, 2), missing="drop")
    numbers.update([1.0, 1.0, np.nan], [0.1, 0.2, 0.3])
    numbers.update([2], [0.9])
    t = numbers.snapshot()
    assert (t.negatives, t.positives, t.origin.dropped) == (2, 1, 1)


def test_a_window_of_rows_holds_the_latest_and_up_to_a_part_more():
    y, p = drawn(1000)
    m = sw.Monitor(window=100, parts=4)
    for i in range(0, 1000, 7):
        m.update(y[i : i + 7], p[i : i + 7])
        seen = min(i + 7, 1000)
        t = m.snapshot()
        rows = t.origin.rows
        assert rows == seen if seen < 100 else 100 <= rows < 125
        assert t == sw.Tally.of(y[seen - rows : seen], p[seen - rows : seen])
    m.update(y, p)  # longer than the window
    assert m.snapshot() == sw.Tally.of(
        y[-m.snapshot().origin.rows :], p[-m.snapshot().origin.rows :]
    )


def test_a_window_of_time_and_its_merge():
    clock = Clock(1e9)
    a, b = (sw.Monitor(window=HOUR, parts=6, clock=clock) for _ in range(2))
    y, p = drawn(240)
    for minute in range(240):
        clock.now = 1e9 + 60 * minute
        (a if minute % 2 else b).update(y[minute : minute + 1], p[minute : minute + 1])
    rows = (a + b).snapshot().origin.rows
    assert 60 <= rows <= 70
    assert (a + b).snapshot() == sw.Tally.of(y[-rows:], p[-rows:])
    clock.now += 3600 + 601
    assert a.snapshot().origin.rows == 0


def test_windows_of_rows_are_not_merged():
    for setting in ({"window": 10}, {"half_life": 10}):
        a, b = sw.Monitor(**setting), sw.Monitor(**setting)
        a.update([0], [0.5])
        b.update([1], [0.5])
        with pytest.raises(BadInput, match="add their snapshots"):
            a.merge(b)
        assert a.snapshot().origin.rows == 1
    with pytest.raises(BadInput, match="differ in window, 10 and None"):
        sw.Monitor(window=10).merge(sw.Monitor())


@pytest.mark.parametrize("size", [1, 13, 500])
def test_decay_by_rows_is_the_weighted_tally(size):
    y, p = drawn(500, digits=1)
    m = fed(sw.Monitor(half_life=3), y, p, size)  # scaled back every 192 rows
    age = np.arange(499, -1, -1)
    w = 0.5 ** (age / 3)
    got = m.snapshot()
    keep = w > 2.0**-60
    want = sw.Tally.of(y[keep], p[keep], weight=w[keep])
    for name in ("neg", "pos", "neg2", "pos2"):
        there = np.isin(got.score, want.score)
        np.testing.assert_allclose(getattr(got, name)[there], getattr(want, name), 1e-9, 1e-17)
    assert got.origin.rows == 500
    assert m.effective_rows == pytest.approx(w.sum() ** 2 / (w * w).sum(), rel=1e-9)
    assert sw.measures.auroc(got).value == pytest.approx(
        roc_auc_score(y, p, sample_weight=w), abs=1e-9
    )


def test_decay_by_time_merges_and_forgets():
    clock = Clock(1.7e9)
    a, b = (sw.Monitor(half_life=HOUR, clock=clock) for _ in range(2))
    a.update([0, 1, 1], [0.2, 0.6, 0.7], weight=[1, 2, 1])
    clock.now += 3600
    b.update([0, 1], [0.4, 0.6])
    t = (a + b).snapshot()
    assert t.score.tolist() == [0.2, 0.4, 0.6, 0.7]
    assert t.neg.tolist() == pytest.approx([0.5, 1, 0, 0])
    assert t.pos.tolist() == pytest.approx([0, 0, 2, 0.5])
    assert t.pos2.tolist() == pytest.approx([0, 0, 2, 0.25])
    assert (b + a).snapshot() == t
    clock.now += 1e9  # years
    a.update([0, 1], [0.1, 0.3])
    assert a.snapshot().score.tolist() == [0.1, 0.3]


def test_a_decayed_coarse_tally_keeps_its_losses_and_can_be_saved(tmp_path):
    y, p = drawn(90_000)
    m = fed(sw.Monitor(half_life=1000), y, p, 9_000)
    t = m.snapshot()
    assert t.coarse is not None
    w = 0.5 ** (np.arange(len(y))[::-1] / 1000)
    want = np.average((y - p) ** 2, weights=w)
    assert sw.measures.brier(t).value == pytest.approx(want, rel=1e-9)
    t.save(tmp_path / "t.parquet")
    assert sw.Tally.load(tmp_path / "t.parquet") == t
    # the interval goes by the effective rows
    few = sw.measures.brier(t)
    n = m.effective_rows
    direct = 1.96 * np.sqrt(np.average(((y - p) ** 2 - want) ** 2, weights=w) / n)
    assert (few.high - few.low) / 2 == pytest.approx(direct, rel=0.05)


def test_memory_is_bounded():
    m = sw.Monitor()
    sizes = []
    for seed in range(12):
        m.update(*drawn(60_000, seed))
        sizes.append(len(pickle.dumps(m)))
    assert sizes[-1] < 8e6
    assert sizes[-1] < 1.3 * sizes[3]
    for y, p in zip(*drawn(windows.MAX_WAITING_BATCHES + 5), strict=True):
        m.update([y], [p])
    assert len(m._rows.ring[0].waiting) < windows.MAX_WAITING_BATCHES


def test_monitors_go_through_pickle_and_drift_takes_snapshots():
    y, p = drawn(2000)
    a = fed(sw.Monitor(window=1000), y, p, 100)
    b = pickle.loads(pickle.dumps(a))
    b.update(y[:10], p[:10])
    assert a.snapshot() != b.snapshot()
    now = sw.Monitor()
    now.update(y, np.clip(p + 0.2, 0, 1))
    found = sw.drift(a.snapshot(), now.snapshot())
    assert found.to_dict()["windows"][0]["rows"] == 2000


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"window": 0}, "window= must be a positive number of rows or a timedelta"),
        ({"window": timedelta(0)}, "window= must be"),
        ({"half_life": -1.0}, "half_life= must be"),
        ({"half_life": np.inf}, "half_life= must be"),
        ({"window": 10, "half_life": 10}, "two ways to forget"),
        ({"classes": ["a"]}, "classes= must name two classes"),
        ({"kind": "odds"}, 'kind="odds" is not known'),
        ({"parts": 0}, "parts must be an integer from 1 up"),
    ],
)
def test_settings_that_mean_nothing(settings, sentence):
    with pytest.raises(BadInput, match=sentence):
        sw.Monitor(**settings)


@pytest.mark.parametrize("label", [2, "blue"])
def test_a_first_batch_of_one_unknown_class_names_the_way_out(label):
    with pytest.raises(BadInput, match=r"one value only \((2|blue)\).* name both in classes="):
        sw.Monitor().update([label], [0.5])
    m = sw.Monitor(classes=(1, 2) if label == 2 else ("red", "blue"))
    m.update([label], [0.5])
    assert m.snapshot().origin.positives == 1


def test_only_monitors_are_added():
    with pytest.raises(TypeError):
        sw.Monitor() + 1
    with pytest.raises(BadInput, match="a monitor takes the rows of another monitor; got 1"):
        sw.Monitor().merge(1)


def test_missing_labels_are_dropped_on_request():
    for classes in (None, (0, 1), (1, 2)):
        m = sw.Monitor(missing="drop", classes=classes)
        first = classes or (0, 1)
        m.update([first[0], None, first[1]], [0.2, 0.3, 0.4])
        m.update(np.array([np.nan, first[1]]), [0.5, 0.6])
        assert (m.snapshot().origin.rows, m.snapshot().origin.dropped) == (3, 2)


def test_no_rows():
    m = sw.Monitor()
    assert m.snapshot() == sw.Tally.empty()
    m.update([], [])
    assert m.effective_rows == 0
    assert "0 rows" in repr(m)

"""Tallies: what rows become, how they merge, what coarsening leaves, and how they are stored."""

import math
from contextlib import suppress
from dataclasses import FrozenInstanceError

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import scorewise.measures as m
from saved_tallies import edit, flipped
from scorewise import BadInput, Confusion, Tally, computing, evaluate, tally
from scorewise.cli import run
from scorewise.tallies import sorting
from scorewise.tallies.coarse import cell_of, probability_edges
from strategies import cases, shards

few = settings(max_examples=100, deadline=None, derandomize=True)
COLUMNS = ("score", "neg", "pos", "neg2", "pos2")


def normal(seed, n=500, shift=1.0, rate=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    return y, rng.normal(0, 1, n) + shift * y


# making


@pytest.mark.parametrize(
    "scores",
    [
        lambda s: s,
        lambda s: np.abs(s),
        lambda s: -np.abs(s),
        lambda s: s.astype(np.float32),
        lambda s: s.round(1),
        lambda s: s.round(1) * 0.0,
        lambda s: np.where(np.arange(len(s)) % 2, 0.0, -0.0),
        lambda s: (10 * s).astype(np.int64),
        lambda s: (10 * s).astype(np.int8),
        lambda s: s > 0,
        lambda s: s.astype(np.float16),
    ],
    ids=[
        "float64",
        "above",
        "below",
        "float32",
        "ties",
        "zeros",
        "signed",
        "int64",
        "int8",
        "bool",
        "float16",
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_those_of_unique(scores, weighted):
    y, s = normal(1)
    s = scores(s)
    w = np.random.default_rng(2).integers(1, 9, len(y)).astype(float) if weighted else None
    t = Tally.of(y, s, weight=w)
    score, place = np.unique(s + s.dtype.type(0), return_inverse=True)
    np.testing.assert_array_equal(t.score, score)
    for side, ours, squares in ((~y, t.neg, t.neg2), (y, t.pos, t.pos2)):
        each = np.ones(len(y)) if w is None else w
        np.testing.assert_array_equal(ours, np.bincount(place, each * side))
        np.testing.assert_array_equal(squares, np.bincount(place, each**2 * side))
    assert not np.signbit(t.score[t.score == 0]).any()
    assert t.neg.dtype == (np.float64 if weighted else np.int64)
    wide = np.float32 if s.dtype in (np.float32, np.float16) else np.float64
    assert t.score.dtype == wide


@pytest.mark.parametrize("digits", [16, 4])
def test_the_number_of_threads_changes_nothing(monkeypatch, digits):
    y, s = normal(0, 1_200_000)
    s = (1 / (1 + np.exp(-s))).round(digits)
    found = []
    for threads in (1, 2, 4):
        for module in (sorting, computing):
            monkeypatch.setattr(module, "threads", lambda threads=threads: threads)
        t = Tally.of(y, s)
        measures = m.auroc, m.ks, m.average_precision, m.pr_trapezoid, m.log_loss, m.smauc, m.smece
        found.append(([getattr(t, c).tobytes() for c in COLUMNS], [f(t) for f in measures]))
    assert found[0] == found[1] == found[2]


def test_rows_of_no_weight_leave_no_cell():
    t = Tally.of([0, 1, 1], [0.1, 0.2, 0.3], weight=[1.0, 0.0, 2.0])
    assert t.score.tolist() == [0.1, 0.3]
    assert t.origin.rows == 3


def test_arrays_of_the_caller_are_left_alone():
    y, s = normal(3)
    kept = y.copy(), s.copy()
    Tally.of(y, s).coarsen()
    np.testing.assert_array_equal(y, kept[0])
    np.testing.assert_array_equal(s, kept[1])


def test_tally_is_immutable():
    t = Tally.of([0, 1], [0.1, 0.2])
    with pytest.raises(FrozenInstanceError):
        t.kind = "score"
    before = Tally.of([0, 1], [0.1, 0.2])
    t + Tally.of([1, 1], [0.2, 0.3])
    assert t == before


# merging


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("digits", [1, 15])
def test_seven_shards_merge_to_the_identical_tally(dtype, digits):
    y, s = normal(4, 2000)
    s = s.round(digits).astype(dtype)
    whole = Tally.of(y, s)
    part = np.random.default_rng(5).integers(0, 7, len(y))
    pieces = [Tally.of(y[part == k], s[part == k]) for k in range(7)]
    for order in ([0, 1, 2, 3, 4, 5, 6], [6, 2, 0, 5, 1, 4, 3]):
        merged = sum((pieces[k] for k in order), Tally.empty())
        assert merged == whole
        assert merged.score.dtype == dtype
        assert merged.origin == whole.origin
        assert all(getattr(merged, c).dtype == getattr(whole, c).dtype for c in COLUMNS)


@few
@given(data=st.data())
def test_merging_is_commutative_and_associative_with_a_zero(data):
    case = data.draw(cases(weighted=False))
    a, b, c = (p.tally for p in data.draw(shards(case, most=3)))
    if data.draw(st.booleans()):
        a, b, c = (t.coarsen("relative") for t in (a, b, c))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).origin == (b + a).origin
    assert a + Tally.empty() == a == Tally.empty() + a
    assert sum([a, b, c], Tally.empty()).origin.rows == len(case)


@few
@given(data=st.data())
def test_coarse_shards_are_the_coarse_whole(data):
    case = data.draw(cases(weighted=False))
    grid = data.draw(st.sampled_from(("probability", "relative")))
    if case.kind != "probability":
        grid = "relative"
    parts = [p.tally for p in data.draw(shards(case))]
    zero = Tally.empty().coarsen(grid)
    merged, whole = sum((p.coarsen(grid) for p in parts), zero), case.tally.coarsen(grid)
    assert merged == whole
    for name in ("cell", "low", "high"):
        np.testing.assert_array_equal(getattr(merged.coarse, name), getattr(whole.coarse, name))
    np.testing.assert_allclose(merged.coarse.sum, whole.coarse.sum, rtol=1e-12)
    # an exact tally that meets a coarse one becomes coarse
    rest = sum((p.coarsen(grid) for p in parts[1:]), zero)
    assert parts[0] + rest == (whole if len(rest.score) else parts[0])


def test_different_positives_are_not_merged():
    a = Tally.of(["yes", "no"], [0.1, 0.2])
    b = Tally.of(["yes", "no"], [0.1, 0.2], positive="no")
    with pytest.raises(BadInput, match=r"different positive classes, 'yes' and 'no'; make them"):
        a + b


def test_kinds_merge_as_documented():
    probability, score = Tally.of([0, 1], [0.1, 0.2]), Tally.of([0, 1], [1.0, 2.0])
    logit = Tally.of([0, 1], [1.0, 2.0], kind="logit")
    assert (probability + score).kind == "score"
    assert (logit + logit).kind == "logit"
    for other in (probability, score):
        with pytest.raises(BadInput, match="make both of the same kind="):
            logit + other


def test_different_grids_are_not_merged():
    t = Tally.of([0, 1], [0.1, 0.2])
    with pytest.raises(BadInput, match="coarse already, on the grid"):
        t.coarsen("relative") + t.coarsen("probability")


# cutting


@few
@given(case=cases(), at=st.integers(0, 30), data=st.data())
def test_confusion_at_the_scores_themselves(case, at, data):
    t = case.tally
    if not len(t.score):
        return
    s = case.s.astype(np.float64)
    raw = float(t.score[at % len(t.score)])
    p = 1 / (1 + math.exp(-raw)) if case.kind == "logit" and abs(raw) < 700 else None
    if case.kind == "logit":
        if p is None or not 0 < p < 1:
            return
        threshold, wanted = p, float(t.score.dtype.type(np.log(p) - np.log1p(-p)))
    else:
        threshold = wanted = raw
    w = np.ones(len(s)) if case.weight is None else case.weight
    called = s >= wanted
    cells = [w[case.y & called], w[~case.y & called], w[case.y & ~called], w[~case.y & ~called]]
    np.testing.assert_allclose(t.confusion(threshold).table, [c.sum() for c in cells])


NARROW = [0.1, 0.2, 0.3, 0.6, 0.7, 0.9]
NARROW_TYPES = pytest.mark.parametrize("narrow", [np.float16, np.float32])


@NARROW_TYPES
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 0.35, 1e-60, 1e300])
def test_narrow_scores_meet_the_threshold_as_numpy_would(threshold, coarse, narrow):
    """The threshold is rounded to the precision of the scores: 32-bit 0.7 is at 0.7, not below it."""
    s, y = np.array(NARROW, narrow), np.array([0, 1, 0, 1, 1, 1])
    t = Tally.of(y, s).coarsen() if coarse else Tally.of(y, s)
    with np.errstate(over="ignore"):
        called = s >= narrow(threshold)
    c = t.confusion(threshold)
    assert (c.tp, c.fp) == (called[y == 1].sum(), called[y == 0].sum())
    found = t.cut(threshold)
    assert found.above < threshold <= found.upto
    assert t.confusion(min(found.upto, 2.0)) == c
    if np.isfinite(found.above):
        assert t.confusion(found.above) != c
        assert t.confusion(float(np.nextafter(narrow(found.above), narrow(2)))) == c


@NARROW_TYPES
def test_narrow_cut_is_written_as_the_scores_are(narrow):
    t = Tally.of([0, 1, 0, 1, 1, 1], np.array(NARROW, narrow))
    assert t.cut(0.7) == (0.7, 0.6, 0.7)
    assert t.cut(0.65) == (0.65, 0.6, 0.7)


@pytest.mark.parametrize("box", [np.asarray, pl.Series, torch.from_numpy])
def test_scores_of_16_bits_meet_thresholds_wherever_they_are_used(box, tmp_path):
    s, y = np.repeat(np.array(NARROW, np.float16), 5), np.tile([0, 1, 1, 0, 1], 6)
    e = evaluate(y, box(s), threshold=0.1)
    assert e.confusion.tp + e.confusion.fp == 30
    rows = {"y": y, "p": s, "g": np.tile(["a", "b"], 15)}
    by = evaluate(rows, label="y", score="p", threshold=0.1, by="g")
    assert all(g.confusion.fn + g.confusion.tn == 0 for g in by.groups.values())
    pl.DataFrame({"y": y, "p": s}).write_parquet(tmp_path / "rows.parquet")
    rows, out = tmp_path / "rows.parquet", tmp_path / "rows.tally"
    assert run(["tally", str(rows), "--label", "y", "--score", "p", "-o", str(out)]) == 0
    assert Tally.load(out).confusion(0.1).fn == 0
    lazy = pl.LazyFrame({"y": y, "p": s})
    if not hasattr(nw, "Float16"):  # before narwhals knew them, engines had no such columns
        with pytest.raises(BadInput, match="p holds Unknown in the engine, not numbers; cast it"):
            tally(lazy, label="y", score="p")
        return
    assert tally(lazy, label="y", score="p").confusion(0.1).fn == 0


@NARROW_TYPES
def test_narrow_scores_stay_narrow_when_coarse_saved_and_merged(tmp_path, narrow):
    t = Tally.of([1, 0], np.array([0.9, 0.2], narrow))
    coarse = t.coarsen()
    coarse.save(tmp_path / "t.parquet")
    for each in (t, coarse, Tally.load(tmp_path / "t.parquet"), coarse + coarse, t + t):
        assert each.confusion(0.9).fn == 0
    # beside 64-bit scores they are what 64 bits say they are: a little below 0.9
    assert (t + Tally.of([1, 0], [0.95, 0.1])).confusion(0.9).fn == 1


def test_float32_logits_meet_a_probability():
    odds = math.log(0.7 / 0.3)
    t = Tally.of([1, 0], np.array([odds, -1.0], np.float32), kind="logit")
    assert t.confusion(0.7).tp == 1
    assert t.cut(0.7).upto == pytest.approx(0.7, abs=1e-7)
    assert t.cut(0.7).upto >= 0.7


@pytest.mark.parametrize(
    ("threshold", "above", "upto"),
    [
        (0.5, 0.3, 0.8),
        (0.8, 0.3, 0.8),
        (0.3, 0.2, 0.3),
        (0.0, -math.inf, 0.2),
        (0.9, 0.8, math.inf),
    ],
)
@pytest.mark.parametrize("coarse", [False, True])
def test_cut_is_the_interval_of_the_same_decisions(threshold, above, upto, coarse):
    t = Tally.of([1, 0, 1], [0.8, 0.3, 0.2])
    assert (t.coarsen() if coarse else t).cut(threshold) == (threshold, above, upto)
    assert t.confusion(min(upto, 2.0)) == t.confusion(threshold)
    assert t.confusion(math.nextafter(above, math.inf)) == t.confusion(threshold)


def test_thresholds_of_logits_are_probabilities():
    t = Tally.of([0, 1, 1], [-1.0, 0.0, 2.0], kind="logit")
    assert t.confusion(0.5).table.tolist() == [2, 0, 0, 1]
    assert t.confusion(0.0).table.tolist() == [2, 1, 0, 0]
    assert t.confusion(1.0).table.tolist() == [0, 0, 2, 1]
    assert t.cut(0.6).above == 0.5
    with pytest.raises(BadInput, match="is not a probability"):
        t.confusion(1.5)
    with pytest.raises(BadInput, match="threshold is NaN"):
        t.confusion(math.nan)


def test_confusions_merge_and_are_checked():
    a = Confusion.counts(tp=1, fp=2, fn=3, tn=4)
    assert (a + a).table.tolist() == [2, 4, 6, 8]
    assert a != a + a
    with pytest.raises(BadInput, match="negative"):
        Confusion.counts(tp=-1, fp=2, fn=3, tn=4)
    with pytest.raises(BadInput, match="cannot merge confusions"):
        a + Confusion(a.weight, a.weight2, ("no", "yes"))


# coarsening


def test_probability_grid_has_the_edges_of_the_usual_bins():
    edges = probability_edges()
    for bins in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 20, 30):
        assert np.isin(np.arange(bins + 1) / bins, edges).all(), bins
    assert (np.diff(edges) > 0).all()
    assert len(edges) < 70_000


@pytest.mark.parametrize("grid", ["probability", "relative"])
def test_cells_follow_the_order_of_scores(grid):
    rng = np.random.default_rng(0)
    s = np.sort(
        np.concatenate(
            [rng.random(1000), [0.0, 1.0, 5e-324, 1 - 1e-16], 10.0 ** -rng.integers(1, 300, 99)]
        )
    )
    assert (np.diff(cell_of(s, grid)) >= 0).all()
    assert cell_of(np.array([0.0]), grid) < cell_of(np.array([5e-324]), "probability")
    if grid == "relative":
        assert (np.diff(cell_of(-s[::-1], grid)) >= 0).all()


def realistic(seed, n, rate):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    signs = rng.normal(np.log(rate / (1 - rate)), 1.5, n) + 1.5 * y
    return y, 1 / (1 + np.exp(-signs))


def test_certified_bounds_hold_on_200_random_samples():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, p = realistic(seed, int(rng.integers(20, 600)), (0.4, 0.1, 0.05)[seed % 3])
        if not 0 < y.sum() < len(y):
            continue
        digits = int(rng.choice([2, 4, 16]))
        s = p.round(digits) if seed % 4 else np.log(p).round(digits)
        w = rng.uniform(0.2, 3, len(y)) if seed % 2 else None
        t = Tally.of(y, s, weight=w)
        # few cells, so that there is something to leave open
        coarse = t.coarsen()
        for measure in (m.auroc, m.average_precision, m.pr_trapezoid, m.ks, m.partial_auroc):
            exact, near = measure(t), measure(coarse)
            assert abs(near.value - exact.value) <= near.bound + 1e-12, (measure, seed)
            assert near.low <= exact.value <= near.high


@pytest.mark.parametrize("rate", [0.005, 0.4])
@pytest.mark.parametrize("grid", ["probability", "relative"])
def test_bounds_are_tight_on_realistic_scores(rate, grid):
    y, p = realistic(7, 20_000, rate)
    t = Tally.of(y, p)
    coarse = t.coarsen(grid)
    for measure in (m.auroc, m.average_precision, m.ks):
        exact, near = measure(t), measure(coarse)
        assert 0 <= near.bound < 1e-3
        assert abs(near.value - exact.value) <= near.bound + 1e-12
    assert m.auroc(coarse).bound > 0
    for measure in (m.log_loss, m.brier):
        exact, near = measure(t), measure(coarse)
        assert (near.value, near.low, near.high) == pytest.approx(
            (exact.value, exact.low, exact.high), rel=1e-12
        )


def test_confusion_of_a_coarse_tally_admits_its_doubt():
    s = [0.500001, 0.500002, 0.500003]
    t = Tally.of([1, 0, 1], s)
    c = t.coarsen().confusion(0.500002)
    assert c.doubt == (0.0, 2.0)
    e = m.sensitivity(c)
    assert abs(e.value - m.sensitivity(t.confusion(0.500002)).value) <= e.bound == 0.5
    assert t.coarsen().confusion(0.4).doubt == (0.0, 0.0)


# storing


def stored(tmp_path, t=None):
    path = tmp_path / "t.parquet"
    (t or Tally.of([0, 1, 1], [0.1, 0.2, 0.3])).save(path)
    return path


@few
@given(case=cases(), coarse=st.booleans())
def test_round_trip(case, coarse, tmp_path_factory):
    t = case.tally.coarsen() if coarse else case.tally
    path = tmp_path_factory.getbasetemp() / "round.parquet"
    t.save(path)
    back = Tally.load(path)
    assert back == t
    assert back.origin == t.origin
    for c in COLUMNS:
        assert getattr(back, c).dtype == getattr(t, c).dtype
    if coarse:
        assert back.coarse.losses == t.coarse.losses
        for name in ("cell", "low", "high", "sum"):
            np.testing.assert_array_equal(getattr(back.coarse, name), getattr(t.coarse, name))


def test_other_parquet_is_refused(tmp_path):
    path = tmp_path / "other.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(BadInput, match=r"but not a saved tally; read it with sw\.tally"):
        Tally.load(path)


def test_absent_truncated_and_foreign_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        Tally.load(tmp_path / "absent.parquet")
    path = stored(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="damaged or was edited"):
        Tally.load(path)
    path.write_text("y,p\n1,0.5\n")
    with pytest.raises(BadInput, match="damaged or cut off"):
        Tally.load(path)


def test_another_version_is_refused(tmp_path):
    for version in (1, 2, 4):
        path = stored(tmp_path)
        edit(path, lambda meta, v=version: meta.replace('"version": 3', f'"version": {v}'))
        match = f"is a tally of version {version}, this scorewise reads version 3"
        with pytest.raises(BadInput, match=match):
            Tally.load(path)


def changed(**columns):
    return lambda frame: frame.with_columns(**{k: pl.Series(v) for k, v in columns.items()})


@pytest.mark.parametrize("resealed", [True, False])
@pytest.mark.parametrize(
    "columns",
    [
        {"score": [0.3, 0.2, 0.1]},
        {"score": [0.1, 0.1, 0.3]},
        {"score": [0.1, math.nan, 0.3]},
        {"score": [0.1, 0.2, 8.0]},
        {"score": [-0.1, 0.2, 0.3]},
        {"pos": [0, -1, 1]},
        {"pos": [0, 1, 2]},
        {"neg": [1, None, 0]},
        {"neg": [1.5, 0.0, 0.0]},
        {"score": ["a", "b", "c"]},
    ],
    ids=str,
)
def test_edited_content_is_refused(tmp_path, columns, resealed):
    path = stored(tmp_path)
    edit(path, content=changed(**columns), resealed=resealed)
    with pytest.raises(BadInput, match=r"t\.parquet (is not a valid tally|is damaged)"):
        Tally.load(path)


@pytest.mark.parametrize(
    "columns",
    [
        {"pos": [0.0, 1.0, math.inf]},
        {"pos": [0.0, 1.0, 1e300]},
        {"pos2": [0.0, 1.0, math.inf]},
        {"pos2": [0.0, 4.0, 1.0]},
        {"pos2": [1.0, 1.0, 1.0]},
        {"pos2": [0.0, 1e-9, 1e-9]},
    ],
    ids=str,
)
def test_impossible_weights_are_refused(tmp_path, columns):
    path = stored(tmp_path, Tally.of([0, 1, 1], [0.1, 0.2, 0.3], weight=[1.0, 1.5, 1.0]))
    edit(path, content=changed(**columns))
    with pytest.raises(BadInput, match=r"t\.parquet is not a valid tally: .*weights"):
        Tally.load(path)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"pos_low": [math.inf, 0.1, 0.3]}, "ends of each cell must lie in it"),
        ({"pos_low": [math.inf, 0.25, 0.3]}, "lower below the upper"),
        ({"pos_high": [-math.inf, 0.9, 0.3]}, "ends of each cell must lie in it"),
        ({"neg_low": [0.1, 0.1, math.inf]}, "lower below the upper"),
        ({"pos_sum": [0.0, 7.0, 0.3]}, "sum of the scores"),
        ({"neg_sum": [0.1, 1e30, 0.0]}, "sum of the scores"),
        ({"cell": [5, 4, 3]}, "lie in it"),
        ({"cell": [0.5, 1.5, 2.5]}, "known grid"),
        ({"score": [0.1, 0.2001, 0.3]}, "middle"),
    ],
    ids=str,
)
def test_impossible_cells_are_refused(tmp_path, columns, why):
    path = stored(tmp_path, Tally.of([0, 1, 1], [0.1, 0.2, 0.3]).coarsen())
    edit(path, content=changed(**columns))
    with pytest.raises(BadInput, match=rf"t\.parquet is not a valid tally: .*{why}"):
        Tally.load(path)


@pytest.mark.parametrize(
    ("weight", "rows"),
    # three weights are worth as much as two rows, give or take rounding
    [
        (None, 10**30),
        (None, 2),
        (None, 0),
        ([3, 1, 1, 1], 10**30),
        ([3, 1, 1, 1], 1),
        ([3, 1, 1, 1], 0),
    ],
)
def test_rows_that_contradict_the_counts_are_refused(tmp_path, rows, weight):
    t = Tally.of([0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], weight=weight)
    path = stored(tmp_path, t)
    edit(path, lambda meta: meta.replace('"positives": 3', f'"positives": {rows}'))
    with pytest.raises(BadInput, match="number of rows"):
        Tally.load(path)


@pytest.mark.parametrize("form", ["counts", "weights", "coarse", "logits"])
def test_one_wrong_bit_is_refused_or_changes_nothing(tmp_path, capfd, form):
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 2, 200), rng.random(200).round(3)
    weight = rng.random(200) + 0.5 if form == "weights" else None
    t = Tally.of(y, p, weight=weight, kind="logit" if form == "logits" else None)
    path = stored(tmp_path, t.coarsen() if form in ("coarse", "logits") else t)
    kept = Tally.load(path)
    refused = 0
    for _ in flipped(path, 300):
        try:
            back = Tally.load(path)
        except BadInput:
            refused += 1
            continue
        assert same(back, kept)
    capfd.readouterr()  # what a panic of polars prints
    assert refused > 150


def same(a, b):
    """Whether tallies are the same to the last bit, in all that they hold."""
    if a.coarse is not None:
        parts = [getattr(a.coarse, c) for c in ("cell", "low", "high", "sum")]
        others = [getattr(b.coarse, c) for c in ("cell", "low", "high", "sum")]
        if not all(x.tobytes() == y.tobytes() for x, y in zip(parts, others, strict=True)):
            return False
        if (a.coarse.grid, a.coarse.losses) != (b.coarse.grid, b.coarse.losses):
            return False
    columns = ((getattr(a, c), getattr(b, c)) for c in COLUMNS)
    alike = all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in columns)
    return alike and (a.kind, a.origin) == (b.kind, b.origin)


def test_what_could_not_be_read_again_is_not_saved(tmp_path):
    one = np.array([1, 0])
    with pytest.raises(BadInput, match=r"cannot be saved: probabilities must lie in \[0, 1\]"):
        Tally(np.array([2.0, 8.0]), one, one, one, one, "probability").save(tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_loaded_tallies_add_up_as_before(tmp_path):
    days = [Tally.of([0, 1, d % 2], [0.1, 0.2 + d / 100, 0.3], weight=[1, 2, d]) for d in (1, 2, 3)]
    for d, day in enumerate(days):
        day.save(tmp_path / f"{d}.parquet")
    back = [Tally.load(tmp_path / f"{d}.parquet") for d in range(3)]
    assert same(sum(back, Tally.empty()), sum(days, Tally.empty()))
    total = sum(back, Tally.empty())
    total.save(tmp_path / "total.parquet")
    assert same(Tally.load(tmp_path / "total.parquet"), total)


def test_missing_column_or_origin_is_refused(tmp_path):
    path = stored(tmp_path)
    edit(path, content=lambda frame: frame.drop("pos"))
    with pytest.raises(BadInput, match=r"t\.parquet is not a valid tally"):
        Tally.load(path)
    path = stored(tmp_path)
    edit(path, lambda meta: '{"version": 3}')
    with pytest.raises(BadInput, match=r"t\.parquet is not a valid tally"):
        Tally.load(path)


def test_saving_leaves_nothing_else_behind(tmp_path):
    stored(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
    with pytest.raises(BadInput, match="cannot write"):
        Tally.empty().save(tmp_path / "absent" / "t.parquet")


def test_tallies_of_different_models_do_not_add_up():
    frame = {"y": [0, 1], "a": [0.1, 0.9], "b": [0.2, 0.3]}
    a, b = (tally(frame, label="y", score=name) for name in ("a", "b"))
    with pytest.raises(BadInput, match="different scores, 'a' and 'b'"):
        a + b


def test_a_saved_tally_with_brackets_in_its_name_is_no_glob(tmp_path):
    Tally.of([0, 1, 1], [0.1, 0.2, 0.3]).save(tmp_path / "a[1].tally")
    Tally.of([0, 1], [0.5, 0.75]).save(tmp_path / "a1.tally")
    assert Tally.load(tmp_path / "a[1].tally").score.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"log": ', '"logg": '),
        ('"grid": "probability"', '"grid": "square"'),
        ('"kind": "probability"', '"kind": "guess"'),
        ('"losses": {', '"losses": {"more": [[0, 0, 0], [0, 0, 0]], '),
        ('"brier": [[', '"brier": [[0, '),
        ('"brier": [[', '"brier": [["x", '),
        ('"losses": {', '"losses": [{'),
        ('"positives": 2', '"positives": "2"'),
        ('"dropped": 0', '"dropped": -1'),
        ('"score": "score"', '"score": 7'),
        ('"origin": {', '"origin": {"further": 1, '),
    ],
)
def test_edited_words_of_a_saved_tally_are_refused(tmp_path, old, new):
    path = stored(tmp_path, Tally.of([0, 1, 1], [0.1, 0.2, 0.3]).coarsen())

    def about(meta):
        assert old in meta
        meta = meta.replace(old, new, 1)
        return meta.replace("]]}", "]]}]") if new.endswith("[{") else meta

    edit(path, about)
    with pytest.raises(BadInput, match=r"t\.parquet (is not a valid tally|cannot be read)"):
        Tally.load(path)


@pytest.mark.parametrize("about", ["[]", "7", "[" * 100_000, "{"])
def test_saved_tally_with_other_words_is_refused(tmp_path, about):
    path = stored(tmp_path)
    edit(path, lambda _: about)
    with pytest.raises(BadInput, match=r"t\.parquet"):
        Tally.load(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("coarse", [False, True])
def test_saved_tally_with_a_damaged_byte_is_read_or_refused(tmp_path, capfd, coarse):
    t = Tally.of([0, 1, 1], [0.1, 0.2, 0.3])
    path = stored(tmp_path, t.coarsen() if coarse else t)
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 300).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        with suppress(BadInput):
            Tally.load(path)
    capfd.readouterr()  # what a panic of polars prints


def test_names_of_saved_tallies_may_be_long_but_not_too_long(tmp_path):
    stored = tmp_path / ("x" * 250)
    t = Tally.of([0, 1, 1], [0.1, 0.2, 0.3])
    t.save(stored)
    assert Tally.load(stored) == t
    with pytest.raises(BadInput, match="cannot write"):
        t.save(tmp_path / ("x" * 300))
    with pytest.raises(BadInput, match="no such file"):
        Tally.load(tmp_path / ("x" * 300))
    assert [p.name for p in tmp_path.iterdir()] == ["x" * 250]


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    s = rng.random(300_000).round(6)
    y = rng.random(300_000) < s
    one = evaluate(y, s)
    alone = {name: one[name] for name in one}
    for module in (sorting, computing):
        monkeypatch.setattr(module, "threads", lambda: 4)
    monkeypatch.setattr(sorting, "_ROWS", 1 << 12)
    monkeypatch.setattr(computing, "_BLOCKS", 1)
    t = Tally.of(y, s)
    for column in ("score", "neg", "pos"):
        np.testing.assert_array_equal(getattr(t, column), getattr(one.tally, column))
    for name, e in evaluate(y, s).items():
        ends = [(x.value, x.low, x.high, x.expected, x.p) for x in (e, alone[name])]
        np.testing.assert_equal(*ends, name)

"""The choice among maps, and a map that is kept in a file."""

import copy
import json
import pickle
import subprocess
import sys

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.recalibration import compared, data_sets

import scorewise as sw
from beside import beside
from recalibration_cases import draw
from saved_tallies import flipped
from scorewise.errors import BadInput
from scorewise.recalibrating import METHODS
from scorewise.show.document import schema as document_schema
from simulated import held_often

NEW = np.linspace(0, 1, 101)


@pytest.fixture(scope="module")
def helped():
    return sw.Recalibrator().fit(*draw(1, 2000, 0.5, -0.4))


def test_auto_finds_what_is_wrong(helped):
    assert helped.chosen in ("platt", "beta", "quadratic", "spline")
    rows = {row.method: row for row in helped.table}
    assert rows[helped.chosen].gain.low > 0
    assert rows[helped.chosen].log_loss.value == min(r.log_loss.value for r in rows.values())
    assert rows["identity"].gain.value == 0
    assert rows["identity"].slope.high < 1
    assert rows[helped.chosen].slope.low < 1 < rows[helped.chosen].slope.high


def test_identity_is_judged_as_by_evaluate(helped):
    p, y = draw(1, 2000, 0.5, -0.4)
    e = sw.evaluate(y, p)
    row = next(r for r in helped.table if r.method == "identity")
    assert row.log_loss.value == pytest.approx(e.log_loss.value, rel=1e-12)
    assert row.log_loss.low == pytest.approx(e.log_loss.low, rel=1e-9)
    assert row.brier.value == pytest.approx(e.brier.value, rel=1e-12)


def test_the_gain_is_that_of_the_rows():
    """Scores on a few values: the folds are unknown, but all add up to the table's difference."""
    r = sw.Recalibrator("platt").fit(*draw(2, 3000, 0.5, digits=1))
    one, other = r.table
    assert other.gain.value == pytest.approx(one.log_loss.value - other.log_loss.value, abs=1e-12)


def test_identity_is_kept_on_calibrated_rows():
    kept = [sw.Recalibrator().fit(*draw(seed, 600)).chosen == "identity" for seed in range(30)]
    assert held_often(sum(kept), 30)


def test_what_is_not_shown_to_help_is_not_done():
    reasons = {
        sw.Recalibrator().fit(*draw(seed, 150, 0.8)).choice_.reason.split(",")[-1]
        for seed in range(8)
    }
    assert any("not shown to help" in r for r in reasons)


def test_few_rows_keep_identity():
    r = sw.Recalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    assert r.chosen == "identity"
    assert "too few" in r.choice_.reason
    assert r.transform(NEW).tolist() == NEW.tolist()


def test_certain_and_wrong_scores_are_bounded():
    p, y = draw(3, 500)
    p[:3], y[:3] = [0.0, 1.0, 0.0], [1, 0, 0]
    r = sw.Recalibrator().fit(p, y)
    assert all(row.log_loss.defined for row in r.table)


def test_scores_of_any_scale():
    p, y = draw(4, 1000)
    r = sw.Recalibrator().fit(100 * p - 20, y)
    assert "identity" not in [row.method for row in r.table]
    assert "no log loss of their own" in r.table[0].gain.why
    assert np.abs(r.transform(100 * p - 20) - p).mean() < 0.05
    assert "Before and after" not in str(r)


@given(st.permutations(range(60)))
def test_order_of_rows_does_not_matter(order):
    p, y = draw(5, 60, 0.4)
    a, b = (sw.Recalibrator().fit(p[i], y[i]) for i in (np.arange(60), np.array(order)))
    assert a.to_dict() == b.to_dict()


def test_a_tally_will_do(helped):
    p, y = draw(1, 2000, 0.5, -0.4)
    again = sw.Recalibrator().fit(sw.Tally.of(y, p))
    assert again.map_ == helped.map_
    coarse = sw.Recalibrator("platt").fit(sw.Tally.of(y, p).coarsen())
    full = sw.Recalibrator("platt").fit(p, y)
    assert coarse.transform(NEW) == pytest.approx(full.transform(NEW), abs=1e-4)
    assert "coarse" in coarse.to_dict()["hints"][0]


def test_scikit_learn_conventions(helped):
    base = pytest.importorskip("sklearn.base")
    r = sw.Recalibrator("beta", folds=3, seed=4)
    twin = base.clone(r)
    assert twin.get_params() == r.get_params()
    assert not hasattr(base.clone(helped), "map_")
    assert r.set_params(method="platt").method == "platt"
    both = helped.predict_proba(NEW)
    assert both.sum(1) == pytest.approx(1)
    assert (both[:, 1] == helped.transform(NEW)).all()
    assert repr(twin).startswith("Recalibrator(method='beta'")
    assert (pickle.loads(pickle.dumps(helped)).transform(NEW) == helped.transform(NEW)).all()


def test_document_follows_its_schema(helped):
    schema = document_schema("calibrate")
    jsonschema.Draft202012Validator.check_schema(schema)
    for r in (helped, sw.Recalibrator("isotonic").fit(*draw(1, 50))):
        jsonschema.validate(json.loads(r.to_json()), schema)
    assert "Before and after" in str(helped)
    assert all(len(line) <= 80 for line in str(helped).splitlines())
    assert "**Tried**" in helped.to_markdown()


@pytest.mark.parametrize("method", METHODS)
def test_a_stored_map_gives_the_same_bits_in_a_new_process(method, tmp_path):
    path = tmp_path / "map.json"
    r = sw.Recalibrator(method).fit(*draw(6, 300, 0.5))
    r.save(path)
    wider = np.linspace(0, 1, 1237)
    np.save(tmp_path / "p.npy", wider)
    code = (
        "import sys, numpy as np, scorewise as sw\n"
        "r = sw.Recalibrator.load(sys.argv[1])\n"
        "np.save(sys.argv[3], r.transform(np.load(sys.argv[2])))\n"
    )
    paths = [str(path), str(tmp_path / "p.npy"), str(tmp_path / "q.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    assert np.load(paths[2]).tobytes() == r.transform(wider).tobytes()
    loaded = sw.Recalibrator.load(path)
    assert loaded.to_dict() == json.loads(path.read_text())
    assert str(loaded) == str(r)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    parts = np.concatenate([r.transform(part) for part in np.array_split(wider, 7)])
    assert parts.tobytes() == r.transform(wider).tobytes()


def damaged(doc):
    for change in (
        lambda d: d["map"]["parameters"].update(slope=2.0),
        lambda d: d["map"].update(rows=3),
        lambda d: d["map"].pop("sha256"),
        lambda d: d.pop("map"),
        lambda d: d.pop("settings"),
        lambda d: d.update(map=[1]),
    ):
        bad = copy.deepcopy(doc)
        change(bad)
        yield bad


def test_other_files_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "map.json"
    sw.Recalibrator("platt").fit(*draw(6, 300, 0.5)).save(path)
    for bad in damaged(json.loads(path.read_text())):
        path.write_text(json.dumps(bad))
        with pytest.raises(BadInput, match=r"map.json is damaged or was edited; fit the map again"):
            sw.Recalibrator.load(path)
    for text, why in (("{", "is not JSON"), ("[]", "holds no map"), ('{"a": 1}', "holds no map")):
        path.write_text(text)
        with pytest.raises(BadInput, match=why):
            sw.Recalibrator.load(path)
    with pytest.raises(BadInput, match="cannot be read"):
        sw.Recalibrator.load(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("options", "args", "why"),
    [
        ({"method": "magic"}, ([0.1, 0.9], [0, 1]), 'method="magic" is not known'),
        (
            {"folds": 1},
            ([0.1, 0.9], [0, 1]),
            "folds must be an integer from 2 up, such as 5; got 1",
        ),
        ({"clip": 0.7}, ([0.1, 0.9], [0, 1]), "clip must lie between 0 and 0.5"),
        ({"level": 2}, ([0.1, 0.9], [0, 1]), "level must lie between 0 and 1, such as 0.95; got 2"),
        ({}, ([0.1, 0.9], [1, 1]), "no map can be learned: no negatives"),
        ({}, ([0.1, 0.9],), "labels are missing"),
        ({"kind": "probability"}, ([0.1, 1.9], [0, 1]), r"outside \[0, 1\]"),
        ({"method": "temperature"}, ([0.1, 1.9], [0, 1]), "needs probabilities or logits"),
    ],
    ids=str,
)
def test_bad_input_is_told(options, args, why):
    with pytest.raises(BadInput, match=why):
        sw.Recalibrator(**options).fit(*args)


def test_scores_that_do_not_fit_the_map_are_told(helped):
    with pytest.raises(BadInput, match="not fitted yet"):
        sw.Recalibrator().transform([0.5])
    with pytest.raises(BadInput, match="missing in 1 row"):
        helped.transform([0.5, np.nan])
    with pytest.raises(BadInput, match=r"outside \[0, 1\]"):
        helped.transform([0.5, 1.5])
    with pytest.raises(BadInput, match="gives one probability"):
        helped.predict_interval([0.5])
    assert helped.outside([0.0, 0.5, 1.0]) == 2


def test_auto_is_hardly_ever_worse_than_nothing():
    beside("data/predictions")
    for name, (p, y) in data_sets().items():
        rows = compared(p, y, seed=0, auto_only=True)
        assert rows["auto"] <= 1.005 * rows["identity"], name


def test_one_wrong_bit_in_a_saved_map_is_refused_or_changes_nothing(tmp_path):
    path = tmp_path / "map.json"
    sw.Recalibrator("platt").fit(*draw(0, 200)).save(path)
    kept, refused = sw.Recalibrator.load(path).to_dict(), 0
    for _ in flipped(path, 300):
        try:
            assert sw.Recalibrator.load(path).to_dict() == kept
        except BadInput:
            refused += 1
    assert refused > 150

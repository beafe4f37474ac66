"""The choice among maps of several classes, kept in files."""

import copy
import json
import subprocess
import sys

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorewise as sw
from class_recalibration_cases import draw_classes, losses
from scorewise.errors import BadInput
from scorewise.recalibrating import CLASS_METHODS, choosing
from scorewise.show.document import schema as document_schema
from scorewise.writing import seal

NEW, _ = draw_classes(99, 500)


@pytest.fixture(scope="module")
def helped():
    p, y = draw_classes(1, 1500, 3, 0.5, 0.2)
    return sw.Recalibrator().fit(pl.DataFrame(p, schema=["a", "b", "c"]), np.array(list("abc"))[y])


def test_auto_finds_what_is_wrong(helped):
    assert helped.chosen != "identity"
    assert "shown to help" in helped.choice_.reason
    rows = {row.method: row for row in helped.table}
    assert rows[helped.chosen].gain.low > 0
    assert rows["identity"].gain.value == 0
    new, truth = draw_classes(2, 4000, 3, 0.5, 0.2)
    after = losses(helped.transform(new), truth).mean()
    assert after < losses(new, truth).mean() - 0.05
    q = np.exp(0.5 * np.log(new) + 0.2 * np.arange(3))
    assert after == pytest.approx(losses(q / q.sum(1, keepdims=True), truth).mean(), abs=0.01)


def test_identity_is_kept_on_calibrated_rows():
    kept = [
        sw.Recalibrator().fit(*draw_classes(seed, 200)).chosen == "identity" for seed in range(25)
    ]
    assert np.mean(kept) >= 0.95


def test_few_rows_keep_identity():
    r = sw.Recalibrator().fit(*draw_classes(3, 12))
    assert r.chosen == "identity"
    assert "too few rows" in r.choice_.reason
    assert (r.transform(NEW) == NEW).all()


def test_the_table_is_that_of_the_rows(helped):
    """Identity has the same loss whatever the folds; scikit-learn says which."""
    metrics = pytest.importorskip("sklearn.metrics")
    p, y = draw_classes(1, 1500, 3, 0.5, 0.2)
    row = next(r for r in helped.table if r.method == "identity")
    assert row.log_loss.value == pytest.approx(metrics.log_loss(y, p), rel=1e-9)
    assert row.accuracy.value == pytest.approx(metrics.accuracy_score(y, p.argmax(1)))
    assert row.brier.value == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(1).mean())
    for one in helped.table:
        gap = row.log_loss.value - one.log_loss.value
        assert one.gain.value == pytest.approx(gap, abs=1e-12)


@given(st.permutations(range(80)))
@settings(max_examples=10)
def test_order_of_rows_does_not_matter(order):
    p, y = draw_classes(5, 80, 3, 0.3)
    y[:3] = [0, 1, 2]
    a, b = (sw.Recalibrator().fit(p[i], y[i]) for i in (np.arange(80), np.array(order)))
    assert a.to_dict() == b.to_dict()


def test_many_rows_are_compared_on_some_and_fitted_to_all(monkeypatch):
    monkeypatch.setattr(choosing, "MAX_ROWS", 500)
    r = sw.Recalibrator().fit(*draw_classes(6, 2000, 3, 0.5))
    assert r.choice_.compared == 500
    assert r.map_.rows == 2000
    assert "compared on 500 rows" in r.to_dict()["hints"][0]


def test_columns_are_found_by_their_names(helped):
    want = helped.transform(NEW)
    assert want.sum(1) == pytest.approx(1)
    assert helped.classes_ == ("a", "b", "c")
    turned = {"c": NEW[:, 2], "a": NEW[:, 0], "b": NEW[:, 1]}
    for frame in (turned, pd.DataFrame(turned), pl.DataFrame(turned)):
        assert (helped.transform(frame) == want).all()
    assert (helped.predict_proba(NEW) == want).all()


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        (NEW[:, :2], "the map is for 3 classes"),
        (NEW[:, 0], "the map is for 3 classes"),
        ({"a": [0.2], "b": [0.3], "d": [0.5]}, "the map is for the classes a, b, c"),
        (NEW * 1.5, "outside|do not add up"),
        (np.where(NEW > 0.5, np.nan, NEW), "missing"),
    ],
    ids=range(5),
)
def test_scores_that_do_not_fit_the_map_are_told(helped, scores, why):
    with pytest.raises(BadInput, match=why):
        helped.transform(scores)


@pytest.mark.parametrize(
    ("method", "options", "why"),
    [
        ("platt", {}, "platt is not a method for several classes"),
        ("auto", {"positive": 1}, "positive is for one score a row"),
        ("auto", {"classes": ["a", "b"]}, "names 2 classes"),
    ],
)
def test_bad_input_is_told(method, options, why):
    p, y = draw_classes(1, 50)
    with pytest.raises(BadInput, match=why):
        sw.Recalibrator(method).fit(p, y, **options)
    with pytest.raises(BadInput, match="dirichlet is not a method for one score a row"):
        sw.Recalibrator("dirichlet").fit(p[:, 0], y > 0)
    with pytest.raises(BadInput, match="classes needs a score for each class"):
        sw.Recalibrator().fit(p[:, 0], y > 0, classes=["a", "b"])
    with pytest.raises(BadInput, match="all rows are of one class"):
        sw.Recalibrator().fit(p, np.zeros(50, int))


def test_document_follows_its_schema(helped):
    schema = document_schema("calibrate-classes")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(helped.to_json()), schema)
    assert "Before and after" in str(helped)
    assert all(len(line) <= 80 for line in str(helped).splitlines())
    assert "**Tried**" in helped.to_markdown()


@pytest.mark.parametrize("method", CLASS_METHODS)
def test_a_stored_map_gives_the_same_bits_in_a_new_process(method, tmp_path):
    path = tmp_path / "map.json"
    r = sw.Recalibrator(method).fit(*draw_classes(6, 300, 3, 0.5))
    r.save(path)
    np.save(tmp_path / "p.npy", NEW)
    code = (
        "import sys, numpy as np, scorewise as sw\n"
        "r = sw.Recalibrator.load(sys.argv[1])\n"
        "np.save(sys.argv[3], r.transform(np.load(sys.argv[2])))\n"
    )
    paths = [str(path), str(tmp_path / "p.npy"), str(tmp_path / "q.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    assert np.load(paths[2]).tobytes() == r.transform(NEW).tobytes()
    loaded = sw.Recalibrator.load(path)
    assert loaded.to_dict() == json.loads(path.read_text())
    assert str(loaded) == str(r)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert loaded.classes_ == r.classes_
    parts = np.concatenate([r.transform(part) for part in np.array_split(NEW, 37)])
    assert parts.tobytes() == r.transform(NEW).tobytes()


def edited(doc):
    """The document with one value set to null, a text or a number, each in turn."""
    for path in places(doc):
        for value in (None, "edited", 7, [], {}):
            bad = copy.deepcopy(doc)
            at = bad
            for key in path[:-1]:
                at = at[key]
            if at[path[-1]] == value:
                continue
            at[path[-1]] = value
            yield path, bad


def places(doc, path=()):
    keys = doc if isinstance(doc, dict) else range(len(doc)) if isinstance(doc, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(doc[key], (*path, key))


@pytest.mark.parametrize("several", [False, True], ids=["one score", "several classes"])
def test_whatever_is_edited_is_refused_in_a_sentence(several, tmp_path):
    path = tmp_path / "map.json"
    p, y = draw_classes(6, 300, 3, 0.5)
    made = sw.Recalibrator("temperature")
    (made.fit(p, y) if several else made.fit(p[:, 0], y == 0)).save(path)
    sw.Recalibrator.load(path)
    tried = 0
    for _, bad in edited(json.loads(path.read_text())):
        path.write_text(json.dumps(bad))
        with pytest.raises(BadInput, match=r"fit the map again|holds no map|has format"):
            sw.Recalibrator.load(path)
        tried += 1
    assert tried > 200


CHANGES = [
    lambda d: d["settings"].update(more=1),
    lambda d: d["settings"].update(level="high"),
    lambda d: d["data"].pop("rows"),
    lambda d: d["table"][0].pop("gain"),
    lambda d: d["map"].update(clip=0.7),
    lambda d: d["map"].update(method="magic"),
    lambda d: d["map"].update(kind="score"),
    lambda d: d["map"].update(rows=-1),
    lambda d: d["map"]["parameters"].update(more=1.0),
    lambda d: d["map"]["parameters"].update(slope=[1.0]),
    lambda d: d["map"]["parameters"].update(slope=None),
    lambda d: d["map"].update(parameters={}),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("several", [False, True], ids=["one score", "several classes"])
def test_what_was_edited_and_sealed_anew_is_refused(several, change, tmp_path):
    path = tmp_path / "map.json"
    p, y = draw_classes(6, 60, 3, 0.5)
    made = sw.Recalibrator("temperature")
    (made.fit(p, y) if several else made.fit(p[:, 0], y == 0)).save(path)
    doc = json.loads(path.read_text())
    change(doc)
    for part in (doc["map"], doc):
        part["sha256"] = seal(part)
    path.write_text(json.dumps(doc))
    with pytest.raises(BadInput, match=r"map.json is damaged or was edited; fit the map again"):
        sw.Recalibrator.load(path)


def test_plot(helped):
    pytest.importorskip("matplotlib")
    drawn = helped.plot()
    assert len(drawn.axes_) == 2
    x, share = drawn.after_.get_data()
    assert np.abs(x - share).mean() < 0.05
    top = helped.transform(helped.data_.p).max(1)
    assert x.mean() == pytest.approx(top.mean(), abs=0.01)
    before = drawn.before_.get_data()
    assert np.abs(before[0] - before[1]).mean() > np.abs(x - share).mean()

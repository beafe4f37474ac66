"""Labels that may be counted from 0 or from 1, and pages of many classes."""

import json

import numpy as np
import pytest

import scorewise as sw

THREE = np.eye(3)[[0, 1, 0, 1]] * 0.7 + 0.1


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], ["1", "2", "1", "2"], [1.0, 2.0, 1.0, 2.0]])
def test_numbers_that_may_begin_at_0_or_1_are_refused_with_both_ways_out(labels):
    with pytest.raises(
        sw.BadInput, match=r"0 to 2 or 1 to 3; pass classes=\[0, 1, 2\] or classes=\[1, 2, 3\]"
    ):
        sw.evaluate(labels, THREE)
    assert sw.evaluate(labels, THREE, classes=range(1, 4)).accuracy.value == 1.0
    assert sw.evaluate(labels, THREE, classes=range(3)).accuracy.value == 0.0


def test_the_largest_number_tells_that_labels_begin_at_1():
    p = np.eye(3)[[0, 2, 2, 0]] * 0.7 + 0.1
    e = sw.evaluate([1, 3, 3, 1], p)
    assert e.classes == ("1", "2", "3")
    assert e.accuracy.value == 1.0
    assert "'2' occurs in no row" in " ".join(e.to_dict()["hints"])


def test_a_zero_tells_that_labels_begin_at_0():
    e = sw.evaluate([0, 1, 0, 1], THREE)
    assert (e.classes, e.accuracy.value) == (("0", "1", "2"), 1.0)


def test_recalibration_refuses_the_same():
    with pytest.raises(sw.BadInput, match="0 to 2 or 1 to 3"):
        sw.Recalibrator("temperature").fit(THREE, [1, 2, 1, 2])


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    y, z = rng.integers(0, 120, 600), rng.normal(size=(600, 120))
    z[np.arange(600), y] += 3
    return sw.evaluate(y, z, kind="logit", classes=range(120))


def test_a_page_of_many_classes_shows_the_worst_and_the_best(many):
    text = repr(many)
    assert len(text.splitlines()) < 110
    assert "the JSON document has the 100 others too" in " ".join(text.split())
    lines = text.partition("Each class against the rest")[2].splitlines()
    f1 = [float(line.split()[5]) for line in lines if line[:1].isdigit()]
    found = {c["name"]: c for c in many.to_dict()["classes"]}
    each = (next(m["value"] for m in c["measures"] if m["name"] == "f1") for c in found.values())
    known = sorted(x for x in each if x is not None)
    np.testing.assert_allclose(f1, [*known[:15], *known[-5:]], atol=6e-4)


def test_the_document_of_many_classes_has_all(many):
    doc = json.loads(many.to_json())
    assert len(doc["classes"]) == 120
    np.testing.assert_array_equal(doc["models"][0]["confusion"], many.confusion.weight)
    many.to_dict()["models"][0]["confusion"][0][0] = -1
    assert many.to_dict()["models"][0]["confusion"][0][0] != -1


@pytest.mark.parametrize("weights", [False, True])
def test_decisions_for_a_class_are_the_sums_over_the_others(weights):
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 4, 50), rng.dirichlet(np.ones(4), 50)
    w = rng.lognormal(size=50) if weights else None
    t = sw.ClassTally.of(y, p, weight=w, classes=range(4))
    said = p.argmax(1)
    for k in range(4):
        for found, amount in (
            (t.decided(k).weight, w),
            (t.decided(k).weight2, None if w is None else w**2),
        ):
            each = np.ones(50) if amount is None else amount
            for i, truth in enumerate((y != k, y == k)):
                for j, call in enumerate((said != k, said == k)):
                    assert found[i, j] == pytest.approx(each[truth & call].sum(), rel=1e-12)

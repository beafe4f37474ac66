"""An interval that is outside the range in which it was checked says so in every view."""

import json
from dataclasses import replace

import scorewise as sw
from scorewise.show import markdown, terminal
from scorewise.show.document import to_dict, with_cautions
from scorewise.show.records import Estimated, record_of

WHY = "3 rows of class 'c'"
SURE, UNSURE = sw.Estimate(0.5, 0.4, 0.6), sw.Estimate(0.5, 0.2, 0.8, caution=WHY)


def document(*estimates):
    doc = sw.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.2]).document()
    (model,) = doc.models
    rows = list(model.measures)
    for at, estimate in enumerate(estimates):
        rows[at] = replace(rows[at], **vars(record_of(Estimated, estimate)))
    return to_dict(with_cautions(replace(doc, models=[replace(model, measures=rows)], hints=[])))


def test_an_estimate_says_that_its_interval_is_unreliable():
    assert str(UNSURE) == f"0.500 [0.200, 0.800] (interval unreliable: {WHY})"
    assert str(SURE) == "0.500 [0.400, 0.600]"


def test_every_view_marks_and_explains_it():
    doc = document(UNSURE, SURE)
    title = doc["models"][0]["measures"][0]["title"]
    sentence = f"the interval marked † is unreliable: {WHY} ({title})"
    assert doc["hints"] == [sentence]
    assert json.loads(json.dumps(doc))["models"][0]["measures"][0]["caution"] == WHY
    for view in (terminal.text(doc, 200), markdown.markdown(doc)):
        assert view.count("]†") == 1
        assert "[0.200, 0.800]†" in view
        assert "3 rows of class" in view


def test_a_reason_is_given_once_for_all_measures_that_it_holds_for():
    doc = document(UNSURE, UNSURE)
    first, second = (m["title"] for m in doc["models"][0]["measures"][:2])
    assert doc["hints"] == [f"intervals marked † are unreliable: {WHY} ({first}, {second})"]


def test_nothing_is_said_where_nothing_is_wrong():
    assert document(SURE)["hints"] == []
    assert "†" not in terminal.text(document(SURE), 200)

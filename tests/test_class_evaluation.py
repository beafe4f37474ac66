"""Evaluations of several classes: the same numbers as from arrays, frames, files, parts and two classes."""

import json
import math

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
    roc_auc_score,
)

import scorewise as sw
from scorewise import BadInput, ClassTally, Tally
from scorewise.estimate import Estimate
from scorewise.registry import CLASS_MEASURES, MEASURES, measure
from scorewise.show.document import schema as document_schema
from scorewise.show.terminal import text

NAMES = np.array(["bird", "cat", "dog"])


def draw(n=300, k=3, seed=0, pull=1.5):
    """Places of the labels, and probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    z = rng.normal(size=(n, k)) + pull * np.eye(k)[y]
    p = np.exp(z)
    return y, p / p.sum(1, keepdims=True)


def same(a, b, names=None):
    """Whether two evaluations say the same, up to rounding."""
    assert list(a) == list(b)
    for name in names or a:
        x, y = ([e.value, e.low, e.high] for e in (a[name], b[name]))
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9, err_msg=name)
        assert a[name].why == b[name].why


# what there is


def test_measures_are_attributes_and_items():
    y, p = draw()
    e = sw.evaluate(y, p)
    assert isinstance(e, sw.ClassEvaluation)
    assert set(e) == set(CLASS_MEASURES)
    assert len(e) == len(CLASS_MEASURES)
    assert e.aurc is e["aurc"]
    assert "aurc" in dir(e)
    assert e.accuracy.value == accuracy_score(y, p.argmax(1))
    assert e.skill("aurc") == CLASS_MEASURES["aurc"].skill(e.aurc)
    with pytest.raises(AttributeError, match="no measure of several classes is named auc; did you"):
        _ = e.auc
    with pytest.raises(KeyError, match="no measure of several classes is named nope; there are"):
        e["nope"]


def test_confusion_is_that_of_scikit_learn():
    y, p = draw()
    e = sw.evaluate(NAMES[y], p, classes=NAMES)
    assert e.classes == tuple(NAMES)
    assert e.confusion.weight.tolist() == confusion_matrix(y, p.argmax(1)).tolist()


def test_one_class_is_an_evaluation_of_two():
    y, p = draw()
    e = sw.evaluate(NAMES[y], p, classes=NAMES)
    same(e.each["cat"], sw.evaluate(y == 1, p[:, 1]))
    assert e.each["cat"] is e.each["cat"]
    assert list(e.each) == list(NAMES)
    assert len(e.each) == 3
    assert "cow" not in e.each
    with pytest.raises(KeyError, match="no class is named cow; there are bird, cat, dog"):
        e.each["cow"]
    assert repr(e.each) == "<evaluations of bird, cat, dog, each against the rest>"
    assert e.each["cat"].tally.origin.positive == "cat"


def test_numbers_name_classes_too():
    y, p = draw()
    assert sw.evaluate(y, p).each[1].auroc.value == pytest.approx(roc_auc_score(y == 1, p[:, 1]))


def test_top_is_confidence_against_correct():
    y, p = draw()
    right = p.argmax(1) == y
    same(sw.evaluate(y, p).top, sw.evaluate(right, p.max(1), positive=True))
    lead = np.sort(p, 1)[:, -1] - np.sort(p, 1)[:, -2]
    margin = sw.evaluate(y, p, confidence="margin")
    same(margin.top, sw.evaluate(right, lead, positive=True, kind="score"))
    assert margin.accuracy == sw.evaluate(y, p).accuracy
    assert margin.aurc != sw.evaluate(y, p).aurc


def test_document_has_each_class_as_scikit_learn_has_it():
    y, p = draw()
    doc = sw.evaluate(NAMES[y], p, classes=NAMES).to_dict()
    precision, recall, f1, support = precision_recall_fscore_support(y, p.argmax(1))
    for k, c in enumerate(doc["classes"]):
        found = {m["name"]: m["value"] for m in c["measures"]}
        assert (c["name"], c["weight"]) == (NAMES[k], support[k])
        assert c["called"] == (p.argmax(1) == k).sum()
        wanted = {
            "precision": precision[k],
            "sensitivity": recall[k],
            "f1": f1[k],
            "auroc": roc_auc_score(y == k, p[:, k]),
        }
        assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_measures_of_two_classes_keep_their_order():
    # though a file of several classes imports that of average precision
    names = list(MEASURES)
    assert names.index("auroc") < names.index("average_precision")


# from where


def forms():
    y, p = draw()
    table = {name: p[:, k] for k, name in enumerate(NAMES)}
    return y, {
        "array": (p, {"classes": NAMES}),
        "list of lists": (p.tolist(), {"classes": list(NAMES)}),
        "list of arrays": (list(p), {"classes": NAMES}),
        "mapping": (table, {}),
        "pandas": (pd.DataFrame(table), {}),
        "polars": (pl.DataFrame(table), {}),
        "lazy polars": (pl.LazyFrame(table), {}),
        "pyarrow": (pa.table(table), {}),
        "logits": (np.log(p) + 3, {"classes": NAMES, "kind": "logit"}),
    }


@pytest.mark.parametrize("form", list(forms()[1]))
def test_any_table_gives_the_same(form):
    y, tables = forms()
    scores, options = tables[form]
    plain = sw.evaluate(NAMES[y], draw()[1], classes=NAMES)
    # what draws at random draws by the bits of the scores, which logits round otherwise
    names = [m for m in plain if form != "logits" or CLASS_MEASURES[m].group != "calibration"]
    if form in (
        "mapping",
        "pandas",
        "polars",
        "lazy polars",
        "pyarrow",
    ):  # which do not say that classes are ordered
        names.remove("rps")
    same(sw.evaluate(NAMES[y], scores, **options), plain, names)


def test_tensors():
    torch = pytest.importorskip("torch")
    y, p = draw()
    same(sw.evaluate(torch.tensor(y), torch.tensor(p)), sw.evaluate(y, p))


def test_tally_merged_or_of_a_frame_gives_the_same():
    y, p = draw()
    plain = sw.evaluate(NAMES[y], p, classes=NAMES)
    parts = [
        ClassTally.of(NAMES[y[at]], p[at], classes=NAMES) for at in (slice(110), slice(110, None))
    ]
    same(sw.evaluate(parts[0] + parts[1]), plain)
    frame = pl.DataFrame({"y": NAMES[y], **{f"p_{c}": p[:, k] for k, c in enumerate(NAMES)}})
    columns = {c: f"p_{c}" for c in NAMES}
    for classes in ("p_*", columns, ",".join(f"{c}={f}" for c, f in columns.items())):
        t = sw.class_tally(frame, label="y", classes=classes)
        same(sw.evaluate(t), plain, [m for m in plain if m != "rps" or classes != "p_*"])
        assert t.top.origin.label == "y"
    named = frame.rename({f: c for c, f in columns.items()})
    same(sw.evaluate(sw.class_tally(named, label="y", classes=list(NAMES))), plain)


def test_weights_counts_and_missing_rows():
    y, p = draw()
    times = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = sw.evaluate(np.repeat(y, times), np.repeat(p, times, axis=0))
    same(sw.evaluate(y, p, count=times), repeated)
    heavy = sw.evaluate(y, p, weight=np.full(len(y), 7.0))
    assert heavy.accuracy.value == pytest.approx(sw.evaluate(y, p).accuracy.value)
    assert (heavy.aurc.low, heavy.aurc.high) == pytest.approx(
        (sw.evaluate(y, p).aurc.low, sw.evaluate(y, p).aurc.high)
    )
    holes = p.copy()
    holes[5, 1] = math.nan
    dropped = sw.evaluate(y, holes, missing="drop")
    same(dropped, sw.evaluate(np.delete(y, 5), np.delete(p, 5, axis=0)))
    assert dropped.to_dict()["data"]["dropped"] == 1


def test_two_columns_agree_with_two_classes():
    y, p = draw(k=2)
    two, several = sw.evaluate(y, p[:, 1]), sw.evaluate(sw.ClassTally.of(y, p))
    assert several.accuracy.value == two.accuracy.value
    assert several.log_loss.value == pytest.approx(two.log_loss.value)
    assert several.each["1"].auroc == two.auroc
    assert isinstance(two, sw.Evaluation)


# decisions with confidence


def test_decisions_with_confidence_alone():
    y, p = draw()
    full = sw.evaluate(NAMES[y], p, classes=NAMES)
    e = sw.evaluate(NAMES[y], p.max(1), predicted=NAMES[p.argmax(1)])
    assert e.confusion.weight.tolist() == full.confusion.weight.tolist()
    for name in ("accuracy", "kappa", "aurc", "excess_aurc", "augrc"):
        assert e[name] == full[name], name
    same(e.top, full.top)
    assert len(e.each) == 0
    with pytest.raises(KeyError, match="only the confidence is known"):
        e.each["cat"]
    for name in ("macro_auroc", "log_loss", "brier"):
        assert e[name].why.startswith("only the confidence is known"), name
    assert e.to_dict()["models"][0]["kind"] is None


def test_classes_beside_decisions():
    t = ClassTally.of_decisions([2, 10, 2], [10, 10, 2], [0.5, 0.6, 0.7])
    assert t.classes == ("2", "10")
    t = ClassTally.of_decisions(["a", "b"], ["b", "b"], [0.5, 0.6], classes=["c", "b", "a"])
    assert t.classes == ("c", "b", "a")
    with pytest.raises(BadInput, match="predicted is not among the classes in 1 row"):
        ClassTally.of_decisions(["a", "b"], ["d", "b"], [0.5, 0.6], classes=["a", "b"])
    with pytest.raises(BadInput, match="only the class 'a'; pass classes="):
        ClassTally.of_decisions(["a", "a"], ["a", "a"], [0.5, 0.6])
    ordered = pl.Series(["low", "high"], dtype=pl.Enum(["low", "mid", "high"]))
    assert ClassTally.of_decisions(ordered, ordered, [0.5, 0.6]).classes == ("low", "mid", "high")


def test_confidence_of_any_scale():
    y, p = draw()
    called = NAMES[p.argmax(1)]
    scaled = sw.evaluate(NAMES[y], 10 * p.max(1), predicted=called)
    plain = sw.evaluate(NAMES[y], p.max(1), predicted=called)
    assert scaled.aurc == plain.aurc
    assert scaled.top.log_loss.why.startswith("scores from")
    with pytest.raises(BadInput, match=r"confidence is outside \[0, 1\] in \d+ rows"):
        sw.evaluate(NAMES[y], 10 * p.max(1), predicted=called, kind="probability")


def test_own_column_of_confidence():
    y, p = draw()
    own = np.random.default_rng(2).random(len(y))
    e = sw.evaluate(y, p, confidence=own)
    same(e.top, sw.evaluate(p.argmax(1) == y, own, positive=True))
    assert e.accuracy == sw.evaluate(y, p).accuracy
    assert e.to_dict()["models"][0]["confidence"] == "confidence"
    own[3] = math.nan
    assert sw.evaluate(y, p, confidence=own, missing="drop").tally.rows == len(y) - 1
    with pytest.raises(BadInput, match="confidence is missing in 1 row, row 3"):
        sw.evaluate(y, p, confidence=own)


# refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"positive": "cat"}, "positive= belongs to two classes"),
        ({"threshold": 0.3}, "threshold= belongs to two classes"),
        ({"confidence": "best"}, 'confidence="best" is not known'),
        ({"confidence": "energy"}, "energy needs logits"),
        ({"kind": "score"}, 'kind="score" is not known'),
        ({"classes": ["a", "b"]}, "classes= names 2 classes, but there are scores for 3"),
        ({"classes": ["a", "a", "b"]}, "names 'a' twice"),
        ({"predicted": [0] * 300}, "predicted= goes with one confidence a row"),
        ({"missing": "ignore"}, 'missing="ignore" is not known'),
        ({"level": 2}, "level must lie between 0 and 1, such as 0.95; got 2"),
        ({"clip": 0.7}, "clip must lie between 0 and 0.5, such as 1e-15; got 0.7"),
        ({"confidence": [0.5]}, "label has 300 rows and confidence has 1"),
        ({"weight": [1.0]}, "label has 300 rows and weight has 1"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(options, said):
    y, p = draw()
    with pytest.raises(BadInput, match=said) as error:
        sw.evaluate(y, p, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["classes", "confidence", "predicted"])
def test_options_of_several_classes_are_refused_for_two(name):
    option = {"classes": ["a", "b"], "confidence": "max", "predicted": [0, 1]}[name]
    if name != "predicted":
        with pytest.raises(BadInput, match=f"{name}= belongs to several classes"):
            sw.evaluate([0, 1], [0.2, 0.7], **{name: option})
    with pytest.raises(BadInput, match="leave out " + name):
        sw.evaluate(Tally.of([0, 1], [0.2, 0.7]), **{name: option})


def test_tally_of_classes_takes_no_scores():
    t = ClassTally.of(*draw())
    with pytest.raises(BadInput, match="leave out p and weight"):
        sw.evaluate(t, [1], weight=[1])
    with pytest.raises(BadInput, match="threshold= belongs"):
        sw.evaluate(t, threshold=0.1)


def judged_or_refused(*args, **options):
    try:
        return sw.evaluate(*args, **options)
    except BadInput as error:
        return str(error)


cell = st.one_of(st.floats(), st.integers(-2, 2), st.none(), st.text(max_size=2), st.booleans())


@given(
    st.lists(cell, max_size=4),
    st.lists(st.lists(cell, max_size=3), max_size=4),
    st.sampled_from([None, "probability", "logit", "score"]),
    st.sampled_from([None, ["a", "b"], [0, 1, 2], []]),
)
def test_any_input_is_judged_or_refused_in_a_sentence(y, p, kind, classes):
    e = judged_or_refused(y, p, kind=kind, classes=classes, missing="drop")
    if isinstance(e, str):
        assert e.strip()
        assert "\n" not in e
        return
    assert all(isinstance(estimate, Estimate) for estimate in e.values())
    assert all(bool(m.why) == (not math.isfinite(m.value)) for m in e.values())


# shown


@pytest.mark.parametrize("k", [2, 3, 10, 11, 60])
def test_page_schema_and_markdown(k):
    y, p = draw(n=200, k=k, seed=k)
    names = [f"class {c} | *x* \x1b[1m" if c % 3 else f"動物{c}" * 9 for c in range(k)]
    e = sw.evaluate(sw.ClassTally.of([names[c] for c in y], p, classes=names))
    doc = json.loads(e.to_json())
    jsonschema.Draft202012Validator(document_schema("evaluate")).validate(doc)
    shown = text(doc)
    assert all(cell_len(line) <= 80 for line in shown.splitlines())
    assert "\x1b" not in shown
    assert ("Most frequent confusions" in shown) == (k > 3)
    assert "Each class against the rest" in e.to_markdown()
    assert "\x1b" not in e.to_markdown()
    assert {m["name"] for m in doc["classes"][0]["measures"]} >= {"sensitivity", "precision", "f1"}
    assert ("auroc" in {m["name"] for m in doc["classes"][0]["measures"]}) == (k <= 50)


def test_schema_is_valid_and_every_field_described():
    schema = document_schema("evaluate")
    jsonschema.Draft202012Validator.check_schema(schema)
    doc = sw.evaluate(*draw()).to_dict()
    for path in (("surprise",), ("data", "surprise"), ("settings", "surprise")):
        broken = json.loads(json.dumps(doc))
        at = broken
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = 1
        assert not jsonschema.Draft202012Validator(schema).is_valid(broken)


def test_confusion_is_printed_whole_when_small():
    y, p = draw()
    e = sw.evaluate(NAMES[y], p, classes=NAMES)
    lines = repr(e).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("true \\ predicted"))
    assert lines[at].split()[3:] == list(NAMES)
    for k, line in enumerate(lines[at + 1 : at + 4]):
        assert line.split() == [NAMES[k], *map(str, e.confusion.weight[k])]


def test_frame_has_a_row_for_each_measure():
    frame = sw.evaluate(*draw()).to_frame()
    assert frame["name"].to_list() == list(sw.evaluate(*draw()))
    assert frame.columns[:4] == ["name", "value", "low", "high"]


def test_document_is_the_readers_own():
    e = sw.evaluate(*draw())
    e.to_dict()["hints"].append("x")
    assert e.to_dict()["hints"] == []


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_that_stand_for_names_in_their_order_are_told(first):
    p = {"lose": [0.7, 0.2, 0.1, 0.6], "draw": [0.2, 0.5, 0.3, 0.3], "win": [0.1, 0.3, 0.6, 0.1]}
    y = np.array([0, 1, 2, 0]) + first
    said = sw.evaluate(y, p).to_dict()["hints"]
    assert said[0] == (
        f"labels {first} to {first + 2} are the classes in the order of the scores: {first} is 'lose', "
        f"{first + 2} is 'win'"
    )
    told = [sw.evaluate(y, np.array([*p.values()]).T), sw.evaluate(np.array([*p])[y - first], p)]
    assert not any("in the order of" in hint for e in told for hint in e.to_dict()["hints"])


def test_hints():
    y, p = draw(k=4)
    p[y == 3] = p[y == 3][:, [3, 0, 1, 2]]
    p[:, 2] = 0
    p /= p.sum(1, keepdims=True)
    p[7] = [0.5, 0.5, 0, 0]
    p[9] = [0.5, 0.5, 0, 0]
    there = y != 3
    said = sw.evaluate(y[there], p[there], classes=range(4)).to_dict()["hints"]
    ties = sum(there[[7, 9]])
    assert said[0].startswith("'3' occurs in no row")
    assert said[1].startswith("'2' is never predicted, and so has no precision")
    assert said[2].startswith(f"several classes share the highest score in {ties} row")
    assert all("unreliable" in hint for hint in said[3:])
    backwards = sw.evaluate(y, draw(k=4)[1], confidence=-draw(k=4)[1].max(1))
    assert "confidence is higher where the decision is wrong" in backwards.to_dict()["hints"][0]
    logit = sw.evaluate(*draw(), kind="logit").to_dict()["hints"]
    assert "said to be logits" in logit[0]


def test_no_rows_are_explained():
    e = sw.evaluate([], np.empty((0, 3)))
    assert all(estimate.why for estimate in e.values())
    assert "0 of 3 classes" in repr(e.all())


def test_a_measure_of_ones_own_appears():
    @measure(group="decisions", better="low", title="Error rate", of="several classes")
    def error_rate(t: ClassTally, *, level: float = 0.95) -> Estimate:
        """Share of wrong decisions."""
        return Estimate(1 - np.trace(t.confusion.weight) / t.rows, level=level)

    try:
        e = sw.evaluate(*draw())
        assert e.error_rate.value == pytest.approx(1 - e.accuracy.value)
        assert "Error rate" in repr(e.all())
    finally:
        del CLASS_MEASURES["error_rate"]

"""Samples of all kinds, samples that are no samples, and samples of almost nothing."""

import math

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import scorewise as sw
from drift_cases import draw, tally
from scorewise import BadInput
from scorewise.show.document import schema as document_schema
from scorewise.show.terminal import text

Validator = jsonschema.Draft202012Validator
FAST = {"replicates": 39}


def checked(d):
    """The drift, once its document and its table are known to be good."""
    doc = d.to_dict()
    Validator(document_schema("drift")).validate(doc)
    assert all(len(line) <= 80 for line in text(doc).splitlines())
    assert d.to_markdown()
    for w in d.windows:
        for c in w.values():
            assert math.isnan(c.value) == bool(c.estimate.why)
            assert math.isnan(c.p) == bool(c.estimate.why)
    return d


def test_every_way_to_give_a_sample(tmp_path):
    (y, p), (v, q) = draw(1), draw(2)
    frames = [pd.DataFrame({"y": a, "p": b}) for a, b in ((y, p), (v, q))]
    files = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    frames[0].to_csv(files[0], index=False)
    frames[1].to_parquet(files[1])
    options = {"label": "y", "score": "p", **FAST}
    expected = sw.drift(sw.Tally.of(y, p), sw.Tally.of(v, q), **FAST).to_frame()
    for pair in (
        [(y, p), [v, q]],
        frames,
        [pl.DataFrame({"y": y, "p": p}).lazy(), {"y": v, "p": q}],
        files,
        [[files[0]], str(tmp_path / "b*.parquet")],
    ):
        got = checked(sw.drift(*pair, **options)).to_frame()
        assert got["value"].to_numpy() == pytest.approx(expected["value"].to_numpy(), abs=1e-12)
        assert got["p"].to_list() == expected["p"].to_list()


@pytest.mark.parametrize("make", [list, np.array, pl.Series, pd.Series])
def test_scores_alone(make):
    p, q = (make(draw(k)[1].tolist()) for k in (1, 2))
    d = checked(sw.drift(p, q, **FAST))
    assert {n for n, c in d.window.items() if not c.estimate.why} == {
        "midpoint", "estimated_prevalence", "psi", "ks", "wasserstein",
    }  # fmt: skip
    assert d["auroc"].estimate.why == "no labels in the reference sample"


def test_files_whose_labels_are_not_there_yet():
    (y, p), (_, q) = draw(1), draw(2)
    late = {"id": np.arange(len(q)), "risk": q}
    d = checked(
        sw.drift({"y": y, "risk": p}, late, label="y", score="risk", labels="reference", **FAST)
    )
    assert d["calibration"].estimate.why == "no labels in the current sample"
    assert d["ks"].value == sw.drift(p, q, **FAST)["ks"].value
    with pytest.warns(UserWarning, match="score: column 'risk'"):
        sw.drift({"risk": p}, late, labels="none", **FAST)
    with pytest.raises(BadInput, match="there is no column 'y'"):
        sw.drift({"y": y, "risk": p}, late, label="y", score="risk", **FAST)


def test_scores_of_any_scale_leave_smroc_undefined():
    (y, p), (v, q) = draw(1), draw(2, shift=0.5)
    d = checked(sw.drift((y, 10 * p - 3), (v, 10 * q - 3), **FAST))
    assert "lie outside [0, 1]" in d["smauc"].estimate.why
    assert d["auroc"].value == pytest.approx(sw.drift((y, p), (v, q), **FAST)["auroc"].value)
    assert d["wasserstein"].value > 0.1


EMPTY = sw.Tally.empty()
ODD = {
    "no rows": (EMPTY, tally(1)),
    "no rows at all": (EMPTY, EMPTY),
    "no current rows": (tally(1), EMPTY),
    "no positives": (tally(1), tally(2, prevalence=0.0)),
    "no negatives": (tally(1, prevalence=1.0), tally(2)),
    "one class in both": (tally(1, prevalence=0.0), tally(2, prevalence=0.0)),
    "opposite classes": (tally(1, prevalence=0.0), tally(2, prevalence=1.0)),
    "constant scores": (([0, 1], [0.5, 0.5]), ([0, 1, 1], [0.5, 0.5, 0.5])),
    "other constants": (([0, 1], [0.5, 0.5]), ([0, 1, 1], [0.7, 0.7, 0.7])),
    "one row each": (([0], [0.2]), ([1], [0.9])),
    "certain and right": (([0, 1], [0.0, 1.0]), ([0, 1], [0.0, 1.0])),
    "certain and wrong": (([0, 1], [1.0, 0.0]), ([0, 1], [0.0, 1.0])),
    "only zeros": (([0, 1], [0.0, 0.0]), ([0, 1], [0.0, 0.0])),
    "only ones, no labels": ([1.0, 1.0], [1.0, 1.0]),
    "huge scores": (([0, 1], [-1e308, 1e308]), ([0, 1], [1e308, -1e308])),
    "one row of weight": (
        sw.Tally.of([0, 1], [0.2, 0.4], weight=[0, 1]),
        sw.Tally.of([0, 1], [0.2, 0.4], weight=[1, 1]),
    ),
    "tiny weights": (
        sw.Tally.of([0, 1], [0.2, 0.4], weight=[1e-100, 1e-100]),
        sw.Tally.of([0, 1], [0.2, 0.4], weight=[1e100, 1e100]),
    ),
}


@pytest.mark.parametrize("rule", ["mean", "balanced", "median", 0.5])
@pytest.mark.parametrize("name", ODD)
def test_samples_of_almost_nothing_have_reasons_not_crashes(name, rule):
    d = checked(sw.drift(*ODD[name], midpoint=rule, replicates=399))
    if "rows" in name and "one" not in name:
        assert d.kind == "untested"
        assert d.verdict.startswith("Nothing could be tested: no rows in the ")
    else:
        assert d.kind in ("none seen", "covariate", "prior", "concept", "unclear", "scores")


def test_reasons():
    certain = sw.drift([1.0, 1.0], [1.0, 0.5], **FAST)
    assert certain["estimated_prevalence"].estimate.why.startswith("all scores of the reference")
    perfect = sw.drift(([0, 1], [0.0, 1.0]), ([0, 1], [1.0, 0.0]), midpoint=0.5, **FAST)
    assert perfect["auroc"].value == -1
    d = sw.drift(tally(1), tally(2, prevalence=0.0), **FAST)
    assert d["auroc"].estimate.why == "no positives in the current sample"
    assert d["prevalence"].value < 0
    fixed = sw.drift(tally(1), tally(2), midpoint=0.5, **FAST)
    assert fixed["midpoint"].estimate.why == "the midpoint is fixed"
    learned = sw.drift(tally(1), tally(2), midpoint=tally(3), **FAST)
    assert math.isfinite(learned["smauc"].value)


Y, P = [0, 1, 1], [0.2, 0.6, 0.9]
REFUSED = {
    "kind": (((Y, P), (Y, [2.0, 3.0, 4.0])), {}, 'probability .* score; pass kind="score"'),
    "positive": (((["a", "b"], [0.1, 0.2]), (["c", "d"], [0.1, 0.2])), {}, "positive class is 'b'"),
    "current": (((Y, P),), {}, "current sample is missing"),
    "level": (
        ((Y, P), (Y, P)),
        {"level": 1},
        "level must lie between 0 and 1, such as 0.95; got 1",
    ),
    "seed": (
        ((Y, P), (Y, P)),
        {"seed": -1},
        "seed must be an integer from 0 up, such as 0; got -1",
    ),
    "replicates": (
        ((Y, P), (Y, P)),
        {"replicates": 0},
        "replicates must be an integer from 1 up, such as 999; got 0",
    ),
    "labels": (((Y, P), (Y, P)), {"labels": "no"}, 'pass "both", "reference" or "none"'),
    "midpoint": (
        ((Y, P), (Y, P)),
        {"midpoint": "crossing"},
        "midpoint must be mean, balanced, median or a number from 0 to 1; got crossing",
    ),
    "fixed midpoint": (
        ((Y, P), (Y, P)),
        {"midpoint": 2},
        "midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got 2",
    ),
    "weight": (((Y, P), (Y, P)), {"weight": "w"}, "weight names a column"),
    "windows": (((Y, P), (Y, P)), {"windows": 3}, "windows= cuts time into windows; pass time="),
    "time": (((Y, P), (Y, P)), {"time": "t"}, "time= cuts one file or data frame"),
    "nothing": ((3, (Y, P)), {}, "a value of type int is not a sample"),
    "missing": (((Y, P), (Y, [0.1, None, 0.2])), {}, "score is missing in 1 row, row 1"),
    "table": ((np.zeros((3, 2)), (Y, P)), {}, "score"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_one_sentence_with_the_way_out(name):
    samples, options, said = REFUSED[name]
    with pytest.raises(BadInput, match=said) as error:
        sw.drift(*samples, **options)
    assert "\n" not in str(error.value)


def test_dropped_rows_are_told():
    d = sw.drift((Y, P), (Y, [0.1, None, 0.2]), missing="drop", **FAST)
    assert d.to_dict()["windows"][0]["dropped"] == 1
    assert "Dropped" in repr(d)


def test_changes_by_name():
    d = sw.drift(tally(1), tally(2), **FAST)
    assert repr(d["auroc"]).count("p = ") == 1
    assert d.to_frame().height == len(d.window) == 13
    with pytest.raises(KeyError, match="no change is named kappa; there are midpoint"):
        d["kappa"]

"""Evaluations: from rows to the document, in Python and on the command line, with the real core."""

import copy
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.cli import run
from scorewise.registry import MEASURES, SYNONYMS, Measure, nearest
from scorewise.show.document import schema as document_schema
from view_documents import names

Y = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
P = [0.9, 0.7, 0.6, 0.55, 0.2, 0.1, 0.4, 0.3, 0.8, 0.05]


def valid(doc) -> None:
    jsonschema.Draft202012Validator(document_schema()).validate(doc)
    text = json.dumps(doc, allow_nan=False)
    assert json.loads(text) == doc


@pytest.mark.parametrize(
    "column",
    [np.array, tuple, pd.Series, pl.Series, pa.array, torch.tensor],
    ids=lambda f: f.__module__,
)
def test_columns_of_any_library_give_the_same(column):
    plain, other = sw.evaluate(Y, P), sw.evaluate(column(Y), column(P))
    same = torch.tensor if column is torch.tensor else None
    if same:  # torch makes float32 of Python floats
        other = sw.evaluate(column(Y), torch.tensor(P, dtype=torch.float64))
    assert dict(other) == dict(plain)
    assert other.to_dict() == plain.to_dict()


def test_every_measure_is_an_attribute_and_an_item():
    e = sw.evaluate(Y, P)
    assert set(e) == set(MEASURES)
    assert len(e) == len(MEASURES)
    for name in MEASURES:
        assert getattr(e, name) is e[name]
        assert isinstance(e[name], sw.Estimate)
        assert name in dir(e)
    with pytest.raises(AttributeError, match="no measure is named acuracy; did you mean accuracy"):
        e.acuracy  # noqa: B018
    with pytest.raises(KeyError):
        e["acuracy"]
    # in this order
    groups = [MEASURES[name].group for name in e]
    assert groups == sorted(
        groups, key=["decisions", "order", "scores", "probability", "calibration"].index
    )


def test_tally_and_rows_give_the_same():
    t = sw.Tally.of(Y, P)
    assert dict(sw.evaluate(t)) == dict(sw.evaluate(Y, P))
    assert sw.evaluate(t).tally is t
    with pytest.raises(sw.BadInput, match="leave out p and weight"):
        sw.evaluate(t, P, weight=Y)
    with pytest.raises(sw.BadInput, match="scores are missing"):
        sw.evaluate(Y)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_tally_of_frames(frame):
    data = {"outcome": Y, "risk": P, "other": ["x"] * 10, "n": [2] * 10}
    t = sw.tally(frame(data), label="outcome", score="risk", count="n")
    assert t == sw.Tally.of(Y * 2, P * 2)
    assert (t.origin.label, t.origin.score, t.origin.sources) == ("outcome", "risk", ())


def test_tally_of_files_names_them(tmp_path):
    for i in (1, 2):
        pl.DataFrame({"y": Y, "p": P}).write_csv(tmp_path / f"day{i}.csv")
    with (
        pytest.warns(UserWarning, match="column 'y'"),
        pytest.warns(UserWarning, match="column 'p'"),
    ):
        t = sw.tally(str(tmp_path / "day*.csv"))
    assert t == sw.Tally.of(Y * 2, P * 2)
    assert t.origin.sources == ("day1.csv", "day2.csv")


def test_settings_reach_the_measures():
    e = sw.evaluate(Y, P, threshold=0.3, level=0.8, seed=3, clip=1e-3)
    assert e.settings == type(e.settings)(0.3, 0.8, 3, 1e-3)
    assert {x.level for x in e.values()} == {0.8}
    assert e.sensitivity == sw.measures.sensitivity(sw.Tally.of(Y, P).confusion(0.3), level=0.8)
    assert e.h_measure != sw.evaluate(Y, P, level=0.8).h_measure
    assert e.h_measure == sw.evaluate(Y, P, level=0.8, seed=3).h_measure
    assert sw.evaluate([1, 0], [0.0, 1.0], clip=1e-3).log_loss.value == -math.log(1e-3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"level": 0}, "level must lie between 0 and 1, such as 0.95; got 0"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"level": math.nan}, "level must lie between 0 and 1, such as 0.95; got nan"),
        ({"level": 95}, "level must lie between 0 and 1, such as 0.95; got 95"),
        ({"threshold": math.nan}, "threshold must be a finite number, such as 0.5; got nan"),
        ({"threshold": math.inf}, "finite"),
        ({"clip": 0.5}, "clip must lie between 0 and 0.5"),
        ({"clip": -1.0}, "between 0 and 0.5"),
        ({"kind": "rank"}, 'kind="rank" is not known'),
        ({"missing": "guess"}, 'missing="guess" is not known'),
        ({"kind": "logit", "threshold": 1.5}, "is not a probability"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(settings, said):
    with pytest.raises(sw.BadInput, match=said):
        sw.evaluate(Y, P, **settings)


@pytest.mark.parametrize(
    "rows",
    [
        {"y": Y, "p": P},
        {"y": Y, "p": P, "weight": [0.5 + i for i in range(10)]},
        {"y": Y, "p": [100 * x - 50 for x in P]},
        {"y": Y, "p": [10 * x - 5 for x in P], "kind": "logit"},
        {"y": [1], "p": [0.5]},
        {"y": [0, 0], "p": [0.5, 0.5]},
        {"y": [1, 0], "p": [0.0, 1.0]},
        {"y": [], "p": []},
        {"y": [None, 1, 0], "p": [0.5, 0.3, 0.2], "missing": "drop"},
        {"y": ["ill", "well"], "p": [0.5, 0.3], "positive": "ill"},
    ],
    ids=str,
)
@pytest.mark.parametrize("coarse", [False, True])
def test_document_is_valid_whatever_the_rows(rows, coarse):
    e = sw.evaluate(**rows)
    if coarse:
        e = sw.evaluate(e.tally.coarsen())
    valid(e.to_dict())
    assert json.loads(e.to_json()) == e.to_dict()
    assert "AUROC" in repr(e)
    assert "AUROC" in e.to_markdown() == e._repr_mimebundle_()["text/markdown"]
    assert e.to_frame()["name"].to_list() == list(e)


def test_document_says_what_was_judged():
    doc = sw.evaluate(Y, P, weight=[2.0] * 10, threshold=0.55).to_dict()
    data, model = doc["data"], doc["models"][0]
    assert (data["rows"], data["positives"], data["negatives"], data["dropped"]) == (10, 4, 6, 0)
    assert (data["weight"], data["weight_positives"], data["weight_negatives"]) == ("weight", 8, 12)
    assert model["confusion"] == {"tp": 6.0, "fp": 4.0, "fn": 2.0, "tn": 8.0}
    assert model["cut"] == {"threshold": 0.55, "above": 0.4, "upto": 0.55}
    assert (model["lowest"], model["highest"], model["exact"]) == (0.05, 0.9, True)
    rows = {row["name"]: row for row in model["measures"]}
    assert rows["auroc"]["baseline"] == 0.5
    assert rows["auroc"]["skill"] == pytest.approx(2 * rows["auroc"]["value"] - 1)


# hints


def test_order_that_is_turned_round_draws_a_hint():
    y = np.arange(60) % 2
    (hint,) = sw.evaluate(y, 0.6 - y / 5 + np.arange(60) / 1000).to_dict()["hints"]
    assert "AUROC of 'score' is below 0.5" in hint
    assert "is '1' the positive one, or is it '0'?" in hint
    assert sw.evaluate(Y, P).to_dict()["hints"] == []


@pytest.mark.parametrize(
    ("threshold", "side"), [(0.99, "called negative"), (0.01, "called positive")]
)
def test_one_sided_decisions_draw_a_hint(threshold, side):
    (hint,) = sw.evaluate(Y, P, threshold=threshold).to_dict()["hints"]
    assert f"every row is {side}; scores lie in [0.05, 0.9]" in hint


def test_single_class_draws_a_hint():
    hints = sw.evaluate([1, 1], [0.2, 0.9]).to_dict()["hints"]
    assert hints == ["'score': no negatives; measures that need both classes are undefined"]


# several scores


def test_several_scores_of_the_same_rows():
    doc = sw.evaluate({"y": Y, "a": P, "b": P[::-1]}, label="y", score=["a", "b"]).to_dict()
    valid(doc)
    assert [model["name"] for model in doc["models"]] == ["a", "b"]
    for model, scores in zip(doc["models"], (P, P[::-1]), strict=True):
        found = {row["name"]: row["value"] for row in model["measures"]}
        for name, e in sw.evaluate(Y, scores).items():
            assert found[name] == (e.value if e.defined else None)


def test_a_reason_that_measures_share_is_told_once():
    y, s = [0, 1, 1, 0, 1], [-2.0, 1.5, 3.0, 0.1, -0.4]
    for shown in (str(sw.evaluate(y, s)), str(sw.compare(y, {"a": s, "b": s}))):
        assert " ".join(shown.split()).count("are not probabilities; if they are logits") == 1
        assert "Brier score" in shown.partition("Without a value")[2]
    two = {"y": y, "a": s, "b": [3 * x for x in s]}
    apart = " ".join(str(sw.evaluate(two, label="y", score=["a", "b"])).split())
    assert "'a': scores from -2" in apart
    assert "'b': scores from -6" in apart


def test_of_many_models_the_first_screen_has_the_differences_in_ranking():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    frame = {"y": y, **{name: (rng.random(200) + y) / 2 for name in "abcd"}}
    e = sw.evaluate(frame, label="y", score=[*"abcd"])
    brief, whole = (str(x).partition("Differences, on the same rows")[2] for x in (e, e.all()))
    assert brief.count("'a' - 'b'") == 1
    assert "Brier score" not in brief
    assert whole.count("'a' - 'b'") > 10
    assert "Holm" in brief.splitlines()[1]  # all columns find room beside each other


def test_nothing_left_to_judge_is_refused():
    with pytest.raises(sw.BadInput, match="no rows are left to judge; 2 were dropped as missing"):
        sw.evaluate({"y": [None, 1], "p": [0.5, None]}, missing="drop")


# imports


def imported(program: str) -> set[str]:
    program += "; import sys; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_is_light():
    heavy = {"numpy", "scipy", "polars", "pandas", "sklearn", "torch", "matplotlib", "pyarrow"}
    assert not imported("import scorewise") & (heavy | {"narwhals", "rich", "typer"})


def test_judging_arrays_imports_no_frames():
    program = (
        "import numpy as np, scorewise as sw;"
        "e = sw.evaluate(np.arange(50) % 3 == 0, np.linspace(0, 1, 50)); e.auroc; e.to_dict()"
    )
    here = imported(program)
    assert "numpy" in here
    assert not here & {"pandas", "polars", "torch", "sklearn", "matplotlib", "pyarrow", "typer"}


# the command line


def command(*args, **options):
    here = str(Path(sw.__file__).parents[1])  # also when not installed, from any folder
    options["env"] = {**os.environ, "PYTHONPATH": here}
    return subprocess.run(
        [sys.executable, "-m", "scorewise", *args],
        capture_output=True, text=True, encoding="utf-8", timeout=120, **options,
    )  # fmt: skip


def test_evaluate_end_to_end(tmp_path):
    pl.DataFrame({"outcome": ["ill" if y else "well" for y in Y], "risk": P}).write_csv(
        tmp_path / "scores.csv"
    )
    done = command(
        *[
            "evaluate",
            "scores.csv",
            "--label",
            "outcome",
            "--positive",
            "ill",
            "--threshold",
            "0.55",
        ],
        *["--json", "out.json", "--md", "out.md"],
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert "AUROC" in done.stdout
    doc = json.loads((tmp_path / "out.json").read_text("utf-8"))
    valid(doc)
    expected = sw.evaluate(Y, P, threshold=0.55)
    found = {row["name"]: row["value"] for row in doc["models"][0]["measures"]}
    assert found == {k: e.value if e.defined else None for k, e in expected.items()}
    assert doc["data"]["sources"] == ["scores.csv"]
    assert "| AUROC |" in (tmp_path / "out.md").read_text("utf-8")
    assert names(tmp_path) == ["out.json", "out.md", "scores.csv"]


def test_demo_end_to_end(tmp_path):
    done = command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    home = tmp_path / "scorewise-demo"
    assert names(home) == ["evaluation.json", "report.html", "report.md", "screening.csv"]
    for name in names(home):
        assert name in done.stdout
    doc = json.loads((home / "evaluation.json").read_text("utf-8"))
    valid(doc)
    assert [model["name"] for model in doc["models"]] == ["risk", "sharp"]


def test_standard_input_in_process(monkeypatch, capsys, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"y": 1, "p": 0.5}\n{"y": 0, "p": 0.25}\n')
    assert run(["evaluate", str(tmp_path / "a.jsonl"), "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    valid(doc)
    assert doc["models"][0]["highest"] == 0.5


@pytest.mark.parametrize("coarse", [False, True])
def test_reason_shows_by_how_little_a_score_is_no_probability(coarse):
    t = sw.Tally.of([0, 1], [0.25, 1.002])
    e = sw.evaluate(t.coarsen() if coarse else t)
    assert e.brier.why == (
        "scores from 0.25 to 1.002 are not probabilities; if they are logits, declare their kind as logit"
    )


@pytest.mark.parametrize(
    ("scores", "percent"),
    [([14.0, 91.0], True), ([0, 100], True), ([14.0, 101.0], False), ([-1.0, 91.0], False),
     ([0.5, 7.0], False)],
)  # fmt: skip
def test_the_way_out_of_percentages_is_to_divide_them(scores, percent):
    why = sw.evaluate([0, 1], scores).brier.why
    assert why.endswith("if they are logits, declare their kind as logit")
    assert ("if they are percentages, divide them by 100; " in why) == percent


def test_compare_is_each_evaluation_and_their_difference():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    scores = {"a": rng.random(200) * (1 + y) / 2, "b": rng.random(200)}
    c = sw.compare(y, scores, threshold=0.4, level=0.9)
    assert list(c) == ["a", "b"]
    for name, s in scores.items():
        alone = sw.evaluate(y, s, threshold=0.4, level=0.9)
        assert dict(c[name]) == dict(alone)
    assert {"auroc", "smauc", "brier", "f1", "ece"} <= {d["measure"] for d in c.differences}
    for d in c.differences:
        measured = (c[name][d["measure"]].value for name in "ab")
        assert d["value"] == pytest.approx(next(measured) - next(measured))
        assert d["level"] == 0.9
    jsonschema.validate(c.to_dict(), document_schema("compare"))
    assert "'a' - 'b'" in str(c.all())
    assert "Difference" in str(c)
    with pytest.raises(sw.BadInput, match="by name"):
        sw.compare(y, scores["a"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda t: sw.measures.auroc(t, level=95),
            "level must lie between 0 and 1, such as 0.95; got 95",
        ),
        (lambda t: sw.measures.partial_auroc(t, scale="McClish"), 'scale="McClish" is not known'),
        (lambda t: sw.measures.partial_auroc(t, max_fpr=2), "0 < max_fpr <= 1"),
        (lambda t: sw.measures.partial_auroc(t, max_fpr=0.1, min_tpr=0.9), "not both"),
        (lambda t: sw.measures.h_measure(t, costs=(0, -1)), "must be positive"),
        (lambda t: sw.measures.f_beta(t.confusion(0.5), beta=-1), "beta is -1"),
        (
            lambda t: sw.measures.log_loss(t, clip=0.7),
            "clip must lie between 0 and 0.5, such as 1e-15; got 0.7",
        ),
        (lambda t: sw.evaluate(t, [0.5]), "leave out p"),
        (lambda t: sw.evaluate([0, 1]), r"call evaluate\(y, p\)"),
    ],
)
def test_options_that_mean_nothing_are_refused(call, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        call(sw.Tally.of(Y, P))


def test_scores_without_a_scale_are_hinted_at():
    y = np.arange(40) % 2
    s = y + np.arange(40) / 20
    (hint,) = sw.evaluate(y, s).to_dict()["hints"]
    assert "0.5 may not be a sensible threshold" in hint
    assert sw.evaluate(y, s, threshold=1.2).to_dict()["hints"] == []
    (hint,) = sw.evaluate(y, s / 3, kind="logit", threshold=0.6).to_dict()["hints"]
    assert "said to be logits, but all lie in [0, 1]" in hint


def test_unknown_measures_are_named_with_the_known():
    e = sw.evaluate(Y, P)
    with pytest.raises(KeyError, match="auroc, average_precision"):
        e["nope"]
    with pytest.raises(AttributeError, match="auroc, average_precision"):
        e.nope  # noqa: B018


def test_skill_and_format():
    e = sw.evaluate(Y, P)
    assert e.skill("auroc") == pytest.approx(2 * e.auroc.value - 1)
    assert f"{e.auroc:.4f}" == f"{e.auroc.value:.4f}"
    assert f"{e.auroc}" == str(e.auroc)
    assert str(sw.Estimate(0.802081, 0.801812, 0.802349)) == "0.80208 [0.80181, 0.80235]"


# each measure when it is asked for


@pytest.fixture
def computed(monkeypatch):
    """The measures that are computed, in their order."""
    done = []
    under = Measure.under

    def noted(self, settings, statistic):
        done.append(self.name)
        return under(self, settings, statistic)

    monkeypatch.setattr(Measure, "under", noted)
    return done


def test_a_measure_is_computed_when_asked_for_and_once(computed):
    e = sw.evaluate(Y, P)
    assert "auroc" in e
    assert "recall" not in e
    assert computed == []
    assert e.auroc is e["auroc"]
    assert computed == ["auroc"]
    e.to_json()
    assert len(computed) == len(MEASURES)
    assert {*computed} == {*MEASURES}
    repr(e)
    assert len(computed) == len(MEASURES)


def test_models_and_classes_are_judged_when_asked_for(computed):
    c = sw.compare(Y, {"a": P, "b": P[::-1]})
    assert c["b"].brier.defined
    assert computed == ["brier"]
    assert c.difference("auroc").value == c["a"].auroc.value - c["b"].auroc.value
    p = np.column_stack([P, 1 - np.array(P)])
    e = sw.evaluate(sw.ClassTally.of(Y, p))
    computed.clear()
    assert e.accuracy.defined
    assert e.each["1"].auroc.defined
    assert e.top.brier.defined
    assert computed == ["accuracy", "auroc", "brier"]
    with pytest.raises(KeyError, match="no model is named d; there are a, b"):
        c["d"]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("recall", "sensitivity"),
        ("sens", "sensitivity"),
        ("spec", "specificity"),
        ("f1score", "f1"),
        ("cohens_kappa", "kappa"),
        ("tpr", "sensitivity"),
        ("true_positive_rate", "sensitivity"),
        ("roc_auc", "auroc"),
        ("roc_auc_score", "auroc"),
        ("auc", "auroc"),
        ("AUROC", "auroc"),
        ("ppv", "precision"),
        ("logloss", "log_loss"),
        ("brier_score", "brier"),
        ("brier_score_loss", "brier"),
        ("matthews_corrcoef", "mcc"),
        ("f1_score", "f1"),
        ("pr_auc", "average_precision"),
        ("expected_calibration_error", "ece"),
        ("sensitvity", "sensitivity"),
    ],
)
def test_the_nearest_measure_is_named(asked, meant):
    for ask in (lambda: getattr(sw.evaluate(Y, P), asked), lambda: getattr(sw.measures, asked)):
        with pytest.raises(
            AttributeError, match=rf"no measure is named {asked}; did you .* {meant}\?"
        ):
            ask()
    with pytest.raises(KeyError, match=meant):
        sw.evaluate(Y, P)[asked]


@pytest.mark.parametrize("name", MEASURES)
def test_every_other_name_of_the_field_means_a_measure(name):
    for other in SYNONYMS.get(name, "").split():
        assert other not in MEASURES
        assert nearest(other, MEASURES) in MEASURES
        assert nearest(other, [name]) == name


def test_functions_of_measures_can_be_pickled():
    for name in ("auroc", "krippendorff_alpha"):
        assert pickle.loads(pickle.dumps(getattr(sw.measures, name))) is getattr(sw.measures, name)


def test_unknown_options_are_refused():
    t = sw.Tally.of(Y, P)
    for m in MEASURES.values():
        statistic = t.confusion(0.5) if m.group == "decisions" else t
        wrong = f"{m.name} has no option levle; did you mean level\\?"
        with pytest.raises(TypeError, match=wrong):
            m(statistic, levle=0.5)
        with pytest.raises(TypeError, match="levle"):
            getattr(sw.measures, m.name)(statistic, levle=0.5)
        with pytest.raises(TypeError, match=f"{m.name} has no option qqq; it has .*level"):
            m(statistic, qqq=1)
    with pytest.raises(TypeError, match="clip"):
        MEASURES["auroc"](t, clip=0.1)
    assert MEASURES["auroc"].under({"clip": 0.1, "level": 0.9}, t) == sw.measures.auroc(
        t, level=0.9
    )


def test_an_evaluation_can_be_copied_and_stored():
    e = sw.evaluate(Y, P)
    value = e.auroc
    for again in (copy.deepcopy(e), pickle.loads(pickle.dumps(e))):
        assert again.auroc == value
        assert again.brier == e.brier


def test_an_evaluation_can_be_stored_after_it_was_shown():
    rng = np.random.default_rng(0)
    p = rng.random(100)
    e = sw.evaluate(rng.random(100) < p, p)
    shown = e.to_json()
    for again in (copy.deepcopy(e), pickle.loads(pickle.dumps(e))):
        assert again.to_json() == shown
        assert again.e90 == e.e90


def test_measures_on_threads_are_those_made_one_by_one(monkeypatch, computed):
    rng = np.random.default_rng(3)
    y, p = rng.random(3000) < 0.3, rng.random(3000).round(3)
    alone = sw.evaluate(y, p)
    one_by_one = {name: alone[name] for name in alone}
    computed.clear()
    monkeypatch.setattr("scorewise.evaluation.result.MIN_ROWS_ON_THREADS", 0)
    monkeypatch.setattr("scorewise.computing.threads", lambda: 2)
    assert str(dict(sw.evaluate(y, p).items())) == str(one_by_one)
    assert sorted(computed) == sorted(MEASURES)  # each once


def test_intercept_of_coarse_logits_far_out():
    """Scores whose probabilities round to 1 keep their log-odds when cells are joined."""
    y, s = [*[1] * 9, *[0] * 8, 1, 0], [800.0] * 17 + [1.0, 1.0000001]
    t = sw.Tally.of(y, s, kind="logit")
    exact = sw.measures.calibration_intercept(t)
    joined = sw.measures.calibration_intercept(t.coarsen("relative"))
    assert exact.defined
    assert joined.value == pytest.approx(exact.value, abs=joined.bound + 1e-9)


def test_few_rows_whose_classes_are_apart_have_a_screen_without_warnings():
    assert "underconfident" in str(sw.evaluate([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8]))


def test_names_of_columns_are_refused_beside_columns():
    with pytest.raises(sw.BadInput, match=r"^label= belongs to files and frames, but labels"):
        sw.evaluate([0, 1], [0.1, 0.9], label="y")

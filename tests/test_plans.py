"""Plans: against the interval at the planned rows, simulations, published sizes, and items_needed."""

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, binom, norm
from statsmodels.stats.proportion import proportion_confint

import scorewise as sw
from schemas import check_described
from scorewise.cli import run
from scorewise.show.document import schema

RUNS = 150  # of plans that are simulated


def drawn(n=2000, area=0.85, prevalence=0.3, correlation=0.7, gap=0.03, seed=0):
    """Labels and calibrated scores of two models, the second worse by so much."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    e = rng.normal(size=(2, n))
    e[1] = correlation * e[0] + math.sqrt(1 - correlation**2) * e[1]
    made = []
    for noise, a in zip(e, (area, area - gap), strict=True):
        d = math.sqrt(2) * norm.ppf(a)
        odds = math.log(prevalence / (1 - prevalence)) + d * (noise + d * y) - d * d / 2
        made.append(1 / (1 + np.exp(-odds)))
    return y.astype(int), *made


# From what is supposed


@pytest.mark.parametrize(("value", "wide"), [(0.9, 0.05), (0.5, 0.02), (0.99, 0.01)])
def test_shares_have_wilsons_interval_of_that_width(value, wide):
    """Against statsmodels."""
    n = sw.plan(half_width=wide, measure="accuracy", value=value).rows

    def half(rows):
        low, high = proportion_confint(value * rows, rows, method="wilson")
        return (high - low) / 2

    assert half(n) <= wide < half(0.997 * n - 1)
    recall = sw.plan(half_width=wide, measure="recall", value=value, prevalence=0.1)
    assert recall.rows == pytest.approx(10 * n, rel=0.003)
    assert recall.positives == pytest.approx(n, rel=0.003)


@pytest.mark.parametrize(
    ("area", "prevalence", "wide"), [(0.75, 0.3, 0.05), (0.85, 0.1, 0.03), (0.95, 0.5, 0.02)]
)
def test_the_interval_of_auroc_is_as_wide_as_planned(area, prevalence, wide):
    n = sw.plan(half_width=wide, value=area, prevalence=prevalence).rows
    found = []
    for seed in range(60):
        y, p, _ = drawn(n, area, prevalence, seed=seed)
        e = sw.evaluate(y, p).auroc
        found.append((e.high - e.low) / 2)
    assert np.mean(found) == pytest.approx(wide, rel=0.05)


def test_power_is_as_planned():
    made = sw.plan(difference=0.03, value=0.85, prevalence=0.3, correlation=0.7)
    shown = []
    for seed in range(RUNS):
        y, p, q = drawn(made.rows, seed=seed)
        shown.append(sw.compare(y, {"p": p, "q": q}).difference("auroc").low > 0)
    assert binom.cdf(sum(shown), RUNS, 0.8) > 0.001
    assert binom.sf(sum(shown), RUNS, 0.8) > 0.001
    # and the other way round
    back = sw.plan(rows=made.rows, value=0.85, prevalence=0.3, correlation=0.7)
    assert back.detectable == pytest.approx(0.03, rel=0.06)


def test_a_gate_passes_as_often_as_planned():
    made = sw.plan(require="auroc >= 0.8", value=0.85, prevalence=0.3)
    passed = [
        sw.gate(*drawn(made.rows, seed=seed)[:2], require="auroc >= 0.8").passed
        for seed in range(RUNS)
    ]
    assert binom.cdf(sum(passed), RUNS, 0.8) > 0.001
    assert binom.sf(sum(passed), RUNS, 0.8) > 0.001


def test_mcnemar_sizes_are_those_of_the_textbook():
    """Connor (1987): n = (z1 sqrt(psi) + z2 sqrt(psi - d^2))^2 / d^2, up to d^2 beside psi."""
    first, second, r = 0.9, 0.85, 0.5
    psi = (
        first * (1 - first) + second * (1 - second)
        - 2 * r * math.sqrt(first * (1 - first) * second * (1 - second)) + 0.05**2
    )  # fmt: skip
    n = (1.96 * math.sqrt(psi) + 0.8416 * math.sqrt(psi - 0.05**2)) ** 2 / 0.05**2
    found = sw.plan(difference=0.05, measure="accuracy", value=first, correlation=r).rows
    assert found == pytest.approx(n, rel=0.03)


def test_guarantees_take_the_rows_of_wilks():
    assert sw.plan(at="recall >= 0.95").positives == 59
    assert sw.plan(at="recall >= 0.9", prevalence=0.02).rows == 29 * 50
    made = sw.plan(at="recall >= 0.9", prevalence=0.1)
    near = made.document().needs[1]
    assert near.text.endswith("by a cut within 0.05 of it")
    m, k = near.positives, math.ceil(0.05 * near.positives)
    assert beta.ppf(0.05, m - k, k + 1) >= 0.9
    assert made.positives == 29


def test_kappas_are_planned_by_items_needed():
    made = sw.plan(half_width=0.1, measure="cohen_kappa", value=0.6)
    assert made.rows == pytest.approx(sw.items_needed(0.2, kappa=0.6), abs=1)
    assert made.document().needs[0].unit == "items"
    made = sw.plan(half_width=0.05, measure="cohen_kappa", value=0.8, prevalence=0.2)
    assert made.rows == pytest.approx(sw.items_needed(0.1, kappa=0.8, prevalence=0.2), rel=0.002)


def test_looks_take_more_rows():
    one, ten = (
        sw.plan(half_width=0.02, measure="accuracy", value=0.8, looks=k).rows for k in (1, 10)
    )
    assert ten / one == pytest.approx((norm.ppf(0.9975) / norm.ppf(0.975)) ** 2, rel=0.01)


# From a pilot

Y, P, Q = drawn(1500)
FRAME = pl.DataFrame({"y": Y, "p": P, "q": Q, "who": np.arange(1500) // 3})
HOW = {"label": "y", "score": "p"}


@pytest.mark.parametrize("measure", ["auroc", "brier", "log_loss", "recall", "f1", "smauc"])
def test_a_pilot_says_what_its_own_rows_give(measure):
    """To be as narrow as the pilot takes the rows of the pilot."""
    e = sw.evaluate(FRAME, **HOW)[{"recall": "sensitivity"}.get(measure, measure)]
    wide = (e.high - e.low) / 2
    made = sw.plan(FRAME, **HOW, half_width=wide * (1 + 1e-9), measure=measure)
    assert made.rows == pytest.approx(1500, rel=0.003)
    half = sw.plan(Y, P, half_width=wide / 2, measure=measure)
    assert half.rows == pytest.approx(6000, rel=0.03)


@pytest.mark.parametrize(
    ("y", "at", "sentence"),
    [
        (0, "recall >= 0.9", "the pilot has no positives, which recall >= 0.9 is about"),
        (1, "specificity >= 0.9", "the pilot has no negatives, which specificity >= 0.9 is about"),
    ],
)
def test_a_pilot_of_one_class_promises_nothing_of_the_other(y, at, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        sw.plan([y] * 20, [k / 20 for k in range(20)], at=at)


def test_clusters_and_raters_have_pilots_too():
    kept = {"half_width": 0.01, "measure": "brier"}
    alone, together = (sw.plan(FRAME, **HOW, **kept, cluster=c).rows for c in (None, "who"))
    e, wide = sw.evaluate(FRAME, **HOW).brier, sw.evaluate(FRAME, **HOW, cluster="who").brier
    ratio = ((wide.high - wide.low) / (e.high - e.low)) ** 2
    assert together / alone == pytest.approx(ratio, rel=0.05)
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 300)
    ratings = {"ann": a, "bob": np.where(rng.random(300) < 0.7, a, rng.integers(0, 3, 300))}
    e = sw.agree(ratings).krippendorff_alpha
    made = sw.plan(
        ratings,
        raters=["ann", "bob"],
        measure="krippendorff_alpha",
        half_width=(e.high - e.low) / 4,
    )
    assert made.rows == pytest.approx(1200, rel=0.01)


def test_a_pilot_of_two_models_tells_what_differences_vary():
    two = {"label": "y", "score": ["p", "q"]}
    made = sw.plan(FRAME, **two, difference=0.02, measure="brier")
    e = sw.compare(FRAME, **two).difference("brier")
    se = (e.high - e.low) / 2 / norm.ppf(0.975)
    wanted = 1500 * ((norm.ppf(0.975) + norm.ppf(0.8)) * se / 0.02) ** 2
    assert made.rows == pytest.approx(wanted, rel=0.05)
    at_hand = sw.plan(FRAME, **two)
    assert at_hand.rows == 1500
    se = sw.compare(FRAME, **two).difference("auroc")
    assert at_hand.detectable == pytest.approx((se.high - se.low) / 2 / 1.96 * 2.8016, rel=0.02)
    gate = sw.plan(FRAME, **two, require="auroc.delta >= -0.01")
    assert "gate" in gate.document().verdict[0].sentence


# The document and the command line


def test_the_document_conforms():
    made = schema("plan")
    check_described(made)
    for given in (
        {"half_width": 0.02, "value": 0.8},
        {"at": "recall >= 0.9 and fpr <= 5%"},
        {"require": ["auroc >= 0.8", "auroc.delta >= -0.05"], "value": 0.85},
        {"rows": 500, "value": 0.8},
    ):
        jsonschema.Draft202012Validator(made).validate(json.loads(sw.plan(**given).to_json()))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("pilot.csv")


def test_the_command_says_how_many(files, capsys):
    assert run(["plan", "--at", "recall >= 0.95", "--prevalence", "0.02"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "It takes 59 positives, in about 2,950 rows, for any guarantee of recall >= 0.95" in out
    assert "Level 95% ──" in out
    assert run(["plan", "--require", "auroc.delta >= -0.02", "--value", "0.8"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "--require 'auroc.delta >= -0.02' --baseline OLD_FILE" in out
    assert "Level 95%; power 80%" in out
    line = ["plan", "pilot.csv", "--label", "y", "--score", "p"]
    assert run([*line, "--require", "auroc >= 0.8", "--json", "plan.json"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Next: scorewise gate FILE --label y --score p --require 'auroc >= 0.8'" in out
    assert run([*line, "--score", "q", "--difference", "0.01"]) == 0
    assert "to show a difference of 0.01 in AUROC, in 80% of cases" in " ".join(
        capsys.readouterr().out.split()
    )


def test_what_was_guessed_of_a_pilot_is_told(files, capsys):
    rng = np.random.default_rng(0)
    pl.DataFrame({"label": rng.permutation(["cat", "dog"] * 50), "p": rng.random(100)}).write_csv(
        "pets.csv"
    )
    assert run(["plan", "pets.csv", "--score", "p", "--half-width", "0.1"]) == 0
    assert "note: positive class: 'dog', the last in sort order" in capsys.readouterr().err


ONE = ["--label", "y", "--score", "p"]
BAD = [
    ([], "a plan has one goal, but none is given; pass one of --half-width 0.02"),
    (["--half-width", "0.1", "--rows", "5"], "a plan has one goal, but --half-width and --rows are given"),
    (["--half-width", "0.02"], "no expected value of auroc is given; pass --value 0.85"),
    (["--half-width", "-1", "--value", "0.8"], "--half-width must be a positive number"),
    (["--half-width", "2", "--value", "0.8"], "AUROC lies between 0 and 1, and any interval is narrower"),
    (["--half-width", "1e-9", "--value", "0.8"], "would take more than 1e+12 rows; ask for less"),
    (["--half-width", "0.1", "--measure", "aurok"], "scorewise: no measure is named aurok; did you mean"),
    (["--half-width", "0.1", "--measure", "brier"], "brier follows from how well scores rank"),
    (["--difference", "0.1", "--measure", "brier", "--value", "0.1"], "takes a pilot of two models"),
    (["--difference", "0.9", "--value", "0.8"], "a difference of 0.9 to 0.8 leaves [0, 1]"),
    (["--rows", "1", "--value", "0.8"], "--rows must be an integer from 2 up"),
    (["--power", "0.2", "--rows", "9"], "--power must lie between 0.5 and 1, such as 0.8"),
    (["--at", "recall >= 1"], "no number of rows guarantees recall >= 1; promise less"),
    (["--at", "f1 >= 0.5"], "f1 >= has no guarantee"),
    (["--at", "recal >= 0.5"], "'recal' is no measure of a cut; did you mean recall?"),
    (["--require", "auroc >= 0.9", "--value", "0.85"], "rows passes the gate; ask for less"),
    (["--require", "every site: auroc >= 0.8", "--value", "0.9"], "is planned for one group at a time"),
    (["--require", "auroc.value >= 0.8", "--value", "0.9"], "cannot be planned for; plan for auroc >= 0.8"),
    (["--require", "auroc"], "'auroc' is not a requirement; write"),
    (["--half-width", "0.1", "--value", "0.8", "--label", "y"], "--label belongs to a pilot"),
    (["--half-width", "0.1", "--value", "1.2"], "--value must lie between 0 and 1; got 1.2"),
    (["--half-width", "0.1", "--prevalence", "2"], "--prevalence must lie between 0 and 1"),
    (["--half-width", "0.1", "--auroc", "0.4"], "--auroc must lie between 0.5 and 1; got 0.4"),
    (["pilot.csv", *ONE, "--half-width", "0.1", "--auroc", "0.8"], "--auroc is supposed without a pilot"),
    (["pilot.csv", *ONE, "--half-width", "0.1", "--value", "0.8"], "--value is supposed without"),
    (["pilot.csv", *ONE, "--half-width", "0.1", "--delta", "0.1"], "--delta is what a gate"),
    (["pilot.csv", *ONE, "--score", "q", "--score", "r", "--difference", "0.1"], "3 score columns"),
    (["pilot.csv", *ONE, "--difference", "0.1"], "a pilot of one model says nothing of differences"),
    (["none.csv", *ONE, "--half-width", "0.1"], "(no positives); plan without a pilot, by --value 0.85"),
    (["pilot.csv", "--label", "z", "--score", "p", "--half-width", "0.1"], "there is no column 'z'"),
    (["gone.csv", "--half-width", "0.1"], "gone.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "sentence"), BAD, ids=str)
def test_bad_input_is_one_sentence(files, capsys, more, sentence):
    Path("none.csv").write_text("y,p\n" + "0,0.2\n0,0.4\n" * 9)
    assert run(["plan", *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert sentence in err


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"half_width": 0.1, "value": "0.8"}, "value must lie between 0 and 1; got 0.8"),
        (
            {"source": [0, 1], "p": {n: [0.1, 0.2] for n in "abc"}, "rows": 9},
            "3 score columns are named",
        ),
        ({"half_width": "wide", "value": 0.8}, "half_width must be a positive number, .* wide"),
        ({"half_width": 0.1, "value": np.float64(1.5)}, "value must lie .*; got 1.5$"),
    ],
)
def test_bad_calls_are_refused(how, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        sw.plan(**how)

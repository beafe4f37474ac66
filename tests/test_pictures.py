"""Pictures, frames and LaTeX that every result and every command has."""

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

import scorewise as sw
from figures import closed  # noqa: F401
from scorewise.cli import run
from scorewise.colours import COLOURS
from scorewise.displays import (
    ClassReliabilityDisplay,
    ClassRocDisplay,
    ConfusionDisplay,
    ForestDisplay,
    Overview,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
)
from scorewise.show.latex import SPECIAL, escape
from test_golden import COMMANDS, write_inputs

RNG = np.random.default_rng(3)
Y = RNG.random(300) < 0.3
P = np.clip(0.3 + 0.3 * Y + RNG.normal(0, 0.2, 300), 0.01, 0.99).round(3)
Q = np.clip(0.3 + 0.1 * Y + RNG.normal(0, 0.2, 300), 0.01, 0.99).round(3)
K = RNG.integers(0, 3, 300)
Z = RNG.dirichlet((1, 1, 1), 300) * 0.5 + 0.5 * np.eye(3)[K] * RNG.random((300, 1))
Z /= Z.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def results(inputs):
    """A result of every kind."""
    at = {name: str(inputs / f"{name}.csv") for name in ("films", "ratings", "answers")}
    north = np.where(RNG.random(300) < 0.5, "north", "south")
    return {
        "Evaluation": sw.evaluate(Y, P),
        "groups": sw.evaluate(Y, P, by=north),
        "Comparison": sw.compare(Y, {"tree": P, "bayes": Q}),
        "ClassEvaluation": sw.evaluate(K, Z, classes=[0, 1, 2]),
        "Agreement": sw.agree(at["ratings"], raters=["ann", "bob", "cid"]),
        "Judgement": sw.judge(at["ratings"], humans=["ann", "bob"], judges=["gpt", "llm"], replicates=100),
        "Drift": sw.drift(sw.Tally.of(Y, P), sw.Tally.of(Y, Q), replicates=99),
        "Inspection": sw.inspect(Y, P, top=5),
        "Inspection of two": sw.inspect(Y, {"tree": P, "bayes": Q}, top=5),
        "Raters": sw.raters(at["films"], decisions=["ann", "bob"], scores=["ann_sure", "bob_sure"]),
        "Answers": sw.answers(at["answers"], gold="gold", predicted="said", confidence="sure", by="model"),
        "SmRoc": sw.smroc(Y, P),
        "SmRocs": sw.smroc({"y": Y, "p": P, "q": Q}, label="y", score=["p", "q"]),
        "Recalibrator": sw.Recalibrator("platt").fit(P, Y),
    }  # fmt: skip


NAMES = (
    "Evaluation", "groups", "Comparison", "ClassEvaluation", "Agreement", "Judgement", "Drift",
    "Inspection", "Inspection of two", "Raters", "Answers", "SmRoc", "SmRocs", "Recalibrator",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_drawn_and_every_kind_of_it(results, name):
    result = results[name]
    assert result.plot().figure_.axes
    for kind in result.pictures().kinds:
        assert result.plot(kind).figure_ is not None
        sys.modules["matplotlib.pyplot"].close("all")
    with pytest.raises(sw.BadInput, match="no picture is named rok"):
        result.plot("rok")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_a_frame(results, name):
    frame = results[name].to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert len(frame)
    other = results[name].to_frame(backend="pandas")
    assert list(other.columns) == frame.columns
    assert len(other) == len(frame)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_latex(results, name):
    check_latex(results[name].to_latex())
    check_latex(results[name].all().to_latex())


def check_latex(text):
    """Environments nest, braces and columns agree, and no special character stands alone."""
    open_ = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    bare = re.sub(r"\\[\\{}]", "", text)
    assert bare.count("{") == bare.count("}")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert not re.search(r"(?<!\\)[%#]", body)
    assert len(re.findall(r"(?<!\\)\$", body)) % 2 == 0
    for sides, table in re.findall(
        r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", body, re.S
    ):
        columns = len(re.sub(r"p\{.*?\}?$|p\{[^}]*\}", "p", sides))
        for row in table.splitlines():
            if row.endswith(r"\\") and r"\multicolumn" not in row:
                assert len(re.findall(r"(?<!\\)&", row)) == columns - 1, row


def test_latex_escapes_every_special_character():
    hostile = "".join(chr(c) for c in range(32, 127)) + "—†±≤≥∞"
    made = escape(hostile)
    for char in "&%$#_{}":
        assert f"\\{char}" in made
    left = made
    for command in sorted(SPECIAL.values(), key=len, reverse=True):
        left = left.replace(command, "")
    assert not set(left) & set(SPECIAL)
    assert escape("--x ''") == "-{}-x '{}'"


def test_latex_holds_with_hostile_names(inputs):
    names = [r"\input{x}", "[a]", "*b", "50% & more_#1 ^~ $x$"]
    table = {"y": Y.astype(int)} | dict(zip(names, (P, Q, P[::-1], Q[::-1]), strict=True))
    text = sw.evaluate(table, label="y", score=names).to_latex()
    check_latex(text)
    assert r"\textbackslash{}input\{x\}" in text
    by = np.where(Q > 0.4, "[x", "*y & z")
    text = sw.evaluate(Y, P, by=by).to_latex()
    check_latex(text)
    assert "\n{}[x" in text  # would be an option of the row before
    assert r"\n[" not in text


def test_frames_of_parts(results):
    both = results["Comparison"].to_frame()
    assert both.columns[:4] == ["name", "value", "low", "high"]
    assert both["model"].unique(maintain_order=True).to_list() == ["tree", "bayes"]
    gaps = results["Comparison"].to_frame("differences")
    brier = gaps.filter(name="brier")
    assert brier["value"].item() == results["Comparison"].difference("brier").value
    assert (brier["first"].item(), brier["second"].item()) == ("tree", "bayes")
    groups = results["groups"].to_frame("groups")
    assert {*groups["group"]} == {"north", "south"}
    north = groups.filter(group="north", name="auroc")["value"].item()
    assert north == pytest.approx(results["groups"].groups["north"].auroc.value)
    classes = results["ClassEvaluation"].to_frame("classes")
    assert {*classes["class"]} == {"0", "1", "2"}
    with pytest.raises(sw.BadInput, match="no part is named grups; "):
        results["groups"].to_frame("grups")
    with pytest.raises(sw.BadInput, match="no frames of spark"):
        results["groups"].to_frame(backend="spark")


def test_precision_recall_is_that_of_scikit_learn():
    d = PrecisionRecallDisplay.from_predictions(Y, P)
    precision, recall, _ = precision_recall_curve(Y, P)
    x, y = d.line_.get_data()
    # scikit-learn stops where all positives are found, and goes the other way
    n = len(recall)
    np.testing.assert_allclose(x[:n], recall[::-1][:n], atol=1e-12)
    np.testing.assert_allclose(y[:n], precision[::-1], atol=1e-12)
    assert d.chance_.get_ydata()[0] == pytest.approx(Y.mean())
    again = PrecisionRecallDisplay.from_predictions(Y, Q, ax=d.ax_, band="pointwise")
    assert again.chance_ is None
    assert again.line_.get_color() != d.line_.get_color()
    assert again.line_.get_linestyle() != d.line_.get_linestyle()
    assert again.band_ is not None
    with pytest.raises(sw.BadInput, match="no precision-recall curve"):
        PrecisionRecallDisplay.from_predictions([0, 0], [0.1, 0.2], positive=1)


def test_confusion_of_two_classes_is_that_of_scikit_learn(results):
    d = ConfusionDisplay.from_predictions(Y, P, threshold=0.45)
    want = confusion_matrix(Y, P >= 0.45)
    np.testing.assert_allclose(d.image_.get_array(), want / want.sum(1, keepdims=True))
    cells = [text.get_text().split("\n") for text in d.texts_]
    assert [int(cell[0]) for cell in cells] == want.ravel().tolist()
    e = sw.evaluate(Y, P, threshold=0.45)
    low, high = (f"{100 * x:.0f}" for x in (e.sensitivity.low, e.sensitivity.high))
    assert cells[3][2] == f"[{low}, {high}]"
    many = results["ClassEvaluation"].plot("confusion")
    want = confusion_matrix(K, Z.argmax(1))
    np.testing.assert_allclose(many.image_.get_array(), want / want.sum(1, keepdims=True))


def test_each_class_has_its_roc_and_the_same_colour_everywhere(results):
    e = results["ClassEvaluation"]
    roc, rel = e.plot("roc"), e.plot("reliability")
    for k, name in enumerate(e.classes):
        fpr, tpr, _ = roc_curve(int(name) == K, Z[:, k], drop_intermediate=False)
        x, y = roc.lines_[name].get_data()
        np.testing.assert_allclose(np.interp(fpr, x, y), np.interp(fpr, fpr, tpr), atol=0.02)
        assert roc.lines_[name].get_color() == rel.lines_[name].get_color() == COLOURS[k]


def test_of_many_classes_the_worst_are_drawn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 9, 400)
    p = rng.dirichlet(np.ones(9), 400) + np.eye(9)[y] * np.linspace(0, 1, 9)[y][:, None]
    t = sw.ClassTally.of(y, p / p.sum(1, keepdims=True), classes=range(9))
    d = ClassRocDisplay.from_tally(t)
    worst = sorted(t.classes, key=lambda c: sw.measures.auroc(t.one(c)).value)[:6]
    assert {*d.lines_} == {*worst}
    assert d.ax_.get_title() == "the 6 of lowest AUROC of 9 classes"
    assert {*ClassReliabilityDisplay.from_tally(t).lines_} == {*worst}


def test_forest_of_differences(results):
    c = results["Comparison"]
    d = c.plot("differences")
    found = c.difference("auroc")
    assert d.points_[0].get_xdata()[0] == found.value
    np.testing.assert_allclose(d.intervals_[0].get_xdata(), [found.low, found.high])
    # tree is better, in the colour that it has on every curve
    assert d.points_[0].get_color() == COLOURS[0]
    assert d.lines_["no difference"].get_xdata()[0] == 0
    lines = c.plot("roc").ax_.get_lines()
    assert [line.get_color() for line in lines[:1]] == [COLOURS[0]]


def test_a_forest_does_not_say_more_than_the_verdict():
    """Of many models a difference is coloured where it holds after Holm; a panel has room for few."""
    rng = np.random.default_rng(3)
    y = np.arange(150) % 2
    x = rng.normal(size=150) + y
    scores = {f"m{k}": x + (0.4 + 0.2 * k) * rng.normal(size=150) for k in range(5)}
    c = sw.compare(y, {n: 1 / (1 + np.exp(-s)) for n, s in scores.items()}, positive=1)
    shown = {(r.first, r.second): r for r in c.document().differences if r.measure == "auroc"}
    bars = c.plot("differences").bars[: len(shown)]
    assert [not b.grey for b in bars] == [r.p_adjusted <= 0.05 for r in shown.values()]
    assert any(b.grey and (b.estimate.low > 0 or b.estimate.high < 0) for b in bars)
    assert len(c.plot("differences").bars) == 30
    assert len(c.plot().displays_["differences"].bars) == 16


def test_answers_that_are_right_or_wrong_have_no_picture_over_tau():
    rng = np.random.default_rng(0)
    sure = rng.random(100)
    right = (rng.random(100) < sure).astype(float)
    drawn = sw.answers(confidence=sure, quality=right).plot().displays_
    assert [*drawn] == ["reliability", "risk_coverage"]
    drawn = sw.answers(confidence=sure, quality=rng.random(100)).plot().displays_
    assert [*drawn] == ["reliability", "risk_coverage", "over_tau"]


def test_forest_of_groups_is_sorted_greyed_and_cut():
    rng = np.random.default_rng(1)
    by = np.where(np.arange(300) < 10, "tiny", np.char.add("g", (np.arange(300) % 40).astype(str)))
    e = sw.evaluate(Y, P, by=by, min_rows=12)
    d = ForestDisplay.from_groups(e, "specificity", most=20)
    values = [bar.estimate.value for bar in d.bars]
    assert values == sorted(values, reverse=True)
    assert len(d.bars) == 20
    assert "20 largest of 41 groups" in d.ax_.get_xlabel()
    assert d.lines_["all rows"].get_xdata()[0] == e.specificity.value
    north = sw.evaluate(Y, P, by=np.where(rng.random(300) < 0.05, "few", "many"))
    grey = {bar.name.split()[0]: bar.grey for bar in north.plot("groups").bars}
    assert grey == {"few": True, "many": False}
    with pytest.raises(sw.BadInput, match="no measure of groups is named aurok"):
        north.plot("groups", measure="aurok")


def test_two_models_share_a_reliability_plot_with_both_histograms():
    first = ReliabilityDisplay.from_predictions(Y, P, name="tree")
    second = ReliabilityDisplay.from_predictions(Y, Q, name="bayes", ax=first.axes_)
    assert second.histogram_[0].axes is first.histogram_[0].axes
    for d in (first, second):
        assert d.histogram_[0].get_facecolor()[:3] == pytest.approx(
            sys.modules["matplotlib.colors"].to_rgb(d.line_.get_color())
        )
    assert first.line_.get_linestyle() != second.line_.get_linestyle()


def test_panels_beside_one_another_have_one_height(results):
    for name in ("Evaluation", "ClassEvaluation"):
        d = results[name].plot()
        assert isinstance(d, Overview)
        d.figure_.canvas.draw()
        heights = [ax.get_window_extent().height for ax in d.axes_]
        assert max(heights) < 1.25 * min(heights)


def test_what_cannot_be_drawn_says_why():
    d = sw.evaluate(Y, 3 * P).plot()  # no probabilities
    assert "no reliability curve" in d.displays_["reliability"]
    assert any("reliability" in text.get_text().replace("\n", " ") for text in d.axes_[2].texts)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_picture_and_latex(inputs, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(inputs)
    suffix = {"evaluate": "svg", "drift": "pdf"}.get(name, "png")
    picture, paper = tmp_path / f"x.{suffix}", tmp_path / "x.tex"
    assert run([*COMMANDS[name], "--plot", str(picture), "--latex", str(paper)]) == 0
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert picture.read_bytes().startswith(start)
    check_latex(paper.read_text("utf-8"))
    assert "wrote" in capsys.readouterr().err


def test_other_endings_and_no_matplotlib_are_refused(inputs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(inputs)
    assert run([*COMMANDS["agree"], "--plot", str(tmp_path / "x.bmp")]) == 2
    assert "has to end in .png, .svg, .pdf" in capsys.readouterr().err
    monkeypatch.setattr("scorewise.cli.command.find_spec", lambda name: None)
    assert run([*COMMANDS["agree"], "--plot", str(tmp_path / "x.png")]) == 2
    assert "pip install 'scorewise[plot]'" in capsys.readouterr().err
    assert not Path(tmp_path / "x.png").exists()


def test_plots_take_the_axes_first_as_before():
    ax = sys.modules["matplotlib.pyplot"].subplots()[1]
    assert sw.smroc(Y, P).plot(ax).ax_ is ax
    assert "kind" in inspect.signature(sw.Evaluation.plot).parameters

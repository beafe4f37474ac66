"""What evaluate says in words: true to its numbers, and no stronger than their intervals."""

import json
import re
import shlex

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import scorewise as sw
from scorewise.cli import run


def calibrated(rng, n=400, q=0.3, slope=1.0, shift=0.0):
    y = rng.random(n) < q
    x = 1.2 * (rng.normal(size=n) + 1.2 * y) - 0.72 + np.log(q / (1 - q))
    return y, 1 / (1 + np.exp(-(x * slope + shift)))


def said(e):
    return {c.about: c for c in e.brief().verdict}


def test_one_model_is_told_in_a_fixed_order():
    e = sw.evaluate(*calibrated(np.random.default_rng(0), 1000))
    about = [c.about for c in e.brief().verdict]
    assert about == ["ranking", "probabilities", "decisions", "next"]
    claims = said(e)
    assert claims["ranking"].sentence == f"'score' ranks fairly to well: AUROC {e.auroc!r}."
    assert claims["probabilities"].finding == "believable"
    assert f"slope {e.calibration_slope!r}" in claims["probabilities"].sentence
    assert "finds" in claims["decisions"].sentence


@pytest.mark.parametrize(
    ("slope", "shift", "finding"),
    [
        (2.5, 0.0, "overconfident"),
        (0.4, 0.0, "underconfident"),
        (1.0, 1.0, "too high"),
        (1.0, -1.0, "too low"),
    ],
)
def test_the_direction_of_an_error_is_named_and_repair_shown(slope, shift, finding):
    rng = np.random.default_rng(1)
    y, p = calibrated(rng, 3000, slope=slope, shift=shift)
    claims = [
        c for c in sw.evaluate(y, p).brief().verdict if c.about in ("probabilities", "repair")
    ]
    assert finding in claims[0].sentence
    assert (claims[1].about, claims[1].finding) == ("repair", "helps")
    (figure,) = claims[1].figures
    assert figure.low > 0
    assert said(sw.evaluate(y, p))["next"].finding == "calibrate"


def test_few_rows_say_that_they_tell_nothing():
    y, p = calibrated(np.random.default_rng(3), 30)
    claims = said(sw.evaluate(y, p))
    assert claims["probabilities"].finding == "unknown"
    assert "cannot be judged in 30 rows" in claims["probabilities"].sentence
    rng = np.random.default_rng(0)
    chance = said(sw.evaluate(rng.random(60) < 0.5, rng.random(60)))["ranking"]
    assert chance.finding == "not told from chance"


def test_no_more_than_one_in_twenty_is_blamed_for_nothing():
    """Calibrated scores; each kind of claim is about as rare as its interval allows."""
    rng, runs = np.random.default_rng(5), 60
    found = []
    for _ in range(runs):
        e = sw.evaluate(*calibrated(rng, 200))
        found += [c.finding for c in e.brief().verdict if c.about in ("probabilities", "repair")]
    kinds = ("overconfident", "underconfident", "too high", "too low", "miscalibrated", "helps")
    assert max(map(found.count, kinds)) <= binom.ppf(0.99, runs, 0.05)
    blameless = sum(map(found.count, ("believable", "unknown", "unclear")))
    assert blameless > 0.9 * runs
    many = [sw.evaluate(*calibrated(rng, 800)).brief().verdict for _ in range(20)]
    assert [c.finding for claims in many for c in claims].count("believable") > 14


def test_probabilities_of_0_and_1_are_judged_by_how_sure_they_are():
    rng = np.random.default_rng(0)
    y, p = calibrated(rng, 800)
    bold = np.where(p > 0.6, 1.0, np.where(p < 0.4, 0.0, p))
    found = said(sw.evaluate(y, bold))["probabilities"]
    assert found.finding == "overconfident"
    over = np.maximum(bold, 1 - bold) - ((bold >= 0.5) == y)
    figure = next(f for f in found.figures if f.name == "overconfidence")
    assert figure.value == pytest.approx(over.mean())
    wide = 1.96 * over.std(ddof=1) / np.sqrt(len(over))
    assert (figure.low, figure.high) == pytest.approx(
        (over.mean() - wide, over.mean() + wide), rel=1e-3
    )
    assert f"difference {figure.value:.3f}" in found.sentence


def test_models_are_better_only_where_the_paired_interval_says_so():
    rng = np.random.default_rng(2)
    y, p = calibrated(rng, 1500)
    noisy = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + rng.normal(0, 1.5, len(p)))))
    scores = {"good": p, "noisy": noisy, "same": np.round(p, 6)}
    c = sw.evaluate({"y": y, **scores}, label="y", score=[*scores])
    claims = [x for x in c.brief().verdict if x.about == "models"]
    told = {x.figures[-1].of: x for x in claims}
    better = told["good - noisy"] if "good - noisy" in told else told["same - noisy"]
    assert better.finding == "better"
    assert better.figures[-1].low > 0
    alike = told["good - same"] if "good - same" in told else told["same - good"]
    assert alike.finding == "not told apart"
    assert "No clear difference" in alike.sentence


def test_of_two_models_the_better_one_is_preferred():
    rng = np.random.default_rng(2)
    y, p = calibrated(rng, 1500)
    logit = np.log(p / (1 - p))
    noisy = 1 / (1 + np.exp(-(logit + rng.normal(0, 1.5, len(p)))))
    for names in (("good", "bad"), ("bad", "good")):  # in any order of the columns
        frame = {"y": y} | {name: p if name == "good" else noisy for name in names}
        first = sw.evaluate(frame, label="y", score=[*names]).brief().verdict[0]
        assert first.finding == "better"
        assert first.sentence.startswith("Prefer 'good' to 'bad': it ranks better (AUROC 0.")
        auroc, brier = first.figures[-2:]
        assert (auroc.name, auroc.of, brier.name, brier.of) == (
            "auroc",
            "good - bad",
            "brier",
            "good - bad",
        )
        assert auroc.low > 0 > brier.high
    # alike in order, and one overconfident: no model is preferred, and the loss is told apart
    sharp = 1 / (1 + np.exp(-2.5 * logit))
    claims = (
        sw.evaluate({"y": y, "sharp": sharp, "p": p}, label="y", score=["sharp", "p"])
        .brief()
        .verdict
    )
    assert claims[0].finding in ("alike", "not told apart")
    assert (claims[1].about, claims[1].finding) == ("probabilities", "lower loss")
    assert claims[1].sentence.startswith("'p' has the lower Brier score: ")
    assert claims[1].figures[0].high < 0
    # three models: each pair by its order alone
    three = sw.evaluate({"y": y, "p": p, "n": noisy, "s": sharp}, label="y", score=["p", "n", "s"])
    assert not any("Brier" in c.sentence for c in three.brief().verdict if c.about == "models")


def test_scores_that_are_no_probabilities():
    rng = np.random.default_rng(0)
    claims = said(sw.evaluate(rng.random(200) < 0.5, rng.normal(size=200) * 9))
    assert claims["probabilities"].finding == "none"
    assert "decisions" not in claims  # 0.5 means nothing


def test_several_classes():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([0.6] * 3, 900)
    y = np.array([rng.choice(3, p=row) for row in p])
    e = sw.evaluate(y, p)
    claims = e.brief().verdict
    assert claims[0].finding == "better than constant"
    assert [c.finding for c in claims if c.about == "probabilities"] == ["believable"]
    sharp = p**3 / (p**3).sum(1, keepdims=True)
    wrong = [c for c in sw.evaluate(y, sharp).brief().verdict if c.about == "probabilities"]
    assert wrong[0].finding == "overconfident"
    assert "The model is overconfident" in wrong[0].sentence


def test_every_view_says_the_same():
    e = sw.evaluate(*calibrated(np.random.default_rng(0), 500))
    sentences = [c["sentence"] for c in json.loads(e.to_json())["verdict"]]
    shown = " ".join(repr(e).split())
    assert all(" ".join(s.split()) in shown for s in sentences)
    plain = re.sub(r"[\\`]", "", e.to_markdown())
    assert all(s in plain for s in sentences)


def test_one_screen():
    rng = np.random.default_rng(0)
    y, p = calibrated(rng, 1000)
    for e in (sw.evaluate(y, p), sw.compare(y, {"a": p, "b": p**2})):
        lines = repr(e).splitlines()
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 80
    assert len(repr(sw.evaluate(y, p).all()).splitlines()) > 50


def test_all_on_the_command_line(tmp_path, capsys, monkeypatch):
    import polars as pl

    from scorewise.cli import run

    monkeypatch.chdir(tmp_path)
    y, p = calibrated(np.random.default_rng(0), 300)
    pl.DataFrame({"y": y.astype(int), "p": p}).write_csv("a.csv")
    assert run(["evaluate", "a.csv"]) == 0
    brief = capsys.readouterr().out
    assert "'p' ranks" in brief
    assert "Spiegelhalter" not in brief
    assert run(["evaluate", "a.csv", "--all", "--json", "a.json"]) == 0
    assert "Spiegelhalter" in capsys.readouterr().out
    assert run(["evaluate", "a.csv", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc == json.loads((tmp_path / "a.json").read_text())
    assert "spiegelhalter" in {m["name"] for m in doc["models"][0]["measures"]}


def test_certain_scores_have_no_slope_but_a_mean():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.5
    p = np.where(rng.random(500) < 0.3, 1.0, 0.8)
    claim = said(sw.evaluate(y, p))["probabilities"]
    gap = p.mean() - y.mean()
    assert claim.finding == "overconfident"
    assert "and too high on average" in claim.sentence
    assert f"{100 * p.mean():.1f}% predicted, {100 * y.mean():.1f}% observed" in claim.sentence
    assert claim.sentence.count(f"difference {gap:.3f} [") == 2  # both with the same sign


def test_backwards_scores_are_told_to_be_turned_and_not_to_be_calibrated():
    y, p = calibrated(np.random.default_rng(0), 800)
    claims = sw.evaluate(y, 1 - p).brief().verdict
    assert claims[0].finding == "backwards"
    assert not [c for c in claims if c.about in ("probabilities", "repair")]
    assert claims[-1].finding == "turn"


def test_a_line_repairs_what_steps_do_not():
    """Few rows and a slope: logistic regression is shown to help before isotonic regression is."""
    y, p = calibrated(np.random.default_rng(8), 700, slope=2.0)
    e = sw.evaluate(y, p)
    assert said(e)["repair"].finding == "helps"
    (figure,) = said(e)["repair"].figures
    assert figure.value > sw.measures.mcb_crossfit(e.tally, loss="log").value


def test_one_class_has_no_repair_and_nothing_next():
    claims = sw.evaluate(np.ones(50, int), np.random.default_rng(0).random(50)).brief().verdict
    assert {c.about for c in claims} <= {"ranking", "probabilities", "decisions"}


def test_the_mean_error_knows_clusters():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(20), 30)
    p = np.where(rng.random(600) < 0.05, 1.0, 0.5)
    y = rng.random(600) < np.clip(p + np.repeat(rng.normal(0, 0.2, 20), 30), 0, 1)
    alone, together = sw.evaluate(y, p).mean_error, sw.evaluate(y, p, cluster=cluster).mean_error
    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_thresholds_of_other_scores_are_left_out_in_any_order():
    y, p = calibrated(np.random.default_rng(0), 300)
    table = {"y": y.astype(int), "a": p, "b": 100 * p}
    for order in (["a", "b"], ["b", "a"]):
        claim = said(sw.evaluate(table, label="y", score=order))["decisions"]
        assert "'a' finds" in claim.sentence
        assert "'b'" not in claim.sentence


def test_equal_ranks_are_told_as_such():
    y, p = calibrated(np.random.default_rng(0), 300)
    claim = sw.compare(y, {"a": p, "b": p**2}).brief().verdict[0]
    assert claim.finding == "alike"


def test_one_check_of_three_that_is_off_may_be_chance():
    """Its own interval excludes the target, and after Holm's correction nothing is shown."""
    unclear = 0
    for seed in range(60):
        e = sw.evaluate(*calibrated(np.random.default_rng(seed), 300))
        found = said(e)["probabilities"]
        off = [e.calibration_slope.high < 1, e.calibration_slope.low > 1,
               e.calibration_intercept.low > 0, e.calibration_intercept.high < 0,
               (e.smece.p or 1.0) <= 0.05]  # fmt: skip
        if found.finding == "unclear":
            unclear += 1
            assert any(off)
            assert "may be" in found.sentence
            assert "not clear after three checks" in found.sentence
        elif found.finding in ("believable", "unknown"):
            assert not any(off)
    assert unclear


def test_the_next_command_runs_where_it_is_told(tmp_path, monkeypatch, capsys):
    y, p = calibrated(np.random.default_rng(0), 400)
    rows = [
        f"{'well' if a else 'ill'},{b!r},{1 + k % 3}"
        for k, (a, b) in enumerate(zip(y, p.tolist(), strict=True))
    ]
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "x.csv").write_text("\n".join(["who,p,w", *rows]))
    monkeypatch.chdir(tmp_path)
    named = ["my data/x.csv", "--label", "who", "--score", "p", "--positive", "well"]
    for command in ("evaluate", "smroc", "inspect"):
        more = ["--weight", "w"] if command == "evaluate" else []
        assert run([command, *named, *more, "--json", "out.json"]) == 0
        last = json.loads((tmp_path / "out.json").read_text())["verdict"][-1]["sentence"]
        words = shlex.split(last.removeprefix("Next: scorewise "))
        assert words[words.index("--positive") + 1] == "well"
        assert ("--weight" in words) == bool(more)
        assert run(words) == 0, last
    capsys.readouterr()


def test_the_next_command_reads_the_rows_the_same_way(tmp_path, monkeypatch, capsys):
    """A file with gaps and accents, values that rounding leaves outside, and a number of rows in each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = rng.random(400) < p**3
    rows = [
        f"{'è' if a else 'no'},{b:.6f},{1 + k % 2}"
        for k, (a, b) in enumerate(zip(y, p, strict=True))
    ]
    text = "\n".join(["who,p,times", *rows, "no,,1", "no,1.000001,1"])
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    named = ["a.csv", "--label", "who", "--score", "p", "--positive", "è", "--count", "times"]
    read = ["--encoding", "latin-1", "--missing", "drop", "--kind", "probability"]
    for command in ("evaluate", "smroc", "inspect"):
        assert run([command, *named, *read, "--json", "out.json"]) == 0
        told = json.loads((tmp_path / "out.json").read_text())["verdict"][-1]["sentence"]
        words = shlex.split(told.removeprefix("Next: scorewise "))
        assert run(words) == 0, told
        for flag in ("--encoding", "--missing", "--kind", "--count"):
            assert words.count(flag) == 1, told
    capsys.readouterr()


def test_a_threshold_that_finds_few_positives_is_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, p = calibrated(rng, 2000, q=0.12)
    e = sw.evaluate(y, p)
    assert e.sensitivity.high < 0.5
    assert said(e)["next"].sentence == (
        'Next: sw.threshold(labels, scores, at="recall >= 0.8") picks a cut that finds 80% of the positives'
    )
    both = sw.evaluate({"y": y, "a": p, "b": p**1.02}, label="y", score=["a", "b"])
    assert said(both)["next"].sentence.endswith(
        " picks a cut of 'a' that finds 80% of the positives"
    )
    for kind, s in (("probability", p), ("logit", np.log(p / (1 - p)))):
        pl.DataFrame({"y": y.astype(int), "s": s}).write_csv(tmp_path / "a.csv")
        named = ["a.csv", "--label", "y", "--score", "s", "--kind", kind]
        assert run(["evaluate", *named, "--json", "out.json"]) == 0
        told = json.loads((tmp_path / "out.json").read_text())["verdict"][-1]["sentence"]
        words = shlex.split(told.removeprefix("Next: scorewise "))
        assert words == ["threshold", *named[:5], "--at", "recall >= 0.8", "--kind", kind]
        assert "--at 'recall >= 0.8'" in told
        assert run(words) == 0
    capsys.readouterr()


def test_where_nobody_is_called_positive_a_threshold_comes_next():
    y = [1] + [0] * 40
    p = [0.1] + [0.01 + k / 1000 for k in range(40)]
    e = sw.evaluate(y, p)
    assert e.sensitivity.high > 0.5  # of one positive
    assert said(e)["next"].finding == "threshold"


def test_a_threshold_is_not_what_comes_next():
    rng = np.random.default_rng(0)
    y, p = calibrated(rng, 2000, q=0.5)
    assert said(sw.evaluate(y, p))["next"].finding == "inspect"  # it finds more than half
    y, p = calibrated(rng, 2000, q=0.12)
    few = sw.evaluate(y[:60], p[:60])  # too few rows to show that it finds less
    assert few.sensitivity.low < 0.5 < few.sensitivity.high
    assert said(few)["next"].finding == "inspect"
    assert said(sw.evaluate(y, p**3))["next"].finding == "calibrate"  # probabilities first
    assert said(sw.evaluate(y, 20 * p, threshold=12))["next"].finding == "calibrate"


def test_the_next_command_of_several_classes_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3] * 3, 500)
    y = np.where(rng.random(500) < 0.4, rng.integers(0, 3, 500), p.argmax(1))
    frame = pl.DataFrame({"y": y, **{f"p_{k}": p[:, k] for k in range(3)}})
    frame.write_csv(tmp_path / "my classes.csv")
    for classes in ("p_*", "0=p_0,1=p_1,2=p_2"):
        named = ["my classes.csv", "--label", "y", "--classes", classes]
        assert run(["evaluate", *named, "--json", "out.json"]) == 0
        told = json.loads((tmp_path / "out.json").read_text())["verdict"][-1]["sentence"]
        words = shlex.split(told.removeprefix("Next: scorewise "))
        assert words == ["calibrate", "fit", *named, "-o", "map.json"]
        assert run(words) == 0
    mapping = {str(k): f"p_{k}" for k in range(3)}
    e = sw.evaluate(tmp_path / "my classes.csv", label="y", classes=mapping)
    assert "--classes 0=p_0,1=p_1,2=p_2 -o" in e.brief().verdict[-1].sentence
    capsys.readouterr()


def test_what_rounding_leaves_outside_is_no_other_scale(tmp_path):
    rng = np.random.default_rng(0)
    p = np.append(rng.random(99), 1.00001)
    y = (rng.random(100) < p).astype(int)
    said = [c.sentence for c in sw.evaluate(y, p).document().verdict]
    assert any("leaves [0, 1] by rounding, with values up to 1e-05 outside" in s for s in said)
    assert (
        said[-1]
        == "Next: sw.evaluate(labels, scores, kind=\"probability\") takes 'score' as probabilities"
    )
    pl.DataFrame({"y": y, "p": p}).write_csv(tmp_path / "a.csv")
    e = sw.evaluate(tmp_path / "a.csv", label="y", score="p")
    assert e.document().verdict[-1].sentence.endswith("--label y --score p --kind probability")


def test_groups_of_each_model_are_looked_at():
    """The second model ranks worse in one group, the first in none."""
    rng = np.random.default_rng(5)
    site = rng.choice(["north", "south", "west"], 3000)
    x = rng.normal(-0.5, 1.3, 3000)
    y, blind = rng.random(3000) < 1 / (1 + np.exp(-x)), x * 0.2 + rng.normal(size=3000)
    good, bad = (1 / (1 + np.exp(-z)) for z in (x, np.where(site == "south", blind, x)))
    rows = {"y": y, "good": good, "bad": bad, "site": site}
    e = sw.evaluate(rows, label="y", score=["good", "bad"], by="site", positive=True)
    found = [c for c in e.brief().verdict if c.about == "groups"]
    assert {c.finding for c in found} == {"worse group"}
    assert found[0].sentence.startswith("For 'bad', ranking is worse within 'south': AUROC 0.5")
    rows["bad"] = good
    e = sw.evaluate(rows, label="y", score=["good", "bad"], by="site", positive=True)
    (alike,) = (c for c in e.brief().verdict if c.about == "groups")
    assert alike.sentence.startswith("No group by 'site' is shown to differ from the rest")


def test_the_next_command_keeps_the_clusters(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p**4).astype(int)
    pl.DataFrame({"y": y, "p": p, "who": np.arange(400) // 2}).write_csv(tmp_path / "a.csv")
    e = sw.evaluate(tmp_path / "a.csv", label="y", score="p", cluster="who")
    assert e.document().verdict[-1].sentence.endswith("--cluster who -o map.json")


def test_a_star_does_not_say_more_than_the_verdict():
    """A paired interval that excludes 0 is not enough where Holm's correction finds nothing."""
    data = next(d for d in map(_three, range(200)) if _clear_alone(d))
    page = sw.evaluate(data, label="y", score=["a", "b", "c"], positive=1).render("text")
    assert "not clear after 3 comparisons" in " ".join(page.split())
    line = next(x for x in page.splitlines() if x.startswith(" AUROC"))
    assert "*" not in line


def _three(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 2
    x = rng.normal(size=120) + y
    return {
        "y": y,
        **{k: x + s * rng.normal(size=120) for k, s in zip("abc", (0.1, 1.0, 1.2), strict=True)},
    }


def _clear_alone(data):
    """Whether the best model is clear of both others by intervals, and of one not by Holm."""
    c = sw.compare(data, label="y", score=["a", "b", "c"], positive=1)
    both = [c.difference("auroc", "a", other) for other in "bc"]
    p = [c.difference("auroc", *pair).p for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    first = sorted(p)
    late = max(p[:2])
    return min(d.low for d in both) > 0 and late * (3 - first.index(late)) > 0.05

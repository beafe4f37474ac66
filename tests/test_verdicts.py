"""The sentences that open the page of each verb: from the numbers, no stronger, the same in every view."""

import json
import re

import numpy as np
import pytest

import scorewise as sw
from scorewise.agreeing.disagreement import outlier_tests
from scorewise.cli import run
from scorewise.errors import BadInput
from scorewise.inspection.document import contradicted
from scorewise.show.document import dumps
from scorewise.show.markdown import escape, markdown
from scorewise.show.terminal import text
from scorewise.tallies import Ratings
from scorewise.writing import seal

NASTY = "a|b*_<i>\x1b[31m\u202e'"


def raters(seed, n=150, sure=(0.8, 0.8, 0.8), **more):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    sure = {**{f"r{k}": q for k, q in enumerate(sure)}, **more}
    return {
        name: np.where(rng.random(n) < q, truth, rng.integers(0, 3, n)) for name, q in sure.items()
    }


def scores(seed, n=400, slope=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, 1.2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-x))
    return y.astype(int), 1 / (1 + np.exp(-slope * x))


def results():
    y, p = scores(1)
    y2, p2 = scores(2)
    people = raters(3)
    rng = np.random.default_rng(5)
    sure = {"ann": (p > 0.5, p), "bob": (p2 > 0.5, p2)}
    return {
        "agree": sw.agree(people),
        "judge": sw.judge(people, {"bot": raters(3, bot=0.7)["bot"]}, replicates=100),
        "answers": sw.answers(confidence=p, quality=rng.random(400) < p, by={"g": y2.astype(str)}),
        "drift": sw.drift((y, p), (y2, p2), replicates=999),
        "inspect": sw.inspect(y, {"one": p, "two": p2}),
        "raters": sw.raters(sure),
        "smroc": sw.smroc(y, p),
        "calibrate": sw.Recalibrator().fit(scores(1, slope=3)[1], y),
    }


@pytest.fixture(scope="module")
def documents():
    return {name: found.document() for name, found in results().items()}


def numbers(words):
    return {float(x.replace(",", "")) for x in re.findall(r"-?\d[\d,]*\.?\d*(?:e-\d+)?", words)}


def near(x, known):
    return any(abs(x - k) <= 0.00051 * max(1, abs(k)) or abs(x - 100 * k) <= 0.51 for k in known)


VERBS = ("agree", "judge", "answers", "drift", "inspect", "raters", "smroc", "calibrate")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_opens_with_two_to_six_sentences(verb, documents):
    claims = documents[verb].verdict
    assert 2 <= len(claims) <= 7
    assert documents[verb].page().sections[0].verdict == [c.sentence for c in claims]
    assert all(c.sentence[-1] == "." for c in claims if c.about != "next")


@pytest.mark.parametrize("verb", VERBS)
def test_figures_are_in_the_sentences(verb, documents):
    """The numbers with decimals in a sentence are those it rests on; expected counts have two digits."""
    for c in documents[verb].verdict:
        known = [x for f in c.figures for x in (f.value, f.low, f.high) if x is not None]
        said = {x for x in numbers(re.sub(r"\(?p [=≤<] [^;)]*\)?", "", c.sentence)) if x % 1}
        if known and c.about not in ("change", "next"):
            counts = [float(f"{x:.2g}") for x in known] if c.about == "labels" else []
            assert all(near(x, [*known, *counts, 0.1]) for x in said), c.sentence


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_sentences_in_every_view(verb, documents):
    doc = documents[verb]
    told = [c.sentence for c in doc.verdict]
    assert [c["sentence"] for c in json.loads(dumps(doc))["verdict"]] == told
    page = re.sub(r"\s+", " ", text(doc, 100))
    assert all(re.sub(r"\s+", " ", s) in page for s in told)
    assert all(f"- {escape(s)}" in markdown(doc) for s in told)


def test_names_with_markup_and_controls_are_safe():
    y, p = scores(1, 100)
    found = (
        sw.agree({NASTY: y, "b": y, "c": 1 - y}),
        sw.judge({"h": y, "i": y}, {NASTY: y}, replicates=100),
        sw.answers(confidence={NASTY: p}, quality=y),
        sw.inspect(y, {NASTY: p, "other": p}),
        sw.smroc({"y": y, NASTY: p}, label="y", score=NASTY),
    )
    for result in found:
        doc = result.document()
        assert all(c.sentence.isprintable() for c in doc.verdict)
        assert "\x1b" not in text(doc)
        assert "<i>" not in markdown(doc).split("|")[0].replace("`", "")


# Nothing is claimed where nothing is wrong: at most 5 in 100, and noise.


def share_of(claims):
    found = list(claims)
    return sum(found) / len(found)


def test_no_rater_stands_out_among_equals():
    wrong = (
        any(row.p < 0.05 for row in outlier_tests(Ratings.of(raters(seed, 80))))
        for seed in range(100)
    )
    assert share_of(wrong) <= 0.11


def test_a_rater_who_guesses_stands_out():
    claims = sw.agree(raters(1, 300, bad=0.2)).document().verdict
    (found,) = [c for c in claims if c.about == "raters"]
    assert found.finding == "stands out"
    assert "'bad'" in found.sentence
    assert "'r0'" not in found.sentence


def test_prevalence_is_told_with_ac1():
    claims = sw.agree([[80, 10], [5, 5]]).document().verdict
    assert [c.finding for c in claims][:2] == ["slight to moderate", "prevalence"]
    assert "AC1 is 0.808" in claims[1].sentence


def test_chance_agreement_is_no_agreement():
    found = [
        sw.agree(raters(seed, 60, (0.0, 0.0, 0.0))).document().verdict[0].finding
        for seed in range(40)
    ]
    assert found.count("not told from chance") >= 34


def test_a_human_is_rarely_refused_as_a_judge():
    findings = []
    for seed in range(60):
        people = raters(seed, 200, (0.8, 0.8, 0.8, 0.8))
        bot = {"bot": people.pop("r3")}
        findings.append(sw.judge(people, bot, replicates=100).document().verdict[0].finding)
    assert findings.count("no") + findings.count("nearly") <= 6
    guess = sw.judge(raters(1, 400), {"bot": raters(2, 400)["r0"]}, replicates=100)
    assert guess.document().verdict[0].finding == "no"


def test_calibrated_confidence_is_rarely_called_wrong():
    findings = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        c = rng.uniform(0.3, 1, 300)
        claims = sw.answers(confidence=c, quality=rng.random(300) < c).document().verdict
        findings.append(claims[0].finding)
    assert sum(f not in ("believable", "unknown") for f in findings) <= 9


def test_labels_are_not_called_wrong_without_reason():
    wrong = []
    for seed in range(200):
        y, p = scores(seed, 300)
        seen, expected = contradicted(sw.Tally.of(y, p))
        wrong.append(seen > expected + 2.2 * np.sqrt(expected))
    assert share_of(wrong) <= 0.05
    y, p = scores(1, 2000, slope=1)
    p = 1 / (1 + np.exp(-4 * np.log(p / (1 - p))))
    y = (np.random.default_rng(1).random(2000) < p).astype(int)
    flipped = np.where(np.random.default_rng(2).random(2000) < 0.03, 1 - y, y)
    assert sw.inspect(y, p).document().verdict[0].finding == "as expected"
    assert sw.inspect(flipped, p).document().verdict[0].finding == "more than expected"


def test_scores_dealt_out_at_random_are_not_above_chance():
    findings = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y, p = rng.integers(0, 2, 200), rng.random(200)
        findings.append(sw.smroc(y, p).document().verdict[0].finding)
    assert findings.count("above chance") + findings.count("below chance") <= 8


def test_the_map_of_calibrated_scores_is_not_said_to_help():
    found = [
        sw.Recalibrator().fit(p, y).document().verdict[0].finding
        for y, p in (scores(seed, 300) for seed in range(30))
    ]
    assert found.count("helps") <= 3


# Maps that were saved before there were verdicts.


def test_a_map_without_a_verdict_is_read_and_gets_one(tmp_path):
    y, p = scores(1, slope=3)
    made = sw.Recalibrator().fit(p, y)
    made.save(tmp_path / "new.json")
    doc = json.loads((tmp_path / "new.json").read_text("utf-8"))
    assert doc["sha256"] == seal(doc)
    old = {key: x for key, x in doc.items() if key != "verdict"}
    old["sha256"] = seal(old)
    (tmp_path / "old.json").write_text(json.dumps(old), "utf-8")
    found = sw.Recalibrator.load(tmp_path / "old.json")
    assert found.document().verdict == made.document().verdict
    np.testing.assert_array_equal(found.transform(p), made.transform(p))
    (tmp_path / "edited.json").write_text(json.dumps({**old, "chosen": "beta"}), "utf-8")
    with pytest.raises(BadInput, match="damaged or was edited"):
        sw.Recalibrator.load(tmp_path / "edited.json")
    told = {**doc, "verdict": [{**doc["verdict"][0], "sentence": "Trust me."}]}
    (tmp_path / "told.json").write_text(json.dumps(told), "utf-8")
    with pytest.raises(BadInput, match="damaged or was edited"):
        sw.Recalibrator.load(tmp_path / "told.json")


def test_the_next_command_can_be_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, p = scores(1)
    lines = [f"{a},{b:.6f}" for a, b in zip(y, p, strict=True)]
    (tmp_path / "my file.csv").write_text("\n".join(["out come,p", *lines]) + "\n")
    assert (
        run(["inspect", "my file.csv", "--label", "out come", "--score", "p", "--json", "-"]) == 0
    )
    (told,) = (c for c in json.loads(capsys.readouterr().out)["verdict"] if c["about"] == "next")
    import shlex

    words = shlex.split(told["sentence"].removeprefix("Next: "))
    assert words[0] == "scorewise"
    assert run(words[1:]) == 0

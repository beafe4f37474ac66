"""Gates: the outcome against exact limits of scipy, baselines against compare, files and exit codes."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import scorewise as sw
from schemas import check_described
from scorewise.cli import run
from scorewise.estimate import Estimate
from scorewise.gating.requirements import decide, parsed
from scorewise.show.document import schema


def drawn(n=3000, noise=0.0, seed=0):
    """Calibrated binormal scores, the same labels and signals for each noise."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    x = rng.normal(size=n) + 1.5 * y
    site = np.where(np.arange(n) < 18, "west", np.where(np.arange(n) % 2, "north", "south"))
    p = 1 / (1 + np.exp(-(1.5 * x - 1.97 + noise * rng.normal(size=n))))
    return pl.DataFrame({"id": np.arange(n), "y": y.astype(int), "p": p, "site": site})


OLD, NEW, WORSE = drawn(), drawn(noise=0.25), drawn(noise=1.2)
HOW = {"label": "y", "score": "p"}


# The grammar


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("auroc >= 0.8", ["auroc >= 0.8"]),
        ("AUROC.low ≥ 80%", ["auroc.low >= 0.8"]),
        ("ece<=.05 and recall > 0.5", ["ece <= 0.05", "recall > 0.5"]),
        ("brier.delta.high <= 0 vs old runs/a b.csv", ["brier.delta.high <= 0 vs old runs/a b.csv"]),
        (
            "every site, sex: recall >= 0.7; f1.value >= .5",
            ["every site, sex: recall >= 0.7", "every site, sex: f1.value >= 0.5"],
        ),
    ],
)  # fmt: skip
def test_requirements_read_as_written(text, wanted):
    assert [r.text for r in parsed(text)] == wanted
    assert [r.text for r in parsed(wanted)] == wanted


@pytest.mark.parametrize(
    ("low", "value", "high", "outcomes"),
    [  # of x, x.low, x.high, x.value
        (0.82, 0.85, 0.9, "pass pass pass pass"),
        (0.75, 0.85, 0.9, "inconclusive inconclusive pass pass"),
        (0.75, 0.79, 0.9, "inconclusive inconclusive pass fail"),
        (0.70, 0.75, 0.79, "fail fail fail fail"),
        (0.80, 0.85, 0.9, "pass pass pass pass"),
    ],
)
def test_the_whole_interval_decides(low, value, high, outcomes):
    terms = ("auroc", "auroc.low", "auroc.high", "auroc.value")
    e = Estimate(value, low, high)
    assert [decide(parsed(f"{t} >= 0.8")[0], e, 10).outcome for t in terms] == outcomes.split()
    turned = Estimate(1 - value, 1 - high, 1 - low)  # the same with all signs changed
    terms = ("ece", "ece.high", "ece.low", "ece.value")
    assert [decide(parsed(f"{t} <= 0.2")[0], turned, 10).outcome for t in terms] == outcomes.split()


def test_rows_needed_tell_when_they_come():
    """Of a share, as many rows as the gate asks for decide, where the share stays."""
    y, p = np.repeat([1, 0], [1000, 1000]), np.repeat([0.9, 0.1, 0.1], [830, 170, 1000])
    open_ = sw.gate(y, p, require="recall >= 0.82").checks[0]
    assert open_.outcome == "inconclusive"
    times = open_.rows_needed / open_.rows
    for factor, outcome in ((1.03, "pass"), (0.9, "inconclusive")):
        n = np.full(3, times * factor)
        counts = (n * [830, 170, 1000]).round().astype(int)
        found = sw.gate([1, 1, 0], [0.9, 0.1, 0.1], count=counts, require="recall >= 0.82")
        assert found.outcome == outcome


def test_values_are_those_of_evaluate():
    e = sw.evaluate(NEW, **HOW, level=0.9)
    names = ["auroc", "brier", "ece", "sensitivity", "log_loss", "kappa", "calibration_slope"]
    found = sw.gate(NEW, **HOW, level=0.9, require=[f"{n} >= 0.01" for n in names])
    for c in found.checks:
        assert c.estimate == e[c.measure]
    other = sw.gate(NEW, **HOW, level=0.9, require="fpr <= 0.2").checks[0].estimate
    assert other.value == pytest.approx(1 - e.specificity.value)
    assert other.low == pytest.approx(1 - e.specificity.high)


# Baselines


@pytest.mark.parametrize("measure", ["auroc", "brier", "ece", "recall"])
def test_differences_are_those_of_compare(measure):
    shuffled = OLD.sample(fraction=1.0, shuffle=True, seed=3)
    found = sw.gate(
        NEW, **HOW, baseline=shuffled, key="id", require=f"{measure}.delta >= -0.1"
    ).checks[0]
    c = sw.compare({"new": NEW, "old": OLD}, **HOW, key="id")
    e = c.difference({"recall": "sensitivity"}.get(measure, measure), "new", "old")
    assert found.paired
    assert (found.estimate.value, found.estimate.low) == pytest.approx((e.value, e.low))


def test_arrays_columns_and_files_are_the_same_baseline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    OLD.write_csv("old.csv")
    both = NEW.with_columns(OLD["p"].alias("q"))
    rule = "brier.delta <= 0.01"
    found = [
        sw.gate(NEW["y"], NEW["p"], baseline=OLD["p"], require=rule),
        sw.gate(both, **HOW, require=f"{rule} vs q"),
        sw.gate(NEW, **HOW, key="id", require=f"{rule} vs old.csv"),
        sw.gate(NEW, **HOW, key="id", require=rule, baseline="old.csv"),
    ]
    for one in found[1:]:
        assert one.checks[0].estimate.low == pytest.approx(found[0].checks[0].estimate.low)


def test_a_saved_result_is_compared_unpaired(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e = sw.evaluate(OLD, **HOW)
    (tmp_path / "old.json").write_text(e.to_json())
    found = sw.gate(NEW, **HOW, require="brier.delta <= 0.02 vs old.json")
    assert found.checks[0].paired is False
    assert "unpaired" in found.document().baselines[0].sentence
    own = sw.evaluate(NEW, **HOW).brier
    gap = own.value - e.brier.value
    up = math.hypot(own.high - own.value, e.brier.value - e.brier.low)
    assert found.checks[0].estimate.high == pytest.approx(gap + up)
    paired = sw.gate(NEW, **HOW, baseline=OLD, key="id", require="brier.delta <= 0.02")
    assert paired.checks[0].estimate.high < found.checks[0].estimate.high
    # another level of the gate widens what was saved at 95 %
    wide = sw.gate(NEW, **HOW, level=0.99, require="brier.delta <= 0.02 vs old.json").checks[0]
    own = sw.evaluate(NEW, **HOW, level=0.99).brier
    more = norm.ppf(0.995) / norm.ppf(0.975) * (e.brier.value - e.brier.low)
    up = math.hypot(own.high - own.value, more)
    assert wide.estimate.high == pytest.approx(gap + up)


def test_the_outcomes_of_the_issue():
    """Three points worse fails, as good passes, and 50 rows cannot tell."""
    rule = {"require": "auroc.delta >= -0.01", "key": "id", **HOW}
    gap = sw.evaluate(WORSE, **HOW).auroc.value - sw.evaluate(OLD, **HOW).auroc.value
    assert -0.08 < gap < -0.03
    assert sw.gate(WORSE, baseline=OLD, **rule).outcome == "fail"
    assert sw.gate(NEW, baseline=OLD, **rule).outcome == "pass"
    few = sw.gate(NEW.slice(1000, 50), baseline=OLD.slice(1000, 50), **rule)
    assert (few.outcome, few.exit_code) == ("inconclusive", 3)
    assert few.checks[0].rows_needed > 50


def test_the_same_scores_pass_and_the_same_order_is_no_proof():
    same = sw.gate(OLD, baseline=OLD, **HOW, key="id", require="brier.delta <= 0")
    assert same.outcome == "pass"
    assert same.checks[0].estimate.method == "the same scores in every row"
    squared = OLD.with_columns(pl.col("p") ** 2)
    order = [
        sw.gate(squared.head(n), baseline=OLD.head(n), **HOW, key="id", require="auroc.delta >= -0.01")
        for n in (40, 3000)
    ]  # fmt: skip
    assert [g.outcome for g in order] == ["inconclusive", "pass"]
    assert order[0].checks[0].estimate.method == "rule of three"


# Groups


def test_every_group_has_to_pass():
    found = sw.gate(NEW, **HOW, require="every site: recall >= 0.4")
    assert {c.of for c in found.checks} == {"north", "south", "west"}
    assert [c.outcome for c in found.checks] == ["pass", "pass", "inconclusive"]
    assert "18 rows, and groups of fewer than 20 are not judged" in found.checks[2].sentence
    north = sw.evaluate(NEW.filter(pl.col("site") == "north"), **HOW)
    assert found.checks[0].estimate.low == pytest.approx(north.sensitivity.low)
    delta = sw.gate(NEW, baseline=OLD, key="id", **HOW, require="every site: auroc.delta >= -0.03")
    assert [c.outcome for c in delta.checks] == ["pass", "pass", "inconclusive"]


def test_requirements_of_all_rows_stand_before_those_of_groups():
    g = sw.gate(NEW, **HOW, require=["every site: auroc >= 0.5", "auroc >= 0.6"])
    text = str(g)
    assert text.index("auroc >= 0.6  ") < text.index("── every site: auroc >= 0.5 ─")


def test_a_group_fails_beyond_what_many_groups_show_by_chance():
    e, rule = Estimate(0.75, 0.71, 0.79), parsed("every site: recall >= 0.8")[0]
    assert [decide(rule, e, 500, n).outcome for n in (1, 2, 40)] == ["fail", "fail", "inconclusive"]


def test_rows_needed_of_a_group_allow_for_the_other_groups():
    """An interval beyond the limit stays open among many groups; the rows it asks for make it fail."""
    n, found = {"y": [1, 1, 0], "p": [0.9, 0.1, 0.1]}, {}
    times = 1.0
    for factor in (1.0, 0.9, 1.03):
        counts = [[round(times * factor * k) for k in (75, 25, 100)]] + [[90, 10, 100]] * 9
        rows = pl.DataFrame({name: column * 10 for name, column in n.items()}).with_columns(
            site=pl.Series([f"s{i}" for i in range(10) for _ in range(3)]),
            n=pl.Series([k for one in counts for k in one]),
        )
        check = sw.gate(
            rows, label="y", score="p", count="n", require="every site: recall >= 0.835"
        ).checks[0]
        found[factor] = check.outcome
        if factor == 1.0:
            times = check.rows_needed / check.rows
            assert check.estimate.high < 0.835
            assert "which may be chance among 10 groups; about" in check.sentence
    assert found == {1.0: "inconclusive", 0.9: "inconclusive", 1.03: "fail"}


# Looks


def test_looks_share_the_level_and_are_counted(tmp_path):
    ledger = tmp_path / "looks.json"
    found = sw.gate(NEW, **HOW, looks=10, require="auroc >= 0.7", ledger=ledger)
    assert found.checks[0].estimate.level == pytest.approx(0.995)
    assert found.document().looks[0].times == 1
    for _ in range(2):  # the same candidate is one look
        again = sw.gate(WORSE, **HOW, looks=10, require="auroc >= 0.7", ledger=ledger)
    assert again.document().looks[0].times == 2
    assert "looked at twice, of 10 planned" in again.render("text")
    late = sw.gate(OLD, **HOW, require="auroc >= 0.7", ledger=ledger)
    assert "was looked at 3 times, but the intervals allow for 1" in late.document().hints[0]


# Results of other verbs


def test_results_are_judged_the_same_way():
    e = sw.evaluate(NEW, **HOW)
    assert sw.gate(e, require="auroc >= 0.7").outcome == "pass"
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    ann, bob, bot = (np.where(rng.random(200) < q, truth, 1 - truth) for q in (0.95, 0.95, 0.6))
    a = sw.agree({"ann": ann, "bob": bob})
    assert sw.gate(a, require="cohen_kappa >= 0.6").outcome == "pass"
    assert sw.gate(a, require="cohen_kappa >= 0.95").outcome == "fail"
    j = sw.judge({"ann": ann, "bob": bob}, {"bot": bot, "top": truth})
    found = sw.gate(j, require="kappa >= 0.7")
    assert {c.of: c.outcome for c in found.checks} == {"bot": "fail", "top": "pass"}
    d = sw.drift((OLD["y"], OLD["p"]), (WORSE["y"], WORSE["p"]), replicates=299)
    assert sw.gate(d, fail_on="any").exit_code == 1
    assert sw.gate(d, fail_on="prior").exit_code == 0
    assert sw.gate(d, require="auroc >= -0.2").outcome == "pass"


# Files and the command line


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in (("old", OLD), ("new", NEW), ("worse", WORSE)):
        frame.write_csv(f"{name}.csv")
    NEW.slice(1000, 50).write_csv("few.csv")
    sw.evaluate(OLD, **HOW)
    return tmp_path


COLUMNS = ["--label", "y", "--score", "p"]
PAIRED = [*COLUMNS, "--key", "id", "--require", "auroc.delta >= -0.01 vs old.csv"]


@pytest.mark.parametrize(
    ("file", "more", "code"),
    [
        ("new.csv", [], 0),
        ("worse.csv", [], 1),
        ("few.csv", [], 3),
        ("few.csv", ["--inconclusive", "pass"], 0),
        ("few.csv", ["--inconclusive", "fail"], 1),
        ("worse.csv", ["--inconclusive", "pass"], 1),
        ("nobody.csv", [], 2),
    ],
)
def test_exit_codes(files, capsys, file, more, code):
    assert run(["gate", file, *PAIRED, *more]) == code
    out = capsys.readouterr().out
    word = {0: "PASS", 1: "FAIL", 3: "INCONCLUSIVE"}.get(code, "")
    assert (word if not more or file == "worse.csv" else "INCONCLUSIVE") in out


def test_a_gate_is_as_true_as_it_is_passed():
    found = {
        n: sw.gate([0, 1] * 50, [0.2, 0.8] * 50, require=n)
        for n in ("auroc >= 0.8", "auroc <= 0.8")
    }
    assert [bool(g) for g in found.values()] == [g.passed for g in found.values()] == [True, False]
    open_ = {"require": "accuracy >= 0.8", "threshold": 0.5}
    y, p = [0, 1] * 25, [0.2, 0.8] * 20 + [0.8, 0.2] * 5
    assert not sw.gate(y, p, **open_)
    assert sw.gate(y, p, **open_).outcome == "inconclusive"
    assert sw.gate(y, p, **open_, inconclusive="pass")


def test_all_forms_are_written(files, capsys):
    line = ["gate", "few.csv", *PAIRED, "--require", "auroc.value >= 0.5"]
    assert run([*line, "--json", "g.json", "--md", "g.md", "--junit", "g.xml"]) == 3
    doc = json.loads((files / "g.json").read_text())
    made = schema("gate")
    check_described(made)
    jsonschema.Draft202012Validator(made).validate(doc)
    assert doc["exit_code"] == 3
    assert (files / "g.md").read_text().startswith("### scorewise gate\n\n- INCONCLUSIVE: of 2")
    suite = ElementTree.parse(files / "g.xml").getroot()
    assert (suite.get("tests"), suite.get("skipped"), suite.get("failures")) == ("2", "1", "0")
    assert suite[0].find("skipped").get("message") == doc["checks"][0]["sentence"]
    assert run(["gate", "worse.csv", *PAIRED, "--junit", "g.xml"]) == 1
    assert ElementTree.parse(files / "g.xml").getroot()[0].find("failure") is not None


def test_gates_toml_lies_beside_its_files(files, capsys, monkeypatch):
    folder = files / "ci"
    folder.mkdir()
    (folder / "gates.toml").write_text(
        'file = "../new.csv"\nlabel = "y"\nscore = "p"\nkey = "id"\nbaseline = "../old.csv"\n'
        'looks = 4\nledger = "looks.json"\nrequire = ["auroc >= 0.7", "auroc.delta >= -0.01", '
        '"brier.delta <= 0.01 vs ../old.csv"]\n'
    )
    assert run(["gate", "--gates", "ci/gates.toml"]) == 0
    assert "98.8% intervals: 95% shared among 4 looks" in capsys.readouterr().out
    assert (folder / "looks.json").is_file()
    assert run(["gate", "worse.csv", "--gates", "ci/gates.toml"]) == 1
    monkeypatch.chdir(folder)
    assert run(["gate"]) == 0  # gates.toml of the folder


def test_other_commands_take_requirements(files, capsys):
    line = ["drift", "old.csv", "worse.csv", *COLUMNS]
    assert run(line) == 0
    assert run([*line, "--fail-on", "any"]) == 1
    assert "gate: fail: no drift: " in capsys.readouterr().err
    assert run([*line, "--require", "auroc >= -0.2"]) == 0
    assert run([*line, "--fail-on", "concepts", "--json", "d.json"]) == 2
    assert not (files / "d.json").exists()
    rng = np.random.default_rng(0)
    words = np.array(["no", "yes"])
    a, b = rng.integers(0, 2, 100), rng.integers(0, 2, 100)
    pl.DataFrame({"ann": words[a], "bob": words[b]}).write_csv("r.csv")
    agree = ["agree", "r.csv", "--rater", "ann", "--rater", "bob"]
    assert run([*agree, "--require", "cohen_kappa >= 0.6"]) == 1
    judge = ["judge", "r.csv", "--human", "ann", "--judge", "bob"]
    assert run([*judge, "--require", "kappa >= -0.05"]) == 3
    assert run([*judge, "--require", "kappa >= -0.05", "--inconclusive", "fail"]) == 1


# Bad input

TOML = 'label = "y"\nscore = "p"\n'
BAD = [
    ([], "nothing is required; pass --require 'auroc >= 0.8'"),
    (["--require", "auroc"], "'auroc' is not a requirement; write \"auroc >= 0.8\""),
    (["--require", "auroc == 0.8"], "is not a requirement; write"),
    (["--require", ""], "is not a requirement; write"),
    (["--require", "every : auroc >= 0.8"], "is not a requirement; write"),
    (["--require", "auroc.mean >= 0.8"], "'auroc.mean' has '.mean'; a measure is followed by .low"),
    (["--require", "aurok >= 0.8"], "no measure is named aurok; did you mean auroc?"),
    (["--require", "blue >= 0.8"], "no measure is named blue; there are accuracy"),
    (["--require", "auroc >= 80"], "between 0 and 1, but 'auroc >= 80' is required; did you mean 80%?"),
    (["--require", "auroc >= 1.2"], "between 0 and 1, but 'auroc >= 1.2' is required\n"),
    (["--require", "recall >= 0.9 and tpr <= 0.5"], "contradict each other: nothing keeps both"),
    (["--require", "auroc >= 0.9 and auroc <= 0.5"], "contradict each other: nothing keeps both"),
    (["--require", "auroc >= 0.8 vs old.csv"], "has a baseline, but no difference; write auroc.delta"),
    (["--require", "auroc.delta >= 0"], "has no baseline; write 'vs FILE'"),
    (["--require", "auroc.delta >= 0 vs gone.csv"], "gone.csv"),
    (["--require", "auroc.delta >= 0 vs gone"], "there is no column 'gone'"),
    (["--require", "auroc.delta >= 0 vs damaged.json"], "damaged.json is damaged, or of another version"),
    (["--require", "auroc.delta >= 0 vs drift.json"], "drift.json is a result of drift; a baseline"),
    (["--require", "auroc.delta >= 0 vs other.json"], "other.json holds neither rows nor a result"),
    (["--require", "every sex: auroc >= 0.5"], "there is no column 'sex'"),
    (["--require", "recall >= 0.999"], "it takes 12,878 rows (3,838 positive) at least"),
    (["--require", "recall >= 1"], "no number of rows does"),
    (["--require", "spiegelhalter <= 0.1"], "has no interval; write 'spiegelhalter.value <= 0.1'"),
    (["--require", "auroc >= 0.5", "--looks", "0"], "--looks must be an integer from 1 up"),
    (["--require", "auroc >= 0.5", "--inconclusive", "maybe"], "'maybe'"),
    (["--require", "auroc >= 0.5", "--ledger", "new.csv"], "new.csv is not a ledger of looks"),
    (["--require", "auroc >= 0.5", "--level", "95"], "--level must lie between 0 and 1"),
    (["--require", "auroc >= 0.5", "--junit", "g.html"], "--junit g.html has to end in .xml"),
    (["--gates", "gone.toml"], "there is no file gone.toml"),
    (["--gates", "brokn.toml"], "there is no file brokn.toml; did you mean broken.toml?"),
    (["--gates", "broken.toml"], "broken.toml is not TOML"),
    (["--gates", "unknown.toml"], "unknown.toml has an unknown key 'requires'; did you mean require?"),
    (["--gates", "typed.toml"], "typed.toml: looks has to be a whole number; got 'many'"),
    (["--gates", "empty.toml"], "empty.toml requires nothing; add a line such as require = "),
]  # fmt: skip


@pytest.mark.parametrize(("more", "sentence"), BAD, ids=str)
def test_bad_input_is_one_sentence(files, capsys, more, sentence):
    for name, text in {
        "broken.toml": "require = [",
        "unknown.toml": f'{TOML}requires = ["auroc >= 0.8"]\n',
        "typed.toml": f'{TOML}looks = "many"\nrequire = "auroc >= 0.8"\n',
        "empty.toml": TOML,
        "damaged.json": '{"command": "evaluate", "models": []}',
        "drift.json": '{"command": "drift"}',
        "other.json": '{"auroc": 0.8}',
    }.items():
        (files / name).write_text(text)
    assert run(["gate", "new.csv", *COLUMNS, *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert sentence in err


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sw.gate(require="auroc >= 0.5"), "there is nothing to judge; name a file"),
        (lambda: sw.gate([0, 1], require="auroc >= 0.5"), "scores are missing; call gate"),
        (lambda: sw.gate(NEW, **HOW, require=0.5), "requirements are text, but 0.5 is given"),
        (lambda: sw.gate([1] * 30, [0.5] * 30, require="auroc >= 0.5"), "auroc is undefined"),
        (lambda: sw.gate([1, 0] * 3, [1, 0] * 3, require="brier <= 0.1"), "can never show it"),
        (
            lambda: sw.gate([1, 0] * 3, [0.9, 0.1] * 3, require="recall >= 0.9"),
            "it takes 70 rows .35 positive. at least",
        ),
        (lambda: sw.gate(NEW, **HOW, require="auroc >= 0.5", fail_on="any"), "belongs to a result"),
        (
            lambda: sw.gate(sw.evaluate(NEW, **HOW), require="auroc >= 0.5", label="y"),
            "belongs to rows, but a result is judged",
        ),
        (
            lambda: sw.gate(sw.evaluate(NEW, **HOW), require="every site: auroc >= 0.5"),
            "groups and differences take rows",
        ),
    ],
)  # fmt: skip
def test_bad_calls_are_refused(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sw.BadInput, match=sentence):
        call()


def test_decisions_at_another_threshold_than_those_of_a_saved_result_are_refused(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(sw.evaluate(NEW, **HOW).to_json())
    require = f"recall.delta >= -0.5 vs {path}"
    assert sw.gate(NEW, **HOW, require=require).outcome == "pass"
    with pytest.raises(sw.BadInput, match=r"old.json has decisions at 0.5, not at 0.3"):
        sw.gate(NEW, **HOW, require=require, threshold=0.3)


def test_a_perfect_score_takes_35_of_35():
    """A lower limit of 0.9 at a share of 1 takes 35 (Wilson)."""
    for n, fine in ((34, False), (35, True)):
        y, p = [1] * n + [0] * n, [0.9] * n + [0.1] * n
        if fine:
            assert sw.gate(y, p, require="recall >= 0.9").outcome == "pass"
        else:
            with pytest.raises(sw.BadInput, match="at least"):
                sw.gate(y, p, require="recall >= 0.9")


def test_requirements_of_the_file_and_of_the_call_are_all_judged(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    pl.DataFrame({"y": (rng.random(300) < p).astype(int), "p": p}).write_csv(tmp_path / "a.csv")
    text = 'file = "a.csv"\nlabel = "y"\nscore = "p"\nrequire = "auroc >= 0.95"\n'
    (tmp_path / "gates.toml").write_text(text)
    g = sw.gate(gates=tmp_path / "gates.toml", require="brier <= 0.3")
    assert [c.requirement for c in g.checks] == ["auroc >= 0.95", "brier <= 0.3"]
    assert g.outcome == "fail"


def test_bad_input_leaves_no_earlier_junit_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(300)
    pl.DataFrame({"y": (rng.random(300) < p).astype(int), "p": p}).write_csv("a.csv")
    words = ["--label", "y", "--score", "p", "--require", "auroc >= 0.6", "--junit", "g.xml"]
    assert run(["gate", "a.csv", *words]) == 0
    assert 'errors="0"' in Path("g.xml").read_text()
    pl.DataFrame({"y": [0, 1, None], "p": [0.1, 0.2, 0.3]}).write_csv("bad.csv")
    assert run(["gate", "bad.csv", *words]) == 2
    assert 'errors="1"' in Path("g.xml").read_text()
    assert "missing" in Path("g.xml").read_text()


def test_the_way_out_of_rows_that_do_not_join_is_one_of_gates(tmp_path):
    for name, first in (("a", 0), ("b", 100)):
        rows = {"id": [first, first + 1, first + 2], "y": [0, 1, 1], "p": [0.1, 0.7, 0.4]}
        pl.DataFrame(rows).write_csv(tmp_path / f"{name}.csv")
    with pytest.raises(sw.BadInput, match="give the baseline as a saved result") as told:
        sw.gate(tmp_path / "a.csv", label="y", score="p", key="id", baseline=tmp_path / "b.csv",
                require="auroc.delta >= 0")  # fmt: skip
    assert "unpaired" not in str(told.value)


def test_rows_of_several_classes_are_not_said_to_be_none():
    p = np.eye(3)[[0, 1, 2, 0]] * 0.7 + 0.1
    said = str(sw.gate([0, 1, 2, 1], p, require="accuracy >= 0.1"))
    assert "4 of several classes" in said
    assert "positive" not in said

"""How columns are found and read: what is guessed, what is read as numbers, and what is said of it."""

from pathlib import Path

import polars as pl
import pytest

import scorewise as sw
from scorewise import BadInput
from scorewise.cli import run

Y, P = [1, 0, 1, 0], [0.9, 0.2, 0.7, 0.4]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys, *args):
    """What a command says beside its result."""
    assert run(args) == 0
    return capsys.readouterr().err


def refused(capsys, *args):
    assert run(args) == 2
    return capsys.readouterr().err


# which columns are guessed


@pytest.mark.parametrize(
    "label", ["default", "target", "outcome", "correct", "obs", "truth", "y", "Default", " OBS "]
)
@pytest.mark.parametrize("score", ["score", "prob", "proba", "p", "confidence", "Confidence"])
def test_usual_names_are_known(label, score):
    with pytest.warns(match="not named; taken because of its name"):
        assert sw.tally({"id": [7, 8, 9, 6], label: Y, score: P}).positives == 2


def test_a_column_of_text_is_not_guessed_as_the_score(folder, capsys):
    table = {"y": Y, "prediction": ["cat", "dog", "cat", "cow"], "prob": P}
    with pytest.warns() as notes:
        assert sw.tally(table).origin.score == "prob"
    assert "score: column 'prob' (not named; taken because of its name)" in str(notes[1].message)
    pl.DataFrame(table).drop("prob").write_csv("a.csv")
    assert refused(capsys, "evaluate", "a.csv") == (
        "scorewise: the score column is not named and no name suggests it, as 'prediction' holds text; "
        "pass --score with one of the columns 'y', 'prediction'\n"
    )
    assert "may be 'prob' or 'p'; pass --score with one of them" in refused(
        capsys, "evaluate", _csv({**table, "p": P})
    )


def _csv(table, name="a.csv"):
    pl.DataFrame(table).write_csv(name)
    return name


def test_the_score_of_a_map_is_not_guessed_as_text(capsys):
    many = {"y": Y * 25, "p": P * 25}
    assert run(["calibrate", "fit", _csv(many), "--method", "platt", "-o", "m.json"]) == 0
    new = _csv({"prediction": ["a", "b"], "p": [0.3, 0.6]}, "new.csv")
    capsys.readouterr()
    assert "score: column 'p'" in told(capsys, "calibrate", "apply", "m.json", new, "-o", "out.csv")


@pytest.mark.parametrize("item", ["question", "task_id", "item"])
@pytest.mark.parametrize("rater", ["annotator", "worker", "Rater"])
@pytest.mark.parametrize("rating", ["label", "answer", "rating"])
def test_usual_names_of_ratings_are_known(item, rater, rating):
    long = {item: [1, 1, 2, 2], rater: ["ann", "bob"] * 2, rating: ["x", "x", "x", "y"]}
    guessed = sw.agree(pl.DataFrame(long))
    names = f"'{item}', '{rater}', '{rating}'"
    assert guessed.notes[0] == f"items, raters and ratings: columns {names} (not named)"
    named = sw.agree(long, item=item, rater=rater, rating=rating)
    assert guessed.to_dict()["measures"] == named.to_dict()["measures"]


@pytest.mark.parametrize(
    ("further", "option", "names"),
    [
        ("question", "item", "'task_id' or 'question'"),
        ("worker", "rater", "'annotator' or 'worker'"),
        ("answer", "rating", "'label' or 'answer'"),
    ],
)
def test_two_columns_that_could_be_meant_are_refused(further, option, names):
    long = {"task_id": [1, 1], "annotator": ["a", "b"], "label": ["x", "y"], further: ["u", "v"]}
    with pytest.raises(BadInput) as problem:
        sw.agree(pl.DataFrame(long))
    assert str(problem.value) == (
        f"the {option} column is not named and may be {names}; pass {option}= with one of them"
    )


# what is left out


def test_the_rows_that_each_column_costs_are_told(capsys):
    y = [None] * 10 + [0, 1] * 20
    p = [None if k in (3, 20, 30) else 0.3 + k / 100 for k in range(50)]
    note = "12 rows left out: 10 without y, 3 without p"
    path = _csv({"y": y, "p": p})
    assert f"note: {note}\n" in told(capsys, "evaluate", path, "--missing", "drop")
    with pytest.warns(match="12 rows left out: 10 without label, 3 without score"):
        assert sw.evaluate(y, p, missing="drop").tally.origin.dropped == 12
    alone = _csv({"y": [0, 1] * 20, "p": [0.1, None] + [0.1, 0.9] * 19}, "b.csv")
    assert "left out" not in told(capsys, "evaluate", alone, "--missing", "drop")


# how values are written


@pytest.mark.parametrize(
    ("written", "note"),
    [
        (["91%", "20 %", "70%", "40,5%"], "written in percent and read as shares: '91%' is 0.91"),
        (["91%", "20%", "70%", "40.5%"], "written in percent and read as shares: '91%' is 0.91"),
        (["0,91", "0,2", "0,7", "0,405"], "written with a decimal comma: '0,91' is 0.91"),
        (["1", "0,2", ",7", "4,05e-1"], "written with a decimal comma: '0,2' is 0.2"),
    ],
)
def test_percentages_and_decimal_commas_are_numbers(written, note, capsys):
    with pytest.warns(match="p: " + note.partition(":")[0]):
        t = sw.compare(Y, {"p": written, "q": P})["p"].tally
    first = 1.0 if written[0] == "1" else 0.91
    assert t.score.tolist() == [0.2, 0.405, 0.7, first]
    path = _csv({"y": Y, "p": written})
    assert f"note: p: {note}\n" in told(capsys, "evaluate", path)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (["91%", "0.2", "0.7", "0.4"], "written in percent in 1 row, row 1 of a.csv ('91%')"),
        (["1,234", "5,678", "9,012", "3"], "not a number in 3 rows"),
        (["0,91", "0.2", "0.7", "0.4"], "not a number in 1 row"),
    ],
)
def test_numbers_written_in_two_ways_or_with_thousands_are_refused(written, sentence, capsys):
    assert sentence in refused(capsys, "evaluate", _csv({"y": Y, "p": written}))


def test_scores_in_percent_are_mapped_and_batches_have_to_be_written_alike(monkeypatch, capsys):
    from scorewise.columns import rewriting

    assert run(["calibrate", "fit", _csv({"y": Y * 25, "p": P * 25}), "-o", "m.json"]) == 0
    monkeypatch.setattr(rewriting, "_BATCH", 2)
    good = _csv({"p": ["90%", "20%", "70%", "40%"]}, "good.csv")
    capsys.readouterr()
    said = told(capsys, "calibrate", "apply", "m.json", good, "--score", "p", "-o", "out.csv")
    assert "p: written in percent and read as shares" in said
    bad = _csv({"p": ["90%", "20%", "0.7", "0.4"]}, "bad.csv")
    assert "p is written in percent in 2 rows" in refused(
        capsys, "calibrate", "apply", "m.json", bad, "--score", "p", "-o", "out2.csv"
    )


@pytest.mark.parametrize("positive", [None, "yes", "YES"])
def test_spellings_of_two_labels_are_one_where_that_leaves_two(positive, capsys):
    y = ["Yes ", "yes", "no", "NO", "yes", "no"]
    p = [0.9, 0.8, 0.3, 0.2, 0.7, 0.1]
    with pytest.warns(match="label: 'Yes ' is read as 'yes', 'NO' is read as 'no'"):
        t = sw.evaluate(y, p, positive=positive).tally
    assert (t.positives, t.negatives, t.origin.positive, t.origin.negative) == (3, 3, "yes", "no")
    assert "note: y: 'Yes ' is read as 'yes'" in told(capsys, "evaluate", _csv({"y": y, "p": p}))
    with pytest.raises(BadInput, match="4 distinct values"):
        sw.evaluate(["Yes ", "yes", "no", "maybe"], P)


# what is wrong with a file


def test_a_header_within_a_file_is_told():
    text = "y,p\n1,0.9\n0,0.2\ny,p\n1,0.7\n"
    for path, more in (("a.csv", ""), ("b.csv", "y,p\n")):
        Path(path).write_text(text + more)
    with pytest.raises(BadInput, match="csv has its header again in row 3; leave that line out"):
        sw.tally("a.csv", label="y", score="p")
    with pytest.raises(BadInput, match="csv has its header again 2 times, first in row 3"):
        sw.tally("b.csv", label="y", score="p")


def test_ratings_named_as_their_rater_are_no_header():
    pl.DataFrame(
        {"yes": ["yes", "no", "yes"], "no": ["no", "no", "yes"], "n": [1, 2, 3]}
    ).write_csv("a.csv")
    assert sw.agree("a.csv", raters=["yes", "no"]).to_dict()["data"]["items"] == 3


@pytest.mark.parametrize("name", ["c.csv", "c.parquet"])
def test_a_column_of_counts_that_is_something_else_too_is_told(name, capsys):
    frame = pl.DataFrame({"item": [1, 2, 3], "yes": [2, 3, 1], "no": [1, 0, 2]})
    frame.write_csv(name) if name.endswith("csv") else frame.write_parquet(name)
    said = refused(capsys, "agree", name, "--counts", "yes,no", "--weight", "no")
    assert said == (
        "scorewise: column 'no' is given as counts and as weight; name a different column for each\n"
    )


def test_ids_are_no_confidence(capsys):
    said = {"gold": ["a", "b", "c"], "prediction": ["a", "c", "c"]}
    for name in ("question", "doc_id"):
        path = _csv({name: [0, 1, 0], **said})
        assert refused(capsys, "answers", path) == (
            f"scorewise: the confidence column is not named and no name suggests it; pass --confidence "
            f"with one of the columns '{name}', 'gold', 'prediction'\n"
        )
    with pytest.warns() as notes:
        assert sw.answers(pl.DataFrame({"sure": [0.9, 0.4, 0.8], **said})).accuracy.value == 2 / 3
    assert str(notes[-1].message) == "confidence: column 'sure' (not named; the only column left)"


@pytest.mark.parametrize("counts", ["yes,nope", "n_*", "item", "yes=item,no=nope"])
def test_wrong_columns_of_counts_are_not_a_damaged_file(counts, capsys):
    path = _csv({"item": [1, 2, 3], "yes": [2, 3, 1], "no": [1, 0, 2]})
    said = refused(capsys, "agree", path, "--counts", counts)
    assert "damaged" not in said
    assert "column" in said or "--counts" in said


# what is taken together


def test_models_one_below_the_other_are_told(capsys):
    long = {"model": ["svm"] * 4 + ["nn"] * 4, "fold": [0, 1] * 4, "label": Y * 2, "score": P * 2}
    note = (
        "column 'model' has 2 values (nn, svm), whose rows are taken together as one model; compare "
        "tells them apart, with this column as its model"
    )
    assert f"note: {note}\n" in told(capsys, "evaluate", _csv(long))
    with pytest.warns() as notes:
        assert len(sw.tally(pl.DataFrame(long)).score) == 4
    assert note in [str(n.message) for n in notes]
    one = _csv({**long, "model": ["svm"] * 8}, "one.csv")
    assert "model" not in told(capsys, "evaluate", one)
    # what nobody asked for may hold anything
    odd = pl.DataFrame({"model": [[1], [2, 3]], "label": [0, 1], "score": [0.2, 0.9]})
    odd.write_parquet("odd.parquet")
    assert "model" not in told(capsys, "evaluate", "odd.parquet")


def test_several_files_are_told_to_be_parts(capsys):
    files = [_csv({"y": Y, "p": P}, name) for name in ("last.csv", "this.csv")]
    first = told(capsys, "evaluate", *files).splitlines()[0]
    assert first == (
        "note: 2 files are read as parts of one data set (last.csv, this.csv); models are compared "
        "with scorewise compare (--key names the rows), and samples with drift"
    )
    wide = [_csv({"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}, n) for n in files]
    assert "parts of one data set" in told(capsys, "evaluate", *wide, "--classes", "p_*")
    assert "parts of" not in told(capsys, "evaluate", _csv({"y": Y, "p": P}))


def test_decisions_in_place_of_probabilities_are_hinted_at():
    hint = "'score': all scores are 0 or 1, as decisions are, and none lies between"
    hints = [sw.evaluate(Y, p).to_dict()["hints"] for p in ([1, 0, 0, 0], [1, 0.2, 0, 0], P)]
    assert [any(h.startswith(hint) for h in each) for each in hints] == [True, False, False]

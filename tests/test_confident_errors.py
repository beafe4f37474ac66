"""Wrong answers said with most confidence, and how people write quality and confidence."""

import json

import jsonschema
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

import scorewise as sw
from scorewise.cli import run
from scorewise.displays import AnswersDisplay
from scorewise.show.document import schema as document_schema
from scorewise.show.terminal import text

mpl.use("Agg")
GOLD = ["Paris", ["Rome", "Roma"], "Oslo", "Bern", "Wien"]
SAID = ["Lyon", "Milan", "Oslo", "Basel", "Graz"]
SURE = [0.7, 0.9, 0.99, 0.4, 0.9]


def test_the_surest_wrong_answers_come_first():
    errors = sw.answers(GOLD, SAID, SURE).confident_errors()
    assert [(e.row, e.confidence) for e in errors] == [(1, 0.9), (4, 0.9), (0, 0.7), (3, 0.4)]
    assert (errors[0].gold, errors[0].predicted) == ("Rome | Roma", "Milan")
    assert errors[0].place == "row 1, counting from 0"
    assert len(sw.answers(GOLD, SAID, SURE).confident_errors(top=2)) == 2


def test_they_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    quality, sure = rng.random(200).round(1), rng.random(200).round(2)
    a = sw.answers(confidence=sure, quality=quality, tau=0.6)
    rows = sorted((-sure[k], quality[k], k) for k in range(200) if quality[k] <= 0.6)
    assert [e.row for e in a.confident_errors(top=20)] == [k for *_, k in rows[:20]]
    assert a.confident_errors(top=1)[0].gold is None


def test_rows_are_those_of_the_original():
    a = sw.answers(["a", None, "b"], ["x", "y", "z"], [0.5, 0.9, 0.6], missing="drop")
    assert [e.row for e in a.confident_errors()] == [2, 0]
    sure = {"stated": [0.5, 0.9, None], "token": [0.2, None, 0.9]}
    b = sw.answers(confidence=sure, quality=[0, 0, 0], missing="drop")
    assert [e.row for e in b.confident_errors(confidence="stated")] == [1, 0]
    assert [e.row for e in b.confident_errors(confidence="token")] == [2, 0]
    with pytest.raises(sw.BadInput, match="there are 2 confidences"):
        b.confident_errors()
    with pytest.raises(sw.BadInput, match="no confidence is named else"):
        b.confident_errors(confidence="else")
    with pytest.raises(sw.BadInput, match="top must be an integer from 0 up, such as 10; got -1"):
        b.confident_errors(-1, confidence="token")


def test_the_page_and_the_document_have_them():
    long = "a very long answer\nthat goes on and on " * 9
    a = sw.answers([*GOLD, "x"], [*SAID, long], [*SURE, 0.95])
    doc = json.loads(a.to_json())
    jsonschema.validate(doc, document_schema("answers"))
    errors = doc["confidences"][0]["confident_errors"]
    assert len(errors) == 5
    assert len(errors[0]["predicted"]) == 80
    shown = text(doc)
    assert "── Wrong and surest ─" in shown
    assert "Rows count from 0." in shown
    assert max(map(cell_len, shown.splitlines())) <= 80
    right = sw.answers(confidence=[0.2, 0.9], quality=[1, 1])
    assert "Wrong and surest" not in text(right.to_dict())


def test_rows_of_files_count_from_1(tmp_path, capsys):
    path = tmp_path / "qa.csv"
    path.write_text("ok,p\nTrue,0.4\nFalse,0.9\nFalse,0.8\n")
    assert run(["answers", str(path), "--quality", "ok", "--confidence", "p", "--json", "-"]) == 0
    errors = json.loads(capsys.readouterr().out)["confidences"][0]["confident_errors"]
    assert [(e["file"], e["row"]) for e in errors] == [("qa.csv", 2), ("qa.csv", 3)]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("yes", "no"), ("1", "0"), (" Yes", "No ")],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["csv", "list", "frame"])
def test_words_for_true_and_false_are_quality(tmp_path, right, wrong, kind):
    words, sure = [right, wrong, right], [0.9, 0.8, 0.3]
    if kind == "list":
        a = sw.answers(confidence=sure, quality=words)
    elif kind == "frame":
        a = sw.answers(pd.DataFrame({"ok": words, "p": sure}), quality="ok", confidence="p")
    else:
        path = tmp_path / "x.csv"
        path.write_text("ok,p\n" + "".join(f"{w},{s}\n" for w, s in zip(words, sure, strict=True)))
        a = sw.answers(path, quality="ok", confidence="p")
    assert a.rows.quality.tolist() == [1, 0, 1]


def test_other_words_are_no_quality_and_missing_ones_are_missing():
    with pytest.raises(sw.BadInput, match=r"quality is not a number in 2 rows"):
        sw.answers(confidence=[0.9, 0.8, 0.2], quality=["true", "maybe", "1"])
    with pytest.raises(sw.BadInput, match=r"quality is missing in 1 row"):
        sw.answers(confidence=[0.9, 0.8], quality=["true", None])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"quality": [1, 3, 5, 4]}, "quality is outside [0, 1] in 3 rows, first at row 1, counting from 0 "
         "(3); divide it by the most that it can be, such as 5"),
        ({"quality": [80, 3, 50, 4]}, "divide percentages by 100"),
        ({"confidence": ["61%", "50%", "3%", "0.2"]}, "confidence is written in percent in 3 rows, first "
         "at row 0, counting from 0 ('61%'); remove the % and divide by 100"),
        ({"quality": ["61%", "50 %", "0.3", "0"]}, "quality is written in percent in 2 rows"),
    ],
)  # fmt: skip
def test_the_way_out_fits(given, sentence):
    columns = {"quality": [1, 0, 1, 0], "confidence": [0.1, 0.2, 0.3, 0.4], **given}
    with pytest.raises(sw.BadInput) as error:
        sw.answers(**columns)
    assert sentence in str(error.value)


def test_an_empty_cell_is_told_from_an_empty_text(tmp_path, capsys):
    path = tmp_path / "qa.csv"
    path.write_text('gold,said,p\na,b,0.9\n"",x,0.8\nc,,0.5\n')
    args = ["answers", str(path), "--gold", "gold", "--predicted", "said", "--confidence", "p"]
    assert run(args) == 2
    error = capsys.readouterr().err
    assert "said is missing in 1 row, row 3 of qa.csv" in error
    assert 'write "" in quotes where there is no answer' in error
    path.write_text(path.read_text().replace("c,,", 'c,"",'))
    assert run(args) == 0


def test_words_for_no_answer_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "qa.csv"
    path.write_text('gold,said,p\n"",nope,0.9\n"",dunno,0.8\nc,c,0.5\n')
    args = ["answers", str(path), "--gold", "gold", "--predicted", "said", "--confidence", "p"]
    right = []
    for words in (
        [],
        ["--unanswerable", "nope"],
        ["--unanswerable", "nope", "--unanswerable", "dunno"],
    ):
        assert run([*args, *words, "--json", "-"]) == 0
        measures = json.loads(capsys.readouterr().out)["confidences"][0]["measures"]
        right.append(next(m["value"] for m in measures if m["name"] == "accuracy"))
    assert right == pytest.approx([1 / 3, 2 / 3, 1])


# pictures and groups


def test_the_picture_is_that_of_tau_and_its_legend_is_above():
    rng = np.random.default_rng(1)
    quality = rng.random(100)
    a = sw.answers(confidence=np.clip(quality + 0.2, 0, 1), quality=quality)
    drawn = a.plot("brier")
    assert isinstance(drawn, AnswersDisplay)
    assert drawn.lines_["confidence"].get_ydata().tolist() == a.curve("brier").value.tolist()
    drawn.ax_.figure.canvas.draw()
    box, axes = drawn.ax_.get_legend().get_window_extent(), drawn.ax_.get_window_extent()
    assert box.y0 >= axes.y1


@pytest.mark.parametrize("names", [("alpha", "beta"), ("a" * 20, "b")])
def test_groups_have_intervals_where_there_is_room(names):
    rng = np.random.default_rng(2)
    right = rng.random(12_000) < 0.6
    sure = np.clip(0.4 * right + 0.5 * rng.random(12_000), 0, 1)
    a = sw.answers(confidence=sure, quality=right, by={"model": rng.choice(names, 12_000)})
    shown = text(a.to_dict())
    part = shown[shown.index("── Groups") :]
    assert max(map(cell_len, shown.splitlines())) <= 80
    line = next(row for row in part.splitlines() if row.startswith(names[1]))
    assert line.count("[") == 0
    kept = a.to_markdown()
    line = next(row for row in kept.splitlines() if row.startswith(f"| {names[1]}"))
    assert line.count("[") == 5
    group = a.to_dict()["groups"][0]["groups"][0]
    ece = next(m for m in group["measures"] if m["name"] == "ece")
    assert ece["expected"] == a.groups[names[0]].ece.expected

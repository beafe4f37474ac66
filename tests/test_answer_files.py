"""Answers from files of every kind, and the layout of DUDE."""

from __future__ import annotations

import gzip
import io
import json

import polars as pl
import pytest

from beside import predictions
from scorewise.answering.rows import answer_rows
from scorewise.errors import BadInput

ROWS = [
    {"id": 1, "gold": ["1894", "94"], "predicted": "1884", "confidence": 0.9, "set": "a"},
    {"id": 2, "gold": ["Yes"], "predicted": "yes", "confidence": 0.8, "set": "b"},
    {"id": 3, "gold": [], "predicted": "", "confidence": 0.3, "set": "a"},
]
GOOD = [0.75, 1, 1]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(path, rows=ROWS):
    """Those rows in a file of the kind that its name says."""
    frame = pl.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines(rows).encode()))
    else:
        text = {".json": json.dumps(rows, indent=1), ".jsonl": lines(rows)}
        path.write_text(text[path.suffix])
    return path


def words_of(rows, name):
    """The word of each answer in a column of groups."""
    codes, words = rows.groups[name]
    return [words[k] for k in codes]


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.jsonl", "x.jsonl.gz", "x.json"])
def test_nested_lists_are_read_from_files_of_every_kind(tmp_path, name):
    loaded = answer_rows(write(tmp_path / name), group="set")
    assert loaded.quality.tolist() == GOOD
    assert loaded.confidence["confidence"].tolist() == [0.9, 0.8, 0.3]
    assert words_of(loaded, "set") == ["a", "b", "a"]
    assert loaded.place.sources == (name,)
    assert list(loaded.notes) == [
        f"{role}: column '{role}' (not named; taken because of its name)"
        for role in ("gold", "predicted", "confidence")
    ]


def test_records_may_be_under_data(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"version": 2, "data": ROWS}))
    assert answer_rows(path).quality.tolist() == GOOD


def test_lines_may_hold_texts_in_some_rows_and_lists_in_others(tmp_path):
    rows = [
        {"answer": "4", "output": ["four", "4"], "p": 1},
        {"answer": ["4", "four"], "output": "four", "p": 0.5},
        {"answer": [["4", "four"], ["5"]], "output": ["5", "four"], "p": 0.25},
        {"answer": 4, "output": 4, "p": 0},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text(lines(rows))
    assert answer_rows(path).quality.tolist() == [0.5, 1, 1, 1]


def test_text_in_csv_is_taken_as_it_stands(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        'answer,prediction,score\n007,7,0.5\n1.50,1.50,0.5\nNone,none,0.5\nNA,na,0.5\n"","",0.5\n'
    )
    rows = answer_rows(path, quality="exact", normalise="plain")
    assert rows.quality.tolist() == [0, 1, 1, 1, 1]
    assert rows.cases["unanswerable"] == 1
    path.write_text("answer,prediction,score\n1,1,0.5\n,2,0.5\n3,3,NA\n")
    with pytest.raises(BadInput, match=r"answer is missing in 1 row, row 2 of x\.csv"):
        answer_rows(path)
    dropped = answer_rows(path, missing="drop")
    assert (dropped.dropped, len(dropped)) == (1, 2)
    assert str(dropped.confidence["score"].tolist()) == "[0.5, nan]"


def test_shards_are_one_below_the_other(tmp_path):
    for suffix in (".jsonl", ".parquet"):
        files = [write(tmp_path / f"{n}{suffix}", ROWS[i : i + 2]) for n, i in (("a", 0), ("b", 1))]
        loaded = answer_rows(files)
        assert loaded.quality.tolist() == [*GOOD[:2], *GOOD[1:]]
        assert loaded.place.row(2) == f"row 1 of b{suffix}"


@pytest.mark.parametrize("data", [lines(ROWS), json.dumps(ROWS), "gold,predicted,p\na1,a1,0.5\n"])
def test_standard_input_is_read_by_what_it_holds(monkeypatch, data):
    class Stdin:
        buffer = io.BytesIO(data.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert answer_rows("-").quality[-1] == 1


def test_quality_may_be_a_column_and_gold_answers_are_then_not_needed():
    table = {"correct": [True, False], "said": [0.9, 0.4], "token": [0.5, None], "llm": ["x", "y"]}
    loaded = answer_rows(
        table, quality="correct", confidence=["said", "token"], group=["llm"], missing="drop"
    )
    assert (loaded.rule, loaded.quality.tolist()) == ("own", [1, 0])
    assert list(loaded.confidence) == ["said", "token"]
    assert list(loaded.notes) == []


def test_a_rule_goes_before_a_column_of_its_name_and_says_so():
    table = {"gold": ["ab"], "predicted": ["ab"], "p": [0.5], "anls": [0.25]}
    loaded = answer_rows(table)
    assert loaded.quality == 1
    assert loaded.notes[-1] == "quality: the rule anls, not the column of that name"


def test_options_reach_the_door():
    table = {"gold": [["a1", "b1"]], "predicted": ["none"], "p": [0.5], "w": [2]}
    words = answer_rows({**table, "gold": [""]}, unanswerable=["none"], weight="w")
    assert (words.quality.tolist(), words.names.weight) == ([1], "w")
    assert answer_rows({**table, "predicted": ["a1"]}, lists="items").quality == 0.5
    assert (
        answer_rows({**table, "predicted": ["A1"]}, normalise="none", quality="exact").quality == 0
    )


# the layout of DUDE


def dude(folder, gold=None, submission=None):
    """Gold answers and a submission with one question of each kind, or those given."""
    kinds = "extractive", "list/extractive", "not-answerable", "abstractive"
    answers = ["NARA"], ["x1", "y2"], [], ["Yes"]
    variants = ["The NARA"], ["z"], [], []
    asked = [
        {"questionId": f"q{n}", "answers": a, "answers_variants": v, "answer_type": k}
        for n, (a, v, k) in enumerate(zip(answers, variants, kinds, strict=True), start=1)
    ]
    told = [
        {"questionId": "q4", "answers": ["No"], "answers_confidence": [0.4]},
        {"questionId": "q3", "answers": [], "answers_confidence": 0.3},
        {"questionId": "q2", "answers": ["y2", "x1"], "answers_confidence": [0.2, 0.9]},
        {"questionId": "q1", "answers": ["the nara"], "answers_confidence": [0.1]},
    ]
    paths = folder / "gt.json", folder / "sub.json"
    paths[0].write_text(json.dumps({"dataset_name": "DUDE Dataset", "data": gold or asked}))
    paths[1].write_text(json.dumps(submission or told))
    return list(paths), asked, told


def test_gold_answers_and_a_submission_are_joined_by_question(tmp_path):
    paths, _, _ = dude(tmp_path)
    for files in (paths, paths[::-1]):
        loaded = answer_rows(files, group="answer_type")
        assert loaded.quality.tolist() == [1, 1, 1, 0]
        assert loaded.confidence["answers_confidence"].tolist() == [0.1, 0.2, 0.3, 0.4]
        assert words_of(loaded, "answer_type")[2] == "not-answerable"
        assert loaded.place.row(3) == "row 4 of gt.json"
        assert list(loaded.notes) == [
            "layout: gold answers of gt.json and the submission sub.json, by questionId",
            "answers_variants: not used for 1 list, as they do not say which item they stand for",
            "answers_confidence: the first of several for 1 answer",
        ]


def test_questions_that_one_file_lacks_are_refused_or_dropped(tmp_path):
    _, asked, told = dude(tmp_path)
    fewer, _, _ = dude(tmp_path, submission=told[:2])
    with pytest.raises(BadInput) as refused:
        answer_rows(fewer)
    assert str(refused.value) == (
        "sub.json lacks 2 questions of gt.json, first 'q1'; add what is lacking or pass missing=\"drop\""
    )
    rows = answer_rows(fewer, missing="drop")
    assert (rows.dropped, rows.quality.tolist(), rows.place.row(0)) == (
        2,
        [1, 0],
        "row 3 of gt.json",
    )
    blank, _, _ = dude(tmp_path, submission=[told[0], {**told[1], "answers": None}, told[2]])
    rows = answer_rows(blank, missing="drop")
    assert (rows.dropped, [rows.place.number(i)[1] for i in range(2)]) == (2, [2, 4])
    more, _, _ = dude(tmp_path, gold=asked[1:])
    with pytest.raises(BadInput, match=r"gt\.json lacks 1 question of sub\.json, first 'q1'"):
        answer_rows(more)
    assert answer_rows(more, missing="drop").dropped == 1


def test_the_demonstration_of_dude():
    demo = predictions("dude_demo")
    gold = demo / "DUDE_demo_gt.json"
    perfect = answer_rows([gold, demo / "DUDE_demo_submission_perfect.json"])
    assert perfect.quality.tolist() == [1] * 11
    rows = answer_rows([gold, demo / "DUDE_demo_submission_imperfect.json"])
    by_hand = [
        0,  # No for Yes: 3 changes of 3
        0,  # 3 for 2: 1 of 1
        1,
        1,
        1,
        1
        - 9
        / 52,  # "Moscow -" for "Moscow Sheremet,": 9 letters fewer, of 52, with a hyphen for a comma
        1 - 1 / 3,  # 41% for 42%
        1 - 3 / 44,  # & for and: 3 of the 44 letters of the name, of 48 with "The"
        1,  # cannot be answered, and it says nothing
        1,
        1,  # both flights, a list
    ]
    assert rows.quality.tolist() == pytest.approx(by_hand, abs=1e-12)
    assert rows.confidence["answers_confidence"][[0, -1]].tolist() == [0.8, 0.7]
    assert rows.cases["unanswerable"] == rows.cases["empty"] == 2


# what is refused

RECORDS = 'a list of objects, one for each answer, is wanted, or {"data": [...]} with such a list'
REFUSED = {
    "broken": ("x.json", "[{]", f"x.json is not JSON in line 1; {RECORDS}"),
    "no records": ("x.json", "[]", "x.json has no rows"),
    "blanks": ("x.json", "  ", "x.json is empty (2 bytes)"),
    "a number": ("x.json", "3", f"x.json holds no list of records; {RECORDS}"),
    "columns": ("x.json", '{"gold": ["a"]}', f"x.json holds no list of records; {RECORDS}"),
    "numbers": (
        "x.json",
        '[{"gold": "a"}, 3]',
        f"x.json has a value of type int as record 2; {RECORDS}",
    ),
    "squad": (
        "x.json",
        '{"data": [{"title": "t", "paragraphs": []}]}',
        "x.json is nested as SQuAD is (data, paragraphs, qas), which is not read; write one object "
        "for each answer with its gold answers, prediction and confidence",
    ),
    "deep": ("x.json", "[" * 100_000, "x.json is nested too deeply; leave out the field that is"),
    "two for gold": (
        "x.json",
        '[{"gold": "a", "predicted": "a", "answer": "b", "p": 1}]',
        "the gold column is not named and may be 'gold' or 'answer'; pass gold= with one of them, "
        "or quality= with a column that says how good each answer is",
    ),
    "none for gold": (
        "x.json",
        '[{"y": 1, "z": 2, "p": 1}]',
        "the gold column is not named and no name suggests it; pass gold= with one of the columns "
        "'y', 'z', 'p', or quality= with a column that says how good each answer is",
    ),
    "none for confidence": (
        "x.json",
        '[{"gold": "a", "predicted": "a", "z": 1, "u": 2}]',
        "the confidence column is not named and no name suggests it; pass confidence= with one of "
        "the columns 'gold', 'predicted', 'z', 'u'",
    ),
    "confidence in lists": (
        "x.json",
        '[{"gold": "a", "predicted": "a", "p": [0.5, 0.6]}]',
        "p has shape (1, 2); pass one column of it, such as p[:, 1]",
    ),
    "a broken line": (
        "x.jsonl",
        '{"gold": 1}\n{"gold"',
        "x.jsonl is not JSON in line 2; one object per line is wanted",
    ),
    "lists in lines": (
        "x.jsonl",
        "[1]\n[2]",
        "x.jsonl has a list in line 1; one object per line is wanted",
    ),
    "no rows": ("x.csv", "gold,predicted,p\n", "x.csv has no rows"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_malformed_files_are_refused_in_one_sentence(tmp_path, what):
    name, text, sentence = REFUSED[what]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput) as refused:
        answer_rows(path)
    assert str(refused.value) == sentence


def test_malformed_choices_are_refused_in_one_sentence(tmp_path):
    table = {"gold": ["a"], "predicted": ["a"], "p": [0.5]}
    with pytest.raises(BadInput, match='quality="bleu" is neither anls, exact or f1 nor a column'):
        answer_rows(table, quality="bleu")
    with pytest.raises(BadInput, match="there is no column 'golt'; did you mean 'gold'"):
        answer_rows(table, gold="golt")
    with pytest.raises(BadInput, match="column 'p' is given as weight and as confidence"):
        answer_rows(table, confidence="p", weight="p")
    with pytest.raises(BadInput, match="there is no column 'set'"):
        answer_rows(table, group="set")
    files = [write(tmp_path / "x.jsonl"), write(tmp_path / "x.parquet")]
    with pytest.raises(
        BadInput, match=r"x\.parquet is a table and x\.jsonl is JSON; pass files of one"
    ):
        answer_rows(files)
    other = tmp_path / "y.jsonl"
    other.write_text(lines([{"gold": "a", "predicted": "b"}]))
    with pytest.raises(BadInput, match=r"y\.jsonl has no column 'confidence', which x\.jsonl has"):
        answer_rows([files[0], other])


def test_malformed_dude_is_refused_in_one_sentence(tmp_path):
    _, asked, told = dude(tmp_path)
    twice, _, _ = dude(tmp_path, submission=[*told, told[0]])
    with pytest.raises(BadInput, match=r"sub\.json has the questionId 'q4' twice, again in row 5"):
        answer_rows(twice)
    unnamed, _, _ = dude(tmp_path, gold=[*asked, {"answers": []}])
    with pytest.raises(BadInput, match=r"questionId is missing in row 5 of gt\.json"):
        answer_rows(unnamed)
    unsure, _, _ = dude(tmp_path, submission=[{**t, "answers_confidence": []} for t in told])
    with pytest.raises(
        BadInput, match=r"answers_confidence is missing in 4 rows, first at row 1 of gt"
    ):
        answer_rows(unsure)
    apart, _, _ = dude(
        tmp_path, submission=[{**t, "questionId": "z" + t["answers"][0]} for t in told[:1]]
    )
    with pytest.raises(BadInput, match="no questionId in common"):
        answer_rows(apart, missing="drop")
    (tmp_path / "more.json").write_text(json.dumps(told))
    with pytest.raises(
        BadInput, match=r"gt\.json holds gold answers and 2 other files submissions"
    ):
        answer_rows([*apart, tmp_path / "more.json"])


def test_a_single_file_with_the_names_of_dude_is_read_as_any_other(tmp_path):
    rows = [{"questionId": "1", "answers": ["a1"], "answer_type": "x", "output": "a1", "score": 1}]
    assert answer_rows(write(tmp_path / "x.json", rows)).quality == 1

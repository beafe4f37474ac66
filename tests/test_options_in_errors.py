"""Errors name options as they are written where the reader is: in Python or on the command line."""

import ast
import inspect
import pickle
import re
import shlex
from pathlib import Path
from pkgutil import resolve_name

import pytest

import scorewise as sw
from scorewise.agreeing import agree
from scorewise.checks import RULES, check
from scorewise.cli import run
from scorewise.cli.commands import COMMANDS, GATE
from scorewise.cli.options import OPTIONS, flag, refusal
from scorewise.cli.signatures import _parts, signature
from scorewise.errors import BadInput, Option, Setting
from test_bad_input import CASES, GOOD, IN_WORDS_OF_TYPER, text

SAYING = ast.Raise | ast.Yield | ast.Return
OUTPUTS = {"output over input", "output without folder", "outputs in one place"}
PYTHON = re.compile(rf"(?<![\w'-])(?:{'|'.join(OPTIONS)}|y|p)=|\b\w+=[\"'\[]")
COMMAND_LINE = re.compile(r"(?<!\w)--\w")

RATINGS = "item,ann,bob\n1,a,a\n2,b,a\n3,c,c\n4,a,b\n"
NUMBERS = "ann,bob\n1,1\n2,1\n-3,3\n1,2\n"
VERDICTS = "ann,bot,other\nA,B,A\nB,B,B\nA,A,A\nB,A,B\n"
CLASSES = "y,p_a,p_b,p_c\na,0.5,0.3,0.2\nb,0.1,0.7,0.1\nc,0.2,0.2,0.6\n"
QUESTIONS = "gold,said,sure\nParis,Paris,0.9\nRome,,0.3\n"
# further commands: what lies in the folder, and what is asked
FURTHER = {
    "raters and ratings": (text(RATINGS), "agree a.csv --rater ann --rater bob --rating item"),
    "rating alone": (text(RATINGS), "agree a.csv --rating ann"),
    "no order": (text(RATINGS), "agree a.csv --rater ann --rater bob --scale ordinal"),
    "no numbers": (text(RATINGS), "agree a.csv --rater ann --rater bob --scale interval"),
    "below zero": (text(NUMBERS), "agree a.csv --rater ann --rater bob --scale ratio"),
    "weights without order": (text(RATINGS), "agree a.csv --rater ann --rater bob --weights linear"),
    "categories": (text(RATINGS), "agree a.csv --rater ann --rater bob --categories a"),
    "counts": (text("a,b\n1,2\n2,1\n"), "agree a.csv --counts a*"),
    "square": (text("a,b\n1,2\n2,1\n"), "agree a.csv --level 2"),
    "no judge": (text(VERDICTS), "judge a.csv --human ann"),
    "no human": (text(VERDICTS), "judge a.csv --judge bot"),
    "swap": (text(VERDICTS), "judge a.csv --human ann --judge bot --swapped other --swap A"),
    "swapped": (
        text(VERDICTS),
        "judge a.csv --human ann --judge bot --swapped other --swapped ann",
    ),
    "kind of classes": (text(CLASSES), "evaluate a.csv --classes p_* --kind score"),
    "sums of classes": (text(CLASSES), "evaluate a.csv --classes p_*"),
    "positive of classes": (text(CLASSES), "evaluate a.csv --classes p_* --positive a"),
    "score of classes": (text(CLASSES), "evaluate a.csv --classes p_* --score p_a"),
    "confidence": (text(CLASSES), "evaluate a.csv --classes p_* --confidence sure"),
    "confidence alone": (text(GOOD), "evaluate a.csv --confidence margin"),
    "no pattern": (text(CLASSES), "evaluate a.csv --classes p_"),
    "windows": (text(GOOD), "drift a.csv --time y --windows 1"),
    "windows and every": (text(GOOD), "drift a.csv --time y --windows 3 --every month"),
    "every without time": (text(GOOD), "drift a.csv --every month"),
    "current": (text(GOOD), "drift a.csv"),
    "labels and time": (text(GOOD), "drift a.csv --time y --labels reference"),
    "midpoint of drift": (text(GOOD), "drift a.csv a.csv --midpoint crossing"),
    "midpoint": (text(GOOD), "smroc a.csv --midpoint middle"),
    "midpoint learned": (text(GOOD), "smroc a.csv --midpoint 0.5 --learn a.csv"),
    "logits": (text("y,p\n1,3\n0,-2\n"), "smroc a.csv --label y --score p"),
    "missing answer": (text(QUESTIONS), "answers a.csv --gold gold --predicted said"),
    "quality": (text(QUESTIONS), "answers a.csv --quality good --confidence sure"),
    "decisions": (text(GOOD), "raters a.csv --decision y --score p"),
    "method": (text("y,p\n1,3\n0,-2\n1,-1\n0,2\n"), "calibrate fit a.csv --method beta -o m.json"),
    "classes and score": (
        text(CLASSES),
        "calibrate fit a.csv --classes p_* --score p_a -o m.json",
    ),
}  # fmt: skip


def python(asked: list[str]) -> tuple[object, list[str], dict[str, object]]:
    """The verb, its arguments and its options of a command line."""
    name = " ".join(asked[:2]) if asked[0] == "calibrate" else asked[0]
    command, words = COMMANDS[name], asked[len(name.split()) :]
    options, files = {}, []
    named = {flag(option): option for option in OPTIONS if option not in ("scores", "raters")}
    if name == "raters":
        named["--score"] = "scores"
    if name == "agree":
        named["--rater"] = "raters"
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            files.append(word)
        elif word == "-o":
            words.pop(0)
        else:
            key, value = named[word], words.pop(0)
            options.setdefault(key, []).append(
                OPTIONS[key].read(value) if OPTIONS[key].read else value
            )
    several = ("raters", "humans", "judges", "swapped", "decisions", "scores")
    given = {k: v if k in several or len(v) > 1 else v[0] for k, v in options.items()}
    numbers = ("level", "threshold", "clip")
    given |= {k: float(v) for k, v in given.items() if k in numbers}
    given |= {k: int(v) for k, v in given.items() if k in ("seed", "windows", "top")}
    joined = files if name == "drift" else [files[0] if len(files) == 1 else files]
    return resolve_name(command.verb), joined, given


EVERY = {
    **{name: (make, f"evaluate {asked}") for name, (make, asked) in CASES.items()},
    **FURTHER,
}


@pytest.mark.filterwarnings("ignore:.*not named")
@pytest.mark.parametrize("name", [n for n in EVERY if n not in OUTPUTS | IN_WORDS_OF_TYPER])
def test_each_reader_gets_advice_in_its_own_words(name, tmp_path, monkeypatch, capsys):
    prepare, asked = EVERY[name]
    monkeypatch.chdir(tmp_path)
    prepare()
    assert run(shlex.split(asked.replace("*", "\\*"))) == 2
    said = capsys.readouterr().err
    assert not PYTHON.search(said), said
    verb, files, options = python(shlex.split(asked.replace("*", "\\*")))
    with pytest.raises(BadInput) as refused:
        verb(*files, **options).document()
    assert not COMMAND_LINE.search(str(refused.value)), refused.value


def test_words_of_the_data_stay_as_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    column = 'missing="drop" score=1'
    Path("a.csv").write_text('y,"missing=""drop"" score=1"\n1,0.9\n0,\n')
    assert run(["evaluate", "a.csv", "--label", "y", "--score", column]) == 2
    assert f"{column} is missing in 1 row" in (said := capsys.readouterr().err)
    assert said.endswith("or pass --missing drop\n")
    with pytest.raises(BadInput) as refused:
        sw.evaluate("a.csv", label="y", score=column)
    assert f"{column} is missing in 1 row" in str(refused.value)
    assert str(refused.value).endswith('or pass missing="drop"')


def test_an_option_is_spelled_for_python_and_for_the_command_line():
    error = BadInput(Setting("no_answer"), " or ", Option("ignore", "no idea"), " or score=1")
    assert str(error) == 'no_answer or ignore="no idea" or score=1'
    assert refusal(error) == "--no-answer or --ignore 'no idea' or score=1"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), refusal(again)) == (str(error), refusal(error))


def test_settings_are_refused_by_their_names(capsys):
    assert run(["evaluate", "absent.csv", "--level", "95"]) == 2
    assert "--level must lie between 0 and 1" in capsys.readouterr().err
    with pytest.raises(BadInput, match=r"^level must lie between 0 and 1"):
        agree([[1, 2], [2, 1]], level=95)


def test_no_sentence_has_an_option_in_its_text():
    """Options are fields; calls such as f(y, label=...) are shown to those who call from Python."""
    words = re.compile(rf"\b(?:{'|'.join(OPTIONS)})=(?![=.\[])")
    found = []
    for file in sorted(Path(sw.__file__).parent.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        shown = {s for n in nodes if getattr(n, "name", "") == "__repr__" for s in ast.walk(n)}
        said = {s for n in nodes if isinstance(n, SAYING) for s in ast.walk(n)} - shown
        texts = [n.value for n in said if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        texts = [text for text in texts if "<" not in text and '="' not in text]  # HTML and SVG
        found += [(file.name, text) for text in texts if words.search(text)]
    assert not found


def numbers():
    """Every option that takes a number, with a command that has it."""
    for command, known in COMMANDS.items():
        hints = {**signature(known.verb).parameters, **signature(GATE).parameters}
        own = [
            n for n in inspect.signature(known.function()).parameters if n in hints and n in OPTIONS
        ]
        for name in (n for n in own if OPTIONS[n].read is None):
            if {int, float} & set(_parts(hints[name].annotation)):
                yield command, name


@pytest.mark.parametrize(("command", "name"), list(numbers()))
def test_what_is_no_number_is_refused_with_one_that_is(command, name, tmp_path, capsys):
    files, rows = COMMANDS[command].arguments(), tmp_path / "rows.csv"
    rows.write_text("y,p\n0,0.1\n1,0.9\n")
    out = (
        ["-o", str(tmp_path / "out.json")]
        if "out" in signature(COMMANDS[command].verb).parameters
        else []
    )
    assert run([*command.split(), *[str(rows) for _ in files], *out, flag(name), "x"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"scorewise: {flag(name)} must ")
    assert err.endswith("; got x\n")
    example = re.search(r"(?:such as|to) ([\d.e-]+)", err)[1].rstrip(".")
    value = float(example) if re.search("[.e]", example) else int(example)
    if name in RULES:
        check(**{name: value})

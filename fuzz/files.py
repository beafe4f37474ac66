"""Files, whole and damaged, through the command line: the same result, or one sentence and exit code 2."""

import gzip
import io
import json
import re
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl

from fuzz.case import rust_apart
from scorewise import Recalibrator
from scorewise.cli import run

FORMS = ("csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "arrow")
ESCAPES = "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b[31mred", "\x9b31m", "a\u202eb"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def words(case, *usual):
    """Names of classes: plain, with letters that encodings differ in, or hostile."""
    k = len(usual)
    return case.one(usual, usual, ("été", "ètè", "où", "ça")[:k], ("a,b", 'c"d', "e f", "g;h")[:k],
                    (case.one(*ESCAPES), "plain", "x", "=1+1")[:k])  # fmt: skip


def scores(case, n):
    found = case.rng.integers(1, 64, n) / 64
    if case.chance(0.2):  # whole numbers until late
        found[: n - 5] = case.rng.integers(0, 2, n - 5)
    return found


def binary(case, n):
    y = np.array(words(case, "no", "yes"))[case.rng.integers(0, 2, n)]
    return {"y": y.tolist(), "p": scores(case, n).tolist()}, ["--label", "y", "--score", "p"]


def others(case, n):
    """Columns that nobody asks for, and that have to stay as they are; one begins late."""
    words = ("NA", "null", "x y", "é", "1e5", "true", "-0", "a'b")
    return {
        "id": [f"{i:05d}" for i in range(n)],
        "note": [case.one(*words) for _ in range(n)],
        "late": [None] * (n - 2) + ["a", "b"],
    }


def evaluate(case, n):
    table, args = binary(case, n)
    return [table | others(case, n)], ["evaluate", "{}", *args, "--positive", table["y"][0]]


def evaluate_classes(case, n):
    names = words(case, "cat", "dog", "emu")
    p = case.rng.integers(1, 30, (n, 3)).astype(float)
    p = np.round(64 * p / p.sum(1, keepdims=True)) / 64
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    columns = {f"p{k}": p[:, k].tolist() for k in range(3)}
    y = np.array(names)[case.rng.integers(0, 3, n)].tolist()
    if any(set(',="') & set(name) for name in names):
        names, y = (
            ("cat", "dog", "emu"),
            np.array(["cat", "dog", "emu"])[case.rng.integers(0, 3, n)].tolist(),
        )
    spec = ",".join(f"{name}=p{k}" for k, name in enumerate(names))
    return [{"y": y, **columns}], ["evaluate", "{}", "--label", "y", "--classes", spec]


def agree(case, n):
    names = np.array(words(case, "low", "mid", "high"))
    said = names[case.rng.integers(0, 3, (3, n))]
    table = {f"r{k}": said[k].tolist() for k in range(3)}
    return [table], ["agree", "{}", *[a for c in table for a in ("--rater", c)]]


def judge(case, n):
    names = np.array(words(case, "A", "B"))
    said = names[case.rng.integers(0, 2, (3, n))]
    table = {c: said[k].tolist() for k, c in enumerate(("ann", "bob", "gpt"))}
    return [table], [
        "judge",
        "{}",
        "--human",
        "ann",
        "--human",
        "bob",
        "--judge",
        "gpt",
        "--replicates",
        "60",
    ]


def answers(case, n):
    gold = case.rng.choice(["été 1914", "ètè", "Paris", "a b c", "12"], n)
    told = np.where(case.rng.random(n) < 0.5, gold, case.rng.choice(["x", "Paris", "ètè"], n))
    group = case.one("g", case.one(*ESCAPES) + "g")
    table = {"gold": gold.tolist(), "said": told.tolist(), "conf": scores(case, n).tolist(),
             group: [str(case.one("u", "v")) for _ in range(n)]}  # fmt: skip
    args = [
        "answers",
        "{}",
        "--gold",
        "gold",
        "--predicted",
        "said",
        "--confidence",
        "conf",
        "--by",
        group,
    ]
    return [table], args


def drift(case, n):
    first, args = binary(case, n)
    names = sorted(set(first["y"]))
    second = {"y": [str(case.one(*names)) for _ in range(n)], "p": scores(case, n).tolist()}
    return [first, second], [
        "drift",
        "{}",
        "{}",
        *args,
        "--positive",
        names[0],
        "--replicates",
        "99",
    ]


def inspect(case, n):
    table, args = binary(case, n)
    return [table | others(case, n)], ["inspect", "{}", *args, "--id", "id"]


def smroc(case, n):
    table, args = binary(case, n)
    return [table], ["smroc", "{}", *args, *case.one([], ["--segments", "{out}/s.csv"])]


def fit(case, n):
    table, args = binary(case, n)
    method = case.one("platt", "isotonic", "beta", "auto")
    return [table | others(case, n)], [
        "calibrate",
        "fit",
        "{}",
        *args,
        "--method",
        method,
        "-o",
        "{out}/map.json",
    ]


def apply(case, n):
    table = {"p": scores(case, n).tolist()} | others(case, n)
    end = case.one("csv", "parquet")
    return [table], ["calibrate", "apply", "{map}", "{}", "--score", "p", "-o", f"{{out}}/a.{end}"]


COMMANDS = (evaluate, evaluate_classes, agree, judge, answers, drift, inspect, smroc, fit, apply)


@cache
def stored_map():
    folder = Path(tempfile.mkdtemp(prefix="scorewise-fuzz-"))
    rng = np.random.default_rng(0)
    p = rng.random(200)
    Recalibrator("platt").fit(p, rng.random(200) < p).save(folder / "map.json")
    return folder / "map.json"


# writing tables


def whole(x):
    """A number as most programs write it."""
    return int(x) if isinstance(x, float) and x.is_integer() else x


def csv_of(table, *, separator=",", quote_all=False, end="\n", last=True):
    def cell(x):
        word = "" if x is None else str(whole(x))
        special = (
            quote_all
            or any(c in word for c in f'"\n\r{separator}')
            or word != word.strip()
            or not word
        )
        return '"' + word.replace('"', '""') + '"' if special else word

    rows = [list(table), *zip(*table.values(), strict=True)]
    return end.join(separator.join(map(cell, row)) for row in rows) + (end if last else "")


def jsonl_of(table, *, end="\n", ascii_only=False):
    rows = [
        {k: whole(x) for k, x in zip(table, row, strict=True) if x is not None}
        for row in zip(*table.values(), strict=True)
    ]
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + end for row in rows)


def written(table, form):
    plain = form.removesuffix(".gz")
    if plain in ("parquet", "arrow"):
        to = io.BytesIO()
        frame = pl.DataFrame(table)
        frame.write_parquet(to) if plain == "parquet" else frame.write_ipc(to)
        return to.getvalue()
    data = (csv_of if plain == "csv" else jsonl_of)(table).encode()
    return gzip.compress(data) if form.endswith(".gz") else data


def rewritten(case, table, form):
    """The same table, written as another program would: the result has to be the same, or a sentence."""
    plain = form.removesuffix(".gz")
    if plain in ("parquet", "arrow"):
        to, frame = io.BytesIO(), pl.DataFrame(table)
        if plain == "parquet":
            pressed = case.one("zstd", "snappy", "uncompressed")
            frame.write_parquet(to, compression=pressed, row_group_size=3)
        else:
            case.one(frame.write_ipc, frame.write_ipc_stream)(to)
        return plain, to.getvalue()
    how = case.one(*(AS_CSV if plain == "csv" else AS_JSONL), "bom", "blank end", *CODES)
    options = (AS_CSV if plain == "csv" else AS_JSONL).get(how, {})
    text = (csv_of if plain == "csv" else jsonl_of)(table, **options)
    text += case.one("\n", "\r\n", "\n\n\n") if how == "blank end" else ""
    try:
        data = text.encode(how if how in CODES else "utf-8-sig" if how == "bom" else "utf-8")
    except UnicodeEncodeError:
        data = text.encode()
    return f"{plain} {how}", gzip.compress(data) if form.endswith(".gz") else data


AS_CSV = {"quotes": {"quote_all": True}, "semicolon": {"separator": ";"}, "tab": {"separator": "\t"},
          "no end": {"last": False}, "crlf": {"end": "\r\n"}}  # fmt: skip
AS_JSONL = {"crlf": {"end": "\r\n"}, "escapes": {"ascii_only": True}}
CODES = ("latin-1", "utf-16", "cp1252")
FOREIGN = (b"\0", b'"', b"\n", b"\xff\xfe", b"\r", b",,,", b"{", b"\x1b[2J", b"\n\n\n")
NOTHING = (b"", b"\n", b"\n\n", b"\xef\xbb\xbf", b"{}", b"[]", b"y,p\n", b"null")
FIELDS = ("9" * 10**5 + ".", "nan", "1e400", "-inf", "0x1", "0,", "\u0661.", "1_0.")
HEADS = ("", " ", "p", "y", "=1", ESCAPES[0], "a\nb", "é" * 300)
VALUES = ('{"p": 1, "p": 2}', '{"p": NaN}', '{"p": "\\ud800"}', "[1, 2]", '{"p": {"a": 1}}', '{"p": 1e999}',
          '{"q": 1}', "7")  # fmt: skip


def bytes_damaged(case, data, how):
    """Bytes with something wrong, whatever they mean."""
    found, at = bytearray(data), int(case.rng.integers(0, len(data)))
    if how == "flip":
        for place in case.rng.integers(0, len(data), int(case.one(1, 3, 20))):
            found[place] ^= 1 << int(case.rng.integers(0, 8))
        return bytes(found)
    return {
        "cut": data[:at],
        "insert": data[:at] + case.one(*FOREIGN) + data[at:],
        "repeat": data + data,
        "random": case.rng.bytes(int(case.one(1, 50, 4000))),
        "empty": case.one(*NOTHING),
        "swap": data,
    }[how]


def text_damaged(case, table, plain, how):
    """Lines of csv or JSON of which one is wrong."""
    lines = (csv_of if plain == "csv" else jsonl_of)(table).split("\n")
    k = int(case.rng.integers(1, max(2, len(lines) - 1)))
    line, names, deep = lines[k], list(table), int(case.one(50, 2000, 10**5))
    if how == "field":
        lines[k] = line.replace("0.", case.one(*FIELDS), 1)
    elif how == "header" and plain == "csv":
        few = ",".join(names[:1] * len(names)), "," * len(names)
        lines[0] = case.one(",".join(names * 2), *few, '"' + lines[0], f"{lines[0]},{'x' * 10**5}")
    elif how == "deep" and plain == "jsonl":
        nested = '{"p": ' + "[" * deep + "]" * deep + "}", '{"p":' * deep + "1" + "}" * deep
        lines[k] = case.one(*nested, *VALUES)
    else:
        other = line.replace('"', "'"), line + ",7", line[:3], line + "\0", "#" + line
        lines[k] = case.one(*other, '"' * 3, "x" * 10**6, '"open', "\u2028", "")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def damaged(case, data, form, table):
    """The file with something wrong: what, under which extension, and its bytes."""
    ways = "flip flip cut insert repeat random empty swap name field header text deep"
    how = case.one(*ways.split())
    plain = form.removesuffix(".gz")
    if how == "name":
        table = {case.one(*HEADS): [1.0] * len(next(iter(table.values())))} | table
        return how, form, written(table, form)
    if how in ("field", "header", "text", "deep") and plain in ("csv", "jsonl"):
        found = text_damaged(case, table, plain, how)
        return how, form, gzip.compress(found) if form.endswith(".gz") else found
    how = how if how in ("cut", "insert", "repeat", "random", "empty", "swap") else "flip"
    return how, case.one(*FORMS) if how == "swap" else form, bytes_damaged(case, data, how)


# running commands


class Told:
    """What a command left behind."""

    def __init__(self, args, folder):
        self.before = set(folder.iterdir())
        out, err = io.StringIO(), io.StringIO()
        out.isatty = err.isatty = lambda: False
        with (
            rust_apart() as panic,
            redirect_stdout(out),
            redirect_stderr(err),
            warnings.catch_warnings(record=True) as self.warned,
        ):
            warnings.simplefilter("always")
            self.code = run(args)
        self.panic = panic.read()
        self.out, self.err = out.getvalue(), err.getvalue()
        self.made = {f.name: f.read_bytes() for f in folder.iterdir() if f not in self.before}


def looked_at(case, what, args, folder):
    """The command's exit code, words and files, each as it has to be."""
    told, name = Told(args, folder), args[0]
    lines = told.err.splitlines() or [""]
    rest = [x for x in lines[:-1] if not x.startswith("note: ")]
    sentence = not rest and lines[-1].startswith("scorewise: ") and not told.out
    seen = told.out.replace("\n", "") + told.err.replace("\n", "")
    texts = [f for f in told.made if f.endswith((".json", ".md"))]
    for wrong, why, detail in (
        (told.code not in (0, 2), f"exit {told.code}", told.err),
        (told.warned, "a warning", [str(w.message) for w in told.warned]),
        (told.panic.strip(), "something is written past sys.stderr", told.panic[:500]),
        (told.code == 2 and not sentence, "not refused in one sentence", told.err + told.out[:200]),
        (told.code == 2 and told.made, "refused, but wrote", sorted(told.made)),
        (CONTROL.search(seen), "control codes in the terminal", CONTROL.findall(seen)),
        (any(CONTROL.search(told.made[f].decode().replace("\n", "")) for f in texts),
         "control codes in a file", texts),
        (any(f.endswith(".part") for f in told.made), "leaves a part of a file", sorted(told.made)),
    ):  # fmt: skip
        if wrong:
            case.wrong(f"{name}: {why}", f"{what} {detail!r}")
    return told


def document(case, told, args):
    """The JSON document without the names of files."""
    for name in ("out.json", "map.json"):
        if name in told.made:

            def refuse(x):
                raise ValueError(x)

            try:
                doc = json.loads(told.made[name], parse_constant=refuse)
            except ValueError as e:
                case.wrong(f"{args[0]}: no JSON", e)
                return None
            text = re.sub(
                r"(?<![^\s\"'])[^\s\"']*\b[ab]\.(csv|jsonl|parquet|arrow)(\.gz)?",
                "FILE",
                json.dumps(doc),
            )
            return re.sub(r'"sha256": "[0-9a-f]*"', "", text)
    return None


def asked(command, args, files, folder):
    places = iter(files)
    made = [
        a.replace("{}", str(next(places)))
        if a == "{}"
        else a.replace("{out}", str(folder)).replace("{map}", str(stored_map()))
        for a in args
    ]
    return (
        made
        if command is apply
        else [*made, "--json", f"{folder}/out.json", "--md", f"{folder}/out.md"]
    )


def judged(case, command, args, tables, form, datas, what):
    """One run in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="scorewise-fuzz-") as name:
        folder = Path(name)
        files = [folder / f"{letter}.{form}" for letter in "ab"[: len(datas)]]
        for file, data in zip(files, datas, strict=True):
            file.write_bytes(data)
        told = looked_at(case, what, asked(command, args, files, folder), folder)
        if [f.read_bytes() for f in files] != datas:
            case.wrong(f"{command.__name__}: changes its input", what)
        return told


def kept(case, told, table, what):
    """Whether `calibrate apply` left all rows and other columns as they were."""
    ((name, data),) = told.made.items()
    read = pl.read_parquet if name.endswith("parquet") else partial(pl.read_csv, infer_schema=False)
    found = read(io.BytesIO(data))
    expected = Recalibrator.load(stored_map()).transform(table["p"])
    if "p_calibrated" not in found.columns or found.height != len(expected):
        case.wrong("apply: other rows", f"{what} {found.columns} {found.height}")
        return
    if not np.allclose(found["p_calibrated"].cast(pl.Float64).to_numpy(), expected, rtol=1e-12):
        case.wrong("apply: other probabilities", what)
    for column in ("id", "note", "late"):
        values = found[column].cast(pl.String).to_list() if column in found.columns else None
        if values is None or [x or None for x in values] != table[column]:
            case.wrong("apply: another column changed", f"{what} {column}: {(values or [])[:5]}")


def files(case):
    """One case of files."""
    command = case.one(*COMMANDS)
    tables, args = command(case, int(case.one(8, 20, 120)))
    form = case.one(*FORMS)
    name = command.__name__
    datas = [written(t, form) for t in tables]
    case.covered[name] += 1
    if case.chance(0.45):
        how, bad_form, data = damaged(case, datas[0], form, tables[0])
        what = f"{name} of {form}, {how} as {bad_form}"
        case.inputs = {"args": args, "what": what, "data": data[:2000]}
        told = judged(
            case,
            command,
            args,
            tables,
            bad_form,
            [data, *(written(t, bad_form) for t in tables[1:])],
            what,
        )
        return document(case, told, args)
    how, data = rewritten(case, tables[0], form)
    what = f"{name} of {form}, written as {how}"
    case.inputs = {"args": args, "what": what, "data": data[:3000]}
    told = judged(case, command, args, tables, form, [data, *datas[1:]], what)
    if told.code:
        return None
    if command is apply:
        return kept(case, told, tables[0], what)
    clean = judged(
        case,
        command,
        args,
        tables,
        "parquet",
        [written(t, "parquet") for t in tables],
        f"{name}, clean",
    )
    found, expected = document(case, told, args), document(case, clean, args)
    if found != expected:
        k = next(
            (k for k, (a, b) in enumerate(zip(found, expected or "", strict=False)) if a != b), 0
        )
        case.wrong(
            f"{name}: another result",
            f"{what}: {found[k - 60 : k + 90]!r}, expected {(expected or '')[k - 60 : k + 90]!r}",
        )
    return None

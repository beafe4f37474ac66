"""From what the user wrote to the files that are meant."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from scorewise.errors import BadInput


class Format(NamedTuple):
    """A kind of file: what its names end in, and "module:function" that opens it as a `Table`.

    Text may be packed (.gz) and in any encoding; the function is given it in UTF-8.
    """

    endings: tuple[str, ...]
    opener: str
    text: bool = False


FORMATS = {
    "csv": Format((".csv", ".tsv"), "scorewise.columns.csv_files:open_csv", text=True),
    "jsonl": Format((".jsonl", ".ndjson"), "scorewise.columns.formats:open_jsonl", text=True),
    "json": Format((".json",), "scorewise.columns.formats:open_json", text=True),
    "parquet": Format((".parquet", ".pq"), "scorewise.columns.formats:open_parquet"),
    "arrow": Format((".arrow", ".feather", ".ipc"), "scorewise.columns.formats:open_arrow"),
}
STDIN = "-"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_MOST_FOLDERS = 100_000


def expand(sources: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files that paths and globs name, in order, each once; `-` stands for standard input.

    A folder is read where its folders stand for columns (site=north), as Hive and Spark write them.
    """
    found: list[Path] = []
    for source in sources:
        text = os.fspath(source)
        if "\0" in text:
            raise BadInput(f"there is no file {text!r}: no name has a zero byte")
        if text == STDIN:
            found.append(Path(text))
            continue
        path = Path(os.path.expanduser(text))  # noqa: PTH111 (leaves the name of nobody as it is)
        if os.path.isdir(path):  # noqa: PTH112 (bears names too long, as do those below)
            found.extend(_partitioned(text, path))
            continue
        if os.path.exists(path):  # noqa: PTH110
            found.append(path)
        elif glob.has_magic(text):
            files = [Path(m) for m in matches(str(path)) if not Path(m).is_dir()]
            if not files:
                raise BadInput(f"no file matches {text}; check the folder and the pattern")
            found.extend(files)
        else:
            raise BadInput(no_file(text, path))
    if not found:
        raise BadInput("no files were given; pass at least one")
    _each_once(found)
    return found


def matches(pattern: str) -> list[str]:
    """What a pattern matches, sorted; `**` is any folders, each entered once, whatever links lead to it."""
    parts = Path(pattern).parts
    if "**" not in parts:
        return sorted(glob.glob(pattern))  # noqa: PTH207 (absolute patterns)
    at = parts.index("**")
    rest = list(dropwhile(lambda part: part == "**", parts[at:])) or ["*"]
    above = matches(str(Path(*parts[:at]))) if at else ["."]
    inside = _folders([Path(folder) for folder in above if Path(folder).is_dir()], pattern)
    return sorted({m for f in inside for m in matches(str(Path(glob.escape(str(f)), *rest)))})


def _folders(above: Sequence[Path], pattern: str) -> list[Path]:
    """These folders and all below them; links are followed last, so that a folder goes by its own name."""
    found: dict[Any, Path] = {}
    own, linked = deque(above), deque[Path]()
    while own or linked:
        folder = (own or linked).popleft()
        if found.setdefault(_identity(folder), folder) is not folder:
            continue
        if len(found) > _MOST_FOLDERS:
            raise BadInput(
                f"{pattern} stands for more than {_MOST_FOLDERS:,} folders; begin it further down"
            )
        for path in sorted(_inside(folder)):
            if not path.name.startswith(".") and os.path.isdir(path):  # noqa: PTH112 (bears loops)
                (linked if path.is_symlink() else own).append(path)
    return list(found.values())


def partitions(path: Path) -> dict[str, str | None]:
    """The columns that the folders of a path stand for, as Hive and Spark name them.

    >>> partitions(Path("scores/year=2026/site=St.%20Anne/part-0.parquet"))
    {'year': '2026', 'site': 'St. Anne'}
    """
    pairs = (part.partition("=") for part in path.parts[:-1])
    found = {unquote(name): unquote(value) for name, equals, value in pairs if name and equals}
    return {name: None if value == _NO_VALUE else value for name, value in found.items()}


def _partitioned(text: str, folder: Path) -> list[Path]:
    """The files of a folder whose folders stand for columns (site=north); any other folder is refused."""
    if not any("=" in p.name and os.path.isdir(p) for p in _inside(folder)):  # noqa: PTH112
        known = [e for p in _inside(folder) if (e := p.suffix.lower()) in endings()]
        if not known:
            raise BadInput(
                f"{text} is a folder without files of a known format; pass files instead"
            )
        pattern = f"{text.rstrip('/')}/*{max(sorted({*known}), key=known.count)}"
        raise BadInput(f"{text} is a folder; pass its files, such as '{pattern}'")
    inside = (p for f in _folders([folder], text) for p in _inside(f))
    files = sorted(p for p in inside if p.is_file() and not p.name.startswith((".", "_")))
    kinds = {p.name.removesuffix(".gz").rpartition(".")[2] for p in files}
    if not files or len(kinds) > 1:
        what = "no files" if not files else f"files of several kinds ({', '.join(sorted(kinds))})"
        raise BadInput(
            f"{text} has {what}; pass a pattern such as '{text.rstrip('/')}/**/*.parquet'"
        )
    return files


class Source(str):
    """What to call a file, with the path that it was read from."""

    __slots__ = ("path",)
    path: str


def names_of(paths: Sequence[Path]) -> list[Source]:
    """What to call the files: their names, with folders only where names alone are ambiguous.

    >>> names_of([Path("a/day1.csv"), Path("b/day2.csv")])
    ['day1.csv', 'day2.csv']
    >>> names_of([Path("x/a/part.csv"), Path("x/b/part.csv")])
    ['a/part.csv', 'b/part.csv']
    """
    names = ["standard input" if str(p) == STDIN else _shown(p.name) for p in paths]
    if len(set(names)) < len(names):
        whole = [p.absolute() for p in paths]
        base = os.path.commonpath([p.parent for p in whole])
        names = [
            name if name == "standard input" else _shown(Path(os.path.relpath(p, base)).as_posix())
            for name, p in zip(names, whole, strict=True)
        ]
    sources = [Source(name) for name in names]
    for source, path in zip(sources, paths, strict=True):
        source.path = str(path)
    return sources


def _shown(name: str) -> str:
    """A name fit for any output, also when its bytes are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def endings() -> dict[str, str]:
    """The format of each ending.

    >>> endings()[".tsv"]
    'csv'
    """
    return {ending: name for name, known in FORMATS.items() for ending in known.endings}


def format_of(path: Path) -> tuple[str, bool]:
    """The format that a file's extension says, and whether it is compressed.

    >>> format_of(Path("day1.csv.gz")), format_of(Path("DAY1.PARQUET"))
    (('csv', True), ('parquet', False))
    """
    name = path.name.lower()
    packed = name.endswith(".gz")
    by_ending = endings()
    known = by_ending.get(Path(name.removesuffix(".gz")).suffix)
    if name.endswith(".tally"):
        # by its name: no column knows of tallies
        raise import_module("scorewise.tallies.merging").rows_needed(path)
    if known is None or (packed and not FORMATS[known].text):
        raise BadInput(
            f"{path.name} has no extension known here; known are {', '.join(by_ending)}, "
            f"and .gz after those of text"
        )
    return known, packed


def sniff(data: bytes) -> str:
    """The format that the first bytes tell.

    >>> sniff(b'{"y": 1}'), sniff(b'[{"y": 1}]'), sniff(b"y,p"), sniff(b"PAR1...")
    ('jsonl', 'json', 'csv', 'parquet')
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if re.match(rb'\[|{\s*"data"\s*:\s*\[', text):
        return "json"
    return "jsonl" if text.startswith(b"{") else "csv"


def _each_once(paths: Sequence[Path]) -> None:
    seen: dict[Any, Path] = {}
    for path in paths:
        key = STDIN if str(path) == STDIN else _identity(path)
        first = seen.setdefault(key, path)
        if first is not path:
            same = f"is {first} under another name" if first != path else "is given twice"
            raise BadInput(f"{path} {same}; its rows would count twice")


def _identity(path: Path) -> Any:
    """What tells a file from others, whatever links lead to it."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino) if found.st_ino else os.path.realpath(path)


def no_file(text: str, path: Path) -> str:
    """That there is no such file, and which one beside it has a similar name."""
    if os.path.islink(path):  # noqa: PTH114
        return f"{text} is a link to nothing; pass the file itself"
    near = difflib.get_close_matches(path.name, [p.name for p in _inside(path.parent)], 1, 0.75)
    return f"there is no file {text}" + (f"; did you mean {near[0]}?" if near else "")


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []

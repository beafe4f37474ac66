"""Text as UTF-8, whatever encoding it was saved in, packed or not."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from encodings.aliases import aliases
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias

from scorewise.errors import BadInput, Option


class Copy:
    """A temporary file without a name, which is gone when nobody needs it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as it is needed)
        self.file.writelines(chunks)
        self.file.flush()

    def __del__(self) -> None:
        self.file.close()


Source: TypeAlias = Path | bytes | Copy

IN_MEMORY = 1 << 26  # bytes of a copy that memory holds; beyond, it is a temporary file
RATIO, LARGE = 200, 1 << 28  # packed text may grow by this much, and to these bytes in any case
_CHUNK = 1 << 20
_HEAD = 1 << 16
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins as the mark of UTF-16 does
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def check_encoding(encoding: str | None) -> None:
    """Refuse an encoding that is not known.

    >>> check_encoding("latn-1")
    Traceback (most recent call last):
    scorewise.errors.BadInput: encoding="latn-1" is not known; did you mean latin-1 or latin10?
    """
    if encoding is None or (isinstance(encoding, str) and _is_text(encoding)):
        return
    known = sorted({alias.replace("_", "-") for alias in (*aliases, *aliases.values())})
    asked = str(encoding).lower().replace("_", "-")
    near = [name for name in difflib.get_close_matches(asked, known) if _is_text(name)]
    each = {codecs.lookup(name).name: name for name in reversed(near)}  # they have several names
    way = (
        f"did you mean {' or '.join(reversed(each.values()))}?"
        if near
        else "latin-1 is, for example"
    )
    raise BadInput(Option("encoding", encoding), f" is not known; {way}")


def _is_text(encoding: str) -> bool:
    with suppress(LookupError, ValueError):
        if codecs.lookup(encoding)._is_text_encoding:
            # that of host names (idna) cannot mark what is wrong
            codecs.getincrementaldecoder(encoding)("replace").decode(b"")
            return True
    return False


def as_utf8(
    source: Source, name: str, form: str, *, packed: bool = False, encoding: str | None = None
) -> Source:
    """The text of a source in UTF-8: the source itself where it may be that, else a copy.

    The mark at the beginning of a file tells its encoding, else `encoding` does. Text that is taken for
    UTF-8 is not looked at here; `broken` tells what is wrong where a reader does not take it.
    """

    def chunks() -> Iterator[bytes]:
        return _unpacked(source, name) if packed else _chunks(source)

    head = next(chunks(), b"")
    marked = next((codec for mark, codec in _MARKS.items() if head.startswith(mark)), None)
    codec = marked or encoding or "utf-8"
    # csv is read with its mark
    if codecs.lookup(codec).name == "utf-8" or (codec == "utf-8-sig" and form == "csv"):
        return copied(chunks()) if packed else source
    try:
        return copied(text.encode() for text in codecs.iterdecode(chunks(), codec))
    except UnicodeError:  # also of a lone surrogate, which no text has
        raise (_broken(chunks, name, form, codec) or _not(name, codec)) from None


def broken(source: Source, name: str, form: str) -> BadInput | None:
    r"""An error about the first byte that is not UTF-8; None where all of them are.

    >>> print(broken("y,p\nété,1\n".encode("latin-1"), "x.csv", "csv"))  # doctest: +ELLIPSIS
    x.csv is not text in UTF-8: byte 0xe9 in row 1 (byte 5); pass encoding="latin-1" if ...
    """
    return _broken(lambda: _chunks(source), name, form, "utf-8")


@contextmanager
def stream(source: Source) -> Iterator[BinaryIO]:
    """An open file: polars takes brackets in a path for a glob, and refuses names not in UTF-8."""
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        source.file.seek(0)
        yield source.file


def start_of(source: Source, size: int = _HEAD) -> bytes:
    """The first bytes."""
    with stream(source) as file:
        return file.read(size)


def end_of(source: Source) -> bytes:
    """The last bytes."""
    with stream(source) as file:
        file.seek(max(0, file.seek(0, io.SEEK_END) - _HEAD))
        return file.read()


def _chunks(source: Source) -> Iterator[bytes]:
    with stream(source) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _unpacked(source: Source, name: str) -> Iterator[bytes]:
    with stream(source) as raw:
        size, made = raw.seek(0, io.SEEK_END), 0
        raw.seek(0)
        file = gzip.GzipFile(fileobj=raw)
        while True:
            try:
                chunk = file.read(_CHUNK)
            except (gzip.BadGzipFile, EOFError, zlib.error):
                raise BadInput(
                    f"{name} cannot be read as gzip; it is damaged or cut short"
                ) from None
            if not chunk:
                return
            made += len(chunk)
            if made > max(LARGE, RATIO * size):
                raise BadInput(
                    f"{name} holds more than {RATIO} times its {size:,} bytes, as files made to fill the "
                    f"memory do; if that is right, unpack it first"
                )
            yield chunk


def copied(chunks: Iterable[bytes]) -> Source:
    """The chunks in memory, or in a file without a name if there are many."""
    rest, held, size = iter(chunks), [], 0
    for chunk in rest:
        held.append(chunk)
        size += len(chunk)
        if size > IN_MEMORY:
            return Copy(chain(held, rest))
    return b"".join(held)


def _broken(
    chunks: Callable[[], Iterator[bytes]], name: str, form: str, codec: str
) -> BadInput | None:
    decoder, before = codecs.getincrementaldecoder(codec)(), 0
    for chunk in chain(chunks(), (b"",)):
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as problem:
            at = before - kept + problem.start
            byte = f"byte 0x{problem.object[problem.start]:02x}"
            return _not(
                name, codec, f": {byte} {_where(chunks(), form, codec, at)} (byte {at + 1:,})"
            )
        except UnicodeError:
            return _not(name, codec)
        before += len(chunk)
    return None


def _not(name: str, codec: str, what: str = "") -> BadInput:
    if codec == "utf-8":
        return BadInput(
            f"{name} is not text in UTF-8{what}; pass ", Option("encoding", "latin-1"),
            " if it was saved in that, or save it in UTF-8",
        )  # fmt: skip
    if codec in _MARKS.values():
        shown = codec.removesuffix("-sig").upper()
        way = ", as its first bytes say"
        return BadInput(f"{name} is not text in {shown}{way}{what}; save it in UTF-8")
    return BadInput(f"{name} is not text in {codec}{what}; name the encoding that it was saved in")


def _where(chunks: Iterator[bytes], form: str, codec: str, at: int) -> str:
    """The row of a csv file, or the line of another, that a byte is in."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    ends, quoted, begun = 0, False, False
    for chunk in chunks:
        text = decoder.decode(chunk[:at])
        at -= len(chunk)
        if form == "csv" and not begun:  # blank lines before the header are none of the rows
            text = text.lstrip("\ufeff\r\n")
            begun = bool(text)
        for k, part in enumerate(text.split('"') if form == "csv" else [text]):
            quoted ^= k > 0
            ends += 0 if quoted else part.count("\n")
        if at <= 0:
            break
    if form != "csv":
        return f"in line {ends + 1:,}"
    return f"in row {ends:,}" if ends else "in its header"

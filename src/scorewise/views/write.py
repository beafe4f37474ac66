"""Files that are either written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scorewise.errors import BadInput
from scorewise.views.words import plain


def write(path: str | Path, text: str) -> None:
    """Put the text in place in one step: a killed run leaves the old file whole."""
    write_all({path: text})


def write_all(texts: Mapping[str | Path, str | bytes]) -> None:
    """Put several texts in place, after each of them has been stored beside its place."""
    staged: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            target = check(path)
            data = text.encode() if isinstance(text, str) else text
            try:
                if target.exists() and not target.is_file():
                    target.write_bytes(data)
                else:
                    _stage(target, data, staged)
            except OSError as error:
                raise BadInput(_refused(target, error)) from error
        for place, target in staged.items():
            try:
                place.replace(target)
            except OSError as error:
                raise BadInput(_refused(target, error)) from error
    finally:
        for place in staged:
            place.unlink(missing_ok=True)


def check(path: str | Path) -> Path:
    """The place behind the path, links followed, or the reason why it cannot be written."""
    try:
        return _checked(path)
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte
        if isinstance(error, BadInput):
            raise
        raise BadInput(_refused(Path(path), error)) from None


def _checked(path: str | Path) -> Path:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        Path(path).lstat()
    target = Path(path)
    if not target.exists() or target.is_file() or target.is_dir():  # else a device or a pipe
        target = Path(os.path.realpath(path))
    name, folder = plain(path), plain(Path(path).parent)
    if target.is_symlink():
        raise BadInput(f"cannot write {name}: it is a link to itself; name another file")
    if target.is_dir():
        raise BadInput(f"cannot write {name}: it is a folder; name a file in it")
    if not target.parent.is_dir():
        raise BadInput(f"cannot write {name}: there is no folder {folder}; make it first")
    if not os.access(target.parent if not target.exists() else target, os.W_OK):
        raise BadInput(f"cannot write {name}: no permission; name another place")
    return target


def _stage(target: Path, data: bytes, staged: dict[Path, Path]) -> None:
    place = target.with_name(f".{secrets.token_hex(8)}.part")
    staged[place] = target
    with place.open("xb") as file:
        file.write(data)
    if target.exists():
        shutil.copymode(target, place)


def _refused(target: Path, error: OSError | ValueError) -> str:
    shown = plain(target)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    return f"cannot write {shown}: {getattr(error, 'strerror', None) or error}"

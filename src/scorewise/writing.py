"""Files that are written whole or not at all, and the seal that shows whether one was changed."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from scorewise.errors import BadInput, plain

_OF_NAMES = (OSError, ValueError)  # too long, or with a zero byte
Content = str | bytes | memoryview | Callable[[IO[bytes]], object]


def write(path: str | Path, content: Content) -> None:
    """Put the content in place in one step: a killed run leaves the old file whole."""
    write_all({path: content})


def write_all(contents: Mapping[str | Path, Content]) -> None:
    """Put several contents in place, after each of them has been stored whole.

    Content is text, bytes, or a function that writes into an open file. Links are followed; pipes and
    devices are written into. A file that is replaced hands on its mode, and its owner where that is
    allowed.
    """
    with ExitStack() as stack:
        parts: list[_Part] = []
        for path, content in contents.items():
            target = check(path)
            with _refusals(f"cannot write {_shown(target)}", OSError):
                if target.exists() and not target.is_file():
                    with target.open("wb") as file:
                        _fill(file, content)
                else:
                    parts.append(stack.enter_context(_staged(target)))
                    parts[-1].store(content)
        for part in parts:
            with _refusals(f"cannot write {_shown(part.target)}", OSError):
                part.place()


def check(path: str | Path) -> Path:
    """The place behind the path, links followed, or the reason why it cannot be written."""
    if not os.fspath(path):
        raise BadInput("cannot write: the path is empty; name a file")
    name, folder = plain(path), plain(Path(path).parent)
    with _refusals(f"cannot write {_shown(path)}", *_OF_NAMES):
        _look_at(Path(path))
        target = Path(path)
        if not target.exists() or target.is_file() or target.is_dir():  # else a device or a pipe
            target = Path(os.path.realpath(path))
        if target.is_symlink() and not target.exists():  # else a link to a device or a pipe
            raise BadInput(f"cannot write {name}: it is a link to itself; name another file")
        if target.is_dir():
            raise BadInput(f"cannot write {name}: it is a folder; name a file in it")
        if not target.parent.is_dir():
            raise BadInput(f"cannot write {name}: there is no folder {folder}; make it first")
        if not os.access(target.parent if not target.exists() else target, os.W_OK):
            raise BadInput(f"cannot write {name}: no permission; name another place")
    return target


def check_folder(path: str | Path) -> Path:
    """A folder that files can be written into, or made; or the reason why not."""
    if not os.fspath(path):
        raise BadInput("cannot write: the path is empty; name a folder")
    name, folder = plain(path), Path(path)
    with _refusals(f"cannot make folder {_cut(name)}", *_OF_NAMES):
        _look_at(folder)
        there = next(
            p for p in (folder, *folder.absolute().parents) if p.exists() or p.is_symlink()
        )
        if not there.is_dir():
            raise BadInput(
                f"cannot make folder {name}: {plain(there)} is a file; name another folder"
            )
        if not os.access(there, os.W_OK):
            raise BadInput(f"cannot write into {name}: no permission; name another folder")
    return folder


def make_folder(path: str | Path) -> None:
    """Make a folder, and those that it is in, unless it is there."""
    with _refusals(f"cannot make folder {_cut(plain(path))}", *_OF_NAMES):
        Path(path).mkdir(parents=True, exist_ok=True)


def seal(doc: Mapping[str, Any]) -> str:
    """SHA-256 of a document, apart from its own "sha256".

    >>> seal({"a": 1, "b": 2}) == seal({"b": 2, "a": 1, "sha256": "..."}) != seal({"a": 1, "b": 3})
    True
    """
    kept = {key: value for key, value in doc.items() if key != "sha256"}
    text = json.dumps(kept, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_sealed(path: str | Path, commands: Sequence[str], what: str, by: str) -> dict[str, Any]:
    """The map or rule in a file that a command wrote; a sentence says what is wrong with any other."""
    name = plain(Path(path).name)
    try:
        doc = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{name} is not JSON; name a file that {by} wrote") from None
    if not isinstance(doc, dict) or doc.get("command") not in commands:
        raise BadInput(f"{name} holds no {what}; name a file that {by} wrote")
    if doc.get("schema") != 1:
        raise BadInput(f"{name} has format {doc.get('schema')!r}, but 1 is known here")
    return doc


def refused(target: str | Path, error: OSError) -> str:
    """What the system says against a file, as a sentence."""
    return f"cannot write {_shown(target)}: {error.strerror or error}"


@contextmanager
def _refusals(what: str, *kinds: type[Exception]) -> Iterator[None]:
    """The system's errors as refusals."""
    try:
        yield
    except BadInput:
        raise
    except kinds as error:
        raise BadInput(f"{what}: {getattr(error, 'strerror', None) or error}") from error


def _look_at(path: Path) -> None:
    """Let the system refuse what cannot be a name; whether there is such a file is seen later."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        path.lstat()


def _shown(path: str | Path) -> str:
    shown = plain(path)
    return shown if len(shown) <= 80 else _cut(plain(Path(path).name))


def _cut(shown: str) -> str:
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _fill(file: IO[bytes], content: Content) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content.encode() if isinstance(content, str) else content)


class _Part:
    """A file that is not in place yet: without a name where the system can do that, else hidden.

    Without a name it vanishes with its writer, whatever ends that. The lock on it says that its writer
    lives; a hidden file without one was left behind, and is removed by the next who writes the target.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.old = target.stat() if target.exists() else None
        mark = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]
        for left in target.parent.glob(f".{mark}.*.part"):
            _remove_if_left(left)
        self.hidden = target.with_name(f".{mark}.{secrets.token_hex(6)}.part")
        # nobody else may read what was private before
        self.file, self.named = _opened(self.hidden, 0o666 if self.old is None else 0o600)

    def store(self, content: Content) -> None:
        """Write all of it to the disk."""
        _fill(self.file, content)
        self.file.flush()
        self._hand_on()
        os.fsync(self.file.fileno())

    def _hand_on(self) -> None:
        """Give the file the owner and the mode of the one that it replaces."""
        if self.old is None or sys.platform == "win32":
            return
        fd = self.file.fileno()
        for owner in (self.old.st_uid, -1):
            with suppress(OSError):
                os.fchown(fd, owner, self.old.st_gid)
                break
        os.fchmod(fd, stat.S_IMODE(self.old.st_mode) & 0o777)

    def place(self) -> None:
        """Put it where it belongs."""
        if not self.named:
            _name(self.file.fileno(), self.hidden)
        if sys.platform == "win32":
            self.file.close()  # files in use cannot be moved there
        os.replace(self.hidden, self.target)  # noqa: PTH105 (one step, also over a file)

    def drop(self) -> None:
        """Leave nothing but what is in place."""
        with suppress(OSError):  # what could not be written cannot be flushed either
            self.file.close()
        self.hidden.unlink(missing_ok=True)


@contextmanager
def _staged(target: Path) -> Iterator[_Part]:
    part = _Part(target)
    with _stopped_in_order() if part.named else nullcontext():
        try:
            yield part
        finally:
            part.drop()


def _opened(hidden: Path, mode: int) -> tuple[IO[bytes], bool]:
    """A new file open for writing, locked, and whether it has a name."""
    with suppress(AttributeError, OSError):  # not Linux, or a file system that has no such files
        fd = os.open(hidden.parent, os.O_TMPFILE | os.O_WRONLY, mode)
        if Path(f"/proc/self/fd/{fd}").exists():
            _lock(fd)
            return os.fdopen(fd, "wb"), False
        os.close(fd)
    while True:
        fd = os.open(
            hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode
        )
        _lock(fd)
        if os.fstat(fd).st_nlink:
            return os.fdopen(fd, "wb"), True
        os.close(fd)  # taken for left behind, before it was locked


def _name(fd: int, hidden: Path) -> None:
    folder = os.open(hidden.parent, os.O_RDONLY)
    try:  # the number of a folder makes Python follow the link in /proc
        os.link(f"/proc/self/fd/{fd}", hidden.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _lock(fd: int) -> None:
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError):  # where there are no locks, nothing is removed either
            fcntl.flock(fd, fcntl.LOCK_EX)


def _remove_if_left(hidden: Path) -> None:
    """Remove a hidden file whose writer is gone."""
    with suppress(OSError):
        if sys.platform == "win32":
            hidden.unlink()  # refused as long as the file is in use
            return
        import fcntl

        fd = os.open(hidden, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            hidden.unlink()
        finally:
            os.close(fd)


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, so that hidden files are removed; unless somebody else listens."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

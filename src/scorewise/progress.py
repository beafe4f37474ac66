"""How far a long reading has come, for whoever listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_WIDTH = 20


@dataclass
class Progress:
    """Rows read, of about so many (0 where that is not known), since a time.

    >>> p = Progress(4_000_000, started=0.0)
    >>> p.rows = 1_000_000
    >>> p.said(2.0)
    '[#####---------------] 1,000,000 of 4,000,000 rows, 500,000 rows/s, 6 s left'
    """

    total: int = 0
    rows: int = 0
    started: float = field(default_factory=time.monotonic)

    def said(self, now: float | None = None) -> str:
        """Rows, rows per second and the time left, in words."""
        spent = max((time.monotonic() if now is None else now) - self.started, 1e-9)
        speed = self.rows / spent
        if not self.total or self.rows > self.total:
            return f"{self.rows:,} rows, {speed:,.0f} rows/s"
        done = _WIDTH * self.rows // self.total
        bar = f"[{'#' * done}{'-' * (_WIDTH - done)}]"
        left = (self.total - self.rows) / speed if speed else 0.0
        return (
            f"{bar} {self.rows:,} of {self.total:,} rows, {speed:,.0f} rows/s, {_time(left)} left"
        )


_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Callable[[str], None]) -> Iterator[None]:
    """Let a function hear how far readings have come."""
    token = _LISTENER.set(hear)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(progress: Progress) -> None:
    """Say how far a reading has come, if anybody listens."""
    hear = _LISTENER.get()
    if hear is not None:
        hear(progress.said())


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

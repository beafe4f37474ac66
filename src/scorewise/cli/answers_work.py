"""What `answers` does between its options and its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scorewise.cli.work import busy, reading, tell, with_options


def judged_answers(
    files: Sequence[str], columns: Mapping[str, Any], settings: Mapping[str, Any]
) -> Any:
    """The document of the answers in the files; what was guessed is told on standard error."""
    with busy("reading"):
        from scorewise.answering import judge_answers
        from scorewise.answering.judged import Settings
        from scorewise.answering.rows import answer_rows

        Settings(**settings)  # refused before anything is read
        with reading(files):
            rows = answer_rows(files[0] if len(files) == 1 else list(files), **columns)
    for note in rows.notes:
        tell(f"note: {note}")
    with busy(f"judging {len(rows):,} answers"):
        return with_options(judge_answers(rows, **settings))

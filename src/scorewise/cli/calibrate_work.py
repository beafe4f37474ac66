"""What `calibrate fit` and `calibrate apply` do, for one score a row and for several classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scorewise.cli import work
from scorewise.errors import BadInput
from scorewise.recalibrating import METHODS, Map, Recalibrator
from scorewise.recalibrating.applying import Applied, apply_files
from scorewise.recalibrating.document import Calibrated, read_map
from scorewise.show.page import count


def fit_one(
    files: Sequence[str], columns: Mapping[str, Any], method: str, options: Mapping[str, Any]
) -> Calibrated:
    """The document of a map from one score a row."""
    rows = work.read(files, columns)
    with work.busy(f"fitting {len(rows):,} rows"):
        from scorewise.tallies import Tally

        (name,) = rows.scores
        made = Recalibrator(method, **options)
        return made.fit(Tally.of_rows(rows, name, rows.sources)).document()


def fit_classes(
    files: Sequence[str],
    classes: str,
    columns: Mapping[str, Any],
    method: str,
    options: Mapping[str, Any],
) -> Calibrated:
    """The document of a map of several classes."""
    if columns["score"] or columns["positive"] is not None:
        other = "--score" if columns["score"] else "--positive"
        raise BadInput(f"{other} is for one score a row and --classes for several; leave out one")
    with work.busy("reading"):
        from scorewise.columns.classes import class_rows

        kept = ("label", "weight", "count", "kind", "missing", "encoding")
        rows = class_rows(list(files), classes, **{name: columns[name] for name in kept})
    for note in rows.notes:
        work.tell(f"note: {note}")
    with work.busy(f"fitting {len(rows):,} rows"):
        made = Recalibrator(method, **options)
        return made.fit_rows(rows, rows.columns).document()


def apply_map(
    path: str,
    files: Sequence[str],
    out: str,
    named: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> tuple[Applied, list[str]]:
    """Apply a stored map to files; gives the counts and what is to be told."""
    with work.busy("applying"):
        doc = read_map(path)
        m, several = doc.map, not isinstance(doc.map, Map)
        wrong = "score" if several else "classes"
        if named[wrong] is not None:
            what = "several classes; pass --classes" if several else "one score; pass --score"
            raise BadInput(f"--{wrong} does not fit the map, which is for {what} instead")
        done, notes = apply_files(doc, files, out, **named, **reading)
    if done.dropped:
        notes = [*notes, f"{count(done.dropped)} rows without a score were left out"]
    if done.outside and isinstance(m, Map):
        notes = [
            *notes,
            f"{count(done.outside)} scores lie outside {m.low:.4g} to {m.high:.4g}, the range "
            f"seen in fitting; they are {METHODS[m.method].outside}",
        ]
    return done, notes

"""What `evaluate` does with several classes, between its options and its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scorewise.cli.work import busy, reading, tell, tell_parts, with_options
from scorewise.errors import BadInput


def judged_classes(
    files: Sequence[str], options: Mapping[str, Any], settings: Mapping[str, Any]
) -> Any:
    """The document of a model of several classes."""
    _refuse(options, settings)
    score = options["score"]
    columns = {
        k: v for k, v in options.items() if k not in ("score", "positive", "kind", "missing")
    }
    with busy("reading"):
        from scorewise.evaluation.classes import judge_classes, read_classes

        with reading(files):
            rows, rule = read_classes(
                files[0] if len(files) == 1 else list(files),
                score=score[0] if score else None,
                kind=options["kind"].value if options["kind"] else None,
                missing=options["missing"].value,
                **{**columns, "confidence": columns["confidence"] or "max"},
            )
    tell_parts(rows.place.sources)
    for note in rows.notes:
        tell(f"note: {note}")
    with busy(f"judging {len(rows):,} rows"):
        return with_options(judge_classes(rows, rule, **settings))


def _refuse(options: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse what means nothing for several classes."""
    given = {
        "--positive": options["positive"] is not None,
        "--threshold": settings["threshold"] != 0.5,
    }
    if extra := [option for option, there in given.items() if there]:
        raise BadInput(
            f"{' and '.join(extra)} belongs to two classes; of several, the class of the highest score "
            f"is the decision"
        )
    if len(options["score"] or ()) > 1:
        raise BadInput("several classes of one model at a time; pass one --score, the confidence")

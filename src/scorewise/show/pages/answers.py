"""The page of `answers`: what was judged, each confidence, thresholds of quality, and groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from scorewise.show.pages.section import Section, hints, section
from scorewise.show.words import (
    Document,
    amount,
    chance_digits,
    counted,
    given,
    interval,
    named,
    percent,
    plain,
    shown,
    value,
    whole_percent,
)

RULES = {
    "anls": "ANLS, 1 less the share of letters to be edited, or 0 where that is 0.5 or more",
    "exact": "exact match",
    "f1": "F1 of the words shared",
}
FORMS = {
    "plain": "without case and extra blanks",
    "squad": "without case, punctuation, articles and extra blanks",
    "none": "as they stand",
}
CASES = {
    "unanswerable": "with no gold answer",
    "said unanswerable": "that say there is none",
    "several gold": "with several gold answers",
    "lists": "that are lists",
}
EXPECTED = (
    "Expected: what a calibrated confidence would get on average. p: the chance that it would get as "
    "much or more. Baseline: what the best constant, or chance, would get."
)
BRIEF = 24  # letters of an answer in a table
SAME = ("mean_quality", "soft_brier")  # as accuracy and Brier score, where quality is 0 or 1
COLUMNS = "Right: share of correct answers. Says: mean confidence."
CALIBRATED = "Expected: the ECE that a calibrated confidence would get on average."
ROOM = 13  # letters of a group beside which both intervals fit


def answers(doc: Document) -> list[Section]:
    """The page of judged answers."""
    parts = [section(facts=_facts(doc))]
    for c in doc["confidences"]:
        parts += [*_measures(doc, c), *_over_tau(doc, c), *_confident_errors(doc, c)]
    for c in doc["confidences"]:
        parts += _groups(doc, c)
    return [*parts, *hints(doc["hints"])]


def _facts(doc: Document) -> list[tuple[str, str]]:
    data, tau = doc["data"], doc["settings"]["tau"]
    facts = [("Data", named([f"'{s}'" for s in data["sources"]]))] if data["sources"] else []
    facts.append(("Answers", amount(data["answers"])))
    rule = RULES.get(data["quality"], f"'{data['column']}', as given")
    form = f"; texts {FORMS[data['normalise']]}" if data["normalise"] else ""
    facts.append(("Quality", f"{rule}{form}"))
    facts.append(("Correct", f"quality > {tau:g}"))
    special = [c for c in data["cases"] if c["answers"]]
    if cases := [f"{amount(c['answers'])} {CASES.get(c['name'], c['name'])}" for c in special]:
        facts.append(("Among them", ", ".join(cases)))
    if data["dropped"]:
        facts.append(("Dropped", f"{counted(data['dropped'], 'answer')} with missing values"))
    if data["weight"] is not None:
        facts.append(("Weights", f"'{data['weight']}'"))
    return facts + [("Confidence", _said(c)) for c in doc["confidences"]]


def _said(c: Document) -> str:
    missing = f", missing in {amount(c['missing'])}" if c["missing"] else ""
    ends = f" from {shown(c['lowest'])} to {shown(c['highest'])}" if c["distinct"] else ""
    return (
        f"'{c['name']}' of {counted(c['answers'], 'answer')}{missing}; "
        f"{counted(c['distinct'], 'distinct value')}{ends}"
    )


def _title(doc: Document, c: Document, title: str) -> str:
    return f"{title}: {c['name']}" if len(doc["confidences"]) > 1 else title


def _measures(doc: Document, c: Document) -> list[Section]:
    """All measures of one confidence; those without a value last, by the reason."""
    from scorewise.show.layout import aligned

    same = () if c["over_tau"] else SAME
    known = [m for m in c["measures"] if not m["why"] and m["name"] not in same]
    values = aligned([value(m) for m in known])
    rows = [
        (
            m["title"], said, interval(m), given(m["baseline"]),
            "" if m["expected"] is None else shown(m["expected"]),
            "" if m["p"] is None else chance_digits(m["p"]),
        )
        for m, said in zip(known, values, strict=True)
    ]  # fmt: skip
    level = f"{percent(doc['settings']['level'])} interval"
    head = ("", "Value", level, "Baseline", "Expected", "p")
    words = frozenset({"", level})
    absent: dict[str, list[str]] = {}
    for m in c["measures"]:
        if m["why"]:
            absent.setdefault(m["why"], []).append(m["title"])
    lines = [f"Without a value: {', '.join(titles)} ({why})" for why, titles in absent.items()]
    last = c is doc["confidences"][-1]
    title = _title(doc, c, "All answers")
    return [section(title, head=head, rows=rows, words=words, lines=lines + [EXPECTED] * last)]


def _over_tau(doc: Document, c: Document) -> list[Section]:
    """One line for each run of thresholds that call the same answers correct."""
    if not c["over_tau"]:
        return []
    rows = []
    for _, run in groupby(c["over_tau"], key=lambda at: at["correct"]):
        first, *rest = run
        tau = f"{first['tau']:.3g}" + (f" to {rest[-1]['tau']:.3g}" if rest else "")
        rows.append(
            (
                tau, amount(first["correct"]), shown(first["accuracy"]["value"]),
                *_error(first["ece"]), value(first["auroc"]), value(first["brier"]),
            )
        )  # fmt: skip
    level = percent(doc["settings"]["level"])
    head = ("tau", "Correct", "Share", "ECE", level, "Expected", "AUROC", "Brier")
    title = _title(doc, c, "Where correct is quality > tau")
    return [section(title, head=head, rows=rows, words=frozenset({"tau"}))]


def _confident_errors(doc: Document, c: Document) -> list[Section]:
    """The wrong answers said with most confidence."""
    errors = c["confident_errors"]
    if not errors:
        return []
    files = {e["file"] for e in errors}
    texts = errors[0]["gold"] is not None
    rows = []
    for e in errors:
        row = amount(e["row"]) + (f" of {e['file']}" if len(files) > 1 else "")
        said = (_brief(e["gold"]), _brief(e["predicted"])) if texts else ()
        rows.append((row, shown(e["confidence"]), shown(e["quality"]), *said))
    head = ("Row", "Confidence", "Quality", *(("Gold", "Predicted") if texts else ()))
    count = "Rows count from 0." if files == {None} else "Rows count from 1, after any header."
    title = _title(doc, c, "Wrong and surest")
    words = frozenset({"Gold", "Predicted"})
    return [section(title, head=head, rows=rows, words=words, lines=[count])]


def _brief(said: str) -> str:
    return plain(said if len(said) <= BRIEF else f"{said[: BRIEF - 1]}…")


def _groups(doc: Document, c: Document) -> list[Section]:
    """One line for each group; of several columns, the first heads those of the others."""
    mine = [g for g in doc["groups"] if g["confidence"] == c["name"]]
    if not mine:
        return []
    by = doc["data"]["by"]
    rows: list[Sequence[str]] = []
    narrow = max(len(" / ".join(by)), *(_longest(g["words"]) for g in doc["groups"])) <= ROOM
    for first, some in groupby(mine, key=lambda g: g["words"][0]):
        group = list(some)
        if len(by) == 1:
            rows.append(_line(first, group[0], narrow))
            continue
        rows.append((first, *[""] * 7))
        rows += [_line(f"· {' / '.join(g['words'][1:])}", g, narrow) for g in group]
    level = percent(doc["settings"]["level"])
    column = " / ".join(by)
    head = (
        column,
        "n",
        "Right",
        "Says",
        "ECE",
        level,
        *(("AUROC", "Interval") if narrow else ("Expected", "AUROC")),
    )
    title = _title(doc, c, "Groups")
    last = c["name"] == doc["groups"][-1]["confidence"]
    said = COLUMNS if narrow else f"{COLUMNS} {CALIBRATED}"
    words = frozenset({column})
    return [section(title, head=head, rows=rows, words=words, lines=[said] * last)]


def _longest(words: Sequence[str]) -> int:
    """Letters of the longer of what heads a group, and what stands in its line."""
    return max(len(words[0]), len(" / ".join(words[1:])) + 2)


def _line(word: str, g: Document, narrow: bool) -> tuple[str, ...]:
    right, says = (g[name]["value"] for name in ("accuracy", "mean_confidence"))
    area = g["auroc"]
    return (
        word, amount(g["answers"]), *("—" if x is None else whole_percent(x) for x in (right, says)),
        *(_error(g["ece"])[:2] if narrow else _error(g["ece"])),
        *((value(area), interval(area)) if narrow else (shown(area["value"]),)),
    )  # fmt: skip


def _error(e: Document) -> tuple[str, str, str]:
    """An error with its interval, and what is expected of calibrated scores."""
    expected = "" if e["expected"] is None else shown(e["expected"])
    return value(e), interval(e), expected

"""The page of `evaluate` of several classes: data, decisions, measures, and each class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scorewise.show.pages.section import Section, absent, hints, section
from scorewise.show.words import (
    Document,
    amount,
    baseline,
    bound,
    chance_digits,
    counted,
    grouped,
    interval,
    named,
    percent,
    plain,
    shown,
    value,
    whole_percent,
)

MANY = 10  # classes whose confusion is still shown whole
WORST, BEST = 15, 5  # classes listed where there are many
WIDE = 80
LONGEST = 16  # letters of a class's name in a table
BESIDE = 12  # the same beside many numbers
LISTED = 10  # confusions listed otherwise
SHORT = {
    "sensitivity": "Recall",
    "precision": "Precision",
    "f1": "F1",
    "auroc": "AUROC",
    "average_precision": "AP",
    "brier": "Brier",
    "ece": "ECE",
}


def evaluate_classes(doc: Document) -> list[Section]:
    """The page of a model of several classes."""
    return [
        section(facts=_facts(doc)),
        *_decisions(doc),
        *_measures(doc),
        _each(doc),
        *hints(doc["hints"]),
    ]


def _facts(doc: Document) -> list[tuple[str, str]]:
    data, classes = doc["data"], doc["classes"]
    facts = [("Data", named([f"'{s}'" for s in data["sources"]]))] if data["sources"] else []
    total = sum(c["weight"] for c in classes)
    shares = [
        f"'{c['name']}' {amount(c['weight'])}"
        + (f" ({percent(c['weight'] / total)})" if total else "")
        for c in classes
    ]
    column = "" if data["label"] is None else f" in column '{data['label']}'"
    facts.append(("Rows", f"{amount(data['rows'])} of {len(classes)} classes{column}"))
    facts.append(("Classes", named(shares, MANY)))
    if data["dropped"]:
        facts.append(("Dropped", f"{counted(data['dropped'], 'row')} with missing values"))
    if data["weight"] is not None:
        facts.append(("Weights", f"'{data['weight']}': {amount(total)} in all"))
    taken = f", columns in the order {data['rule']}" if data["rule"] else ""
    known = (
        "only the decision and the confidence in it are known"
        if data["kind"] is None
        else f"a {data['kind']} for each class{taken}; the highest is the decision"
    )
    facts.append(("Scores", known))
    facts.append(
        ("Confidence", f"'{data['confidence']}', {counted(data['distinct'], 'distinct value')}")
    )
    return facts


def _decisions(doc: Document) -> list[Section]:
    """The confusion, whole where it is small, else its largest entries off the diagonal."""
    from rich.cells import cell_len

    if len(doc["classes"]) > MANY:
        return _confused(doc)
    names = [_short(c["name"]) for c in doc["classes"]]
    cells = [[amount(x) for x in line] for line in doc["confusion"]]
    widths = [
        max(cell_len(n), *map(len, column))
        for n, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    side = max(cell_len("true \\ decided"), *map(cell_len, names))
    if side + sum(w + 2 for w in widths) <= WIDE and len({*names}) == len(names):
        corner = "true \\ decided"
        rows = [(name, *line) for name, line in zip(names, cells, strict=True)]
        return [section("Confusion", head=(corner, *names), rows=rows, words=frozenset({corner}))]
    return _confused(doc)


def _confused(doc: Document) -> list[Section]:
    found = sorted(
        (
            (-weight, i, j)
            for i, line in enumerate(doc["confusion"])
            for j, weight in enumerate(line)
            if i != j and weight
        ),
    )
    if not found:
        return []
    classes = doc["classes"]
    rows = [
        (
            _short(classes[i]["name"]), _short(classes[j]["name"]), amount(-w),
            percent(-w / classes[i]["weight"]),
        )
        for w, i, j in found[:LISTED]
    ]  # fmt: skip
    more = len(found) - len(rows)
    said = [f"{amount(more)} further pairs of classes are confused less often."] if more > 0 else []
    head = ("True", "Decided", "Rows", "Of the class")
    words = frozenset({"True", "Decided"})
    return [section("Most frequent confusions", head=head, rows=rows, words=words, lines=said)]


BASELINE = (
    "Baseline: what chance or the best constant prediction would get. Skill: share of the way from "
    "there to the best value."
)
EXPECTED = (
    "Expected: what calibrated scores would get on average. p: the chance that they would get as much "
    "or more."
)
LONGEST_TITLE = 36  # letters, so that a line of numbers fits beside it


def _measures(doc: Document) -> list[Section]:
    """The measures by group, in columns of one width; those without a value last, by the reason."""
    from scorewise.show.layout import aligned

    found = [m for m in doc["measures"] if not m["why"]]
    titles = [_title(m) for m in found]
    ends = [" ".join(filter(None, (interval(m), bound(m)))) for m in found]
    columns = (titles, aligned([value(m) for m in found]), ends)
    left, _, wide = (min(max(map(len, column), default=0), 40) for column in columns)
    lines = {
        m["name"]: (title.ljust(left), said, end.ljust(wide), baseline(m), _skill(m))
        for m, title, said, end in zip(found, *columns, strict=True)
    }
    level = percent(doc["settings"]["level"])
    start = ("".ljust(left), "Value", f"{level} interval")
    sections = []
    for title, group in grouped([{"measures": found}]):
        tested = any(m["p"] is not None for m in group)
        last = ("Expected", "p") if tested else ("Baseline", "Skill")
        rows = [lines[m["name"]] for m in group]
        words = frozenset({start[0], start[2]})
        sections.append(section(title, head=(*start, *last), rows=rows, words=words))
    without = absent((m["why"], m["title"]) for m in doc["measures"])
    return [*_explained(sections), *without]


def _explained(sections: list[Section]) -> list[Section]:
    """The sections, with the meaning of their columns where it is needed last."""
    last = {s.table.columns[-1].title: i for i, s in enumerate(sections) if s.table}
    said = {
        last[head]: text for head, text in (("Skill", BASELINE), ("p", EXPECTED)) if head in last
    }
    return [replace(s, lines=[said[i]]) if i in said else s for i, s in enumerate(sections)]


def _title(m: Document) -> str:
    title = plain(m["title"])
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"


def _skill(m: Document) -> str:
    """The p-value of a measure of calibration, else the skill."""
    if m["p"] is not None:
        return chance_digits(m["p"])
    return "" if m["skill"] is None else whole_percent(m["skill"])


def _each(doc: Document) -> Section:
    """One line for each class; of many, the worst and the best by F1."""
    known = [m["name"] for m in doc["classes"][0]["measures"] if m["name"] in SHORT]
    chosen, said = doc["classes"], []
    if len(chosen) > WORST + BEST + MANY:
        ranked = sorted((c for c in chosen if _f1(c) is not None), key=_f1)
        shown_of = [*ranked[:WORST], *ranked[WORST:][-BEST:]]
        chosen, hidden = shown_of, len(chosen) - len(shown_of)
        said = [
            f"The {WORST} classes of the lowest F1 and the {BEST} of the highest; the JSON document has "
            f"the {hidden:,} others too."
        ]
    rows = []
    for c in chosen:
        by_name = {m["name"]: m for m in c["measures"]}
        values = (shown(by_name[name]["value"]) for name in known)
        rows.append((_short(c["name"], BESIDE), amount(c["weight"]), amount(c["called"]), *values))
    return section(
        "Each class against the rest",
        head=("Class", "Rows", "Decided", *(SHORT[name] for name in known)),
        rows=rows,
        words=frozenset({"Class"}),
        lines=said,
    )


def _f1(c: Document) -> Any:
    """F1 of a class, where it has one."""
    return next((m["value"] for m in c["measures"] if m["name"] == "f1"), None)


def _short(name: str, most: int = LONGEST) -> str:
    """A name, cut in the middle where it would take the room of the numbers."""
    from rich.cells import cell_len, chop_cells

    word = plain(name)
    if cell_len(word) <= most:
        return word
    # names of a kind often differ at their ends
    end = chop_cells(word[::-1], most - most // 2 - 1)[0][::-1]
    return f"{chop_cells(word, most // 2)[0]}…{end}"

"""The page of `evaluate` of several classes: data, decisions, measures, and each class."""

from __future__ import annotations

from dataclasses import replace

from scorewise.views.pages.section import Section, hints
from scorewise.views.words import (
    Document,
    amount,
    baseline,
    bound,
    chance,
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
WIDE = 80
LONGEST = 16  # letters of a class's name in a table
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
        Section(facts=_facts(doc)),
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
    known = (
        "only the decision and the confidence in it are known"
        if data["kind"] is None
        else f"a {data['kind']} for each class; the highest is the decision"
    )
    facts.append(("Scores", known))
    facts.append(
        ("Confidence", f"'{data['confidence']}', {counted(data['distinct'], 'distinct value')}")
    )
    return facts


def _decisions(doc: Document) -> list[Section]:
    """The confusion, whole where it is small, else its largest entries off the diagonal."""
    from rich.cells import cell_len

    names = [_short(c["name"]) for c in doc["classes"]]
    cells = [[amount(x) for x in line] for line in doc["confusion"]]
    widths = [
        max(cell_len(n), *map(len, column))
        for n, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    side = max(cell_len("true \\ decided"), *map(cell_len, names))
    if (
        len(names) <= MANY
        and side + sum(w + 2 for w in widths) <= WIDE
        and len({*names}) == len(names)
    ):
        corner = "true \\ decided"
        rows = [(name, *line) for name, line in zip(names, cells, strict=True)]
        return [Section("Confusion", head=(corner, *names), rows=rows, words=frozenset({corner}))]
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
    return [Section("Most frequent confusions", head=head, rows=rows, words=words, lines=said)]


LEGEND = (
    "Baseline: what chance or the best constant prediction would get; under Calibration, what "
    "calibrated scores would get on average. Skill: share of the way from there to the best value."
)


def _measures(doc: Document) -> list[Section]:
    """The measures by group, in columns of one width; those without a value last, by the reason."""
    from scorewise.views.layout import aligned

    found = [m for m in doc["measures"] if not m["why"]]
    titles = [plain(m["title"]) for m in found]
    ends = [" ".join(filter(None, (interval(m), bound(m)))) for m in found]
    columns = (titles, aligned([value(m) for m in found]), ends)
    left, _, wide = (max(map(len, column), default=0) for column in columns)
    lines = {
        m["name"]: (title.ljust(left), said, end.ljust(wide), baseline(m), _skill(m))
        for m, title, said, end in zip(found, *columns, strict=True)
    }
    level = percent(doc["settings"]["level"])
    head = ("".ljust(left), "Value", f"{level} interval", "Baseline", "Skill")
    words = frozenset({head[0], head[2]})
    groups = grouped([{"measures": found}])
    sections = [
        Section(title, head=head, rows=[lines[m["name"]] for m in group], words=words)
        for title, group in groups
    ]
    return [
        *sections[:-1],
        *(replace(last, lines=[LEGEND]) for last in sections[-1:]),
        *_absent(doc),
    ]


def _absent(doc: Document) -> list[Section]:
    absent: dict[str, list[str]] = {}
    for m in doc["measures"]:
        if m["why"]:
            absent.setdefault(m["why"], []).append(m["title"])
    lines = [f"{', '.join(titles)}: {why}" for why, titles in absent.items()]
    return [Section("Without a value", lines=lines)] if lines else []


def _skill(m: Document) -> str:
    if m["skill"] is None:
        return "" if m.get("p") is None else chance(m["p"])
    return whole_percent(m["skill"])


def _each(doc: Document) -> Section:
    """One line for each class."""
    known = [m["name"] for m in doc["classes"][0]["measures"] if m["name"] in SHORT]
    rows = []
    for c in doc["classes"]:
        by_name = {m["name"]: m for m in c["measures"]}
        values = (shown(by_name[name]["value"]) for name in known)
        rows.append((_short(c["name"]), amount(c["weight"]), amount(c["called"]), *values))
    return Section(
        "Each class against the rest",
        head=("Class", "Rows", "Decided", *(SHORT[name] for name in known)),
        rows=rows,
        words=frozenset({"Class"}),
    )


def _short(name: str) -> str:
    """A name, cut where it would take the room of the numbers."""
    from rich.cells import cell_len, chop_cells

    word = plain(name)
    return word if cell_len(word) <= LONGEST else chop_cells(word, LONGEST - 1)[0] + "…"

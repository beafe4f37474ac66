"""The page of `judge`: judges against the truth, the human level, each other and themselves."""

from __future__ import annotations

from scorewise.show.pages.judge_parts import cell, grades, prevalence
from scorewise.show.pages.section import Section, absent, hints, section
from scorewise.show.words import (
    Document,
    amount,
    chance_digits,
    interval,
    named,
    percent,
    quoted,
    shown,
    value,
)

DASH = "—"
WIDTH = 80
LEAST = "; p is at most that"  # how a method says that no resample was beyond 0


def judge(doc: Document) -> list[Section]:
    """Judges against humans."""
    return [
        section(facts=_facts(doc)),
        _overview(doc),
        *grades(doc),
        *_ceiling(doc),
        *_differences(doc),
        *_swaps(doc),
        *(part for j in doc["judges"] for part in _categories(j, doc)),
        *prevalence(doc),
        *_needed(doc),
        *_absent(doc),
        *hints(doc["hints"]),
    ]


def _facts(doc: Document) -> list[tuple[str, str]]:
    data, s = doc["data"], doc["settings"]
    facts = [("Data", named([quoted(x) for x in data["sources"]]))] if data["sources"] else []
    parts = [f"{amount(data['labelled'])} with a truth"]
    parts += [f"{amount(data['tied'])} on which humans tie"] if data["tied"] else []
    parts += [f"{amount(data['unlabelled'])} unlabelled"] if data["unlabelled"] else []
    weighted = "; weighted" if data["weighted"] else ""
    facts.append(("Items", f"{amount(data['items'])}: {', '.join(parts)}{weighted}"))
    who = ", ".join(quoted(h["name"]) for h in data["humans"])
    facts.append(("Truth", who if len(data["humans"]) == 1 else f"{data['truth']}: {who}"))
    words = [quoted(c) for c in data["categories"]]
    kappa = {"own": "own weights", "identity": "unweighted"}.get(s["weights"], s["weights"])
    facts.append(("Ratings", f"{named(words, 6)} ({s['scale']}; kappa {kappa})"))
    silence = {"drop": "left out", "wrong": "counts as wrong"}[s["no_answer"]]
    if any(j["silent"] for j in doc["judges"]):
        facts.append(("No answer", silence))
    return facts


def _overview(doc: Document) -> Section:
    head = ("Judge", "Items", "Accuracy", percent(doc["settings"]["level"]), "Kappa", "Interval")
    rows = [
        (
            j["name"], amount(j["items"]), value(j["accuracy"]), interval(j["accuracy"]),
            value(j["kappa"]), interval(j["kappa"]),
        )
        for j in doc["judges"]
    ]  # fmt: skip
    known = [j["accuracy"]["baseline"] for j in doc["judges"]]
    ends = sorted({shown(b) for b in known if b is not None})
    lines = []
    if ends:
        span = " to ".join(dict.fromkeys((ends[0], ends[-1])))
        lines = [f"Always saying what is most frequent: accuracy {span}."]
    return section(
        "Against the truth", head=head, rows=rows, words=frozenset({"Judge"}), lines=lines
    )


def _ceiling(doc: Document) -> list[Section]:
    top = doc["ceiling"]
    if top is None:
        return []
    pairs = [(f"{p['first']}, {p['second']}", amount(p["items"]), cell(p["accuracy"]), cell(p["kappa"]))
             for p in top["pairs"][:12]]  # fmt: skip
    if len(top["pairs"]) > 1:
        pairs.append(("mean", "", "", cell(top["kappa"])))
    for j in doc["judges"]:
        one = [(f"{j['name']}, {a['name']}", amount(a["items"]), cell(a["accuracy"]), cell(a["kappa"]))
               for a in j["humans"][:12]]  # fmt: skip
        pairs += [*one, (f"mean of {j['name']}", "", "", cell(j["ceiling"]["single"]))]
    rows = [
        (
            j["name"], value(j["ceiling"]["judge"]), value(j["ceiling"]["human"]),
            value(j["ceiling"]["gap"]), interval(j["ceiling"]["gap"]), _p(j["ceiling"]["gap"]),
        )
        for j in doc["judges"]
    ]  # fmt: skip
    said = [
        "Kappa with the most frequent rating of all humans but one, for the judge and for that human, on "
        f"the same items; the mean over humans. Gap: {_how([j['ceiling']['gap'] for j in doc['judges']])}."
    ]
    return [
        section("One by one", head=("Pair", "Items", "Same", "Kappa"), rows=pairs,
                words=frozenset({"Pair"})),
        section("Human level", head=("Judge", "Kappa", "Humans", "Gap", "Interval", "p"), rows=rows,
                words=frozenset({"Judge"}), lines=said),
    ]  # fmt: skip


def _how(estimates: list[Document]) -> str:
    """The methods of estimates."""
    return ", ".join(
        dict.fromkeys(e["method"].removesuffix(LEAST) or "undefined" for e in estimates)
    )


def _p(e: Document, adjusted: float | None = None) -> str:
    """A p-value, or the one given of the same test; no smaller one than the resamples can show."""
    p = e["p"] if adjusted is None else adjusted
    if p is None:
        return DASH
    return f"≤{chance_digits(p)}" if e["method"].endswith(LEAST) else chance_digits(p)


def _differences(doc: Document) -> list[Section]:
    pairs = doc["differences"]
    if not pairs:
        return []
    several = len(pairs) > 1
    head = ("Pair", "Of", "Items", "Gap", percent(doc["settings"]["level"]), "p")
    rows = []
    for d in pairs:
        name = f"{d['first']} - {d['second']}"
        for k, of in enumerate(("accuracy", "kappa")):
            e = d[of]
            line = ["" if k else name, of, "" if k else amount(d["items"]), value(e), interval(e)]
            rows.append((*line, _p(e), *([_p(e, d[f"{of}_adjusted"])] if several else [])))
    how = _how([d["kappa"] for d in pairs])
    lines = [f"Accuracy: Tango's interval and McNemar's exact test. Kappa: {how}."]
    lines += (
        ["Holm: p adjusted for all pairs by Holm's correction, for each measure."]
        if several
        else []
    )
    return [
        section(
            "Judges compared on the same items",
            head=(*head, "Holm") if several else head,
            rows=rows,
            words=frozenset({"Pair", "Of"}),
            lines=lines,
        )
    ]


def _swaps(doc: Document) -> list[Section]:
    asked = [j for j in doc["judges"] if j["swap"] is not None]
    if not asked:
        return []
    rows = []
    for j in asked:
        s = j["swap"]
        one, two = s["leaning"]
        lean = f"{amount(one)} : {amount(two)}"
        rows.append(
            (j["name"], amount(s["items"]), cell(s["consistent"]), value(s["kappa"]), lean,
             _p(s["first"]))
        )  # fmt: skip
    said = ["Lean: verdicts that change with the order, to the first : to the second position."]
    return [
        section(
            "Positions exchanged",
            head=("Judge", "Items", "Consistent", "Kappa", "Lean", "p"),
            rows=rows,
            words=frozenset({"Judge"}),
            lines=said,
        )
    ]


def _categories(j: Document, doc: Document) -> list[Section]:
    if not j["items"]:
        return []
    used = [c for c in j["categories"] if c["truth"] or c["judge"]][:30]
    table = {(c["truth"], c["judge"]): c["weight"] for c in j["confusion"]}
    names = [c["category"] for c in used]
    cells = [[amount(table.get((a, b), 0)) for b in names] for a in names]
    small = _fits(names, cells)
    rows = []
    for c, across in zip(used, cells, strict=True):
        base = (c["category"], _rate(c["truth"]), _rate(c["judge"]))
        rows.append((*base, value(c["precision"]), value(c["recall"]), *(across if small else [])))
    head = ("Category", "Truth", "Judge", "Precision", "Recall")
    calls = tuple(f"'{name}'" for name in names) if small else ()
    lines = ["On the right: items by truth (down) and by what the judge says."] if small else []
    return [
        section(
            f"Categories of {quoted(j['name'])}",
            head=(*head, *calls),
            rows=rows,
            words=frozenset({"Category"}),
            lines=lines,
        )
    ]


def _fits(names: list[str], cells: list[list[str]]) -> bool:
    """Whether the table of categories has room beside the rates."""
    widths = [
        2 + max(len(name) + 2, *(len(line[k]) for line in cells)) for k, name in enumerate(names)
    ]
    return 33 + max(8, *map(len, names)) + sum(widths) <= WIDTH


def _rate(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.1f}%"


def _needed(doc: Document) -> list[Section]:
    if not doc["needed"]:
        return []
    width = doc["settings"]["width"]
    rows = [(n["of"], n["name"], amount(n["items"])) for n in doc["needed"]]
    title = f"Items with a truth for an interval {width:g} wide"
    return [
        section(title, head=("Of", "Judge", "Items"), rows=rows, words=frozenset({"Of", "Judge"}))
    ]


def _absent(doc: Document) -> list[Section]:
    """What has no value, by the reason."""
    found = []
    for j in doc["judges"]:
        told = {"accuracy": j["accuracy"], "kappa": j["kappa"]}
        told |= {"gap to humans": j["ceiling"]["gap"]} if j["ceiling"] else {}
        found += [(e["why"], f"{title} of {quoted(j['name'])}") for title, e in told.items()]
    for d in doc["differences"]:
        pair = f"{quoted(d['first'])} and {quoted(d['second'])}"
        found += [(d[of]["why"], f"difference in {of} of {pair}") for of in ("accuracy", "kappa")]
    return absent(found, "Not defined")

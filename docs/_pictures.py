"""The drawings of the documentation, as SVG: readable in light and in dark, with a description."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from scorewise import Confusion, Tally, curves, measures

STYLE = """\
svg { color-scheme: light dark }
text { font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #1b1f24 }
.small { font-size: 12px } .soft { fill: #57606a } .bold { font-weight: 600 }
.end { text-anchor: end } .mid { text-anchor: middle }
.paper { fill: #ffffff } .pale { fill: #eef1f4 } .line { stroke: #8c959f; fill: none }
.one { fill: #0b62c4 } .two { fill: #c2570c } .right { fill: #a9cdf5 } .wrong { fill: #f6d3b8 }
.curve { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.a { stroke: #0b62c4 } .b { stroke: #c2570c; stroke-dasharray: 7 4 }
.c { stroke: #57606a; stroke-dasharray: 2 4; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .soft { fill: #a5b0bb } .paper { fill: #14181d } .pale { fill: #262c33 }
.line { stroke: #6e7781 } .one { fill: #6cb0ff } .two { fill: #ff9f5a }
.right { fill: #1d4f86 } .wrong { fill: #7a4319 }
.a { stroke: #6cb0ff } .b { stroke: #ff9f5a } .c { stroke: #a5b0bb }
}"""


def _picture(width: int, height: int, title: str, description: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-labelledby="title description">'
    )
    about = (
        f'<title id="title">{escape(title)}</title>\n'
        f'<desc id="description">{escape(description)}</desc>'
    )
    paper = f'<rect class="paper" width="{width}" height="{height}" rx="8"/>'
    body = "\n".join(parts)
    return f"{head}\n{about}\n<style>\n{STYLE}\n</style>\n{paper}\n{body}\n</svg>\n"


def _text(x: float, y: float, said: str, kind: str = "") -> str:
    look = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{look}>{escape(said)}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{way}"/>'


def _arrow(x: float, y: float, length: float) -> str:
    tip = x + length
    return (
        _path([(x, y), (tip, y)], "line") + f'<polygon class="soft" points="{tip + 1:g},{y:g} '
        f'{tip - 7:g},{y - 4:g} {tip - 7:g},{y + 4:g}"/>'
    )


# one for each drawing

NOBODY = Confusion.counts(tp=0, fp=0, fn=10, tn=990)
USEFUL = Confusion.counts(tp=8, fp=40, fn=2, tn=950)


def imbalance() -> str:
    """Ten players among a thousand people, and what four measures say of two models."""
    parts = [_text(24, 34, "1,000 people: 10 players, 990 onlookers", "bold")]
    # players are spread over the field, by steps that share no divisor with it
    players = {(i * 617 + 131) % 1000 for i in range(10)}
    for i in range(1000):
        x, y = 28 + i % 40 * 7, 54 + i // 40 * 9
        there = i in players
        shape = "two" if there else "soft"
        parts.append(f'<circle class="{shape}" cx="{x}" cy="{y}" r="{4 if there else 1.5:g}"/>')
    names = ("accuracy", "balanced_accuracy", "f1", "kappa")
    titles = ("Accuracy", "Balanced accuracy", "F1", "Cohen's kappa")
    parts += [
        _rect(360, 24, 12, 12, "two"),
        _text(380, 35, "calls everybody an onlooker", "small"),
        _rect(360, 44, 12, 12, "one"),
        _text(380, 55, "finds 8 of the 10, with 40 false alarms", "small"),
    ]
    told = []
    for row, (name, title) in enumerate(zip(names, titles, strict=True)):
        y = 82 + row * 50
        parts.append(_text(360, y + 12, title))
        for bar, (model, kind) in enumerate(((NOBODY, "two"), (USEFUL, "one"))):
            value = getattr(measures, name)(model).value
            at = y + bar * 18 - 4
            parts.append(_rect(500, at, 140, 14, "pale"))
            parts.append(_rect(500, at, 140 * value, 14, kind))
            parts.append(_text(648, at + 12, f"{value:.3f}", "small"))
            told.append(f"{title} {value:.3f}")
    said = (
        "A field of 1,000 dots of which 10 stand out. Bars for two models; the first calls everybody "
        f"an onlooker: {', '.join(told[::2])}. The second finds 8 players with 40 false alarms: "
        f"{', '.join(told[1::2])}."
    )
    return _picture(700, 290, "Accuracy when classes are unequal", said, parts)


POSITIVE, NEGATIVE = (0.9, 0.7, 0.4), (0.7, 0.3, 0.1)


def pairs() -> str:
    """The ROC curve as the edge of the pairs in the right order."""
    size, left, base = 84, 150, 310
    parts = [_text(24, 34, "Each square is a pair: one positive, one negative", "bold")]
    for row, p in enumerate(POSITIVE):
        y = base - (row + 1) * size
        parts.append(_text(left - 12, y + size / 2 + 5, f"{p:g}", "end"))
        for column, n in enumerate(NEGATIVE):
            x = left + column * size
            parts.append(_rect(x, y, size, size, "right" if p > n else "wrong"))
            if p == n:
                parts.append(
                    f'<polygon class="right" points="{x},{y + size} {x + size},{y + size} '
                    f'{x + size},{y}"/>'
                )
            word, off = ("½", 18) if p == n else ("1" if p > n else "0", 0)
            parts.append(_text(x + size / 2 + off, y + size / 2 + 5 + off, word, "mid"))
    parts += [
        _text(left + (c + 0.5) * size, base + 22, f"{n:g}", "mid") for c, n in enumerate(NEGATIVE)
    ]
    t = Tally.of([1] * 3 + [0] * 3, POSITIVE + NEGATIVE)
    curve = curves.roc(t)
    way = [
        (left + x * 3 * size, base - y * 3 * size) for x, y in zip(curve.x, curve.y, strict=True)
    ]
    parts += [
        _path([(left, base), (left + 3 * size, base), (left + 3 * size, base - 3 * size)], "line"),
        _path(way, "curve a"),
        _text(24, base - 1.5 * size - 10, "positives,", "soft"),
        _text(24, base - 1.5 * size + 8, "by score", "soft"),
        _text(left + 1.5 * size, base + 46, "negatives, by score", "soft mid"),
    ]
    beside = left + 3 * size + 36
    lines = (
        ("7 pairs in order", "7"),
        ("1 tie", "½"),
        ("1 pair the wrong way", "0"),
        ("of 9 pairs", "7½"),
    )
    for i, (said, worth) in enumerate(lines):
        parts += [
            _text(beside, 110 + i * 26 + 4 * (i == 3), said, "bold" if i == 3 else ""),
            _text(
                beside + 190, 110 + i * 26 + 4 * (i == 3), worth, "end bold" if i == 3 else "end"
            ),
        ]
    parts += [
        _path([(beside, 170), (beside + 190, 170)], "line"),
        _text(beside, 226, f"7½ / 9 = {curve.area:.3f}"),
        _text(beside, 248, "= the area below the curve"),
        _text(beside, 270, "= AUROC"),
    ]
    said = (
        "A grid of three positives against three negatives. Seven pairs are in the right order, one is "
        "tied and counts half, one is wrong. The ROC curve is the edge of the coloured squares, and the "
        f"area below it is 7.5 of 9, {curve.area:.3f}."
    )
    return _picture(700, 372, "The ROC curve and the pairs below it", said, parts)


def losses() -> str:
    """What the three losses charge, by the probability that was given to what happened."""
    left, base, wide, high, most = 70, 270, 420, 220, 4.0

    def at(p: float, loss: float) -> tuple[float, float]:
        return left + p * wide, base - loss / most * high

    steps = [i / 200 for i in range(201)]
    log = [at(p, -math.log(p)) for p in steps if p and -math.log(p) <= most]
    parts = [
        _text(24, 34, "What one row costs", "bold"),
        _path([(left, base - high), (left, base), (left + wide, base)], "line"),
        _path([at(math.exp(-most), most), *log], "curve b"),
        _path([at(p, (1 - p) ** 2) for p in steps], "curve a"),
        _path([at(p, 1 - p / math.hypot(p, 1 - p)) for p in steps], "curve c"),
        _text(left + wide / 2, base + 42, "probability given to what happened", "soft mid"),
    ]
    parts += [
        *(_text(at(i / 4, 0)[0], base + 20, f"{i / 4:g}", "small mid") for i in range(5)),
        *(_text(left - 10, at(0, loss)[1] + 4, f"{loss}", "small end") for loss in range(5)),
        _path([(200, 75), (232, 75)], "curve b"),
        _text(242, 80, "log loss: -log p, without end"),
        _path([(200, 105), (232, 105)], "curve a"),
        _text(242, 110, "Brier: (1 - p)², at most 1"),
        _path([(200, 135), (232, 135)], "curve c"),
        _text(242, 140, "spherical: 1 - p / √(p² + (1 - p)²), at most 1"),
    ]
    said = (
        "Three falling curves over the probability given to what happened. Log loss rises without "
        "end towards probability 0; Brier score and spherical loss rise to 1, the latter flattest "
        "at both ends. All are 0 at probability 1."
    )
    return _picture(580, 330, "What log loss, Brier score and spherical loss punish", said, parts)


def tally() -> str:
    """Rows, sorted once into a tally, of which every measure is made."""
    labels, scores = (1, 0, 0, 1, 0, 1), (0.8, 0.3, 0.1, 0.3, 0.1, 0.8)
    t = Tally.of(labels, scores)
    parts = [
        _text(24, 34, "rows", "bold"),
        _text(270, 34, "tally", "bold"),
        _text(540, 34, "measures", "bold"),
    ]
    rows = [("label", "score"), *((str(y), f"{s:g}") for y, s in zip(labels, scores, strict=True))]
    for i, (y, s) in enumerate(rows):
        kind = "soft small" if i == 0 else ""
        parts += [_text(30, 64 + i * 24, y, kind), _text(90, 64 + i * 24, s, kind)]
    cells = [
        ("score", "neg", "pos"),
        *((f"{s:g}", str(n), str(p)) for s, n, p in zip(t.score, t.neg, t.pos, strict=True)),
    ]
    for i, row in enumerate(cells):
        if i:
            parts.append(_rect(262, 47 + i * 24, 150, 22, "pale"))
        for j, word in enumerate(row):
            parts.append(_text(270 + j * 56, 64 + i * 24, word, "soft small" if i == 0 else ""))
    for i, word in enumerate(("AUROC", "sensitivity", "log loss", "…")):
        parts.append(_text(540, 64 + i * 24, word))
    parts += [
        _arrow(146, 112, 96),
        _text(194, 100, "one sort", "small soft mid"),
        _arrow(432, 112, 88),
        _text(476, 100, "no sort", "small soft mid"),
        _text(262, 178, "small, saved as a file,", "small soft"),
        _text(262, 196, "added to others: a + b", "small soft"),
    ]
    said = (
        "Six rows of label and score become, by one sort, three cells: each distinct score with its "
        "number of negatives and positives. Every measure is computed from those cells."
    )
    return _picture(660, 224, "From rows to a tally to measures", said, parts)


def roc(models: dict[str, Tally]) -> str:
    """ROC curves of two models, and the hull of the first."""
    left, base, size = 70, 400, 320
    parts = [
        _text(24, 34, "569 tumours: malignant or benign?", "bold"),
        _path([(left, base - size), (left, base), (left + size, base)], "line"),
        _path([(left, base), (left + size, base - size)], "line"),
        _text(left + size / 2, base + 42, "false positive rate", "soft mid"),
        _text(left - 10, base - size - 14, "true positive rate", "soft"),
    ]
    for i, share in enumerate((0, 0.25, 0.5, 0.75, 1)):
        parts.append(_text(left + share * size, base + 20, f"{share:g}", "small mid"))
        if i:
            parts.append(_text(left - 8, base - share * size + 4, f"{share:g}", "small end"))
    told = []
    for i, (kind, (name, t)) in enumerate(zip(("a", "b"), models.items(), strict=True)):
        curve = curves.roc(t)
        drawn = [curve.hull(), curve] if i == 0 else [curve]
        for line, look in zip(drawn[::-1], (f"curve {kind}", "curve c"), strict=False):
            way = [(left + x * size, base - y * size) for x, y in zip(line.x, line.y, strict=True)]
            parts.append(_path(way, look))
        y = 180 + i * 60
        told.append(f"{name}: AUROC {measures.auroc(t)}")
        parts += [
            _path([(420, y - 5), (452, y - 5)], f"curve {kind}"),
            _text(462, y, name),
            _text(462, y + 20, f"AUROC {measures.auroc(t)}", "small soft"),
        ]
    parts += [
        _path([(420, 295), (452, 295)], "curve c"),
        _text(462, 300, "convex hull of the first"),
    ]
    said = f"Two ROC curves above the diagonal of chance. {'. '.join(told)}."
    return _picture(700, 460, "ROC curves of two models", said, parts)

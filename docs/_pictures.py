"""The pictures of the documentation, in two tables: drawings as SVG, and figures of matplotlib.

Drawings are readable in light and in dark, and have a description; figures are drawn as users would draw
them, those of studies from the numbers that they leave in docs/tables.
"""

from __future__ import annotations

import io
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import scorewise as sw
from scorewise import Confusion, Tally, curves, measures
from scorewise.cli.demo import screening_csv
from scorewise.show.document import page_of
from scorewise.show.terminal import print_document

sys.path.insert(0, str(Path(__file__).parents[1]))

from studies._tools import save
from studies.kdg.figures import FIGURES as KDG
from studies.smroc.figures import FIGURES as SMROC

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

# rich's own frame asks a font server for its font; this one takes what the reader has
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg"
 role="img" aria-label="Table printed by scorewise">
<style>
.{unique_id}-matrix {{
font-family: "Fira Code", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


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


# what is shown


@cache
def evaluation() -> sw.Evaluation:
    """The evaluation of the demonstration's data."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "screening.csv"
        data.write_text(screening_csv())
        t = sw.tally(data, label="outcome", score="risk", positive="ill")
    return sw.evaluate(t, threshold=0.2)


@cache
def tumours(features: tuple[int, ...] = (1, 4)) -> tuple[Any, Any]:
    """Labels and out-of-fold scores of logistic regression on the breast cancer data of scikit-learn."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer()
    y = data.target_names[data.target]
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    return y, cross_val_predict(model, data.data[:, list(features)], y, method="predict_proba")[
        :, 1
    ]


def two_models() -> dict[str, Tally]:
    """The tumours by two features, and by all."""
    features = {"two features": (1, 4), "all features": tuple(range(30))}
    return {name: Tally.of(*tumours(columns)) for name, columns in features.items()}


@cache
def digits() -> tuple[Any, Any]:
    """Labels and out-of-fold probabilities of naive Bayes on the digits of scikit-learn."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    data = load_digits()
    model = GaussianNB(var_smoothing=0.01)
    return data.target, cross_val_predict(model, data.data, data.target, method="predict_proba")


@cache
def readers() -> sw.Ratings:
    """Three models as readers of digits, each taught with other examples, with gaps."""
    from sklearn.datasets import load_digits
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    said = {}
    for name, rows, model in (
        ("ann", slice(0, 400), KNeighborsClassifier(3)),
        ("bob", slice(400, 800), DecisionTreeClassifier(random_state=0)),
        ("cay", slice(800, 900), GaussianNB(var_smoothing=0.01)),
    ):
        said[name] = model.fit(x[rows], y[rows]).predict(x[900:1200]).astype(float)
        said[name][rng.random(300) < 0.1] = np.nan
    return sw.Ratings.of(said)


# drawings

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


def roc() -> str:
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
    for i, (kind, (name, t)) in enumerate(zip(("a", "b"), two_models().items(), strict=True)):
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


def parts() -> str:
    """For each model, from the loss of the best constant down by DSC, and up again by MCB."""
    left, wide, most = 150, 460, 0.25
    tallies = two_models()
    drawn = [_text(24, 34, "Brier score = UNC - DSC + MCB", "bold")]
    told = []
    for i, (name, t) in enumerate(tallies.items()):
        p = curves.decompose(t)
        y = 60 + i * 92
        at = [left + x / most * wide for x in (p.unc, p.unc - p.dsc, p.score)]
        drawn.append(_text(24, y + 34, name))
        bars = (
            ("pale", left, at[0], f"UNC {p.unc:.3f}"),
            ("right", at[1], at[0], f"- DSC {p.dsc:.3f}"),
            ("two", at[1], at[2], f"+ MCB {p.mcb:.4f}"),
        )
        for row, (kind, begin, end, said) in enumerate(bars):
            top = y + row * 22
            drawn.append(_rect(begin, top, max(end - begin, 1.5), 18, kind))
            drawn.append(_text(max(begin, left) + 6, top + 14, said, "small"))
        drawn.append(_path([(at[2], y - 6), (at[2], y + 72)], "line"))
        drawn.append(_text(at[2], y + 84, f"score {p.score:.3f}", "small mid"))
        told.append(f"{name}: {p.unc:.3f} - {p.dsc:.3f} + {p.mcb:.4f} = {p.score:.3f}")
    said = "For each model bars for the three parts of its Brier score. " + "; ".join(told) + "."
    return _picture(640, 70 + 92 * len(tallies), "A loss and its parts", said, drawn)


LABELS, SCORES = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]


def steps() -> str:
    """Six rows: each a step of the ROC curve, and a slanted step of the smROC curve."""
    curve = sw.smroc(LABELS, SCORES)
    parts = [_text(24, 34, "Six rows, walked from the highest score down", "bold")]
    parts += _axes(60, 330, 240, "ROC", "negatives", "positives")
    parts += _axes(400, 330, 240, "smROC", "runs", "climbs")
    plain = curve.roc()
    way = [(60 + 240 * x, 330 - 240 * y) for x, y in zip(plain.x, plain.y, strict=True)]
    parts.append(_path(way, "curve a"))
    points = [(400 + 240 * x, 330 - 240 * y) for x, y in zip(curve.x, curve.y, strict=True)]
    for i, right in enumerate(curve.appropriate):
        parts.append(_path(points[i : i + 2], f"curve {'a' if right else 'b'}"))
        (x0, y0), (x1, y1) = points[i : i + 2]
        low = i > 3
        parts.append(
            _text((x0 + x1) / 2 + (0 if low else 8), (y0 + y1) / 2 + (18 if low else 14),
                  f"{SCORES[i]:g}", f"small {'mid' if low else ''}")
        )  # fmt: skip
    for i, (x, y) in enumerate(way[1:]):
        up = LABELS[i] == 1
        at = (x + 6, y + 44) if up else (x - 40, y + 18)
        parts.append(_text(*at, f"{SCORES[i]:g}", "small"))
    area = curve.area.value
    auroc = sw.measures.auroc(curve.tally).value
    parts += [
        _text(60, 392, f"area {auroc:.3f}"),
        _text(400, 392, f"area {area:.3f}"),
        _path([(500, 387), (528, 387)], "curve a"),
        _text(534, 392, "appropriate", "small"),
        _path([(612, 387), (640, 387)], "curve b"),
        _text(646, 392, "not", "small"),
    ]
    said = (
        "Left, the ROC curve of six rows, made of upright and level steps of equal length. Right, the "
        "score-weighted ROC curve of the same rows: every row is a slanted step, that climbs by its score "
        "if the score is appropriate and by the rest if not. The negative with score 0.6 is the only "
        f"inappropriate one. The areas are {auroc:.3f} and {area:.3f}."
    )
    return _picture(700, 410, "ROC and score-weighted ROC curve of six rows", said, parts)


def terminal(doc: Any, width: int = 80) -> str:
    """The page of a document as one SVG file that asks for nothing from elsewhere."""
    console = Console(
        record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    page = page_of(doc)
    print_document(page, console)
    title = f"scorewise {page.command}"
    return console.export_svg(title=title, code_format=FRAME, unique_id="scorewise")


def _axes(left: float, base: float, size: float, title: str, x: str, y: str) -> list[str]:
    return [
        _rect(left, base - size, size, size, "pale"),
        _path([(left, base - size), (left, base), (left + size, base)], "line"),
        _path([(left, base), (left + size, base - size)], "line"),
        _text(left, base - size - 24, title, "bold"),
        _text(left, base - size - 8, f"share of all {y}", "small soft"),
        _text(left + size, base + 20, f"share of all {x}", "small soft end"),
    ]


PICTURES: dict[str, Callable[[], str]] = {
    "evaluate.svg": lambda: terminal(evaluation().to_dict()),
    "imbalance.svg": imbalance,
    "losses.svg": losses,
    "pairs.svg": pairs,
    "parts.svg": parts,
    "roc.svg": roc,
    "smroc.svg": steps,
    "tally.svg": tally,
}

# figures


def raters() -> Any:
    """Two raters of 60 films, of whom one has a higher threshold."""
    rng = np.random.default_rng(0)
    ann = rng.random(60)
    bob = np.clip(ann + rng.normal(0, 0.15, 60), 0, 1)
    said = {"ann": (ann > 0.62, ann), "bob": (bob > 0.45, bob)}
    return sw.displays.AgreementDisplay.from_raters(said)


def drift() -> Any:
    """A model whose scores have come to mean less."""
    rng = np.random.default_rng(1)

    def sample(rows: int, use: float) -> sw.Tally:
        y = rng.random(rows) < 0.4
        return sw.Tally.of(y, 1 / (1 + np.exp(-(rng.normal(size=rows) + use * (y - 0.4)))))

    return sw.displays.DriftDisplay.from_tallies(sample(3000, 2.0), sample(800, 1.0))


def recalibration() -> Any:
    """Scores that are too bold, put right."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * z - 0.5)))
    return sw.Recalibrator("platt").fit(1 / (1 + np.exp(-z)), y).plot()


def reliability() -> Any:
    """Scores that are too bold: their curve, and where that of calibrated scores would lie."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=1000)
    y = rng.random(1000) < 1 / (1 + np.exp(-(0.5 * z - 0.5)))
    return sw.displays.ReliabilityDisplay.from_predictions(y, 1 / (1 + np.exp(-z)))


def risk_coverage() -> Any:
    """Risk over coverage by two rules of confidence."""
    y, p = digits()
    t = sw.ClassTally.of(y, p)
    drawn = sw.displays.RiskCoverageDisplay.from_tally(t, name="max")
    margin = sw.ClassTally.of(y, p, confidence="margin")
    return sw.displays.RiskCoverageDisplay.from_tally(margin, name="margin", ax=drawn.ax_)


def answers() -> Any:
    """The calibration error of answers over the threshold of quality."""
    rng = np.random.default_rng(0)
    quality = np.where(rng.random(2000) < 0.3, 0.0, rng.beta(6, 1.5, 2000).round(2))
    confidence = np.clip(0.25 + 0.7 * quality + rng.normal(0, 0.1, 2000), 0.01, 0.99)
    a = sw.answers(confidence=confidence, quality=quality)
    return sw.displays.AnswersDisplay.over_tau(a)


def posterior() -> Any:
    """A forest beside the kernel density forest made of it, over two half moons."""
    from sklearn.datasets import make_moons

    x, y = make_moons(300, noise=0.25, random_state=0)
    model = sw.models.KernelDensityForest(random_state=0).fit(x, y)
    both = {"forest": model.forest_, "kernel density forest": model}
    return sw.displays.PosteriorDisplay.from_models(both, x, y)


def confidence() -> Any:
    """Three models on digits, on inverted digits, and far from both."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    model = sw.models.KernelDensityForest(n_estimators=200, random_state=0).fit(x[:900], y[:900])
    isotonic = CalibratedClassifierCV(model.forest_, method="isotonic", cv=5).fit(x[:900], y[:900])
    models = {"forest": model.forest_, "isotonic": isotonic, "kernel density forest": model}
    r = sw.models.in_and_out(models, x[900:], y[900:], 16 - x[900:])
    return sw.displays.ConfidenceDisplay.from_result(r)


def comparison() -> Any:
    """Two models on the same tumours, in one figure."""
    y, few = tumours()
    return sw.compare(y, {"two features": few, "size": tumours((2, 3))[1]}).plot()


def forest() -> Any:
    """The AUROC of tumours by how smooth they are."""
    from sklearn.datasets import load_breast_cancer

    smooth = np.digitize(load_breast_cancer().data[:, 4], [0.08, 0.09, 0.1, 0.11, 0.13])
    words = np.array(["below 0.08", "to 0.09", "to 0.10", "to 0.11", "to 0.13", "above 0.13"])[
        smooth
    ]
    return sw.evaluate(*tumours((2, 3)), by={"smoothness": words}).plot("groups")


# each gives a display, which has a `figure_`, or a figure
FIGURES: dict[str, Callable[[], Any]] = {
    "agreement.png": lambda: sw.agree(readers()).plot(),
    "answers.png": answers,
    "comparison.png": comparison,
    "forest.png": forest,
    "pairs.png": lambda: sw.displays.PairsDisplay.from_ratings(readers()),
    "posterior.png": posterior,
    "smroc.png": lambda: sw.smroc(*tumours()).plot(roc=True, band="simultaneous"),
    "midpoint.png": lambda: sw.displays.MidpointDisplay.from_predictions(*tumours()),
    "density.png": lambda: sw.displays.DensityDisplay.from_predictions(*tumours()),
    "hull.png": lambda: sw.displays.HullDisplay.from_predictions(*tumours()),
    "raters.png": raters,
    "drift.png": drift,
    "recalibration.png": recalibration,
    "reliability.png": reliability,
    "confidence.png": confidence,
    "confusion.png": lambda: sw.displays.ConfusionDisplay.from_predictions(*digits()),
    "risk_coverage.png": risk_coverage,
    **SMROC,
    **KDG,
}


def png(name: str) -> bytes:
    """One figure as a PNG file."""
    made = FIGURES[name]()
    buffer = io.BytesIO()
    save(getattr(made, "figure_", made), buffer)
    return buffer.getvalue()

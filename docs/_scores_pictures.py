"""The drawings of the page on scores."""

from __future__ import annotations

from _pictures import _path, _picture, _rect, _text

import scorewise as sw

LABELS, SCORES = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]


def smroc() -> str:
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


def _axes(left: float, base: float, size: float, title: str, x: str, y: str) -> list[str]:
    return [
        _rect(left, base - size, size, size, "pale"),
        _path([(left, base - size), (left, base), (left + size, base)], "line"),
        _path([(left, base), (left + size, base - size)], "line"),
        _text(left, base - size - 24, title, "bold"),
        _text(left, base - size - 8, f"share of all {y}", "small soft"),
        _text(left + size, base + 20, f"share of all {x}", "small soft end"),
    ]

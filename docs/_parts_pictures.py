"""The drawing of a loss and its parts."""

from __future__ import annotations

from _pictures import _path, _picture, _rect, _text

from scorewise import Tally, curves


def parts(tallies: dict[str, Tally]) -> str:
    """For each model, from the loss of the best constant down by DSC, and up again by MCB."""
    left, wide, most = 150, 460, 0.25
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

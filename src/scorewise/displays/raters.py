"""Raters: whether they really disagree, coefficients of agreement, and each two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np

import scorewise.measures  # noqa: F401 - fills the register
from scorewise.colours import BLUE, GREEN, GREY, ORANGE, VERMILION
from scorewise.columns import Kind
from scorewise.displays import canvas
from scorewise.displays.canvas import UNIT, AnyMidpoint
from scorewise.displays.smroc import plain_curves
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.agreement import BANDS
from scorewise.inference.agreement_weights import Weights
from scorewise.measures.agreement import cohen_kappa
from scorewise.registry import RATER_MEASURES
from scorewise.statistics.smroc import TOLERANCE, why_not_unit
from scorewise.tallies import Ratings

# whether decisions are the same, whether scores are near, what it is called, colour, marker, size
OPINIONS = (
    (True, True, "agree", BLUE, "o", 14),
    (True, False, "same decision, scores apart", GREEN, "^", 22),
    (False, True, "only look like disagreement", ORANGE, "s", 26),
    (False, False, "really disagree", VERMILION, "x", 34),
)
SHADES = ("#FFFFFF", "#F2F2F2", "#E6E6E6", "#DADADA", "#CECECE", "#C2C2C2")
COEFFICIENTS_OF_TWO = "cohen_kappa", "scott_pi", "krippendorff_alpha", "gwet_ac", "brennan_prediger"
COEFFICIENTS_OF_MORE = "fleiss_kappa", "conger_kappa", *COEFFICIENTS_OF_TWO[2:]
MAX_RATERS = 60


class AgreementDisplay(canvas.Display):
    """The smROC curve of each rater, and the scores of two of them against each other.

    `raters` is `{name: (decisions, scores)}`, with scores in [0, 1]; a curve sets the scores against
    the rater's own decisions, or against the labels `y`. Two raters agree on a row when their scores
    lie within the `tolerance`. After `plot`: `lines_` and `points_`, each by name.
    """

    def __init__(
        self,
        raters: Mapping[str, tuple[Any, Any]],
        *,
        tolerance: float = 0.1,
        y: Any = None,
        positive: Any = None,
        kind: Kind | None = None,
        midpoint: AnyMidpoint = "mean",
    ) -> None:
        import scorewise  # by its public name: no picture depends on a room

        if not 0 <= tolerance <= 1:
            raise BadInput(Option("tolerance", tolerance), " is not a number in [0, 1]")
        found = scorewise.raters(raters, y=y, positive=positive, kind=kind, tolerance=tolerance)
        self.opinions = found.opinions
        for name, t in zip(self.opinions.names, self.opinions.tallies, strict=True):
            if why := why_not_unit(t):
                raise BadInput(f"score of {name}: {why}")
        self.tolerance, self.midpoint = tolerance, midpoint

    @classmethod
    def from_raters(
        cls, raters: Mapping[str, tuple[Any, Any]], *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw raters; the options are those of the class, and `pair=` as of `plot`."""
        return cls._plotted(raters, ax=ax, **options)

    def plot(self, ax: Any = None, *, pair: tuple[str, str] | None = None) -> Self:
        """Draw all curves, and the scores of a `pair` of raters (the first two unless named).

        On one given `ax` only the curves.
        """
        names = list(self.opinions.names)
        pair = pair or (names[0], names[1])
        for name in pair:
            if name not in names:
                raise BadInput(f"no rater is named {name!r}; there are {', '.join(names)}")
        self.points_: dict[str, Any] = {}
        return self._panels(ax, (10.8, 6.2), self._curves, partial(self._scores, pair))

    def _curves(self, ax: Any) -> None:
        o = self.opinions
        curves: Any = [(t, name, {}) for t, name in zip(o.tallies, o.names, strict=True)]
        lines = plain_curves(ax, curves, self.midpoint)
        self.lines_ = dict(zip(o.names, lines, strict=True))

    def _scores(self, pair: tuple[str, str], ax: Any) -> None:
        at = [self.opinions.names.index(name) for name in pair]
        decisions, (a, b) = self.opinions.decisions[:, at], self.opinions.scores[:, at].T
        same = decisions[:, 0] == decisions[:, 1]
        near = np.abs(a - b) <= self.tolerance + TOLERANCE  # 0.7 - 0.6 is above 0.1
        ends, label = np.array([0.0, 1.0]), f"scores within {self.tolerance:g}"
        canvas.shade(ax, ends, ends - self.tolerance, ends + self.tolerance, GREY, label)
        few = len(same) <= 2000
        for alike, close, label, colour, marker, size in OPINIONS:
            which = (same == alike) & (near == close)
            if which.any():
                self.points_[label] = ax.scatter(
                    a[which], b[which], s=size if few else size / 4, c=colour,
                    marker=marker, alpha=0.8 if few else 0.3, linewidths=1.2 if marker == "x" else 0,
                    label=f"{label} ({np.count_nonzero(which):,})", rasterized=not few,
                )  # fmt: skip
        ax.set(xlim=UNIT, ylim=UNIT, **canvas.EQUAL)
        canvas.frame(ax, f"score of {pair[0]}", f"score of {pair[1]}", "above", 2)


class OpinionsDisplay(canvas.Display):
    """The smROC curve of each rater, and on how many rows they agree, seem to, or do not.

    `agreement` is what `sw.raters` and `sw.inspect` of several models find. After `plot`: `lines_` by
    rater, and `bars_`.
    """

    def __init__(self, agreement: Any) -> None:
        self.agreement = agreement

    def plot(self, ax: Any = None) -> Self:
        """Draw curves and numbers, on two panels or on as many as are given."""
        return self._panels(ax, (10.8, 5.0), self._curves, self._numbers)

    def _curves(self, ax: Any) -> None:
        self.lines_ = {}
        for r in self.agreement.raters:
            x, y = ([], []) if r.curve is None else (r.curve.x, r.curve.y)
            self.lines_[r.name] = canvas.curve(ax, x, y, f"{r.name}: smAUC {r.area}")
        canvas.unit_square(ax, canvas.SMROC_AXES, "lower right", chance=False)

    def _numbers(self, ax: Any) -> None:
        numbers = self.agreement.numbers
        kinds = zip(("both", "hidden", "apparent", "real"), OPINIONS, strict=True)
        bars = [(label, numbers[kind], colour) for kind, (_, _, label, colour, _, _) in kinds]
        labels, counts, colours = zip(*bars, strict=True)
        self.bars_ = ax.barh(range(len(counts)), counts, color=colours, height=0.6)
        ax.bar_label(self.bars_, [f"{n:,}" for n in counts], padding=3)
        ax.set_yticks(range(len(labels)), [label.replace(", ", ",\n") for label in labels])
        ax.invert_yaxis()
        ax.margins(x=0.12)
        ax.set_box_aspect(1)  # as high as the curves
        within = f"rows; scores within {self.agreement.tolerance:g} of each other are near"
        canvas.frame(ax, within, "")


class CoefficientsDisplay(canvas.Display):
    """A dot with its interval for each coefficient, over the bands from none to almost perfect.

    `estimates` are by the name to write. After `plot`: `dots_` and `lines_` by name, and `bands_`.
    """

    def __init__(self, estimates: Mapping[str, Estimate]) -> None:
        if not estimates:
            raise BadInput("no coefficients to draw")
        self.estimates = dict(estimates)

    @classmethod
    def from_ratings(
        cls, r: Ratings, *, names: Sequence[str] | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw measures of agreement, all usual ones unless named.

        The options are those of the measures, such as weights= and level=.
        """
        two = r.raters is not None and len(r.raters) == 2
        if names is None:
            names = COEFFICIENTS_OF_TWO if two else COEFFICIENTS_OF_MORE
        if unknown := [name for name in names if name not in RATER_MEASURES]:
            registered = ", ".join(sorted(RATER_MEASURES))
            raise BadInput(f"no measure of raters is named {unknown[0]!r}; there are {registered}")
        of = [RATER_MEASURES[name] for name in names]
        return cls({m.title: m(r, **options) for m in of}).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw all of them, the first at the top."""
        many = len(self.estimates)
        (ax,) = self._axes(ax, (7.6, 1.5 + 0.42 * many))
        values = list(self.estimates.values())
        ends = [x for e in values for x in (e.value, e.low) if np.isfinite(x)]
        left = max(-1.0, min([-0.12, *(x - 0.05 for x in ends)]))
        self._shade(ax, left)
        self.dots_, self.lines_ = {}, {}
        for y, (name, e) in enumerate(self.estimates.items()):
            self._row(ax, y, name, e)
        ax.set(xlim=(left, 1.02), ylim=(many - 0.4, -0.6))
        ax.set_yticks(range(many), [canvas.literal(name) for name in self.estimates])
        ax.set_xticks(np.round(np.arange(np.ceil(left / 0.2) * 0.2, 1.01, 0.2), 1))
        levels = " and ".join(canvas.percent(x) for x in sorted({e.level for e in values}))
        ax.set_xlabel(f"agreement, with {levels} intervals")
        return self

    def _shade(self, ax: Any, left: float) -> None:
        self.bands_, low = {}, left
        look = {"va": "bottom", "ha": "center", "fontsize": "small", "color": canvas.ink(ax)}
        for (name, edge), shade in zip(BANDS.items(), SHADES, strict=True):
            high = float(edge)
            end = high if high < 1 else 1.02  # the axis ends a little later
            self.bands_[name] = ax.axvspan(low, end, color=shade, lw=0, zorder=0)
            place = (low + high) / 2, 1.01
            ax.text(*place, name.replace(" ", "\n"), transform=ax.get_xaxis_transform(), **look)
            low = high

    def _row(self, ax: Any, y: int, name: str, e: Estimate) -> None:
        if not e.defined:
            text = canvas.literal(f"undefined: {e.why}")
            self.dots_[name] = ax.text(0.01, y, text, va="center", fontsize="small", color=GREY)
            return
        if np.isfinite(e.low) and np.isfinite(e.high):
            (self.lines_[name],) = ax.plot([e.low, e.high], [y, y], color=BLUE, lw=2.4, zorder=3)
        look = {"color": BLUE, "ms": 8, "mec": "white", "mew": 1.2, "zorder": 4}
        (self.dots_[name],) = ax.plot([e.value], [y], "o", **look)


class PairsDisplay(canvas.Display):
    """A cell for each two raters, darker where they agree more; raters who agree most come first.

    `values` is a table with a row and a column for each name, NaN where two raters share no item. Grey
    cells have no value. After `plot`: `image_`, `texts_`, the numbers, which are absent where raters are
    many, and `order_`, the names from the top.
    """

    def __init__(self, names: Sequence[str], values: Any, title: str = "Cohen's kappa") -> None:
        self.names, self.title = list(names), title
        self.values = np.array(values, np.float64)
        many = len(self.names)
        if self.values.shape != (many, many):
            raise BadInput(
                f"{many} raters need a table of that many rows and columns; this has shape "
                f"{self.values.shape}"
            )
        if not 2 <= many <= MAX_RATERS:
            raise BadInput(f"there are {many} raters; 2 to {MAX_RATERS} can be drawn")
        np.fill_diagonal(self.values, np.nan)

    @classmethod
    def from_ratings(cls, r: Ratings, *, weights: Weights = None, ax: Any = None) -> Self:
        """Draw Cohen's kappa of each two raters; weights as of `measures.cohen_kappa`."""
        if r.raters is None:
            raise BadInput("no pairs to draw: it is not known which rater gave which rating")
        many = len(r.raters)
        values = np.full((many, many), np.nan)
        for i, k in combinations(range(many) if many <= MAX_RATERS else (), 2):
            e = cohen_kappa(r.only([i, k]), weights=weights)
            values[i, k] = values[k, i] = e.value
        return cls(r.raters, values).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: str = "Blues") -> Self:
        """Draw the table."""
        defined = np.isfinite(self.values)
        means = np.where(defined, self.values, 0.0).sum(1) / np.maximum(defined.sum(1), 1)
        means[~defined.any(1)] = np.nan
        order = np.lexsort((np.arange(len(means)), np.nan_to_num(-means, nan=np.inf)))
        self.order_ = [self.names[i] for i in order]
        values = self.values[np.ix_(order, order)]
        side = min(2.8 + 0.5 * len(order), 13.0)
        (ax,) = self._axes(ax, (side + 1.2, side))
        ax.set_facecolor("#E5E5E5")
        texts = [
            ["" if i == j else _short(x) for j, x in enumerate(row)] for i, row in enumerate(values)
        ]
        names = [canvas.literal(name) for name in self.order_]
        rows = [f"{n} ({_short(means[i])})" for n, i in zip(names, order, strict=True)]
        self.image_, self.texts_ = canvas.table(ax, values, texts, names, rows, cmap=cmap, dark=0.6)
        ax.set_ylabel("rater (mean with the others)")
        bar = ax.figure.colorbar(self.image_, ax=ax, shrink=0.8, extend="min")
        bar.set_label(canvas.literal(self.title))
        return self


def _short(x: float) -> str:
    """Two decimals, or a dash.

    >>> _short(-0.001), _short(float("nan"))
    ('0.00', '—')
    """
    # + 0.0 folds -0.0 into 0.0
    return f"{round(x, 2) + 0.0:.2f}" if np.isfinite(x) else "—"

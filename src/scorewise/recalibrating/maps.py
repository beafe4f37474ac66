"""Fitted maps from scores to probabilities: plain numbers, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.special import log_softmax

from scorewise import __version__
from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.classes import ClassKind, ClassRows, class_rows
from scorewise.columns.labels import listed
from scorewise.columns.rows import scores_of
from scorewise.columns.sources import as_table, named_columns
from scorewise.errors import BadInput, Option
from scorewise.recalibrating.cells import Cells, Clip, Scale
from scorewise.recalibrating.methods import METHODS, Parameters
from scorewise.recalibrating.multinomial import TOLERANCE, Linear, Parts, likeliest
from scorewise.show.data import SeenRecord
from scorewise.show.records import Count, Record, Weight, Word, field
from scorewise.tallies import Tally
from scorewise.tallies.joint import GOLDEN, mixed
from scorewise.tallies.losses import class_probabilities, softmax

MAX_ROWS = 10**7  # of several classes
Seal: TypeAlias = Annotated[str, Meta(min_length=64)]
ClassParameters: TypeAlias = dict[str, float | list[float | list[float]]]


class _Fitted(Record):
    version: str = field("Version of scorewise that fitted it.", default=__version__)
    method: Word

    methods: ClassVar[Mapping[str, Any]]
    subject: ClassVar[str]

    @property
    def traits(self) -> Any:
        """The method of the map."""
        return self.methods[self.method]


def fitted(method: str, cells: Cells) -> tuple[Parameters, bool]:
    """The parameters, and whether the labels were smoothed because a threshold tells them apart."""
    m, used = METHODS[method], cells.weighted()
    smooth = m.likely and cells.separable
    return m.fit(used.smoothed() if smooth else used), smooth


class Map(Scale, SeenRecord, _Fitted):
    """The map: all that is needed to apply it."""

    rows: Count
    positives: Count
    smoothed: bool = field("Whether labels were smoothed because a threshold tells them apart.")
    parameters: Parameters = field(
        "The parameters of the method by name, numbers or lists of numbers."
    )
    sha256: Seal = ""

    methods, subject = METHODS, "one score a row"

    @classmethod
    def fit(cls, method: str, t: Tally, clip: float, strength: float = 1.0) -> Map:
        """The map of that method, fitted to a tally; its methods have one strength."""
        scale = Scale.of(t, clip)
        parameters, smoothed = fitted(method, Cells.of(t, scale))
        low, high = t.ends
        return cls(
            method=method,
            **vars(scale),
            low=low,
            high=high,
            rows=t.origin.rows,
            positives=t.origin.positives,
            smoothed=smoothed,
            parameters=parameters,
        )

    @property
    def sound(self) -> bool:
        """Whether the parameters, once read, are those of the method."""
        m = self.traits
        lists = {name for name, x in self.parameters.items() if isinstance(x, list)}
        singles = set(self.parameters) - lists
        return (singles, lists) == (set(m.single), set(m.many)) and self.kind in m.kinds

    def __call__(self, score: Floats) -> Floats:
        """The probabilities of scores."""
        p: Floats = self.traits.apply(self.parameters, self.points(score))
        return p

    def outside(self, score: Floats) -> int:
        """How many scores lie beyond those that the map was fitted to."""
        return int(np.count_nonzero((score < self.low) | (score > self.high)))

    def scores_of(self, p: Any) -> Any:
        """The scores in a column, checked."""
        return scores_of(p, self.kind)


# Several classes.


@dataclass(frozen=True)
class Table:
    """Rows: log probabilities `x`, probabilities `p`, the place of the true class `y`, the weight `w`.

    `row` is what one row weighs: 1 for counts, sum of squares / sum for weights; `cluster` is the number of
    the cluster of each row, if rows come in clusters.
    """

    x: Floats
    p: Floats
    y: Ints
    w: Floats
    classes: tuple[str, ...]
    kind: ClassKind
    row: float = 1.0
    cluster: Ints | None = None

    @classmethod
    def of(cls, rows: ClassRows, clip: float) -> Table:
        """The rows that have weight, sorted by their content, each as often as it counts."""
        w = np.ones(len(rows)) if rows.weight is None else rows.weight
        times: Any = 1 if rows.count is None else rows.count
        kept = np.flatnonzero((w > 0) & (np.broadcast_to(times, w.shape) > 0))
        key = rows.y[kept].astype(np.uint64)  # as good as drawn at random, from the content alone
        for column in (*rows.scores[kept].T, w[kept]):
            bits = np.ascontiguousarray(column + 0.0).view(np.uint64)  # + 0.0 folds -0.0 into 0.0
            key = mixed((key ^ bits) + GOLDEN)
        kept = kept[np.argsort(key, kind="stable")]
        if rows.count is not None:
            if int(rows.count[kept].sum()) > MAX_ROWS:
                raise BadInput(
                    f"{rows.names.count} adds up to more than {MAX_ROWS:,} rows, which are fitted one ",
                    "by one; pass it as ", Option("weight"), " instead",
                )  # fmt: skip
            kept = np.repeat(kept, rows.count[kept])
        scores, w, cluster = rows.scores[kept], w[kept], None
        if rows.cluster is not None:
            cluster = np.unique(rows.cluster[kept], return_inverse=True)[1]
        total = float(w.sum())
        return cls(
            x=log_probabilities(scores, rows.kind, clip),
            p=class_probabilities(scores, rows.kind),
            y=rows.y[kept],
            w=w,
            classes=rows.classes,
            kind=rows.kind,
            row=float((w * w).sum()) / total if total else 1.0,
            cluster=cluster,
        )

    def __len__(self) -> int:
        return len(self.y)

    @property
    def seen(self) -> Bools:
        """Which classes occur."""
        return np.bincount(self.y, minlength=len(self.classes)) > 0

    def at(self, which: Any) -> Table:
        """Some of the rows."""
        cluster = None if self.cluster is None else self.cluster[which]
        x, p, y, w = (column[which] for column in (self.x, self.p, self.y, self.w))
        return replace(self, x=x, p=p, y=y, w=w, cluster=cluster)


def log_probabilities(scores: Floats, kind: ClassKind, clip: float) -> Floats:
    """The logarithms of probabilities kept `clip` from 0; of logits without rounding to 0.

    >>> log_probabilities(np.array([[1.0, 0.0]]), "probability", 1e-7).round(3)
    array([[  0.   , -16.118]])
    """
    if kind == "probability":
        return np.log(np.clip(scores, clip, 1.0))
    logs: Floats = log_softmax(scores, axis=1)
    return logs


@dataclass(frozen=True)
class ClassMethod:
    """A family of maps: its free parts at a strength, and the strengths to choose from.

    `names` are its parameters; `least` gives how many rows it wants for K classes before `auto` tries it.
    """

    name: str
    meaning: str
    parts: Callable[[float, int], Parts]
    names: tuple[str, ...] = ()
    strengths: tuple[float, ...] = (1.0,)
    least: Callable[[int], int] = lambda k: 20 * k

    def fit(
        self, t: Table, strength: float, start: Any = None, exact: float = TOLERANCE
    ) -> tuple[ClassParameters, Any]:
        """The parameters, and the vector they come from, from which a further fit may start."""
        if not self.names:
            return {}, None
        model = Linear(self.parts(strength, len(t.classes)), t.x, t.seen, t.row)
        theta, _ = likeliest(model, t.y, t.w, start=start, exact=exact)
        slope, slopes, mixing, intercepts = model.split(theta)
        weights = np.diag(1 + slope + slopes) + mixing
        parameters: ClassParameters = {
            "slope": max(1 + slope, 0.0),  # no map turns the classes round
            "slopes": np.diag(weights).tolist(),
            "intercepts": intercepts.tolist(),
            "weights": weights.tolist(),
        }
        return {name: parameters[name] for name in self.names}, theta


_STRENGTHS = (1000.0, 100.0, 10.0, 1.0)
CLASS_METHODS = {
    m.name: m
    for m in (
        ClassMethod(
            "identity", "the probabilities as they are", lambda s, k: Parts(), least=lambda k: 0
        ),
        ClassMethod(
            "temperature",
            "all log probabilities times one number, 1 / temperature (Guo et al. 2017)",
            lambda s, k: Parts(slope=s),
            ("slope",),
            least=lambda k: 20,
        ),
        ClassMethod(
            "vector",
            "a slope and an intercept for each class (vector scaling, Guo et al. 2017)",
            lambda s, k: Parts(slopes=s, intercepts=s),
            ("slopes", "intercepts"),
        ),
        ClassMethod(
            "structured",
            "one slope, and slopes, intercepts and a matrix that are drawn towards it",
            lambda s, k: Parts(slope=1.0, slopes=s, mixing=s * k, intercepts=s),
            ("weights", "intercepts"),
            _STRENGTHS,
        ),
        ClassMethod(
            "dirichlet",
            "a matrix times log probabilities plus intercepts (Kull et al. 2019)",
            lambda s, k: Parts(slopes=1.0, mixing=s * k, intercepts=s),
            ("weights", "intercepts"),
            _STRENGTHS,
        ),
    )
}


def new_logits(parameters: ClassParameters, x: NDArray[Any]) -> Any:
    """Logits of log probabilities, numbers or SQL; each row by itself, to the last bit."""
    q: dict[str, Any] = {name: np.asarray(value) for name, value in parameters.items()}
    if "weights" not in q:
        return q.get("slopes", q.get("slope", 1.0)) * x + q.get("intercepts", 0.0)
    z = np.broadcast_to(q["intercepts"], x.shape).astype(x.dtype, order="C")
    for column, weights in zip(x.T, q["weights"].T, strict=True):
        z += weights * column[:, None]
    return z


def mapped(parameters: ClassParameters, x: Floats) -> Floats:
    """The probabilities of log probabilities."""
    return softmax(new_logits(parameters, x))


class ClassMap(_Fitted):
    """The map of several classes: all that is needed to apply it."""

    kind: ClassKind
    clip: Clip = field("Probabilities are kept this far from 0.")
    classes: tuple[str, ...] = field("The classes in the order of the columns.", min_length=2)
    strength: Weight
    rows: Count
    absent: tuple[str, ...] = field("Classes that no row had.")
    parameters: ClassParameters = field(
        "Parameters by name: a number, a list, or a list of rows of a matrix."
    )
    sha256: Seal = ""

    methods, subject = CLASS_METHODS, "several classes"

    @classmethod
    def fit(cls, method: str, t: Table, clip: float, strength: float = 1.0) -> ClassMap:
        """The map of that method at a strength, fitted to rows."""
        m, start = CLASS_METHODS[method], None
        for stronger in (s for s in m.strengths if s > strength):
            _, start = m.fit(t, stronger, start, exact=1e-2)
        parameters, _ = m.fit(t, strength, start)
        return cls(
            method=method,
            kind=t.kind,
            clip=clip,
            classes=t.classes,
            strength=strength,
            rows=len(t),
            absent=tuple(c for c, seen in zip(t.classes, t.seen, strict=True) if not seen),
            parameters=parameters,
        )

    @property
    def sound(self) -> bool:
        """Whether the parameters, once read, are those of the method and of as many classes."""
        k = len(self.classes)
        shapes = {"slope": (), "slopes": (k,), "intercepts": (k,), "weights": (k, k)}
        return set(self.parameters) == set(self.traits.names) and all(
            np.shape(x) == shapes[name] for name, x in self.parameters.items()
        )

    def __call__(self, scores: Floats) -> Floats:
        """The probabilities of rows of scores, one column a class."""
        if self.method == "identity":
            return softmax(scores) if self.kind == "logit" else scores.copy()
        return mapped(self.parameters, log_probabilities(scores, self.kind, self.clip))

    def of_table(self, t: Table) -> Floats:
        """The probabilities of rows that were read already."""
        return t.p if self.method == "identity" else mapped(self.parameters, t.x)

    def outside(self, scores: Floats) -> int:
        """Refused: rows of several classes have no range."""
        raise BadInput("rows of several classes have no range; this is for one score a row")

    def scores_of(self, p: Any) -> Floats:
        """The scores of the classes, checked; columns that have names are found by them."""
        named = named_columns(p)
        if named is not None:
            if set(named) != set(self.classes):
                raise BadInput(
                    f"the columns are {listed(list(named))}, but the map is for the classes "
                    f"{listed(list(self.classes))}; pass one column for each"
                )
            first = named[self.classes[0]]
            size, p = len(first) if hasattr(first, "__len__") else 0, named
        else:
            p = as_table(p)
            k = len(self.classes)
            if p.ndim != 2 or p.shape[1] != k:
                raise BadInput(
                    f"scores have shape {p.shape}; the map is for {k} classes and needs one row of {k} "
                    "scores each"
                )
            size = len(p)
        labels = np.full(size, self.classes[0])
        return class_rows(None, label=labels, score=p, classes=self.classes, kind=self.kind).scores

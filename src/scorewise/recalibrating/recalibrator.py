"""Recalibration as users call it, by the conventions of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, one_of, refuse_beside_tally, refuse_names
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.classes import ClassRows, class_rows, positive_column
from scorewise.columns.reader import warn
from scorewise.columns.roles import Spec
from scorewise.columns.sources import is_source, is_wide, only_column
from scorewise.errors import BadInput, Option
from scorewise.inference.folds import enough_clusters
from scorewise.recalibrating.applying import Applied, apply, to_sql
from scorewise.recalibrating.choosing import Choice, choose
from scorewise.recalibrating.document import (
    Calibrated,
    CalibrateDocument,
    ClassDataRecord,
    calibrate_document,
    read_map,
)
from scorewise.recalibrating.maps import CLASS_METHODS, ClassMap, Map, Table
from scorewise.recalibrating.methods import METHODS, venn_abers_pair
from scorewise.show.data import DataRecord
from scorewise.show.document import dumps
from scorewise.show.result import Pictures, Result
from scorewise.tallies import Tally
from scorewise.tallies.merging import tally_or_source
from scorewise.writing import write

CLIP = 1e-7  # about what 32-bit floats can tell from 1
MIN_SHARE = 1e-12  # of the weight that a class needs
MAX_RATIO = 1e15  # of weights, beyond which a sum of floats knows only the larger
_SETTINGS = ("method", "kind", "folds", "seed", "clip", "level")


def _rows_of(
    p: Any, y: Any, score: Any, classes: Any, positive: Any, options: Mapping[str, Any]
) -> Rows | ClassRows:
    """The rows of a source without `y`, else of scores and labels that were given as columns."""
    if y is None and is_source(p):
        if classes is None:
            return binary_rows(p, score=score, positive=positive, **options)
        if name := "score" if score is not None else "positive" if positive is not None else "":
            raise BadInput(
                Option(name), " is for one score a row and ", Option("classes"),
                " for several; leave out one",
            )  # fmt: skip
        return class_rows(p, classes=classes, **options)
    if y is None:
        raise BadInput("labels are missing; call fit(p, y) with scores and labels")
    if is_wide(p):
        if getattr(y, "ndim", 1) == 2:
            raise BadInput("both are tables; call fit(p, y), with scores first and labels second")
        if positive is not None:
            raise BadInput(
                "positive is for one score a row; the classes of several are named as classes"
            )
        return class_rows(None, label=y, score=p, classes=classes, **options)
    if is_wide(y):
        raise BadInput("labels are a table; call fit(p, y), with scores first and labels second")
    if classes is not None:
        raise BadInput("classes needs a score for each class: pass an n x K table")
    scores = {"score": positive_column(y, p, positive, options["kind"])}
    return binary_rows(None, label=only_column(y), score=scores, positive=positive, **options)


def _why_not_fitted(data: Tally | Table) -> str:
    """Why no map can be learned from rows; empty where one can."""
    if isinstance(data, Table):
        one = "all rows are of one class" if data.seen.sum() < 2 else ""
        return one if len(data) else "there are no rows"
    if data.why_not_ranked:
        return data.why_not_ranked
    share = min(data.negatives, data.positives) / (data.negatives + data.positives)
    if share < MIN_SHARE:
        return (
            f"a class has {share:.2g} of the weight, below {MIN_SHARE:g}; leave out rows of much larger "
            "weight, or weigh them less"
        )
    if data.weighted:
        sides = ((data.neg, data.neg2), (data.pos, data.pos2))
        means = np.concatenate([w2[w > 0] / w[w > 0] for w, w2 in sides])
        ratio = float(means.max() / means.min())
        if ratio > MAX_RATIO:
            return (
                f"some weights are {ratio:.2g} times others, more than {MAX_RATIO:g}; leave out rows of "
                "next to no weight"
            )
    return ""


class Recalibrator(Result):
    """A map from scores to probabilities, learned from rows whose labels are known.

    Scores are one number a row, or for several classes an n x K table, a frame or a mapping from class to
    column, which takes `identity`, `temperature`, `vector`, `structured` and `dirichlet`.

    `method="auto"` tries the maps that suit the data on rows that they were not fitted to, and takes the
    best if it is shown to help; `identity`, `temperature`, `platt`, `beta`, `quadratic`, `spline`,
    `isotonic`, `isotonic_strict`, `histogram` and `venn_abers` are taken when named. `kind` is read off
    the scores unless said: "probability" if all lie in [0, 1], otherwise "score"; "logit" must be said.
    Probabilities are kept `clip` from 0 and 1 on the way to log-odds and in log loss.

    >>> p, y = [0.1, 0.2, 0.3, 0.6, 0.7, 0.9], [0, 1, 0, 0, 1, 1]
    >>> r = Recalibrator("platt").fit(p, y)
    >>> r.transform([0.5, 0.9]).round(3)
    array([0.537, 0.867])
    """

    notes: tuple[str, ...] = ()  # what was guessed and decided in reading the rows
    hints: tuple[str, ...] = ()  # on the columns that it was fitted to
    map_: Map | ClassMap
    classes_: tuple[Any, ...]

    def __init__(
        self,
        method: str = "auto",
        *,
        kind: Kind | None = None,
        folds: int = 5,
        seed: int = 0,
        clip: float = CLIP,
        level: float = 0.95,
    ) -> None:
        self.method, self.kind, self.folds = method, kind, folds
        self.seed, self.clip, self.level = seed, clip, level

    def fit(
        self,
        p: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        label: str | None = None,
        score: str | None = None,
        count: Any = None,
        cluster: Any = None,
        positive: Any = None,
        classes: Spec | Sequence[Any] | None = None,
        missing: Missing = "refuse",
        encoding: str | None = None,
    ) -> Self:
        """Learn the map from scores `p` and labels `y`, or from a `Tally`; scores come first.

        `classes` names the columns of an n x K table. Without `y`, the first argument is a file, a pattern
        of files, a frame or a mapping from name to column, of which `label`, `score`, `sample_weight` and
        `count` name columns, and `classes` says which columns have the scores of which class ("p_*").
        `cluster` names a column, or is one, that says which rows belong together, such as those of a
        patient: methods are then compared on whole clusters that they were not fitted to.
        """
        one_of("method", self.method, ("auto", *dict.fromkeys((*METHODS, *CLASS_METHODS))))
        one_of("kind", self.kind, (None, *get_args(Kind)))
        check(folds=self.folds, seed=self.seed, clip=self.clip, level=self.level)
        p = tally_or_source(p, y)
        from_source = y is None and is_source(p)
        named = {"label": label, "score": score, "encoding": encoding}
        if isinstance(p, Tally):
            refuse_beside_tally(**named)
            if any(given is not None for given in (y, sample_weight, count, positive)):
                raise BadInput("a tally has its labels and weights already; leave out the others")
            if cluster is not None:
                raise BadInput(
                    "a tally knows no single rows, which ", Option("cluster"), " needs; pass scores and "
                    "labels",
                )  # fmt: skip
            return self._learn(p, None)
        if not from_source:
            refuse_names(**named)
        options: dict[str, Any] = {"weight": sample_weight, "count": count, "cluster": cluster}
        options |= {"kind": self.kind, "missing": missing}
        if from_source:
            options |= {"label": label, "encoding": encoding}
        rows = _rows_of(p, y, score, classes, positive, options)
        if from_source:
            warn(rows.notes)
        if isinstance(rows, Rows):
            t = Tally.of_rows(rows, next(iter(rows.scores)), rows.sources)
            self._learn(t if from_source else t.unlabelled(), rows)
        else:
            self._learn(Table.of(rows, self.clip), rows)
        if from_source:
            self.notes, self.hints = rows.notes, rows.hints
        return self

    def _learn(self, data: Tally | Table, rows: Rows | ClassRows | None) -> Self:
        """Learn the map from the tally or the table of these rows."""
        maps: Any = ClassMap if isinstance(data, Table) else Map
        if self.method not in ("auto", *maps.methods):
            names = ", ".join(("auto", *maps.methods))
            raise BadInput(
                f"{self.method} is not a method for {maps.subject}; choose one of {names}"
            )
        if why := _why_not_fitted(data):
            raise BadInput(f"no map can be learned: {why}")
        if isinstance(data, Tally) and self.method != "auto":
            fit = [m.name for m in METHODS.values() if data.kind in m.kinds]
            if self.method not in fit:
                raise BadInput(
                    f"{self.method} needs probabilities or logits; pass ", Option("kind", "logit"),
                    f" if these are logits, or choose one of {', '.join(fit)}",
                )  # fmt: skip
        self._loaded: Calibrated | None = None
        self._choice: Choice | None = None
        self.notes = self.hints = ()
        clustered = data if isinstance(data, Table) else rows
        self.clusters_ = None if clustered is None else clustered.cluster
        if self.clusters_ is not None:
            enough_clusters(self.clusters_, self.folds)
        self.data_, self._rows = data, None if self.clusters_ is None else rows
        if isinstance(data, Tally):
            self.record_: DataRecord | ClassDataRecord = DataRecord.of(data)
            self.classes_ = data.origin.negative, data.origin.positive
        else:
            assert isinstance(rows, ClassRows)
            self.record_, self.classes_ = ClassDataRecord.of(rows), data.classes
        chosen, strength = self.method, 1.0
        if chosen == "auto" or len(maps.methods[chosen].strengths) > 1:
            chosen, strength = self._chose()[:2]
        self.map_ = maps.fit(chosen, data, self.clip, strength)
        return self

    def apply_files(self, files: Any, out: str | Path, **options: Any) -> Applied:
        """Write the rows of files with the probabilities in new columns; the options are those of `apply`.

        All other columns and the order of the rows stay; files may be larger than memory.
        """
        return apply(self.document(), files, out=out, **options)

    @property
    def choice_(self) -> Choice:
        """What was found of each method on rows not seen; made when first asked for."""
        if self._fitted()._loaded is not None:
            raise BadInput("a stored map has its table in to_dict()['table'] only")
        return self._chose()

    def _chose(self) -> Choice:
        if self._choice is None:
            settings = {name: getattr(self, name) for name in ("folds", "seed", "clip", "level")}
            self._choice = choose(self.data_, self.method, **settings, rows=self._rows)
        return self._choice

    @property
    def chosen(self) -> str:
        """The method of the map."""
        return self._fitted().map_.method

    @property
    def table(self) -> tuple[Any, ...]:
        """Each method tried: log loss and Brier on rows not seen, and what it saves against identity."""
        return self.choice_.table

    def transform(self, p: Any) -> Floats:
        """The probability that each score stands for; for several classes, a column for each."""
        m = self._fitted().map_
        return m(m.scores_of(p))

    def to_sql(
        self, column: str | Mapping[str, str] | None = None, *, quote: str = '"'
    ) -> str | dict[str, str]:
        """The map as a SQL expression of a column; of several classes one for each, by class.

        Those take a mapping from class to column, unless the map was fitted to named columns. `quote` goes
        around names: ` in Spark, BigQuery and MySQL; with "" the column is any SQL expression. NULL, NaN
        and what lies outside [0, 1], for probabilities, give NULL.

        >>> r = Recalibrator("isotonic").fit([0.25, 0.5, 0.75, 1], [0, 0, 1, 1])
        >>> print(r.to_sql("p"))
        CASE WHEN "p" >= (-0.0001e0) AND "p" <= 1.0001e0 THEN
        CASE WHEN "p" < 0.75e0 THEN
        CASE WHEN "p" < 0.5e0 THEN 0.0e0 ELSE (4.0e0 * ("p" - 0.5e0)) END
        ELSE 1.0e0 END END
        """
        return to_sql(self.document(), column, quote)

    def predict_proba(self, p: Any) -> Floats:
        """The probabilities of each class: of two, negative in the first column, positive in the second."""
        q = self.transform(p)
        return q if q.ndim == 2 else np.stack([1 - q, q], axis=1)

    def predict_interval(self, p: Any) -> Floats:
        """For `venn_abers`, the probabilities if the row were negative (first column) or positive."""
        m = self._fitted().map_
        scores = m.scores_of(p)
        if m.method != "venn_abers":
            raise BadInput(
                f"{m.method} gives one probability; fit with ", Option("method", "venn_abers")
            )
        return np.stack(venn_abers_pair(m.parameters, scores), axis=1)

    def outside(self, p: Any) -> int:
        """How many scores lie beyond those that the map was fitted to."""
        m = self._fitted().map_
        return m.outside(m.scores_of(p))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in _SETTINGS}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; a map that is fitted already stays as it is."""
        for name, value in settings.items():
            one_of("setting", name, _SETTINGS)
            setattr(self, name, value)
        return self

    def document(self) -> Calibrated:
        """What is written and shown; `scorewise schema calibrate` prints its schema."""
        return self._fitted()._loaded or calibrate_document(self)

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, with what it was made of."""
        write(path, dumps(self.document()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The map that `save` wrote; it gives the same probabilities to the last bit."""
        doc = read_map(path)
        made = cls(kind=doc.map.kind, **vars(doc.settings))
        made._loaded, made.map_ = doc, doc.map
        if isinstance(doc, CalibrateDocument):
            made.classes_ = (doc.data.negative, doc.data.positive)
        else:
            made.classes_ = doc.map.classes
        return made

    def pictures(self) -> Pictures:
        """The map, and reliability before and after; see `displays.RecalibrationDisplay`."""
        from scorewise.displays import RecalibrationDisplay

        if self._fitted()._loaded is not None:
            raise BadInput("a stored map has no rows to draw; fit it again to plot it")
        draw = partial(RecalibrationDisplay.from_recalibrator, self)
        return Pictures({"recalibration": draw}, ("recalibration",))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "map_")

    def __repr__(self) -> str:
        if self.__sklearn_is_fitted__():
            return super().__repr__()
        return f"Recalibrator({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def _fitted(self) -> Self:
        if not self.__sklearn_is_fitted__():
            raise BadInput("the map is not fitted yet; call fit(p, y) or Recalibrator.load first")
        return self


def calibrate(
    source: Any,
    *,
    label: str | None = None,
    score: str | None = None,
    classes: Spec | None = None,
    positive: Any = None,
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    method: str = "auto",
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    clip: float = CLIP,
    encoding: str | None = None,
) -> Recalibrator:
    """Learn a map from the columns of a file or frame; see `Recalibrator`."""
    made = Recalibrator(method, kind=kind, folds=folds, seed=seed, clip=clip, level=level)
    return made.fit(
        source, label=label, score=score, classes=classes, positive=positive, sample_weight=weight,
        count=count, cluster=cluster, missing=missing, encoding=encoding,
    )  # fmt: skip

"""One call for two classes and for several, for columns, frames, files and tallies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from scorewise.checks import check, refuse_beside_tally, refuse_given
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.grouping import Grouping
from scorewise.columns.models import Models
from scorewise.columns.reader import warn
from scorewise.columns.roles import Spec
from scorewise.columns.sources import is_files, is_source
from scorewise.engines import is_engine
from scorewise.engines.file_walk import MEMORY, FileWalk, TallyOptions, is_large
from scorewise.engines.files import distinct_rows, tally_of_files
from scorewise.engines.sums import group_tallies
from scorewise.errors import BadInput, Option
from scorewise.evaluation.groups import ClassGroups, TallyGroups
from scorewise.evaluation.inputs import OF_CLASSES, Inputs, tally_of
from scorewise.evaluation.result import (
    ClassEvaluation,
    Comparison,
    Evaluation,
    Settings,
    refuse_interval,
)
from scorewise.inference.choices import Interval
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.merging import as_list, is_saved, scores_of, sum_of_saved


def evaluate(
    y: Any, p: Any = None, *, label: str | None = None, score: str | Sequence[str] | None = None,
    classes: Spec | Sequence[Any] | None = None, predicted: Any = None, confidence: Any = None,
    weight: Any = None, count: Any = None, positive: Any = None,
    by: Any | Sequence[str] = None, cluster: Any = None, min_rows: int = 20,
    threshold: float = 0.5, interval: Interval | None = None, replicates: int = 2000,
    level: float = 0.95, seed: int = 0, kind: Kind | None = None, missing: Missing = "refuse",
    clip: float | None = None, encoding: str | None = None, memory: str = MEMORY,
) -> Evaluation | Comparison | ClassEvaluation:  # fmt: skip
    """Every measure of labels `y` and scores `p`; of the columns of a file or frame; or of a tally.

    Of two classes, `p` has one score a row, or a column for each class in the order of the sorted labels,
    as scikit-learn's `predict_proba` has them; a row is called positive when the score of the positive
    class is >= `threshold`. Of several classes, `p` is an n x K array, a frame or a mapping from class to
    column, and the decision is the class of the highest score; `confidence` says how sure it is ("max",
    "margin", "entropy", "energy" or a column). With `predicted`, the decisions themselves, `p` is the
    confidence in them. `weight` says how much a row matters, `count` how many rows it stands for. See
    `Tally.of` for `positive`, `kind` and `missing`, `ClassTally.of` for `classes`, and
    `measures.log_loss` for `clip`.

    `by` names columns of groups, or is a column or a mapping to columns: the document then has each measure
    in each group beside the rest of the rows, and `e.groups["north"]` is the evaluation of one. Groups of
    several columns are those combinations that occur. Groups of fewer than `min_rows` rows are shown and
    not judged. Of several classes there are 200 groups at most.

    `cluster` names a column, or is one, that says which rows belong together, such as those of a patient:
    intervals then allow for what rows of one cluster share (two classes).

    `interval` names the interval that a referee asks for (two classes): "delong" and "logit" for AUROC,
    "wilson" and "exact" (Clopper-Pearson) for shares of decisions, "bootstrap" (stratified, percentiles of
    `replicates` resamples) for most measures. Others keep theirs, and `method` says so.

    Without `p`, the first argument is a file, a pattern of files, a frame or a mapping from name to column,
    of which `label`, `score`, `weight`, `count`, `predicted` and `confidence` name columns, and `classes`
    says which columns have the scores of which class, such as "p_*". What is not named is guessed where
    only one guess makes sense. With several scores the result compares them. Files that would take more
    than `memory` are read in batches (two classes, one score): exactly as long as the distinct scores fit,
    and then on a grid, with a `bound` for what that leaves open. Files of saved tallies (.tally) stand for
    the rows that they were made of, with their groups.

    >>> e = evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> e.auroc
    0.889 [0.401, 0.988]
    >>> e["sensitivity"].value
    1.0
    >>> evaluate({"sick": [1, 0, 1], "risk": [0.9, 0.2, 0.4]}, label="sick", score="risk").auroc.value
    1.0
    >>> round(evaluate(["a", "b", "b"], [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]).brier.value, 3)
    0.163
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    >>> evaluate(["a", "b", "b"], p, classes=["a", "b", "c"]).confusion.weight.tolist()
    [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    """
    settings = Settings(threshold, level, seed, clip, interval, replicates)
    refuse_interval(interval, by=by, cluster=cluster, classes=classes, predicted=predicted)
    inputs = Inputs(
        y, p, label, score, encoding, classes, predicted, confidence, weight, count, kind, positive,
        cluster, by, missing,
    )  # fmt: skip
    made = evaluated(inputs, settings, min_rows, memory)
    return next(iter(made.values())) if isinstance(made, Comparison) and len(made) == 1 else made


def evaluated(
    x: Inputs, settings: Settings, min_rows: int, memory: str | None = None
) -> Evaluation | Comparison | ClassEvaluation:
    """The evaluation of inputs; of rows of two classes a `Comparison`, be it of one model.

    Files that take more than `memory` are read in batches.
    """
    check(min_rows=min_rows)
    y = sum_of_saved(x.y) if x.p is None and is_saved(x.y) else x.y
    if isinstance(y, RowTally | Tally | ClassTally | TallySet):
        options = ("p", "label", "score", "encoding", *OF_CLASSES, "weight", "count", "kind")
        groups = () if isinstance(y, RowTally | TallySet) else ("by",)
        refuse_beside_tally(**x.given(*options, "positive", "cluster", *groups))
    if isinstance(y, TallySet):
        return _of_set(y, settings, x.by, min_rows)
    if isinstance(y, Tally):
        return Evaluation(y, settings)
    if isinstance(y, ClassTally):
        _refuse_binary(x, settings)
        return ClassEvaluation(y, settings)
    if isinstance(y, RowTally):
        x = Inputs(y.frame, **scores_of(y, x.by), ids=x.ids)
    in_batches = memory is not None and x.p is None
    if in_batches and (large := _of_large_files(x, settings, min_rows, memory)):
        return large
    rows, rule = x.rows()
    if isinstance(rows, Rows):
        models = Models(dict.fromkeys(rows.scores, rows), notes=rows.notes, columns=True)
        return Comparison(models, settings, min_rows, nameless=x.p is not None)
    _refuse_binary(x, settings)
    refuse_interval(settings.interval, classes=rows)
    t = tally_of(rows, rule)
    made = ClassEvaluation(t.unlabelled() if x.p is not None else t, settings, rows.notes)
    columns: Mapping[str, str] = getattr(rows, "columns", {})  # which decisions lack
    spelled = ",".join(f"{name}={column}" for name, column in columns.items())
    made.columns = x.classes if isinstance(x.classes, str) else spelled
    if rows.groups:
        made.groups = ClassGroups(made, rows, rule, min_rows)
    return made


def _refuse_binary(x: Inputs, settings: Settings) -> None:
    """Refuse options that only two classes have."""
    why = (
        " belongs to two classes; of several, the class of the highest score is the decision "
        "(evaluate one class against the rest for a threshold)"
    )
    refuse_given(why, positive=x.positive)
    if settings.threshold != Settings.threshold:
        raise BadInput(Option("threshold"), why)


def _of_set(
    t: TallySet, settings: Settings, by: Any, min_rows: int, notes: tuple[str, ...] = ()
) -> Evaluation:
    """The evaluation of all rows of a set of tallies, and of its groups, by all its columns or by some."""
    if by is not None:
        t = t.over([by] if isinstance(by, str) else list(by))
    made = Evaluation(t.whole, settings, notes)
    keys = [key for key in t if t[key].origin.rows]
    if t.by and len(keys) < 2:
        one = " / ".join(keys[0]) if keys else ""
        if by is None:
            return made
        raise BadInput(
            f"all rows are in one group by {' and '.join(t.by)}, '{one}'; leave out ", Option("by")
        )
    if t.by:
        sizes = np.array([t[key].origin.rows for key in keys])
        g = Grouping(t.by, np.empty(0, np.int64), keys, sizes, min_rows)
        made.groups = TallyGroups(made, g, [t[key] for key in keys])
    return made


def _of_large_files(x: Inputs, settings: Settings, min_rows: int, memory: Any) -> Evaluation | None:
    """The evaluation of files that do not fit the memory, read in batches; None where they do.

    Several classes, several scores and clusters take all rows at once.
    """
    one = x.score is None or isinstance(x.score, str) or len(x.score) == 1
    if not one or x.given("cluster", *OF_CLASSES):
        return None
    if not is_source(x.y) or not is_files(x.y):
        return None
    files = as_list(x.y)
    if not is_large(files, memory):
        return None
    names = ("label", "score", "positive", "weight", "count", "kind", "missing")
    roles = {name: getattr(x, name) for name in names}
    asked = TallyOptions(roles, x.by, encoding=x.encoding, memory=memory)
    found = tally_of_files(asked, FileWalk(files, digests=False))
    warn(found.notes)
    made = _of_set(found.tallies, settings, x.by, min_rows, found.notes)
    made.hints = found.hints
    return made


@overload
def tally(
    source: Any, *, label: str | None = None, score: str | None = None, weight: str | None = None,
    count: str | None = None, by: None = None, positive: Any = None, kind: Kind | None = None,
    missing: Missing = "refuse", encoding: str | None = None,
) -> Tally: ...  # fmt: skip
@overload
def tally(
    source: Any, *, label: str | None = None, score: str | None = None, weight: str | None = None,
    count: str | None = None, by: str | Sequence[str], positive: Any = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None,
) -> TallySet: ...  # fmt: skip
@overload
def tally(
    source: Any, *, label: str | None = None, score: Sequence[str], weight: str | None = None,
    count: str | None = None, by: str | Sequence[str] | None = None, positive: Any = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None,
) -> RowTally: ...  # fmt: skip
def tally(
    source: Any, *, label: str | None = None, score: str | Sequence[str] | None = None,
    weight: str | None = None, count: str | None = None, by: str | Sequence[str] | None = None,
    positive: Any = None, kind: Kind | None = None, missing: Missing = "refuse",
    encoding: str | None = None,
) -> Tally | TallySet | RowTally:  # fmt: skip
    """The tally of files, globs or any data frame, reading only the columns that are needed.

    Polars lazy frames, DuckDB relations, Dask and PySpark dataframes stay in their engine, which counts the
    rows in cells; beyond 65,536 rows the tally is coarse. (With `count`, those of Polars are read.) `by`
    names columns of groups: there is then a tally of each, in a `TallySet`. Files of text are in UTF-8, or
    in `encoding`, such as "latin-1".

    Of several columns of scores, in a list, the distinct rows are kept with their number, for `compare` and
    `evaluate`, which need what the models say of the same row.

    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9]}, label="y", score="p")
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9], "site": ["a", "a", "b"]}, label="y", score="p",
    ...       by="site")
    <TallySet: 3 rows in 2 groups by site>
    """
    several = score is not None and not isinstance(score, str)
    roles: dict[str, Any] = {
        "label": label, "score": list(score) if several and score else score, "weight": weight,
        "count": count, "positive": positive, "kind": kind, "missing": missing,
    }  # fmt: skip
    if several:
        asked = TallyOptions(roles, by, encoding=encoding)
        if not is_engine(source):
            return distinct_rows(source, asked)
        from scorewise.engines.frames import rows_of_frame  # which imports narwhals

        return rows_of_frame(source, asked)
    in_memory = count is not None and hasattr(source, "collect_schema")  # Polars reads it itself
    if is_engine(source) and not in_memory:
        from scorewise.engines.tallying import tally_frame  # which imports narwhals

        return tally_frame(source, TallyOptions(roles, by))
    rows = binary_rows(source, group=by, encoding=encoding, **roles)
    warn(rows.notes)
    name = next(iter(rows.scores))
    if by is None:
        return Tally.of_rows(rows, name, rows.sources)
    known = Tally.of_rows(rows, name, rows.sources).origin
    return TallySet((*rows.groups,), group_tallies([rows], name), origin=known)


def class_tally(
    source: Any, *, label: str | None = None, classes: Spec | None = None,
    predicted: str | None = None, score: str | None = None, confidence: str | None = None,
    weight: str | None = None, count: str | None = None, kind: Kind | None = None,
    missing: Missing = "refuse", encoding: str | None = None,
) -> ClassTally:  # fmt: skip
    """The tally of several classes of files, globs or any data frame.

    `classes` says which columns hold the scores: "cat=p_cat,dog=p_dog", a pattern such as "p_*", a
    mapping from class to column, or a list of columns. `confidence` is "max", "margin", "entropy" or
    "energy", or another column. With `predicted`, a column of decisions, `score` is the column of the
    confidence in them, and `classes` may list the names of the classes. Files of text are in UTF-8, or in
    `encoding`, such as "latin-1".

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> class_tally(wide, label="y", classes="p_*")
    <ClassTally: 2 rows of 2 classes (probability)>
    """
    if classes is None and predicted is None:
        raise BadInput(
            Option("classes"), " is missing; pass a pattern such as ", Option("classes", "p_*"),
            ", or ", Option("predicted"),
        )  # fmt: skip
    if is_engine(source) and classes is not None and predicted is None and confidence is None:
        from scorewise.engines.frames import rows_of_frame  # which imports narwhals

        roles = {"label": label, "classes": classes, "weight": weight, "count": count, "kind": kind}
        t = rows_of_frame(source, TallyOptions({**roles, "missing": missing}))
        source, label, classes = t.frame, t.roles["label"], t.roles["classes"]
        count = t.count
    rows, rule = Inputs(
        source, None, label, score, encoding, classes, predicted, confidence, weight, count, kind,
        missing=missing,
    ).read()  # fmt: skip
    warn(rows.notes)
    assert not isinstance(rows, Rows)
    return tally_of(rows, rule)

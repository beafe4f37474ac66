"""One call for two classes and for several, for columns, frames, files and tallies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from scorewise.checks import check
from scorewise.columns import Kind, Missing, Rows, binary_rows, take
from scorewise.columns.classes import (
    ClassRows,
    DecidedRows,
    class_rows,
    columns_of_labels,
    decided_rows,
    is_source,
    is_wide,
    numbered,
    only_column,
    positive_column,
    take_classes,
)
from scorewise.columns.files import Opened, open_source
from scorewise.columns.grouping import check_groups
from scorewise.columns.roles import Spec, quoted
from scorewise.columns.rows import group_columns, no_name, warn
from scorewise.engines import is_engine, rows_of_frame
from scorewise.errors import BadInput, Option, Setting, no_scores
from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.large import evaluate_large, evaluate_set
from scorewise.evaluation.models import Comparison, Evaluation, Settings, refuse_interval
from scorewise.inference.choices import Interval
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.gathering import MEMORY
from scorewise.tallies.joint import Rule
from scorewise.tallies.merging import is_saved, saved, scores_of
from scorewise.tallies.row_files import Wanted


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
    check(min_rows=min_rows)
    named = {"label": label, "score": score, "encoding": encoding}
    several = {"classes": classes, "predicted": predicted, "confidence": confidence}
    further = {"weight": weight, "count": count, "kind": kind}
    y = _saved(y, p)
    if isinstance(y, RowTally):
        own = {"p": p, **named, **several, **further, "positive": positive, "cluster": cluster}
        _refuse(own, "a tally has its scores and labels already; leave out ")
        return evaluate(
            y.frame, **scores_of(y, by), threshold=threshold, level=level, seed=seed, clip=clip,
            interval=interval, replicates=replicates, min_rows=min_rows,
        )  # fmt: skip
    if isinstance(y, Tally | ClassTally | TallySet):
        own = {"p": p, **named, **several, **further, "positive": positive, "cluster": cluster}
        own |= {} if isinstance(y, TallySet) else {"by": by}
        _refuse(own, "a tally has its scores and labels already; leave out ")
        if isinstance(y, TallySet):
            return evaluate_set(y, settings, by, min_rows)
        if isinstance(y, Tally):
            return Evaluation(y, settings)
        _refuse_binary(positive, threshold)
        return ClassEvaluation(y, settings)
    options = {**further, "missing": missing}
    given = Given(y, p, named, several, options, positive, by, cluster)
    if p is None:
        large = evaluate_large(given, memory, settings, min_rows)
        if large is not None:
            return large
    rows, rule = rows_to_judge(given)
    if isinstance(rows, Rows):
        made = Comparison(rows, settings, nameless=p is not None, min_rows=min_rows)
        return made if len(made) > 1 else next(iter(made.values()))
    _refuse_binary(positive, threshold)
    refuse_interval(interval, classes=rows)
    if isinstance(rows, ClassRows):
        t = ClassTally.of_rows(rows, rule=rule, sources=rows.place.sources)
    else:
        t = ClassTally.of_decided(rows, sources=rows.place.sources)
    several_of = ClassEvaluation(t.unlabelled() if p is not None else t, settings, rows.notes)
    several_of.columns = _spelled(rows, classes)
    if rows.groups:
        from scorewise.evaluation.groups import ClassGroups

        several_of.groups = ClassGroups(several_of, rows, rule, min_rows)
    return several_of


def _spelled(rows: ClassRows | DecidedRows, classes: Any) -> str:
    """The columns of the scores of a file, as --classes names them."""
    if isinstance(classes, str):
        return classes
    named = rows.columns if isinstance(rows, ClassRows) else {}
    return ",".join(f"{c}={column}" for c, column in named.items())


def _saved(y: Any, p: Any) -> Any:
    """The sum of saved tallies, where the source names such files; else the source."""
    return saved(y) if p is None and is_saved(y) else y


AnyRows = Rows | ClassRows | DecidedRows


@dataclass(frozen=True)
class Given:
    """What a call of `evaluate` gave: labels and scores, or a source without `p`.

    `named` are the label, the score and the encoding of a source; `several` the classes, the predicted
    class and the confidence of several classes; `options` weight, count, kind and missing.
    """

    y: Any
    p: Any
    named: Mapping[str, Any]
    several: Mapping[str, Any]
    options: Mapping[str, Any]
    positive: Any = None
    by: Any = None
    cluster: Any = None


def rows_to_judge(given: Given) -> tuple[AnyRows, Rule]:
    """The rows that a call of `evaluate` means, of two classes or several, and the rule of confidence."""
    if given.p is None:
        if not is_source(given.y):
            raise no_scores("evaluate(y, p)", 'evaluate("file.csv", label=..., score=...)')
        rows, rule = _from_source(given)
        if not len(rows) or (rows.count is not None and not rows.count.any()):
            where = f"{', '.join(rows.place.sources)}: " if rows.place.sources else ""
            raise BadInput(
                f"{where}no rows are left to judge; {rows.dropped} were dropped as missing"
            )
        warn(rows.notes)
    else:
        _refuse(
            given.named,
            "{} belongs to files and frames, but labels and scores are given as columns",
        )
        rows, rule = _from_columns(given)
    own_confidence = given.several["confidence"] is not None
    if isinstance(rows, ClassRows) and len(rows.classes) == 2 and not own_confidence:
        rows = rows.of_two(given.positive)
    return rows, rule


_OF_TWO = " belongs to several classes, and clusters to two; evaluate one class against the rest"


def _from_columns(given: Given) -> tuple[AnyRows, Rule]:
    """The rows of labels and scores, and the rule of confidence."""
    y, p = only_column(given.y), only_column(given.p)
    classes, predicted, confidence = given.several.values()
    options: Any = given.options
    positive, cluster = given.positive, given.cluster
    groups = group_columns(given.by, "labels and scores")
    if cluster is not None:
        _refuse(given.several, after=_OF_TWO)
        p = positive_column(y, p, positive, options["kind"])
    if predicted is not None:
        if is_wide(p) or confidence is not None:
            raise BadInput(
                Option("predicted"),
                " goes with one confidence a row, as p; leave it out where each class has a score",
            )
        columns = {"label": y, "predicted": predicted, "confidence": p, "classes": classes}
        return decided_rows(None, **columns, groups=groups, **options), "max"
    if is_wide(p):
        rule, own = _rule(confidence, isinstance(confidence, str | None))
        made = take_classes(y, p, classes=classes, confidence=own, groups=groups, **options)
        return made, rule
    _refuse(
        given.several,
        after=" belongs to several classes, but p has one score a row; pass one score for each class "
        "(n x K), or the decisions as predicted",
    )
    no_name("cluster", cluster)
    scores = {"score": p}
    return take(y, scores, groups=groups, cluster=cluster, positive=positive, **options), "max"


def _from_source(given: Given) -> tuple[AnyRows, Rule]:
    """The rows that the options mean, and the rule of confidence."""
    classes, predicted, confidence = given.several.values()
    source, by, cluster = given.y, given.by, given.cluster
    columns = {**given.options, **given.named}
    score = columns.pop("score")
    if predicted is None and classes is None:
        if confidence is not None:
            raise BadInput(
                Option("confidence"), " belongs to several classes; pass ", Option("classes"),
                ' too, such as "p_*"',
            )  # fmt: skip
        return _of_two(given, score, columns), "max"
    if cluster is not None:
        _refuse(given.several, after=_OF_TWO)
    columns["groups"] = by
    if score is not None and not isinstance(score, str):
        if len(score) > 1:
            raise BadInput(
                "several classes of one model at a time; pass one ", Option("score"),
                ", the confidence",
            )  # fmt: skip
        score = next(iter(score), None)
    if predicted is not None:
        if confidence is not None:
            raise BadInput(
                Option("confidence"), " belongs to scores of each class; with ", Option("predicted"),
                ", ", Option("score"), " names its column",
            )  # fmt: skip
        known = _listed(classes)
        return decided_rows(
            source, predicted=predicted, confidence=score, classes=known, **columns
        ), "max"
    if score is not None:
        raise BadInput(
            Option("score"), " is the confidence in decisions and goes with ", Option("predicted"),
            "; with ", Option("classes"), ", leave it out",
        )  # fmt: skip
    rule, own = _rule(confidence, confidence is None or confidence in get_args(Rule))
    return class_rows(source, classes, confidence=own, **columns), rule


def _of_two(given: Given, score: Any, options: dict[str, Any]) -> Rows | ClassRows:
    """The rows of two classes; of the scores of several where these are what the columns hold."""
    opened, by = open_source(given.y, options.pop("encoding")), given.by
    two = {"groups": by, "cluster": given.cluster, "positive": given.positive}
    try:
        rows = binary_rows(opened, score=score, **two, **options)
    except BadInput:
        guess = score is None and given.cluster is None
        if guess and (guessed := _guessed(opened, by, options)):
            return guessed
        raise
    if by is not None:
        names: dict[str, Any] = {"score": [*rows.scores], "label": rows.names.label}
        names |= {} if rows.weight is None else {"weight": rows.names.weight}
        names |= {} if rows.count is None else {"count": rows.names.count}
        check_groups(by, names)
    return rows


def _guessed(opened: Opened, by: Any, options: Mapping[str, Any]) -> ClassRows | None:
    """Rows of the scores of classes, where the values of the label name their columns."""
    try:
        label, columns = columns_of_labels(opened, options["label"], options["kind"])
    except BadInput:  # the columns that were asked for are refused in any case
        return None
    if not columns:
        return None
    try:
        rows = class_rows(opened, columns, groups=by, **options)
    except BadInput:
        if len(columns) == 2:  # which two numbers of any kind may be
            return None
        raise
    note = (
        f"classes: columns {quoted([*columns.values()])} (not named; taken because they are named as the "
        f"values of '{label}' are)"
    )
    return replace(rows, notes=(note, *rows.notes), ordered=numbered(rows.classes))


def _rule(confidence: Any, by_name: bool) -> tuple[Any, Any]:
    """The rule of confidence, or the user's own column of confidence."""
    return (confidence or "max", None) if by_name else ("max", confidence)


def _listed(classes: Any) -> Sequence[str] | None:
    """The names of the classes, beside decisions."""
    if classes is None:
        return None
    names = [c.strip() for c in classes.split(",")] if isinstance(classes, str) else list(classes)
    if not all(names) or any(mark in str(name) for name in names for mark in "*="):
        raise BadInput(
            Option("classes", classes), " beside ", Option("predicted"),
            ' lists the names of the classes, such as "cat,dog,bird"; leave it out to take those ',
            "that occur",
        )  # fmt: skip
    return names


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
        roles = {"label": label, "classes": classes, "weight": weight, "count": count, "kind": kind}
        t = rows_of_frame(source, Wanted({**roles, "missing": missing}))
        source, label, classes = t.frame, t.roles["label"], t.roles["classes"]
        count = t.count
    given = Given(
        source,
        None,
        {"label": label, "score": score, "encoding": encoding},
        {"classes": classes, "predicted": predicted, "confidence": confidence},
        {"weight": weight, "count": count, "kind": kind, "missing": missing},
    )
    rows, rule = _from_source(given)
    warn(rows.notes)
    if isinstance(rows, ClassRows):
        return ClassTally.of_rows(rows, rule=rule, sources=rows.place.sources)
    assert isinstance(rows, DecidedRows)
    return ClassTally.of_decided(rows, sources=rows.place.sources)


def _refuse(options: Mapping[str, Any], before: str = "", after: str = "") -> None:
    """Refuse options that are given and do not belong there."""
    kind = Option if after else Setting
    extra = [(" and ", kind(name)) for name, value in options.items() if value is not None]
    if extra:
        raise BadInput(before, *[part for pair in extra for part in pair][1:], after)


def _refuse_binary(positive: Any, threshold: float) -> None:
    """Refuse options that only two classes have."""
    _refuse(
        {"positive": positive, "threshold": None if threshold == Settings.threshold else 1},
        after=" belongs to two classes; of several, the class of the highest score is the decision "
        "(evaluate one class against the rest for a threshold)",
    )

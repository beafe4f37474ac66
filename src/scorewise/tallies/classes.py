"""The tally of several classes: what is left of rows with a score for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.arrays import EqualByFields, Floats, Ints
from scorewise.columns import Kind, Missing
from scorewise.columns.classes import ClassKind, ClassRows, DecidedRows, class_rows, decided_rows
from scorewise.columns.labels import REST
from scorewise.errors import BadInput, Option
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.joint import Joint, Marks, Rule, confidence
from scorewise.tallies.losses import (
    CLASS_LOSSES,
    ClassLoss,
    Moments,
    add_losses,
    class_losses,
    class_probabilities,
    log_of_truth,
)
from scorewise.tallies.origin import Stored
from scorewise.tallies.sorting import Numbers
from scorewise.tallies.tally import Tally, masses, origin_of

RIGHT = {"positive": "correct", "negative": "wrong"}


@dataclass(frozen=True, eq=False, repr=False)
class ClassTally(Stored, EqualByFields):
    """Labels against scores of several classes, part by part; `a + b` merges each part.

    `confusion` has the decisions (the class of the highest score, of equal ones the first), `top` the
    highest probability against whether it was right, `ranked` the same for the confidence asked for,
    `each` the probabilities of each class by true class, `losses` the exact sums of each proper score
    by true class, `joint` whole rows. `one(c)` is the binary tally of a class against the rest. Where
    only decisions and their confidence are known, `each`, `losses` and `joint` are empty. `rule` says
    which labels the columns were taken for, where these had no names. `ordered` says whether the order of
    the classes means something: they are numbers, or `classes=` lists them.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    >>> t = ClassTally.of(["a", "b", "b"], p, classes=["a", "b", "c"])
    >>> t
    <ClassTally: 3 rows of 3 classes (probability)>
    >>> t.confusion.weight.tolist()
    [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    >>> t.one("b")
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """

    classes: tuple[str, ...]
    kind: ClassKind
    confusion: Confusion
    top: Tally
    ranked: Tally
    each: tuple[Marks, ...] = ()
    losses: dict[ClassLoss, tuple[Moments, ...]] | None = None
    joint: Joint | None = None
    rule: str = ""
    ordered: bool = False
    # sums of losses may differ by rounding
    _identity = ("classes", "kind", "confusion", "top", "ranked", "each", "joint")

    @classmethod
    def of(
        cls, y: Any, scores: Any, *, classes: Sequence[Any] | None = None,
        kind: ClassKind | None = None, weight: Any = None, count: Any = None,
        missing: Missing = "refuse", confidence: Rule | Any = "max",
    ) -> ClassTally:  # fmt: skip
        """The tally of labels and an n x K table of probabilities or logits; see `class_rows`.

        `confidence` is "max", "margin", "entropy" or "energy", or a column of your own.
        """
        named = isinstance(confidence, str)
        rows = class_rows(
            None, label=y, score=scores, classes=classes, kind=kind, weight=weight, count=count,
            missing=missing, confidence=None if named else confidence,
        )  # fmt: skip
        return cls.of_rows(rows, rule=confidence if named else "max").unlabelled()

    @classmethod
    def of_decisions(
        cls, y: Any, predicted: Any, confidence: Any, *, classes: Sequence[Any] | None = None,
        kind: Kind | None = None, weight: Any = None, count: Any = None,
        missing: Missing = "refuse",
    ) -> ClassTally:  # fmt: skip
        """The tally of labels and decisions with the confidence in each; see `decided_rows`.

        >>> t = ClassTally.of_decisions(["a", "b", "b"], ["a", "b", "c"], [0.9, 0.8, 0.4])
        >>> t.classes, t.top
        (('a', 'b', 'c'), <Tally: 3 rows, 2 positive, on 3 scores (probability)>)
        """
        rows = decided_rows(
            None, label=y, predicted=predicted, confidence=confidence,
            classes=classes, kind=kind, weight=weight, count=count, missing=missing,
        )  # fmt: skip
        return cls.of_decided(rows).unlabelled()

    @classmethod
    def of_decided(cls, rows: DecidedRows, *, sources: tuple[str, ...] = ()) -> ClassTally:
        """The tally of checked rows of decisions."""
        origin, right = origin_of(rows, "confidence", sources, **RIGHT), rows.called == rows.y
        top = Tally.of_labels(right, rows.confidence, rows, rows.kind, origin)
        confusion = Confusion.of(rows.y, rows.called, *_masses(rows), rows.classes)
        kind: ClassKind = "logit" if rows.kind == "logit" else "probability"
        return cls(rows.classes, kind, confusion, top, top)

    @classmethod
    def of_rows(
        cls, rows: ClassRows, *, rule: Rule = "max", sources: tuple[str, ...] = ()
    ) -> ClassTally:
        """The tally of checked rows."""
        (w, w2), k = _masses(rows), len(rows.classes)
        y, scores = rows.y, rows.scores
        p = class_probabilities(scores, rows.kind)
        predicted, origin = scores.argmax(1), origin_of(rows, "max", sources, **RIGHT)

        def against(values: Floats, kind: Kind, score: str) -> Tally:
            return Tally.of_labels(predicted == y, values, rows, kind, replace(origin, score=score))

        top = ranked = against(confidence(p, "probability")[0], "probability", "max")
        if (own := rows.confidence) is not None:
            inside = not len(own) or (own.min() >= 0 and own.max() <= 1)
            ranked = against(own, "probability" if inside else "score", rows.confidence_name)
        elif rule != "max":
            ranked = against(*confidence(scores, rows.kind, rule), rule)
        log = log_of_truth(y, scores, rows.kind)
        losses = {
            loss: _moments(class_losses(y, p, log, loss), y, w, w2, k) for loss in CLASS_LOSSES
        }
        confusion = Confusion.of(y, predicted, w, w2, rows.classes)
        used, true = w > 0, y
        if not used.all():
            p, scores, true = p[used], scores[used], true[used]
            w, w2 = w[used], w2[used]
        return cls(
            classes=rows.classes,
            kind=rows.kind,
            confusion=confusion,
            top=top,
            ranked=ranked,
            each=tuple(Marks.of(p[:, c], true, w, w2) for c in range(k)),
            losses=losses,
            joint=Joint.of(scores, true, w, w2),
            rule=rows.rule,
            ordered=rows.ordered,
        )

    def unlabelled(self) -> ClassTally:
        """The same without a name of the labels, which arrays do not have."""
        return replace(self, top=self.top.unlabelled(), ranked=self.ranked.unlabelled())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.top.origin.rows

    @property
    def cells(self) -> int:
        """The number of distinct confidences."""
        return self.top.cells

    @property
    def weight(self) -> Numbers:
        """The weight of each class in truth."""
        total: Numbers = self.confusion.weight.sum(1)
        return total

    @property
    def weight2(self) -> Numbers:
        """The sums of squared weights of each class in truth."""
        total: Numbers = self.confusion.weight2.sum(1)
        return total

    def one(self, name: Any) -> Tally:
        """The binary tally of the probabilities of one class against the rest."""
        return self.pair(name, None)

    def pair(self, first: Any, second: Any) -> Tally:
        """The probabilities of the first class on rows of the two classes alone."""
        if not self.each:
            raise BadInput("only the confidence is known; scores of each class are needed for this")
        at = self._known(first)
        against = None if second is None else self._known(second)
        score, neg, pos, neg2, pos2 = self.each[at].cells(at, against)
        # how many rows a weight stands for; of unequal weights, how many equal ones are worth as much
        rows = [
            round(float(w.sum()) ** 2 / float(w2.sum())) if w2.any() else 0
            for w, w2 in ((neg, neg2), (pos, pos2))
        ]
        origin = replace(
            self.top.origin, positive=self.classes[at], score=self.classes[at],
            negative=REST if against is None else self.classes[against],
            rule="one against the rest", negatives=rows[0], positives=rows[1],
        )  # fmt: skip
        return Tally(score, neg, pos, neg2, pos2, origin=origin)

    def decided(self, name: Any) -> Confusion:
        """The decisions for or against one class: the two-by-two table that binary measures take.

        >>> t = ClassTally.of(["a", "b", "b"], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]],
        ...                   classes=["a", "b", "c"])
        >>> t.decided("b")
        Confusion(classes=('the rest', 'b'), weight=[[1, 0], [1, 1]])
        """
        at, tables = self._known(name), []
        for w, rest in self._elsewhere:
            tn, fp = (np.delete(x[:, at], at).sum() for x in (rest, w))
            tables.append(np.array([[tn, fp], [rest[at, at], w[at, at]]]))
        return Confusion(tables[0], tables[1], (REST, self.classes[at]))

    @cached_property
    def _elsewhere(self) -> list[tuple[Numbers, Numbers]]:
        """Weights and squares, and by true class and class those of rows decided for any other class.

        Added from both ends, because a difference of sums of weights may lie below 0.
        """
        sums = []
        for w in (self.confusion.weight, self.confusion.weight2):
            rest = np.zeros_like(w)
            rest[:, 1:] = w.cumsum(1)[:, :-1]
            rest[:, :-1] += w[:, ::-1].cumsum(1)[:, ::-1][:, 1:]
            sums.append((w, rest))
        return sums

    @cached_property
    def wins(self) -> Floats:
        """By own class and other class: the weight of pairs in which the own row scores higher.

        Scores are those of the own class; ties count half.
        """
        k = len(self.classes)
        return np.stack([marks.wins(c, k) for c, marks in enumerate(self.each)])

    def _known(self, name: Any) -> int:
        word = str(name)
        if word not in self.classes:
            raise BadInput(f"no class is named {word!r}; there are {', '.join(self.classes)}")
        return self.classes.index(word)

    def __getattr__(self, name: str) -> Any:
        """What only a tally of two classes has: told, because measures of two classes ask for it."""
        if name in Tally.__dataclass_fields__ or (name in Tally.__dict__ and name[0] != "_"):
            raise BadInput(
                "this is for two classes, and the tally has several; take .top for the confidence, or "
                ".one(class) for a class against the rest"
            )
        raise AttributeError(f"ClassTally has no attribute {name}")

    def __add__(self, other: ClassTally) -> ClassTally:
        """The tally of the rows of both; classes and kind must be the same."""
        if not isinstance(other, ClassTally):
            return NotImplemented
        if self.classes != other.classes:
            raise BadInput(
                f"cannot merge tallies of the classes {self.classes} and {other.classes}; make ",
                "them with the same ", Option("classes"),
            )  # fmt: skip
        if self.kind != other.kind or bool(self.each) != bool(other.each):
            raise BadInput("cannot merge tallies of different kinds of scores")
        joint = losses = None
        if self.joint is not None and other.joint is not None:
            joint = self.joint + other.joint
        if self.losses is not None and other.losses is not None:
            losses = add_losses(self.losses, other.losses)
        return ClassTally(
            self.classes, self.kind, self.confusion + other.confusion, self.top + other.top,
            self.ranked + other.ranked,
            tuple(a + b for a, b in zip(self.each, other.each, strict=True)), losses, joint,
            self.rule if self.rule == other.rule else "", self.ordered and other.ordered,
        )  # fmt: skip

    def __repr__(self) -> str:
        content = self.kind if self.each else "decisions with confidence"
        return f"<ClassTally: {self.rows:,} rows of {len(self.classes)} classes ({content})>"


def _masses(rows: ClassRows | DecidedRows) -> tuple[Numbers, Numbers]:
    """What each row weighs, and the squares; counts are their own squares."""
    w, w2 = masses(rows)
    ones = np.ones(len(rows), np.int64)
    return (ones, ones) if w is None else (w, w2)


def _moments(charge: Floats, y: Ints, w: Numbers, w2: Numbers, k: int) -> tuple[Moments, ...]:
    """The moments of a loss by true class."""
    moments = []
    for at in (y == c for c in range(k)):
        weight = w[at]
        moments.append(Moments.of(charge[at], weight, weight if w2 is w else w2[at]))
    return tuple(moments)

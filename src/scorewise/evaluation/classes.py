"""Every measure of a model of several classes, overall and class by class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from scorewise.errors import plain
from scorewise.estimate import Estimate
from scorewise.evaluation.models import Evaluation, Settings
from scorewise.registry import CLASS_MEASURES, Lazy, Measured
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, Confusion

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures
    from scorewise.evaluation.document import EvaluationDocument


class ClassEvaluation(Shown, Measured):
    """Each measure of several classes as an attribute and by its name: `e.accuracy`, `e["accuracy"]`.

    Prints as a table. `e.top` is the `Evaluation` of the confidence against whether the decision was
    right, `e.each["cat"]` that of the scores of one class against the rest. All of them are made when
    they are first asked for, because some measures of calibration take a second. The scores themselves
    are in `e.tally`, the decisions in `e.confusion`. `e.groups["north"]` is the evaluation of the rows of a
    group, where columns of groups were named (`by`).
    """

    tally: ClassTally
    settings: Settings
    _what = "measure of several classes"

    def __init__(self, tally: ClassTally, settings: Settings, notes: tuple[str, ...] = ()) -> None:
        self.tally, self.settings, self.notes = tally, settings, notes
        self.groups: Mapping[str, ClassEvaluation] = {}
        self.columns = ""  # of the scores in a file, as `classes` names them
        super().__init__(CLASS_MEASURES, vars(settings))

    def _make(self, name: str) -> Estimate:
        return CLASS_MEASURES[name].under(self._options, self.tally)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.tally.classes

    @property
    def confusion(self) -> Confusion:
        """Weight per true class and decision."""
        return self.tally.confusion

    @cached_property
    def top(self) -> Evaluation:
        """The confidence against whether the decision was right."""
        made = Evaluation(self.tally.ranked, self.settings)
        made.of_classes = True
        return made

    @cached_property
    def each(self) -> Each:
        """The scores of each class against the rest, by the name of the class."""
        return Each(self.tally, self.settings)

    def document(self) -> EvaluationDocument:
        """What is written and shown; `scorewise schema evaluate` prints its schema."""
        return self._document

    def brief(self) -> EvaluationDocument:
        """The document of the first screen."""
        from scorewise.evaluation.document import class_document

        return class_document(self, every=False)

    @cached_property
    def _document(self) -> EvaluationDocument:
        from scorewise.evaluation.document import class_document

        return class_document(self)

    def pictures(self) -> Pictures:
        """ROC, precision-recall and reliability of each class, confusion, and risk over coverage."""
        from scorewise.evaluation.pictures import pictures_of_classes

        return pictures_of_classes(self)


class Each(Lazy[Evaluation]):
    """The evaluation of each class against the rest, made when it is first asked for."""

    def __init__(self, tally: ClassTally, settings: Settings) -> None:
        self._tally, self._settings = tally, settings
        super().__init__(tally.classes if tally.each else ())

    def _make(self, name: str) -> Evaluation:
        return Evaluation(self._tally.one(name), self._settings)

    def _unknown(self, name: str) -> str:
        if not self._tally.each:
            return "only the confidence is known; scores of each class are needed"
        return f"no class is named {name}; there are {', '.join(self)}"

    def __repr__(self) -> str:
        return f"<evaluations of {plain(', '.join(self)) or 'no class'}, each against the rest>"

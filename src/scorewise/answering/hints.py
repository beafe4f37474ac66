"""What a reader of judged answers should be told in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from scorewise.answering.measures import WHY
from scorewise.views.words import amount, counted, named, quoted, shown, whole_percent

if TYPE_CHECKING:
    from scorewise.answering.judged import Judged
    from scorewise.answering.result import Answers

FEW_VALUES, SURE, FEW_ANSWERS = 20, 0.5, 50


def hints(a: Answers) -> Iterator[str]:
    """Remarks, confidence by confidence, and on small groups."""
    for name, j in a.items():
        yield from _of(quoted(name), j)
    small = {
        " / ".join(key): min(j.answers for j in part.values())
        for key, part in a.groups.items()
        if part and min(j.answers for j in part.values()) < FEW_ANSWERS
    }
    if small:
        said = named([f"{quoted(key)} ({n})" for key, n in small.items()])
        yield f"fewer than {FEW_ANSWERS} answers: {said}; there chance alone makes an ECE large"


def _of(name: str, j: Judged) -> Iterator[str]:
    if not j.answers:
        yield f"{name} is missing from every answer"
        return
    t = j.tally
    if why := t.why_not_ranked:
        yield f"{name}: {WHY[why]} at tau {j.settings.tau:g}; measures that need both are undefined"
    gap = j["overconfidence"]
    word = "overconfident" if gap.value > 0 else "underconfident"
    if gap.low > 0 or gap.high < 0:
        if gap.value < 0:
            gap = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
        says, right = j["mean_confidence"].value, j["accuracy"].value
        yield (
            f"{name} says {whole_percent(says)} and is right in {whole_percent(right)}: {word} by {gap}"
        )
    if len(t.score) <= FEW_VALUES and j.answers >= FEW_ANSWERS:
        yield (
            f"{name} takes only {counted(len(t.score), 'value')}, so answers are ranked in as many "
            f"steps"
        )
    if t.ends[0] >= SURE and j.answers >= FEW_ANSWERS:
        yield f"{name} is never below {shown(t.ends[0])}"
    area = j["auroc"]
    if area.defined and area.high < 0.5:
        yield f"{name} is higher where the answer is wrong: AUROC {area}"
    elif area.defined and area.low <= 0.5:
        yield (
            f"these {amount(j.answers)} answers do not show that {name} is higher where they are "
            f"correct: AUROC {area}"
        )

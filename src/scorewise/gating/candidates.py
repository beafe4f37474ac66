"""What is judged: the rows of a candidate beside their baselines, or a result of another verb."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scorewise.agreeing import Agreement
from scorewise.columns.classes import is_source
from scorewise.columns.paths import FORMATS
from scorewise.drifting import Drift
from scorewise.errors import BadInput, Option, plain
from scorewise.estimate import Estimate
from scorewise.evaluation import ClassEvaluation, Evaluation, ModelComparison, compare, evaluate
from scorewise.evaluation.document import class_data
from scorewise.gating.document import BaselineRecord
from scorewise.gating.files import fingerprint, saved_result
from scorewise.gating.requirements import (
    Judged,
    Requirement,
    by_rule_of_three,
    complement,
    judged,
    why_degenerate,
)
from scorewise.inference.effects import difference
from scorewise.inference.scales import fewest, z
from scorewise.judging import Judgement
from scorewise.registry import CLASS_MEASURES, MEASURES, Measure
from scorewise.show.data import DataRecord
from scorewise.show.words import counted, quoted
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.merging import is_saved, saved, unread

ENDINGS = tuple(end for known in FORMATS.values() for end in known.endings)


class Found(NamedTuple):
    """An estimate that a requirement is judged by, and the rows that it is of.

    `why` says why there is none to judge by, and `needed` how many rows it would take at least, where that
    is known (0: no number would do).
    """

    of: str
    measure: str
    estimate: Estimate
    rows: int
    why: str = ""
    needed: int | None = None
    paired: bool | None = None
    baseline: str = ""


@dataclass(frozen=True)
class Candidate:
    """The rows of a candidate, how they are read and judged, and what they are compared with."""

    source: Any
    scores: Any
    columns: Mapping[str, Any]
    settings: Mapping[str, Any]
    baseline: Any = None
    key: Any = None
    folder: Path = Path()
    kept: dict[tuple[str, ...], Any] = field(default_factory=dict)  # evaluations, by groups
    beside: dict[Any, Any] = field(
        default_factory=dict
    )  # comparisons and saved results, by baseline

    def evaluation(self, by: tuple[str, ...] = ()) -> Evaluation | ClassEvaluation:
        """The evaluation of all rows, or by groups; read once."""
        if by not in self.kept:
            given = {**self.columns, **self.settings, **({"by": list(by)} if by else {})}
            made = evaluate(self.source, self.scores, **given)
            if not isinstance(made, Evaluation | ClassEvaluation):
                if is_saved(self.source):
                    raise unread(saved(self.source), "one score is")
                raise BadInput(
                    "several columns of scores are named; a gate judges one, ", Option("score"),
                    ", and compares it with another as vs COLUMN",
                )  # fmt: skip
            self.kept[by] = made
        found: Evaluation | ClassEvaluation = self.kept[by]
        return found

    @cached_property
    def plain(self) -> Evaluation | ClassEvaluation:
        """The evaluation of all rows."""
        return self.evaluation()

    @property
    def register(self) -> Mapping[str, Measure]:
        """The measures that there are of these rows."""
        return MEASURES if isinstance(self.plain, Evaluation) else CLASS_MEASURES

    @property
    def data(self) -> DataRecord:
        """The record of the rows."""
        e = self.plain
        return DataRecord.of(e.tally) if isinstance(e, Evaluation) else class_data(e.tally)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was remarked in reading."""
        made = [*self.kept.values(), *self.beside.values()]
        return tuple(dict.fromkeys(n for e in made for n in getattr(e, "notes", ())))

    def found(self, r: Requirement) -> list[Found]:
        """What a requirement is judged by: one estimate, or one of each group."""
        name, other = r.measure(self.register)
        m = self.register[name]
        r.check_limit(m)
        made = self._differences(r, m) if r.delta else self._values(r, m)
        return [f._replace(estimate=complement(f.estimate, r.delta)) if other else f for f in made]

    def _values(self, r: Requirement, m: Measure) -> Iterator[Found]:
        if not r.by:
            yield self._value("", r, m, self.plain)
            return
        e = self.evaluation(r.by)
        if not isinstance(e, Evaluation):
            raise BadInput("groups belong to two classes; judge one class against the rest")
        for group, own in e.groups.items():
            yield self._value(group, r, m, own)

    def _value(self, of: str, r: Requirement, m: Measure, e: Any) -> Found:
        t, estimate = e.tally, e[m.name]
        rows = t.origin.rows if isinstance(e, Evaluation) else t.rows
        if (least := self.settings.get("min_rows") or 20) > rows and of:
            why = f"{counted(rows, 'row')}, and groups of fewer than {least} are not judged"
            return Found(of, m.name, estimate, rows, why, least)
        if why_degenerate(estimate) and estimate.defined and rows:
            estimate = by_rule_of_three(estimate, m, rows)
        why = "" if r.end == "value" and estimate.defined else why_degenerate(estimate)
        needed = None
        better = r.upward == (m.better == "high") and m.better in ("high", "low")
        shown = not r.lenient and r.end != "value" and not r.measure(self.register)[1]
        if isinstance(e, Evaluation) and better and shown:
            why, needed = _never(r, m, e) or (why, None)
        return Found(of, m.name, estimate, rows, why, needed)

    def _differences(self, r: Requirement, m: Measure) -> Iterator[Found]:
        what = r.baseline or self.baseline
        if what is None:
            raise BadInput(
                f"'{r.text}' has no baseline; write 'vs FILE' or 'vs COLUMN' behind it, or pass ",
                Option("baseline"),
            )
        saved = self._saved(what)
        if saved is not None:
            yield self._unpaired(r, m, what, saved)
            return
        c = self._comparison(what, r.by)
        name = self.name(what)
        if not r.by:
            yield self._difference("", m, c, name)
            return
        e: Any = self.evaluation(r.by)
        for group, own in e.groups.items():
            rows = own.tally.origin.rows
            if group in c.groups:
                yield self._difference(group, m, c.groups[group], name)
            else:
                why = f"{counted(rows, 'row')}, too few to be judged"
                none = Estimate.undefined(why)
                yield Found(group, m.name, none, rows, why, self.settings.get("min_rows") or 20)

    def _difference(self, of: str, m: Measure, c: ModelComparison, name: str) -> Found:
        first, second = c
        e: Estimate = c.difference(m.name, first, second)
        data: Any = c.models.rows[first]
        rows = len(data)
        why = why_degenerate(e)
        if why and e.defined and c.paired:
            own = [data, c.models.rows[second]]
            same = [r.scores if c.several else r.scores[n] for r, n in zip(own, c, strict=True)]
            if np.array_equal(*same):
                e = replace(e, low=e.value, high=e.value, method="the same scores in every row")
                why = ""
            elif e.low == e.high and not c.several:
                # as many rows as this without a change say that changes are rare, not that there are none
                few = min(int(data.y.sum()), int((~data.y).sum()))
                reach = 1 - ((1 - e.level) / 2) ** (1 / max(few, 1))
                e = replace(e, low=e.value - reach, high=e.value + reach, method="rule of three")
                why = ""
        return Found(of, m.name, e, rows, why, None, c.paired, name)

    def _saved(self, what: Any) -> Any:
        """The result that a baseline is; None where it is rows."""
        if not isinstance(what, str | PathLike):
            return None
        if str(what) not in self.beside:
            self.beside[str(what)] = saved_result(self.place(what))
        return self.beside[str(what)]

    def _unpaired(self, r: Requirement, m: Measure, what: Any, doc: Any) -> Found:
        """The difference to a result that was saved, whose rows are not at hand."""
        name, e = self.name(what), self.plain
        if r.by:
            raise BadInput(f"{name} is a saved result, which has no rows to group; name its rows")
        own = e.tally.origin.score if isinstance(e, Evaluation) else ""
        models = {x.name: x for x in doc.models}
        if len(models) > 1 and own not in models:
            raise BadInput(
                f"{name} has the models {', '.join(models)}, but none is named {quoted(own)}; save one"
            )
        model = models.get(own, next(iter(models.values())))
        row = next((x for x in model.measures if x.name == m.name), None)
        if row is None:
            raise BadInput(f"{name} has no {m.name}; write it again with this version")
        cut = self.settings.get("threshold", 0.5)
        if m.group == "decisions" and doc.settings.threshold not in (None, cut):
            raise BadInput(
                f"{name} has decisions at {doc.settings.threshold:g}, not at {cut:g}; pass ",
                Option("threshold", doc.settings.threshold),
            )
        level = self.settings["level"]
        known = [math.nan if x is None else float(x) for x in (row.value, row.low, row.high)]
        wide = z(level) / z(row.level)
        value = known[0]
        base = Estimate(
            value, value - wide * (value - known[1]), value + wide * (known[2] - value), level,
            row.method, row.why,
        )  # fmt: skip
        made = difference(e[m.name], base, level, lambda: 0.0)
        made = replace(made, method=made.method.replace("paired", "unpaired"))
        rows = e.tally.origin.rows if isinstance(e, Evaluation) else e.tally.rows
        return Found("", m.name, made, rows, why_degenerate(made), None, False, name)

    def place(self, what: Any) -> Path:
        """The path of a baseline, which may lie beside gates.toml."""
        path = Path(what).expanduser()
        return path if path.is_absolute() or path.exists() else self.folder / path

    def name(self, what: Any) -> str:
        """What a baseline is called."""
        return plain(Path(what).name) if isinstance(what, str | PathLike) else "baseline"

    def is_file(self, what: Any) -> bool:
        """Whether a text names a file, rather than a column."""
        text = str(what).removesuffix(".gz").lower()
        return isinstance(what, PathLike) or text.endswith(ENDINGS) or self.place(what).exists()

    def _comparison(self, what: Any, by: tuple[str, ...]) -> ModelComparison:
        """The candidate beside the rows of a baseline."""
        key = (str(what) if isinstance(what, str | PathLike) else id(what), by)
        if key not in self.beside:
            self.beside[key] = self._compared(what, by)
        found: ModelComparison = self.beside[key]
        return found

    def _compared(self, what: Any, by: tuple[str, ...]) -> ModelComparison:
        given = {**self.columns, **self.settings, **({"by": list(by)} if by else {})}
        if self.scores is not None:
            if isinstance(what, str | PathLike):
                raise BadInput(
                    f"{quoted(what)} names a file or a column, but labels and scores are given as columns; "
                    "pass the scores of the baseline as ", Option("baseline"),
                )  # fmt: skip
            return compare(self.source, {"candidate": self.scores, "baseline": what}, **given)
        if isinstance(what, str) and not self.is_file(what):
            own = self.plain.tally.origin.score if isinstance(self.plain, Evaluation) else None
            if own is None:
                raise BadInput(
                    f"{quoted(what)} is not a file; of several classes, name the other file"
                )
            given["score"] = [own, what]
            return compare(self.source, **given)
        if isinstance(self.source, list | tuple):
            raise BadInput(
                "a baseline is joined to one file; name one candidate, or join the parts"
            )
        other = self.place(what) if isinstance(what, str | PathLike) else what
        if not is_source(other):
            raise BadInput("the baseline has to be a file or a frame, as the candidate is")
        try:
            return compare({"candidate": self.source, "baseline": other}, key=self.key, **given)
        except BadInput as e:
            # gates have no such option: what is not the same rows is a saved result
            saved = "give the baseline as a saved result (evaluate --json)"
            parts = [saved if p == Option("unpaired") else p for p in e.parts]
            words = [str(p).removesuffix("pass ") if q == saved else p
                     for p, q in zip(parts, [*parts[1:], ""], strict=True)]  # fmt: skip
            raise BadInput(*words) from e

    def baselines(self, required: Sequence[Requirement]) -> list[BaselineRecord]:
        """What the candidate was compared with, and how."""
        made: dict[str, BaselineRecord] = {}
        for r in required:
            what = r.baseline or self.baseline
            if not r.delta or what is None:
                continue
            name, doc = self.name(what), self._saved(what)
            if doc is not None:
                rows = doc.data.rows
                text = (
                    f"{name}, a saved result of {counted(rows, 'row')}: unpaired, so that the same "
                    "difference takes more rows to tell; name its rows to pair them"
                )
            else:
                c = self._comparison(what, r.by)
                data: Any = next(iter(c.models.rows.values()))
                rows = len(data)
                how = "on the same" if c.paired else "unpaired,"
                text = f"{name}, {how} {counted(rows, 'row')}"
                joined = c.models.joined.get("candidate")
                if joined and joined[0] > joined[1]:
                    text += f" ({joined[0] - joined[1]:,} of the candidate did not join)"
            paired = doc is None and c.paired
            made[name] = BaselineRecord(name=name, paired=paired, rows=rows, sentence=text)
        return list(made.values())

    def marks(self, required: Sequence[Requirement]) -> tuple[dict[str, str], str]:
        """Fingerprints of what is looked at: files of baselines, else the labels; and of the candidate."""
        e = self.plain
        t = e.tally if isinstance(e, Evaluation) else e.tally.ranked
        marks = {}
        for r in required:
            what = r.baseline or self.baseline
            if r.delta and isinstance(what, str | PathLike) and self.is_file(what):
                marks[self.name(what)] = fingerprint(self.place(what).read_bytes())
        if not marks:
            o = t.origin
            what = f"{o.label}/{o.positives}/{o.negatives}/{o.positive}".encode()
            marks["the set of labels"] = fingerprint(what)
        own = [np.ascontiguousarray(x).tobytes() for x in (t.score, t.neg, t.pos)]
        return marks, fingerprint(*own)


def _never(r: Requirement, m: Measure, e: Evaluation) -> tuple[str, int] | None:
    """Why rows as few as these never pass, even with a perfect model, and how many would."""
    o = e.tally.origin
    rows, up = o.rows, o.positives

    def perfect(n: int) -> Judged:
        pos = max(1, round(n * up / rows))
        neg = max(1, n - pos)
        of: Any
        if m.group == "decisions":
            of = Confusion.counts(tp=pos, fp=0, fn=0, tn=neg)
        else:
            of = Tally.of([0, 1], [0.0, 1.0], count=[neg, pos])
        made = m.under(vars(e.settings), of)
        if not made.defined:  # perfect beyond all numbers
            return Judged("pass")
        if why_degenerate(made):
            made = by_rule_of_three(made, m, n)
        if why_degenerate(made):
            return Judged("pass")
        best.append(made)
        return judged(r, made, n)

    best: list[Estimate] = []
    if not up or up == rows or perfect(rows).outcome == "pass":
        return None
    here = best[0]
    needed = fewest(lambda n: perfect(n).outcome == "pass", 1, 10**9) or 0
    end = here.low if r.upward else here.high
    text = (
        f"{counted(rows, 'row')} ({up:,} positive) can never show it: a perfect model would get "
        f"{here.value:g}, with an interval that ends at {end:.3f}"
    )
    if not needed:
        return f"{text}; no number of rows does", 0
    return (
        f"{text}; it takes {needed:,} rows ({round(needed * up / rows):,} positive) at least",
        needed,
    )


@dataclass(frozen=True)
class Result:
    """A result of another verb, judged as a whole: agreement, judges, drift or an evaluation."""

    result: Any

    def found(self, r: Requirement) -> list[Found]:
        """What a requirement is judged by: one estimate, or one of each judge or window."""
        if r.delta or r.by:
            raise BadInput(
                f"'{r.text}': a result is judged by its values; groups and differences take rows"
            )
        made = []
        for of, known, rows in self.parts():
            name, other = r.measure(list(known))
            if name in MEASURES and isinstance(self.result, Evaluation):
                r.check_limit(MEASURES[name])
            e = known[name]
            e = getattr(e, "estimate", e)
            why = "" if r.end == "value" and e.defined else why_degenerate(e)
            made.append(Found(of, name, complement(e, False) if other else e, rows, why))
        return made

    def parts(self) -> Iterator[tuple[str, Mapping[str, Any], int]]:
        """The name of each part, its estimates by name, and its rows or items."""
        x = self.result
        if isinstance(x, Evaluation):
            yield "", x, x.tally.origin.rows
        elif isinstance(x, ClassEvaluation):
            yield "", x, x.tally.rows
        elif isinstance(x, Agreement):
            yield "", x, int(x.ratings.items)
        elif isinstance(x, Judgement):
            for name, j in x.judges.items():
                known = {"accuracy": j.accuracy, "kappa": j.kappa}
                if j.ceiling is not None:
                    known |= {"gap": j.ceiling.gap, "single_gap": j.ceiling.single_gap}
                yield name, known, j.items
        else:
            many = len(x.windows) > 1
            for w in x.windows:
                rows = x.reference.tally.origin.rows + w.sample.tally.origin.rows
                yield w.name if many else "", w, rows


RESULTS = (Evaluation, ClassEvaluation, Agreement, Judgement, Drift)

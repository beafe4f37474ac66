"""What requirements are held against: rows of a candidate and its baselines, or another verb's result."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from scorewise.agreeing import Agreement
from scorewise.columns.paths import FORMATS
from scorewise.columns.sources import is_source
from scorewise.comparing import ModelComparison, compare
from scorewise.computing import cached
from scorewise.drifting import Drift
from scorewise.errors import BadInput, Option, plain
from scorewise.estimate import Estimate
from scorewise.evaluation import ClassEvaluation, Evaluation, evaluate
from scorewise.gating.document import BaselineRecord
from scorewise.gating.requirements import (
    Requirement,
    complement,
    decide,
    largest_unseen,
    rescaled,
    why_no_interval,
    with_rule_of_three,
)
from scorewise.inference.differences import difference
from scorewise.inference.scales import normal_quantile, smallest
from scorewise.judging import Judgement
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, Measure
from scorewise.show.document import document_type, from_dict
from scorewise.show.words import plural, quoted
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.merging import is_saved, not_readable, sum_of_saved

ENDINGS = tuple(end for form in FORMATS.values() for end in form.endings)
AnyEvaluation: TypeAlias = Evaluation | ClassEvaluation


class Evidence(NamedTuple):
    """An estimate that a requirement is held against, and the rows that it is of.

    `why` says why it cannot be, and `needed` how many rows it would take at least, where that is known
    (0: no number would do).
    """

    of: str
    measure: str
    estimate: Estimate
    rows: int
    why: str = ""
    needed: int | None = None
    paired: bool | None = None
    baseline: str = ""


class Candidate:
    """The rows of a candidate, evaluated and compared with baselines under the same options."""

    def __init__(
        self, source: Any, scores: Any, options: Mapping[str, Any],
        baseline: Any = None, key: Any = None, folder: Path | None = None,
    ) -> None:  # fmt: skip
        self.source, self.scores, self.options = source, scores, options
        self.baseline, self.key, self.folder = baseline, key, folder or Path()
        self.baselines: dict[str, BaselineRecord] = {}  # that were compared with
        self.notes: dict[str, None] = {}  # on what was read
        self.overall = self.evaluation()
        self.register = register_of(self.overall)

    def evaluation(self, by: tuple[str, ...] = ()) -> AnyEvaluation:
        """The evaluation of all rows, or by groups."""
        made = self._cached(("evaluation", by), evaluate, self.source, self.scores, by=by)
        if isinstance(made, Evaluation | ClassEvaluation):
            return made
        if is_saved(self.source):
            raise not_readable(sum_of_saved(self.source), "one score is")
        raise BadInput(
            "several columns of scores are named; a gate judges one, ", Option("score"),
            ", and compares it with another as vs COLUMN",
        )  # fmt: skip

    def _cached(self, name: Any, verb: Any, *args: Any, by: tuple[str, ...], **more: Any) -> Any:
        """What a verb makes of the same rows for several requirements."""
        options = {**self.options, **({"by": list(by)} if by else {}), **more}
        made = cached(self, name, lambda: verb(*args, **options))
        self.notes |= dict.fromkeys(made.notes)
        return made

    def evidence(self, r: Requirement) -> list[Evidence]:
        """What a requirement is held against: one estimate, or one of each group."""
        name, other = r.measure(self.register)
        m = self.register[name]
        r.check_limit(m)
        found = self._differences(r, m) if r.delta else self._values(r, m)
        return [x._replace(estimate=complement(x.estimate, r.delta)) if other else x for x in found]

    def _values(self, r: Requirement, m: Measure) -> Iterator[Evidence]:
        if not r.by:
            yield self._value("", r, m, self.overall)
            return
        e = self.evaluation(r.by)
        if not isinstance(e, Evaluation):
            raise BadInput("groups belong to two classes; judge one class against the rest")
        for group, own in e.groups.items():
            yield self._value(group, r, m, own)

    def _value(self, of: str, r: Requirement, m: Measure, e: AnyEvaluation) -> Evidence:
        rows, estimate, least = rows_of(e), e[m.name], self.options["min_rows"]
        if of and rows < least:
            why = f"{plural(rows, 'row')}, and groups of fewer than {least} are not judged"
            return Evidence(of, m.name, estimate, rows, why, least)
        estimate = with_rule_of_three(estimate, m, rows)
        why = "" if r.end == "value" and estimate.defined else why_no_interval(estimate)
        better = r.upward == (m.better == "high") and m.better in ("high", "low")
        by_interval = not r.lenient and r.end != "value" and not r.measure(self.register)[1]
        needed = None
        if isinstance(e, Evaluation) and better and by_interval:
            why, needed = _too_few_rows(r, m, e) or (why, None)
        return Evidence(of, m.name, estimate, rows, why, needed)

    def _differences(self, r: Requirement, m: Measure) -> Iterator[Evidence]:
        what = r.baseline or self.baseline
        if what is None:
            raise BadInput(
                f"'{r.text}' has no baseline; write 'vs FILE' or 'vs COLUMN' behind it, or pass ",
                Option("baseline"),
            )
        name, result = self._name(what), None
        if isinstance(what, str | PathLike):
            result = cached(self, ("saved", str(what)), lambda: saved_result(self._place(what)))
        if result is not None:
            yield self._unpaired(r, m, name, result)
            return
        c = self._comparison(what, r.by)
        self._record_baseline(name, c)
        if not r.by:
            yield self._difference("", m, c, name)
            return
        for group, own in self.evaluation(r.by).groups.items():
            if group in c.groups:
                yield self._difference(group, m, c.groups[group], name)
            else:
                rows = own.tally.origin.rows
                why = f"{plural(rows, 'row')}, too few to be judged"
                least = self.options["min_rows"]
                yield Evidence(group, m.name, Estimate.undefined(why), rows, why, least)

    def _difference(self, of: str, m: Measure, c: ModelComparison, name: str) -> Evidence:
        first, second = c
        e: Estimate = c.difference(m.name, first, second)
        rows: list[Any] = [c.models.rows[model] for model in c]
        why = why_no_interval(e)
        if why and e.defined and c.paired:
            same = [r.scores if c.several else r.scores[x] for r, x in zip(rows, c, strict=True)]
            if np.array_equal(*same):
                e = replace(e, low=e.value, high=e.value, method="the same scores in every row")
                why = ""
            elif e.low == e.high and not c.several:
                # as many rows as this without a change say that changes are rare, not that there are none
                y = rows[0].y
                reach = largest_unseen(e.level, max(min(int(y.sum()), int((~y).sum())), 1))
                e = replace(e, low=e.value - reach, high=e.value + reach, method="rule of three")
                why = ""
        return Evidence(of, m.name, e, len(rows[0]), why, None, c.paired, name)

    def _unpaired(self, r: Requirement, m: Measure, name: str, doc: Any) -> Evidence:
        """The difference to a result that was saved, whose rows are not at hand."""
        e, rows = self.overall, doc.data.rows
        text = (
            f"{name}, a saved result of {plural(rows, 'row')}: unpaired, so that the same "
            "difference takes more rows to tell; name its rows to pair them"
        )
        self.baselines[name] = BaselineRecord(name=name, paired=False, rows=rows, sentence=text)
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
        cut, level = e.settings.threshold, e.settings.level
        if m.group == "decisions" and doc.settings.threshold not in (None, cut):
            raise BadInput(
                f"{name} has decisions at {doc.settings.threshold:g}, not at {cut:g}; pass ",
                Option("threshold", doc.settings.threshold),
            )
        known = (row.value, row.low, row.high)
        value, low, high = (math.nan if x is None else float(x) for x in known)
        other = Estimate(value, low, high, level, row.method, row.why)
        other = rescaled(other, normal_quantile(row.level) / normal_quantile(level))
        gap = difference(e[m.name], other, level, lambda: 0.0)
        gap = replace(gap, method=gap.method.replace("paired", "unpaired"))
        return Evidence("", m.name, gap, rows_of(e), why_no_interval(gap), None, False, name)

    def _place(self, what: Any) -> Path:
        """The path of a baseline, which may lie beside gates.toml."""
        path = Path(what).expanduser()
        return path if path.is_absolute() or path.exists() else self.folder / path

    def _name(self, what: Any) -> str:
        """What a baseline is called."""
        return plain(Path(what).name) if isinstance(what, str | PathLike) else "baseline"

    def _is_file(self, what: Any) -> bool:
        """Whether a text names a file, rather than a column."""
        text = str(what).removesuffix(".gz").lower()
        return isinstance(what, PathLike) or text.endswith(ENDINGS) or self._place(what).exists()

    def _comparison(self, what: Any, by: tuple[str, ...]) -> ModelComparison:
        """The candidate beside the rows of a baseline."""
        named, more = isinstance(what, str | PathLike), {}
        args: tuple[Any, ...] = (self.source,)
        if self.scores is not None:
            if named:
                raise BadInput(
                    f"{quoted(what)} names a file or a column, but labels and scores are given as columns; "
                    "pass the scores of the baseline as ", Option("baseline"),
                )  # fmt: skip
            args = self.source, {"candidate": self.scores, "baseline": what}
        elif isinstance(what, str) and not self._is_file(what):
            if not isinstance(self.overall, Evaluation):
                raise BadInput(
                    f"{quoted(what)} is not a file; of several classes, name the other file"
                )
            more["score"] = [self.overall.tally.origin.score, what]
        else:
            if isinstance(self.source, list | tuple):
                raise BadInput(
                    "a baseline is joined to one file; name one candidate, or join the parts"
                )
            other = self._place(what) if named else what
            if not is_source(other):
                raise BadInput("the baseline has to be a file or a frame, as the candidate is")
            args, more["key"] = ({"candidate": self.source, "baseline": other},), self.key
        name = "comparison", str(what) if named else id(what), by
        try:
            made: ModelComparison = self._cached(name, compare, *args, by=by, **more)
        except BadInput as e:
            # gates have no such option: what is not the same rows is a saved result
            saved_one = "give the baseline as a saved result (evaluate --json)"
            parts = [saved_one if p == Option("unpaired") else p for p in e.parts]
            words = [str(p).removesuffix("pass ") if q == saved_one else p
                     for p, q in zip(parts, [*parts[1:], ""], strict=True)]  # fmt: skip
            raise BadInput(*words) from e
        return made

    def _record_baseline(self, name: str, c: ModelComparison) -> None:
        """Record how the candidate was compared with rows."""
        rows, joined = len(c.rows), c.models.joined.get("candidate")
        text = f"{name}, {'on the same' if c.paired else 'unpaired,'} {plural(rows, 'row')}"
        if joined and joined[0] > joined[1]:
            text += f" ({joined[0] - joined[1]:,} of the candidate did not join)"
        self.baselines[name] = BaselineRecord(name=name, paired=c.paired, rows=rows, sentence=text)

    def fingerprints(self, required: Sequence[Requirement]) -> tuple[dict[str, str], str]:
        """Fingerprints of the files of baselines, or else of the labels; and of the candidate."""
        e, looked_at = self.overall, {}
        for r in required:
            what = r.baseline or self.baseline
            if r.delta and isinstance(what, str | PathLike) and self._is_file(what):
                looked_at[self._name(what)] = _fingerprint(self._place(what).read_bytes())
        t = e.tally if isinstance(e, Evaluation) else e.tally.ranked
        if not looked_at:
            o = t.origin
            labels = f"{o.label}/{o.positives}/{o.negatives}/{o.positive}".encode()
            looked_at["the set of labels"] = _fingerprint(labels)
        scores = [np.ascontiguousarray(x).tobytes() for x in (t.score, t.neg, t.pos)]
        return looked_at, _fingerprint(b"".join(scores))


def _fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def saved_result(path: Path) -> Any:
    """The document of `evaluate` that a file holds; None where it holds rows."""
    if path.suffix.lower() != ".json":
        return None
    try:
        doc = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # which the reader of rows will say
    if not isinstance(doc, dict) or isinstance(doc.get("data"), list):
        return None
    name, verb = plain(path.name), doc.get("command")
    if verb != "evaluate":
        result = f"is a result of {plain(verb)}"
        what = result if verb is not None else "holds neither rows nor a result"
        raise BadInput(f"{name} {what}; a baseline is rows, or what evaluate wrote with --json")
    try:
        return from_dict(document_type("evaluate"), doc)
    except BadInput as e:
        raise BadInput(f"{name} is damaged, or of another version: {e}; write it again") from None


def _too_few_rows(r: Requirement, m: Measure, e: Evaluation) -> tuple[str, int] | None:
    """Why rows as few as these never pass, even with a perfect model, and how many would."""
    o = e.tally.origin
    rows, positives = o.rows, o.positives

    def perfect(n: int) -> Estimate:
        pos = max(1, round(n * positives / rows))
        neg = max(1, n - pos)
        of: Any
        if m.group == "decisions":
            of = Confusion.counts(tp=pos, fp=0, fn=0, tn=neg)
        else:
            of = Tally.of([0, 1], [0.0, 1.0], count=[neg, pos])
        return with_rule_of_three(m.under(vars(e.settings), of), m, n)

    def passes(n: int) -> bool:
        best = perfect(n)  # which may be perfect beyond all numbers
        return bool(why_no_interval(best)) or decide(r, best, n).outcome == "pass"

    if positives in (0, rows) or passes(rows):
        return None
    here = perfect(rows)
    needed = smallest(passes, 1, 10**9) or 0
    text = (
        f"{plural(rows, 'row')} ({positives:,} positive) can never show it: a perfect model would get "
        f"{here.value:g}, with an interval that ends at {r.ends(here)[0]:.3f}"
    )
    if not needed:
        return f"{text}; no number of rows does", 0
    share = round(needed * positives / rows)
    return f"{text}; it takes {needed:,} rows ({share:,} positive) at least", needed


RESULTS = (Evaluation, ClassEvaluation, Agreement, Judgement, Drift)


def evidence_of_result(result: Any, r: Requirement) -> list[Evidence]:
    """What a requirement is held against in another verb's result: all of it, or each judge or window."""
    if r.delta or r.by:
        raise BadInput(
            f"'{r.text}': a result is judged by its values; groups and differences take rows"
        )
    found = []
    for of, estimates, rows in _parts(result):
        name, other = r.measure(list(estimates))
        if name in MEASURES and isinstance(result, Evaluation):
            r.check_limit(MEASURES[name])
        e = getattr(estimates[name], "estimate", estimates[name])
        why = "" if r.end == "value" and e.defined else why_no_interval(e)
        found.append(Evidence(of, name, complement(e, False) if other else e, rows, why))
    return found


def _parts(x: Any) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """The name of each part of a result, its estimates by name, and its rows or items."""
    if isinstance(x, Judgement):
        for name, j in x.judges.items():
            estimates = {"accuracy": j.accuracy, "kappa": j.kappa}
            if j.ceiling is not None:
                estimates |= {"gap": j.ceiling.gap, "single_gap": j.ceiling.single_gap}
            yield name, estimates, j.items
    elif isinstance(x, Drift):
        reference = x.reference.tally.origin.rows
        for w in x.windows:
            name = w.name if len(x.windows) > 1 else ""
            yield name, w, reference + w.sample.tally.origin.rows
    else:
        yield "", x, rows_of(x)


def register_of(x: AnyEvaluation | Agreement) -> Mapping[str, Measure]:
    """The measures that there are of a result: of two classes, of several, or of raters."""
    if isinstance(x, Agreement):
        return RATER_MEASURES
    return CLASS_MEASURES if isinstance(x, ClassEvaluation) else MEASURES


def rows_of(x: AnyEvaluation | Agreement) -> int:
    """The rows of a result, or the items of one of raters."""
    if isinstance(x, Agreement):
        return int(x.ratings.items)
    return int(x.tally.origin.rows if isinstance(x, Evaluation) else x.tally.rows)

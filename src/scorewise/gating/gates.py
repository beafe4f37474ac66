"""A gate: requirements on intervals, judged as pass, fail or inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from scorewise.checks import at_least, check, one_of
from scorewise.columns import Kind, Missing
from scorewise.columns.classes import is_source
from scorewise.columns.roles import Spec
from scorewise.drifting import Drift
from scorewise.errors import BadInput, Option, no_scores, plain
from scorewise.estimate import Estimate
from scorewise.gating.candidates import RESULTS, Candidate, Found, Result
from scorewise.gating.document import (
    EXIT,
    CheckRecord,
    GateDocument,
    Inconclusive,
    LooksRecord,
    SettingsRecord,
    junit,
    junit_of_refusal,
    outcome_of,
    times,
    verdict_of,
)
from scorewise.gating.files import looked, read_gates
from scorewise.gating.requirements import NO_INTERVAL, Outcome, Requirement, judged, parsed
from scorewise.show.document import cautions
from scorewise.show.shown import Shown
from scorewise.show.verdict import shown
from scorewise.show.words import counted, roughly

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures

GATES = "gates.toml"
KINDS = ("any", "prior", "covariate", "concept", "scores")  # of drift
# how the rows of a candidate are read and judged
COLUMNS = (
    "label", "score", "classes", "weight", "count", "positive", "cluster", "kind", "encoding",
    "missing", "seed", "clip", "threshold",
)  # fmt: skip


class Gate(Shown):
    """What a gate found: `g.outcome` is "pass", "fail" or "inconclusive", `g.checks` has each requirement.

    `g.passed` is true where it may go on: it passes, or is inconclusive and that counts as a pass. So is
    the gate itself, for `assert gate(...)`.
    `g.exit_code` is 0, 1 or 3, as the command's.
    """

    def __init__(self, doc: GateDocument, notes: tuple[str, ...] = ()) -> None:
        self._doc, self.notes = doc, notes

    @property
    def outcome(self) -> Outcome:
        """Fail if a requirement fails; else inconclusive if one is; else pass."""
        return self._doc.outcome

    @property
    def exit_code(self) -> int:
        """0 for a pass, 1 for a fail, 3 where it is inconclusive, unless that counts as one of them."""
        return self._doc.exit_code

    @property
    def passed(self) -> bool:
        """Whether it may go on."""
        return self.exit_code == 0

    def __bool__(self) -> bool:
        """As `passed`: a gate that is not passed must not look true."""
        return self.passed

    @property
    def checks(self) -> list[CheckRecord]:
        """The requirements with their outcomes, one for each group."""
        return self._doc.checks

    def document(self) -> GateDocument:
        """What is written and shown; `scorewise schema gate` prints its schema."""
        return self._doc

    def pictures(self) -> Pictures:
        """How far each estimate lies on the good side of its limit, with its interval."""
        from scorewise.displays import ForestDisplay
        from scorewise.displays.overview import Pictures

        bars = {}
        for c in self.checks:
            e, name = c.estimate, c.requirement + (f" ({c.of})" if c.of else "")
            if ">" in c.requirement:
                value, low, high = (x - c.limit for x in (e.value, e.low, e.high))
            else:
                value, low, high = (c.limit - x for x in (e.value, e.high, e.low))
            bars[name] = replace(e, value=value, low=low, high=high)
        what = "beyond the limit: right of the line it is kept"
        display = ForestDisplay(bars, what=what, lines={"limit": (0.0, -1)})
        return Pictures({"margins": display.plot}, ("margins",))


def gate(
    source: Any = None, p: Any = None, *, require: str | Sequence[str] | None = None,
    gates: str | PathLike[str] | None = None, baseline: Any = None,
    key: str | Sequence[str] | None = None, label: str | None = None, score: str | None = None,
    classes: Spec | None = None, weight: Any = None, count: Any = None, positive: Any = None,
    cluster: Any = None, min_rows: int | None = None, threshold: float | None = None,
    level: float | None = None, looks: int | None = None, ledger: str | PathLike[str] | None = None,
    inconclusive: Inconclusive | None = None, fail_on: str | Sequence[str] | None = None,
    seed: int | None = None, kind: Kind | None = None, missing: Missing | None = None,
    clip: float | None = None, encoding: str | None = None,
) -> Gate:  # fmt: skip
    """Whether scores keep what is required of them: pass, fail, or inconclusive with the rows missing.

    A requirement is a measure and a limit, such as "auroc >= 0.8" or "ece <= 0.05". It passes where the
    whole interval keeps it, fails where the whole interval breaks it, and is inconclusive between.
    "auroc.low >= 0.8" says the same in full; "auroc.high >= 0.8" fails only where it is shown to be broken,
    and "auroc.value >= 0.8" goes by the value alone, which changes sides by chance. "brier.delta <= 0.01 vs
    old.csv" is the difference to a baseline: rows joined on the columns `key` (or in the same order), a
    column of the same file, or what `evaluate` wrote as JSON, which cannot be paired. "every site:
    recall >= 0.7" has to hold in each group.

    `source` and `p` are as in `evaluate`; or the result of `evaluate`, `agree`, `judge` or `drift`.
    `baseline` is what differences without "vs" are compared with. `gates` is a TOML file with the same
    settings and `file`. `looks` is how many candidates will be held against the same rows: the intervals
    are as much wider that all are right together with confidence `level` (Bonferroni); `ledger` is a file
    that counts them. Of `drift`, `fail_on` are kinds of it that fail: "any", "prior", "covariate",
    "concept" or "scores". An inconclusive gate counts as itself ("exit3"), as "pass" or as "fail".

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> found = gate(rng.random(1000) < p, p, require=["auroc >= 0.8", "accuracy >= 0.76"])
    >>> found.outcome, found.exit_code
    ('inconclusive', 3)
    >>> [(c.requirement, c.outcome) for c in found.checks]
    [('auroc >= 0.8', 'pass'), ('accuracy >= 0.76', 'inconclusive')]
    """
    given = {
        "require": require, "baseline": baseline, "key": key, "label": label, "score": score,
        "classes": classes, "weight": weight, "count": count, "positive": positive,
        "cluster": cluster, "min_rows": min_rows, "threshold": threshold, "level": level,
        "looks": looks, "ledger": ledger, "inconclusive": inconclusive, "seed": seed, "kind": kind,
        "missing": missing, "clip": clip, "encoding": encoding, "fail_on": fail_on,
    }  # fmt: skip
    folder = Path()
    if gates is None and source is None and require is None and Path(GATES).is_file():
        gates = GATES
    if gates is not None:
        kept = read_gates(gates)
        folder = Path(gates).parent
        source = kept.pop("file", None) if source is None else source
        if require is not None and "require" in kept:  # what the file asks for stays
            given["require"] = [*_listed(kept["require"]), *_listed(require)]
        given |= {name: value for name, value in kept.items() if given.get(name) is None}
    if source is None:
        raise BadInput(f"there is nothing to judge; name a file, or one with file = ... in {GATES}")
    required = parsed(given["require"] or [])
    if fail_on is not None and not isinstance(source, Drift):
        raise BadInput(Option("fail_on"), " belongs to a result of drift; leave it out")
    if not required and fail_on is None:
        raise BadInput("nothing is required; pass ", Option("require", "auroc >= 0.8"))
    if isinstance(source, RESULTS):
        return judge_result(source, required, given)
    return _judged(source, p, required, given, folder)


def _listed(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _settings(given: dict[str, Any]) -> SettingsRecord:
    """The settings, checked, with the level of so many looks."""
    usual = {"looks": 1, "level": 0.95, "min_rows": 20, "inconclusive": "exit3"}
    s: dict[str, Any] = {n: x if given[n] in (None, "") else given[n] for n, x in usual.items()}
    one_of("inconclusive", s["inconclusive"], get_args(Inconclusive))
    at_least(1, 20, looks=s["looks"])
    check(level=s["level"], min_rows=s["min_rows"])
    adjusted = 1 - (1 - s["level"]) / s["looks"]
    check(level=adjusted)
    return SettingsRecord(**s, adjusted=adjusted)


def _judged(
    source: Any, p: Any, required: Sequence[Requirement], given: dict[str, Any], folder: Path
) -> Gate:
    """The requirements on rows."""
    s = _settings(given)
    if p is None and not is_source(source):
        raise no_scores("gate(y, p, require=...)", 'gate("file.csv", require=...)')
    columns = {name: given[name] for name in COLUMNS if given[name] is not None}
    settings = {"level": s.adjusted, "min_rows": s.min_rows}
    x = Candidate(source, p, columns, settings, given["baseline"], given["key"], folder)
    checks = [c for r in required for c in _checks(r, x.found(r))]
    baselines = x.baselines(required)
    looks, hints = [], [*getattr(x.plain, "hints", ())]
    if given["ledger"] is not None:
        of, mark = x.marks(required)
        for name, many in looked(given["ledger"], of, mark).items():
            looks.append(LooksRecord(of=name, times=many, planned=s.looks))
            if many > s.looks:
                hints.append(
                    f"{name} was looked at {times(many)}, but the intervals allow for {s.looks}: plan for "
                    "more looks, or take fresh rows, because one of many candidates passes by chance."
                )
    hints += [
        f"'{r.text}' goes by the value alone, which changes sides by chance: identical models fail such a "
        "requirement about half the time where the true value lies at the limit."
        for r in required
        if r.end == "value"
    ]
    doc = _document(s, checks, hints, data=x.data, baselines=baselines, looks=looks)
    return Gate(doc, x.notes)


def judge_result(result: Any, required: Sequence[Requirement], given: dict[str, Any]) -> Gate:
    """The requirements on a result of another verb, at its own level."""
    own = {"require", "inconclusive", "fail_on"}
    if extra := next((n for n, v in given.items() if v is not None and n not in own), ""):
        raise BadInput(Option(extra), " belongs to rows, but a result is judged; leave it out")
    level = result.settings.level
    s = replace(_settings({**given, "level": level}), min_rows=0)
    checks = [c for r in required for c in _checks(r, Result(result).found(r))]
    if given["fail_on"] is not None:
        checks += [c for kind in _listed(given["fail_on"]) for c in _no_drift(result, kind)]
    doc = _document(s, checks, [], data=None, baselines=[], looks=[])
    return Gate(doc, tuple(getattr(result, "notes", ())))


def _document(
    s: SettingsRecord, checks: list[CheckRecord], hints: list[str], **known: Any
) -> GateDocument:
    outcome = outcome_of(checks)
    code: Any = EXIT[s.inconclusive if outcome == "inconclusive" else outcome]
    return GateDocument(
        settings=s,
        verdict=verdict_of(checks, s.inconclusive),
        outcome=outcome,
        exit_code=code,
        checks=checks,
        hints=[*hints, *cautions(checks)],
        **known,
    )


def _checks(r: Requirement, found: list[Found]) -> list[CheckRecord]:
    """The outcome of a requirement, in all rows or in each group."""
    if not r.by and len(found) == 1 and found[0].why:
        raise BadInput(_refusal(r, found[0]))
    able = sum(not f.why for f in found)
    return [_check(r, f, able) for f in found]


def _no_drift(d: Drift, kind: str) -> Iterator[CheckRecord]:
    """Whether a kind of drift is seen, in each window; what could not be tested is inconclusive."""
    one_of("fail_on", kind, KINDS)
    for w in d.windows:
        seen: Outcome = "pass"
        if w.kind == kind or (kind == "any" and w.kind not in ("none seen", "untested")):
            seen = "fail"
        elif w.kind in ("untested", "unclear") or (w.kind == "scores" and kind != "any"):
            seen = "inconclusive"
        of = w.name if len(d.windows) > 1 else ""
        what = f"no {kind} drift" if kind != "any" else "no drift"
        yield CheckRecord(
            requirement=what,
            measure="drift",
            of=of,
            outcome=seen,
            estimate=Estimate.undefined("judged by the kind of drift", d.settings.level),
            limit=0.0,
            baseline=plain(d.reference.name),
            paired=False,
            rows=w.sample.tally.origin.rows,
            rows_needed=None,
            sentence=f"{what}{f' ({of})' if of else ''}: {w.kind}. {w.verdict}",
        )


def _refusal(r: Requirement, f: Found) -> str:
    if f.needed is not None:
        return f"'{r.text}' cannot pass: {f.why}"
    if f.estimate.defined:
        why = "" if f.why == NO_INTERVAL else f" here ({f.why})"
        more = "take more rows, or " if why else ""
        return (
            f"'{r.text}' cannot be judged: {f.measure} has no interval{why}; {more}write "
            f"'{replace(r, end='value').text}'"
        )
    return (
        f"'{r.text}' cannot be judged: {f.measure} is undefined ({f.why}); leave it out, or judge rows on "
        "which it is defined"
    )


def _check(r: Requirement, f: Found, groups: int) -> CheckRecord:
    of = f" ({f.of})" if f.of else ""
    where = f"{r.text}{of}"
    outcome: Outcome = "inconclusive"
    needed = f.needed or None
    if f.why:
        text = f"{where} cannot be judged: {f.why}."
    else:
        outcome, needed = judged(r, f.estimate, f.rows, groups)
        value = shown(f.estimate) if r.end != "value" else f"{f.estimate.value:.4g}"
        if outcome == "inconclusive":
            text = f"{where} cannot be told with {counted(f.rows, 'row')}: {value}"
            text += f", which may be chance among {groups} groups; " if _beyond(r, f) else "; "
            text += (
                f"about {roughly(needed - f.rows)} more would tell if the value stayed the same."
                if needed is not None
                else "the value lies at the limit, so that no number of rows would tell."
            )
        elif outcome == "fail":
            text = f"{where} fails: {value}."
        else:
            text = f"{where} passes: {value}."
    return CheckRecord(
        requirement=r.text,
        measure=f.measure,
        of=f.of,
        outcome=outcome,
        estimate=f.estimate,
        limit=r.limit,
        baseline=f.baseline,
        paired=f.paired,
        rows=f.rows,
        rows_needed=needed,
        sentence=text,
    )


def _beyond(r: Requirement, f: Found) -> bool:
    """Whether the whole interval of a group breaks a requirement, before allowing for other groups."""
    return not r.holds(f.estimate.high if r.upward else f.estimate.low)


def refusal_file(error: BadInput) -> bytes:
    """The JUnit file of a gate that had nothing to judge, so that no earlier one is taken for it."""
    return junit_of_refusal(str(error))


def junit_file(result: Gate, ending: str) -> bytes:
    """The checks as a JUnit file."""
    return junit(result.document())

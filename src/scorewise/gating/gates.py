"""Gates: requirements on intervals, judged as pass, fail or inconclusive; their settings and ledgers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from scorewise.checks import at_least, check, one_of, refuse_given
from scorewise.columns import Kind, Missing
from scorewise.columns.paths import no_file
from scorewise.columns.roles import Spec
from scorewise.columns.sources import is_source
from scorewise.drifting import Drift
from scorewise.errors import BadInput, Option, no_scores, plain, short
from scorewise.estimate import Estimate
from scorewise.gating.candidate import RESULTS, Candidate, Evidence, evidence_of_result
from scorewise.gating.document import (
    CheckRecord,
    GateDocument,
    Inconclusive,
    LooksRecord,
    SettingsRecord,
    times,
)
from scorewise.gating.requirements import (
    NO_INTERVAL,
    Outcome,
    Requirement,
    bonferroni_level,
    parsed,
)
from scorewise.show.data import DataRecord
from scorewise.show.result import Pictures, Result
from scorewise.writing import write

GATES = "gates.toml"
DRIFT = ("any", "prior", "covariate", "concept", "scores")  # kinds that may fail
# how the rows of a candidate are read and judged
COLUMNS = (
    "label", "score", "classes", "weight", "count", "positive", "cluster", "kind", "encoding",
    "missing", "seed", "clip", "threshold",
)  # fmt: skip
# of a gates.toml
KEYS: dict[str, tuple[type, ...]] = {
    "file": (str, list), "require": (str, list), "baseline": (str,), "key": (str, list),
    "label": (str,), "score": (str,), "classes": (str,), "weight": (str,), "count": (str,),
    "positive": (str, int, float, bool), "cluster": (str,), "min_rows": (int,),
    "threshold": (int, float), "level": (int, float), "looks": (int,), "ledger": (str,),
    "inconclusive": (str,), "seed": (int,), "kind": (str,), "missing": (str,), "clip": (int, float),
    "encoding": (str,),
}  # fmt: skip
PATHS = ("file", "baseline", "ledger")  # which lie beside the file
TYPES = {str: "text", list: "a list of texts", int: "a whole number", float: "a number"}
TYPES[bool] = "true or false"


class Gate(Result):
    """What a gate found: `g.outcome` is "pass", "fail" or "inconclusive", `g.checks` has each requirement.

    `g.passed` is true where it may go on: it passes, or is inconclusive and that counts as a pass. So is
    the gate itself, for `assert gate(...)`.
    `g.exit_code` is 0, 1 or 3, as the command's.
    """

    def __init__(self, doc: GateDocument, notes: tuple[str, ...] = ()) -> None:
        self._doc, self.notes = doc, notes
        self.outcome, self.checks = doc.outcome, doc.checks
        self.exit_code: int = doc.exit_code
        self.passed = self.exit_code == 0

    def __bool__(self) -> bool:
        """As `passed`: a gate that is not passed must not look true."""
        return self.passed

    def document(self) -> GateDocument:
        """What is written and shown; `scorewise schema gate` prints its schema."""
        return self._doc

    def pictures(self) -> Pictures:
        """How far each estimate lies on the good side of its limit, with its interval."""
        from scorewise.displays import ForestDisplay

        bars = {}
        for c in self.checks:
            e, sign = c.estimate, 1 if ">" in c.requirement else -1
            low, high = sorted(sign * (x - c.limit) for x in (e.low, e.high))
            bars[c.name] = replace(e, value=sign * (e.value - c.limit), low=low, high=high)
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
        "looks": looks, "ledger": ledger, "inconclusive": inconclusive, "fail_on": fail_on,
        "seed": seed, "kind": kind, "missing": missing, "clip": clip, "encoding": encoding,
    }  # fmt: skip
    if gates is None and source is None and require is None and Path(GATES).is_file():
        gates = GATES
    if gates is not None:
        settings = read_gates(gates)
        source = settings.pop("file", None) if source is None else source
        if require is not None:  # what the file requires stays
            given["require"] = [*_listed(settings["require"]), *_listed(require)]
        given |= {name: value for name, value in settings.items() if given.get(name) is None}
    if source is None:
        raise BadInput(f"there is nothing to judge; name a file, or one with file = ... in {GATES}")
    required = parsed(given["require"] or [])
    if fail_on is not None and not isinstance(source, Drift):
        raise BadInput(Option("fail_on"), " belongs to a result of drift; leave it out")
    if not required and fail_on is None:
        raise BadInput("nothing is required; pass ", Option("require", "auroc >= 0.8"))
    if isinstance(source, RESULTS):
        return _of_result(source, required, given)
    return _of_rows(source, p, required, given, None if gates is None else Path(gates).parent)


def _listed(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _settings(given: Mapping[str, Any]) -> SettingsRecord:
    """The settings, checked, with the level of so many looks."""
    defaults = {"looks": 1, "level": 0.95, "min_rows": 20, "inconclusive": "exit3"}
    s: dict[str, Any] = {n: x if given[n] in (None, "") else given[n] for n, x in defaults.items()}
    one_of("inconclusive", s["inconclusive"], get_args(Inconclusive))
    at_least(1, 20, looks=s["looks"])
    check(level=s["level"], min_rows=s["min_rows"])
    adjusted = bonferroni_level(s["level"], s["looks"])
    check(level=adjusted)
    return SettingsRecord(**s, adjusted=adjusted)


def _of_rows(
    source: Any,
    p: Any,
    required: Sequence[Requirement],
    given: Mapping[str, Any],
    folder: Path | None,
) -> Gate:
    """The requirements on rows."""
    s = _settings(given)
    if p is None and not is_source(source):
        raise no_scores("gate(y, p, require=...)", 'gate("file.csv", require=...)')
    options = {name: given[name] for name in COLUMNS if given[name] is not None}
    options |= {"level": s.adjusted, "min_rows": s.min_rows}
    x = Candidate(source, p, options, given["baseline"], given["key"], folder)
    checks = [c for r in required for c in _checks(r, x.evidence(r))]
    looks, hints = [], [*x.overall.hints]
    if given["ledger"] is not None:
        for name, many in count_looks(given["ledger"], *x.fingerprints(required)).items():
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
    data, baselines = DataRecord.of(x.overall.tally), [*x.baselines.values()]
    doc = GateDocument.of(s, checks, hints, data=data, baselines=baselines, looks=looks)
    return Gate(doc, tuple(x.notes))


def _of_result(result: Any, required: Sequence[Requirement], given: Mapping[str, Any]) -> Gate:
    """The requirements on a result of another verb, at its own level."""
    of_rows = {n: v for n, v in given.items() if n not in ("require", "inconclusive", "fail_on")}
    refuse_given(" belongs to rows, but a result is judged; leave it out", **of_rows)
    s = replace(_settings({**given, "level": result.settings.level}), min_rows=0)
    checks = [c for r in required for c in _checks(r, evidence_of_result(result, r))]
    if given["fail_on"] is not None:
        checks += [c for kind in _listed(given["fail_on"]) for c in _no_drift(result, kind)]
    doc = GateDocument.of(s, checks, [], data=None, baselines=[], looks=[])
    return Gate(doc, tuple(getattr(result, "notes", ())))


def _checks(r: Requirement, found: Sequence[Evidence]) -> list[CheckRecord]:
    """The outcome of a requirement, in all rows or in each group."""
    if not r.by and len(found) == 1 and found[0].why:
        raise BadInput(_refusal(r, found[0]))
    groups = sum(not x.why for x in found)
    return [CheckRecord.checked(r, x, groups) for x in found]


def _refusal(r: Requirement, x: Evidence) -> str:
    if x.needed is not None:
        return f"'{r.text}' cannot pass: {x.why}"
    if x.estimate.defined:
        why = "" if x.why == NO_INTERVAL else f" here ({x.why})"
        more = "take more rows, or " if why else ""
        return (
            f"'{r.text}' cannot be judged: {x.measure} has no interval{why}; {more}write "
            f"'{replace(r, end='value').text}'"
        )
    return (
        f"'{r.text}' cannot be judged: {x.measure} is undefined ({x.why}); leave it out, or judge rows on "
        "which it is defined"
    )


def _no_drift(d: Drift, kind: str) -> Iterator[CheckRecord]:
    """Whether a kind of drift is seen, in each window; what could not be tested is inconclusive."""
    one_of("fail_on", kind, DRIFT)
    for w in d.windows:
        outcome: Outcome = "pass"
        if w.kind == kind or (kind == "any" and w.kind not in ("none seen", "untested")):
            outcome = "fail"
        elif w.kind in ("untested", "unclear") or (w.kind == "scores" and kind != "any"):
            outcome = "inconclusive"
        of = w.name if len(d.windows) > 1 else ""
        what = f"no {kind} drift" if kind != "any" else "no drift"
        none = Estimate.undefined("judged by the kind of drift", d.settings.level)
        rows, reference = w.sample.tally.origin.rows, plain(d.reference.name)
        text = f"{what}{f' ({of})' if of else ''}: {w.kind}. {w.verdict}"
        yield CheckRecord(
            requirement=what, measure="drift", of=of, outcome=outcome, estimate=none, limit=0.0,
            baseline=reference, paired=False, rows=rows, rows_needed=None, sentence=text,
        )  # fmt: skip


def read_gates(path: str | PathLike[str]) -> dict[str, Any]:
    """The settings in a gates.toml; paths in it are relative to its folder."""
    place, name = Path(path), plain(Path(path).name)
    try:
        found = tomllib.loads(place.read_text("utf-8"))
    except OSError as e:
        why = f"{name} cannot be read: {e.strerror or e}"
        raise BadInput(why if place.exists() else no_file(name, place)) from None
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not in UTF-8; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as e:
        raise BadInput(f"{name} is not TOML: {e}") from None
    for key, value in found.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            mean = f"did you mean {near[0]}?" if near else f"there are {', '.join(KEYS)}"
            raise BadInput(f"{name} has an unknown key {short(key)}; {mean}")
        types = KEYS[key]
        fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
        if not fits or (isinstance(value, list) and not all(isinstance(x, str) for x in value)):
            must = " or ".join(dict.fromkeys(TYPES[k] for k in types))
            raise BadInput(f"{name}: {key} has to be {must}; got {short(value)}")
    if not found.get("require"):
        raise BadInput(f'{name} requires nothing; add a line such as require = ["auroc >= 0.8"]')
    for key in PATHS:
        if key in found:
            value = found[key]
            beside = [str(place.parent / v) for v in ([value] if isinstance(value, str) else value)]
            found[key] = beside if isinstance(value, list) else beside[0]
    return found


def count_looks(path: str | PathLike[str], of: Mapping[str, str], candidate: str) -> dict[str, int]:
    """Write down that a candidate was looked at; how many were, by name of what they were held against.

    `of` has the fingerprint of each. The same candidate again is no new look.
    """
    place = Path(path)
    ledger: dict[str, Any] = {}
    if place.exists():
        try:
            ledger = json.loads(place.read_text("utf-8"))
            for entry in ledger.values():
                entry["candidates"] = list(map(str, entry["candidates"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise BadInput(
                f"{plain(place.name)} is not a ledger of looks; name another file, or delete it"
            ) from None
    for name, mark in of.items():
        entry = ledger.setdefault(mark, {"name": name, "candidates": []})
        if candidate not in entry["candidates"]:
            entry["candidates"].append(candidate)
    write(place, json.dumps(ledger, indent=2, ensure_ascii=False) + "\n")
    return {name: len(ledger[mark]["candidates"]) for name, mark in of.items()}

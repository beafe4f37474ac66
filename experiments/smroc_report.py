"""The smROC study in words and tables, all from its numbers."""

from __future__ import annotations

import math
from textwrap import fill

import polars as pl

from experiments.paired_tests import Shift, share
from experiments.smroc_claims import MIDPOINTS, Claims, Lower, Separates, Steadier, claims
from experiments.smroc_runs import FOLDS, MODELS, SCHEMES, SHARE

WORDS = {"tree": "tree", "bayes": "naive Bayes"}
RUNS = {"cv": "cross-validation", "sub": "subsamples"}


def markdown(table: pl.DataFrame, repeats: int) -> str:
    """The whole file: how, the answers, their numbers, and each set."""
    found = claims(table)
    parts = [_how(table, repeats), *_answers(found), *_tables(found)]
    for scheme, words in SCHEMES.items():
        part = table.filter(pl.col("scheme") == scheme)
        for area, midpoint in MIDPOINTS.items():
            parts += [f"**Each set: {words}, midpoint {midpoint}**", _sets(part, area)]
    return "\n\n".join(parts) + "\n"


def _how(table: pl.DataFrame, repeats: int) -> str:
    undefined = sum(int(table[c].sum()) for c in table.columns if c.startswith("undefined_"))
    return _wrapped(
        f"{table['set'].n_unique()} data sets. Both models learn from the same rows and are judged on the same "
        f"others, {repeats * FOLDS} times by {repeats} x {FOLDS}-fold cross-validation and {repeats * FOLDS} times "
        f"by learning from {SHARE:.0%} of the rows and judging on the rest; classes keep their shares. "
        "sd is the standard deviation over these runs. The relative sd is the sd divided by how far the mean area "
        "lies above chance: 0.5 for AUC, for smAUC what the same scores would get if dealt out at random. "
        f"Areas that were undefined: {undefined}."
    )


def _answers(found: Claims) -> list[str]:
    return [
        "**The answers**",
        _listed(_on_steadier(found.steadier)),
        _listed(_on_lower(found.lower)),
        _listed(_on_separates(found.separates)),
    ]


def _on_steadier(cases: list[Steadier]) -> str:
    plain = sum(c.plain.high < 0 for c in cases)
    scaled = sum(c.relative.high < 0 for c in cases)
    shown = [c for c in cases if (c.scheme, c.midpoint) == ("cv", "mean")]
    one = "; ".join(
        f"{WORDS[c.model]}: {_smaller(c.plain)}, the ratio in the middle is {_ratio(c.plain)}"
        for c in shown
    )
    two = "; ".join(
        f"{WORDS[c.model]}: {_smaller(c.relative)}, {_ratio(c.relative)}" for c in shown
    )
    return (
        f"**smAUC varies less for the same model: {_verdict(plain, len(cases))}, as a plain sd** (in {plain} of "
        f"{len(cases)} cases of model, resampling and midpoint the interval of the ratio of sds lies below 1). In "
        f"cross-validation with the mean as midpoint, {one}. **Relative to its own range: "
        f"{_verdict(scaled, len(cases))}** ({scaled} of {len(cases)} cases; {two}). "
        + _reading(plain, scaled, len(cases))
    )


def _reading(plain: int, scaled: int, of: int) -> str:
    if plain and scaled < of:
        return "Most of the smaller spread is scale: smAUC covers a smaller range, and noise shrinks with it."
    return "The smaller spread is more than scale." if plain else ""


def _on_lower(cases: list[Lower]) -> str:
    lower = sum(c.gap.high < 0 for c in cases)
    refined = {m: [c for c in cases if c.model == m] for m in MODELS}
    rising = {m: sum(c.boldness.low > 0 for c in own) for m, own in refined.items()}
    shown = [c for c in cases if (c.scheme, c.midpoint) == ("cv", "mean")]
    one = "; ".join(
        f"{WORDS[c.model]}: lower on {c.gap.less} of {c.gap.count} sets, in the middle by "
        f"{_signed(c.gap)}; not lower on {', '.join(c.exceptions) or 'none'}"
        for c in shown
    )
    two = "; ".join(
        f"{WORDS[c.model]}: Spearman {c.boldness.value:+.2f} [{c.boldness.low:+.2f}, {c.boldness.high:+.2f}]"
        for c in shown
    )
    three = "; ".join(
        f"{WORDS[c.model]}: {c.chance[0]:.2f} against {c.chance[1]:.2f}, boldness {c.bold[0]:.2f} against "
        f"{c.bold[1]:.2f}"
        for c in shown
        if c.exceptions
    )
    return (
        f"**smAUC is lower than AUC: {_verdict(lower, len(cases))}** (in {lower} of {len(cases)} cases the interval "
        f"of the difference lies below 0). In cross-validation with the mean as midpoint, {one}. **Except where "
        f"scores are refined: {_verdict(sum(rising.values()), len(cases))}.** With boldness, the mean of abs(2 s - "
        "1), for refinement, the gap closes as scores become bolder in "
        + " and ".join(f"{rising[m]} of {len(refined[m])} cases for {_the(m)}" for m in MODELS)
        + f" ({two}). What the exceptions share is rather a high smAUC by chance than boldness "
        f"(exceptions against others, {three})."
    )


def _on_separates(cases: list[Separates]) -> str:
    def one(c: Separates) -> str:
        of = len(c.both) + len(c.only_auc) + len(c.only_sm) + c.neither
        low, high = share(len(c.only_sm), of)
        return (
            f"{RUNS[c.scheme]}{', adjusted by Holm' if c.adjusted else ''}: AUC separates "
            f"{len(c.both) + len(c.only_auc)} of {of} sets, smAUC {len(c.both) + len(c.only_sm)}; only smAUC "
            f"{len(c.only_sm)} (share {len(c.only_sm) / of:.2f} [{low:.2f}, {high:.2f}]: "
            f"{', '.join(c.only_sm) or 'none'}), only AUC {len(c.only_auc)} ({', '.join(c.only_auc) or 'none'}), "
            f"p = {c.p:.3f}"
        )

    shown = [c for c in cases if c.midpoint == "mean"]
    plain = [c for c in cases if not c.adjusted]
    more = sum(len(c.only_sm) > len(c.only_auc) and c.p < 0.05 for c in cases)
    stronger = sum(c.strength.low > 0 for c in plain)
    kept = [c for c in shown if not c.adjusted]
    judged = "; ".join(
        f"{RUNS[c.scheme]}: in {c.brier_agrees} of {len(c.only_sm)} it prefers the model with the better Brier "
        f"score, in {c.bolder} the bolder one"
        for c in kept
    )
    return (
        f"**smAUC separates the models where AUC cannot: {_verdict(more, len(cases))}** (it separates "
        f"significantly more sets, by McNemar's exact test, in {more} of {len(cases)} cases). With the mean as "
        f"midpoint, {'; '.join(one(c) for c in shown)}. The t of smAUC is larger than that of AUC in the middle, "
        f"with an interval above 0, in {stronger} of {len(plain)} cases. Of the sets that only smAUC separates, {judged}."
    )


def _tables(found: Claims) -> list[str]:
    steadier = _table(
        ["runs", "midpoint", "model", "sd smaller on", "ratio of sds", "effect", "p"]
        + ["relative sd smaller on", "ratio of relative sds", "effect", "p"],
        3,
        [
            [RUNS[c.scheme], c.midpoint, WORDS[c.model]]
            + [f"{c.plain.less} of {c.plain.count}", _ratio(c.plain), *_clear(c.plain)]
            + [f"{c.relative.less} of {c.relative.count}", _ratio(c.relative), *_clear(c.relative)]
            for c in found.steadier
        ],
    )
    lower = _table(
        ["runs", "midpoint", "model", "lower on", "smAUC minus AUC", "effect", "p"]
        + ["gap and boldness, Spearman", "difference of skill"],
        3,
        [
            [RUNS[c.scheme], c.midpoint, WORDS[c.model], f"{c.gap.less} of {c.gap.count}"]
            + [_signed(c.gap), *_clear(c.gap)]
            + [
                f"{c.boldness.value:+.2f} [{c.boldness.low:+.2f}, {c.boldness.high:+.2f}]",
                _signed(c.skill),
            ]
            for c in found.lower
        ],
    )
    separates = _table(
        ["runs", "midpoint", "p-values", "both", "only AUC", "only smAUC", "neither", "p"]
        + ["opposed", "abs(t) of smAUC minus that of AUC"],
        3,
        [
            [RUNS[c.scheme], c.midpoint, "Holm" if c.adjusted else "plain"]
            + [str(len(x)) for x in (c.both, c.only_auc, c.only_sm)]
            + [str(c.neither), f"{c.p:.3f}", str(len(c.opposed)), _signed(c.strength, 2)]
            for c in found.separates
        ],
    )
    said = (
        "Over the sets: ratios and differences are Hodges-Lehmann middles with 95 % intervals, effect is the "
        "matched-pairs rank-biserial correlation, p is Wilcoxon's. Within a set: the corrected resampled t-test "
        "of Nadeau and Bengio; p of the last table compares the sets that only one area separates (McNemar, "
        "exact). Skill is the share of the way from chance to 1."
    )
    return [
        "**The same model: how smAUC varies against AUC**",
        steadier,
        "**How smAUC lies to AUC**",
        lower,
        "**Naive Bayes against tree: sets in which the difference is significant (5 %)**",
        separates,
        _wrapped(said),
    ]


def _sets(part: pl.DataFrame, area: str) -> str:
    head = ["set", "rows", "tree AUC", "tree smAUC", "naive Bayes AUC", "naive Bayes smAUC"]
    head += ["difference of AUC", "p", "difference of smAUC", "p"]
    lines = []
    for r in part.iter_rows(named=True):
        cells = [
            f"{r[f'mean_{a}_{m}']:.3f} ± {r[f'sd_{a}_{m}']:.3f}"
            for m in MODELS
            for a in ("auc", area)
        ]
        for a in ("auc", area):
            shown = f"{r[f'diff_{a}']:+.3f} ± {r[f'diff_sd_{a}']:.3f}"
            clear = r[f"p_{a}"] < 0.05
            cells += [f"**{shown}**" if clear else shown, _p(r[f"p_{a}"])]
        lines.append([r["set"], f"{r['rows']:,}", *cells])
    return _table(head, 1, lines)


def _table(head: list[str], words: int, lines: list[list[str]]) -> str:
    rule = "|" + "---|" * words + "---:|" * (len(head) - words)
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


def _verdict(hits: int, of: int) -> str:
    return "holds" if hits == of else "does not hold" if not hits else "holds in part"


def _smaller(s: Shift) -> str:
    return f"smaller on {s.less} of {s.count} sets"


def _ratio(s: Shift) -> str:
    return f"{math.exp(s.middle):.2f} [{math.exp(s.low):.2f}, {math.exp(s.high):.2f}]"


def _signed(s: Shift, digits: int = 3) -> str:
    return f"{s.middle:+.{digits}f} [{s.low:+.{digits}f}, {s.high:+.{digits}f}]"


def _clear(s: Shift) -> list[str]:
    return [f"{s.effect:+.2f}", _p(s.p)]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _the(model: str) -> str:
    return {"tree": "the tree", "bayes": "naive Bayes"}[model]


def _wrapped(text: str) -> str:
    return fill(text, 108, break_on_hyphens=False)


def _listed(text: str) -> str:
    return fill(text, 108, break_on_hyphens=False, initial_indent="- ", subsequent_indent="  ")

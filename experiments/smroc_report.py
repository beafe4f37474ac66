"""The smROC study as a page part: the answers, their numbers, and each data set."""

from __future__ import annotations

import math
from textwrap import fill

import polars as pl

from experiments.paired_tests import Shift
from experiments.smroc_claims import MIDPOINTS, Lower, Separates, Steadier, claims
from experiments.smroc_numbers import correlation, counted, effect, p_value, ratio, signed
from experiments.smroc_runs import FOLDS, MODELS, SCHEMES, SHARE
from experiments.smroc_words import RUNS, WORDS, answers

READ = (
    "Over the sets: ratios and differences are Hodges-Lehmann middles with 95 % intervals, effect is the "
    "matched-pairs rank-biserial correlation, p is Wilcoxon's, exact up to 50 sets. Tables give p as it "
    "is; the answers adjust it over the cases of each claim (Holm). A claim holds if all of its cases are "
    "significant, and in part if some are; if none is, for it or for the reverse, it cannot be told. "
    "Within a set: the corrected resampled t-test of Nadeau and Bengio; p in the last of these tables "
    "compares the numbers of sets that only one area separates (McNemar, exact), and opposed are sets that "
    "both separate, but the other way round. Skill is the share of the way from chance to 1."
)


def markdown(table: pl.DataFrame, repeats: int) -> str:
    """The whole file."""
    found = claims(table)
    said = [_wrapped(text, "- ") for text in answers(found)]
    parts = [_wrapped(_how(table, repeats)), "**The answers**", "\n".join(said)]
    parts += ["**The same model: sd of smAUC against that of AUC**", _steadier(found.steadier)]
    parts += ["**The same scores: smAUC against AUC**", _lower(found.lower)]
    parts += [
        "**Naive Bayes against tree: in how many sets p < 0.05**",
        _separates(found.separates),
    ]
    parts += [_wrapped(READ)]
    for scheme, words in SCHEMES.items():
        part = table.filter(pl.col("scheme") == scheme)
        for area, midpoint in MIDPOINTS.items():
            parts += [f"**Each set: {words}, midpoint {midpoint}**", _sets(part, area)]
    return "\n\n".join(parts) + "\n"


def _how(table: pl.DataFrame, repeats: int) -> str:
    undefined = sum(int(table[c].sum()) for c in table.columns if c.startswith("undefined_"))
    runs = repeats * FOLDS
    return (
        f"{table['set'].n_unique()} data sets. Both models learn from the same rows and are judged on the "
        f"same others: {runs} times by {repeats} x {FOLDS}-fold cross-validation, and {runs} times by "
        f"learning from {100 * SHARE:.0f} % of the rows and judging on the rest; classes keep their "
        "shares. sd is the standard deviation over these runs. The relative sd is the sd divided by how "
        "far the mean area lies above chance: 0.5 for AUC, and for smAUC what the same scores would get if "
        f"they were dealt out at random. Areas that were undefined: {undefined}."
    )


def _steadier(cases: list[Steadier]) -> str:
    head = ["runs", "midpoint", "model", "sd smaller on", "ratio of sds", "effect", "p"]
    head += ["relative sd smaller on", "ratio of relative sds", "effect", "p"]
    lines = [
        [
            *_case(c),
            counted(c.plain),
            ratio(c.plain),
            *_clear(c.plain),
            counted(c.relative, c.no_range),
            ratio(c.relative),
            *_clear(c.relative),
        ]
        for c in cases
    ]
    return _table(head, 3, lines)


def _lower(cases: list[Lower]) -> str:
    head = ["runs", "midpoint", "model", "lower on", "smAUC minus AUC", "effect", "p"]
    head += ["difference and boldness, Spearman", "difference of skill"]
    lines = [
        [
            *_case(c),
            counted(c.gap),
            signed(c.gap),
            *_clear(c.gap),
            correlation(c.boldness),
            signed(c.skill),
        ]
        for c in cases
    ]
    return _table(head, 3, lines)


def _separates(cases: list[Separates]) -> str:
    head = ["runs", "midpoint", "p-values", "both", "only AUC", "only smAUC", "neither", "p"]
    head += ["opposed", "abs(t) of smAUC minus that of AUC"]
    lines = []
    for c in cases:
        about = [RUNS[c.scheme], c.midpoint, "Holm" if c.adjusted else "plain"]
        counts = [len(c.both), len(c.only_auc), len(c.only_sm), c.neither]
        rest = [p_value(c.p), str(len(c.opposed)), signed(c.strength, 2)]
        lines.append([*about, *map(str, counts), *rest])
    return _table(head, 3, lines)


def _sets(part: pl.DataFrame, area: str) -> str:
    head = ["set", "rows", "tree AUC", "tree smAUC", "naive Bayes AUC", "naive Bayes smAUC"]
    head += ["difference of AUC", "p", "difference of smAUC", "p"]
    lines = []
    for r in part.iter_rows(named=True):
        kinds = [(a, m) for m in MODELS for a in ("auc", area)]
        cells = [_spread(r[f"mean_{a}_{m}"], r[f"sd_{a}_{m}"]) for a, m in kinds]
        for a in ("auc", area):
            shown = _spread(r[f"diff_{a}"], r[f"diff_sd_{a}"], "+")
            cells += [f"**{shown}**" if r[f"p_{a}"] < 0.05 else shown, p_value(r[f"p_{a}"])]
        lines.append([r["set"], f"{r['rows']:,}", *cells])
    return _table(head, 1, lines)


def _spread(mean: float, sd: float, sign: str = "") -> str:
    if math.isnan(mean):
        return "undefined"
    return f"{mean:{sign}.3f}" + ("" if math.isnan(sd) else f" ± {sd:.3f}")


def _table(head: list[str], words: int, lines: list[list[str]]) -> str:
    rule = "|" + "---|" * words + "---:|" * (len(head) - words)
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


def _case(c: Steadier | Lower) -> list[str]:
    return [RUNS[c.scheme], c.midpoint, WORDS[c.model]]


def _clear(s: Shift) -> list[str]:
    return [effect(s), p_value(s.p)]


def _wrapped(text: str, mark: str = "") -> str:
    return fill(
        text, 108, break_on_hyphens=False, initial_indent=mark, subsequent_indent=" " * len(mark)
    )

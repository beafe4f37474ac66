"""What agreement means: whether raters agree beyond chance, which coefficient to report, who stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scorewise.agreeing.disagreement import Outlier, raters_tested
from scorewise.agreeing.groups import group_claims, reported
from scorewise.estimate import Estimate
from scorewise.registry import RATER_MEASURES
from scorewise.show.verdict import Claim, bands, claim, command, figure, shown
from scorewise.show.words import chance, counted, named, quoted, whole_percent

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

ADVERBS = {
    "slight": "slightly", "fair": "fairly", "moderate": "moderately",
    "substantial": "substantially", "almost perfect": "almost perfectly",
}  # fmt: skip
COLUMNS = 12  # raters whose columns a command names


def verdict_of(a: Agreement) -> list[Claim]:
    """The sentences on raters of the same items."""
    if not len(a.ratings):
        return []
    # dealing ratings of an item out anew knows nothing of clusters
    alone = a.rows is None or a.rows.cluster is None
    tested = raters_tested(a.ratings, weights=a.weights) if alone else []
    out = [row for row in tested if row.p < 1 - a.settings.level]
    return [_agreed(a), *_reported(a), *group_claims(a), *_differing(tested, out), *_next(a, out)]


def _coefficient(a: Agreement) -> str:
    """The name of the coefficient to report."""
    return reported(a.ratings.raters)


def _agreed(a: Agreement) -> Claim:
    """Whether raters agree beyond chance, in words that hold for the whole interval."""
    name = _coefficient(a)
    e, title = a[name], RATER_MEASURES[name].title
    figures = [figure(name, e)]
    if not e.defined:
        text = f"How far raters agree beyond chance cannot be told: {e.why}."
        return claim("agreement", "unknown", text, figures)
    if e.high < 0:
        finding, text = "below chance", "Raters agree less than by chance"
    elif e.low <= 0:
        items = counted(round(a.ratings.items), "item")
        finding = "not told from chance"
        text = f"Whether raters agree beyond chance cannot be told with {items}"
    else:
        words = bands(e)
        finding = " to ".join(words)
        text = f"Raters agree beyond chance, {' to '.join(ADVERBS[w] for w in words)}"
    return claim("agreement", finding, f"{text}: {title} {shown(e)}.", figures)


def _reported(a: Agreement) -> Iterator[Claim]:
    """Which coefficient to report, and why another would say something else."""
    name, weights = _coefficient(a), a.settings.weights
    if name == "krippendorff_alpha":
        gaps = len(np.unique(a.ratings.rated)) > 1
        why = "it takes any number of raters" + ", and items that not everyone rated" * gaps
    else:
        why = "there are two raters"
    if a.settings.scale != "nominal":
        metric = (
            f"the {a.settings.scale} metric"
            if name == "krippendorff_alpha"
            else f"{weights} weights"
        )
        metric = "own weights" if weights == "own" and name != "krippendorff_alpha" else metric
        why += f"; with {metric}, near misses count in part"
    drives = a.paradox
    if not drives.prevalence:  # else the next sentence says what to report
        text = f"Report {RATER_MEASURES[name].title}: {why}."
        yield claim("coefficient", name, text, [figure(name, a[name])])
    found = [figure(key, e) for key, e in drives.estimates.items() if e.defined]
    kinds = [k for k, there in (("prevalence", drives.prevalence), ("bias", drives.bias)) if there]
    for kind, text in zip(kinds, drives.sentences, strict=True):
        yield claim("coefficient", kind, text, found)


def _differing(tested: Sequence[Outlier], out: Sequence[Outlier]) -> Iterator[Claim]:
    """Which raters agree with the others less than these with one another, beyond chance."""
    figures = [
        figure(key, Estimate(x), row.rater)
        for row in out[:3]
        for key, x in (("agreement_with_others", row.own), ("agreement_of_others", row.rest))
    ]
    if out:
        words = [
            f"{quoted(r.rater)} ({whole_percent(r.own)} against {whole_percent(r.rest)}, {chance(r.p)})"
            for r in out
        ]
        verb = "agrees" if len(out) == 1 else "agree"
        text = f"{named(words)} {verb} with the others less than they do with each other."
        yield claim("raters", "stands out", text, figures)
    elif len(tested) > 1:
        text = f"No rater is shown to differ from the others ({len(tested)} tested)."
        yield claim("raters", "none stands out", text)


def _next(a: Agreement, out: Sequence[Outlier]) -> Iterator[Claim]:
    """The command that would come next: without who stands out, or with an automatic judge."""
    raters, apart = a.ratings.raters or (), {row.rater for row in out}
    kept = [name for name in raters if name not in apart]
    if not a.sources:
        if len(raters) > 1:
            text = "Next: sw.judge(humans, judges), an automatic judge beside them"
            yield claim("next", "judge", text)
        return
    columns = a.rows is not None and a.rows.first is None and a.rows.count is None
    if not columns or not 2 <= len(kept) <= COLUMNS:
        return
    if apart:
        scale = [] if a.settings.scale == "nominal" else [("scale", str(a.settings.scale))]
        yield command("agree", a.sources, [*(("rater", x) for x in kept), *scale])
    else:
        yield command("judge", a.sources, [*(("human", x) for x in kept), ("judge", "COLUMN")])

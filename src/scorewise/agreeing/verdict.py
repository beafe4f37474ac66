"""What agreement means: whether it is beyond chance, what to report, who stands out; and remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scorewise.agreeing.disagreement import Outlier, outlier_tests
from scorewise.agreeing.interpretation import COMMON, reported
from scorewise.columns.rating_codes import is_number, spelled_alike
from scorewise.estimate import Estimate
from scorewise.registry import RATER_MEASURES
from scorewise.show.verdict import Claim, agreement_bands, claim, figure, next_command, with_ci
from scorewise.show.words import listed, p_phrase, plural, quoted, whole_percent

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

ADVERBS = {
    "slight": "slightly", "fair": "fairly", "moderate": "moderately",
    "substantial": "substantially", "almost perfect": "almost perfectly",
}  # fmt: skip
MAX_RATERS = 12  # whose columns a command names
FEW_ITEMS = 20  # below which intervals are rough
MIN_RARER = 5  # items on which raters agree on a rarer category
MAX_CATEGORIES = 1000  # of which one may be called rare
LIKE_COLUMNS = 10  # times as many raters as items


def verdict(a: Agreement) -> list[Claim]:
    """The sentences on raters of the same items."""
    if not len(a.ratings):
        return []
    # dealing ratings of an item out anew knows nothing of clusters
    tested = outlier_tests(a.ratings, weights=a.weights) if a.cluster is None else []
    outliers = [row for row in tested if row.p < 1 - a.settings.level]
    sentences = [_agreed(a), *_reported(a), *a.groups.claims(), *_differing(tested, outliers)]
    return [*sentences, *_next(a, outliers)]


def _agreed(a: Agreement) -> Claim:
    """Whether raters agree beyond chance, in words that hold for the whole interval."""
    name = reported(a.ratings.raters)
    e, title = a[name], RATER_MEASURES[name].title
    figures = [figure(name, e)]
    if not e.defined:
        text = f"How far raters agree beyond chance cannot be told: {e.why}."
        return claim("agreement", "unknown", text, figures)
    if e.high < 0:
        finding, text = "below chance", "Raters agree less than by chance"
    elif e.low <= 0:
        items = plural(round(a.ratings.items), "item")
        finding = "not told from chance"
        text = f"Whether raters agree beyond chance cannot be told with {items}"
    else:
        words = agreement_bands(e)
        finding = " to ".join(words)
        text = f"Raters agree beyond chance, {' to '.join(ADVERBS[w] for w in words)}"
    return claim("agreement", finding, f"{text}: {title} {with_ci(e)}.", figures)


def _reported(a: Agreement) -> Iterator[Claim]:
    """Which coefficient to report, and why another would say something else."""
    name, weights = reported(a.ratings.raters), a.settings.weights
    if name == "krippendorff_alpha":
        gaps = len(np.unique(a.ratings.rated)) > 1
        why = "it takes any number of raters" + ", and items that not everyone rated" * gaps
        metric = f"the {a.settings.scale} metric"
    else:
        why, metric = "there are two raters", f"{weights} weights"
    if a.settings.scale != "nominal":
        why += f"; with {metric}, near misses count in part"
    drives = a.paradox
    if not drives.prevalence:  # else the next sentence says what to report
        text = f"Report {RATER_MEASURES[name].title}: {why}."
        yield claim("coefficient", name, text, [figure(name, a[name])])
    found = [figure(key, e) for key, e in drives.estimates.items() if e.defined]
    kinds = [k for k, there in (("prevalence", drives.prevalence), ("bias", drives.bias)) if there]
    for kind, text in zip(kinds, drives.sentences, strict=True):
        yield claim("coefficient", kind, text, found)


def _differing(tests: Sequence[Outlier], outliers: Sequence[Outlier]) -> Iterator[Claim]:
    """Which raters agree with the others less than these with one another, beyond chance."""
    if outliers:
        figures, words = [], []
        for o in outliers:
            both = {"agreement_with_others": o.with_others, "agreement_of_others": o.among_others}
            figures += [figure(key, Estimate(x), o.rater) for key, x in both.items()]
            own, rest = map(whole_percent, both.values())
            words.append(f"{quoted(o.rater)} ({own} against {rest}, {p_phrase(o.p)})")
        verb = "agrees" if len(outliers) == 1 else "agree"
        text = f"{listed(words)} {verb} with the others less than they do with each other."
        yield claim("raters", "stands out", text, figures[:6])
    elif len(tests) > 1:
        text = f"No rater is shown to differ from the others ({len(tests)} tested)."
        yield claim("raters", "none stands out", text)


def _next(a: Agreement, outliers: Sequence[Outlier]) -> Iterator[Claim]:
    """The command that would come next: without who stands out, or with an automatic judge."""
    raters = a.ratings.raters or ()
    left = [name for name in raters if name not in {o.rater for o in outliers}]
    if not a.sources:
        if len(raters) > 1:
            text = "Next: sw.judge(humans, judges), an automatic judge beside them"
            yield claim("next", "judge", text)
        return
    columns = a.rows is not None and a.rows.first is None and a.rows.count is None
    if not columns or not 2 <= len(left) <= MAX_RATERS:
        return
    if outliers:
        scale = [] if a.settings.scale == "nominal" else [("scale", str(a.settings.scale))]
        yield next_command("agree", a.sources, [*(("rater", x) for x in left), *scale])
    else:
        yield next_command("judge", a.sources, [*(("human", x) for x in left), ("judge", "COLUMN")])


# Remarks for the reader.


def hints(a: Agreement) -> Iterator[str]:
    """Remarks on the ratings, the raters and the categories."""
    r, raters = a.ratings, a.ratings.raters or ()
    yield from a.rows.notes if a.rows is not None else ()
    if a.cluster is not None:
        yield (
            "Intervals of coefficients are by cluster; those of categories, pairs and raters take items "
            "for independent."
        )
    for name, its in zip(raters, r.by_rater, strict=False):
        said = r.listed.code[its]
        if len(said) and (said == said[0]).all() and len(r.categories) > 1:
            yield f"{quoted(name)} says {quoted(r.categories[said[0]])} of every item that they rated"
        if not len(said):
            yield f"{quoted(name)} rated nothing"
    never = np.setdiff1d(np.arange(len(r.categories)), r.counted.code)
    if len(never):
        yield f"no rater ever says {listed([quoted(r.categories[k]) for k in never])}"
    if r.scale == "nominal" and len(r.categories) > 2 and all(map(is_number, r.categories)):
        yield (
            "the categories are numbers; if they have an order, the scale ordinal or interval counts near "
            "misses for less than other differences"
        )
    # one word spelled in two ways, or a word for nothing
    for one, other in spelled_alike(r.categories)[:3]:
        yield f"{quoted(one)} and {quoted(other)} count as two categories; are they one?"
    yield from _rare(a)
    if len(raters) > LIKE_COLUMNS * max(r.items, 1):
        yield (
            f"{len(raters):,} raters of {plural(round(r.items), 'item')}: if these are two columns of "
            f"ratings, pass them by name"
        )
    if 1 < r.effective < FEW_ITEMS:
        yield f"{plural(round(r.effective), 'item')} are few; intervals are rough"


def _rare(a: Agreement) -> Iterator[str]:
    """Kappa and alpha lean on the categories that are not the commonest."""
    share, common, r = a.paradox.share, a.paradox.commonest, a.ratings
    if common is None or share < COMMON or len(r.categories) > MAX_CATEGORIES or r.weighted:
        return
    k = r.categories.index(common)
    again = np.unique(r.counted.at[(r.counted.code != k) & (r.counted.times >= 2)])
    if (both := float(r.weight[again].sum())) < MIN_RARER:
        yield (
            f"on {plural(round(both), 'item')} only raters agree on another category than "
            f"{quoted(common)}: too few for the intervals and words of kappa and alpha to be relied on"
        )

"""The schema of what `agree` makes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import estimate, hints, measure_row
from scorewise.show.schemas.parts import (
    Schema,
    a_list,
    an_object,
    between,
    choice,
    count,
    document,
    flag,
    number,
    or_null,
    text,
)

SCALES = ("nominal", "ordinal", "interval", "ratio")


def agree() -> Schema:
    """Raters of the same items, and how far they agree."""
    return document(
        "agree",
        settings=an_object(
            "The settings that the numbers depend on.",
            scale=choice("What kind of categories there are.", SCALES),
            weights=text("How near misses count; own: by a matrix."),
            interval=choice("How intervals were made.", ("formula", "bootstrap", "published")),
            level=between("Confidence level of the intervals."),
            seed=count("Seed of the random draws."),
            top=count("Items listed at most."),
        ),
        data=_data(),
        measures=a_list("Every measure of agreement.", _measure(), least=1),
        paradox=_paradox(),
        baseline=_baseline(),
        categories=a_list("Agreement on each category; none beyond 1,000.", _category()),
        pairs=an_object(
            "Each two raters.",
            number=count("Pairs of raters who share an item."),
            why=text("Why none were looked at; empty where they were."),
            rows=a_list("The pairs that agree least, in that order.", _pair()),
        ),
        raters=a_list("Each rater, who differs most first.", _rater()),
        disputed=a_list("The items with most disagreement.", _item()),
        hints=hints(),
    )


def _data() -> Schema:
    return an_object(
        "The ratings that were judged.",
        sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
        items=number("Items with a rating, or their weight.", minimum=0),
        unrated=count("Items without any rating, which count for nothing."),
        single=number("Items with one rating, or their weight.", minimum=0),
        ratings=number("Ratings, or their weight.", minimum=0),
        missing=or_null(number("Ratings that are missing; null where raters are not known.")),
        raters=or_null(
            a_list("The raters; null where it is not known who said what.", text("Name."))
        ),
        most=count("Most ratings of an item."),
        distinct=count("Categories in all."),
        categories=a_list(
            "The categories in order, at most 1,000.",
            an_object(
                "A category.",
                name=text("Its name."),
                ratings=number("Ratings that say it, or their weight.", minimum=0),
            ),
        ),
        weighted=flag("Whether items are weighted."),
    )


def _measure() -> Schema:
    made = measure_row()
    words = or_null(text("The coefficient in words; null where it has none."))
    chances = {
        "description": "Probability that the true value lies in each band; null where there are none.",
        "type": ["object", "null"],
        "additionalProperties": number("A probability.", minimum=0, maximum=1),
    }
    made["properties"] = {**made["properties"], "band": words, "chances": chances}
    made["required"] = [*made["required"], "band", "chances"]
    return made


def _paradox() -> Schema:
    return an_object(
        "Coefficients without weights side by side, and what drives them apart.",
        measures=a_list(
            "The coefficients.",
            an_object(
                "A coefficient.",
                name=text("Name, as in the Python library.", least=1),
                title=text("Name, as shown.", least=1),
                value=or_null(number("The value; null when undefined.")),
                why=text("Why there is no value; empty when there is one."),
            ),
        ),
        commonest=or_null(text("The category said most often.")),
        share=number("Its share of all ratings.", minimum=0, maximum=1),
        shift=or_null(number("Share of one rater's ratings that would have to move.", minimum=0)),
        prevalence=flag("Whether the commonest category drives kappa down."),
        bias=flag("Whether two raters use the categories differently often."),
    )


def _baseline() -> Schema:
    share = {
        "error": "Mean disagreement of two raters.",
        "by_margins": "The same of raters who guess by the margins.",
        "by_permutation": "The same, as the mean over random tables.",
        "spread": "Standard deviation over random tables.",
        "p": "Share of random tables that agree as much.",
        "kappa": "1 - error / by_margins.",
        "kappa_permuted": "1 - error / by_permutation.",
    }
    return an_object(
        "The error of two raters beside that of guessing.",
        **{name: or_null(number(f"{said} Null where not known.")) for name, said in share.items()},
        draws=count("Random tables drawn."),
        why=text("Why something is not known; empty where all is."),
    )


def _category() -> Schema:
    return an_object(
        "Agreement on a category.",
        category=text("Its name."),
        share=number("Its share of all ratings.", minimum=0, maximum=1),
        agreement=estimate("Where one says it, the chance that another does."),
    )


def _pair() -> Schema:
    row = a_list("A category of the first rater.", number("Items, or their weight.", minimum=0))
    return an_object(
        "Two raters.",
        first=text("The first rater."),
        second=text("The second rater."),
        items=number("Items that both rated, or their weight.", minimum=0),
        agreement=estimate("Share of items on which they agree, in part by the weights."),
        kappa=estimate("Cohen's kappa."),
        table=or_null(a_list("What both said; null where it would be large.", row)),
    )


def _rater() -> Schema:
    return an_object(
        "A rater.",
        rater=text("Name."),
        items=number("Items rated, or their weight.", minimum=0),
        others=estimate("Mean agreement with each other rater."),
        majority=estimate("Share of items on which they say what most others say."),
    )


def _item() -> Schema:
    return an_object(
        "An item on which raters differ.",
        row=count("Its row: from 1 after the header in files, from 0 in arrays."),
        file=or_null(text("The file it is in, if any.")),
        id=or_null(text("Its name, if it has one.")),
        disagreement=number("Mean disagreement of two of its ratings.", minimum=0, maximum=1),
        said=a_list(
            "What each rater said, in order; null for nothing.", or_null(text("A category."))
        ),
    )

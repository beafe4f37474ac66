"""The schema of what `judge` makes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import hints
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


def judge() -> Schema:
    """Automatic judges against humans."""
    return document(
        "judge",
        settings=_settings(),
        data=_data(),
        ceiling=or_null(_ceiling()),
        judges=a_list("The judges, in the order given.", _judge(), least=1),
        differences=a_list("Each two judges on the same items.", _difference()),
        needed=a_list("Items for intervals of the width asked for.", _needed()),
        hints=hints(),
    )


def _settings() -> Schema:
    return an_object(
        "The settings that the numbers depend on.",
        scale=choice("What ratings are.", ["nominal", "ordinal", "interval", "ratio"]),
        weights=text("How near misses count in kappa; own: by a matrix."),
        no_answer=choice("What a judge's silence is.", ["drop", "wrong"]),
        interval=choice("How gaps between kappas got intervals.", ["formula", "bootstrap"]),
        level=between("Confidence level of the intervals."),
        seed=count("Seed of the random draws."),
        replicates=count("Resamples of the items."),
        width=or_null(number("Width of intervals asked for; null when none was.")),
    )


def _data() -> Schema:
    human = an_object(
        "A human.", name=text("The name."), rated=count("Items that the human rated.")
    )
    return an_object(
        "The items.",
        sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
        items=count("All items."),
        labelled=count("Items with a truth."),
        tied=count("Items on which humans tie, which have none."),
        single=count("Items with the vote of one of several humans."),
        unlabelled=count("Items that no human rated."),
        weighted=flag("Whether items have weights."),
        truth=text("What stands for the truth."),
        categories=a_list("The categories, in order.", text("A category."), least=1),
        humans=a_list("The humans.", human, least=1),
    )


def _share(description: str) -> Schema:
    return number(description, minimum=0, maximum=1)


def _estimate(description: str) -> Schema:
    return an_object(
        description,
        value=or_null(number("Its value; null when undefined.")),
        low=or_null(number("Lower end of the interval.")),
        high=or_null(number("Upper end of the interval.")),
        level=between("Confidence level of the interval."),
        method=text("How the interval and the p-value were made, and whether p is a bound."),
        why=text("Why there is no value; empty when there is one."),
        bound=number("Half-width left by coarsening; 0 here."),
        baseline=or_null(number("What chance, or always saying the same, would get.")),
        expected=or_null(number("Not used here.")),
        p=or_null(_share("p-value of there being no difference; null without a test.")),
        caution=text("Why the interval is unreliable; empty when it is not known to be."),
    )


def _against() -> dict[str, Schema]:
    return {
        "items": count("Items that both rated."),
        "accuracy": _estimate("Share of items on which both say the same."),
        "kappa": _estimate("Cohen's kappa."),
    }


def _ceiling() -> Schema:
    pair = an_object(
        "Two humans.",
        first=text("Name of the one."),
        second=text("Name of the other."),
        **_against(),
    )
    return an_object(
        "How well humans agree with one another; null for one human.",
        pairs=a_list("Each two humans.", pair, least=1),
        kappa=_estimate("Mean kappa of the pairs."),
    )


def _judge() -> Schema:
    human = an_object("The judge against one human.", name=text("The human."), **_against())
    return an_object(
        "A judge against the truth.",
        name=text("Its name."),
        silent=count("Items on which it gives no answer."),
        **_against(),
        categories=a_list("Each category.", _category(), least=1),
        confusion=a_list("Cells of the table that are not empty.", _cell()),
        humans=a_list("Against each human; empty for one human.", human),
        ceiling=or_null(_beside()),
        swap=or_null(_swap()),
        prevalence=a_list("Shares of all items; empty if all are labelled.", _prevalence()),
        grades=or_null(_grades()),
    )


def _category() -> Schema:
    return an_object(
        "A category.",
        category=text("Its name."),
        truth=or_null(_share("Share of items that are in it in truth.")),
        judge=or_null(_share("Share of items that the judge puts in it.")),
        p=or_null(_share("p-value of both being the same (McNemar).")),
        precision=_estimate("Share of the judge's uses that are right."),
        recall=_estimate("Share of its items that the judge finds."),
    )


def _cell() -> Schema:
    return an_object(
        "A cell.",
        truth=text("Category in truth."),
        judge=text("Category of the judge."),
        weight=number("Weight of the items; their number without weights.", minimum=0),
    )


def _beside() -> Schema:
    return an_object(
        "The judge against the human level; null for one human.",
        single=_estimate("Mean kappa of the judge with each human."),
        single_gap=_estimate("That minus the mean kappa of two humans."),
        human=_estimate("Mean kappa of each human with the most frequent rating of the others."),
        judge=_estimate("Mean kappa of the judge with the same ratings."),
        gap=_estimate("Judge minus human."),
    )


def _swap() -> Schema:
    return an_object(
        "The judge asked again with positions exchanged; null when it was not.",
        items=count("Items with both verdicts."),
        consistent=_estimate("Share of items with the same verdict."),
        kappa=_estimate("Kappa of the two runs."),
        first=_estimate("Share of position-bound verdicts that lean to the first."),
        leaning=a_list("Items leaning to the first and to the second.", count("Items.")),
    )


def _grades() -> Schema:
    return an_object(
        "The judge's grades against those of the truth; null where ratings have no order.",
        items=count("Items that both graded."),
        difference=_estimate("Mean of judge minus truth; in places of an ordinal scale."),
        higher=_share("Share of items that the judge grades higher."),
        same=_share("Share of items that it grades the same."),
        lower=_share("Share of items that it grades lower."),
        p=_share("p-value of the sign test of higher against lower."),
        near=_estimate("Share of items off by one step at most."),
        step=number("The least distance of two ratings that occur.", minimum=0),
        ranks=_estimate("Spearman's rank correlation."),
    )


def _prevalence() -> Schema:
    return an_object(
        "A category's share of human votes on all items.",
        category=text("Its name."),
        judge=_estimate("Share among the judge's answers, uncorrected."),
        labelled=_estimate("Share of votes on labelled items alone."),
        powered=_estimate("Prediction-powered."),
        tuned=_estimate("Prediction-powered, with the best power for all shares."),
        tuning=_share("That power."),
        rates=_estimate("Corrected by sensitivity and specificity (Rogan-Gladen)."),
    )


def _difference() -> Schema:
    return an_object(
        "The first judge minus the second.",
        first=text("Name of the first."),
        second=text("Name of the second."),
        items=count("Items that both answered, with a truth."),
        only_first=or_null(_share("Share on which only the first is right.")),
        only_second=or_null(_share("Share on which only the second is right.")),
        accuracy=_estimate("Difference in accuracy."),
        accuracy_adjusted=or_null(_share("Its p-value adjusted for all pairs (Holm).")),
        kappa=_estimate("Difference in kappa."),
        kappa_adjusted=or_null(_share("Its p-value adjusted for all pairs (Holm).")),
    )


def _needed() -> Schema:
    return an_object(
        "Labelled items for an interval of that width.",
        of=choice("What the interval is of.", ["kappa", "accuracy", "difference"]),
        name=text("Judge, or pair of judges."),
        items=count("How many items."),
    )

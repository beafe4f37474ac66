"""Every option with its help; which command has it, and its type and default, the verb's signature says."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scorewise import errors


class Help(NamedTuple):
    """What is shown of an option, by the name of the parameter that it fills.

    `flag` is its name on the command line where that is another. With `read`, the text is given once, and
    that function makes the value of it.
    """

    metavar: str
    help: str
    flag: str = ""
    read: Callable[[str], Any] | None = None
    short: str = ""


def split_commas(text: str) -> list[str]:
    """The parts between commas.

    >>> split_commas("low, middle,high")
    ['low', 'middle', 'high']
    """
    return [part.strip() for part in text.split(",")]


def number_or_word(text: str) -> float | str:
    """A number where the text is one.

    >>> number_or_word("0.5"), number_or_word("mean")
    (0.5, 'mean')
    """
    try:
        return float(text)
    except ValueError:
        return text


COLUMN, NUMBER, HOW, PATH = "COLUMN", "NUMBER", "HOW", "PATH"
FILES = Help("FILE", "Files of one table: parquet, csv (.gz), jsonl or arrow; - is standard input.")
ARGUMENTS = {
    "reference": Help("REFERENCE", "File (or 'pattern*') to compare with."),
    "current": Help("CURRENT", "File of the rows since; none with --time."),
    "map_file": Help("MAP", "What calibrate fit wrote."),
    "rule_file": Help("RULE", "What threshold wrote."),
    "files": FILES,
}
OPTIONS = {
    "label": Help(COLUMN, "Column with the true class."),
    "score": Help(COLUMN, "Column with scores."),
    "scores": Help(
        COLUMN,
        "Column with how much a rater thinks speaks for yes, in the order of decisions.",
        "--score",
    ),
    "decisions": Help(
        COLUMN, "Column with a rater's decisions; repeat it for each rater.", "--decision"
    ),
    "classes": Help(
        "COLUMNS",
        'Columns of several classes: "cat=p_cat,dog=p_dog", or "p_*" with the class as the star.',
        read=str,
    ),
    "predicted": Help(COLUMN, "Column with predicted classes; --score is the confidence in them."),
    "confidence": Help(
        "RULE", "Of several classes: max, margin, entropy, energy or a column; else max."
    ),
    "gold": Help(COLUMN, "Column with the accepted answers."),
    "quality": Help("RULE", "Quality of an answer: anls, exact, f1, or a column from 0 to 1."),
    "tau": Help(NUMBER, "Correct is an answer of quality above this."),
    "model": Help(COLUMN, "Column that says whose score a row has, in a long file."),
    "key": Help(COLUMN, "Column that names the rows, on which models are joined."),
    "unpaired": Help("", "The models were judged on different rows."),
    "measure": Help("NAME", "Measure to rank models by; else auroc (accuracy of classes)."),
    "margin": Help(NUMBER, "How much worse than the baseline a model may be."),
    "baseline": Help("MODEL", "The model that the others are compared with."),
    "mcnemar": Help("KIND", "McNemar's test: mid-p, exact or corrected."),
    "by": Help(COLUMN, "Column of groups."),
    "reference": Help("FILE", "File of an earlier sample, to tell what has drifted since."),
    "cluster": Help(COLUMN, "Column of what rows belong to, such as patients with several rows."),
    "min_rows": Help(NUMBER, "Groups of fewer rows are shown, not judged."),
    "normalise": Help(HOW, "Before texts are compared: plain, squad or none."),
    "lists": Help("WHAT", "A list of gold answers holds variants, or items all to be named."),
    "unanswerable": Help(
        "TEXT", "A text that says there is no answer, in place of the usual ones; repeat it."
    ),
    "bins": Help(NUMBER, "Bins of equal width that ECE has."),
    "raters": Help(
        COLUMN, "Column with a rater's ratings; repeat it. With --rating: who rated.", "--rater"
    ),
    "item": Help(COLUMN, "Column that names the items."),
    "rating": Help(COLUMN, "Column with ratings, one in each row."),
    "counts": Help(
        "COLUMNS", 'Columns that count the raters who chose a category: "n_*", or "yes=a,no=b".'
    ),
    "form": Help(
        "FORM", "What the columns are: items (a rater each), table (of two raters) or counts."
    ),
    "humans": Help(COLUMN, "Column with a human's ratings.", "--human"),
    "judges": Help(COLUMN, "Column with a judge's ratings.", "--judge"),
    "swapped": Help(
        "[JUDGE=]COLUMN",
        "A judge's verdicts with positions exchanged, by judge or in their order; repeat it.",
    ),
    "swap": Help("PAIRS", 'Verdicts that then mean the same, such as "A=B".'),
    "ignore": Help("VALUE", "A judge's value that means no answer; repeat it."),
    "no_answer": Help(HOW, "No answer of a judge: drop it, or count as wrong."),
    "scale": Help("SCALE", "Ratings are nominal, ordinal, interval or ratio."),
    "categories": Help("LIST", 'All categories in order: "low,middle,high".', read=split_commas),
    "weights": Help(
        "NAME",
        "How near misses count: identity, linear, quadratic, ...; else what suits the scale.",
    ),
    "interval": Help(HOW, "Intervals by formula, bootstrap of items, or as published elsewhere."),
    "positive": Help("CLASS", "The class that high scores stand for."),
    "weight": Help(COLUMN, "Column with a weight for each row."),
    "count": Help(COLUMN, "Column with the number of identical rows that each row represents."),
    "ids": Help(COLUMN, "Column that names the rows.", "--id"),
    "labels": Help("WHICH", "Which samples have labels: both, reference or none."),
    "time": Help(COLUMN, "Cut one file into windows by this column."),
    "windows": Help(NUMBER, "Windows of equal numbers of rows; else 6."),
    "grid": Help(
        "GRID", "Keep scores on a grid from the start: probability (0 to 1) or relative (any)."
    ),
    "memory": Help("SIZE", "Memory to take; scores that do not fit go onto a grid, with bounds."),
    "again": Help("", "Take a file although its content is there already."),
    "resume": Help("", "Go on from the files that an earlier run finished."),
    "skip_bad_files": Help("", "Leave out files that cannot be used, and say how many."),
    "every": Help("PERIOD", "Windows by day, week, month, quarter or year."),
    "reference_until": Help("TIME", "Rows up to this time are the reference.", read=number_or_word),
    "midpoint": Help(
        "RULE",
        "From where on a score is high: mean, balanced, median, crossing or a number.",
        read=number_or_word,
    ),
    "learn": Help("FILE", "Take the midpoint from these rows, e.g. validation."),
    "method": Help(
        "NAME",
        "auto, identity, temperature, platt, beta, quadratic, spline, isotonic, isotonic_strict, "
        "histogram or venn_abers; for several classes auto, identity, temperature, vector, "
        "structured or dirichlet.",
    ),
    "at": Help("CONSTRAINT", 'What the cut has to keep, such as "recall >= 0.9".'),
    "best": Help("WHAT", "What is to be best: youden, f1, f2, kappa or cost."),
    "cost": Help(NUMBER, "False alarms that a missed positive costs as much as."),
    "review": Help(NUMBER, "What a review by hand costs, in false alarms; gives two cuts."),
    "prevalence": Help("SHARE", "Share of positives to decide for; else that of the rows."),
    "guarantee": Help(
        "SHARE", "Confidence of the guarantee; else 0.95 where there are rows enough; 0: none."
    ),
    "require": Help(
        "REQUIREMENT",
        'What has to hold, such as "auroc >= 0.8" or "brier.delta <= 0.01 vs old.csv".',
    ),
    "gates": Help("FILE", "TOML file with file, require and other settings; else gates.toml."),
    "looks": Help(NUMBER, "Candidates that will be held against the same rows; else 1."),
    "ledger": Help(PATH, "File that counts the candidates looked at."),
    "inconclusive": Help(HOW, "What an inconclusive gate counts as: exit3, pass or fail."),
    "fail_on": Help(
        "KIND", "Exit with 1 on this kind of drift: any, prior, covariate, concept or scores."
    ),
    "junit": Help(PATH, "Write the checks as a JUnit file (.xml)."),
    "half_width": Help(NUMBER, "Rows for an interval no wider than plus or minus this."),
    "difference": Help(NUMBER, "Rows to show this difference between two models."),
    "rows": Help(NUMBER, "Rows at hand: which difference do they show?"),
    "value": Help(NUMBER, "What the measure is expected to be."),
    "delta": Help(NUMBER, "What the difference of a gate on one is expected to be."),
    "auroc": Help(NUMBER, "Expected AUROC of calibrated scores, for other measures."),
    "correlation": Help(NUMBER, "Of two models' scores within a class, or decisions; else 0.5."),
    "power": Help("SHARE", "Share of cases in which a difference or a gate is to be shown."),
    "folds": Help(NUMBER, "Folds in which methods are compared."),
    "threshold": Help(NUMBER, "A score at or above this is a positive decision."),
    "tolerance": Help(NUMBER, "Scores this near each other agree."),
    "top": Help(NUMBER, "Rows to list at most."),
    "width": Help(NUMBER, "Say how many items make intervals this narrow."),
    "all": Help("", "Show every measure, in place of the first screen."),
    "level": Help("SHARE", "Confidence level of the intervals."),
    "seed": Help(NUMBER, "Seed of the random draws."),
    "replicates": Help(NUMBER, "Random splits or resamples."),
    "kind": Help("KIND", "The scores are probability, logit or score; else it is guessed."),
    "missing": Help(HOW, "With missing values: refuse, or drop those rows."),
    "clip": Help(NUMBER, "Keep probabilities this far from 0 and 1 in log loss and in log-odds."),
    "name": Help(
        COLUMN,
        "Name of the new column; else COLUMN_calibrated, calibrated_COLUMN for several classes.",
    ),
    "encoding": Help("NAME", "Encoding of csv and jsonl, such as latin-1; else UTF-8."),
    "plot": Help(PATH, "Draw what people expect of it (.png, .svg or .pdf)."),
    "figures": Help("DIR", "Write each figure into a folder (.svg; .png with scorewise[figures])."),
    "segments": Help(PATH, "Write climb and run of each row (.csv or .parquet)."),
    "out": Help(PATH, "Write the map (.json), or the report (.html).", short="-o"),
    "json": Help(PATH, "Write the result as JSON; - prints it."),
    "md": Help(PATH, "Write it as Markdown; - prints it."),
    "latex": Help(PATH, "Write it as LaTeX, for a paper; - prints it."),
    "html": Help(
        PATH, "Write the report, one HTML file that opens anywhere.", "--output", short="-o"
    ),
}


def flag(name: str) -> str:
    """How the option of a parameter is called.

    >>> flag("no_answer"), flag("humans")
    ('--no-answer', '--human')
    """
    option = OPTIONS.get(name)
    return option.flag if option and option.flag else f"--{name.replace('_', '-')}"


def spelled_option(option: errors.Option) -> str:
    """An option with its value, as it is written on the command line.

    >>> spelled_option(errors.Option("missing", "drop")), spelled_option(errors.Option("humans"))
    ('--missing drop', '--human')
    >>> spelled_option(errors.Option("ignore", -1)), spelled_option(errors.Option("classes", [0, 1]))
    ('--ignore=-1', '--classes 0,1')
    """
    name, value = flag(option.name), option.value
    if value is None:
        return name
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    word = shlex.quote(",".join(map(str, value)) if listed else str(value))
    return f"{name}{'=' if word.startswith('-') else ' '}{word}"  # a dash would begin an option


def refusal(error: errors.BadInput) -> str:
    """The sentence of an error with its options as they are written on the command line."""
    words = (spelled_option(p) if isinstance(p, errors.Option) else p for p in error.parts)
    return errors.plain("".join(words))

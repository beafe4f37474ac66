"""Every option with its help; which command has it, and its type and default, the verb's signature says."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scorewise import errors


class Option(NamedTuple):
    """What is shown of an option, by the name of the parameter that it fills.

    `flag` is its name on the command line where that is another. With `read`, the text is given once, and
    that function makes the value of it.
    """

    metavar: str
    help: str
    flag: str = ""
    read: Callable[[str], Any] | None = None
    short: str = ""


def listed(text: str) -> list[str]:
    """The parts between commas.

    >>> listed("low, middle,high")
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
FILES = Option(
    "FILE", "Files of one table: parquet, csv (.gz), jsonl or arrow; - is standard input."
)
ARGUMENTS = {
    "reference": Option("REFERENCE", "File (or 'pattern*') to compare with."),
    "current": Option("CURRENT", "File of the rows since; none with --time."),
    "map_file": Option("MAP", "What calibrate fit wrote."),
    "rule_file": Option("RULE", "What threshold wrote."),
}
OPTIONS = {
    "label": Option(COLUMN, "Column with the true class."),
    "score": Option(COLUMN, "Column with scores."),
    "scores": Option(
        COLUMN,
        "Column with how much a rater thinks speaks for yes, in the order of decisions.",
        "--score",
    ),
    "decisions": Option(
        COLUMN, "Column with a rater's decisions; repeat it for each rater.", "--decision"
    ),
    "classes": Option(
        "COLUMNS",
        'Columns of several classes: "cat=p_cat,dog=p_dog", or "p_*" with the class as the star.',
        read=str,
    ),
    "predicted": Option(
        COLUMN, "Column with predicted classes; --score is the confidence in them."
    ),
    "confidence": Option(
        "RULE", "Of several classes: max, margin, entropy, energy or a column; else max."
    ),
    "gold": Option(COLUMN, "Column with the accepted answers."),
    "quality": Option("RULE", "Quality of an answer: anls, exact, f1, or a column from 0 to 1."),
    "tau": Option(NUMBER, "Correct is an answer of quality above this."),
    "model": Option(COLUMN, "Column that says whose score a row has, in a long file."),
    "key": Option(COLUMN, "Column that names the rows, on which models are joined."),
    "unpaired": Option("", "The models were judged on different rows."),
    "measure": Option("NAME", "Measure to rank models by; else auroc (accuracy of classes)."),
    "margin": Option(NUMBER, "How much worse than the baseline a model may be."),
    "baseline": Option("MODEL", "The model that the others are compared with."),
    "mcnemar": Option("KIND", "McNemar's test: mid-p, exact or corrected."),
    "by": Option(COLUMN, "Column of groups."),
    "reference": Option("FILE", "File of an earlier sample, to tell what has drifted since."),
    "cluster": Option(COLUMN, "Column of what rows belong to, such as patients with several rows."),
    "min_rows": Option(NUMBER, "Groups of fewer rows are shown, not judged."),
    "normalise": Option(HOW, "Before texts are compared: plain, squad or none."),
    "lists": Option("WHAT", "A list of gold answers holds variants, or items all to be named."),
    "unanswerable": Option(
        "TEXT", "A text that says there is no answer, in place of the usual ones; repeat it."
    ),
    "bins": Option(NUMBER, "Bins of equal width that ECE has."),
    "raters": Option(
        COLUMN,
        "Column with a rater's ratings; repeat it. With --rating: who rated.",
        "--rater",
    ),
    "item": Option(COLUMN, "Column that names the items."),
    "rating": Option(COLUMN, "Column with ratings, one in each row."),
    "counts": Option(
        "COLUMNS",
        'Columns that count the raters who chose a category: "n_*", or "yes=a,no=b".',
    ),
    "form": Option(
        "FORM", "What the columns are: items (a rater each), table (of two raters) or counts."
    ),
    "humans": Option(COLUMN, "Column with a human's ratings.", "--human"),
    "judges": Option(COLUMN, "Column with a judge's ratings.", "--judge"),
    "swapped": Option(
        "[JUDGE=]COLUMN",
        "A judge's verdicts with positions exchanged, by judge or in their order; repeat it.",
    ),
    "swap": Option("PAIRS", 'Verdicts that then mean the same, such as "A=B".'),
    "ignore": Option("VALUE", "A judge's value that means no answer; repeat it."),
    "no_answer": Option(HOW, "No answer of a judge: drop it, or count as wrong."),
    "scale": Option("SCALE", "Ratings are nominal, ordinal, interval or ratio."),
    "categories": Option("LIST", 'All categories in order: "low,middle,high".', read=listed),
    "weights": Option(
        "NAME",
        "How near misses count: identity, linear, quadratic, ...; else what suits the scale.",
    ),
    "interval": Option(HOW, "Intervals by formula, bootstrap of items, or as published elsewhere."),
    "positive": Option("CLASS", "The class that high scores stand for."),
    "weight": Option(COLUMN, "Column with a weight for each row."),
    "count": Option(COLUMN, "Column with the number of identical rows that each row represents."),
    "ids": Option(COLUMN, "Column that names the rows.", "--id"),
    "labels": Option("WHICH", "Which samples have labels: both, reference or none."),
    "time": Option(COLUMN, "Cut one file into windows by this column."),
    "windows": Option(NUMBER, "Windows of equal numbers of rows; else 6."),
    "grid": Option(
        "GRID", "Keep scores on a grid from the start: probability (0 to 1) or relative (any)."
    ),
    "memory": Option("SIZE", "Memory to take; scores that do not fit go onto a grid, with bounds."),
    "again": Option("", "Take a file although its content is there already."),
    "resume": Option("", "Go on from the files that an earlier run finished."),
    "skip_bad_files": Option("", "Leave out files that cannot be used, and say how many."),
    "every": Option("PERIOD", "Windows by day, week, month, quarter or year."),
    "reference_until": Option(
        "TIME", "Rows up to this time are the reference.", read=number_or_word
    ),
    "midpoint": Option(
        "RULE",
        "From where on a score is high: mean, balanced, median, crossing or a number.",
        read=number_or_word,
    ),
    "learn": Option("FILE", "Take the midpoint from these rows, e.g. validation."),
    "method": Option(
        "NAME",
        "auto, identity, temperature, platt, beta, quadratic, spline, isotonic, isotonic_strict, "
        "histogram or venn_abers; for several classes auto, identity, temperature, vector, "
        "structured or dirichlet.",
    ),
    "at": Option("CONSTRAINT", 'What the cut has to keep, such as "recall >= 0.9".'),
    "best": Option("WHAT", "What is to be best: youden, f1, f2, kappa or cost."),
    "cost": Option(NUMBER, "False alarms that a missed positive costs as much as."),
    "review": Option(NUMBER, "What a review by hand costs, in false alarms; gives two cuts."),
    "prevalence": Option("SHARE", "Share of positives to decide for; else that of the rows."),
    "guarantee": Option(
        "SHARE", "Confidence of the guarantee; else 0.95 where there are rows enough; 0: none."
    ),
    "require": Option(
        "REQUIREMENT",
        'What has to hold, such as "auroc >= 0.8" or "brier.delta <= 0.01 vs old.csv".',
    ),
    "gates": Option("FILE", "TOML file with file, require and other settings; else gates.toml."),
    "looks": Option(NUMBER, "Candidates that will be held against the same rows; else 1."),
    "ledger": Option(PATH, "File that counts the candidates looked at."),
    "inconclusive": Option(HOW, "What an inconclusive gate counts as: exit3, pass or fail."),
    "fail_on": Option(
        "KIND", "Exit with 1 on this kind of drift: any, prior, covariate, concept or scores."
    ),
    "junit": Option(PATH, "Write the checks as a JUnit file (.xml)."),
    "half_width": Option(NUMBER, "Rows for an interval no wider than plus or minus this."),
    "difference": Option(NUMBER, "Rows to show this difference between two models."),
    "rows": Option(NUMBER, "Rows at hand: which difference do they show?"),
    "value": Option(NUMBER, "What the measure is expected to be."),
    "delta": Option(NUMBER, "What the difference of a gate on one is expected to be."),
    "auroc": Option(NUMBER, "Expected AUROC of calibrated scores, for other measures."),
    "correlation": Option(NUMBER, "Of two models' scores within a class, or decisions; else 0.5."),
    "power": Option("SHARE", "Share of cases in which a difference or a gate is to be shown."),
    "folds": Option(NUMBER, "Folds in which methods are compared."),
    "threshold": Option(NUMBER, "A score at or above this is a positive decision."),
    "tolerance": Option(NUMBER, "Scores this near each other agree."),
    "top": Option(NUMBER, "Rows to list at most."),
    "width": Option(NUMBER, "Say how many items make intervals this narrow."),
    "all": Option("", "Show every measure, in place of the first screen."),
    "level": Option("SHARE", "Confidence level of the intervals."),
    "seed": Option(NUMBER, "Seed of the random draws."),
    "replicates": Option(NUMBER, "Random splits or resamples."),
    "kind": Option("KIND", "The scores are probability, logit or score; else it is guessed."),
    "missing": Option(HOW, "With missing values: refuse, or drop those rows."),
    "clip": Option(NUMBER, "Keep probabilities this far from 0 and 1 in log loss and in log-odds."),
    "name": Option(
        COLUMN,
        "Name of the new column; else COLUMN_calibrated, calibrated_COLUMN for several classes.",
    ),
    "encoding": Option("NAME", "Encoding of csv and jsonl, such as latin-1; else UTF-8."),
    "plot": Option(PATH, "Draw what people expect of it (.png, .svg or .pdf)."),
    "figures": Option(
        "DIR", "Write each figure into a folder (.svg; .png with scorewise[figures])."
    ),
    "segments": Option(PATH, "Write climb and run of each row (.csv or .parquet)."),
    "out": Option(PATH, "Write the map (.json), or the report (.html).", short="-o"),
    "json": Option(PATH, "Write the result as JSON; - prints it."),
    "md": Option(PATH, "Write it as Markdown; - prints it."),
    "latex": Option(PATH, "Write it as LaTeX, for a paper; - prints it."),
    "html": Option(
        PATH, "Write the report, one HTML file that opens anywhere.", "--output", short="-o"
    ),
}


def flag(name: str) -> str:
    """How the option of a parameter is called.

    >>> flag("no_answer"), flag("humans")
    ('--no-answer', '--human')
    """
    known = OPTIONS.get(name)
    return known.flag if known and known.flag else f"--{name.replace('_', '-')}"


def spelled(option: errors.Option) -> str:
    """An option with its value, as it is written on the command line.

    >>> spelled(errors.Option("missing", "drop")), spelled(errors.Option("humans"))
    ('--missing drop', '--human')
    >>> spelled(errors.Option("ignore", -1)), spelled(errors.Option("classes", [0, 1]))
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
    words = (spelled(p) if isinstance(p, errors.Option) else p for p in error.parts)
    return errors.plain("".join(words))

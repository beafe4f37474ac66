"""The commands: each is a verb, whose signature gives the options, with its help."""

from __future__ import annotations

from scorewise.cli.command import GATE, Command, Output

INTERVALS = {
    "interval": "Interval for AUROC (delong, logit), for shares (wilson, exact), or for most measures "
    "(bootstrap); else what suits each.",
    "replicates": "Resamples of the rows, for --interval bootstrap.",
}
COMMANDS = {
    "evaluate": Command(
        verb="scorewise.evaluation:evaluate",
        summary="Say how good the scores in FILE are, and in what.",
        help="""Say how good the scores in FILE are: a verdict, then the numbers that matter most.

        --all prints every measure with its interval; --json has them always.

        Columns that are not named are guessed where only one guess makes sense, and it says so.

        Example: scorewise evaluate scores.csv --label outcome --score risk

        Several classes: scorewise evaluate scores.csv --label animal --classes "p_*"
        """,
        texts=INTERVALS,
        brief=True,
    ),
    "report": Command(
        verb="scorewise.reporting:report",
        summary="Write all that is known of the scores in FILE as one HTML file.",
        help="""Write all that is known of the scores in FILE into one HTML file that opens anywhere.

        It has what evaluate, compare and inspect find, with figures; groups with --by, and drift with
        --reference. Nothing is sent anywhere, and nothing is fetched.

        Example: scorewise report scores.csv --label outcome --score risk --by site -o report.html
        """,
        paths={"html": "report.html"},
    ),
    "compare": Command(
        verb="scorewise.comparing:compare",
        summary="Say which model is better, and whether the rows suffice to tell.",
        help="""Say which of several models is better, in what, and whether the rows suffice to tell.

        Models are columns, files joined on a key, or groups of a long file.

        Example: scorewise compare scores.csv --label outcome --score risk --score sharp

        Files: scorewise compare tree.csv bayes.csv --key id --label outcome --score p

        Long: scorewise compare long.csv --model model --key id --label outcome --score p
        """,
        without=("scores",),
        texts={
            "y": "One table of all models, or a file for each model: parquet, csv (.gz), jsonl or arrow.",
            "weight": "Column with a weight for each row, the same for all models.",
            "min_rows": "Groups of fewer rows are left out.",
            **INTERVALS,
        },
        brief=True,
    ),
    "smroc": Command(
        verb="scorewise.weighted_roc:smroc",
        summary="Weigh the ROC curve by the scores (smROC).",
        help="""Weigh the ROC curve by the scores, to see whether they themselves agree with the labels.

        Scores lie in [0, 1], or are logits and said to be (--kind logit).

        Example: scorewise smroc scores.csv --label outcome --score risk --plot smroc.png
        """,
        outputs={"segments": Output("scorewise.weighted_roc:segments_file", (".csv", ".parquet"))},
    ),
    "inspect": Command(
        verb="scorewise.inspection:inspect",
        summary="Rank rows by the suspicion that their label is wrong.",
        help="""Rank the rows in FILE by the suspicion that their label is wrong.

        Also finds hard successes, gaps between scores and, for several score columns, the rows on which
        they agree within a tolerance. Scores should be out of fold: from a model that did not see the row.

        Example: scorewise inspect scores.csv --label outcome --score risk --id patient
        """,
    ),
    "raters": Command(
        verb="scorewise.inspection:raters",
        summary="Tell whether raters really disagree.",
        drawn=False,
        help="""Tell whether raters who give a decision and a score each really disagree.

        A score says how much speaks for the positive decision: a sure no has a score near 0.

        Example: scorewise raters films.csv --decision ann --score ann_sure --decision bob --score bob_sure
        """,
        without=("y", "place"),
        texts={
            "label": "Column with the true class, if known.",
            "positive": "The decision that high scores stand for.",
        },
    ),
    "agree": Command(
        verb="scorewise.agreeing:agree",
        summary="Say how far raters agree beyond chance (kappa, alpha).",
        help="""Say how far raters agree beyond chance, and where they do not.

        Ratings that are missing were not given. Columns that are not named are guessed, and it says so.

        Example: scorewise agree labels.csv --rater ann --rater bob --rater cat

        One rating in each row: scorewise agree long.csv --item film --rater who --rating stars
        --scale ordinal
        """,
        without=("rater", "items"),
        gated=("require", "inconclusive"),
        texts={
            "weight": "Column with a weight for each item.",
            "count": "Column with the number of identical items that each row represents.",
            "top": "Items to list at most.",
            "cluster": "Column of what items belong to, such as texts with several sentences.",
            "min_rows": "Groups of fewer items are shown, not judged.",
        },
    ),
    "answers": Command(
        verb="scorewise.answering:answers",
        summary="Tell whether the confidence in answers is to be believed.",
        help="""Tell whether the confidence in answers is to be believed, in all and by group.

        Example: scorewise answers qa.jsonl --gold answer --predicted output --confidence p --by model

        Example: scorewise answers qa.csv --quality correct --confidence stated --confidence token
        """,
        texts={
            "source": "Files of one table: parquet, csv (.gz), jsonl, json or arrow; or the two of DUDE, "
            "gold answers and a submission.",
            "predicted": "Column with the answers given.",
            "min_rows": "Groups of fewer answers are shown, not judged.",
            "confidence": ("COLUMN", "Column with the confidence in an answer."),
        },
    ),
    "drift": Command(
        verb="scorewise.drifting:drift",
        summary="Say what has changed since a reference, or over time.",
        help="""Say what has changed from REFERENCE to CURRENT, or over time in one file.

        Example: scorewise drift january.csv june.csv --label outcome --score risk

        Example: scorewise drift year.parquet --time date --every month
        """,
        gated=("require", "fail_on", "inconclusive"),
        texts={
            "midpoint": "Midpoint: mean, balanced, median or a number.",
            "replicates": "Random splits for the p-values; else 999 or more.",
            "min_rows": "Groups of fewer rows in one of the samples are shown, not judged.",
        },
    ),
    "judge": Command(
        verb="scorewise.judging:judge",
        summary="Set automatic judges against humans, and against each other.",
        help="""Set automatic judges against humans: against most of them, their level, and each other.

        Items without a human rating serve the shares of votes alone.

        Example: scorewise judge answers.csv --human ann --human bob --judge gpt --ignore=-1
        """,
        gated=("require", "inconclusive"),
        texts={
            "interval": "Intervals of gaps between kappas: by formula, or bootstrap of items.",
            "cluster": "Column of what items belong to, such as questions with several answers.",
            "min_rows": "Groups of fewer items with a truth are shown, not judged.",
            "replicates": "Resamples of the items, for a bootstrap.",
        },
    ),
    "threshold": Command(
        verb="scorewise.thresholds:threshold",
        summary="Choose the cut that keeps a promise, or costs least.",
        help="""Choose from which score on to alert: under a constraint, with a guarantee, or at least cost.

        The guaranteed cut keeps its constraint for new rows of the same kind with 95 % confidence; its
        price in alerts is shown. threshold apply adds the decisions of a rule to files.

        Example: scorewise threshold scores.csv --label ill --score risk --at "recall >= 0.9" -o rule.json

        Example: scorewise threshold scores.csv --cost 10 --review 0.3 --prevalence 0.02
        """,
        texts={"out": "Write the rule (.json), or the report (.html)."},
        outputs={"out": Output("scorewise.show.document:saved", (".json",))},
    ),
    "threshold apply": Command(
        verb="scorewise.thresholds:apply",
        summary="Add the decisions of a rule to files of scores.",
        help="""Write the rows of FILE with the decisions of a rule: 1 is an alert, 0 none, 0.5 a review.

        All other columns and the order of the rows stay. Files may be larger than memory.

        Example: scorewise threshold apply rule.json new.parquet --score risk -o alerts.parquet
        """,
        texts={
            "out": "File to write: .csv or .parquet.",
            "name": "Name of the new column; else COLUMN_alert.",
        },
        outputs={"out": Output()},
    ),
    "gate": Command(
        verb=GATE,
        summary="Pass or fail a release by what its scores must keep.",
        drawn=False,
        help="""Judge requirements by intervals: exit 0 if all pass, 1 if one fails, 3 if inconclusive.

        A requirement holds where its whole interval does. What the rows cannot tell is inconclusive, with
        the rows that are missing.

        Example: scorewise gate scores.csv --require "auroc >= 0.8" --require "every site: recall >= 0.7"

        Baseline: scorewise gate new.csv --key id --require "brier.delta <= 0.005 vs old.csv"

        File: scorewise gate --gates gates.toml --junit gate.xml
        """,
        without=("fail_on",),
        texts={
            "baseline": (
                "FILE",
                "What differences without vs are compared with; a column, rows or JSON.",
            ),
            "key": "Column that names the rows, on which a baseline is joined.",
            "min_rows": "Groups of fewer rows are inconclusive; else 20.",
            "threshold": "A score at or above this is a positive decision; else 0.5.",
            "level": "Confidence level of the intervals; else 0.95.",
            "seed": "Seed of the random draws; else 0.",
            "missing": "With missing values: refuse, or drop those rows; else refuse.",
        },
        outputs={
            "junit": Output(
                "scorewise.gating:junit_file", (".xml",), "scorewise.gating:refusal_file"
            )
        },
    ),
    "plan": Command(
        verb="scorewise.planning:plan",
        summary="Say how many rows a goal takes.",
        drawn=False,
        help="""Say how many rows an interval, a difference, a guarantee or a gate takes.

        From a pilot FILE, or without one from what is expected. --rows asks what so many rows show.

        Example: scorewise plan --half-width 0.02 --value 0.85 --prevalence 0.1

        Gate: scorewise plan pilot.csv --label ill --score risk --require "auroc >= 0.8"

        Guarantee: scorewise plan --at "recall >= 0.95" --prevalence 0.02
        """,
        texts={
            "source": "Pilot: parquet, csv (.gz), jsonl or arrow; none where values are expected.",
            "at": 'The promise of a cut, such as "recall >= 0.9".',
            "require": 'The gate that is to pass, such as "auroc >= 0.8".',
            "measure": "Measure that is planned for; else auroc.",
            "score": "Column with scores; two of them to plan for a difference.",
            "prevalence": "Expected share of positives; else 0.5.",
            "raters": "Column of a rater of a pilot of ratings.",
        },
    ),
    "tally": Command(
        verb="scorewise.tallying:tally_files",
        summary="Add the rows of files of any size up into one small file.",
        help="""Add the rows of FILE up into a tally, a small file that other commands read in its place.

        Files are read in batches, so that they may be larger than memory, and there may be many. Tallies
        of shards and days add up to that of all rows (scorewise merge).

        Example: scorewise tally day1.parquet --label outcome --score risk -o day1.tally

        Groups: scorewise tally "2026/*.parquet" --by site --time date --every month -o year.tally

        Models to compare: scorewise tally day1.parquet --score risk --score sharp -o both.tally
        """,
        texts={
            "out": "File to write (.tally).",
            "score": "Column with scores; of several, distinct rows are kept, for compare.",
            "raters": "Column with a rater's ratings, for agree.",
            "by": "Column of groups, each of which gets a tally.",
            "time": "Column of dates; each period gets a tally.",
            "every": "Periods of time: day, week, month, quarter or year.",
        },
        outputs={"out": Output()},
    ),
    "merge": Command(
        verb="scorewise.tallying:merge",
        summary="Add saved tallies up: shards, days to a month.",
        help="""Add saved tallies up to that of all their rows, as if those had been read at once.

        Example: scorewise merge day1.tally day2.tally -o month.tally
        """,
        texts={"files": "Saved tallies (.tally), or 'pattern*'.", "out": "File to write (.tally)."},
        outputs={"out": Output()},
    ),
    "show": Command(
        verb="scorewise.tallying:show",
        summary="Say what is in a saved tally.",
        drawn=False,
        help="""Say what is in saved tallies: rows, classes, scores, groups, and the files that they are of.

        Example: scorewise show month.tally
        """,
        texts={"files": "Saved tallies (.tally), or 'pattern*'."},
    ),
    "calibrate fit": Command(
        verb="scorewise.recalibrating:calibrate",
        summary="Learn a map and write it as JSON.",
        help="""Learn a map from scores to probabilities from the rows of FILE, whose labels are known.

        With --method auto it is chosen on rows not seen in fitting, and only if it is shown to help.

        Example: scorewise calibrate fit scores.csv --label outcome --score risk -o map.json

        Several classes: scorewise calibrate fit pets.csv --label pet --classes "p_*" -o map.json
        """,
        texts={"clip": "Keep probabilities this far from 0 and 1."},
        outputs={"out": Output("scorewise.show.document:saved", (".json",))},
    ),
    "calibrate apply": Command(
        verb="scorewise.recalibrating:apply",
        summary="Add the probabilities of a map to files of scores.",
        help="""Write the rows of FILE with the probabilities that the map gives, one column or one a class.

        All other columns and the order of the rows stay. Files may be larger than memory.

        Example: scorewise calibrate apply map.json new.parquet --score risk -o out.parquet
        """,
        texts={"out": "File to write: .csv or .parquet."},
        outputs={"out": Output()},
    ),
}

"""The commands: each is a verb, whose signature gives the options, and a line in the table at the end."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import typer

from scorewise.checks import RULES, check, refused
from scorewise.cli import output
from scorewise.cli.options import ARGUMENTS, FILES, OPTIONS, Option, flag
from scorewise.cli.signatures import signature
from scorewise.errors import BadInput
from scorewise.show.shown import RENDERERS, WHOLE
from scorewise.writing import check_folder, write


class Output(NamedTuple):
    """A file that a command can write beside its document.

    `make` ("module:function") gives its bytes from the result and the ending of its name; without it the
    verb writes the file itself.
    """

    make: str = ""
    endings: tuple[str, ...] = ()


GATE = "scorewise.gating:gate"
FIGURES = "scorewise.figures.files:figure_files"
# options that say how rows are read, which the command that comes next needs too
READING = ("weight", "count", "cluster", "kind", "missing", "encoding")
PAGES = (".html", ".htm")
PICTURE = Output("scorewise.cli.output:picture", (".png", ".svg", ".pdf"))


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb on the command line.

    `verb` is "module:function", imported when the command is called; `arguments` are the parameters that
    are given by place, the first one unless said; `without` are parameters that make sense in Python only.
    `texts` are help texts that differ from those in the table of options, also with another metavar.
    `brief` says that it shows a first screen, and all it knows with --all. `gated` are the parameters of
    `gate` that it takes, to be judged by what it found. `drawn` says that its document has figures, and
    `pictured` that matplotlib can draw it. `paths` are where forms are written unless said.
    """

    verb: str
    summary: str
    help: str
    arguments: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    texts: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    brief: bool = False
    gated: tuple[str, ...] = ()
    drawn: bool = True
    pictured: bool = True
    paths: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, str] | None = (
        None  # an output that is written of bad input too, and by what
    )

    def function(self) -> Callable[..., None]:
        """What typer makes the command of: options, their types and defaults are those of the verb."""
        given = signature(self.verb).parameters
        arguments = self.arguments or (next(iter(given)),)
        forms = ["json", *(form for form in RENDERERS if form != "text")] if self.written else []
        paths = [name for name in (*self.files, *forms) if name not in given]
        parameters = [p for p in given.values() if p.name not in self.without]
        parameters += [_parameter("all", bool, False)] if self.brief else []
        parameters += (
            [_parameter("figures", str | None, None)] if self.drawn and self.written else []
        )
        parameters += [p for p in signature(GATE).parameters.values() if p.name in self.gated]
        parameters += [_parameter(name, str | None, self.paths.get(name)) for name in paths]
        fields = {
            p.name: _argument(p, self._shown(p.name, ARGUMENTS.get(p.name, FILES)))
            if p.name in arguments
            else _option(p, self._shown(p.name, OPTIONS.get(p.name)))
            for p in parameters
        }

        def command(**given: Any) -> None:
            values = {name: field.value(given[name]) for name, field in fields.items()}
            self.run(values, arguments, {name: values.pop(name) for name in forms})

        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [fields[name].parameter for name in sorted(fields, key=lambda n: n not in arguments)]
        )
        return command

    def _shown(self, name: str, known: Option | None) -> Option:
        """What is shown of a parameter: as in the table of options, or as this command has it."""
        if known is None and name not in RENDERERS:
            raise LookupError(f"{name} has no line in the table of options")
        known = known or Option("PATH", f"Write it as {name}; - prints it.")
        text = self.texts.get(name, known.help)
        metavar, text = (known.metavar, text) if isinstance(text, str) else text
        taken = name != "out" and "out" in self.outputs and known.short == OPTIONS["out"].short
        return known._replace(metavar=metavar, help=text, short="" if taken else known.short)

    @property
    def written(self) -> bool:
        """Whether there is a document to write, or the verb does all the writing."""
        return all(made.make for made in self.outputs.values())

    @property
    def files(self) -> Mapping[str, Output]:
        """The files that it can write beside its document: a picture, and those of its own."""
        drawn = {"plot": PICTURE} if self.pictured else {}
        return {**drawn, **self.outputs} if self.written else self.outputs

    def run(
        self, values: dict[str, Any], arguments: Sequence[str], forms: Mapping[str, str | None]
    ) -> None:
        """Check settings and outputs, call the verb, tell its notes, and deliver its document."""
        check(**{n: value for n, value in values.items() if n in RULES and value is not None})
        forms = _page_instead(values, forms)
        inputs = {name for name in values if OPTIONS.get(name, FILES).metavar == FILES.metavar}
        given = [f for name, f in values.items() if name in arguments or name in inputs]
        files = [name for f in given for name in (f if isinstance(f, list) else [f]) if name]
        paths = {name: values.get(name) for name in self.files}
        endings = {name: known.endings for name, known in self.files.items()}
        if forms.get("html", output.STDOUT) != output.STDOUT:
            endings["html"] = PAGES
        output.check_outputs(files, {**paths, **forms}, endings)
        output.check_drawing(paths.get("plot"))
        folder = values.pop("figures", None)
        if folder is not None:
            check_folder(folder)
        every = values.pop("all", True)
        gate = {name: values.pop(name) for name in self.gated}
        mine = {*arguments, *(name for name, made in self.files.items() if made.make)}
        options = {name: value for name, value in values.items() if name not in mine}
        try:
            with output.working(files):
                result = imported(self.verb)(*(values[name] for name in arguments), **options)
        except BadInput as error:
            if self.refused is not None and (path := paths[self.refused[0]]):
                write(path, imported(self.refused[1])(error))
            raise
        if not self.written:
            output.tell_notes(result)
            output.tell_written(paths, result.rows)
            return
        with output.working(files):
            read = {n: v for n, v in values.items() if n in READING}
            doc = carried(result.document() if every else result.brief(), self.verb, read)
            whole = [form for form in ("json", *WHOLE) if forms[form] and not every]
            full = carried(result.document(), self.verb, read) if whole else doc
            others = dict.fromkeys(whole, full)
            made = {
                path: imported(self.files[name].make)(result, Path(path).suffix.lower())
                for name, path in paths.items()
                if path is not None
            }
            figures = {} if folder is None else imported(FIGURES)(result.document(), folder)
            judged = result  # before anything is written, as a requirement may be refused
            if any(gate.get(name) is not None for name in ("require", "fail_on")):
                judged = imported(GATE)(result, **gate)
        if "score" in values and "model" not in values:
            output.tell_parts(doc)
        output.tell_notes(result)
        output.tell_positive(doc)
        output.deliver(doc, forms, made, others)
        output.write_figures(folder, figures)
        for c in judged.checks if gate and judged is not result else ():
            output.tell(f"gate: {c.outcome}: {c.sentence}")
        if code := getattr(judged, "exit_code", 0):
            raise typer.Exit(code)


def carried(doc: Any, verb: str, given: Mapping[str, Any]) -> Any:
    """The document, whose next command reads the rows as this one did: what it takes of `given`."""
    claims = list(getattr(doc, "verdict", ()))
    own = signature(verb).parameters
    changed = {n: v for n, v in given.items() if v is not None and v != own[n].default}
    for at, c in enumerate(claims):
        told = c.sentence.removeprefix("Next: scorewise ")
        task = next((name for name in COMMANDS if told.startswith(f"{name} ")), "")
        if c.about != "next" or not task:
            continue
        known = signature(COMMANDS[task].verb).parameters
        if "map_file" not in known:  # which is for other rows
            left = [n for n in changed if n in known and f" {flag(n)} " not in told]
            words = [word for n in left for word in (flag(n), str(changed[n]))]
            claims[at] = replace(c, sentence=" ".join([c.sentence, *map(shlex.quote, words)]))
    return replace(doc, verdict=claims) if claims else doc


def _page_instead(
    values: dict[str, Any], forms: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The forms asked for: where -o writes a rule or a map, a name of a page is that of the report."""
    asked = values.get("out")
    if not asked or forms.get("html", asked) is not None or not asked.lower().endswith(PAGES):
        return forms
    values["out"] = None
    return {**forms, "html": asked}


class Field(NamedTuple):
    """A parameter of a command, and what the verb takes, made of what typer gives."""

    parameter: inspect.Parameter
    value: Callable[[Any], Any]


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _argument(p: inspect.Parameter, known: Option) -> Field:
    info = typer.Argument(metavar=known.metavar, help=known.help, show_default=False)
    if known.metavar == FILES.metavar:  # one or several
        kind: Any = list[str] if p.default is inspect.Parameter.empty else list[str] | None
        several = _parameter(p.name, Annotated[kind, info], p.default)
        return Field(several, lambda files: files[0] if files and len(files) == 1 else files)
    kind = str if p.default is inspect.Parameter.empty else str | None
    return Field(_parameter(p.name, Annotated[kind, info], p.default), lambda file: file)


def _option(p: inspect.Parameter, known: Option) -> Field:
    """The option of a parameter: a list where it can be repeated, or is given once and read."""
    kind, many = _kind(p.annotation, known)
    default, text = p.default, known.help
    number = next((t for t in (int, float) if kind in (t, t | None)), None)
    if number is not None:  # read here, so that what is none is refused in words of its own
        kind = str | None if default is None else str
    if many:
        default = [default] if known.read and isinstance(default, str) else None
        if not known.read and "repeat it" not in text:
            text = f"{text.rstrip('.')}; repeat it for several."
    flags = [flag(p.name), *([known.short] if known.short else [])]
    info = typer.Option(
        *flags, metavar=known.metavar, help=text, show_default=not many or bool(known.read)
    )

    def value(given: Any) -> Any:
        if number is not None:
            return _number(p, number, given) if isinstance(given, str) else given
        if not many:
            return given.value if isinstance(given, StrEnum) else given
        if not given or known.read is None:
            return list(given) if given else p.default
        if len(given) > 1:
            raise BadInput(f"{flag(p.name)} is given {len(given)} times; give it once")
        return known.read(given[0])

    return Field(_parameter(p.name, Annotated[kind, info], default), value)


def _number(p: inspect.Parameter, kind: type[int] | type[float], text: str) -> float:
    """The number that a text is; a sentence says what it must be instead."""
    try:
        return kind(text)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        known, example = RULES.get(p.name), EXAMPLES.get(p.name)
        must = known.must if known else f"be {what}, such as {example}"
        raise refused(p.name, must, text.strip() or "nothing") from None


def _kind(hint: Any, known: Option) -> tuple[Any, bool]:
    """The type of an option, and whether it comes as a list."""
    parts = _parts(hint)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if known.read or any(get_origin(part) is Sequence for part in parts):
        return list[str] | None, True
    kind: Any = next((t for t in (bool, int, float) if t in parts), str)
    if words and kind is str:
        choice: Any = StrEnum
        kind = choice(known.metavar.title(), {word: word for word in words})
    return (kind | None if type(None) in parts or hint is Any else kind), False


def _parts(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, UnionType):
        return [part for arg in get_args(hint) for part in _parts(arg)]
    return [hint]


def imported(place: str) -> Any:
    """What "module:name" stands for."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


EXAMPLES = {  # of numbers that have no rule
    "auroc": 0.85,
    "correlation": 0.5,
    "delta": 0.02,
    "difference": 0.02,
    "half_width": 0.02,
    "looks": 20,
    "replicates": 2000,
    "rows": 1000,
    "value": 0.85,
    "windows": 10,
}
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
        without=("p",),
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
        without=("p",),
        paths={"html": "report.html"},
    ),
    "compare": Command(
        verb="scorewise.evaluation:compare",
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
        without=("s",),
        outputs={
            "segments": Output("scorewise.weighted_roc:segments_file", (".csv", ".parquet")),
        },
    ),
    "inspect": Command(
        verb="scorewise.inspection:inspect",
        summary="Rank rows by the suspicion that their label is wrong.",
        help="""Rank the rows in FILE by the suspicion that their label is wrong.

        Also finds hard successes, gaps between scores and, for several score columns, the rows on which
        they agree within a tolerance. Scores should be out of fold: from a model that did not see the row.

        Example: scorewise inspect scores.csv --label outcome --score risk --id patient
        """,
        without=("p",),
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
        without=("other", "rater", "items"),
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
        arguments=("reference", "current"),
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
        without=("second",),
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
        without=("p",),
        texts={"out": "Write the rule (.json), or the report (.html)."},
        outputs={"out": Output("scorewise.thresholds:rule_file", (".json",))},
    ),
    "threshold apply": Command(
        verb="scorewise.thresholds:apply",
        summary="Add the decisions of a rule to files of scores.",
        help="""Write the rows of FILE with the decisions of a rule: 1 is an alert, 0 none, 0.5 a review.

        All other columns and the order of the rows stay. Files may be larger than memory.

        Example: scorewise threshold apply rule.json new.parquet --score risk -o alerts.parquet
        """,
        arguments=("rule_file", "files"),
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
        without=("p", "fail_on"),
        texts={
            "baseline": ("FILE", "What differences without vs are compared with; a column, rows or JSON."),
            "key": "Column that names the rows, on which a baseline is joined.",
            "min_rows": "Groups of fewer rows are inconclusive; else 20.",
            "threshold": "A score at or above this is a positive decision; else 0.5.",
            "level": "Confidence level of the intervals; else 0.95.",
            "seed": "Seed of the random draws; else 0.",
            "missing": "With missing values: refuse, or drop those rows; else refuse.",
        },
        outputs={"junit": Output("scorewise.gating:junit_file", (".xml",))},
        refused=("junit", "scorewise.gating:refusal_file"),
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
        without=("p",),
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
        outputs={"out": Output("scorewise.recalibrating:map_file", (".json",))},
    ),
    "calibrate apply": Command(
        verb="scorewise.recalibrating:apply",
        summary="Add the probabilities of a map to files of scores.",
        help="""Write the rows of FILE with the probabilities that the map gives, one column or one a class.

        All other columns and the order of the rows stay. Files may be larger than memory.

        Example: scorewise calibrate apply map.json new.parquet --score risk -o out.parquet
        """,
        arguments=("map_file", "files"),
        texts={"out": "File to write: .csv or .parquet."},
        outputs={"out": Output()},
    ),
}  # fmt: skip

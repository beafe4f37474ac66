"""The register of measures, and the mapping in which each is computed when it is asked for."""

from __future__ import annotations

import inspect
import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from typing import Any, Literal, TypeVar, cast, get_args, get_type_hints

from scorewise.checks import check
from scorewise.estimate import Estimate, Undefined

Better = Literal["high", "low", "near", "neither"]
Group = Literal["decisions", "order", "scores", "probability", "calibration", "agreement"]
Subject = Literal["two classes", "several classes", "raters", "answers"]
Function = TypeVar("Function", bound=Callable[..., Estimate])
Value = TypeVar("Value")


@dataclass(frozen=True)
class Measure:
    """A measure's function and its traits."""

    name: str
    function: Callable[..., Estimate]
    group: Group
    better: Better
    bounds: tuple[float, float]
    title: str
    meaning: str
    options: frozenset[str]
    target: float = math.nan
    replicated: Callable[..., Any] | None = None

    @property
    def best(self) -> float:
        """The better end of the bounds, or the target; NaN where no value is better."""
        if self.better in ("near", "neither"):
            return self.target
        return self.bounds[1] if self.better == "high" else self.bounds[0]

    def skill(self, e: Estimate) -> float:
        """Share of the way from the baseline to the best value; NaN where there is no such way."""
        if not e.defined or e.baseline is None or not math.isfinite(self.best):
            return math.nan
        way = self.best - e.baseline
        return (e.value - e.baseline) / way if way else math.nan

    def __call__(self, statistic: Any, **options: Any) -> Estimate:
        """The estimate; options that the function does not have are refused, with the nearest one."""
        for name in options:
            if name not in self.options:
                known = sorted(self.options)
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
                raise TypeError(f"{self.name} has no option {name}; {hint}")
        return self.function(statistic, **options)

    def under(self, settings: Mapping[str, Any], statistic: Any) -> Estimate:
        """The estimate under settings of many measures, of which it takes those that it has."""
        known = {k: v for k, v in settings.items() if k in self.options}
        return self.function(statistic, **known)

    def of_tally(self, t: Any, settings: Mapping[str, Any]) -> Estimate:
        """The estimate of two classes; a measure of decisions is of those at the threshold."""
        decided = self.group == "decisions"
        return self.under(settings, t.confusion(settings["threshold"]) if decided else t)


MEASURES: dict[str, Measure] = {}
CLASS_MEASURES: dict[str, Measure] = {}
RATER_MEASURES: dict[str, Measure] = {}
ANSWER_MEASURES: dict[str, Measure] = {}
_REGISTERS: dict[Subject, dict[str, Measure]] = {
    "two classes": MEASURES,
    "several classes": CLASS_MEASURES,
    "raters": RATER_MEASURES,
    "answers": ANSWER_MEASURES,
}


def measure(
    *,
    group: Group,
    better: Better = "high",
    bounds: tuple[float, float] = (0.0, 1.0),
    title: str = "",
    target: float = math.nan,
    of: Subject = "two classes",
    meaning: str = "",
    classes: str = "",
    replicated: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Record a function as a measure; where it raises `Undefined`, it gives an undefined estimate.

    Measures of the group "decisions" take a `Confusion`, all others a `Tally`; each returns an
    `Estimate` and takes `level=`. Measures of the group "order" depend on the order of the scores
    alone. `bounds` are the ends of the possible values with the default options. Of better="near" the
    best value is the `target`, which the estimate repeats as `expected`; better="neither" says
    something of the rows alone. Measures of="several classes" take a `ClassTally`, those of="raters"
    take `Ratings`, whatever their group; those of="answers" a tally of confidence against correct, or the
    answers themselves. `meaning` takes the place of the first line of the docstring; `classes` is the
    meaning for several classes of a function that takes their tally as well.
    `replicated` gives the values alone of many weights of the cells of a tally, (tally, neg, pos, neg2,
    pos2) with replicates as rows; for measures whose intervals take long.
    """
    register = _REGISTERS[of]
    if group not in get_args(Group) or better not in get_args(Better):
        groups, ways = (", ".join(get_args(words)) for words in (Group, Better))
        raise ValueError(
            f"group is one of {groups}, and better one of {ways}; not {group}, {better}"
        )
    if math.isfinite(target) != (better == "near"):
        raise ValueError(f'a target goes with better="near" and only there; not {target}, {better}')

    def record(function: Function) -> Function:
        name, measured = function.__name__, _measured(function)
        known = register.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ValueError(
                f"a measure named {name} exists already, in {known.function.__module__}"
            )
        first_line = (function.__doc__ or "").strip().partition("\n")[0]
        m = Measure(
            name, measured, group, better, bounds, title or name, meaning or first_line,
            _options(function), target, replicated,
        )  # fmt: skip
        register[name] = m
        if classes:
            CLASS_MEASURES[name] = replace(m, meaning=classes)
        return measured

    return record


def _measured(function: Function) -> Function:
    """The same function with a checked level, and an undefined estimate where it raises `Undefined`."""
    if function in (m.function for r in _REGISTERS.values() for m in r.values()):
        return function

    @wraps(function)
    def measured(*statistic: Any, level: float = 0.95, **options: Any) -> Estimate:
        check(level=level)
        try:
            return function(*statistic, level=level, **options)
        except Undefined as reason:
            return Estimate.undefined(str(reason), level)

    return cast("Function", measured)


def _options(function: Callable[..., Any]) -> frozenset[str]:
    """The keywords of a measure, those of a `TypedDict` one by one."""
    _, *named = inspect.signature(function).parameters.values()
    names = {p.name for p in named if p.kind is not p.VAR_KEYWORD}
    for p in named[-1:]:
        if p.kind is p.VAR_KEYWORD:
            (unpacked,) = get_args(get_type_hints(function)[p.name])
            names |= set(unpacked.__annotations__)
    return frozenset(names)


# other names that the field has for measures, or for what they are the complement of
SYNONYMS = {
    "auroc": "auc roc_auc area_under_curve c_statistic c_index concordance gini",
    "average_precision": "ap auprc pr_auc auc_pr",
    "sensitivity": "sens recall tpr true_positive hit fnr false_negative miss",
    "balanced_accuracy": "macro_recall recall tpr",
    "specificity": "spec tnr true_negative selectivity fpr false_positive fall_out",
    "precision": "ppv positive_predictive_value fdr",
    "npv": "negative_predictive_value",
    "f1": "f f1score fscore f1_measure dice",
    "f_beta": "f2 fbeta",
    "jaccard": "iou intersection_over_union critical_success_index threat",
    "youden": "youden_j youden_index informedness",
    "g_mean": "gmean geometric_mean",
    "mcc": "phi matthews matthews_corrcoef matthews_correlation",
    "kappa": "cohen cohen_kappa cohens_kappa",
    "dor": "odds_ratio diagnostic_odds_ratio",
    "lr_plus": "plr positive_likelihood_ratio",
    "lr_minus": "nlr negative_likelihood_ratio",
    "log_loss": "logloss cross_entropy nll deviance",
    "brier": "mse mean_squared_error quadratic",
    "ks": "ks_statistic kolmogorov_smirnov",
    "ece": "expected_calibration_error",
    "max_ce": "mce maximum_calibration_error",
    "hosmer_lemeshow": "hl",
    "calibration_slope": "slope cox_slope recalibration_slope",
    "calibration_intercept": "intercept calibration_in_the_large citl in_the_large mean_calibration",
    "oe_ratio": "oe o_e o_to_e observed_expected observed_to_expected e_o eo expected_observed",
    "ici": "integrated_calibration_index eavg e_avg",
    "e50": "e_50 emedian",
    "e90": "e_90",
    "mcb": "miscalibration",
    "dsc": "discrimination",
    "unc": "uncertainty",
    "hand_till": "mauc multiclass_auc",
}
_ENDINGS = ("_score", "_loss", "_rate", "_coefficient")


def nearest(name: str, known: Iterable[str]) -> str:
    """The known measure that a name most likely means; empty where none is near.

    >>> nearest("recall", ["sensitivity", "f1"]), nearest("acuracy", ["accuracy"]), nearest("x", ["f1"])
    ('sensitivity', 'accuracy', '')
    """
    there, meant = list(known), [name.lower()]
    for word in meant:  # which grows: brier_score_loss, brier_score, brier
        meant += [word.removesuffix(end) for end in _ENDINGS if word.endswith(end)]
    meant += [m for m, also in SYNONYMS.items() if {*meant} & {*also.split()}]
    close = get_close_matches(name.lower(), there, n=1, cutoff=0.75)
    found = (*meant, *(f"macro_{m}" for m in meant), *close)
    return next((m for m in found if m in there), "")


def unknown(name: str, known: Collection[str], what: str = "measure") -> str:
    """What to say of a name that no measure has: the nearest one, or all that there are."""
    if other := nearest(name, known):
        return f"no {what} is named {name}; did you mean {other}?"
    return f"no {what} is named {name}; there are {', '.join(sorted(known))}"


def title_of(name: str, otherwise: str) -> str:
    """The title of a measure of two classes, of several or of raters; `otherwise` if it is none."""
    found = (
        known[name].title for known in (MEASURES, CLASS_MEASURES, RATER_MEASURES) if name in known
    )
    return next(found, otherwise)


class Lazy(Mapping[str, Value]):
    """Values by name, each made when it is first asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._made: dict[str, Value | None] = dict.fromkeys(names)

    @abstractmethod
    def _make(self, name: str) -> Value:
        """The value of a known name."""

    @abstractmethod
    def _unknown(self, name: str) -> str:
        """What to say of an unknown name."""

    def __getitem__(self, name: Any) -> Value:
        key = str(name)
        if key not in self._made:
            raise KeyError(self._unknown(key))
        made = self._made[key]
        if made is None:
            made = self._made[key] = self._make(key)
        return made

    def __contains__(self, name: object) -> bool:
        return str(name) in self._made  # without making it

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


class Measured(Lazy[Estimate]):
    """Measures by name and as attributes, each computed when it is first asked for."""

    _what = "measure"

    def __init__(self, register: Mapping[str, Measure], settings: Mapping[str, Any]) -> None:
        by_group = (m for group in get_args(Group) for m in register.values() if m.group == group)
        self._measures = {m.name: m for m in by_group}
        self._options = settings
        super().__init__(self._measures)

    def _unknown(self, name: str) -> str:
        return unknown(name, self._measures, self._what)

    def __getattr__(self, name: str) -> Estimate:
        known = self.__dict__.get("_measures", ())  # empty while it is copied
        if name not in known:
            raise AttributeError(unknown(name, known, self._what))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._measures]

    def skill(self, name: str) -> float:
        """Share of the way from a measure's baseline to its best value; NaN where there is none."""
        return self._measures[name].skill(self[name])

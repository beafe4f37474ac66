"""The answers of the smROC study follow from its numbers, on either side of zero and without any."""

import doctest
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[1]))
pytest.importorskip("experiments.smroc_study")

from experiments import smroc_numbers, smroc_verdicts
from experiments.paired_tests import Correlation, Shift, shift
from experiments.smroc_claims import claims
from experiments.smroc_numbers import correlation, counted, ratio, signed
from experiments.smroc_report import markdown
from experiments.smroc_summary import summary
from experiments.smroc_verdicts import Evidence, verdict
from experiments.smroc_words import answers


def made_up(*, factor=1.0, gap=0.02, sets=12, seed=0):
    """A table in which smAUC's sd is `factor` times AUC's, and smAUC is lower by `gap`."""
    rng = np.random.default_rng(seed)
    frames = {}
    for i in range(sets):
        rows, centre = [], 0.75 + 0.015 * i
        for scheme in ("cv", "sub"):
            for run in range(30):
                for model in ("tree", "bayes"):
                    noise = 0.02 * rng.normal()
                    sm = centre - gap + factor * noise
                    rows.append(
                        {"scheme": scheme, "repeat": 0, "run": run, "model": model}
                        | {"learned": 90, "judged": 10, "auc": centre + noise}
                        | {"sm_mean": sm, "sm_fixed": sm, "boldness": 0.5 + rng.random() / 9}
                        | {"sm_mean_chance": 0.5, "sm_fixed_chance": 0.5, "brier": rng.random()}
                    )
        frames[f"set{i}"] = pl.DataFrame(rows)
    return summary(frames)


def said_of(table):
    return " ".join(" ".join(answers(claims(table))).split())


def test_claims_are_found_true_where_they_are_made_so():
    said = said_of(made_up(factor=0.5))
    assert "varies less for the same model, as a plain sd: holds.**" in said
    assert "Relative to its own range: holds.**" in said
    assert "smAUC is lower than AUC: holds.**" in said


def test_the_reverse_is_found_where_it_is_made_so():
    table = made_up(factor=1.5, gap=-0.02)
    said = said_of(table)
    assert "varies less for the same model, as a plain sd: the reverse holds.**" in said
    assert "Relative to its own range: the reverse holds.**" in said
    assert "smAUC is lower than AUC: the reverse holds.**" in said
    for case in claims(table).steadier:
        assert np.exp(case.plain.middle) == pytest.approx(1.5, rel=1e-6)


def test_equal_areas_are_ties_and_nothing_can_be_told():
    said = said_of(made_up(factor=1.0, gap=0.0))
    assert "smaller on 0 of 0 sets (12 equal left out), ratio undefined" in said
    assert "as a plain sd: cannot be told: no test, on 12 sets.**" in said
    assert "smAUC is lower than AUC: cannot be told: no test, on 12 sets.**" in said
    assert "separates the models where AUC cannot: cannot be told" in said


@pytest.mark.parametrize("gap", [0.02, -0.02])
def test_refined_exceptions_need_sets_on_both_sides(gap):
    table = made_up(gap=gap)
    sm = {  # the gap closes with boldness, but smAUC stays on one side of AUC
        f"mean_{a}_{m}": pl.col(f"mean_auc_{m}") - gap + 0.01 * pl.col(f"boldness_{m}")
        for a in ("sm_mean", "sm_fixed")
        for m in ("tree", "bayes")
    }
    said = said_of(table.with_columns(**sm))
    assert "Except where scores are refined: cannot be told: no test, on 12 sets.**" in said
    assert "In 8 of 8 cases smAUC is lower on all sets or on none" in said
    middle = {name: x + gap - 0.01 * 0.55 for name, x in sm.items()}  # now on both
    said = said_of(table.with_columns(**middle))
    assert "Except where scores are refined: holds.**" in said
    against = {
        name: 2 * pl.col(f"mean_auc_{name[-5:].strip('_')}") - x for name, x in middle.items()
    }
    said = said_of(table.with_columns(**against))
    assert "Except where scores are refined: the reverse holds.**" in said


def test_sets_at_chance_are_counted_aloud():
    table = made_up(factor=0.5)
    low = pl.col("set").is_in(["set1", "set2", "set3"])
    at = pl.when(low).then(0.49).otherwise(pl.col("mean_auc_tree"))
    said = said_of(table.with_columns(mean_auc_tree=at))
    assert "smaller on 9 of 9 sets (3 at chance left out), ratio" in said
    assert "9 of 9 (3 at chance left out)" in markdown(table.with_columns(mean_auc_tree=at), 3)


def test_areas_without_a_value_are_plain_words():
    table = made_up(factor=0.5)
    nothing = [c for c in table.columns if "sm_mean" in c and not c.startswith("undefined")]
    page = markdown(table.with_columns(**{c: pl.lit(float("nan")) for c in nothing}), 3)
    said = " ".join(page.split())
    assert "as a plain sd: holds in part: 4 of 8 cases.**" in said
    assert "0 of 0 sets (12 undefined left out), ratio undefined" in said
    assert "nan" not in page


def test_an_infinite_t_is_no_large_number():
    table = made_up().with_columns(t_sm_mean=pl.lit(float("inf")))
    page = markdown(table, 3)
    assert "+infinite [+infinite, +infinite]" in page
    both = made_up().with_columns(t_sm_mean=pl.lit(float("inf")), t_auc=pl.lit(-float("inf")))
    assert claims(both).separates[0].strength.ties == 12


@pytest.mark.parametrize(
    ("p", "sides", "said"),
    [
        ([0.001] * 4, [1] * 4, "holds"),
        ([0.012, 0.9, 0.9, 0.9], [1] * 4, "holds in part: 1 of 4 cases"),
        (
            [0.013, 0.9, 0.9, 0.9],
            [1] * 4,
            "cannot be told: none of 4 cases is significant, on 9 sets",
        ),
        ([0.001] * 4, [-1] * 4, "the reverse holds"),
        ([0.001, 0.9, 0.9, 0.9], [-1] * 4, "the reverse holds in part: 1 of 4 cases"),
        ([0.001] * 4, [1, 1, 1, -1], "holds in part: 3 of 4 cases, the reverse in 1"),
        ([np.nan] * 4, [0] * 4, "cannot be told: no test, on 9 sets"),
        ([0.02, np.nan, np.nan, np.nan], [1, 0, 0, 0], "cannot be told: none of 4 cases is"),
        ([], [], "cannot be told: 0 sets are too few"),
    ],
)
def test_verdicts_are_adjusted_for_the_number_of_cases(p, sides, said):
    cases = [Evidence(x, side, 9) for x, side in zip(p, sides, strict=True)]
    assert verdict(cases).said.startswith(said)


@pytest.mark.parametrize(("sets", "enough"), [(8, False), (9, True)])
def test_so_few_sets_that_no_case_could_be_significant_are_called_too_few(sets, enough):
    clear = [smroc_verdicts.above(shift(np.arange(1.0, sets + 1))) for _ in range(8)]
    assert verdict(clear).said == ("holds" if enough else "cannot be told: 8 sets are too few")
    doubtful = shift(np.arange(sets) - 3.5)
    said = verdict([smroc_verdicts.below(doubtful) for _ in range(8)]).said
    assert ("too few" in said) != enough


def test_an_end_of_an_interval_is_told_from_no_difference():
    shown = Shift(np.log(0.99), np.log(0.98), np.log(1.0002), -0.3, 0.1, 18, 26)
    assert ratio(shown) == "0.9900 [0.9800, 1.0002]"
    assert ratio(shown._replace(high=np.log(1.005))) == "0.990 [0.980, 1.005]"
    assert ratio(shown._replace(high=0.0)) == "0.990 [0.980, 1.000]"
    assert ratio(shown._replace(high=1e-9)) == "0.990000 [0.980000, 1.000000]"
    assert signed(shown._replace(middle=-0.01, low=-0.02, high=-0.00004)).endswith("-0.00004]")
    assert correlation(Correlation(0.4, 0.004, 0.6, 0.04, 26)) == "+0.400 [+0.004, +0.600]"
    assert correlation(Correlation(1.0, np.nan, np.nan, np.nan, 3)) == "+1.00, no interval"
    assert counted(shift(np.array([-1.0, 0, np.nan]))) == "1 of 1 (1 equal, 1 undefined left out)"


def test_a_smaller_spread_that_is_scale_is_told_as_such():
    rng = np.random.default_rng(1)
    table = made_up(factor=1.0, gap=0.0)
    for model in ("tree", "bayes"):  # halve all distances from chance
        for area in ("sm_mean", "sm_fixed"):
            mean, sd = pl.col(f"mean_auc_{model}"), pl.col(f"sd_auc_{model}")
            wobble = pl.Series(1 + 0.05 * rng.normal(size=table.height))
            halved = {
                f"mean_{area}_{model}": 0.25 + mean / 2,
                f"sd_{area}_{model}": sd / 2 * wobble,
            }
            table = table.with_columns(**halved)
    said = said_of(table)
    assert "varies less for the same model, as a plain sd: holds.**" in said
    assert "Relative to its own range: cannot be told: none of 8 cases" in said
    assert "Most of the smaller spread is scale" in said


def test_examples_run():
    for module in (smroc_numbers, smroc_verdicts):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed

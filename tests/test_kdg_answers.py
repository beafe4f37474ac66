"""The answers of the KDG study say what made-up numbers say, on either side."""

import doctest
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[1]))
pytest.importorskip("experiments.kdg_study")

from experiments import cc18_tables, kdg_answers, kdg_differences, kdg_eight, kdg_scale, kdg_summary
from experiments.kdg_differences import Versus, cell, interval, over_seeds, verdict, versus
from experiments.kdg_runs import TRUTH
from experiments.paired_tests import Difference
from experiments.rivals import FAMILIES, RIVALS

KERNEL, ISOTONIC = "kernel density forest", "forest + isotonic"
NUMBERS = (*kdg_summary.MEASURES, "ece_chance", *kdg_summary.FAR, *kdg_summary.OFF)


def made_up(gap, sets=12, seeds=3, noise=0.001, known=False, **others):
    """Runs in which the kernel density models are beside the others by `gap`, or by one of `others`."""
    rng = np.random.default_rng(0)
    rows = []
    for name, seed in ((f"s{i:02}", seed) for i in range(sets) for seed in range(seeds)):
        for rival in (*RIVALS, TRUTH) if known else RIVALS:
            kernel = rival.startswith("kernel")
            numbers = dict.fromkeys(NUMBERS, 0.3 + noise * rng.normal() + gap * kernel)
            numbers |= {k: 0.3 + noise * rng.normal() + v * kernel for k, v in others.items()}
            about = {
                "study": "cc18",
                "set": name,
                "seed": seed,
                "rival": rival,
                "zeros": 0,
                "rows": 50,
            }
            if "hellinger" not in numbers:
                about["hellinger"] = None
            rows.append(about | numbers | {"extra_fit": 1.0, "predict": 1.0})
    return pl.DataFrame(rows)


def said(answer):
    return " ".join(str(answer).replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.parametrize(("gap", "word"), [(-0.05, "is lower"), (0.05, "is **higher**")])
def test_answers_follow_the_numbers(gap, word):
    r = made_up(gap)
    answer = said(kdg_answers.calibrated(r, r))
    assert answer.count(f"log loss {word}: ") == answer.count(f"ECE {word}: ") == 2
    assert answer.count(f"and with posteriors held at 0.001 or more it {word}: ") == 2
    v = versus(r, "log_loss", KERNEL, ISOTONIC)
    a, b = kdg_summary.wide(r, "log_loss", (KERNEL, ISOTONIC)).T
    theirs = stats.ttest_rel(a, b).confidence_interval()
    assert (v.over.low, v.over.high) == pytest.approx((theirs.low, theirs.high))
    assert v.margin == pytest.approx(b.mean() / 10)
    lost = said(kdg_answers.loses(r, r))
    count = 12 if gap > 0 else 0
    assert lost.count(f"it {word}; higher on {count} of 12 sets, clearly on {count}") == 8


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-0.05, -0.01, "is lower"),
        (-0.05, 0.02, "is not worse within the margin"),
        (-0.05, 0.04, "is not told apart"),
        (0.01, 0.04, "is **higher**"),
        (0.01, 0.02, "is **higher**, though within the margin"),
    ],
)
def test_four_answers_by_interval_and_margin(low, high, word):
    v = Versus(Difference((low + high) / 2, 0, 1, low, high), 5, 10, 0.03)
    assert verdict(v) == word
    turned = Versus(Difference(-(low + high) / 2, 0, 1, -high, -low), 5, 10, 0.03, high=True)
    swapped = {"is lower": "is higher"}.get(word, word.replace("**higher**", "**lower**"))
    assert verdict(turned) == swapped
    side = "beyond" if high > 0.03 else "within"
    ends = [
        f", {end} end {side} the margin of {by}" for end, by in (("upper", "+"), ("lower", "-"))
    ]
    for found, end in zip((v, turned), ends, strict=True):
        assert interval(found) == cell(found, 4) + (f"{end}0.0300" if high > 0 else "")


@pytest.mark.parametrize(
    ("floor", "zeros", "words"),
    [
        (0.0, 7, "is lower, but only by rows with 0: -0.0"),
        (0.0, 0, "is lower, but only by posteriors below 0.001: -0.0"),
        (-0.05, 7, "is lower: -0.0"),
    ],
)
def test_a_lower_log_loss_may_rest_on_rows_with_0(floor, zeros, words):
    rare = pl.when(pl.col("rival") == ISOTONIC).then(zeros).otherwise(0)
    r = made_up(-0.05, log_loss_floor=floor).with_columns(zeros=rare)
    answer = kdg_answers.log_losses(r, KERNEL, ISOTONIC)
    assert answer.startswith(f"log loss {words}")
    within = "is lower" if floor else "is not worse within the margin"
    assert f"with posteriors held at 0.001 or more it {within}: " in answer
    assert f"0 of {KERNEL}, {36 * zeros} of {ISOTONIC}" in answer


def test_a_log_loss_that_is_worse_only_when_held_is_told_so():
    r = made_up(0.0, log_loss_floor=0.05)
    answer = kdg_answers.log_losses(r, KERNEL, ISOTONIC)
    assert "but with posteriors held at 0.001 or more it is **higher**: " in answer
    assert "only by" not in answer


@pytest.mark.parametrize(("gap", "word"), [(-0.05, "is lower"), (0.05, "is **higher**")])
def test_the_distance_to_the_truth_is_compared_over_seeds(gap, word):
    r = made_up(0.0, sets=5, seeds=4, known=True, hellinger=gap)
    v = over_seeds(r, "hellinger", KERNEL, ISOTONIC)
    each = r.group_by("seed", "rival").agg(pl.col("hellinger").mean()).sort("seed")
    a, b = (each.filter(pl.col("rival") == k)["hellinger"] for k in (KERNEL, ISOTONIC))
    theirs = stats.ttest_rel(a, b).confidence_interval()
    assert (v.over.low, v.over.high) == pytest.approx((theirs.low, theirs.high))
    answer = said(kdg_answers.calibrated(r, r))
    for other in ("forest", ISOTONIC, "network", "network + isotonic"):
        assert f"against {other} it {word}: {interval(v)[:4]}" in answer
    lost = said(kdg_answers.loses(r, r))
    assert lost.count("Hellinger distance of kernel density") == 4
    count = 5 if gap > 0 else 0
    assert lost.count(f"it {word}; higher on {count} of 5 simulations, clearly on {count}") == 4


def test_mean_ranks_are_told_apart_or_not():
    far, near = (said(kdg_answers.calibrated(r, r)) for r in (made_up(-0.05, 40), made_up(0.0, 4)))
    assert far.count(" differ (critical") == 6
    assert near.count(" are not told apart (critical") == 6
    assert "do not differ" not in far + near


@pytest.mark.parametrize(("gap", "word"), [(-0.1, "is **lower**"), (0.1, "is higher")])
def test_kappa_and_error_against_the_plain_model_have_intervals(gap, word):
    r = made_up(gap)
    lost = said(kdg_answers.loses(r, r))
    plain = re.findall(r"(Kappa|Error) of kernel density (\w+) less that of (\w+): (\S+) \[", lost)
    assert [(m, k) for m, k, *_ in plain] == [(m, k) for k in FAMILIES for m in ("Error", "Kappa")]
    assert all(float(mean) == pytest.approx(gap, abs=0.001) for *_, mean in plain)
    assert lost.count(f"it {word}; lower on {12 if gap < 0 else 0} of 12 sets") == 2


def test_error_and_kappa_have_no_margin_to_be_worse_by():
    r = made_up(0.0, noise=0.01)
    lost = said(kdg_answers.loses(r, r))
    for measure in ("Error", "Kappa"):
        assert re.search(rf"{measure} of [^;]*\]; it is not told apart;", lost)
    assert re.search(
        r"ECE of [^;]*within the margin of [^;]*; it is not worse within the margin;", lost
    )


def test_sets_do_not_cancel_one_another_far_away():
    r = made_up(0.0, sets=2)
    signed = pl.when(pl.col("set") == "s00").then(-0.2).otherwise(0.2)
    r = r.with_columns(far_5=signed, off_5=signed.abs())
    answer = said(kdg_answers.modest(r))
    assert (
        f"{KERNEL} 0.200, at most 0.2000 (s00); the goal of 0.01 is **missed** on 2 of 2" in answer
    )
    near = r.with_columns(off_5=pl.lit(0.009))
    assert said(kdg_answers.modest(near)).count("the goal of 0.01 is reached on every set") == 2
    line = next(x for x in cc18_tables.markdown(r, 5, "x").splitlines() if "signed" in x)
    assert line.endswith("| worst set at 5 | signed at 5 |")
    assert re.search(
        rf"\| {KERNEL} \|.* 0.200 \| 0.200 \| 0.000 \|", cc18_tables.markdown(r, 5, "x")
    )


def test_goals_are_reached_or_missed_by_the_numbers():
    reached = {g.name: g.reached for g in kdg_eight.goals(made_up(-0.295))}
    assert [k for k, v in reached.items() if not v] == ["extra_fit"]
    assert not any(
        g.reached for g in kdg_eight.goals(made_up(0.2)) if g.name in ("ece", "accuracy")
    )


def test_goals_say_how_large_chance_is():
    r = made_up(-0.28, seeds=4, noise=0.01)
    goal = kdg_eight.goals(r)[0]
    mine = r.filter(pl.col("rival") == KERNEL).group_by("seed").agg(pl.col("ece").mean())
    assert goal.chance == pytest.approx(np.std(mine["ece"].to_numpy(), ddof=1))
    assert kdg_eight.Goal("ece", 0.0216, 0.0012, 0.022).said == (
        "0.0216, goal of 0.022 reached by the mean; chance (sd over seeds) 0.0012, more than lies between"
    )
    assert kdg_eight.Goal("ece", 0.026, 0.0012, 0.022).said == (
        "0.0260, goal of 0.022 **missed** by the mean; chance (sd over seeds) 0.0012"
    )
    assert kdg_eight.goals(made_up(0.0, seeds=1))[0].said.endswith("not known from one seed")


UNDEFINED = {
    "one set": made_up(0.05, sets=1),
    "one set and seed": made_up(-0.05, sets=1, seeds=1, known=True, hellinger=0.1),
    "one seed": made_up(0.05, seeds=1, known=True, hellinger=0.1),
    "all equal": made_up(0.0, noise=0),
    "equal differences": made_up(0.25, noise=0, known=True, hellinger=0.1),
    "no number": made_up(0.0).with_columns(pl.lit(np.nan).alias(k) for k in NUMBERS),
    "null": made_up(0.0).with_columns(pl.lit(None).alias(k) for k in NUMBERS),
    "gaps": made_up(0.0).with_columns(
        pl.when(pl.col("set") == "s03").then(None).otherwise(pl.col(k)).alias(k) for k in NUMBERS
    ),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_what_is_not_defined_is_told_in_words(case):
    r = UNDEFINED[case]
    parts = [kdg_answers.calibrated(r, r), kdg_answers.modest(r), kdg_answers.loses(r, r)]
    parts += [
        kdg_eight.markdown(r, 5),
        cc18_tables.markdown(r, 5, "x"),
        cc18_tables.details(r, 5, "x"),
    ]
    for text in map(said, parts):
        assert not re.search(r"\bnan\b|\binf\b|\bNone\b", text)
    assert kdg_summary.by_set(r).height


@pytest.mark.parametrize(
    ("d", "word", "shown"),
    [
        ([], "is not known", "no set has both numbers"),
        ([np.nan, np.nan], "is not known", "no set has both numbers"),
        ([0.2], "is **higher** by the mean alone", "+0.200 (one set only)"),
        ([-0.2, np.nan], "is lower by the mean alone", "-0.200 (one set only)"),
        ([0.0, 0.0], "is the same", "+0.000 (the same on all 2 sets)"),
        ([0.1, 0.1, 0.1], "is **higher** by the mean alone", "+0.100 (the same on all 3 sets)"),
    ],
)
def test_no_interval_where_there_is_none(d, word, shown):
    over, why = kdg_differences.student(np.array(d, dtype=float), "set")
    v = Versus(over, 0, len(d), 0.01, why=why)
    assert (verdict(v), cell(v)) == (word, shown)


def test_halves_that_overlap_have_wider_intervals_than_points_drawn_anew():
    r = made_up(0.01, sets=2, seeds=4)
    drawn = kdg_differences.within(r, "ece", KERNEL, ISOTONIC, shared=False)
    halves = kdg_differences.within(r, "ece", KERNEL, ISOTONIC)
    for name, part in r.sort("seed").group_by("set"):
        a, b = (part.filter(pl.col("rival") == k)["ece"] for k in (KERNEL, ISOTONIC))
        theirs = stats.ttest_rel(a, b).confidence_interval()
        assert drawn[name[0]][3:] == pytest.approx((theirs.low, theirs.high))
        wider = np.ptp(halves[name[0]][3:]) / np.ptp(drawn[name[0]][3:])
        assert wider == pytest.approx(np.sqrt((1 / 4 + 1) / (1 / 4)))


def test_examples_run():
    assert doctest.testmod(kdg_differences) == (0, 3)


def test_the_cost_is_told_for_each_number_of_trees():
    rows = [
        {"n": n, "draw": draw, "trees": trees, "extra_fit": 0.1, "predict": predict}
        | {"fit_mb": n / 100, "predict_mb": 5.0}
        for n in (1_000, 2_000, 4_000)
        for draw in kdg_scale.DRAWS
        for trees, predict in ((100, 2.5), (500, 1.5))
    ]
    answer = kdg_answers.cost(made_up(0.0), pl.DataFrame(rows), 500).said
    told = {trees: [line for line in answer if f" {trees} trees" in line] for trees in (100, 500)}
    assert [len(lines) for lines in told.values()] == [len(kdg_scale.DRAWS)] * 2
    for lines, predict in (
        (told[100], "2.50 (goal of 2 **missed**)"),
        (told[500], "1.50 (goal of 2 reached)"),
    ):
        assert all(f"predict {predict[:4]} to {predict}" in line for line in lines)
        assert all(
            "1.00 [1.00, 1.00] in fit and 0.00 [0.00, 0.00] in predict" in line for line in lines
        )

"""The tables of the KDG study say what made-up numbers say, on either side."""

import re

import numpy as np
import polars as pl
import pytest
from scipy import stats
from studies.kdg import summary, tables
from studies.kdg.rivals import FAMILIES, RIVALS
from studies.kdg.runs import TRUTH
from studies.kdg.summary import Versus, cell, counted, over_seeds, versus

KERNEL, ISOTONIC = "kernel density forest", "forest + isotonic"
NUMBERS = (*summary.MEASURES, "ece_chance", *summary.FAR, *summary.OFF)


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


@pytest.mark.parametrize("gap", [-0.05, 0.05])
def test_differences_over_sets_are_those_of_scipy(gap):
    r = made_up(gap)
    v = versus(r, "log_loss", KERNEL, ISOTONIC)
    a, b = summary.wide(r, "log_loss", (KERNEL, ISOTONIC)).T
    theirs = stats.ttest_rel(a, b).confidence_interval()
    assert (v.over.low, v.over.high) == pytest.approx((theirs.low, theirs.high))
    assert (v.better, v.sets) == (12 if gap < 0 else 0, 12)
    high = versus(r, "kappa", KERNEL, ISOTONIC)
    assert (high.better, high.sets) == (0 if gap < 0 else 12, 12)
    line = next(
        x for x in tables.cc18(r, 5, "x").splitlines() if x.startswith(f"| {KERNEL} | {ISOTONIC}")
    )
    assert line.split(" | ")[2] == counted(v)


@pytest.mark.parametrize("gap", [-0.05, 0.05])
def test_the_distance_to_the_truth_is_compared_over_seeds(gap):
    r = made_up(0.0, sets=5, seeds=4, known=True, hellinger=gap)
    v = over_seeds(r, "hellinger", KERNEL, ISOTONIC)
    each = r.group_by("seed", "rival").agg(pl.col("hellinger").mean()).sort("seed")
    a, b = (each.filter(pl.col("rival") == k)["hellinger"] for k in (KERNEL, ISOTONIC))
    theirs = stats.ttest_rel(a, b).confidence_interval()
    assert (v.over.low, v.over.high) == pytest.approx((theirs.low, theirs.high))
    page = tables.eight(r, 5)
    sims = versus(r, "hellinger", KERNEL, ISOTONIC)
    assert f"| {KERNEL} | {ISOTONIC} | {counted(v)} | {counted(sims)} |" in page
    assert page.count(f"({5 if gap < 0 else 0} of 5)") == 8


@pytest.mark.parametrize(("gap", "sets", "apart"), [(-0.05, 40, True), (0.0, 4, False)])
def test_mean_ranks_are_told_apart_or_not(gap, sets, apart):
    r = made_up(gap, sets)
    for family in FAMILIES:
        for measure in ("log_loss", "ece"):
            ranks = summary.ranked(r, measure, family)
            kernel, isotonic = ranks.mean[summary.KERNEL], ranks.mean[summary.ISOTONIC]
            assert (abs(kernel - isotonic) > ranks.critical) == apart


def test_sets_do_not_cancel_one_another_far_away():
    r = made_up(0.0, sets=2)
    signed = pl.when(pl.col("set") == "s00").then(-0.2).otherwise(0.2)
    page = tables.cc18(r.with_columns(far_5=signed, off_5=signed.abs()), 5, "x")
    line = next(x for x in page.splitlines() if "signed" in x)
    assert line.endswith("| worst set at 5 | signed at 5 |")
    assert re.search(rf"\| {KERNEL} \|.* 0.200 \| 0.200 \| 0.000 \|", page)


def test_goals_are_reached_or_missed_by_the_numbers():
    reached = {g.name: g.reached for g in tables.goals(made_up(-0.295))}
    assert [k for k, v in reached.items() if not v] == ["extra_fit"]
    assert not any(g.reached for g in tables.goals(made_up(0.2)) if g.name in ("ece", "accuracy"))


def test_goals_say_how_large_chance_is():
    r = made_up(-0.28, seeds=4, noise=0.01)
    goal = tables.goals(r)[0]
    mine = r.filter(pl.col("rival") == KERNEL).group_by("seed").agg(pl.col("ece").mean())
    assert goal.chance == pytest.approx(np.std(mine["ece"].to_numpy(), ddof=1))
    told = f"| {goal.found:.4f} ± {goal.chance:.4f} | <= 0.022 | reached |"
    assert told.replace("reached", "reached" if goal.reached else "**missed**") in tables.eight(
        r, 5
    )
    assert tables.goals(made_up(0.0, seeds=1))[0].chance is None


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
def test_what_is_not_defined_is_no_number(case):
    r = UNDEFINED[case]
    for text in (tables.eight(r, 5), tables.cc18(r, 5, "x"), tables.details(r, 5, "x")):
        assert not re.search(r"\bnan\b|\binf\b|\bNone\b", text)
    assert summary.by_set(r).height


@pytest.mark.parametrize(
    ("d", "shown"),
    [
        ([], "no set has both numbers"),
        ([np.nan, np.nan], "no set has both numbers"),
        ([0.2], "+0.200 (one set only)"),
        ([-0.2, np.nan], "-0.200 (one set only)"),
        ([0.0, 0.0], "+0.000 (the same on all 2 sets)"),
        ([0.1, 0.1, 0.1], "+0.100 (the same on all 3 sets)"),
    ],
)
def test_no_interval_where_there_is_none(d, shown):
    over, why = summary.student(np.array(d, dtype=float), "set")
    assert cell(Versus(over, 0, len(d), why), 3) == shown


def test_the_figures_are_drawn_from_any_such_numbers(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot as plt
    from studies.kdg.figures import FIGURES

    r = made_up(0.05, sets=4, known=True, hellinger=0.1)
    both = pl.concat([r, r.with_columns(study=pl.lit("eight"))])
    summary.by_set(both).write_csv(tmp_path / "kdg_study.csv")
    for draw in FIGURES.values():
        plt.close(draw(tmp_path / "kdg_study.csv"))

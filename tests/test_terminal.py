"""The table in the terminal: it fits, it is the agreed picture, and user text stays text."""

import io
import math
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import scorewise as sw
from scorewise.errors import plain
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show.markdown import markdown
from scorewise.show.page import Column, Page, Section, Table
from scorewise.show.terminal import print_document, text
from view_documents import NASTY, awkward, differ, document, find, hostile, undefine

SNAPSHOTS = Path(__file__).parent / "snapshots"


def printed(doc, width=80, **options):
    out = io.StringIO()
    print_document(doc, Console(file=out, width=width, **options))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "doc", "width"),
    [
        ("one_80", document(1), 80),
        ("two_80", document(2), 80),
        ("awkward_80", awkward(1), 80),
        ("awkward_two_80", awkward(2), 80),
        ("five_120", document(5), 120),
    ],
)
def test_snapshot(name, doc, width):
    """Set SCOREWISE_UPDATE_SNAPSHOTS=1 to write the pictures anew, and look at them."""
    stored = SNAPSHOTS / f"{name}.txt"
    text = printed(doc, width)
    if os.environ.get("SCOREWISE_UPDATE_SNAPSHOTS") == "1":
        stored.write_text(text, encoding="utf-8")
    assert text == stored.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("models", [1, 2, 3, 7])
@pytest.mark.parametrize("make", [document, awkward, hostile])
def test_every_line_fits(make, models, width):
    lines = printed(make(models), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_every_measure_of_every_model_is_there():
    doc = document(7)
    for i, model in enumerate(doc["models"]):
        for j, measure in enumerate(model["measures"]):
            measure["value"] = 0.1 + i / 10 + j / 1000
    text = printed(doc)
    wanted = {f"{m['value']:.3f}" for model in doc["models"] for m in model["measures"]}
    assert {value for value in wanted if value not in text} == set()


def test_no_terminal_codes_when_piped_or_told(monkeypatch):
    assert "\x1b" not in printed(document())
    assert "\x1b[1m" in printed(document(), force_terminal=True, color_system="truecolor")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in printed(document(), force_terminal=True)


@pytest.mark.parametrize("models", [1, 2])
def test_user_text_stays_text(models):
    text = printed(hostile(models), 200)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]bold[/red]" in text
    assert ":smile:" in text
    assert r"a\nb" in text
    assert text.count(plain(NASTY)) >= 4


def test_reason_stands_where_the_value_is_missing():
    row = next(line for line in printed(awkward()).splitlines() if line.startswith(" Precision"))
    assert row.split(maxsplit=2)[1:] == ["—", "no positive decisions"]


def test_reason_names_the_model():
    doc = document(2)
    undefine(doc, "precision", "no positive decisions", model=1)
    lines = printed(doc).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(" Precision"))
    assert lines[at + 1].strip() == "sharp: no positive decisions"


def test_bound_is_shown_only_when_coarse():
    assert "±1e-05" in printed(awkward())
    assert "±" not in printed(document())


def test_bounds_of_several_models_stand_below():
    doc = awkward(2)
    lines = printed(doc).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(" AUROC"))
    assert lines[at + 1].strip() == "risk: ±1e-05"


def test_legend_explains_what_is_shown():
    assert "Baseline:" not in printed(document(2))
    assert "Baseline:" in printed(document(2), 120)
    assert "±:" not in printed(document(2))
    assert "±:" in printed(awkward(2))


def test_confusion_columns_stand_in_place():
    lines = printed(document()).splitlines()
    head = next(line for line in lines if line.startswith("true"))
    ill = next(line for line in lines if line.startswith("ill "))
    assert head.index("ill") + 3 == ill.index("30") + 2
    assert head.index("well") + 4 == ill.index("91") + 2


def starred(doc, name):
    """The models that have a star on a measure, in the order of the table."""
    title = find(doc, name)["title"]
    lines = [line for line in printed(doc, 200).splitlines() if line.startswith(f" {title} ")]
    values = [f"{find(doc, name, i)['value']:.3f}" for i in range(len(doc["models"]))]
    return [i for i, value in enumerate(values) if any(f"{value}*" in line for line in lines)]


@pytest.mark.parametrize(
    ("name", "ends", "winner"),
    [
        ("auroc", (0.01, 0.05), [0]),
        ("auroc", (-0.05, -0.01), [1]),
        ("auroc", (-0.01, 0.05), []),
        ("auroc", (0.0, 0.05), []),
        ("brier", (-0.05, -0.01), [0]),
        ("brier", (0.01, 0.05), [1]),
    ],
)
def test_a_star_marks_a_model_whose_paired_difference_is_clear(name, ends, winner):
    doc = differ(document(2), name, ends)
    assert starred(doc, name) == winner
    assert ("*: better than every other model" in printed(doc)) == bool(winner)
    assert ("Bold: better than every other model" in markdown(doc)) == bool(winner)


def test_a_winner_of_several_beats_each_of_them():
    doc = document(3)
    for i in range(3):
        find(doc, "auroc", i)["value"] = 0.9 - i / 100
    clear, unclear = (0.01, 0.05), (-0.01, 0.05)
    assert starred(differ(doc, "auroc", clear, clear, unclear), "auroc") == [0]
    assert starred(differ(doc, "auroc", clear, unclear, clear), "auroc") == []
    doc["differences"][0].update(value=None, low=None, high=None, why="no positives")
    assert starred(doc, "auroc") == []


def test_no_star_where_no_difference_is_computed():
    text = printed(document(2), 200)
    assert "*" not in text
    assert "**0" not in markdown(document(2))
    assert starred(differ(document(2), "auroc", (0.01, 0.05)), "brier") == []


def test_noise_has_no_star():
    """Two columns of random numbers: one has the better point value, and no mark."""
    rng = np.random.default_rng(0)
    y, noise = rng.random(400) < 0.4, rng.random((2, 400))
    found = sw.compare(y, {"one": noise[0], "two": noise[1]})
    assert "*" not in found.render("text")
    assert "**0" not in found.to_markdown()


def test_a_clearly_better_model_has_its_star():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    good = 1 / (1 + np.exp(-3 * (2 * y - 1) - rng.normal(size=400)))
    scores = {"noise": rng.random(400), "good": good}
    found = sw.evaluate({"y": y, **scores}, label="y", score=[*scores])
    rows = [line for line in found.all().render("text").splitlines() if line.startswith(" AUROC ")]
    (row,) = (line for line in rows if "*" in line)
    assert re.search(rf"{found['good'].auroc.value:.3f} *\* \[", row)
    brief = [line for line in found.render("text").splitlines() if line.startswith(" AUROC ")]
    assert any(f"{found.difference('auroc').value:.3f}*" in line for line in brief)


def test_data_without_rows_or_names():
    doc = document()
    doc["data"].update(sources=[], label=None, positive=None, rows=0, positives=0, negatives=0)
    doc["models"][0].update(distinct=0, lowest=None, highest=None)
    doc["models"][0]["cut"].update(above=None, upto=None)
    text = printed(doc)
    assert "Rows      0: 0 positive, 0 negative" in text
    assert "(-∞, ∞)" in text


# columns without room


@cache
def measured(rows):
    """The evaluation of so many rows, coarse or not."""
    rng = np.random.default_rng(rows)
    y = rng.random(rows) < 0.3
    p = 1 / (1 + np.exp(1 - 2 * y - rng.normal(size=rows)))
    return sw.evaluate(sw.Tally.of(y, p).coarsen()) if rows == 1300 else sw.evaluate(y, p)


@pytest.mark.parametrize("rows", [12_000, 1300])
@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_skill_and_p_values_are_there_at_any_width(rows, width):
    e = measured(rows)
    lines = printed(e.document(), width).splitlines()
    text = "\n".join(lines)
    assert max(map(cell_len, lines)) <= width
    assert "Skill" in text
    assert f"{round(100 * e.skill('auroc'))}%" in text
    assert "p ≤ 0.004" in text
    assert "No room for Method: a wider terminal or the JSON has it." in " ".join(text.split())
    assert "Method" not in lines[[line[:7] for line in lines].index("Measure")]


def test_a_bound_goes_below_its_interval_where_there_is_no_room():
    lines = printed(measured(1300).document(), 80).splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("±"))
    assert lines[at - 1].index("[") == lines[at].index("±")


def test_what_has_room_is_shown():
    text = printed(document(), 200)
    assert "Method" in text
    assert "DeLong, logit scale" in text
    assert "No room" not in text


def test_a_table_that_is_too_wide_is_continued():
    columns = [Column("Class", "name"), *(Column(f"column {i}") for i in range(12))]
    page = Page("toy", [Section(table=Table(columns, [("cat", *range(12)), ("dog", *range(12))]))])
    lines = text(page, 60).splitlines()
    assert max(map(cell_len, lines)) <= 60
    assert sum(line.startswith("Class") for line in lines) == 3
    assert [f"column {i}" in "\n".join(lines) for i in range(12)] == [True] * 12


def test_long_names_are_cut_in_the_terminal_alone_and_stay_apart():
    longs = ["the common garden variety of it", "the rare mountain variety of it"]
    columns = [Column("Class", "name"), *(Column(f"number {i}") for i in range(5))]
    table = Table(columns, [(name, *range(5)) for name in longs])
    page = Page("toy", [Section(table=table)])
    assert all(name in text(page, 120) for name in longs)
    assert "the common…ety of it" in text(page, 70)
    assert all(name in markdown(page) for name in longs)
    # where the middle alone tells them apart, they are folded
    alike = [f"a long beginning, {k}, a long end" for k in (1, 2)]
    page = Page("toy", [Section(table=Table(columns, [(name, *range(5)) for name in alike]))])
    folded = " ".join(text(page, 64).split())
    assert "…" not in folded
    assert ", 1, a" in folded


# p-values at the floor of resampling


def test_a_p_value_that_no_replicate_reached_is_an_upper_limit():
    """Every p-value by resampling of badly calibrated scores is the least that can be shown."""
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.5
    e = sw.evaluate(y, np.where(y, 0.7, 0.1) + rng.uniform(0, 0.2, 2000))
    lines = e.all().render("text").splitlines()
    resampled = [name for name in e if e[name].p in (1 / 301, 1 / 501, 1 / 1001)]
    assert {"ece", "smece", "mcb", "ce_variational"} <= {*resampled}
    for name in resampled:
        title = MEASURES[name].title
        *_, row = (
            line for line in lines if line.startswith(f" {title} ")
        )  # the table may be folded
        assert f"p ≤ {math.ceil(1000 * e[name].p) / 1000:.3f}" in row
    assert f"p ≤ {e.ece.p:.3f}" in e.to_markdown()
    assert "p = 0.001" not in e.render("text")


def test_a_p_value_that_replicates_reached_is_one():
    rng = np.random.default_rng(1)
    p = rng.random(500)
    e = sw.evaluate(rng.random(500) < p, p)
    assert "p ≤" not in e.render("text")
    assert f"p = {e.ece.p:.3f}" in e.render("text")


def test_p_values_of_classes_have_the_floor_of_their_draws():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    p = np.full((300, 3), 0.02)
    p[np.arange(300), (y + (rng.random(300) < 0.6)) % 3] = 0.96
    e = sw.evaluate(y, p)
    assert "draws of labels" in e.skce.method
    (row,) = (
        line
        for line in e.all().render("text").splitlines()
        if line.startswith(f" {CLASS_MEASURES['skce'].title} ")
    )
    assert e.skce.p == 1 / (1 + int(e.skce.method.split()[0]))
    assert f"p ≤ {math.ceil(1000 * e.skce.p) / 1000:.3f}" in row


def test_drift_and_agreement_have_the_floor_of_their_replicates():
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.4
    s = np.clip(0.3 + 0.3 * y + rng.normal(0, 0.1, 600), 0, 1)
    found = sw.drift((y[:300], s[:300]), (y[300:], s[300:] / 2), replicates=599)
    assert found["ks"].p == 1 / 600
    row = next(line for line in found.render("text").splitlines() if " ≤0.002 " in line)
    assert f"≤{math.ceil(1000 * found['ks'].p_adjusted) / 1000:.3f}" in row
    assert "p ≤ " in repr(found["ks"])
    assert "(p ≤ " in found.verdict
    same = rng.integers(0, 3, 100)
    agreed = sw.agree({"ann": same, "bob": same})
    assert "≤0.001" in agreed.render("text")


def test_answers_have_the_floor_of_their_replicates():
    rng = np.random.default_rng(0)
    quality = (rng.random(500) < 0.2).astype(float)
    found = sw.answers(confidence=rng.uniform(0.8, 1, 500), quality=quality)
    assert "≤0.001" in found.render("text")

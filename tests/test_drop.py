"""The page of the docs for dropped files: it says what Python says, and sends nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import scorewise as sw
from browser import WEB, Watch, axe_violations, chromium
from test_browser import MODELS, ROWS, expected

PAGE = WEB.parent / "docs" / "drop.html"
FRAME = pl.DataFrame(ROWS)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser) -> Iterator:
    made = browser.new_page()
    made.watch = Watch(made)
    made.goto(PAGE.as_uri())
    yield made
    assert (made.watch.complaints, made.watch.requests) == ([], [PAGE.as_uri()])
    made.close()


def write_snappy(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, compression="snappy")


WRITERS = {
    "rows.csv": pl.DataFrame.write_csv,
    "rows.parquet": pl.DataFrame.write_parquet,
    "snappy.parquet": write_snappy,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_dropped_file_is_judged_as_python_judges_it(page, tmp_path, name) -> None:
    WRITERS[name](FRAME, tmp_path / name)
    page.set_input_files("#file", tmp_path / name)
    page.wait_for_selector(".sw-bar")
    assert page.locator("#columns input:checked").count() == 2
    for threshold in (0.5, 0.2):
        page.locator(".sw-bar .sw-field").first.fill(str(threshold))
        page.locator(".sw-bar .sw-field").first.press("Enter")
        for i, model in enumerate(MODELS):
            e = sw.evaluate(ROWS["y"], ROWS[model], threshold=threshold)
            found = {
                el.get_attribute("data-cell") or el.get_attribute("data-rate"): el.text_content()
                for kind in ("cell", "rate")
                for el in page.query_selector_all(f"[data-{kind}][data-model='{i}']")
            }
            assert found == expected(e, FRAME.height)
            summary = page.locator(f"#summary tbody tr td:nth-of-type({i + 1})").all_text_contents()
            assert summary == [f"{float(x):.3f}" for x in (e.auroc, e.average_precision, e.brier)]
    for svg in page.locator("figure svg:not([display=none])").all():
        assert svg.bounding_box()["height"] > 100
    assert len(axe_violations(page)) == 0


def test_columns_and_the_positive_class_can_be_chosen(page, tmp_path) -> None:
    FRAME.with_columns(bad=1 - FRAME["y"], raw=FRAME["risk"] * 20 - 7).write_csv(tmp_path / "x.csv")
    page.set_input_files("#file", tmp_path / "x.csv")
    page.wait_for_selector(".sw-bar")
    page.get_by_label("Label").select_option("bad")
    page.locator("#columns").get_by_label("sharp").uncheck()
    turned = page.locator("#summary td").all_text_contents()
    assert turned[0] == f"{1 - float(sw.evaluate(ROWS['y'], ROWS['risk']).auroc):.3f}"
    page.locator("#columns select").nth(1).select_option("0")
    assert page.locator("#summary td").first.text_content() == f"{1 - float(turned[0]):.3f}"
    page.locator("#columns").get_by_label("raw").check()  # no probability
    assert page.locator("#probabilities").count() == 0
    assert page.locator("#summary tbody tr:last-child td").all_text_contents() == ["—", "—"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y,p\n", "there are no rows below the names"),
        ("a,b\n1,2\n3,4\n5,6\n", "no column has two values"),
        ("y,p\n1,0.5\n0,0.2,9\n", "line 3 has more cells"),
        ("PAR1 this is not parquet", "cannot be read here"),
        ("y,p\n0,0.2\n0,0.3\n1,\n", "Both classes need rows"),
    ],
)
def test_what_cannot_be_judged_gets_a_sentence(page, tmp_path, text, said) -> None:
    (tmp_path / "bad.csv").write_text(text)
    page.set_input_files("#file", tmp_path / "bad.csv")
    page.get_by_text(re.compile(said)).wait_for()
    assert page.locator(".sw-bar").count() == 0


def test_names_in_the_file_are_text(page, tmp_path) -> None:
    page.on("dialog", lambda d: pytest.fail(d.message))
    name = "<img src=x onerror=alert(1)>"
    FRAME.select("y", pl.col("risk").alias(name)).write_csv(tmp_path / "x.csv")
    page.set_input_files("#file", tmp_path / "x.csv")
    page.wait_for_selector(".sw-bar")
    assert page.locator("#summary th .sw-name").text_content() == name
    assert page.locator("img").count() == 0

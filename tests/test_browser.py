"""A report in a browser: what moves, where it opens, who can use it."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import scorewise as sw
from browser import Watch, axe_violations, chromium, served
from report_pages import RATES, write_report
from scorewise.inference.shares import wilson_of
from scorewise.show.words import count

JENKINS = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self'"
CURVES = ("roc", "precision_recall", "smroc")
OVER_SCORES = ("density", "reliability", "decision_curve")
HOSTILE = {
    "markup": "</script><img src=x onerror=alert(1)>",
    "quotes": """a"b'c`d&amp;${e}\\u003c""",
    "emoji": "👩‍⚕️ 🏥",
    "right to left": "نموذج الخطر",
    "long": "x" * 10_000,
}


def rows(n: int = 300) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(18)
    y = (rng.random(n) < 0.3).astype(int)
    x = rng.normal(size=n) + 1.8 * y - 1.7
    noise = rng.normal(size=n)
    return {
        "y": y,
        "risk": np.round(1 / (1 + np.exp(-x)), 3),
        "sharp": np.round(1 / (1 + np.exp(-2.5 * x - noise)), 3),
        "site": np.where(rng.random(n) < 0.5, "north", "south"),
    }


SHOWN = "t => Number(document.querySelector('.sw-field').value) === Number(t.toPrecision(4))"
ROWS = rows()
MODELS = ("risk", "sharp")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, ROWS["y"], {name: ROWS[name] for name in MODELS}, by=ROWS["site"])


@pytest.fixture
def page(browser) -> Iterator:
    made = browser.new_page()
    made.watch = Watch(made)
    yield made
    made.close()


@pytest.fixture
def opened(page, report):
    page.goto(report.as_uri())
    page.wait_for_selector(".sw-bar")
    return page


def bar(page):
    return page.locator(".sw-bar")


def slider(page):
    return bar(page).get_by_role("slider")


def texts(page, selector: str) -> list[str]:
    return page.locator(selector).all_text_contents()


def places(page, selector: str, *names: str) -> list[list[str]]:
    return page.eval_on_selector_all(
        selector, "(all, names) => all.map(e => names.map(n => e.getAttribute(n)))", names
    )


def distinct(page, selector: str, *names: str) -> set[tuple]:
    return set(map(tuple, places(page, selector, *names)))


def state(page) -> dict[str, list]:
    """All that the threshold moves."""
    marks = {
        f"marks {kind}": places(page, f"[data-figure={kind}] [data-mark]", "cx", "cy")
        for kind in CURVES
    }
    lines = {
        f"line {kind}": places(page, f"[data-figure={kind}] [data-threshold]", "x1", "x2")
        for kind in OVER_SCORES
    }
    numbers = {
        kind: texts(page, f"[data-{kind}]")
        for kind in ("cell", "rate", "at-prevalence", "threshold-value")
    }
    return {**marks, **lines, **numbers}


# The threshold


def test_the_threshold_moves_numbers_markers_lines_and_link(opened, browser) -> None:
    before = state(opened)
    assert all(before.values())
    slider(opened).focus()
    for _ in range(3):
        opened.keyboard.press("PageDown")
    after = state(opened)
    assert [name for name in before if before[name] == after[name]] == []
    opened.wait_for_url(re.compile(r"#t=0\.\d+$"))

    again = browser.new_page()
    again.goto(opened.url)
    again.wait_for_selector(".sw-bar")
    assert state(again) == after
    bar(again).get_by_role("button", name="Reset").click()
    assert state(again) == before
    again.close()


def expected(e, n: int) -> dict[str, str]:
    """What Python says of one model at its threshold."""
    (tn, fp), (fn, tp) = np.asarray(e.confusion.weight).tolist()
    alerts = wilson_of((tp + fp) / n, n, 0.95)
    measures = {name: getattr(e, name) for name in RATES if name != "alert_rate"}
    measures["alert_rate"] = sw.Estimate(*alerts)
    cells = {name: count(x) for name, x in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn))}
    return cells | {name: str(m) if m.defined else "—" for name, m in measures.items()}


def test_the_numbers_are_those_of_python(opened) -> None:
    payload = opened.evaluate("JSON.parse(document.getElementById('scorewise-data').textContent)")
    moved = 0
    for i, name in enumerate(MODELS):
        kept = [t for t in payload["models"][i]["threshold"] if t is not None]
        for t in kept[:: max(1, len(kept) // 10)][:10]:
            opened.evaluate("t => { location.hash = `#t=${t}` }", repr(t))
            opened.wait_for_function(SHOWN, arg=t)
            found = {
                el.get_attribute("data-cell") or el.get_attribute("data-rate"): el.text_content()
                for kind in ("cell", "rate")
                for el in opened.query_selector_all(f"[data-{kind}][data-model='{i}']")
            }
            e = sw.evaluate(ROWS["y"], ROWS[name], threshold=t)
            assert found == expected(e, len(ROWS["y"])), (name, t)
            # at the prevalence of the rows it is the precision
            ppv = f"{e.precision.value:.3f}" if e.precision.defined else "—"
            assert texts(opened, f"[data-at-prevalence=ppv][data-model='{i}']") == [ppv], (name, t)
            moved += 1
    assert moved == 20


def test_a_pointer_reads_and_sets_the_threshold(opened) -> None:
    figure = opened.locator("figure[data-kind=roc]")
    figure.scroll_into_view_if_needed()
    line = figure.locator(".sw-value")
    before, box = line.all_text_contents(), figure.locator("svg").bounding_box()
    opened.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.25)
    read = line.all_text_contents()
    assert [a == b for a, b in zip(read, before, strict=True)] == [False, False]
    for name, text in zip(MODELS, read, strict=True):
        told = rf"{name} at [\d.]+: sensitivity [\d.]+, false positive rate [\d.]+"
        assert re.fullmatch(told, text)
    opened.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.25)
    opened.mouse.move(0, 0)
    assert line.all_text_contents() == read


def test_models_groups_prevalence_and_axes_are_in_the_link(opened, browser) -> None:
    bar(opened).get_by_label("sharp").uncheck()
    bar(opened).get_by_label("Prevalence").fill("0.02")
    bar(opened).get_by_label("Prevalence").press("Enter")
    bar(opened).get_by_label("Group").select_option("south")
    bar(opened).get_by_label("Logit axes").check()
    opened.wait_for_url("**#off=1&q=0.02&g=south&axis=logit")
    again = browser.new_page()
    again.goto(opened.url)
    again.wait_for_selector(".sw-bar")
    assert not bar(again).get_by_label("sharp").is_checked()
    assert distinct(again, "svg g[data-model='1']", "display") == {("none",)}
    assert distinct(again, "svg [data-group]", "data-group", "opacity") == {
        ("north", "0.25"),
        ("south", None),
    }
    assert [svg.is_visible() for svg in again.locator("svg[data-axis]").all()] == [False, True]
    rates = [sw.evaluate(ROWS["y"], ROWS[name]) for name in MODELS]
    alerts = [(0.02 * e.sensitivity.value, 0.98 * (1 - e.specificity.value)) for e in rates]
    ppv = [f"{hit / (hit + false):.3f}" for hit, false in alerts]
    assert texts(again, "[data-at-prevalence=ppv]") == ppv
    again.close()


# Where it is opened


def readable(page) -> None:
    """Text and figures are there, and take up room."""
    text = page.locator("main").inner_text()
    assert "Ranking" in text
    assert "risk" in text
    shown = [
        svg for svg in page.locator("figure svg").all() if svg.get_attribute("display") != "none"
    ]
    assert len(shown) >= 6
    for svg in shown:
        box = svg.bounding_box()
        assert box["width"] > 100
        assert box["height"] > 60
    lines = page.locator("figure svg [data-model='0'] [stroke]").first
    assert lines.get_attribute("stroke").startswith("#")
    assert page.locator("[data-cell=tp]").first.bounding_box()["width"] > 5


def test_as_a_file(opened) -> None:
    readable(opened)
    assert opened.watch.complaints == []
    assert len(opened.watch.requests) == 1


def test_without_javascript(browser, report) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    watch = Watch(page)
    page.goto(report.as_uri())
    readable(page)
    assert page.locator(".sw-bar, .sw-readout, .sw-tools").count() == 0
    assert (watch.complaints, len(watch.requests)) == ([], 1)
    context.close()


def test_under_the_policy_of_jenkins(page, report) -> None:
    with served(report.parent, JENKINS) as address:
        page.goto(f"{address}/{report.name}")
        readable(page)
        assert page.locator(".sw-bar").count() == 0
    # the browser says that it obeys the policy, once for each style and script; nothing else
    told = re.compile(r"Content Security Policy directive|document's frame is sandboxed")
    assert [text for text in page.watch.complaints if not told.search(text)] == []
    assert len(page.watch.requests) == 1


def test_in_a_sandbox_without_an_origin(page, report) -> None:
    with served(report.parent, "sandbox allow-scripts") as address:
        page.goto(f"{address}/{report.name}")
        page.wait_for_selector(".sw-bar")
        readable(page)
        before = state(page)
        slider(page).focus()
        page.keyboard.press("PageDown")
        assert state(page)["cell"] != before["cell"]
        page.get_by_role("button", name="Copy as Markdown").first.click()
        status = page.locator(".sw-tools [role=status]").first
        status.get_by_text(re.compile("Copied|box below")).wait_for()
        page.wait_for_timeout(300)  # until the address would have been written
    assert (page.watch.complaints, len(page.watch.requests)) == ([], 1)


def test_in_a_frame_of_a_notebook(page, report) -> None:
    source = html.escape(report.read_text("utf-8"))
    page.set_content(
        f'<iframe sandbox="allow-scripts" width="900" height="600" srcdoc="{source}"></iframe>'
    )
    frame = page.frame_locator("iframe")
    before = frame.locator("[data-cell]").all_text_contents()
    frame.locator(".sw-bar input[type=range]").press("PageDown")
    assert frame.locator("[data-cell]").all_text_contents() != before
    assert frame.get_by_role("button", name="Copy link").count() == 0  # no link would lead here
    page.wait_for_timeout(300)  # until the address would have been written
    assert page.watch.complaints == []
    assert [url for url in page.watch.requests if not url.startswith("about:")] == []


def test_on_paper(opened) -> None:
    opened.emulate_media(media="print")
    readable(opened)
    assert not opened.locator(".sw-bar").is_visible()
    opened.set_viewport_size({"width": 718, "height": 1000})  # what margins leave of A4
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)"
    assert opened.eval_on_selector_all(".sw-scroll", cut) == []
    opened.emulate_media(media="screen")
    printed = opened.pdf()
    drawn = b"".join(unpacked(printed))
    assert len(re.findall(rb"T[jJ]\b", drawn)) > 50  # lines of text
    assert len(re.findall(rb"\bS\b", drawn)) >= 6  # strokes of figures


def unpacked(pdf: bytes) -> Iterator[bytes]:
    for packed in re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            yield zlib.decompress(packed)
        except zlib.error:
            continue


# Who can use it


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_violation(browser, report, scheme, width) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto(f"{report.as_uri()}#t=0.3")
    page.wait_for_selector(".sw-bar")
    for more in page.locator(".sw-more:visible").all():
        more.click()
    assert axe_violations(page) == []
    page.close()


def other_reports() -> dict[str, object]:
    """Those whose figures are forests and matrices: three models, two samples, raters."""
    rng = np.random.default_rng(4)
    models = {**{name: ROWS[name] for name in MODELS}, "third": ROWS["risk"][::-1].copy()}
    kinds = np.array(["benign", "atypical", "malignant"])
    truth = kinds[rng.integers(0, 3, 60)]
    raters = {
        name: np.where(rng.random(60) < 0.8, truth, kinds[0]) for name in ("ana", "ben", "cho")
    }
    half = {name: values[:150] for name, values in ROWS.items()}
    return {
        "models": sw.report({"y": ROWS["y"], **models}, label="y", score=list(models)),
        "drift": sw.drift(ROWS, half, label="y", score="risk"),
        "raters": sw.agree(raters),
    }


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1280), ("light", 390)])
def test_axe_finds_no_violation_in_other_reports(browser, tmp_path, scheme, width) -> None:
    for name, result in other_reports().items():
        path = tmp_path / f"{name}.html"
        result.report(path)
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        page.wait_for_selector("figure svg")
        assert axe_violations(page) == [], name
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, name
        page.close()


def focused(page, selector: str) -> bool:
    return page.evaluate("s => document.activeElement.matches(s)", selector)


def tab_to(page, selector: str, most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if focused(page, selector):
            return
    pytest.fail(f"the tab key does not lead to {selector}")


def test_all_of_it_by_keyboard(opened) -> None:
    before = texts(opened, "[data-cell]")
    tab_to(opened, ".sw-bar input[type=range]")
    for _ in range(25):
        opened.keyboard.press("ArrowLeft")
    assert texts(opened, "[data-cell]") != before
    told = slider(opened).get_attribute("aria-valuetext")
    assert re.match(r"0\.\d+, risk sensitivity 0\.\d+", told)
    tab_to(opened, ".sw-bar .sw-field")
    opened.keyboard.type("0.5")
    opened.keyboard.press("Enter")
    assert texts(opened, "[data-cell]") == before
    tab_to(opened, ".sw-model input")
    opened.keyboard.press("Space")
    shown = distinct(opened, "[data-figure=roc] g[data-model]", "data-model", "display")
    assert shown == {("0", "none"), ("1", None)}

    tab_to(opened, "#summary th:last-of-type .sw-sort")
    column = "#summary tbody tr > :last-child"
    written = texts(opened, column)
    opened.keyboard.press("Enter")
    assert opened.locator("#summary th[aria-sort=ascending]").count() == 1
    opened.keyboard.press("Enter")
    opened.keyboard.press("Enter")
    assert texts(opened, column) == written
    tab_to(opened, ".sw-tools button")


# Names of any kind


def test_names_are_text(page, tmp_path) -> None:
    page.on("dialog", lambda d: pytest.fail(d.message))
    names, y = list(HOSTILE.values()), ROWS["y"][:100]
    risk, sharp = ROWS["risk"][:100], ROWS["sharp"][:100]
    scores = dict(zip(names[:3], (risk, sharp, risk**2), strict=True))
    others = dict(zip(names[3:], (risk, sharp), strict=True))
    for at, models in enumerate((scores, others)):
        path = write_report(
            tmp_path / f"{at}.html", y, models, by=np.resize(names[: at + 2], len(y))
        )
        page.goto(path.as_uri())
        page.wait_for_selector(".sw-bar")
        shown = [n if len(n) <= 400 else f"{n[:32]}…{n[-8:]}" for n in models]
        assert texts(page, ".sw-model .sw-name") == shown
        assert set(texts(page, "figure[data-kind=roc] .sw-readout .sw-name")) == set(shown)
        assert page.locator(".sw-bar option").count() == 3 + at
        bar(page).get_by_label("Group").select_option(names[0])
        slider(page).focus()
        page.keyboard.press("ArrowLeft")
        assert page.locator("img").count() == 0
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, "a long name must not widen the page"
    assert page.watch.complaints == []
    assert len(page.watch.requests) == 2


def test_names_from_right_to_left_leave_numbers_in_their_place(page, tmp_path) -> None:
    name, rng = HOSTILE["right to left"], np.random.default_rng(0)
    b, c = rng.choice(["x", "y"], (2, 60))
    sw.agree({"b": b, "c": c, name: np.where(rng.random(60) < 0.9, b, c)}).report(
        tmp_path / "r.html"
    )
    page.goto((tmp_path / "r.html").as_uri())
    caption = page.locator("figure[data-kind=rater_pairs] figcaption")
    text = caption.inner_text()
    assert text.count(name) in (1, 2)
    # where each number is drawn: they run on from left to right, line by line
    places = caption.evaluate(
        """caption => {
            const walker = document.createTreeWalker(caption, NodeFilter.SHOW_TEXT), found = [];
            for (let node; (node = walker.nextNode()); )
                for (const hit of node.data.matchAll(/\\d\\.\\d+/g)) {
                    const range = document.createRange();
                    range.setStart(node, hit.index);
                    range.setEnd(node, hit.index + hit[0].length);
                    const box = range.getBoundingClientRect();
                    found.push([Math.round(box.top / 5), box.left]);
                }
            return found;
        }"""
    )
    assert len(places) >= 6
    assert places == sorted(places)

"""What a notebook shows: plain tables that survive GitHub, the report in a frame, and a widget."""

import html
import re
import subprocess
import sys

import pytest

import scorewise as sw
from test_report import Tree


@pytest.fixture(scope="module")
def e():
    y = [1, 1, 0, 1, 0, 0, 1, 0] * 10
    p = [0.9, 0.7, 0.6, 0.5, 0.2, 0.1, 0.8, 0.4] * 10
    return sw.evaluate({"y": y, "<p>": p, "q": p[::-1]}, label="y", score=["<p>", "q"])


def test_each_form_of_the_bundle_says_the_same(e):
    bundle = e._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert bundle["text/plain"] == repr(e)
    assert bundle["text/markdown"] == e.to_markdown()
    page = Tree(bundle["text/html"])
    for claim in e.brief().verdict:
        assert claim.sentence in page.text


def test_plain_tables_survive_where_styles_and_scripts_are_stripped(e):
    page = Tree(e._repr_mimebundle_()["text/html"])
    assert {tag for tag, _ in page.elements} <= {
        "h4", "h5", "dl", "dt", "dd", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td",
        "bdi", "b", "em", "p",
    }  # fmt: skip
    kept = {"scope", "colspan", "align"}
    assert {name for _, attrs in page.elements for name in attrs} <= kept
    assert "<p>" in [t for at, t in page.texts if at == "bdi"]


def test_ipython_takes_the_bundle(e):
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(e)
    assert data["text/html"].startswith("<h4>scorewise evaluate</h4>")
    assert "AUROC" in data["text/markdown"]


def test_the_frame_holds_the_whole_report(e):
    shown = e.iframe(height=500)._repr_html_()
    attrs = Tree(shown).all("iframe")[0]
    assert attrs["height"] == "500"
    assert attrs["srcdoc"] == e.render("html")
    assert "allow-same-origin" not in attrs["sandbox"]
    assert "style" not in attrs
    assert re.search(r"[\d,]+ bytes", repr(e.iframe()))
    assert html.escape("<!doctype html>") in shown


def test_the_widget_shares_its_threshold(e):
    pytest.importorskip("anywidget")
    w = e.widget()
    assert w.payload["version"] == 1
    assert w.threshold == w.payload.get("threshold")
    w.threshold = 0.31
    assert w.threshold == 0.31
    page = Tree(w.html)
    assert [a for a in page.all("main") if a["id"] == "scorewise"]
    assert not page.all("script")
    assert w._css.startswith(".sw-widget {")


def test_without_anywidget_it_says_what_to_install(e):
    program = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import scorewise as sw\n"
        "try: sw.evaluate([1, 0, 1, 0], [.9, .4, .2, .3]).widget()\n"
        "except sw.BadInput as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "the widget needs anywidget: pip install 'scorewise[widget]'\n"

"""The report: one HTML file that says what the document says, whatever the data are called."""

import base64
import gzip
import html
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.cli.demo import screening_csv
from scorewise.show import render
from scorewise.show.document import from_dict
from scorewise.show.html import escaped
from scorewise.show.page import Column, Heading, Page, Section, Table
from scorewise.show.report import SECTIONS
from test_golden import COMMANDS, write_inputs

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Tree(HTMLParser):
    """Elements of a page; refuses what is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def text(self) -> str:
        shown = (t for at, t in self.texts if at not in ("script", "style"))
        return " ".join(" ".join(shown).split())


def payload(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="scorewise-data">(.*?)</script>', text)
    return json.loads(found[1])


def carried(text: str) -> dict:
    """The document that a report carries along."""
    packed = re.search(r'href="data:application/gzip;base64,([^"]+)"', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def same(small, whole) -> bool:
    """Whether a carried document is another but for digits and long lists of numbers."""
    if isinstance(whole, dict):
        return small.keys() == whole.keys() and all(same(small[k], whole[k]) for k in whole)
    if isinstance(whole, list):
        curve = len(whole) > 50 and small == []
        return curve or (len(small) == len(whole) and all(map(same, small, whole)))
    return small == (pytest.approx(whole, rel=1e-4) if isinstance(whole, float) else whole)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("report")
    write_inputs(home)
    return home


@pytest.fixture(scope="module")
def made(home) -> sw.Report:
    return sw.report(
        home / "screening.csv", label="outcome", score=["risk", "sharp"], positive="ill", by="site",
        ids="id", reference=str(home / "later.csv"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def text(made) -> str:
    return made.render("html")


def test_sections_stand_in_their_order(text):
    ids = [a["id"] for a in Tree(text).all("section")]
    assert ids == [a for a in SECTIONS if a in ids]
    assert ids[:3] == ["verdict", "data", "summary"]
    assert {"ranking", "probabilities", "threshold", "slices", "comparison", "instances", "drift",
            "recalibration", "missing", "methods"} <= {*ids}  # fmt: skip


def test_sentences_are_those_of_the_document(made, text):
    said = [c.sentence for c in made.document().verdict]
    lines = re.findall(
        r'<span class="sw-said">(.*?)</span>(?: <span class="sw-plain">|</li>)', text
    )
    shown = [html.unescape(re.sub("<[^>]+>", "", line)) for line in lines]
    assert shown == [s.removeprefix("Next: ") for s in said]
    assert len(said) >= 4


def test_it_carries_its_document(made, text):
    whole, small = made.to_dict(), carried(text)
    for doc in (whole, small):
        doc["evaluation"].pop("curves", None)
    assert same(small, whole)
    assert from_dict(type(made.document()), made.to_dict()) is not None


def test_what_it_lacks_is_told_once(home):
    alone = sw.report(home / "screening.csv", label="outcome", score="risk", positive="ill")
    page = Tree(alone.render("html"))
    ids = [a["id"] for a in page.all("section")]
    assert not {"slices", "comparison", "drift"} & {*ids}
    assert page.text.count("name a column of groups (by)") == 1
    assert [a.section for a in alone.document().absent] == [
        "slices",
        "comparison",
        "drift",
        "agreement",
    ]
    assert alone.evaluation.auroc.value == alone.document().evaluation.models[0].measures[18].value


def test_nothing_is_fetched_and_nothing_depends_on_style(text):
    page = Tree(text)
    outside = [
        value
        for _, attrs in page.elements
        for name, value in attrs.items()
        if name in ("src", "href", "action", "data", "poster", "srcset") and value
    ]
    assert outside
    assert all(x.startswith(("#", "data:application/gzip;base64,")) for x in outside)
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", text)
    assert "https://" not in text
    for _, attrs in page.elements:
        assert "style" not in attrs
        assert not [name for name in attrs if name.startswith("on")]


def test_it_is_a_page_for_everybody(text):
    page = Tree(text)
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len({*ids})
    links = [a["href"][1:] for a in page.all("a") if a["href"].startswith("#")]
    assert {*links} <= {*ids}
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for attrs in page.all("th"):
        assert attrs.get("scope") in ("col", "row", "rowgroup")
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_numbers_at_the_threshold_have_their_places(made, text):
    page, own = Tree(text), made.document().evaluation
    cells = [a for a in page.all("td") if "data-cell" in a]
    assert [(a["data-cell"], a["data-model"]) for a in cells] == [
        (cell, str(m)) for m in range(2) for cell in ("tp", "fn", "fp", "tn")
    ]
    c = own.models[1].confusion
    assert f'data-cell="fp" data-model="1">{c.fp:g}<' in text
    rates = [a["data-rate"] for a in page.all("td") if "data-rate" in a]
    assert rates[::2] == [
        "sensitivity",
        "specificity",
        "precision",
        "npv",
        "f1",
        "accuracy",
        "alert_rate",
    ]
    e = made.evaluation["sharp"]
    assert re.search(
        rf'data-rate="specificity" data-model="1">{e.specificity.value:.3f} <span class="ci">'
        rf"\[{e.specificity.low:.3f}, {e.specificity.high:.3f}\]",
        text,
    )
    alerts = (c.tp + c.fp) / own.data.rows
    assert re.search(rf'data-rate="alert_rate" data-model="1">{alerts:.3f} ', text)
    assert [a["data-at-prevalence"] for a in page.all("td") if "data-at-prevalence" in a] == [
        "ppv", "ppv", "npv", "npv",
    ]  # fmt: skip


HOSTILE = [
    '</script><img src=x onerror="alert(1)">',
    "a'b\"c&amp;<b>d</b>",
    "👩‍🔬 \u05e9\u05dc\u05d5\u05dd",
    "x" * 10_000,
    "line\nfeed\x00\x1b[31m\u202e",
]


@pytest.mark.parametrize("name", HOSTILE, ids=["markup", "quotes", "emoji", "long", "controls"])
def test_names_of_any_kind_are_text(name):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(80) < 0.4, name, "no")
    p = rng.random(80).round(3)
    site = np.where(rng.random(80) < 0.5, name, "b")
    columns = {name: y, f"{name}1": p, f"{name}2": 1 - p, "site": site}
    e = sw.evaluate(columns, label=name, score=[f"{name}1", f"{name}2"], positive=name, by="site")
    text = e.render("html")
    page = Tree(text)
    assert not page.all("img")
    assert not page.all("b") or name not in (t for at, t in page.texts if at == "b")
    assert len(page.all("script")) == 2
    shown = name.replace("\n", "\\n").replace("\x00", "\\x00").replace("\x1b", "\\x1b")
    shown = shown.replace("\u202e", "\\u202e")
    names = [t for at, t in page.texts if at == "bdi"]
    if len(name) > 400:  # cut wherever it is said, and told once
        assert f"{name[:32]}…{name[-7:]}1" in names
        assert sum(len(t) > 400 for t in names) == 3
        assert any(t.startswith(name[:3900]) and "more characters" in t for t in names)
        assert len(text.encode()) < 250_000
    else:
        assert f"{shown}1" in names
    assert payload(text)["version"] == 1
    for mark in "<>&\u2028":
        assert mark not in json.dumps(payload(text), ensure_ascii=False) or mark not in re.search(
            r'id="scorewise-data">(.*?)</script>', text
        )[1]  # fmt: skip


def test_what_comes_next_is_code_only_where_it_is(home):
    """Commands and calls are set as code, and the words around them are not."""
    y, p = np.arange(60) % 3 == 0, np.linspace(0.2, 0.9, 60)
    file = {"label": "outcome", "score": "risk", "positive": "ill"}
    alert = "scorewise threshold apply rule.json NEW_FILE --score risk -o alerts.csv"
    for result, codes in (
        (sw.threshold(home / "screening.csv", **file, at="recall >= 0.8"), [alert]),
        (sw.threshold(y, p, best="youden"), ["rule.predict(new_scores)", "rule.save('rule.json')"]),
        (sw.evaluate(y, 1 - p), ["sw.inspect(labels, scores)"]),
        (sw.drift({"p": p}, {"p": p**3}, score="p", labels="none", replicates=99), []),
    ):
        lines = re.findall('<li class="sw-next">.*?</li>', result.render("html"))
        found = [c for line in lines for c in re.findall("<code>(.*?)</code>", line)]
        assert [html.unescape(c) for c in found] == codes
        assert len(lines) == 1


def test_joiners_of_emoji_and_words_are_shown_and_controls_are_not():
    whole, letters = (
        "\N{WOMAN}\u200d\N{MICROSCOPE}",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    )
    y, rng = np.arange(40) % 2, np.random.default_rng(0)
    a = sw.agree({whole: y, letters: np.where(rng.random(40) < 0.9, y, 1 - y), "c": y})
    for form in ("html", "text", "md"):
        assert whole in a.render(form)
        assert letters in a.render(form)
        assert "u200" not in a.render(form)
    said = " ".join(
        c.sentence
        for c in sw.smroc({whole: y / 2, "y": y}, label="y", score=whole).document().verdict
    )
    assert whole in said
    lone = (
        "a\u200db",
        f"{whole}\u200d",
        "\N{WOMAN}\u200d\u202e\N{WOMAN}",
        "\N{WOMAN}\u200d\x1b\N{WOMAN}",
    )
    for word in lone:
        assert "\\u200d" in escaped(word)
        assert not {"\u202e", "\x1b"} & set(escaped(word))


def test_bands_are_as_clear_on_a_dark_page(text):
    """Each light fill of the figures has a stronger one there."""
    dark = text.partition("@media (prefers-color-scheme: dark)")[2]
    bands = {*re.findall(r'<path [^>]*fill-opacity="(0[.][12])"', text)}
    assert bands == {"0.1", "0.2"}
    for light in bands:
        stronger = re.search(rf'svg \[fill-opacity="{light}"\]\s*{{\s*fill-opacity: ([\d.]+)', dark)
        assert float(stronger[1]) > 1.3 * float(light)


def test_escapes_within_attributes_and_elements():
    assert (
        escaped("<a href='x' title=\"y\">&")
        == "&lt;a href=&#x27;x&#x27; title=&quot;y&quot;&gt;&amp;"
    )


def test_tables_sort_by_numbers():
    columns = [Column("a", "text"), Column("n", "count"), Column("p", "p"), Column("x")]
    rows = [Heading("all"), ("one", 1234, 0.0004, "0.026*"), ("two", None, None, "—")]
    text = render(Page("toy", [Section("T", table=Table(columns, rows))]), "html")
    assert '<td data-value="1234">1,234</td>' in text
    assert '<td data-value="0.0004">0.0004</td>' in text
    assert '<td data-value="0.026">0.026*</td>' in text
    assert '<td class="n">—</td><td class="n">—</td>' in text
    assert '<th scope="rowgroup" colspan="4">all</th>' in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_one(name, home, monkeypatch, capsys):
    monkeypatch.chdir(home)
    assert run([*COMMANDS[name], "--output", f"{name}.html"]) == 0
    assert f"wrote {name}.html" in capsys.readouterr().err
    text = Path(f"{name}.html").read_text("utf-8")
    page = Tree(text)
    doc = carried(text)
    ids = [a["id"] for a in page.all("section")]
    assert ids == [a for a in SECTIONS if a in ids]
    assert ids[0] == "verdict"
    assert ids[-1] == "methods"
    for claim in doc["verdict"]:
        assert " ".join(claim["sentence"].removeprefix("Next: ").split()) in page.text


@pytest.mark.parametrize(
    "line",
    [
        ["threshold", "screening.csv", "--score", "risk", "--at", "recall >= 0.8"],
        ["calibrate", "fit", "screening.csv", "--score", "sharp"],
    ],
    ids=["threshold", "calibrate"],
)
def test_an_output_that_ends_in_html_is_the_report(line, home, monkeypatch, capsys):
    monkeypatch.chdir(home)
    line = [*line, "--label", "outcome", "--positive", "ill"]
    assert run([*line, "-o", "rule.html"]) == 0
    assert Path("rule.html").read_text("utf-8").startswith("<!doctype html>")
    assert "wrote rule.html" in capsys.readouterr().err
    assert run([*line, "-o", "rule.json", "--output", "both.html"]) == 0
    assert json.loads(Path("rule.json").read_text("utf-8"))
    assert Path("both.html").read_text("utf-8").startswith("<!doctype html>")


def test_groups_of_answers_and_raters_stand_under_groups(home):
    rng = np.random.default_rng(0)
    right, sure, g = rng.random(200) < 0.7, rng.random(200), np.repeat(["a", "b"], 100)
    ratings = {name: rng.choice(["x", "y"], 200) for name in ("r", "s")}
    judged = {**ratings, "t": ratings["r"]}
    for result in (
        sw.answers(confidence=sure, quality=right.astype(float), by=g),
        sw.agree(ratings, by=g),
        sw.judge(humans={"r": judged["r"], "s": judged["s"]}, judges={"t": judged["t"]}, by=g),
    ):
        text = render(result.document(), "html")
        groups = text.partition('id="slices"')[2].partition("</section>")[0]
        assert "<svg" in groups
        assert "<table" in groups.rpartition("</figure>")[2]


def test_it_does_not_grow_with_the_groups_without_bound():
    rng = np.random.default_rng(5)
    sizes = []
    for many in (300, 1_500):
        x, g = rng.normal(size=30_000), rng.integers(0, many, 30_000)
        y = rng.random(30_000) < 1 / (1 + np.exp(-x))
        e = sw.evaluate({"y": y, "p": 1 / (1 + np.exp(-x)), "g": g}, label="y", score="p", by="g")
        text = render(e.document(), "html")
        sizes.append(len(text))
        assert "and lists of more than 50 groups" in text
        (record,) = carried(text)["groups"]
        assert record["groups"] == []
        assert carried(text)["models"][0]["measures"]
    assert max(sizes) < 250_000
    assert abs(sizes[1] - sizes[0]) < 20_000


def test_a_step_in_python_is_code_and_what_it_does_is_not():
    rng = np.random.default_rng(6)
    x = rng.normal(size=2_000)
    y = rng.random(2_000) < 1 / (1 + np.exp(-x))
    text = render(sw.evaluate(y, 1 / (1 + np.exp(-4 * x))).document(), "html")
    assert "<code>sw.Recalibrator().fit(scores, labels)</code> maps" in text


def test_cuts_by_group_have_a_report(home):
    found = sw.threshold(
        home / "screening.csv", label="outcome", positive="ill", score="risk", by="site",
        at="recall >= 0.8",
    )  # fmt: skip
    page = Tree(render(found.document(), "html"))
    sites = {g.name for g in found.document().groups}
    assert sites
    assert sites <= {text for tag, text in page.texts if tag in ("th", "td", "bdi")}


def test_findings_are_said_in_plain_words_once(made, text):
    """A newcomer reads what is wrong with an overconfident model, and what to do."""
    found = [(c.about, c.finding) for c in made.document().verdict]
    assert ("probabilities", "overconfident") in found
    plainly = re.findall(r'<span class="sw-plain">(.*?)</span>', text)
    assert plainly[0].partition(":")[0] == "It is too sure of itself"
    assert len(plainly) == len({*plainly})
    assert "<code>scorewise calibrate fit " in text


def test_words_of_figures_side_by_side_have_one_size_and_can_be_read(text):
    """Also where style sheets are forbidden; a figure that stands alone is drawn larger."""
    rows = text.split('<div class="sw-figures">')[1:]
    sizes = []
    for row in rows:
        drawn = re.findall(r'<svg [^>]*viewBox="0 0 ([\d.]+) [^>]* width="(\d+)"', row)
        words = [13 * float(shown) / float(wide) for wide, shown in drawn]
        assert max(words) - min(words) < 0.1
        alone = row.count("<figure ") < 3
        assert min(words) > (12 if alone else 10.5)
        sizes.append(round(words[0]))
    assert {*sizes} == {11, 13}


def test_a_remark_on_smauc_stands_where_smauc_is_shown(text):
    before, _, ranking = text.partition('<section id="ranking"')
    assert "misleads, because the mean score" not in before
    assert "misleads, because the mean score" in ranking.partition("</section>")[0]


def test_several_classes_have_their_figures_in_one_row(home):
    e = sw.report(home / "flowers.csv", label="kind", classes="p_*")
    decisions = e.render("html").partition('<section id="threshold"')[2].partition("</section>")[0]
    assert decisions.count('<div class="sw-figures">') == 1
    assert 'data-kind="confusion"' in decisions


def test_several_classes(home):
    text = sw.report(home / "flowers.csv", label="kind", classes="p_*").render("html")
    page = Tree(text)
    assert "cedar" in page.text
    assert payload(text)["models"] == []


def test_results_write_themselves(home, tmp_path, made):
    made.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8") == made.render("html")
    with pytest.raises(sw.BadInput, match=r"cannot write .*x\.txt: a report ends in \.html"):
        made.report(tmp_path / "x.txt")
    with pytest.raises(sw.BadInput, match=r"there is no folder .*; make it first"):
        made.report(tmp_path / "none" / "x.html")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


COLUMNS = ["screening.csv", "--label", "outcome", "--score", "risk", "--positive", "ill"]


def test_the_command_has_a_name_for_its_file(home, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("screening.csv").write_text(screening_csv(200))
    assert run(["report", *COLUMNS]) == 0
    said = capsys.readouterr()
    assert "wrote report.html" in said.err
    assert "ranks" in said.out or "AUROC" in said.out
    assert Path("report.html").read_text("utf-8").startswith("<!doctype html>")
    assert run(["report", *COLUMNS, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["report", *COLUMNS, "-o", "none/x.html"], "there is no folder none; make it first"),
        (["report", *COLUMNS, "-o", "x.pdf"], "--output x.pdf has to end in .html, .htm"),
        (["report", *COLUMNS, "-o", "screening.csv"], "would overwrite an input"),
        (["report", *COLUMNS, "--reference", "gone.csv"], "gone.csv"),
        (["report", "flowers.csv", "--label", "kind", "--classes", "p_*", "--id", "kind"],
         "--id names rows of two classes"),
        (["report", "flowers.csv", "--label", "kind", "--classes", "p_*", "--reference", "flowers.csv"],
         "--reference belongs to scores of two classes"),
        (["evaluate", *COLUMNS, "-o", "x.html", "--json", "x.html"], "both go to the same file"),
        (["threshold", *COLUMNS, "-o", "rule.json", "--output", "rule.json"], "the same file"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_writes_nothing(
    args, sentence, tmp_path, monkeypatch, capsys
):
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    assert run(args) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence in said
    assert said.startswith("scorewise: ")
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_it_does_not_grow_with_the_rows():
    rng = np.random.default_rng(3)
    sizes = []
    for n in (2_000, 20_000):
        x = rng.normal(-1.5, 1.5, n)
        p = 1 / (1 + np.exp(-x))
        columns = {"y": (rng.random(n) < p).astype(int), "p": p, "q": p**0.5}
        columns["site"] = np.array([f"site{i}" for i in range(8)])[rng.integers(0, 8, n)]
        e = sw.evaluate(columns, label="y", score=["p", "q"], by="site")
        sizes.append(len(e.render("html").encode()))
        sizes.append(
            len(sw.report(columns, label="y", score=["p", "q"], by="site").render("html").encode())
        )
    assert max(sizes) < 250_000
    assert abs(sizes[2] - sizes[0]) < 20_000


def test_the_demonstration_writes_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "here"]) == 0
    assert "report.html" in capsys.readouterr().out
    assert Tree(Path("here/report.html").read_text("utf-8")).all("section")


def test_a_slope_that_no_number_is_does_not_end_the_report():
    """A threshold tells the classes apart, before and after recalibration."""
    rows = [{"y": y, "p": p} for y, p in ((1, 0.9), (0, 0.2), (1, 0.7), (0, 0.4))] * 6
    frame = {k: [r[k] for r in rows] for k in ("y", "p")}
    page = sw.report(frame, label="y", score="p").render("html")
    assert "a threshold tells the classes apart" in page


def test_ids_of_rows_belong_to_two_classes():
    p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    with pytest.raises(sw.BadInput, match=r"^ids= names rows of two classes"):
        sw.report(["a", "b", "c"], p, ids="id")

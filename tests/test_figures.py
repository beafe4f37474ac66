"""Figures: what they draw is what the documents say, whatever the data and their names."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import scorewise as sw
from scorewise import BadInput
from scorewise.cli import run
from scorewise.cli.demo import screening_csv
from scorewise.evaluation.curves import CurvesRecord
from scorewise.figures import DRAWN, figures_of, saved_figures
from scorewise.figures.scale import Scale, step, tick_texts, ticks
from scorewise.figures.svg import fitted, path, width
from scorewise.show.document import DOCUMENTS, document_type, from_dict, to_dict
from scorewise.tallies import Tally

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "\"quotes' & <tags>",
    "🙂 emoji 👩‍👩‍👧",
    "שלום עולם مرحبا",
    "\u202eoverride",
    "nul\x00and\x1bcontrol\ud800",
    "x" * 10_000,
    "a\nb\tc",
    "",
]


def drawings(document):
    """All drawings of a document, parsed; those of two kinds of axes apart."""
    return {
        name: ElementTree.fromstring(f.svg().encode())
        for name, f in saved_figures(document).items()
    }


def scales(svg):
    found = []
    for axis in ("data-x", "data-y"):
        kind, *numbers = svg.attrib[axis].split(",")
        a, b, start, end = map(float, numbers)
        found.append(Scale(kind, (a, b), (start, end)))
    return found


def points(d):
    """The corners of a path of M, l, h and v."""
    x = y = 0.0
    found = []
    for command, rest in re.findall(r"([MlhvVHz])([^MlhvVHz]*)", d):
        n = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?", rest)]
        if command == "M":
            x, y = n
        elif command == "l":
            x, y = x + n[0], y + n[1]
        elif command == "h":
            x += n[0]
        elif command == "v":
            y += n[0]
        found.append((x, y))
    return np.array(found)


def off(line, point):
    """How far a point is from a line of corners."""
    a, b = line[:-1], line[1:]
    along = b - a
    share = np.clip(((point - a) * along).sum(1) / np.maximum((along**2).sum(1), 1e-12), 0, 1)
    return float(np.sqrt(((point - a - share[:, None] * along) ** 2).sum(1)).min())


def curve_of(svg, model):
    """The line of a model: the last path without a filling in its groups."""
    groups = [g for g in svg.iter(f"{SVG}g") if g.get("data-model") == str(model)]
    paths = [p for g in groups for p in g.iter(f"{SVG}path") if p.get("fill") == "none"]
    return max((points(p.get("d")) for p in paths), key=len)


@pytest.fixture(scope="module")
def screening(tmp_path_factory):
    file = tmp_path_factory.mktemp("figures") / "screening.csv"
    file.write_text(screening_csv(400))
    return str(file)


@pytest.fixture(scope="module")
def document(screening):
    columns = {"label": "outcome", "score": ["risk", "sharp"], "positive": "ill"}
    return sw.evaluate(screening, **columns, by="site", threshold=0.3).document()


# Scales


def test_scales_and_ticks_are_those_that_the_page_shares():
    vectors = json.loads((ROOT / "web" / "vectors" / "scales.json").read_text("utf-8"))
    for case in vectors["position"]:
        kind, *numbers = case["scale"].split(",")
        a, b, start, end = map(float, numbers)
        assert Scale(kind, (a, b), (start, end)).place(case["x"]) == pytest.approx(
            case["at"], abs=1e-6
        )
    for case in vectors["step"]:
        assert step(case["wish"]) == case["step"]
    for case in vectors["ticks"]:
        found = ticks(case["low"], case["high"], case["n"], case["kind"])
        assert found == case["ticks"]
        assert tick_texts(found, case["kind"]) == case["texts"]


def test_ticks_are_round_and_within_the_axis():
    rng = np.random.default_rng(5)
    for low, size in zip(rng.normal(0, 50, 200), 10 ** rng.uniform(-5, 5, 200), strict=True):
        found = ticks(low, low + size)
        assert 1 <= len(found) <= 7
        assert all(low - 1e-9 * size <= t <= low + size * (1 + 1e-9) for t in found)


def test_paths_keep_to_a_fifth_of_a_px_of_what_is_drawn():
    rng = np.random.default_rng(6)
    many = np.column_stack([np.linspace(0, 300, 900), 50 * rng.random(900).cumsum() / 450])
    line = points(path(map(tuple, many)))
    assert len(line) < 500
    assert max(off(line, p) for p in many) < 0.3


def test_words_are_cut_to_their_room():
    for word in HOSTILE:
        assert width(fitted(word, 100)) <= 101


# What is drawn


def test_curves_go_through_the_points_of_the_record(document):
    drawn = drawings(document)
    for i, c in enumerate(document.curves):
        tp, fp = np.array(c.tp), np.array(c.fp)
        with np.errstate(invalid="ignore"):
            precision = np.where(tp + fp > 0, tp / (tp + fp), 1.0)
        places = {
            "roc": (fp / fp[-1], tp / tp[-1]),
            "precision_recall": (tp / tp[-1], precision),
            "smroc": (np.array(c.smroc_x), np.array(c.smroc_y)),
        }
        for kind, (x, y) in places.items():
            sx, sy = scales(drawn[kind])
            line = curve_of(drawn[kind], i)
            for k in range(0, len(x), 9):
                assert off(line, (sx.place(x[k]), sy.place(y[k]))) < 0.4, (kind, i, k)


def test_marks_and_lines_stand_at_the_threshold(document):
    drawn = drawings(document)
    for i, m in enumerate(document.models):
        c = m.confusion
        tpr, fpr, ppv = c.tp / (c.tp + c.fn), c.fp / (c.fp + c.tn), c.tp / (c.tp + c.fp)
        for kind, (x, y) in {"roc": (fpr, tpr), "precision_recall": (tpr, ppv)}.items():
            sx, sy = scales(drawn[kind])
            (mark,) = [e for e in drawn[kind].iter(f"{SVG}circle") if e.get("data-mark") == str(i)]
            assert float(mark.get("cx")) == pytest.approx(sx.place(x), abs=0.06)
            assert float(mark.get("cy")) == pytest.approx(sy.place(y), abs=0.06)
        assert [e for e in drawn["smroc"].iter(f"{SVG}circle") if e.get("data-mark") == str(i)]
    for kind in (
        "density",
        "reliability",
        "reliability_logit",
        "decision_curve",
        "threshold_curves",
    ):
        sx, _ = scales(drawn[kind])
        found = [e for e in drawn[kind].iter(f"{SVG}line") if e.get("data-threshold") is not None]
        assert found
        assert all(float(e.get("x1")) == pytest.approx(sx.place(0.3), abs=0.06) for e in found), (
            kind
        )


def test_reliability_and_net_benefit_are_drawn_where_the_record_has_them(document):
    drawn = drawings(document)
    for i, c in enumerate(document.curves):
        for kind in ("reliability", "reliability_logit"):
            sx, sy = scales(drawn[kind])
            line = curve_of(drawn[kind], i)
            for k in range(0, len(c.reliability.x), 5):
                at = sx.inside(c.reliability.x[k]), sy.inside(c.reliability.y[k])
                assert off(line, at) < 0.4, (kind, k)
        sx, sy = scales(drawn["decision_curve"])
        line = curve_of(drawn["decision_curve"], i)
        for t, v in zip(c.benefit.threshold[5:40:6], c.benefit.value[5:40:6], strict=True):
            assert off(line, (sx.place(t), sy.place(v))) < 0.4


def test_both_axes_of_reliability_are_in_one_figure_of_which_one_is_shown(document):
    (figure,) = figures_of(document)["probabilities"]
    both = re.findall(r"<svg\b[^>]*>", figure.svg())
    assert ['data-axis="linear"' in tag for tag in both] == [True, False]
    assert ['display="none"' in tag for tag in both] == [False, True]
    alone = saved_figures(document)["reliability_logit"].svg()
    assert 'display="none"' not in alone[: alone.index(">")]
    ElementTree.fromstring(alone)


def test_intervals_of_groups_are_drawn_where_the_record_has_them(document):
    svg = drawings(document)["forest_auroc"]
    kind, *numbers = svg.attrib["data-x"].split(",")
    a, b, start, end = map(float, numbers)
    x = Scale(kind, (a, b), (start, end))
    groups = {g.get("data-group"): g for g in svg.iter(f"{SVG}g") if g.get("data-group")}
    assert set(groups) == {g.name for g in document.groups[0].groups}
    for i, record in enumerate(document.groups):
        for g in record.groups:
            m = next(m for m in g.measures if m.name == "auroc")
            (own,) = [e for e in groups[g.name].iter(f"{SVG}g") if e.get("data-model") == str(i)]
            circle = own.find(f"{SVG}circle")
            assert float(circle.get("cx")) == pytest.approx(x.place(m.value), abs=0.06)
            ends = points(own.find(f"{SVG}path").get("d"))
            assert ends[[0, -1], 0] == pytest.approx([x.inside(m.low), x.inside(m.high)], abs=0.11)


def test_confusion_holds_the_counts(document):
    svg = drawings(document)["confusion"]
    for i, m in enumerate(document.models):
        for cell in ("tp", "fp", "fn", "tn"):
            (found,) = [
                e for e in svg.iter(f"{SVG}text")
                if e.get("data-cell") == cell and e.get("data-model") == str(i)
            ]  # fmt: skip
            assert found.text == f"{getattr(m.confusion, cell):,}"


def test_every_figure_says_what_it_shows_and_has_its_data(document):
    made = figures_of(document)
    assert [*made] == ["scores", "ranking", "probabilities", "threshold", "slices", "comparison"]
    total = 0
    for figure in (f for figures in made.values() for f in figures):
        total += len(figure.svg().encode())
        assert figure.title
        assert figure.description.endswith(".")
        assert "nan" not in figure.description
        assert 1 <= len(figure.table.rows) <= 30
        assert figure.table.texts()
        assert "NaN" not in figure.svg()
        assert not re.search(r"\b(style|id)=", figure.svg())
    assert total < 110_000
    roc = next(f for f in made["ranking"] if f.kind == "roc")
    m = next(m for m in document.models[0].measures if m.name == "auroc")
    assert f"{m.value:.3f} [{m.low:.3f}, {m.high:.3f}]" in roc.description


def test_drawings_stay_within_their_frame(document):
    for name, svg in drawings(document).items():
        wide, high = float(svg.get("width")), float(svg.get("height"))
        for e in svg.iter():
            for key, most in (("x", wide), ("y", high), ("cx", wide), ("cy", high)):
                if e.get(key):
                    assert -1 <= float(e.get(key)) <= most + 1, (name, e.tag, e.attrib)
            if e.tag == f"{SVG}path":
                at = points(e.get("d"))
                assert at.min() >= -1, name
                assert (at[:, 0] <= wide + 1).all(), name
                assert (at[:, 1] <= high + 1).all(), name


# Any document


WRITTEN = [c for c in DOCUMENTS if (GOLDEN / f"{c}.json").exists()]


@pytest.mark.parametrize("name", ["evaluate-classes", "evaluate-weighted", *WRITTEN])
def test_every_document_that_has_figures_is_drawn(name):
    stored = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    document = from_dict(document_type(stored["command"]), stored)
    found = drawings(document)
    assert bool(found) == (stored["command"] in DRAWN)


def test_the_kappa_of_each_judge_is_drawn_beside_that_of_humans():
    stored = json.loads((GOLDEN / "judge.json").read_text("utf-8"))
    svg = drawings(from_dict(document_type("judge"), stored))["judges"]
    a, b, start, end = map(float, svg.attrib["data-x"].split(",")[1:])
    x = Scale("linear", (a, b), (start, end))
    found = [float(e.get("cx")) for e in svg.iter(f"{SVG}circle")][2:]  # after the legend
    known = [
        v
        for j in stored["judges"]
        for v in (j["ceiling"]["judge"]["value"], j["ceiling"]["human"]["value"])
    ]
    assert found == pytest.approx([x.place(v) for v in known], abs=0.06)


def test_changes_are_drawn_in_units_of_chance():
    stored = json.loads((GOLDEN / "drift.json").read_text("utf-8"))
    svg = drawings(from_dict(document_type("drift"), stored))["drift"]
    a, b, start, end = map(float, svg.attrib["data-x"].split(",")[1:])
    x = Scale("linear", (a, b), (start, end))
    found = [float(e.get("cx")) for e in svg.iter(f"{SVG}circle")][2:]
    known = [abs(c["value"]) / c["by_chance"] for c in stored["windows"][-1]["changes"]]
    assert found == pytest.approx([x.place(v) for v in known], abs=0.06)


def test_windows_that_drift_are_named():
    rng, when = np.random.default_rng(0), np.arange(1200)
    p = rng.random(1200)
    y = rng.random(1200) < np.where(when < 800, p, 0.5)
    rows = {"when": when, "y": y.astype(int), "p": p}
    found = sw.drift(rows, label="y", score="p", time="when", windows=3).document()
    steady, drifted = found.windows
    assert (steady.drift, drifted.drift) == ("none seen", "concept")
    (windows,) = (f for f in figures_of(found)["drift"] if f.kind == "drift_windows")
    assert windows.description.endswith(f"Drift is seen in '{drifted.name}'.")


# Names of any kind


def renamed(document, **names):
    """The document with other words for models, groups and classes."""
    text = json.dumps(to_dict(document))
    for old, new in names.items():
        text = text.replace(f'"{old}"', json.dumps(to_dict(new)))
    return from_dict(document_type(document.command), json.loads(text))


@pytest.mark.parametrize("word", HOSTILE, ids=range(len(HOSTILE)))
def test_names_and_labels_are_shown_as_text(document, word):
    other = renamed(document, sharp=word, north=f"{word}n", ill=f"{word}i", site=f"{word}s")
    saved = saved_figures(other)
    for kind, figure in saved.items():
        svg = figure.svg()
        assert "<img" not in svg
        assert "<script" not in svg
        assert len(svg) < 30_000, kind
    shown = "".join(t for f in saved.values() for t in ElementTree.fromstring(f.svg()).itertext())
    if len(word) < 40 and word.isprintable():
        assert word in shown


def test_a_long_name_is_cut_and_told_whole_where_the_pointer_rests(document):
    name = "model-" + "abcdefghij" * 20
    svg = ElementTree.fromstring(figures_of(renamed(document, sharp=name))["ranking"][0].svg())
    assert name in [t.text for t in svg.iter(f"{SVG}title")]
    assert [t for t in svg.iter(f"{SVG}text") if "…" in "".join(t.itertext())]


# Data that leave something undefined

ODD = {
    "one class": ([1, 1, 1], [0.2, 0.5, 0.9]),
    "one row": ([1], [0.2]),
    "two rows": ([1, 0], [0.7, 0.2]),
    "all scores equal": ([1, 0, 1, 0], [0.5] * 4),
    "no probabilities": ([1, 0, 1, 0, 1], [-3.0, 8.0, 2.0, 1.0, 1e6]),
    "certain": ([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0]),
    "wrong way": ([1, 0, 1, 0], [0.1, 0.9, 0.2, 0.8]),
    "tiny probabilities": ([1, 0, 0, 0], [1e-9, 2e-9, 1e-12, 3e-9]),
}


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_what_is_undefined_is_left_out(case):
    e = sw.evaluate(*case, threshold=50.0 if max(case[1]) > 1 else 0.5)
    document = replace(e.brief(), curves=[CurvesRecord.of("score", e)])
    for svg in drawings(document).values():
        text = ElementTree.tostring(svg, "unicode")
        assert "nan" not in text.lower().replace("finance", "")
        assert "inf" not in re.sub(r"<desc>.*?</desc>", "", text)


@pytest.mark.parametrize("threshold", [50.0, -1.0])
def test_a_threshold_beyond_all_scores_is_off_the_axes(document, threshold):
    text = json.loads(json.dumps(to_dict(document)))
    text["settings"]["threshold"] = threshold
    drawn = drawings(from_dict(document_type("evaluate"), text))
    found = [e for e in drawn["density"].iter(f"{SVG}line") if e.get("data-threshold") is not None]
    assert {e.get("display") for e in found} == {"none"}
    sx, _ = scales(drawn["roc"])
    (mark,) = [e for e in drawn["roc"].iter(f"{SVG}circle") if e.get("data-mark") == "0"]
    assert float(mark.get("cx")) == sx.place(0.0 if threshold > 1 else 1.0)


def test_no_rows_have_no_figures():
    e = sw.evaluate(Tally.empty())
    assert {f.kind for figures in figures_of(e.document()).values() for f in figures} <= {
        "confusion"
    }


def test_many_groups_and_classes_stay_readable():
    rng = np.random.default_rng(9)
    y = rng.random(900) < 0.4
    p = np.clip(rng.normal(0.35 + 0.2 * y, 0.2, 900), 0.01, 0.99)
    e = sw.evaluate({"y": y, "p": p, "g": rng.integers(0, 40, 900)}, label="y", score="p", by="g")
    figure = next(f for f in figures_of(e.document())["slices"] if f.kind == "forest_auroc")
    assert len(re.findall("<g data-group=", figure.svg())) == 30
    p = rng.dirichlet(np.ones(30), 300)
    e = sw.evaluate(p.argmax(1), p)
    for name, svg in saved_figures(e.document()).items():
        assert len(svg.svg()) < 25_000, name


@pytest.mark.parametrize("order", [("stated", "token"), ("token", "stated")])
def test_a_group_without_rows_of_a_model_has_the_marks_of_the_others(order):
    rng = np.random.default_rng(3)
    stated, llm = rng.random(400), np.repeat(["one", "two"], 200)
    token = np.where(llm == "two", stated**2, np.nan)
    right = (rng.random(400) < stated).astype(float)
    given = {name: {"stated": stated, "token": token}[name] for name in order}
    a = sw.answers(confidence=given, quality=right, by={"llm": llm}, missing="drop")
    figure = next(f for f in figures_of(a.document())["slices"] if f.kind == "forest_auroc")
    assert "2 groups" in figure.description
    places = {
        name: re.findall(r"<circle", part)
        for name, part in re.findall(
            r'<g data-group="(\w+)"(.*?)(?=<g data-group|$)', figure.svg(), re.DOTALL
        )
    }
    assert {name: len(marks) for name, marks in places.items()} == {"one": 1, "two": 2}


def test_of_many_classes_the_curves_are_those_of_the_lowest_auroc():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 12, 600)
    p = rng.dirichlet(np.ones(12), 600)
    p[np.arange(600), y] += np.linspace(0.6, 0.05, 12)[y]
    doc = sw.evaluate(y, p / p.sum(1, keepdims=True)).document()
    aurocs = {c.name: next(m.value for m in c.measures if m.name == "auroc") for c in doc.classes}
    drawn = [c.model for c in doc.curves]
    assert set(drawn) == set(sorted(aurocs, key=aurocs.get)[:10]) != set([*aurocs][:10])
    for kind in ("roc", "precision_recall"):
        figure = next(f for f in figures_of(doc)["ranking"] if f.kind == kind)
        assert "the 10 of lowest AUROC of 12 classes" in figure.title
        for name in drawn if kind == "roc" else ():
            assert f">{name}</text>" in figure.svg() or f">{name}<" in figure.svg()
            assert f"AUROC {aurocs[name]:.3f}" in figure.svg()


def test_differences_are_told_apart_as_the_verdict_tells_them():
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.5
    noise = [rng.normal(0, s, 150) for s in (1.5, 2.2, 2.6, 3.0)]
    scores = {f"m{i}": 1 / (1 + np.exp(-(y + e - 0.5))) for i, e in enumerate(noise)}
    doc = sw.evaluate({"y": y, **scores}, label="y", score=[*scores]).document()
    (d,) = (d for d in doc.differences if (d.measure, d.first, d.second) == ("auroc", "m1", "m2"))
    assert d.low > 0  # on its own
    assert d.p_adjusted > 0.05  # as one of six pairs
    figure = next(f for f in figures_of(doc)["comparison"] if f.kind == "differences")
    assert "in AUROC" not in figure.description
    assert "'m1' is better than 'm2' in Log loss" in figure.description
    assert "Holm" in figure.description


# Files


def test_figures_are_written_into_a_folder(screening, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "new" / "figures"
    command = ["evaluate", screening, "--label", "outcome", "--score", "risk", "--positive", "ill"]
    assert run([*command, "--figures", str(folder)]) == 0
    assert "wrote 9 figures" in capsys.readouterr().err
    names = {p.name for p in folder.iterdir()}
    assert {
        "roc.svg",
        "roc.png",
        "reliability.svg",
        "reliability_logit.svg",
        "confusion.svg",
    } <= names
    for file in folder.glob("*.svg"):
        assert ElementTree.parse(file).getroot().tag == f"{SVG}svg"
    for file in folder.glob("*.png"):
        assert file.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr("scorewise.figures.has_png", lambda: False)
    assert run([*command, "--figures", str(tmp_path / "plain")]) == 0
    assert {p.suffix for p in (tmp_path / "plain").iterdir()} == {".svg"}


def test_the_figures_of_a_report_are_those_of_its_documents(screening, tmp_path, capsys):
    scores = ["--score", "risk", "--score", "sharp"]
    columns = ["--label", "outcome", "--positive", "ill", "--by", "site", *scores]
    folder, page = tmp_path / "figures", tmp_path / "report.html"
    command = ["report", screening, *columns, "--reference", screening, "-o", str(page)]
    assert run([*command, "--figures", str(folder)]) == 0
    assert "figures into" in capsys.readouterr().err
    names = {p.stem for p in folder.glob("*.svg")}
    shown = set(re.findall(r'<svg\b[^>]* data-figure="(\w+)"', page.read_text("utf-8")))
    assert shown <= names
    assert {"roc", "differences", "suspects", "recalibration"} <= names
    assert any(name.startswith("drift") for name in names)


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(screening, tmp_path, capsys):
    command = ["evaluate", screening, "--label", "outcome", "--score", "risk", "--positive", "ill"]
    file = tmp_path / "file"
    file.write_text("mine")
    for bad in (str(file), str(file / "x"), "", "a\x00b", str(tmp_path / ("x" * 300))):
        assert run([*command, "--figures", bad, "--json", str(tmp_path / "out.json")]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "folder" in err
    assert file.read_text() == "mine"
    assert not (tmp_path / "out.json").exists()


def test_results_without_figures_say_so(tmp_path, capsys):
    with pytest.raises(BadInput, match="no figures"):
        sw.plan(half_width=0.02, value=0.85, prevalence=0.1).figures()
    file = tmp_path / "one.csv"
    file.write_text("y,p\n1,0.5\n0,0.5\n")
    folder = tmp_path / "figures"
    code = run(["inspect", str(file), "--label", "y", "--score", "p", "--figures", str(folder)])
    if code:
        assert code == 2
        assert "nothing that could be drawn" in capsys.readouterr().err
        assert not folder.exists()


def test_a_suspicious_row_of_huge_log_odds_is_drawn():
    log_odds = np.append(np.random.default_rng(0).normal(0, 2, 60), -900.0)
    found = sw.inspect(np.append(log_odds[:60] > 0, True), log_odds, kind="logit")
    assert "row 60" in found.figures()["suspects"].svg()


def test_a_figure_shows_itself_in_a_notebook_and_is_saved(document, tmp_path):
    roc = saved_figures(document)["roc"]
    assert roc._repr_svg_() == roc.svg()
    roc.save(tmp_path / "roc.svg")
    assert ElementTree.parse(tmp_path / "roc.svg").getroot().get("data-figure") == "roc"
    roc.save(tmp_path / "roc.png")
    assert (tmp_path / "roc.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadInput, match=r"has to end in \.svg or \.png"):
        roc.save(tmp_path / "roc.gif")

"""The documentation tells the truth: examples print what it says, links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import scorewise as sw
import scorewise.measures
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, Measure
from view_documents import hostile

assert scorewise.measures
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import _examples  # noqa: E402
import _pictures  # noqa: E402
import make  # noqa: E402

PAGES = make.pages()
TEXTS = [*PAGES, ROOT / "CHANGELOG.md"]
PICTURES = sorted(path.name for path in (ROOT / "docs" / "img").glob("*.svg"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_examples_print_what_the_page_says(path: Path) -> None:
    page = path.read_text()
    assert _examples.refreshed(page) == page


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_page_has_an_example_that_runs(path: Path) -> None:
    assert any(">>> " in fence["body"] for fence in _examples.FENCE.finditer(path.read_text()))


def test_a_wrong_output_is_noticed() -> None:
    page = "```pycon\n>>> 1 + 1\n3\n\n>>> print('a\\n\\nb')\n```\n"
    assert _examples.refreshed(page) == page.replace("3", "2").replace("')\n", "')\na\n\nb\n")


def test_an_error_that_is_not_announced_is_not_written_into_the_page() -> None:
    with pytest.raises(ZeroDivisionError):
        _examples.refreshed("```pycon\n>>> 1 / 0\n```\n")


def test_commands_keep_their_exit_code() -> None:
    page = "```console\n$ scorewise evaluate absent.csv\n$ echo $?\n```\n"
    assert "scorewise: there is no file absent.csv\n$ echo $?\n2\n" in _examples.refreshed(page)


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(_without_code(path.read_text())):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.is_file(), f"{name(path)} links to {target}, which does not exist"
        if anchor:
            assert anchor in _anchors(place), f"{name(path)} links to {target}: no such heading"


TOLD = [*PAGES, *sorted((ROOT / "docs" / "tables").glob("*.md"))]
MAKE = re.compile(r"(?:`|\$ |^)make ([a-z]+)(?: NAME=(\w+))?", re.MULTILINE)


@pytest.mark.parametrize("path", TOLD, ids=name)
def test_what_make_is_told_to_do_it_can(path: Path) -> None:
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for rule, study in MAKE.findall(path.read_text()):
        assert rule in rules, f"{name(path)} says make {rule}, for which there is no rule"
        found = [ROOT / "studies" / study, ROOT / "studies" / f"{study}.py"]
        assert any(x.exists() for x in found), f"{name(path)} tells of a study {study}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = set(re.findall(r"[\w-]+\.md", navigation))
    assert listed == {path.name for path in (ROOT / "docs").glob("*.md")}


def test_the_table_of_measures_is_that_of_the_register() -> None:
    page = (ROOT / "docs" / "measures.md").read_text()
    assert make.with_table(page) == page


# where the interval is not that of the curve, which draws nothing
DRAWN = {"smauc": {"midpoint": "median"}, "e50": {"level": 0.2}}


def _draws(m: Measure, statistic: object, **options: object) -> bool:
    """Whether interval or p-value change with the seed."""
    one, other = (m(statistic, seed=seed, **options) for seed in (0, 1))
    return repr([one.low, one.high, one.p]) != repr([other.low, other.high, other.p])


def test_the_page_of_intervals_says_which_measures_draw_at_random() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.random(80), rng.dirichlet([1, 1, 1], 40)
    tally = sw.Tally.of(rng.random(80) < p**1.3, p)
    several = sw.ClassTally.of([rng.choice(3, p=row) for row in q], q, classes=range(3))
    ratings = sw.Ratings.of({who: rng.choice(["a", "b", "c"], 30) for who in ("ann", "bob")})
    drawn = [
        {n for n, m in MEASURES.items() if "seed" in m.options and _draws(m, tally, **DRAWN.get(n, {}))},
        {n for n, m in CLASS_MEASURES.items() if "seed" in m.options and _draws(m, several)},
        {n for n, m in RATER_MEASURES.items()
         if "seed" in m.options and _draws(m, ratings, interval="bootstrap", replicates=99)},
    ]  # fmt: skip
    page = (ROOT / "docs" / "intervals.md").read_text()
    said = page.partition("## Chance, and the seed")[2].partition("\n## ")[0].split("\n- ")[1:]
    assert [set(re.findall(r"`(\w+)`", part)) for part in said] == drawn


def test_every_picture_is_made() -> None:
    assert set(PICTURES) == set(make.pictures())


@pytest.mark.parametrize("file", PICTURES)
def test_pictures_are_up_to_date_and_say_what_they_show(file: str) -> None:
    kept, now = (ROOT / "docs" / "img" / file).read_text(), make.pictures()[file]
    # lengths of strokes may differ in the last digit from one version of a library to the next
    assert _words(kept) == _words(now)
    root = ElementTree.fromstring(kept)
    assert root.get("role") == "img"
    assert root.get("aria-label") or root.find("{*}desc") is not None
    assert "http" not in kept.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_picture_of_a_terminal_is_an_image_that_asks_for_nothing() -> None:
    picture = _pictures.terminal(hostile())
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    addresses = picture.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in addresses
    assert "AUROC" in picture
    assert len(picture) < 60_000


def test_screenshots_are_small_and_shown_in_words_too() -> None:
    kept = [path for path in (ROOT / "docs" / "img").iterdir() if path.name not in PICTURES]
    page = (ROOT / "docs" / "report.md").read_text()
    shown = dict(re.findall(r"!\[[^\]]{20,}\]\(img/((\S+?)\.webp)\)", page))
    assert {path.name for path in kept} == set(shown)
    assert len(shown) == 12  # six kinds, for a desk and for a phone
    for path in kept:
        head = path.read_bytes()
        assert head[:4] + head[8:12] == b"RIFFWEBP"
        assert len(head) < 60_000


def test_every_figure_is_shown() -> None:
    assert {path.name for path in (ROOT / "docs" / "figures").iterdir()} == set(_pictures.FIGURES)
    shown = "".join(path.read_text() for path in PAGES)
    assert [file for file in _pictures.FIGURES if f"figures/{file})" not in shown] == []


@pytest.mark.parametrize("file", _pictures.FIGURES)
def test_every_figure_is_drawn(file: str) -> None:
    """Figures differ from version to version of matplotlib: they are drawn, and compared by size only."""
    drawn = _pictures.png(file)
    assert drawn.startswith(b"\x89PNG")
    assert 0.5 < len(drawn) / (ROOT / "docs" / "figures" / file).stat().st_size < 2


def _words(picture: str) -> list[str]:
    tags = ("text", "title", "desc")
    found = [e for e in ElementTree.fromstring(picture).iter() if e.tag.split("}")[1] in tags]
    return ["".join(e.itertext()) for e in found]


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _without_code(path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_outputs_are_not_coloured_as_code(path: Path) -> None:
    fences = _examples.FENCE.finditer(path.read_text())
    assert not [f for f in fences if f["language"] == "python" and ">>> " in f["body"]]

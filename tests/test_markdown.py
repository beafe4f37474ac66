"""Markdown: whole tables, user text that stays text, methods named."""

import re

import pytest
from markdown_it import MarkdownIt

from scorewise.errors import plain
from scorewise.show.markdown import code, escape, markdown
from view_documents import NASTY, awkward, differ, document, hostile, undefine


def tokens(text):
    flat = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        flat += [token, *(token.children or [])]
    return flat


def visible(text):
    return "".join(t.content for t in tokens(text) if t.type in ("text", "code_inline"))


@pytest.mark.parametrize("models", [1, 2, 3])
@pytest.mark.parametrize("make", [document, awkward, hostile])
def test_tables_are_whole(make, models):
    doc = make(models)
    kinds = [t.type for t in tokens(markdown(doc))]
    rows = len(doc["models"][0]["measures"]) + 3
    columns = 5 if models == 1 else models + 2
    assert kinds.count("table_open") == 3
    assert kinds.count("tr_open") == rows
    assert kinds.count("th_open") + kinds.count("td_open") == rows * columns


@pytest.mark.parametrize(
    "text",
    [NASTY, "a|b", "`", "``a`", "*", "<b>", "[x](y)", "a_b_c", "~~x~~", "&amp;", "\\|", " a "],
)
@pytest.mark.parametrize("write", [escape, code])
def test_text_stays_text(write, text):
    out = write(text)
    assert visible(f"x {out} y") == f"x {plain(text)} y"
    row = f"| a | b |\n|---|---|\n| {out} | c |\n"
    kinds = {t.type for t in tokens(row)}
    assert not kinds & {"em_open", "strong_open", "link_open", "image", "s_open", "html_block"}
    assert [t.content for t in tokens(row) if t.type == "inline"][-1] == "c"
    assert not [t for t in tokens(row) if t.type == "html_inline" and t.content != "<!-- -->"]


def test_nobody_is_mentioned_and_no_issue_linked():
    doc = document()
    doc["hints"] = ["tell @somebody about #12"]
    text = markdown(doc)
    assert not re.search(r"@\w|#\d", text)
    assert "tell @somebody about #12" in visible(text)


def test_missing_values_have_their_reason_and_hints_follow():
    text = markdown(awkward())
    assert "| Precision | — | *no positive decisions* |" in text
    assert "±1e-05" in text
    assert text.index("**Hints**") > text.index("| Brier score |")


def test_a_winner_is_bold_and_the_baseline_is_shared():
    text = markdown(differ(document(2), "auroc", (0.001, 0.05)))
    assert "| AUROC | **0.859** [0.823, 0.894] | 0.832 [0.798, 0.874] | 0.500 |" in text


def test_methods_of_all_models_are_named():
    doc = document(2)
    undefine(doc, "auroc", "no positives", model=0)
    assert "DeLong, logit scale (AUROC)" in markdown(doc)

"""Two automatic judges against three humans on the comparisons of PandaLM.

`python -m benchmarks.judges` or `make judges` writes docs/tables/judges.md; it needs the data sets of the
project beside the checkout.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import scorewise as sw

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "agreement" / "pandalm_human_llm_judges.csv"
OUT = ROOT / "docs" / "tables" / "judges.md"
HUMANS = ("annotator1", "annotator2", "annotator3")
JUDGES = ("gpt35", "pandalm7b")


def judged(no_answer: str) -> sw.Judgement:
    table = pl.read_csv(DATA)
    humans, judges = ({name: table[name] for name in names} for names in (HUMANS, JUDGES))
    return sw.judge(humans, judges, ignore=[-1], no_answer=no_answer)


def markdown() -> str:
    left_out, wrong = judged("drop"), judged("wrong")
    lines = [
        "| | accuracy | kappa |",
        "|---|---:|---:|",
        *(f"| {p.first}, {p.second} | {p.accuracy} | {p.kappa} |" for p in left_out.ceiling.pairs),
    ]
    for name in JUDGES:
        j = left_out.judges[name]
        lines.append(f"| {name}, majority | {j.accuracy} | {j.kappa} |")
    j = wrong.judges["gpt35"]
    lines.append(f"| gpt35, its 25 failures counted as errors | {j.accuracy} | {j.kappa} |")
    for found, said in ((left_out, ""), (wrong, ", failures counted")):
        (d,) = found.differences
        lines.append(f"| {d.first} - {d.second}{said} | {d.accuracy} | {d.kappa} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = markdown()
    OUT.write_text(text)
    print(text)

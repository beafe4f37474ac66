"""How well two automatic judges agree with three humans on the comparisons of PandaLM.

`make study NAME=judges` or `python -m studies judges` writes docs/tables/judges.md; it needs the data sets
of the project beside the checkout.
"""

from __future__ import annotations

import scorewise as sw
from studies import _tools
from studies._tools import absent, options, table, write

DATA = _tools.DATA / "agreement" / "pandalm_human_llm_judges.csv"
HUMANS = ("annotator1", "annotator2", "annotator3")
JUDGES = ("gpt35", "pandalm7b")


def judged(no_answer: str) -> sw.Judgement:
    import polars as pl

    frame = pl.read_csv(DATA)
    humans, judges = ({name: frame[name] for name in names} for names in (HUMANS, JUDGES))
    return sw.judge(humans, judges, ignore=[-1], no_answer=no_answer)


def main(args: list[str]) -> None:
    given = options(__name__, __doc__).parse_args(args)
    if absent(DATA):
        return
    left_out, wrong = judged("drop"), judged("wrong")
    found = {f"{p.first}, {p.second}": p for p in left_out.ceiling.pairs}
    found |= {f"{name}, majority": left_out.judges[name] for name in JUDGES}
    found["gpt35, its 25 failures counted as errors"] = wrong.judges["gpt35"]
    for judgement, failures in ((left_out, ""), (wrong, ", failures counted")):
        (d,) = judgement.differences
        found[f"{d.first} - {d.second}{failures}"] = d
    lines = [[name, str(x.accuracy), str(x.kappa)] for name, x in found.items()]
    write(table(["", "accuracy", "kappa"], lines) + "\n", given.out / "judges.md")

"""Probabilities that rounding leaves just outside [0, 1] are taken as the end where that is said."""

import numpy as np
import pytest

import scorewise as sw
from scorewise.cli import run

Y = [0, 1, 1, 0, 1, 1]
P = np.array([0.2, 1.00001, 0.7, -0.00002, 1.00001, 0.6], np.float32)


def test_said_they_are_taken_as_the_end_and_counted():
    with pytest.warns(UserWarning, match=r"outside \[0, 1\] by at most 2e-05 in 3 rows.* taken as"):
        e = sw.evaluate(Y, P, kind="probability")
    assert e.tally.ends == (0.0, 1.0)
    assert e.brier.value == pytest.approx(np.mean((np.clip(P, 0, 1) - Y) ** 2))


def test_unsaid_the_remedy_works():
    e = sw.evaluate(Y, P)
    assert e.tally.kind == "score"
    said = " ".join(c.sentence for c in e.document().verdict)
    assert "by rounding" in said
    assert 'kind="probability"' in said
    assert not e.brier.defined
    assert "probability" in e.brier.why


def test_what_is_further_outside_is_refused():
    with pytest.raises(sw.BadInput, match="outside"):
        sw.evaluate(Y, [0.2, 1.01, 0.7, 0.1, 0.9, 0.6], kind="probability")


def test_command_line(tmp_path, capsys):
    file = tmp_path / "p.csv"
    file.write_text("y,p\n" + "".join(f"{y},{p!r}\n" for y, p in zip(Y, P.tolist(), strict=True)))
    assert run(["evaluate", str(file), "--kind", "probability"]) == 0
    shown = capsys.readouterr()
    assert "Brier" in shown.out
    assert "3 rows" in shown.err


def test_several_classes():
    p = np.array([[1.00001, 0, -0.00001], [0.2, 0.3, 0.5]])
    with pytest.warns(UserWarning, match="outside"):
        e = sw.evaluate(["a", "c"], p, classes=["a", "b", "c"], kind="probability")
    assert e.accuracy.value == 1

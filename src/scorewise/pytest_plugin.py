"""The pytest fixture `scorewise_gate`: a test that fails where scores do not keep what is required."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from scorewise.gating import Gate


@pytest.fixture
def scorewise_gate() -> Callable[..., Gate]:
    """A function like `sw.gate` that fails the test where the gate fails.

    What is inconclusive fails too, or with inconclusive="skip" skips the test, or with "pass" lets it pass:

        def test_release(scorewise_gate):
            scorewise_gate("new.csv", key="id", require="auroc.delta >= -0.01 vs old.csv")
    """

    def judge(
        *args: Any, inconclusive: Literal["fail", "skip", "pass"] = "fail", **options: Any
    ) -> Gate:
        __tracebackhide__ = True
        from scorewise.errors import BadInput
        from scorewise.gating import gate

        if inconclusive not in ("fail", "skip", "pass"):
            raise BadInput(f"inconclusive must be fail, skip or pass; got {inconclusive}")
        found = gate(*args, **options)
        text = "\n".join(c.sentence for c in found.document().verdict)
        if found.outcome == "fail" or (found.outcome, inconclusive) == ("inconclusive", "fail"):
            pytest.fail(text, pytrace=False)
        if (found.outcome, inconclusive) == ("inconclusive", "skip"):
            pytest.skip(text)
        return found

    return judge

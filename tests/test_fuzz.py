"""The fuzzer itself: every kept seed, and a little of each kind of case."""

import time
from dataclasses import replace

import pytest

fuzz = pytest.importorskip("fuzz.kinds")


def told(case):
    return "".join(f"\n{f.what}: {f.detail[-600:]}" for f in case.found)


def kept():
    for kind, seed, words in fuzz.kept_seeds():
        open_still = pytest.mark.xfail(reason=words) if words.startswith("open") else ()
        yield pytest.param(kind, seed, id=f"{kind} {seed}", marks=open_still)


def test_every_measure_has_an_oracle():
    assert not fuzz.lacking()


@pytest.mark.parametrize(("kind", "seed"), list(kept()))
def test_what_once_failed(kind, seed):
    case = fuzz.run_case(kind, seed)
    assert not case.found, told(case)


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_a_second_of_each_kind(kind):
    """From a fixed seed, so that a test never fails by chance; `python -m fuzz` goes on from there."""
    end, seed, covered = time.monotonic() + 1.0, 10_000, 0
    while time.monotonic() < end or not covered:
        case = fuzz.run_case(kind, seed)
        assert not case.found, told(case)
        seed, covered = seed + 1, covered + sum(case.covered.values())


def test_a_wrong_value_is_found(monkeypatch):
    from scorewise.registry import MEASURES

    right = MEASURES["auroc"].function
    wrong = replace(MEASURES["auroc"], function=lambda t, **o: replace(right(t, **o), bound=-1.0))
    monkeypatch.setitem(MEASURES, "auroc", wrong)
    found = [f.what for seed in range(10_000, 10_004) for f in fuzz.run_case("two", seed).found]
    assert any(what.startswith("auroc") for what in found)

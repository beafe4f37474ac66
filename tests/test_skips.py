"""Tests are skipped for want of the system or of data sets, never for want of a package."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

NAMED = re.compile(r'importorskip\(\s*"(\w+)')
PACKAGES = sorted(
    {
        name
        for file in Path(__file__).parent.glob("*.py")
        for name in NAMED.findall(file.read_text())
    }
)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_tests_could_do_without_is_there(name):
    assert find_spec(name), f"{name} is not installed: add it to the extra test in pyproject.toml"

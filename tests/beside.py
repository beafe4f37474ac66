"""Data sets beside the checkout, in ../shared or in the folder that SCOREWISE_SHARED names."""

from pathlib import Path

import pytest
from studies._tools import SHARED


def beside(name: str) -> Path:
    """The file or folder of that name; a test that needs it is skipped where there is none."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not in {SHARED}")
    return path


def predictions(name: str) -> Path:
    """A data set of labels and scores."""
    return beside(f"data/predictions/{name}")


def agreement(name: str) -> Path:
    """A data set of ratings."""
    return beside(f"data/agreement/{name}")

"""The same random cases in every run (SCOREWISE_RANDOM=1 draws new ones), and fewer draws where told."""

import os
from unittest.mock import patch

import pytest
from hypothesis import settings

from scorewise.inference import inversion

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("random" if os.environ.get("SCOREWISE_RANDOM") == "1" else "steady")


def _few_draws():
    """Errors of calibration draw 50 times, not 300 or 1,000: for what holds of any number of draws."""
    drawn = inversion.consistency_gaps
    with patch.object(inversion, "consistency_gaps", lambda c, n, rng: drawn(c, min(n, 50), rng)):
        yield


few_draws = pytest.fixture(_few_draws)
few_draws_throughout = pytest.fixture(_few_draws, scope="module")  # as Hypothesis asks

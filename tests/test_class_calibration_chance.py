"""What chance does to the calibration of several classes: p-values are uniform, intervals hold."""

from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import kstest

from class_calibration_cases import rows
from scorewise.registry import CLASS_MEASURES
from scorewise.tallies import ClassTally

RUNS = 100
NAMES = ("classwise_ece", "canonical_ce", "skce", "calibration_gain")


@pytest.fixture(scope="module", params=[3, 10], ids="{} classes".format)
def judged(request):
    """Estimates of each measure for calibrated rows."""
    rng = np.random.default_rng(request.param)
    tallies = [ClassTally.of(*rows(rng, 300, request.param)) for _ in range(RUNS)]
    few = {"new": lambda *_, **__: 99}
    with patch("scorewise.inference.class_resampling.affordable_replicates", **few):
        return {name: [CLASS_MEASURES[name](t) for t in tallies] for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_p_is_uniform_for_calibrated_rows(judged, name):
    p = [e.p for e in judged[name]]
    assert kstest(p, "uniform").pvalue > 0.001
    assert np.mean(np.array(p) <= 0.05) < 0.11


@pytest.mark.parametrize("name", NAMES)
def test_expected_is_the_mean_for_calibrated_rows(judged, name):
    value, expected = np.array([(e.value, e.expected) for e in judged[name]]).T
    error = np.std(value - expected) / np.sqrt(RUNS)
    assert abs(np.mean(value - expected)) < 4 * error


@pytest.mark.parametrize("name", NAMES[:3])
def test_intervals_of_calibrated_rows_contain_no_error(judged, name):
    assert np.mean([e.low <= 0 <= e.high for e in judged[name]]) > 0.92

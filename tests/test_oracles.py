"""Every measure against an outside package, on rows with ties and weights."""

from dataclasses import dataclass
from functools import cache

import hmeasure
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

import scorewise.measures
from oracles import ORACLES, WITHIN, WITHOUT_WEIGHTS
from scorewise import Tally
from scorewise.registry import MEASURES

m = scorewise.measures
CASES = 200


@dataclass(frozen=True)
class Case:
    y: np.ndarray
    s: np.ndarray
    w: np.ndarray | None
    threshold: float

    @property
    def tally(self) -> Tally:
        return Tally.of(self.y, self.s, weight=self.w, kind="probability")


@cache
def random_cases() -> list[Case]:
    """Both classes, scores of few or many digits, whole, broken or no weights."""
    made = []
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 150))
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        y[:2] = False, True
        s = 1 / (1 + np.exp(-(rng.normal(0, 1.5, n) + 1.2 * (y - 0.5))))
        s = np.round(s, int(rng.choice([1, 2, 15]))).clip(0.001, 0.999)
        w = (None, rng.integers(1, 5, n).astype(float), rng.uniform(0.1, 5, n))[seed % 3]
        # on a score, beside one, or anywhere
        threshold = (s[n // 2], np.nextafter(s[n // 3], 1), 0.5, 0.35)[seed % 4]
        made.append(Case(y, s, w, float(threshold)))
    return made


def test_every_measure_has_an_oracle():
    assert set(MEASURES) == set(ORACLES), (
        "say in tests/oracles.py what a measure is checked against"
    )


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_measure_agrees_with_its_oracle(name):
    measure, compared = MEASURES[name], 0
    cases = random_cases()[:: 4 if measure.group == "calibration" else 1]  # those take long
    for case in cases:
        whole = case.w is None or (case.w == np.floor(case.w)).all()
        if name in WITHOUT_WEIGHTS and not whole:
            continue
        t = case.tally
        e = measure(t.confusion(case.threshold) if measure.group == "decisions" else t)
        if not e.defined:
            continue
        expected = ORACLES[name](case.y, case.s, case.w, case.threshold)
        if expected is None:  # rounding decides
            continue
        near = WITHIN.get(name, 1e-12)
        assert e.value == pytest.approx(expected, rel=near, abs=near)
        compared += 1
    assert compared > len(cases) / 2


def test_area_is_the_share_of_ordered_pairs():
    for case in random_cases()[:60]:
        w = np.ones(len(case.y)) if case.w is None else case.w
        won = total = 0.0
        for i in np.flatnonzero(case.y):
            for j in np.flatnonzero(~case.y):
                pair = w[i] * w[j]
                total += pair
                won += pair * ((case.s[i] > case.s[j]) + (case.s[i] == case.s[j]) / 2)
        assert m.auroc(case.tally).value == pytest.approx(won / total, rel=1e-12)


def test_ks_agrees_with_the_two_sample_test():
    for case in random_cases()[::3]:
        assert case.w is None
        expected = stats.ks_2samp(case.s[case.y], case.s[~case.y]).statistic
        assert m.ks(case.tally).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("width", [0.01, 0.1, 0.25, 0.5, 1.0])
def test_standardised_partial_area(width):
    for case in random_cases()[:60]:
        e = m.partial_auroc(case.tally, max_fpr=width, scale="mcclish")
        expected = sk.roc_auc_score(case.y, case.s, sample_weight=case.w, max_fpr=width)
        assert e.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("height", [0.0, 0.5, 0.9])
def test_partial_area_by_sensitivity_is_that_of_the_mirrored_problem(height):
    """Right of the curve above a sensitivity: labels exchanged and scores turned round."""
    for case in random_cases()[:60]:
        e = m.partial_auroc(case.tally, min_tpr=height, scale="mcclish")
        expected = sk.roc_auc_score(~case.y, -case.s, sample_weight=case.w, max_fpr=1 - height)
        assert e.value == pytest.approx(expected, rel=1e-12)


def test_f_beta_of_any_beta_and_h_measure_of_any_costs():
    for case in random_cases()[:30]:
        c = case.tally.confusion(case.threshold)
        for beta in (0.5, 1.0, 3.0):
            expected = sk.fbeta_score(
                case.y, case.s >= case.threshold, beta=beta, sample_weight=case.w, zero_division=0
            )
            assert m.f_beta(c, beta=beta).value == pytest.approx(expected, rel=1e-12)
        if case.w is None:
            # the package's own default: Beta(2, 1 + negatives / positives)
            ratio = (~case.y).sum() / case.y.sum()
            expected = hmeasure.h_score(case.y.astype(int), case.s)
            e = m.h_measure(case.tally, costs=(2.0, 1.0 + ratio))
            assert e.value == pytest.approx(expected, rel=1e-9)


def test_logits_are_judged_as_their_probabilities():
    for case in random_cases()[:30]:
        z = np.log(case.s) - np.log1p(-case.s)
        t = Tally.of(case.y, z, weight=case.w, kind="logit")
        p = 1 / (1 + np.exp(-z))
        assert m.log_loss(t).value == pytest.approx(
            sk.log_loss(case.y, p, sample_weight=case.w), rel=1e-12
        )
        assert m.brier(t).value == pytest.approx(
            sk.brier_score_loss(case.y, p, sample_weight=case.w), rel=1e-12
        )


@pytest.mark.parametrize("clip", [2.0**-50, 1e-6])  # 1 - 1e-15 is no float
def test_clipped_log_loss(clip):
    y, s = np.array([1, 0, 1, 0, 1]), np.array([0.0, 0.2, 1.0, 1.0, 0.7])
    expected = sk.log_loss(y, np.clip(s, clip, 1 - clip))
    assert m.log_loss(Tally.of(y, s), clip=clip).value == pytest.approx(expected, rel=1e-9)

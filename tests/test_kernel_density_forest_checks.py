"""The checks that scikit-learn has for all estimators."""

import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import estimator_checks

import scorewise as sw

# scikit-learn's own forests fail these: a bootstrap draws other rows when rows are repeated, and
# when they are weighted
FAILING = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn at random",
    "check_sample_weights_invariance": "rows are drawn at random",
}
MODELS = [
    sw.models.KernelDensityForest(n_estimators=10),
    sw.models.KernelDensityForest(ExtraTreesClassifier(10)),
]

if not hasattr(estimator_checks, "estimator_checks_generator"):
    pytest.skip("expected failures are named from scikit-learn 1.6 on", allow_module_level=True)


@estimator_checks.parametrize_with_checks(MODELS, expected_failed_checks=lambda _: FAILING)
def test_scikit_learn(estimator, check):
    check(estimator)

"""Models whose scores deserve trust, near and far from their training data.

They follow scikit-learn, which `pip install 'scorewise[sklearn]'` brings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.models.distributions import InAndOut, at_radius, in_and_out
    from scorewise.models.kernel_density_forest import KernelDensityForest
    from scorewise.models.kernel_density_network import KernelDensityNetwork
    from scorewise.models.mixed_features import NaiveBayes, ProbabilityTree

# imported when first asked for: each needs scikit-learn
_HOMES = {
    "InAndOut": "distributions",
    "KernelDensityForest": "kernel_density_forest",
    "KernelDensityNetwork": "kernel_density_network",
    "NaiveBayes": "mixed_features",
    "ProbabilityTree": "mixed_features",
    "at_radius": "distributions",
    "in_and_out": "distributions",
}
__all__ = [
    "InAndOut", "KernelDensityForest", "KernelDensityNetwork", "NaiveBayes", "ProbabilityTree",
    "at_radius", "in_and_out",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        try:
            return getattr(import_module(f"scorewise.models.{_HOMES[name]}"), name)
        except ModuleNotFoundError as e:
            if (e.name or "").partition(".")[0] not in ("joblib", "sklearn"):
                raise
            raise BadInput("models need scikit-learn: pip install 'scorewise[sklearn]'") from e
    raise AttributeError(f"scorewise.models has no attribute {name}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__

"""The ReLU layers of a torch module, seen by hooks while rows pass through it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.models.relu_layers import Array, Pass, Passed

SMOOTH = ("CELU", "ELU", "GELU", "Hardswish", "Mish", "SELU", "Sigmoid", "SiLU", "Softplus", "Tanh")
BENT = ("LeakyReLU", "PReLU", "ReLU", "ReLU6")  # a unit is on where its output is positive


def is_torch(network: Any) -> bool:
    """Whether it is a torch module; torch is asked for only where it is loaded already."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(network, torch.nn.Module)


def check_module(module: Any, features: int | str | None) -> None:
    """Refuse modules without ReLU layers, with smooth activations, or without the layer named."""
    kinds = [type(part).__name__ for part in module.modules()]
    if smooth := [kind for kind in kinds if kind in SMOOTH]:
        raise BadInput(
            f"the module has a {smooth[0]} layer, which does not cut the space into polytopes; "
            "use a network with ReLU"
        )
    if not any(kind in BENT for kind in kinds):
        raise BadInput(
            "the module has no ReLU layer; make them with torch.nn.ReLU, since "
            "torch.nn.functional.relu cannot be seen from outside"
        )
    names = [name for name, _ in module.named_modules() if name]
    if isinstance(features, str) and features not in names:
        raise BadInput(f"features is {features!r}; the module has {', '.join(names)}")


def torch_pass(module: Any, features: int | str | None) -> Pass:
    """The forward pass of a module in evaluation mode; its own mode is put back afterwards."""
    import torch

    first = next(module.parameters(), torch.zeros(()))

    def passing(batch: Array) -> Passed:
        hidden: list[Array] = []
        named: dict[str, Array] = {}

        def watch(_: Any, __: Any, output: Any) -> None:
            hidden.append(_rows(output))

        def keep(_: Any, __: Any, output: Any) -> None:
            named[str(features)] = _rows(output)

        bent = [part for part in module.modules() if type(part).__name__ in BENT]
        hooks = [part.register_forward_hook(watch) for part in bent]
        if isinstance(features, str):
            hooks.append(module.get_submodule(features).register_forward_hook(keep))
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                given = torch.as_tensor(batch, dtype=first.dtype, device=first.device)
                return Passed(hidden, _rows(module(given)), named)
        finally:
            module.train(training)
            for hook in hooks:
                hook.remove()

    return passing


def _rows(output: Any) -> Array:
    """A tensor as rows of floats; a copy, since later layers may work in place."""
    values = output.detach().cpu().numpy().astype(np.float64, copy=True)
    return np.asarray(values.reshape(len(values), -1))

"""The ReLU layers of a torch module, seen by hooks while rows pass through it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.relu_layers import Pass, Passed

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

    def passing(batch: Floats) -> Passed:
        hidden: list[Floats] = []
        named: dict[str, Floats] = {}

        def watch(_: Any, __: Any, output: Any) -> None:
            hidden.append(_rows(output, "a ReLU layer"))

        def keep(_: Any, __: Any, output: Any) -> None:
            named[str(features)] = _rows(output, f"layer {features!r}")

        bent = [part for part in module.modules() if type(part).__name__ in BENT]
        hooks = [part.register_forward_hook(watch) for part in bent]
        if isinstance(features, str):
            hooks.append(module.get_submodule(features).register_forward_hook(keep))
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                given = torch.as_tensor(batch, dtype=first.dtype, device=first.device)
                logits = _rows(module(given), "the module")
        finally:
            module.train(training)
            for hook in hooks:
                hook.remove()
        _check_seen(hidden, named, features)
        return Passed(hidden, logits, named)

    return passing


def _check_seen(hidden: list[Floats], named: dict[str, Floats], features: int | str | None) -> None:
    """Refuse a module whose ReLU layers, or the layer that is named, are there but not called."""
    if not hidden:
        raise BadInput(
            "the module has ReLU layers but calls none of them; call them in its forward, since "
            "torch.nn.functional.relu cannot be seen from outside"
        )
    if isinstance(features, str) and features not in named:
        raise BadInput(f"features is {features!r}, which the module does not call; name another")


def _rows(output: Any, source: str) -> Floats:
    """A tensor as rows of floats; a copy, since later layers may work in place."""
    import torch

    if not isinstance(output, torch.Tensor):
        raise BadInput(
            f"{source} returns a {type(output).__name__}; wrap the module in one whose layers return "
            "tensors, the last of them the logits"
        )
    values = output.detach().cpu().to(torch.float64, copy=True).numpy()
    return np.asarray(values.reshape(len(values), -1))

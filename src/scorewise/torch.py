"""Measures for torch and Lightning: a metric whose state is a tally, so that processes add theirs up.

>>> import torch
>>> metric = TallyMetric("auroc")
>>> metric.update(torch.tensor([0.2, 0.9, 0.4]), torch.tensor([0, 1, 1]))
>>> metric.update(torch.tensor([0.3]), torch.tensor([0]))
>>> metric.compute()
tensor(1., dtype=torch.float64)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from scorewise.checks import one_of
from scorewise.columns import Kind
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.monitoring.windows import Accumulator
from scorewise.registry import MEASURES, unknown
from scorewise.tallies import Tally
from scorewise.tallies.store import content, from_content

try:
    import torch
    from torchmetrics import Metric
except ImportError:
    raise ImportError(
        "scorewise.torch needs torchmetrics: pip install 'scorewise[torch]'"
    ) from None

MANY = 64  # parts that are gathered before they are added up


def all_reduce(t: Tally, group: Any = None) -> Tally:
    """The sum of the tallies of all processes of a group of torch.distributed, in each of them."""
    parts: list[Any] = [None] * torch.distributed.get_world_size(group)
    torch.distributed.all_gather_object(parts, t, group)
    return sum(parts, Tally.empty())


class TallyMetric(Metric):
    """Any measure of two classes as a metric of torchmetrics, exact or with a certified bound.

    `update(preds, target)` takes scores and labels 0 and 1, which are checked as everywhere. A batch that
    is refused changes nothing. `compute` gives a scalar for one measure; for several a mapping, in which
    the limits of the interval stand beside each value as `auroc.low` and `auroc.high`. What is undefined
    is NaN. The options are those of `evaluate`, such as `threshold` or `level`.

    The state is a list of saved tallies that are added up when there are many, in constant memory; of
    distributed processes, each gathers those of all. `tally` is their sum, for everything else:
    `sw.evaluate(metric.tally)`.
    """

    full_state_update = False
    is_differentiable = False
    parts: list[Any]

    def __init__(
        self,
        measures: str | Sequence[str] = "auroc",
        *,
        kind: Kind = "probability",
        options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        from scorewise import measures as _  # noqa: F401  (fills the register)

        super().__init__(**settings)
        one_of("kind", kind, get_args(Kind))
        self.names = (measures,) if isinstance(measures, str) else tuple(measures)
        for name in self.names:
            if name not in MEASURES:
                raise BadInput(unknown(name, MEASURES))
        self.scalar, self.kind, self.options = isinstance(measures, str), kind, options or {}
        # without a reduction the lists of processes and of batches are put together: a sum not yet made
        self.add_state("parts", default=[], dist_reduce_fx=None)

    def update(self, preds: Any, target: Any, weight: Any = None) -> None:
        """Take a batch of scores and labels, and perhaps weights, all of one shape."""
        columns = {"preds": preds, "target": target}
        columns |= {} if weight is None else {"weight": weight}
        shapes = {tuple(x.shape) for x in columns.values()}
        if len(shapes) > 1:
            each = ", ".join(f"{name} {tuple(x.shape)}" for name, x in columns.items())
            raise BadInput(f"the shapes differ: {each}; pass one score and one label for each row")
        p, y, *w = (_column(x) for x in columns.values())
        strange = (y != 0) & (y != 1)
        if strange.any():
            where = Place().rows(strange)
            raise BadInput(
                f"target is {y[strange][0]} {where}; pass 0 for negative, 1 for positive"
            )
        y = y.astype(np.uint8)
        t = Tally.of(y, p, weight=w[0] if w else None, kind=self.kind)
        self.parts.append(_packed(t, self.device))
        if len(self.parts) > MANY:
            self._fold()

    @property
    def tally(self) -> Tally:
        """The tally of all rows of this process; between `sync` and `unsync`, of all processes."""
        total = Accumulator()
        for part in self.parts:
            total.merge(from_content(part.cpu().numpy().tobytes()))
        return total.tally()

    def compute(self) -> Any:
        """The measures of all rows of all processes."""
        from scorewise.evaluation import evaluate

        found: Any = evaluate(self.tally, **self.options)
        if self.scalar:
            return self._tensor(found[self.names[0]].value)
        ends = {"": "value", ".low": "low", ".high": "high"}
        return {
            name + end: self._tensor(getattr(found[name], field))
            for name in self.names
            for end, field in ends.items()
        }

    def _tensor(self, x: float) -> Any:
        # no float64 on some devices
        kind = torch.float32 if self.device.type == "mps" else torch.float64
        return torch.tensor(x, dtype=kind, device=self.device)

    def sync(self, *args: Any, **settings: Any) -> None:
        """Gather the tallies of all processes, of which each sends one."""
        if not self._is_synced:
            self._fold()
        super().sync(*args, **settings)

    def _fold(self) -> None:
        self.parts = [_packed(self.tally, self.device)]


def _column(x: Any) -> Any:
    """A tensor as an array of one dimension; what numpy has no type for becomes 32 bits."""
    x = x.detach().cpu()
    x = x.float() if x.dtype == torch.bfloat16 else x
    return x.reshape(-1).numpy()


def _packed(t: Tally, device: Any) -> Any:
    return torch.from_numpy(np.frombuffer(content(t), np.uint8).copy()).to(device)

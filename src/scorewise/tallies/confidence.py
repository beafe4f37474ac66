"""How sure a row of scores is of its first choice: confidence scoring functions."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.door import Kind
from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.tallies.losses_of_classes import softmax

Rule = Literal["max", "margin", "entropy", "energy"]


def confidence(scores: Floats, kind: str, rule: Rule = "max") -> tuple[Floats, Kind]:
    """The confidence of each row, higher being surer, and whether it can be read as a probability.

    `max` is the largest probability (Hendrycks and Gimpel 2017), `margin` its lead over the second,
    `entropy` the negative entropy in nats, `energy` the log of the sum of exp(logit) (Liu et al. 2020).

    >>> z = np.log([[0.5, 0.3, 0.2]])
    >>> rules = ("max", "margin", "entropy", "energy")
    >>> [round(confidence(z, "logit", r)[0].item(), 4) + 0.0 for r in rules]
    [0.5, 0.2, -1.0297, 0.0]
    """
    one_of("confidence", rule, get_args(Rule))
    if rule == "energy":
        if kind != "logit":
            raise BadInput('energy needs logits; pass kind="logit" with scores that are logits')
        top = scores.max(1)
        return top + np.log(np.exp(scores - top[:, None]).sum(1)), "score"
    p = softmax(scores) if kind == "logit" else scores
    if rule == "max":
        # of probabilities that add up to 1 within rounding, one may lie a hair above it
        return np.minimum(p.max(1), 1.0), "probability"
    if rule == "margin":
        top_two = np.partition(p, -2, axis=1)[:, -2:]
        lead: Any = top_two[:, 1] - top_two[:, 0]
        return lead, "score"
    log = np.log(np.where(p > 0, p, 1.0))
    return (p * log).sum(1), "score"

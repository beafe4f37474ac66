"""Networks, each with rows of known class that it was not fitted to, asked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.models.neighbourhood import Neighbourhood
from scorewise.models.pattern_kernel import Around, KnownRows
from scorewise.models.relu_layers import Seen, see
from scorewise.models.relu_networks import passing_of

NEIGHBOURS = 10  # known rows that the density is made of, of all networks together


@dataclass(frozen=True)
class Group:
    """Known rows of one network, in the order of their classes."""

    X: Floats
    codes: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Heard:
    """What a committee says of rows: log posteriors and kernel sums by network, one nearness."""

    log_network: Floats
    sums: Floats
    nearness: Floats


@dataclass(frozen=True)
class Committee:
    """Networks, the patterns of the rows that each knows, and the points of all of these."""

    networks: tuple[Any, ...]
    known: tuple[KnownRows, ...]
    near: Neighbourhood
    layers: Sequence[int] | None
    features: int | str | None

    @classmethod
    def of(
        cls,
        networks: Sequence[Any],
        groups: Sequence[Group],
        classes: int,
        layers: Sequence[int] | None,
        features: int | str | None,
    ) -> Committee:
        """From networks, each with a group of rows."""
        known, points = [], []
        for place, group in enumerate(groups):
            seen = [_see(network, group.X, layers, features) for network in networks]
            patterns = seen[place].patterns
            known.append(KnownRows.of(patterns, group.codes, group.weight, classes))
            points.append(_points(seen, features))
        near = Neighbourhood.of(np.concatenate(points))
        return cls(tuple(networks), tuple(known), near, layers, features)

    def hear(self, X: Floats, exponent: float) -> Heard:  # noqa: N803
        """What is said of rows that no network was fitted to."""
        seen, around = self._around(X, [(exponent,)] * len(self.known), None)
        sums = np.stack([part.sums[0] for part in around])
        log_network = np.stack([part.log_posterior for part in seen])
        return Heard(log_network, sums, self._nearness(seen, around))

    def hear_left_out(
        self,
        member: int,
        X: Floats,  # noqa: N803
        own: Ints,
        exponents: Sequence[float],
    ) -> Heard:
        """What one network says of rows that it knows, at the places `own`, if each were not known.

        The kernel sums are those of all exponents; the density is that of the whole committee.
        """
        wanted = [exponents if place == member else () for place in range(len(self.known))]
        seen, around = self._around(X, wanted, (member, own))
        near = self._nearness(seen, around)
        return Heard(seen[member].log_posterior, around[member].sums, near)

    def _around(
        self,
        X: Floats,  # noqa: N803
        exponents: Sequence[Sequence[float]],
        left_out: tuple[int, Ints] | None,
    ) -> tuple[list[Seen], list[Around]]:
        seen = [_see(network, X, self.layers, self.features) for network in self.networks]
        count = -(-NEIGHBOURS // len(self.known))
        around = [
            known.around(
                seen[place].patterns,
                exponents[place],
                count,
                left_out[1] if left_out and left_out[0] == place else None,
            )
            for place, known in enumerate(self.known)
        ]
        return seen, around

    def _nearness(self, seen: Sequence[Seen], around: Sequence[Around]) -> Floats:
        starts = np.cumsum([0, *(len(known) for known in self.known)])
        places = np.hstack(
            [part.places + start for part, start in zip(around, starts, strict=False)]
        )
        likeness = np.hstack([part.likeness for part in around])
        with np.errstate(over="ignore"):  # as far as can be: the log density is -inf
            return self.near.nearness(_points(seen, self.features), places, likeness)


def _see(
    network: Any,
    X: Floats,  # noqa: N803
    layers: Sequence[int] | None,
    features: int | str | None,
) -> Seen:
    return see(passing_of(network, features), X, layers, features)


def _points(seen: Sequence[Seen], features: int | str | None) -> Floats:
    """The rows themselves, or the activations of a layer, those of all networks side by side."""
    if features is None:
        return seen[0].points
    return np.hstack([part.points for part in seen])

"""The colours of all pictures: one for each model, and one for each of two classes."""

from __future__ import annotations

# Okabe and Ito (2008): told apart by colour-blind readers
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#7F7F7F"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
NEGATIVE, POSITIVE = COLOURS[:2]


def colour_of(i: int) -> str:
    """The colour of the i-th model or class."""
    return COLOURS[i % len(COLOURS)]

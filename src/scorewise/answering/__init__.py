"""Answers in text: whether the confidence in them is to be believed, whatever counts as correct."""

from __future__ import annotations

from scorewise.answering.result import Answers, answers

__all__ = ["Answers", "answers"]

"""How far an automatic judge can be trusted: against humans, against other judges, against itself."""

from __future__ import annotations

from scorewise.judging.judgement import Judgement, judge
from scorewise.judging.kappas import items_needed

__all__ = ["Judgement", "items_needed", "judge"]

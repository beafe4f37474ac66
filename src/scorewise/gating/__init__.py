"""Gates: requirements on intervals that a release has to keep, judged as pass, fail or inconclusive."""

from __future__ import annotations

from scorewise.gating.document import junit_file, refusal_file
from scorewise.gating.gates import Gate, gate

__all__ = ["Gate", "gate", "junit_file", "refusal_file"]

"""What people and programs see: each view is a pure function of one JSON document."""

from __future__ import annotations

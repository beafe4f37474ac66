"""Subgroup analysis: measures in each group of rows against the rest, heterogeneity, means over groups."""

from __future__ import annotations

from scorewise.subgroups.comparison import ComparedGroups, GroupComparison, Groups, GroupsOfModels
from scorewise.subgroups.document import GroupsRecord, GroupWording, group_section

__all__ = [
    "ComparedGroups", "GroupComparison", "GroupWording", "Groups", "GroupsOfModels", "GroupsRecord",
    "group_section",
]  # fmt: skip

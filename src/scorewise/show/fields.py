"""Records: frozen dataclasses whose fields carry type, limits and a sentence.

    rows: Count = means("Rows, without those left out.")

A field that many records have is a type that says what it means, and is declared as `seed: Seed`; those of
estimates are in `show/estimates.py`, those of data in `show/data.py`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar, dataclass_transform

from msgspec import Meta

Json = dict[str, Any]
AnyRecord = TypeVar("AnyRecord")
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Word: TypeAlias = Annotated[str, Meta(min_length=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0)]
Number: TypeAlias = float | None  # null where it is not finite
PValue: TypeAlias = Share | None


def says(sentence: str) -> Meta:
    """What all fields of a type mean; the other part of an `Annotated`."""
    return Meta(description=sentence)


def means(
    sentence: str, *, default: Any = MISSING, default_factory: Any = MISSING, **limits: Any
) -> Any:
    """A field of a record: what it means, and limits such as `ge=0` or `min_length=1`."""
    known = {"default": default, "default_factory": default_factory}
    return field(**known, metadata={"meaning": Meta(description=sentence, **limits)})


def why_no(what: str, **known: Any) -> Any:
    """A field that gives the reason where something is missing."""
    return means(f"Why there is no {what}; empty when there is one.", **known)


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(means, why_no, field)
)
class Record:
    """A frozen dataclass with named arguments only, whose types carry what its fields mean."""

    def __init_subclass__(cls) -> None:
        """Make a dataclass of it."""
        for name, hint in cls.__annotations__.items():
            known = getattr(vars(cls).get(name), "metadata", {})
            if "meaning" in known:
                cls.__annotations__[name] = Annotated[hint, known["meaning"]]
        dataclass(frozen=True, kw_only=True)(cls)


ItsName: TypeAlias = Annotated[str, says("Its name.")]


class OfTwo(Record):
    """What is said of two."""

    first: str = means("Name of the one.")
    second: str = means("Name of the other.")

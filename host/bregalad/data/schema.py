"""What a stream's columns are: attributes with their kinds, and the class."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from ..words import shown
from .nominal import plain

__all__ = ["Attribute", "DataError", "KINDS", "Schema"]

KINDS = ("numeric", "nominal")


class DataError(ValueError):
    """Data that cannot be learnt from; the message says where they are and what is allowed."""


@dataclass(frozen=True)
class Attribute:
    """A column that is learnt from.

    Parameters
    ----------
    name : str
        Not empty.
    kind : str
        ``"numeric"`` or ``"nominal"``.
    values : tuple
        Declared values of a nominal attribute; empty: they are learnt as they come.

    Raises
    ------
    TypeError
        If ``name`` is not a string, or a value no string, number or truth value.
    ValueError
        If the kind is unknown, a numeric attribute declares values or a value is declared twice, or
        one that stands for a missing one.
    """

    name: str
    kind: str
    values: tuple = ()

    def __post_init__(self):
        _check_name(self.name, "an attribute's name")
        object.__setattr__(self, "values", _tuple(self.values, f"values of {self.name!r}"))
        if self.kind not in KINDS:
            raise ValueError(f"attribute {self.name!r}: kind must be numeric or nominal, not {self.kind!r}")
        if self.kind == "numeric" and self.values:
            raise ValueError(f"attribute {self.name!r}: only a nominal attribute declares values")
        try:
            object.__setattr__(self, "values", tuple(map(plain, self.values)))
        except TypeError as error:
            raise TypeError(f"attribute {self.name!r}: {error}") from error
        for value in self.values:
            if value == "?" or value != value:
                raise ValueError(f"attribute {self.name!r}: {value} stands for a missing value, and cannot be declared")
        _check_unique(self.values, f"attribute {self.name!r}: value")

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Attribute:
        """The attribute that the schema's `to_dict` described."""
        return cls(**_members(state, ("name", "kind", "values"), "attribute"))


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream, in order, and its class.

    Parameters
    ----------
    attributes : tuple of Attribute
        At least one, their names distinct.
    class_name : str
        The class column, none of the attributes.
    classes : tuple
        Declared labels; empty: they are learnt as they come.

    Raises
    ------
    TypeError
        If ``attributes`` holds anything else or ``class_name`` is not a string.
    ValueError
        If there is no attribute, or a name or a label is given twice.
    """

    attributes: tuple[Attribute, ...]
    class_name: str = "class"
    classes: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "attributes", _tuple(self.attributes, "attributes"))
        object.__setattr__(self, "classes", _tuple(self.classes, "classes"))
        if others := [each for each in self.attributes if not isinstance(each, Attribute)]:
            raise TypeError(f"attributes must be Attribute, not {others[0]!r}")
        _check_name(self.class_name, "class_name")
        if not self.attributes:
            raise ValueError("a schema needs at least one attribute besides the class")
        _check_unique(self.names, "attribute")
        if self.class_name in self.names:
            raise ValueError(f"{self.class_name!r} is both an attribute and the class")
        _check_unique(self.classes, "class label")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(map(attrgetter("name"), self.attributes))

    @cached_property
    def by_name(self) -> dict[str, Attribute]:
        """The attributes by their names."""
        return dict(zip(self.names, self.attributes, strict=True))

    @property
    def nominal(self) -> dict[str, tuple]:
        """The nominal attributes with their declared values, as a tree's ``nominal`` takes them."""
        return {attribute.name: attribute.values for attribute in self.attributes if attribute.kind == "nominal"}

    def to_dict(self) -> dict[str, Any]:
        """The schema in JSON's types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Schema:
        """The schema that `to_dict` described."""
        members = _members(state, ("attributes", "class_name", "classes"), "schema")
        members["attributes"] = tuple(map(Attribute.from_dict, members["attributes"]))
        return cls(**members)


def _tuple(values, what):
    if isinstance(values, str):
        raise TypeError(f"{what} must be a sequence, not {values!r}")
    return tuple(values)


def _check_name(name, what):
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a string, not {name!r}")
    if not name:
        raise ValueError(f"{what} must not be empty")


def _check_unique(values, what):
    if len(set(values)) < len(values):
        twice = next(value for value, count in Counter(values).items() if count > 1)
        raise ValueError(f"{what} {shown(twice)} is given twice")


def _members(state, names, what):
    if not isinstance(state, dict) or set(state) != set(names):
        raise ValueError(f"no {what}: expected {', '.join(names)}, not {state!r}")
    return dict(state)

"""Types that the signatures of public calls name."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias

Path: TypeAlias = str | PathLike[str]
Frame: TypeAlias = Any  # instances: a data frame of any library, an array (n, attributes), or rows
Column: TypeAlias = Any  # labels or weights: a sequence, an array, or a column of any library
Label: TypeAlias = str | int | bool
Nominal: TypeAlias = Iterable[str | int] | Mapping[str | int, Iterable[Any]]  # attributes, with values if a mapping

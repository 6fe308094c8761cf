"""Types that the signatures of public calls name."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing import Self as Self
else:
    Self = Any  # which Python 3.10 does not have

Path: TypeAlias = str | PathLike[str]
Frame: TypeAlias = Any  # instances: a data frame of any library, an array (n, attributes), or rows
Column: TypeAlias = Any  # labels or weights: a sequence, an array, or a column of any library
Label: TypeAlias = str | int | bool
Nominal: TypeAlias = Iterable[str | int] | Mapping[str | int, Iterable[Any]]  # attributes, with values if a mapping

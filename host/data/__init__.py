"""Data in: files to chunks of instances, instances to the codes that the board counts."""

from .codebook import CodeBook
from .nominal import ValueBook
from .quantiser import Quantiser
from .readers import Stream, open_stream
from .schema import Attribute, DataError, Schema

__all__ = [
    "Attribute", "CodeBook", "DataError", "Quantiser", "Schema", "Stream", "ValueBook",
    "open_stream",
]

"""What the package offers; read by type checkers, and as the package is loaded."""

from .codebook import CodeBook
from .formats.writers import write_stream
from .generators import open_generator
from .nominal import ValueBook
from .quantiser import Quantiser
from .readers import Stream, open_stream
from .schema import Attribute, DataError, Schema

__all__ = [
    "Attribute",
    "CodeBook",
    "DataError",
    "Quantiser",
    "Schema",
    "Stream",
    "ValueBook",
    "open_generator",
    "open_stream",
    "write_stream",
]

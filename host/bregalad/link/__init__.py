"""The driver's end of the link, see docs/link.md: sessions, and the wires that carry them."""

from .session import Refused, Session, Statistics
from .wire import Wire

__all__ = ["Refused", "Session", "Statistics", "Wire"]

"""What carries frames to a board and back, and may lose or damage them."""

import select
import time
from abc import ABC, abstractmethod

from ..errors import BoardError

REOPEN = 0.2  # seconds between two attempts to open a port or socket anew


class Wire(ABC):
    """A way to one board, by a name that `open_board` knows.

    Once it is open nothing raises: a wire that fails goes on trying to open itself again, tells what is wrong in
    ``trouble``, and loses frames meanwhile, as wires do. ``settings`` are what `open` takes, to be tried in turn until
    a board answers; words for messages.
    """

    settings = (None,)
    now = staticmethod(time.monotonic)

    def __init__(self, name):
        self.name = name
        self.trouble = None

    @abstractmethod
    def open(self, setting):
        """Open the wire, again if it is; BoardError with the remedy if that cannot be."""

    @abstractmethod
    def send(self, frames):
        """Send frames (bytes each, see ``protocol/link.py``), in order."""

    @abstractmethod
    def receive(self, wait):
        """The frames that have come, whatever is in them; waits ``wait`` seconds for the first."""

    @abstractmethod
    def close(self):
        """Give back the port or socket; calling it twice does no harm."""

    def abandon(self):
        """As `close`, in a forked process: nothing is sent, the port is the parent's."""
        self.close()

    def renew(self):  # noqa: B027 (most wires do that by themselves)
        """Open the wire anew where what was true of it may no longer be; nothing raises."""

    @abstractmethod
    def silence(self):
        """What to say, and to do, if no board has answered with any of the settings."""

    def _error(self, message):
        return BoardError(f"{self.name}: {message}")


def ready(file, events, wait):
    """Those of the ``events`` of `select.poll` that happen within ``wait`` seconds, and errors.

    ``select.select`` takes no descriptor above 1023.
    """
    poll = select.poll()
    poll.register(file, events)
    return sum(happened for _, happened in poll.poll(1000 * wait))


def plain(error):
    """The words of an error without the exception's own framing."""
    return getattr(error, "strerror", None) or str(error)

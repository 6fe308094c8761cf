"""Work that a cut link only interrupts."""

from ..boards.base import BoardError
from ..interrupt import check_interrupt, deferred_interrupt

SAFE = object()  # yielded where tree, board and driver agree


def at_once(generator):
    """What a generator for `Steps` returns that waits for nothing: its board is in this process."""
    try:
        while (wait := next(generator)) is SAFE:
            pass
    except StopIteration as end:
        return end.value
    raise AssertionError(f"it waits for reports ({wait})")


def steadily(steps):
    """Go through a trainer's steps, none of which is where Ctrl-C may end them; a generator for `Steps`."""
    answer = None
    while True:
        try:
            wait = steps.send(answer)
        except StopIteration as end:
            return end.value
        answer = None if wait is SAFE else (yield wait)


class Steps:
    """A generator that waits for the board outside of itself, and so outlives a failing wait.

    It yields ``wait`` and is sent what ``board.receive(wait)`` returns; or yields SAFE where Ctrl-C may end it.
    ``unfinished`` is whether `run` has begun and can go on: it was the board's `receive` that failed, or was
    interrupted.
    """

    def __init__(self, generator):
        self._generator = generator
        self._wait = SAFE  # what it has yielded last; a generator that has not begun is safe, too
        self.unfinished = False

    def run(self, receive):
        """Go on to the end, by a board's ``receive``, and return what the generator returns.

        BoardError if the board fails; if it does in ``receive``, `run` may be called again. A KeyboardInterrupt comes
        at a safe point or the end; or in ``receive``, as a BoardError, if a board at the end of a wire makes no
        progress.
        """
        with deferred_interrupt():
            failed, self.unfinished = None, True
            try:
                while True:
                    answer = None
                    if self._wait is SAFE:
                        check_interrupt()
                    else:
                        try:
                            answer = receive(self._wait)
                        except (BoardError, KeyboardInterrupt) as error:
                            failed = error
                            raise
                    self._wait = self._generator.send(answer)
            except StopIteration as end:
                return end.value
            finally:
                if failed is None:
                    self.unfinished = False
                    self._generator.close()

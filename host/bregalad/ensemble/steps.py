"""Steps of members that take turns, on boards in this process and elsewhere."""

from ..trees.training.steps import SAFE

__all__ = ["steadily", "whole"]


def steadily(steps, board):
    """Go through a trainer's steps, none of which is where Ctrl-C may end them; a generator for `Steps`.

    A board in this process answers at once: nothing is yielded then.
    """
    answer = None
    while True:
        try:
            wait = steps.send(answer)
        except StopIteration as end:
            return end.value
        if wait is SAFE:
            answer = None
        elif board.instant:
            answer = board.receive(wait)
        else:
            answer = yield wait


def whole(steps):
    """What steps come to that yield nothing, for all boards are in this process."""
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    raise AssertionError("a board in this process was waited for")

"""Steps of members that take turns, on boards in this process and elsewhere."""

from ..driver.steps import SAFE


def steadily(steps):
    """Go through a trainer's steps, none of which is where Ctrl-C may end them; a generator for `Steps`."""
    answer = None
    while True:
        try:
            wait = steps.send(answer)
        except StopIteration as end:
            return end.value
        answer = None if wait is SAFE else (yield wait)

"""Calls in threads of their own, for tests, with switches between threads wherever they may come."""

import sys
import threading

import pytest

__all__ = ["PATIENCE", "all_at_once", "switching_often"]

PATIENCE = 120  # seconds after which a test has failed


@pytest.fixture(autouse=True)
def switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def all_at_once(*calls):
    """Run calls in threads of their own; raise what one of them raises."""
    errors = []

    def guarded(call):
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[call], daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def waited_for(turns):
    """Whether another thread waits for its turn."""
    free = turns._door.acquire(blocking=False)
    if free:
        turns._door.release()
    return not free

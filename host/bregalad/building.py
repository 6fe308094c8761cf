"""How long this process has spent on building models of boards."""

import time
from contextlib import contextmanager

_spent = [0.0]


def build_seconds():
    """Seconds that this process has spent on building models, or has waited for another one that did.

    Who measures how fast something is takes off what was spent meanwhile.
    """
    return _spent[0]


@contextmanager
def building():
    """Count what is done in here."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _spent[0] += time.perf_counter() - began

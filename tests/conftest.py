"""For the tests of all folders: ``streams`` can be imported, seeds are fixed, and the longest go first."""

import gc
import os
import random
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Amaranth and Numba make objects by the million and keep most of them: a third of an elaboration
# was spent on looking for garbage.
gc.set_threshold(100_000, 20, 50)

# The same examples in each run; ``--hypothesis-profile=default`` draws others.
settings.register_profile("fixed", derandomize=True)
settings.load_profile("fixed")

# Those of tests/hw that take longest, in front: none of them shall leave a worker idle in the end.
_LONG = ("test_accelerator.py", "test_trimming.py", "test_link.py", "test_build.py")


def pytest_collection_modifyitems(items):
    """Benches first: one of two workers begins with them, so that Numba compiles in one only."""
    items.sort(key=lambda item: str(item.path.parent) if item.path.parent.name != "hw" else "")
    items.sort(key=lambda item: item.path.parent.name != "hw" or item.path.name not in _LONG)


@pytest.fixture
def seed(request):
    """Of a random test: always the same, so that what fails is a change's doing; a slow one draws another each time.

    ``BREGALAD_SEED=n`` repeats a run.
    """
    drawn = random.randrange(1 << 30) if request.node.get_closest_marker("slow") else 1
    drawn = int(os.environ.get("BREGALAD_SEED", drawn))
    print(f"BREGALAD_SEED={drawn}")
    return drawn


@pytest.fixture
def ctrl_c():
    """SIGINT interrupts, as at a terminal: a shell's background job starts with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

"""For the tests of all folders: ``streams`` can be imported, and the longest go first."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Amaranth and Numba make objects by the million and keep most of them: a third of an elaboration
# was spent on looking for garbage.
gc.set_threshold(100_000, 20, 50)

# Those of tests/hw that take longest, in front: none of them shall leave a worker idle in the end.
_LONG = ("test_accelerator.py", "test_trimming.py", "test_link.py", "test_build.py")


def pytest_collection_modifyitems(items):
    """Benches first: one of two workers begins with them, so that Numba compiles in one only."""
    items.sort(key=lambda item: str(item.path.parent) if item.path.parent.name != "hw" else "")
    items.sort(key=lambda item: item.path.parent.name != "hw" or item.path.name not in _LONG)

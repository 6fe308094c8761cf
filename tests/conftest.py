"""For the tests of all folders: ``streams`` can be imported, and compiled code is never stale."""

import hashlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# Numba compiles a function anew when its own file changes, not when one that it calls or takes
# constants from does. So each state of the sources has a cache of its own.
_sources = hashlib.sha256()
for _path in sorted((HERE.parent / "host").rglob("*.py")):
    _sources.update(_path.read_bytes())
_cache = Path(os.environ.get("BREGALAD_CACHE") or Path.home() / ".cache" / "bregalad")
os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache / f"numba-{_sources.hexdigest()[:16]}"))


# Those of tests/hw that take longest, in front: none of them shall leave a worker idle in the end.
_LONG = ("test_accelerator.py", "test_trimming.py", "test_link.py", "test_build.py")


def pytest_collection_modifyitems(items):
    """Benches first: one of two workers begins with them, so that Numba compiles in one only."""
    items.sort(key=lambda item: str(item.path.parent) if item.path.parent.name != "hw" else "")
    items.sort(key=lambda item: item.path.parent.name != "hw" or item.path.name not in _LONG)

"""Where compiled code and compiled models are kept, and for how long."""

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

# The folder may be the user's, with other things in it.
_OURS = re.compile(r"numba-[0-9a-f]{16}|\w+-[0-9a-f]{20}(\.so|\.txt|\.lock|\.json)?")
_MONTH = 30 * 24 * 3600  # seconds


def cache_folder():
    """BREGALAD_CACHE, or ``bregalad`` in the user's cache."""
    if folder := os.environ.get("BREGALAD_CACHE"):
        return Path(folder)
    return user_cache_path("bregalad", appauthor=False)


def mark_used(path):
    """Keep something for a month from now; nothing happens if it cannot be marked."""
    with suppress(OSError):
        os.utime(path)


def forget_unused(folder):
    """Delete what was kept of other sources and was not used for a month.

    To be called when something new is made: each state of the sources, and each release of a tool,
    has files of its own, some 20 MB.
    """
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if _OURS.fullmatch(path.name) and path.stat().st_mtime < time.time() - _MONTH:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

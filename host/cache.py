"""Where compiled code and compiled models are kept."""

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder():
    """BREGALAD_CACHE, or ``bregalad`` in the user's cache."""
    if folder := os.environ.get("BREGALAD_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bregalad"

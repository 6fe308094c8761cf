"""Numba's ``njit``, with a cache that does not outlive the sources.

Numba's own looks at a function's own file only. A cached function has taken in the code of those
that it calls and the values of constants, so after a change to their files, or with another
release, it would be wrong without a word. Here each state of the sources has a folder.
"""

import hashlib
from pathlib import Path

import numba

from .cache import cache_folder, forget_unused, mark_used

__all__ = ["first_use", "njit", "njit_of"]

_HERE = Path(__file__).parent


def first_use(folder=_HERE):
    """Whether nothing of a package as it is has been compiled yet: then calls take a minute."""
    return not any(_place(folder).rglob("*.nbi"))


def _place(folder):
    """Where its compiled functions are kept."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        if path.is_file():  # an editor's lock may be a link to nowhere
            digest.update(path.read_bytes())
    return Path(numba.config.CACHE_DIR or cache_folder()) / f"numba-{digest.hexdigest()[:16]}"


def njit_of(folder):
    """``numba.njit`` for the functions of a package.

    Parameters
    ----------
    folder : Path
        Of the package: whatever is in it, all that the functions take in is.
    """
    place = _place(folder)
    if place.exists():
        mark_used(place)
    else:
        forget_unused(place.parent)

    def njit(**options):
        def decorate(function):
            # Numba asks where to keep a function as it decorates it; others' stay where they were.
            theirs = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(place)
            try:
                return numba.njit(**options)(function)
            finally:
                numba.config.CACHE_DIR = theirs

        return decorate

    return njit


njit = njit_of(_HERE)

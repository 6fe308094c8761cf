"""Numba's cache looks at a function's own file only, and keeps what it took from others."""

import contextlib
from pathlib import Path

__all__ = ["forget_stale_code"]


def forget_stale_code(folder):
    """Let Numba compile a package anew if any of its files has changed since it last did.

    A cached function has taken in the code of those that it calls and the values of constants, so
    after a change to their files it would be wrong without a word. Where Numba cannot write beside
    the sources, or NUMBA_CACHE_DIR names another place, nothing is done: such sources are not
    worked on, or who works on them knows.

    Parameters
    ----------
    folder : Path
        Of the package.
    """
    folder = Path(folder)
    sources = sorted(folder.rglob("*.py"))
    now = "\n".join(f"{path.relative_to(folder)} {path.stat().st_mtime_ns} {path.stat().st_size}"
                    for path in sources)
    note = folder / "__pycache__" / "compiled-from.txt"
    with contextlib.suppress(OSError):
        if note.exists() and note.read_text() == now:
            return
        for index in folder.rglob("__pycache__/*.nbi"):
            index.unlink(missing_ok=True)
        note.parent.mkdir(exist_ok=True)
        note.write_text(now)

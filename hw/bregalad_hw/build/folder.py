"""A build's folder: nothing of another build beside what it makes."""

__all__ = ["BITSTREAMS", "REPORTS", "forget"]

BITSTREAMS = "top.bit", "top.fs", "top.svf"
REPORTS = "report.json", "report.txt"


def forget(folder, *names):
    """Remove these files, if they are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)

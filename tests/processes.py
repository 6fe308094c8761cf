"""Python and the command line in a process of its own, and what lasts of what it prints."""

import subprocess
import sys
import time

__all__ = ["lasting", "python", "start", "wait_until"]

# Whoever runs the tests may ignore signals, and that is inherited.
_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
from bregalad.cli import main
sys.exit(main(sys.argv[1:]))
"""


def python(*words, **options):
    """Run it to its end; `CompletedProcess`, with what was printed as text."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, **options)


def start(*arguments, **options):
    """Begin the command line, with signals as at a terminal; `Popen`, with pipes of text but for ``options``."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-c", _CODE, *arguments], **options)


def lasting(report):
    """Lines of a run's report that are the same each time."""
    return [line for line in report.splitlines() if not line.startswith(("seconds", "link"))]


def wait_until(done, process):
    """Until ``done()``; AssertionError, with what was printed, if the process ends before, or after five minutes."""
    limit = time.monotonic() + 300
    while not done():
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            if time.monotonic() < limit:
                continue
            process.kill()
        raise AssertionError(process.communicate())

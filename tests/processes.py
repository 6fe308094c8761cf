"""The command line in a process of its own."""

import subprocess
import sys
import time

__all__ = ["start", "wait_until"]

# Whoever runs the tests may ignore signals, and that is inherited.
_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
from bregalad.cli import main
sys.exit(main(sys.argv[1:]))
"""


def start(*arguments, **options):
    """Begin it, with signals as at a terminal; `Popen`, with pipes of text unless ``options`` say otherwise."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-c", _CODE, *arguments], **options)


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

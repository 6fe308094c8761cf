"""The command line in a process of its own."""

import subprocess
import sys

__all__ = ["start"]

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

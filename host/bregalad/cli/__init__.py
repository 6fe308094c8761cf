"""The command line: ``bregalad COMMAND``, a module of `commands` each."""

import argparse
import logging
import os
import select
import sys
import warnings
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version

from ..words import first_line, one_line

__all__ = ["main"]

_COMMANDS = (
    "train predict inspect export generate warm_up boards demo reproduce bench virtual build program verilog".split()
)
# What a command needs besides the packages that all do: the extra that brings it.
_EXTRAS = {
    "demo": "demo",
    "reproduce": "demo",
    "bench": "bench",
    "virtual": "boards,simulation",
    "build": "boards",
    "program": "boards",
    "verilog": "hardware",
}
_PIPE = 128 + 13  # the exit status of what SIGPIPE ends
_LONGEST = 12_000  # characters of a message


def main(argv=None):
    """Run the command line; returns the exit status: 0, 1 (what went wrong is on stderr) or 2.

    Where nobody reads on, as with ``| head``, it ends without a word, as if by SIGPIPE.
    """
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()  # nobody could catch what fails at the interpreter's end
    except BrokenPipeError:
        if not _reader_gone():
            raise
        return _PIPE


def _run(argv):
    parser = _Parser(prog="bregalad", description="Hoeffding trees learnt from data streams on an FPGA.")
    parser.add_argument("--version", action="version", version=f"bregalad {version('bregalad')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        module, name = import_module(f".commands.{command}", __package__), command.replace("_", "-")
        summary = first_line(module.__doc__)
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
        commands.choices[name].set_defaults(run=module.run)
    args = parser.parse_args(argv)
    # Numba and pandas take seconds to import; a wrong option should not wait for them.
    from ..boards.base import BoardError
    from ..extras import needing
    from ..interrupt import status_of

    try:
        with _noting(args.command), needing(args.command, _EXTRAS.get(args.command)):
            return args.run(args)
    except (ValueError, TypeError, OSError, ImportError, MemoryError, BoardError) as error:
        if isinstance(error, BrokenPipeError) and _reader_gone():
            return _PIPE
        print(f"bregalad {args.command}: {_said(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print(f"bregalad {args.command}: interrupted", file=sys.stderr)
        return status_of(error)


def _said(error):
    """An error's message; the system's own, of a file, in the words of ours: the file first."""
    if isinstance(error, MemoryError):
        return f"memory does not suffice: {error}" if str(error) else "memory does not suffice"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{one_line(error.filename)}: {error.strerror}"
    return one_line(error, _LONGEST)  # the names in it may have line breaks


def _reader_gone():
    """Whether nobody reads what this prints any more, as with `| head`; prints nothing more then.

    There are other broken pipes, such as a board's.
    """
    gone = [stream for stream in (sys.stdout, sys.stderr) if _is_closed(stream)]
    for stream in gone:
        # What is still to be flushed must not fail once more at the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return bool(gone)


def _is_closed(stream):
    """Whether a stream's other end is closed."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return bool(poll.poll(0))
    except (AttributeError, OSError):  # no poll in this system, no file behind the stream
        return False


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line; its usage, which may be long, is what --help shows."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {one_line(message, _LONGEST)} (see {self.prog} --help)\n")

    def parse_known_args(self, args=None, namespace=None):
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = (option for action in self._actions for option in action.option_strings)
            near = get_close_matches(unknown[0].partition("=")[0], known, 1)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{'; did you mean ' * bool(near)}{''.join(near)}")
        return found, unknown


class _Notes(logging.Handler):
    """Write warnings, and the package's notes, to standard error, above a progress bar; each of them once."""

    def __init__(self, command):
        super().__init__()
        self.command = command
        self._written = set()

    def emit(self, record):
        self._tell(f"bregalad: {self.format(record)}")

    def warn(self, message, *_, **__):
        self._tell(f"bregalad {self.command}: {one_line(message, _LONGEST)}")

    def _tell(self, text):
        if text not in self._written:
            from tqdm import tqdm

            self._written.add(text)
            tqdm.write(text, file=sys.stderr)


@contextmanager
def _noting(command):
    """Show warnings and the package's notes."""
    logger = logging.getLogger("bregalad")
    notes = _Notes(command)
    logger.addHandler(notes)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = notes.warn
            yield
    finally:
        logger.removeHandler(notes)

"""The command line: ``bregalad COMMAND``, a module of `commands` each."""

import argparse
import logging
import os
import select
import sys
import warnings
from importlib.metadata import version

from ..words import one_line
from . import learner
from .commands import (
    bench,
    boards,
    build,
    demo,
    generate,
    inspect,
    predict,
    program,
    reproduce,
    train,
    verilog,
    virtual,
    warm_up,
)

__all__ = ["main"]

# What a command needs besides the packages that all do: the extra that brings it.
_EXTRAS = {
    "demo": "demo",
    "bench": "bench",
    "virtual": "boards,simulation",
    "build": "boards",
    "program": "boards",
    "verilog": "hardware",
}
_PIPE = 128 + 13  # the exit status of what SIGPIPE ends


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
    parser = argparse.ArgumentParser(
        prog="bregalad", description="Hoeffding trees learnt from data streams on an FPGA."
    )
    parser.add_argument("--version", action="version", version=f"bregalad {version('bregalad')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (
        train,
        predict,
        inspect,
        generate,
        warm_up,
        boards,
        demo,
        reproduce,
        bench,
        virtual,
        build,
        program,
        verilog,
    ):
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        summary = (module.__doc__ or "").partition("\n")[0]  # python -OO has none
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
        commands.choices[name].set_defaults(run=module.run)
    args = parser.parse_args(argv)
    # Numba and pandas take seconds to import; a wrong option should not wait for them.
    from ..boards.base import BoardError
    from ..extras import needing
    from ..interrupt import status_of

    worded = learner.in_options if args.command == "train" else str
    _show_notes(worded)
    try:
        with warnings.catch_warnings(), needing(args.command, _EXTRAS.get(args.command)):
            warnings.showwarning = lambda message, *_, **__: print(
                f"bregalad {args.command}: {worded(str(message))}", file=sys.stderr
            )
            return args.run(args)
    except (ValueError, TypeError, OSError, ImportError, BoardError) as error:
        if isinstance(error, BrokenPipeError) and _reader_gone():
            return _PIPE
        print(f"bregalad {args.command}: {worded(_said(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print(f"bregalad {args.command}: interrupted", file=sys.stderr)
        return status_of(error)


def _said(error):
    """An error's message; the system's own, of a file, in the words of ours: the file first."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{one_line(error.filename)}: {error.strerror}"
    return one_line(error, 12_000)  # the names in it may have line breaks


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
        stream.flush()
    except BrokenPipeError:
        return True
    try:  # what could not be written may be forgotten by now
        asked = select.poll()
        asked.register(stream.fileno(), 0)
        return bool(asked.poll(0))
    except (AttributeError, OSError):  # no poll in this system, no file behind the stream
        return False


class _Notes(logging.Handler):
    """Write the package's notes to standard error, above a progress bar."""

    def emit(self, record):
        from tqdm import tqdm

        tqdm.write(f"bregalad: {self.worded(self.format(record))}", file=sys.stderr)


def _show_notes(worded):
    """Show the package's notes, as the function ``worded`` puts them."""
    logger = logging.getLogger("bregalad")
    notes = next((handler for handler in logger.handlers if isinstance(handler, _Notes)), None) or _Notes()
    notes.worded = worded
    logger.addHandler(notes)

"""The command line: ``bregalad COMMAND``, a module of this package each."""

import argparse
import sys
import warnings

from . import (
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
)

__all__ = ["main"]


def main(argv=None):
    """Run the command line; returns the exit status: 0, 1 (what went wrong is on stderr) or 2."""
    parser = argparse.ArgumentParser(
        prog="bregalad", description="Hoeffding trees learnt from data streams on an FPGA.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (train, predict, inspect, generate, boards, demo, reproduce, bench, virtual,
                   build, program, verilog):
        name = module.__name__.rpartition(".")[2]
        summary = module.__doc__.splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
        commands.choices[name].set_defaults(run=module.run)
    args = parser.parse_args(argv)
    # Numba and pandas take seconds to import; a wrong option should not wait for them.
    from ..boards.base import BoardError

    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print(
                f"bregalad {args.command}: {message}", file=sys.stderr)
            return args.run(args)
    except (ValueError, TypeError, OSError, ImportError, BoardError) as error:
        print(f"bregalad {args.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"bregalad {args.command}: interrupted", file=sys.stderr)
        return 130

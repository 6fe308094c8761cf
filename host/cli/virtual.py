"""Run a board's RTL behind a pseudo-terminal: a serial port without a board."""

import os

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("--geometry", default="small", metavar="NAME",
                        help="a preset, as `bregalad boards` lists them (default: %(default)s)")
    parser.add_argument("--ratio", type=int, default=8, metavar="CLOCKS",
                        help="clocks of a bit on the line; boards have 30 and more, few make the "
                             "simulation fast (default: %(default)s)")
    parser.add_argument("--clock", type=int, default=200_000, metavar="HZ",
                        help="clocks that the board takes for a second in its time-outs; about what "
                             "is simulated in one (default: %(default)s)")
    parser.add_argument("--link", metavar="PATH",
                        help="also make this symbolic link to the terminal")


def run(args):
    """Serve until interrupted."""
    from ..geometry import Geometry
    from ..sim.verilated import BuildError
    from ..sim.virtual import VirtualBoard

    geometry = Geometry.of(args.geometry)
    print(f"compiling {geometry}, unless that was done before ...", flush=True)

    def opened(path):
        if args.link:
            os.symlink(path, args.link)
        print(f"serving at {path}: open it as serial:{path}; end with Ctrl-C", flush=True)

    try:
        board = VirtualBoard(geometry, ratio=args.ratio, clock_hz=args.clock)
    except BuildError as error:
        raise OSError(str(error)) from error
    with board:
        try:
            board.serve(opened)
        finally:
            if args.link and os.path.islink(args.link):
                os.unlink(args.link)
    return 0

"""Run a board's own top level, compiled, behind a pseudo-terminal or a UDP socket."""

import signal
import sys

from ..options import add_sizes, add_wave, check_clock, network_options

_TIMEOUT = 60  # seconds for drivers: beside a busy processor a frame may take many


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("board", help="as for build")
    add_sizes(parser)
    parser.add_argument(
        "--ratio",
        type=float,
        metavar="CLOCKS",
        help="clocks of the array per bit of a serial line (default: 8; boards "
        "have 16 and more, few make the simulation fast), or per byte of an "
        "Ethernet (default: 0.5, as at 62.5 MHz)",
    )
    parser.add_argument(
        "--clock",
        type=float,
        metavar="MHZ",
        help="what the board takes for its clock: a million clocks for each are a "
        "second of its time-outs (default: the PLL's slowest)",
    )
    parser.add_argument(
        "--netlist",
        action="store_true",
        help="run the netlist that is placed and routed, which takes minutes to make (ECP5 boards with a serial port)",
    )
    parser.add_argument("--port", type=int, metavar="N", help="UDP port of a board with Ethernet (default: 16978)")
    add_wave(parser)


def run(args):
    """Serve until interrupted."""
    from bregalad_hw.boards import find_board
    from bregalad_sim.virtual import VirtualBoard, serve

    from ...files import check_wave
    from ...geometry import Geometry
    from ...link.udp import PORT

    board = find_board(args.board)
    if args.port is not None and not 0 <= args.port < 1 << 16:
        raise ValueError(f"--port must be 0 (any) to 65535, not {args.port}")
    check_clock(args.clock)
    options = network_options(board, port=args.port)
    if board.wire == "udp":
        options.setdefault("port", PORT)
    if args.wave is not None:
        check_wave(args.wave)
    geometry = Geometry.parse(args.geometry, board.geometry)
    ratio = args.ratio if args.ratio is None or args.ratio % 1 else int(args.ratio)
    print(f"compiling {geometry}, unless that was done before ...", flush=True)

    def opened(name):
        print(f"serving: open it as {name},timeout={_TIMEOUT}; end with Ctrl-C", flush=True)

    # Ended like that, it ends its waveform, too.
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda number, frame: sys.exit(128 + number)) for number in numbers]
    try:
        with VirtualBoard(
            board, geometry, ratio=ratio, clock_mhz=args.clock, wave=args.wave, netlist=args.netlist
        ) as virtual:
            serve(virtual, opened, **options)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    return 0

"""Run a board's own top level, compiled, behind a pseudo-terminal or a UDP socket."""

from ...interrupt import stopping
from ..options import add_sizes, add_wave, network_options

_TIMEOUT = 60  # seconds for drivers: beside a busy processor a frame may take many


def add_arguments(parser):
    parser.add_argument("board", help="as for build")
    add_sizes(parser)
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
    options = network_options(board, port=args.port)
    if board.wire == "udp":
        options.setdefault("port", PORT)
    if args.wave is not None:
        check_wave(args.wave)
    geometry = Geometry.parse(args.geometry, board.geometry)
    print(f"compiling {geometry}, unless that was done before ...", flush=True)

    def opened(name):
        print(f"serving: open it as {name},timeout={_TIMEOUT}; end with Ctrl-C", flush=True)

    # Ended by a signal, it ends its waveform, too.
    with stopping(), VirtualBoard(board, geometry, wave=args.wave, netlist=args.netlist) as virtual:
        serve(virtual, opened, **options)
    return 0

"""Build a board's bitstream with open tools, or a project for the vendor's."""

from ..options import add_sizes, network_options

_LAST_SEED = (1 << 31) - 1  # that nextpnr takes


def add_arguments(parser):
    parser.add_argument(
        "board",
        help="ulx3s-12f, -25f, -45f, -85f or -85f-sdram, ecpix5-45f, -85f or -85f-ddr3, "
        "versa-ecp5 or -5g, colorlight-5a-75b or -8, tang-nano-20k, "
        "arty-a7-35 or -100 (a Vivado project)",
    )
    add_sizes(parser)
    parser.add_argument("--clock", type=float, metavar="MHZ", help="clock of the array (default: the board's)")
    parser.add_argument(
        "--aim", type=float, metavar="MHZ", help="clock to route for, if higher: how much can the array do?"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the placer's first seed (default: the board's)")
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="how many placements to try; the most promising is routed first (default: %(default)s)",
    )
    parser.add_argument(
        "--placer",
        choices=("heap", "static"),
        default="heap",
        help="of nextpnr: static needs less wire, but is not timing-driven (default: %(default)s)",
    )
    parser.add_argument("--ip", metavar="ADDRESS", help="IPv4 address of a board with Ethernet (default: 192.168.1.50)")
    parser.add_argument("--output", metavar="DIR", help="where to (default: out/BOARD)")


def run(args):
    """Build it; an error if the clock is missed."""
    from bregalad_hw.boards import find_board
    from bregalad_hw.build.archive import archive
    from bregalad_hw.build.bitstream import build
    from bregalad_hw.build.report import table

    from ...geometry import Geometry

    board = find_board(args.board)
    if args.seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, not {args.seeds}")
    if args.clock is not None and not 1 <= args.clock <= 400:
        raise ValueError(f"--clock must be 1 to 400 MHz, not {args.clock:g}")
    clock = args.clock or board.clock_mhz
    if args.aim is not None and not clock <= args.aim <= 400:
        raise ValueError(f"--aim must be the clock, {clock:g}, to 400 MHz, not {args.aim:g}")
    first = board.seed if args.seed is None else args.seed
    if not 0 <= first <= _LAST_SEED - args.seeds:
        raise ValueError(f"--seed must be 0 to {_LAST_SEED - args.seeds}, not {first}")
    geometry = Geometry.parse(args.geometry, board.geometry)
    options = network_options(board, ip=args.ip)
    if board.vendor:
        if (args.seed, args.seeds, args.aim, args.placer) != (None, 1, None, "heap"):
            raise ValueError(f"{board.vendor} places {board.name}, and takes no --aim, --placer, --seed or --seeds")
        path = archive(board, geometry, clock_mhz=args.clock, output=args.output, **options)
        print(
            f"{path}: a {board.vendor} project of {geometry}; unpack it where {board.vendor} is "
            f"installed and run build_top.sh, then put its top.bit beside the archive for "
            f"bregalad program {board.name}"
        )
        return 0
    report = build(
        board,
        geometry,
        clock_mhz=args.clock,
        aim_mhz=args.aim,
        seeds=range(first, first + args.seeds),
        placer=args.placer,
        output=args.output,
        say=lambda text: print(text, flush=True),
        **options,
    )
    print(table(report))
    return 0

"""Load a built bitstream into a board."""


def add_arguments(parser):
    parser.add_argument("board", help="as for build")
    parser.add_argument(
        "--cable",
        metavar="NAME",
        help="openFPGALoader's name of the JTAG cable, for a board that has none of its own (colorlight-5a-75b)",
    )
    parser.add_argument("--output", metavar="DIR", help="where it was built (default: out/BOARD)")


def run(args):
    """Load it."""
    from bregalad_hw.boards import find_board
    from bregalad_hw.build.program import program

    program(find_board(args.board), args.output, cable=args.cable)
    return 0

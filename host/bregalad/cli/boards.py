"""List the boards and the geometry presets."""

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("--check", action="store_true",
                        help="open every board (builds the simulated one)")


def run(args):
    """Print the lists."""
    from ..boards import BOARDS, LINKS, open_board
    from ..geometry import PRESETS

    for name, what in BOARDS.items():
        print(f"{name:12} {what}")
        if args.check:
            with open_board(name, "tiny") as board:
                print(f"{'':12} opened: {board.read_geometry()}")
    for name, what in LINKS.items():
        print(f"{name + ':...':12} {what}")
    print()
    print(f"{'geometry':14}" + "".join(f"{key:>12}" for key in PRESETS["tiny"].as_dict()))
    for name, geometry in PRESETS.items():
        print(f"{name:14}" + "".join(f"{value:>12}" for value in geometry.as_dict().values()))
    return 0

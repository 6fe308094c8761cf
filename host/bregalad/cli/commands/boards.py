"""List the boards and the geometry presets."""

import json

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("--check", action="store_true", help="open every board (builds the simulated one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args):
    """Print the lists."""
    from ...boards import BOARDS, CORES, LINKS, open_board
    from ...geometry import PRESETS

    opened = {}
    for name in BOARDS if args.check else ():
        with open_board(name, "tiny") as board:
            opened[name] = board.read_geometry()
    if args.json:
        print(
            json.dumps(
                {
                    "boards": BOARDS,
                    "links": LINKS,
                    "cores": CORES,
                    "geometries": {name: geometry.as_dict() for name, geometry in PRESETS.items()},
                    "opened": {name: geometry.as_dict() for name, geometry in opened.items()},
                }
            )
        )
        return 0
    for name, what in BOARDS.items():
        print(f"{name:12} {what}")
        if name in opened:
            print(f"{'':12} opened: {opened[name]}")
    for name, what in (LINKS | CORES).items():
        print(f"{name + ':...':12} {what}")
    print()
    rows = [["geometry", *PRESETS["tiny"].as_dict()]]
    rows += [[name, *map(str, geometry.as_dict().values())] for name, geometry in PRESETS.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        print(
            f"{first:{widths[0]}}"
            + "".join(f"  {cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        )
    return 0

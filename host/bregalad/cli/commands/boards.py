"""List the boards, what can be built for which FPGA, and the geometry presets."""

import json


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args):
    """Print the lists."""
    from ...boards import BOARDS, CORES, LINKS
    from ...geometry import PRESETS

    built, missing = _built()
    if args.json:
        print(
            json.dumps(
                {
                    "boards": BOARDS,
                    "links": LINKS,
                    "cores": CORES,
                    "built": built,
                    "geometries": {name: geometry.as_dict() for name, geometry in PRESETS.items()},
                }
            )
        )
        return 0
    print("for --board and open_board:")
    for name, what in BOARDS.items():
        print(f"{name:12} {what}")
    for name, what in (LINKS | CORES).items():
        print(f"{name + ':...':12} {what}")
    print("\nFPGA boards, for build, program and virtual:")
    _print_built(built, missing)
    print("\nfor --geometry:")
    rows = [["geometry", *PRESETS["tiny"].as_dict()]]
    rows += [[name, *map(str, geometry.as_dict().values())] for name, geometry in PRESETS.items()]
    _print_table(rows)
    return 0


def _built():
    """Boards that bitstreams are built for, as dicts by name, and what is missing to know them."""
    from ...extras import needing

    try:
        with needing("the list of FPGA boards", "boards"):
            from bregalad_hw.boards import BOARDS
            from bregalad_hw.boards.limits import limits, wire_of
            from bregalad_hw.reports import clock_of, kept
    except ImportError as error:
        return {}, str(error)
    reports, found = kept(), {}
    for name, board in BOARDS.items():
        geometry = board.geometry
        values = limits(board, geometry.max_cells, board.clock_mhz * 1e6)
        rate = {part: min(values[part], values["array"]) / geometry.max_cells for part in ("link", "memory")}
        found[name] = {
            "what": board.what,
            "device": board.platform.device,
            "wire": wire_of(board)[0],
            "geometry": geometry.as_dict(),
            "clock_mhz": board.clock_mhz,
            "reached_mhz": clock_of(reports, geometry, name)[1],
            "attributes": geometry.max_cells,
            "rows_per_second": {"link": rate["link"], "memory": rate["memory"] if board.memory_rate else None},
        }
    return found, None


def _print_built(built, missing):
    if missing:
        print(missing)
        return
    sizes = ("lanes", "bins", "classes", "slots", "nodes")
    rows = [["board", "device", "wire", *sizes, "MHz", "reached", "attributes", "link", "memory"]]
    for name, board in built.items():
        rates, reached = board["rows_per_second"].values(), board["reached_mhz"]
        rows.append(
            [name, board["device"], board["wire"]]
            + [str(board["geometry"][size]) for size in sizes]
            + [f"{board['clock_mhz']:g}", f"{reached:.1f}" if reached else "-", str(board["attributes"])]
            + [f"{rate / 1e6:.3g}" if rate else "-" for rate in rates]
        )
    _print_table(rows, left=3)
    print(
        "reached: MHz of the kept build, docs/boards.md; attributes: numeric ones, at most; link, memory: expected M "
        "rows/s of so many,\nover the link and from the board's own memory."
    )


def _print_table(rows, left=1):
    """Print rows of texts, the first columns flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            f"{cell:{'<' if i < left else '>'}{width}}" for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())

"""List the boards, what can be built for which FPGA, and the geometry presets."""


def add_arguments(parser):
    """There are no options."""


def run(args):
    """Print the lists."""
    from ...boards import BOARDS, LINKS
    from ...geometry import PRESETS

    print("for --board and open_board:")
    for name, what in BOARDS.items():
        print(f"{name:12} {what}")
    for name, (what, *_) in LINKS.items():
        print(f"{name + ':...':12} {what}")
    print("\nFPGA boards, for build, program and virtual:")
    _print_built()
    print("\nfor --geometry:")
    rows = [["geometry", *PRESETS["tiny"].as_dict()]]
    rows += [[name, *map(str, geometry.as_dict().values())] for name, geometry in PRESETS.items()]
    _print_table(rows)
    return 0


def _print_built():
    """Print the boards that bitstreams are built for, or what is missing to know them."""
    from ...extras import needing

    try:
        with needing("the list of FPGA boards", "boards"):
            from bregalad_hw.boards import BOARDS
            from bregalad_hw.boards.limits import limits, wire_of
            from bregalad_hw.reports import clock_of, kept
    except ImportError as error:
        print(error)
        return
    sizes, reports = ("lanes", "bins", "classes", "slots", "nodes"), kept()
    rows = [["board", "device", "wire", *sizes, "MHz", "reached", "attributes", "link", "memory"]]
    for name, board in BOARDS.items():
        geometry = board.geometry
        values = limits(board, geometry.max_cells, board.clock_mhz * 1e6)
        reached = clock_of(reports, geometry, name)[1]
        link, memory = (min(values[part], values["array"]) / geometry.max_cells / 1e6 for part in ("link", "memory"))
        rows.append(
            [name, board.platform.device, wire_of(board)[0], *(str(getattr(geometry, size)) for size in sizes)]
            + [f"{board.clock_mhz:g}", f"{reached:.1f}" if reached else "-", str(geometry.max_cells)]
            + [f"{link:.3g}", f"{memory:.3g}" if board.memory_rate else "-"]
        )
    _print_table(rows, left=3)
    print(
        "reached: MHz of the reference build, docs/boards.md; attributes: numeric ones, at most; link, memory: "
        "expected M rows/s of so many,\nover the link and from the board's own memory."
    )


def _print_table(rows, left=1):
    """Print rows of texts, the first columns flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            f"{cell:{'<' if i < left else '>'}{width}}" for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())

"""Projects for vendors' tools: the design as they read it, to be built elsewhere."""

import zipfile
from pathlib import Path

from .synthesis import constraints_of
from .tools import BITSTREAMS, REPORTS, forget


def archive(board, geometry=None, *, clock_mhz=None, output=None, **options):
    """Write a Vivado project, ``top.zip`` in ``output``, and give its path: unpack it and run ``build_top.sh``.

    Parameters
    ----------
    board : Board
        One whose ``vendor`` is Vivado.
    geometry, clock_mhz, output, **options
        As of `bitstream.build`.
    """
    folder = Path(output or f"out/{board.name}")
    folder.mkdir(parents=True, exist_ok=True)
    top = board.top(geometry or board.geometry, (clock_mhz or board.clock_mhz) * 1e6, **options)
    platform = board.platform()
    platform.add_file("board.xdc", constraints_of(board))
    # Duplicates are the same on purpose.
    plan = platform.prepare(top, debug_verilog=False, synth_design_opts="-keep_equivalent_registers")
    # Assertions are SystemVerilog; in a file of that name Vivado passes over them.
    plan.files["top.sv"] = plan.files.pop("top.v")
    plan.files["top.tcl"] = plan.files["top.tcl"].replace("add_files top.v", "add_files top.sv")
    path = folder / "top.zip"
    forget(folder, *BITSTREAMS, *REPORTS)  # what was made of an older archive, or another board
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in sorted(plan.files):
            # A fixed date: the same design is the same archive.
            zipped.writestr(zipfile.ZipInfo(name), plan.files[name], zipfile.ZIP_DEFLATED)
    return path

"""What the plain core takes of an ECP5 by block, before it is placed (minutes).

python -m bregalad.benchmark.area lanes=2 bus_width=64
"""

import argparse
import json
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from ..geometry import Geometry
from ..words import first_line
from .page import table

WHOLE = Geometry(lanes=16, passes=2, slots=64, nodes=512, bus_width=256, count_width=16)
_TAKES = {
    "LUT4": ("LUTs", 1),
    "CCU2C": ("LUTs", 2),
    "TRELLIS_DPR16X4": ("LUTs", 4),
    "TRELLIS_FF": ("flip-flops", 1),
    "DP16KD": ("block RAMs", 1),
    "PDPW16KD": ("block RAMs", 1),
    "MULT18X18D": ("multipliers", 1),
}
_NOUNS = tuple(dict.fromkeys(noun for noun, _ in _TAKES.values()))
_LEAST = 0.005  # of all LUTs; blocks of less have no row


def netlist_of(geometry, folder):
    """The netlist of an ECP5 of the plain core, as builds improve it; a dict. BuildError if Yosys fails."""
    from amaranth import ClockDomain, Fragment, Value
    from amaranth.back import rtlil
    from bregalad_hw.accelerator import Accelerator
    from bregalad_hw.build.families import ECP5
    from bregalad_hw.build.synthesis import readable
    from bregalad_hw.build.tools import run_step

    family = ECP5()
    # As on boards, whose domain has no reset: registers begin as they were configured.
    core, sync = Accelerator(geometry), ClockDomain(reset_less=True)
    fragment = Fragment.get(core, None)
    fragment.add_domains(sync)
    ports = [Value.cast(value) for _, _, value in core.signature.flatten(core)]
    (folder / "top.il").write_text(
        readable(rtlil.convert(fragment, name="top", ports=[sync.clk, *ports], emit_src=False))
    )
    # In the folder itself: YoWASP's Yosys sees nothing above the one it is started in.
    (folder / "top.ys").write_text(f"read_rtlil top.il\n{family.script('top')}\nwrite_json top.json\n")
    (folder / "build_top.sh").write_text("$YOSYS -q top.ys\n")
    run_step(family, folder, "yosys")
    netlist = json.loads((folder / "top.json").read_text())
    family.improve(netlist)
    return netlist


def blocks_of(netlist):
    """What each block of a netlist takes, those within it that have a row of their own left out.

    A cell lies in the block of the signal that it is named after: Yosys names a LUT after what it drives or reads. A
    block that takes little has no row; it is part of the one around it. A row is the block, how many of it there are,
    and their LUT4 with those of carries and distributed RAMs, flip-flops, block RAMs and multipliers, all together.
    """
    cells = netlist["modules"]["top"]["cells"]
    scopes = {name for name, cell in cells.items() if cell["type"] == "$scopeinfo"}
    copies = Counter(map(_alike, scopes))
    taken = defaultdict(Counter)
    for name, cell in cells.items():
        while name and name not in scopes:
            name = name.rpartition(".")[0]
        block = taken[_alike(name)]
        for kind, (noun, count) in _TAKES.items():
            block[noun] += count * (cell["type"] == kind)
    least = sum(block["LUTs"] for block in taken.values()) * _LEAST
    for name in sorted(taken, key=lambda name: -name.count(".")):  # the innermost first
        if name and not (taken[name]["LUTs"] > least or taken[name]["block RAMs"] or taken[name]["multipliers"]):
            taken[name.rpartition(".")[0]].update(taken.pop(name))
    names = sorted(taken, key=lambda name: (not name, name))
    return [(name or "the rest", copies[name] or 1, *(taken[name][noun] for noun in _NOUNS)) for name in names]


def _alike(name):
    """A block's name without the numbers of those that are alike, or that Amaranth gives."""
    return re.sub(r"\$\d+", "", re.sub(r"(_\d+)+\b", "", name))


def add_sizes(parser):
    """Which core: ``sizes``, for `Geometry.parse`."""
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help=f"a preset, NAME=VALUE (default: {WHOLE})")


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    add_sizes(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bregalad-area-") as folder:
        netlist = netlist_of(Geometry.parse(args.sizes, WHOLE), Path(folder))
    blocks = blocks_of(netlist)
    total = ("all", "", *(sum(column) for column in list(zip(*blocks, strict=True))[2:]))
    rows = [(*row[:2], *(f"{taken:,}" for taken in row[2:])) for row in (*blocks, total)]
    print(table(("block", "copies", *_NOUNS), rows))


if __name__ == "__main__":
    main()

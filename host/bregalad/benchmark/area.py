"""What the plain core takes of an ECP5, before it is placed (minutes each): by block; over P, B, C, W.

python -m bregalad.benchmark.area lanes=2 bus_width=64
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from ..geometry import Geometry
from ..words import first_line
from .page import Page

__all__ = ["blocks_of", "netlist_of", "synthesise"]

_BASE = Geometry(lanes=2, passes=1, bins=16, classes=2, slots=64, count_width=18, bus_width=128)
_POINTS = tuple(
    _BASE.replace(**changes)
    for changes in (
        {},
        {"lanes": 1},
        {"lanes": 4},
        {"bins": 8},
        {"bins": 32},
        {"classes": 4},
        {"count_width": 16},
        {"count_width": 24},
        {"lanes": 8},
        {"levels": 8},
        {"lanes": 1, "levels": 8},
        {"levels": 2},
        {"lanes": 1, "levels": 2},
    )
)
_WHOLE = Geometry(lanes=16, passes=2, slots=64, nodes=512, bus_width=256, count_width=16)  # with the tree, by block
_CELLS = {
    "LUT4": "LUT4",
    "CCU2C": "carry pairs",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "PDPW16KD": "wide block RAMs",
    "MULT18X18D": "multipliers",
    "TRELLIS_DPR16X4": "distributed RAMs",
}
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


def synthesise(geometry):
    """What the plain core takes, and the seconds that it took to know: a dict.

    ``cells`` by type; where the core holds the tree, ``blocks`` as `blocks_of`.

    Raises
    ------
    BuildError
        If Yosys is missing or fails.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bregalad-area-") as folder:
        netlist = netlist_of(geometry, Path(folder))
    counts = Counter(cell["type"] for cell in netlist["modules"]["top"]["cells"].values())
    return {
        "geometry": geometry.as_dict(),
        "yosys": netlist["creator"].split(" (")[0],
        "cells": {kind: counts[kind] for kind in _CELLS},
        **({"blocks": blocks_of(netlist)} if geometry.nodes else {}),
        "seconds": round(time.monotonic() - start),
    }


def netlist_of(geometry, folder):
    """The netlist of an ECP5 of the plain core, as builds improve it; a dict.

    Raises
    ------
    BuildError
        If Yosys is missing or fails.
    """
    from amaranth.back import rtlil
    from bregalad_hw.accelerator import Accelerator
    from bregalad_hw.build.families import ECP5
    from bregalad_hw.build.synthesis import readable
    from bregalad_hw.build.tools import BuildError, tool

    family = ECP5()
    (folder / "top.il").write_text(readable(rtlil.convert(Accelerator(geometry), name="top", emit_src=False)))
    # In the folder itself: YoWASP's Yosys sees nothing above the one it is started in.
    (folder / "top.ys").write_text(f"read_rtlil top.il\n{family.script('top')}\nwrite_json top.json\n")
    done = subprocess.run([tool("yosys"), "-q", "top.ys"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"yosys failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    netlist = json.loads((folder / "top.json").read_text())
    family.improve(netlist)
    return netlist


def blocks_of(netlist):
    """What each block of a netlist takes, those within it that have a row of their own left out.

    A cell lies in the block of the signal that it is named after: Yosys names a LUT after what it drives or reads. A
    block that takes little has no row; it is part of the one around it.

    Returns
    -------
    list of (str, int, int, int, int, int)
        Block, how many of it there are, and their LUT4 with those of carries and distributed RAMs, flip-flops, block
        RAMs and multipliers, all together.
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


def _blocks_table(blocks):
    """Head and rows, and below them the sum."""
    total = ("all", "", *(sum(column) for column in list(zip(*blocks, strict=True))[2:]))
    return ("block", "copies", *_NOUNS), [(*row[:2], *(f"{taken:,}" for taken in row[2:])) for row in (*blocks, total)]


def _write(output):
    """Synthesise what is not kept yet; write the page."""
    output.mkdir(parents=True, exist_ok=True)
    path = output / "area.json"
    kept = json.loads(path.read_text()) if path.exists() else []
    for geometry in (*_POINTS, _WHOLE):
        if any(_made(found) == geometry for found in kept):
            continue
        print(f"synthesis of {geometry}", file=sys.stderr, flush=True)
        kept.append(synthesise(geometry))
        path.write_text(json.dumps(kept, indent=1) + "\n")
    for file in _page(kept).write(output):
        print(output / file)


def _made(found):
    """The geometry of a kept synthesis."""
    return Geometry(**found["geometry"])


def _page(kept):
    page = Page("area", "Area")
    page.text(
        "Generated by `python -m bregalad.benchmark.area --output DIR`: the plain core (no link, no pins) after "
        f"{kept[0]['yosys']}, `synth_ecp5`, and what `build` does to its netlist, one "
        f"pass, {kept[0]['geometry']['slots']} slots; not placed. A carry pair is two LUT4 "
        "more, a distributed RAM four."
    )
    made = {_made(found): found for found in kept if "blocks" not in found}
    page.table(
        "area",
        ("P", "B", "C", "W", "levels", *_CELLS.values(), "synthesis, s"),
        [
            (
                g.lanes,
                g.bins,
                g.classes,
                g.count_width,
                g.levels,
                *(f"{found['cells'][kind]:,}" for kind in _CELLS),
                found["seconds"],
            )
            for g, found in sorted(made.items(), key=lambda each: list(each[0].as_dict().values()))
        ],
    )
    for levels in sorted({g.levels for g in made}):
        lanes = {
            g.lanes: found["cells"] for g, found in made.items() if g == _BASE.replace(lanes=g.lanes, levels=levels)
        }
        if len(lanes) > 1:
            page.text(_of_a_lane(lanes, levels))
    for found in kept:
        if "blocks" in found:
            page.heading("By block")
            page.text(
                f"A core that holds the tree: {_sizes(_made(found))}. LUT4 with those of carries and distributed RAMs; "
                "`python -m bregalad.benchmark.area` prints the table of any sizes. Each row leaves out blocks within "
                "that have a row. A LUT counts where the signal is that it is named after."
            )
            page.table("blocks", *_blocks_table(found["blocks"]))
    return page


def _of_a_lane(lanes, levels):
    """What a lane takes, by the cells of boards of some lanes, and what all else does."""
    few, many = min(lanes), max(lanes)
    each = {kind: (lanes[many][kind] - lanes[few][kind]) / (many - few) for kind in _CELLS}
    rest = {kind: lanes[few][kind] - few * each[kind] for kind in _CELLS}
    return (
        f"A lane of B = {_BASE.bins}, C = {_BASE.classes}, W = {_BASE.count_width}"
        + (f" and {levels} levels" if levels > 1 else "")
        + f" (from {few} to {many} lanes): "
        + ", ".join(f"{each[kind]:,.0f} {name}" for kind, name in _CELLS.items() if each[kind])
        + "; the rest of the core: "
        + ", ".join(f"{rest[kind]:,.0f} {name}" for kind, name in _CELLS.items() if round(rest[kind]) > 0)
        + "."
    )


def _sizes(geometry):
    """A geometry as the command line takes it."""
    return " ".join(f"{name}={int(size)}" for name, size in geometry.as_dict().items() if not isinstance(size, str))


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help=f"a preset, NAME=VALUE; otherwise {_sizes(_WHOLE)}")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write area.md, area.json of all sizes there")
    args = parser.parse_args()
    if args.output:
        _write(args.output)
        return
    page = Page("blocks", "Area by block")
    with tempfile.TemporaryDirectory(prefix="bregalad-area-") as folder:
        netlist = netlist_of(Geometry.parse(args.sizes, _WHOLE), Path(folder))
    page.table("blocks", *_blocks_table(blocks_of(netlist)))
    print(page)


if __name__ == "__main__":
    main()

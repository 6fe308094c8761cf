"""The plain core's area before it is placed, minutes each: what a lane takes of an ECP5 over P, B, C, W."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ..geometry import Geometry
from ..words import first_line
from .page import Page

__all__ = ["netlist_of", "synthesise"]

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
_NODES = 1024
_WALKERS = {f"walker, {rings} x 7 walks, 4096 nodes": rings for rings in (1, 4)}
_QUANTISER = "quantiser, 8 values a clock, 32 attributes"
_FRONT = "front, 32 attributes, 2 x 7 walks, 4096 nodes"
_BLOCKS = (  # of the front, each by itself
    *(("judge", _BASE.replace(classes=classes, count_width=width)) for classes, width in ((2, 18), (8, 18), (32, 32))),
    *(
        (f"leaf rows, {_NODES} nodes", _BASE.replace(classes=classes, naive_bayes=bayes))
        for classes, bayes in ((2, False), (2, True), (8, False), (8, True))
    ),
    *((name, _BASE) for name in _WALKERS),
    (_QUANTISER, _BASE.replace(lanes=32, bus_width=256)),
    (_FRONT, _BASE.replace(lanes=8, passes=4, slots=512, nodes=4096)),
)
_CELLS = {
    "LUT4": "LUT4",
    "CCU2C": "carry pairs",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "PDPW16KD": "wide block RAMs",
    "MULT18X18D": "multipliers",
    "TRELLIS_DPR16X4": "distributed RAMs",
}


def _block(name, geometry):
    from bregalad_hw.front.front import Front
    from bregalad_hw.front.judge import Judge
    from bregalad_hw.front.leaf_rows import LeafRows
    from bregalad_hw.front.quantiser import Quantiser
    from bregalad_hw.front.walker import Walker

    if name == _QUANTISER:
        return Quantiser(geometry)
    if name == _FRONT:
        return Front(geometry, walkers=2)
    if name in _WALKERS:
        return Walker(4096, 32, 512, 32, walkers=_WALKERS[name])
    return Judge(geometry) if name == "judge" else LeafRows(geometry, _NODES)


def synthesise(geometry, block=None):
    """Cells of the plain core, or of a block of the front, by type, and the seconds that it took: a dict.

    Raises
    ------
    BuildError
        If Yosys is missing or fails.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bregalad-area-") as folder:
        netlist = netlist_of(geometry, Path(folder), block)
    counts = Counter(cell["type"] for cell in netlist["modules"]["top"]["cells"].values())
    return {
        **({"block": block} if block else {}),
        "geometry": geometry.as_dict(),
        "yosys": netlist["creator"].split(" (")[0],
        "cells": {kind: counts[kind] for kind in _CELLS},
        "seconds": round(time.monotonic() - start),
    }


def netlist_of(geometry, folder, block=None):
    """The netlist of an ECP5 of the plain core, or of a block of the front, as builds improve it; a dict.

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
    component = _block(block, geometry) if block else Accelerator(geometry)
    (folder / "top.il").write_text(readable(rtlil.convert(component, name="top", emit_src=False)))
    # In the folder itself: YoWASP's Yosys sees nothing above the one it is started in.
    (folder / "top.ys").write_text(f"read_rtlil top.il\n{family.script('top')}\nwrite_json top.json\n")
    done = subprocess.run([tool("yosys"), "-q", "top.ys"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"yosys failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    netlist = json.loads((folder / "top.json").read_text())
    family.improve(netlist)
    return netlist


def main():
    """Synthesise what is not kept yet; write the page."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--output", type=Path, default=Path("out/area"), metavar="DIR", help="for area.md, area.json")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    path = output / "area.json"
    kept = json.loads(path.read_text()) if path.exists() else []
    for block, geometry in [(None, geometry) for geometry in _POINTS] + list(_BLOCKS):
        if any(_made(found) == (block, geometry) for found in kept):
            continue
        print(f"synthesis of {block or 'the core'}, {geometry}", file=sys.stderr, flush=True)
        kept.append(synthesise(geometry, block))
        path.write_text(json.dumps(kept, indent=1) + "\n")
    for file in _page(kept).write(output):
        print(output / file)


def _made(found):
    """Block, or None for the core, and geometry of a kept synthesis."""
    return found.get("block"), Geometry(**found["geometry"])


def _page(kept):
    page = Page("area", "Area")
    page.text(
        "Generated by `python -m bregalad.benchmark.area`: the plain core (no link, no pins) after "
        f"{kept[0]['yosys']}, `synth_ecp5`, and what `build` does to its netlist, one "
        f"pass, {kept[0]['geometry']['slots']} slots; not placed. A carry pair is two LUT4 "
        "more, a distributed RAM four."
    )
    made = {geometry: found for found in kept for block, geometry in [_made(found)] if not block}
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
    if blocks := [(*_made(found), found) for found in kept if "block" in found]:
        page.text("Blocks of the [front](../front.md), each by itself:")
        page.table(
            "blocks",
            ("block", "C", "W", "naive Bayes", *_CELLS.values()),
            [
                (
                    block,
                    *(
                        ("", "", "")
                        if block in (*_WALKERS, _QUANTISER)
                        else (g.classes, g.count_width, "yes" if g.naive_bayes else "no")
                    ),
                    *(f"{found['cells'][kind]:,}" for kind in _CELLS),
                )
                for block, g, found in blocks
            ],
        )
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


if __name__ == "__main__":
    main()

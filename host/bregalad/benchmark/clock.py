"""The clock of the plain core on an LFE5U-85F of grade 6: placed and routed out of context, without pins.

The lanes' blocks lie where builds put them. Nothing else is there: no link, no memory's controller.

    python -m bregalad.benchmark.clock lanes=32 passes=1 --mhz 80
"""

import argparse
import json
import re
import tempfile
import time
from pathlib import Path

from ..geometry import Geometry
from ..words import first_line
from .area import WHOLE, add_sizes, netlist_of

DEVICE = "LFE5U-85F"
_REACHED = re.compile(r"Max frequency for clock '(.*)': ([\d.]+) MHz")
_OPTIONS = "--85k --package CABGA756 --speed 6 --out-of-context --timing-allow-fail"


def route(geometry, mhz, seed):
    """What place and route reach for a core, asked for a clock; a dict."""
    from bregalad_hw.build.families import ECP5
    from bregalad_hw.build.floorplan import place_lanes
    from bregalad_hw.build.report import describe_path
    from bregalad_hw.build.routing import place_and_route
    from bregalad_hw.build.tools import tool, version_of

    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bregalad-clock-") as name:
        folder = Path(name)
        netlist = netlist_of(geometry, folder)
        place_lanes(netlist, DEVICE)
        ECP5().settle(netlist, "heap")
        (folder / "top.json").write_text(json.dumps(netlist))
        (folder / "build_top.sh").write_text(
            f"$NEXTPNR_ECP5 {_OPTIONS} --json top.json --freq {mhz} --seed $SEED $STEP_OPTIONS >top.tim 2>&1\n"
        )
        place_and_route(ECP5(), folder, seed, "heap")
        timing = json.loads((folder / "timing.json").read_text())
        clock, reached = _REACHED.findall((folder / "top.tim").read_text())[-1]
    return {
        "device": DEVICE,
        "geometry": geometry.as_dict(),
        "mhz_asked": mhz,
        "mhz": round(float(reached), 1),
        "seed": seed,
        "path": describe_path(timing, clock),
        "use": {kind: use["used"] for kind, use in timing["utilization"].items() if use["used"]},
        "tools": {name: version_of(tool(name)) for name in ("yosys", "nextpnr-ecp5")},
        "seconds": round(time.monotonic() - start),
    }


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    add_sizes(parser)
    parser.add_argument("--mhz", type=float, default=80.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(json.dumps(route(Geometry.parse(args.sizes, WHOLE), args.mhz, args.seed)))


if __name__ == "__main__":
    main()

"""From a board's top level to the netlist that is placed and routed."""

import json
import re
from collections import Counter
from importlib.resources import files

from .tools import BuildError, run_step

__all__ = ["PLACERS", "constraints_of", "readable", "synthesise"]

PLACERS = ("heap", "static")
_BRACKETS = str.maketrans("[]", "<>")


def constraints_of(board):
    """What `constraints/` has for a board; nothing if it needs none."""
    if not board.constraints:
        return ""
    return (files("bregalad_constraints") / board.constraints).read_text()


def readable(rtlil):
    """RTLIL as Yosys' abc9 can take it.

    A name with an index it takes for a bit of another net, and stops.
    """
    return re.sub(r"\\\S+", lambda name: name.group().translate(_BRACKETS), rtlil)


def synthesise(board, top, folder, placer=PLACERS[0]):
    """Write the netlist that is placed and routed to a folder, and give its path.

    Parameters
    ----------
    board : Board
    top : Elaboratable
        What ``board.top`` has made.
    folder : Path
    placer : str
        That is to place it, one of ``PLACERS``.

    Raises
    ------
    BuildError
        If Yosys is missing or fails, or the netlist does not fit the device.
    """
    family = board.family
    plan = board.platform().prepare(top, debug_verilog=False, **family.overrides(constraints_of(board), top.clock_hz))
    plan.files["top.il"] = readable(plan.files["top.il"])
    plan.extract(folder)
    synthesiser, _, _ = family.tools
    run_step(family, folder, synthesiser)
    path = folder / family.netlist
    netlist = json.loads(path.read_text())
    family.finish(netlist, board.platform.device, placer)
    path.write_text(json.dumps(netlist))
    _check_size(board, netlist)
    return path


def _check_size(board, netlist):
    """Raise BuildError if the device has too little of something, before the placer tries."""
    family = board.family
    needs = family.needs(Counter(cell["type"] for cell in netlist["modules"]["top"]["cells"].values()))
    short = [
        f"{needs[kind]} {noun} of {board.resources[kind]}"
        for kind, noun in family.nouns.items()
        if needs[kind] > board.resources[kind]
    ]
    if short:
        raise BuildError(
            f"the geometry does not fit {board.name}: it needs {', '.join(short)}; fewer lanes, passes or slots do"
        )

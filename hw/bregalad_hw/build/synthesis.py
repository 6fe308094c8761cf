"""From a board's top level to the netlist that is placed and routed."""

import json
import re
from collections import Counter
from importlib.resources import files

from .tools import BuildError, run_step

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


def synthesise(board, top, folder, placer=PLACERS[0], say=lambda text: None):
    """Write the netlist that is placed and routed to a folder, and give its path.

    Parameters
    ----------
    board : Board
    top : Elaboratable
        What ``board.top`` has made.
    folder : Path
    placer : str
        That is to place it, one of ``PLACERS``.
    say : callable
        Told what goes on.

    Raises
    ------
    BuildError
        If Yosys is missing or fails, or the netlist does not fit the device.
    """
    netlist = _netlist(board, top, folder, board.block_rams, say)
    if board.block_rams and "block RAMs" in _short(board, netlist):
        say(f"{board.name}: synthesis once more, with fewer block RAMs")
        netlist = _netlist(board, top, folder, (), say)
    board.family.finish(netlist, board.platform.device, placer)
    path = folder / board.family.netlist
    path.write_text(json.dumps(netlist))
    _check_size(board, netlist)
    return path


def _netlist(board, top, folder, block_rams, say):
    """What Yosys makes of a board's top level, with these memories in block RAMs."""
    family = board.family
    overrides = family.overrides(constraints_of(board), top.clock_hz, block_rams)
    plan = board.platform().prepare(top, debug_verilog=False, **overrides)
    plan.files["top.il"] = readable(plan.files["top.il"])
    plan.extract(folder)
    synthesiser, _, _ = family.tools
    run_step(family, folder, synthesiser, say=say)
    return json.loads((folder / family.netlist).read_text())


def _short(board, netlist):
    """By noun, how many a netlist needs and the device has, of what it has too little."""
    family = board.family
    needs = family.needs(Counter(cell["type"] for cell in netlist["modules"]["top"]["cells"].values()))
    return {
        noun: (needs[kind], board.resources[kind])
        for kind, noun in family.nouns.items()
        if needs[kind] > board.resources[kind]
    }


def _check_size(board, netlist):
    """Raise BuildError if the device has too little of something, before the placer tries."""
    short = [f"{needed} {noun} of {there}" for noun, (needed, there) in _short(board, netlist).items()]
    if short:
        raise BuildError(
            f"the geometry does not fit {board.name}: it needs {', '.join(short)}; fewer lanes, passes or slots do"
        )

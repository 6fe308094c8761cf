"""Write a component as Verilog for simulation; the only place that does."""

import json
import re
import subprocess
from pathlib import Path

from amaranth.back import rtlil, verilog
from bregalad_hw.build.synthesis import synthesise
from bregalad_hw.build.tools import BuildError, tool

# Icarus only writes of an assertion that is broken, and goes on.
_ASSERT = re.compile(r"^( *)assert \((.*)\);$", re.MULTILINE)
_SOURCE = re.compile(r"^ *\(\* src = .* \*\)\n", re.MULTILINE)
# Yosys has models of an ECP5's logic; `ecp5.v` has the rest, pins of one direction among it.
_NETLIST = """
read_verilog -defer -overwrite +/ecp5/cells_sim.v
delete $abstract*DPR16X4
read_json {source}
delete =A:blackbox
delete t:$scopeinfo
chtype -set TRELLIS_IN t:TRELLIS_IO r:DIR=INPUT %i
chtype -set TRELLIS_OUT t:TRELLIS_IO r:DIR=OUTPUT %i
hierarchy -top {top}
proc
flatten
opt_expr
clean -purge
rename {top} {name}
write_verilog -noattr {name}.v
"""
# Icarus takes a third to a half less time for expressions than for the blocks that Amaranth writes,
# and for each signal but once, whatever modules it goes through.
_FLAT = """
read_rtlil {name}.il
hierarchy -top {name}
proc -norom
flatten
opt_expr
opt_merge
opt_clean -purge
pmuxtree
memory_collect
opt_clean
write_verilog -noattr -norename {name}.v
"""


def write(component, name, folder):
    """Write ``component`` as module ``name`` to ``folder``/``name``.v and return that path.

    Parameters
    ----------
    component : wiring.Component
    name : str
        Name of the top module and of the file.
    folder : str or Path
        Created if it is not there.
    """
    path = Path(folder) / f"{name}.v"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(verilog.convert(component, name=name, emit_src=False))
    return path


def write_flat(component, name, folder):
    """`write` for Icarus: one module, of expressions and registers, in which its ports are known.

    Raises
    ------
    BuildError
        Of ``hw.build``, if Yosys is missing or fails.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.il").write_text(rtlil.convert(component, name=name, emit_src=False))
    _run_yosys(_FLAT.format(name=name), folder)
    path = folder / f"{name}.v"
    path.write_text(_ASSERT.sub(r"\1if (!(\2)) $fatal(1);", path.read_text()))
    return path


def _run_yosys(script, folder):
    (folder / "script.ys").write_text(script)
    done = subprocess.run([tool("yosys"), "-q", "script.ys"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"yosys failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")


def write_board(board, top, folder):
    """Write all Verilog of a board's design to ``folder`` and return the paths.

    It is the design that `hw.build` hands to synthesis, pins and primitives of the device included;
    the module is ``top``.

    Parameters
    ----------
    board : Board
    top : Elaboratable
        What ``board.top`` has made.
    folder : Path
    """
    plan = board.platform().prepare(top, debug_verilog=True)
    paths = []
    for name, text in plan.files.items():
        if name.endswith(".v"):
            text = text.decode() if isinstance(text, bytes) else text
            path = folder / name
            path.write_text(_SOURCE.sub("", text))
            paths.append(path)
    return paths


def netlist_script(source, top, name):
    """Yosys' script from an ECP5 netlist, ``source``, to Verilog: module ``name`` in ``name``.v."""
    return _NETLIST.format(source=source, top=top, name=name)


def leave_open(design):
    """Disconnect a netlist's outputs that are ``x``, in place.

    That is how nextpnr is told of a carry that nobody reads; Yosys takes it for a short circuit.
    """
    for module in design["modules"].values():
        for cell in module["cells"].values():
            for port, direction in cell["port_directions"].items():
                if direction == "output" and cell["connections"][port] == ["x"]:
                    cell["connections"][port] = []


def write_netlist(board, top, folder):
    """Synthesise a board's design and write the netlist as Verilog to ``folder``; the paths.

    It is the netlist that `hw.build` places and routes.

    Parameters
    ----------
    board, top, folder
        As of `write_board`; an ECP5 board.

    Raises
    ------
    BuildError
        Of ``hw.build``, if Yosys is missing or fails, or the design does not fit the device.
    """
    netlist = json.loads(synthesise(board, top, folder).read_text())
    leave_open(netlist)
    (folder / "open.json").write_text(json.dumps(netlist))
    _run_yosys(netlist_script("open.json", "top", "top"), folder)
    return [folder / "top.v"]

"""Waveforms for GTKWave: the blocks of a design, and the save file that shows them by name."""

import json
import os
import re
from pathlib import Path

from bregalad.files import replacing, save_file
from vcd.gtkw import GTKWSave

# What the documentation calls a block, where its instance has another name.
NAMES = {
    "array": "attribute processor array",
    "controller": "memory controller",
    "dma": "read DMA",
    "editor": "slot editor",
    "gain": "gain unit",
    "queue": "command queue",
    "scheduler": "attempts",
    "sequencer": "command decoder",
    "slots": "slot table",
    "tracker": "path and slot table",
    "writer": "report writer",
}
_MODULE = re.compile(r"^module \\?(\S+) *\((.*?)^endmodule", re.DOTALL | re.MULTILINE)
_PORT = re.compile(r"^ *(?:input|output) (?:wire |reg )*(?:\[(\d+):0\] )?\\?([^\s;,]+) *;", re.MULTILINE)
_INSTANCE = re.compile(r"^ *\\(\S+) +\\?(\S+) +\($", re.MULTILINE)
# Registers between blocks, and ports of structures whose fields have no name of their own.
_BETWEEN = re.compile(r"duplicate_|\w*skid\b")
_NAMELESS = re.compile(r"port\$|(clk|rst)$")


def blocks(texts, top):
    """The blocks of a design, outermost first.

    Parameters
    ----------
    texts : list of str
        Verilog as Yosys writes it.
    top : str
        Name of the top module.

    Returns
    -------
    dict
        ``name`` (its instance's), ``ports``, pairs of name and width, and ``blocks``, those that are in it.
    """
    modules = {name: body for text in texts for name, body in _MODULE.findall(text)}

    def block(module, name):
        body = modules[module]
        return {
            "name": name,
            "ports": [(port, int(high or 0) + 1) for high, port in _PORT.findall(body) if not _NAMELESS.match(port)],
            "blocks": [
                block(inner, instance)
                for inner, instance in _INSTANCE.findall(body)
                if inner in modules and not _BETWEEN.match(instance)
            ],
        }

    return block(top, top)


def begin_wave(model, path):
    """Write the save file of a waveform that a compiled model is to write, and give its path as the model takes it.

    Parameters
    ----------
    model : ctypes.CDLL
        Of `verilated`, traced.
    path : str or Path, optional
        None: there is to be no waveform.
    """
    if path is None:
        return None
    whole = json.loads(Path(model._name).with_suffix(".json").read_text())
    with replacing(save_file(path), "w") as file:
        save = GTKWSave(file)
        save.dumpfile(os.fspath(path))
        save.savefile(os.fspath(save_file(path)))
        save.timestart(0)
        save.treeopen(f"TOP.{whole['name']}")
        _show(save, whole, "TOP", closed=False)
    return os.fsencode(path)


def _show(save, block, scope, closed=True):
    """A group of a block's ports, with groups of those in it."""
    scope = f"{scope}.{block['name']}"
    with save.group(_name(block["name"]), closed=closed):
        for name, width in block["ports"]:
            save.trace(f"{scope}.{name}" + (f"[{width - 1}:0]" if width > 1 else ""))
        for inner in block["blocks"]:
            _show(save, inner, scope)


def _name(instance):
    plain = instance.partition("$")[0]
    return NAMES.get(plain, plain.replace("_", " "))

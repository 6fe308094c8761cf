"""Registers moved into block RAMs and multipliers: the same netlist, clock by clock."""

import json
from collections import Counter
from pathlib import Path

import bregalad_sim
import pytest
from amaranth import Module, Signal
from amaranth.back import rtlil
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.geometry import PRESETS
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.build.families import ECP5
from bregalad_hw.build.packing import pack_registers
from bregalad_hw.build.synthesis import readable
from bregalad_sim.verilog import netlist_script
from netlists import compare, yosys

MODELS = Path(bregalad_sim.__file__).parent / "ecp5.v"


class Design(wiring.Component):
    """A memory and two products with registers around them, some of which cannot be moved."""

    i: In(47)
    o: Out(72)

    def __init__(self, ram, rows, shared, table=False):
        self.ram, self.rows, self.shared, self.table = ram, rows, shared, table
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        a, b, row = self.i[:18], self.i[18:36], self.i[36:46]
        m.submodules.memory = memory = Memory(shape=18, depth=1024, init=[])
        write, read = memory.write_port(), memory.read_port()
        # Where the register has a reset it stays outside.
        word = Signal(18, reset_less=self.ram)
        m.d.comb += [write.addr.eq(row), write.data.eq(a), write.en.eq(self.i[46]), read.addr.eq(b)]
        m.d.sync += word.eq(read.data)
        factors = [Signal(18, name=f"factor_{i}", reset_less=True) for i in (0, 1)]
        # A register between both blocks goes into one of them.
        m.d.sync += [factors[0].eq(read.data if self.table else a), factors[1].eq(b)]
        value = factors[0] * factors[1]
        for index in range(self.rows):
            after = Signal(36, name=f"product_{index}", reset_less=True)
            m.d.sync += after.eq(value)
            value = after
        m.d.comb += [
            self.o[:18].eq(0 if self.table else word),
            self.o[18:54].eq(value),
            self.o[54:].eq(factors[0] if self.shared else 0),
        ]
        return m


# Rows that are few, and read after they are written; resets.
DRIVE = """
      if (round % 2) i[27:18] = i[45:36] + 1 + round % 5;
      i[45:39] = 0; i[27:21] = 0;
      rst = round % 97 == 5;
"""

# Whether the RAM's register can be moved, registers after the product, whether a factor is used
# elsewhere, whether it is what was read: registers moved into block RAMs and multipliers.
CASES = {
    (True, 2, False): (1, 4),
    (True, 1, True): (1, 3),
    (False, 2, True): (0, 4),
    (True, 0, False): (1, 0),
    (True, 2, False, True): (0, 4),
}


def test_the_netlist_does_the_same(tmp_path):
    """All cases in two runs of Yosys, since starting it takes as long as such a design."""
    synthesis, conversion = "", ""
    for number, case in enumerate(CASES):
        (tmp_path / f"design_{number}.il").write_text(rtlil.convert(Design(*case), name="design", emit_src=False))
        synthesis += (
            f"read_rtlil design_{number}.il\nsetparam -set COLLISION_X_MASK 1'1 t:$memrd_v2\n"
            f"synth_ecp5 -top design\nwrite_json plain_{number}.json\ndesign -reset\n"
        )
        conversion += "".join(
            "design -reset\n" + netlist_script(f"{name}.json", "design", name)
            for name in (f"plain_{number}", f"packed_{number}")
        )
    yosys(tmp_path, synthesis)
    for number, (case, moved) in enumerate(CASES.items()):
        netlist = json.loads((tmp_path / f"plain_{number}.json").read_text())
        # What both blocks could take goes to the one that comes first.
        cells = netlist["modules"]["design"]["cells"]
        netlist["modules"]["design"]["cells"] = dict(reversed(cells.items()))
        done = pack_registers(netlist)
        assert (done["block_rams"], done["multipliers"]) == moved, case
        (tmp_path / f"packed_{number}.json").write_text(json.dumps(netlist))
    yosys(tmp_path, conversion)
    for number in range(len(CASES)):
        compare(tmp_path, f"plain_{number}", f"packed_{number}", DRIVE, MODELS, inputs=47, outputs=72)


class Choice(wiring.Component):
    """One of sixteen, by comparisons with constants."""

    i: In(16)
    by: In(12)
    o: Out(1)

    def elaborate(self, platform):
        m = Module()
        at = sum(self.by > 251 * edge for edge in range(1, 16))
        m.d.sync += self.o.eq(self.i.bit_select(at, 1))
        return m


def test_a_dense_netlist_has_fewer_luts(tmp_path):
    (tmp_path / "design.il").write_text(rtlil.convert(Choice(), name="design", emit_src=False))
    families = {"usual": ECP5(), "dense": ECP5(dense=True)}
    yosys(
        tmp_path,
        "".join(
            f"read_rtlil design.il\n{family.script('design')}\nwrite_json {name}.json\ndesign -reset\n"
            for name, family in families.items()
        ),
    )
    cells = {}
    for name in families:
        netlist = json.loads((tmp_path / f"{name}.json").read_text())
        cells[name] = Counter(cell["type"] for cell in netlist["modules"]["design"]["cells"].values())
    assert ECP5().needs(cells["dense"])["LUT4"] < ECP5().needs(cells["usual"])["LUT4"]
    assert cells["usual"]["PFUMX"] and not cells["dense"]["PFUMX"]


@pytest.mark.slow
def test_lanes(tmp_path):
    """The build's own script leaves every lane's registers where they can be moved from."""
    geometry = PRESETS["tiny"].replace(lanes=2, passes=1, bins=16, slots=64)
    design = rtlil.convert(AttributeProcessorArray(geometry), name="design", emit_src=False)
    (tmp_path / "design.il").write_text(readable(design))
    yosys(tmp_path, f"read_rtlil design.il\n{ECP5().script('design')}\nwrite_json plain.json\n")
    netlist = json.loads((tmp_path / "plain.json").read_text())
    # Duplicates are the same registers, once for every lane.
    inputs = Counter(
        cell["connections"]["DI"][0]
        for cell in netlist["modules"]["design"]["cells"].values()
        if cell["type"] == "TRELLIS_FF"
    )
    assert sum(times == geometry.lanes for times in inputs.values()) > 150
    counters = sum(
        cell["type"] == "DP16KD" and "counters" in name for name, cell in netlist["modules"]["design"]["cells"].items()
    )
    done = pack_registers(netlist)
    # Of each multiplier two rows after the product and one before either factor.
    assert (done["block_rams"], done["multipliers"]) == (counters, 4 * 2 * geometry.lanes)
    assert counters >= geometry.lanes

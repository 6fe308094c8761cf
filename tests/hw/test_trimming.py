"""LUTs saved in the netlist: the same netlist, clock by clock."""

import json
from collections import Counter

import pytest
from amaranth import Cat, Module, Mux, Signal
from amaranth.back import rtlil
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from bregalad_hw.build.trimming import trim_luts
from bregalad_sim.verilog import leave_open, netlist_script
from netlists import compare, yosys

BITS = 24  # of an input and of the output of one operation


OPERATIONS = {
    "sum": lambda a, b, c, d: a + b,
    "difference": lambda a, b, c, d: a - b,
    # A carry that goes on beyond the last bit, and one that alone is of interest.
    "carry": lambda a, b, c, d: (a[:13] + b[:13])[13:],
    "less": lambda a, b, c, d: Cat(a < b, a[:7] <= c[:7], a[:9] > 77),
    "increment": lambda a, b, c, d: Cat(a[:11] + 1, c[:13] - 1),
    "odd": lambda a, b, c, d: Cat(a[:7] + b[:7], c[:5] - d[:5]),
    "either sign": lambda a, b, c, d: (Cat(d[0], a) + Cat(d[0], b ^ d[0].replicate(BITS)))[1:],
    "gated": lambda a, b, c, d: (a & d[0].replicate(BITS)) - (b | c),
    "gated minuend": lambda a, b, c, d: (a & d[0].replicate(BITS)) - b,
    "both gated": lambda a, b, c, d: Mux(d[0], a, 0) + Mux(d[1], 0, b),
    "chosen": lambda a, b, c, d: a + Mux(d[0], b, c),
    "inverse": lambda a, b, c, d: ~a - b,
    # Only one reader may lose its LUT.
    "twice": lambda a, b, c, d: (a + (b & c)) ^ (b & c),
}

OUTPUTS = BITS * len(OPERATIONS)


class Design(wiring.Component):
    """Operations on four numbers, with registers after them."""

    def __init__(self):
        super().__init__({"i": In(4 * BITS), "o": Out(OUTPUTS)})

    def elaborate(self, platform):
        m = Module()
        numbers = [self.i[place:][:BITS] for place in range(0, 4 * BITS, BITS)]
        for number, (name, operation) in enumerate(OPERATIONS.items()):
            result = Signal(BITS, name=name.replace(" ", "_"))
            m.d.sync += result.eq(operation(*numbers))
            m.d.comb += self.o[number * BITS :][:BITS].eq(result)
        return m


# Long carries, too.
DRIVE = f"""
      if (round % 3 == 1) i = i | {{$random(seed), $random(seed), $random(seed)}};
      if (round % 7 == 1) i[{2 * BITS - 1}:{BITS}] = i[{BITS - 1}:0];
      if (round % 7 == 3) i[{2 * BITS - 1}:{BITS}] = ~i[{BITS - 1}:0];
"""


@pytest.fixture(scope="module")
def netlists(tmp_path_factory):
    """The design's netlist before and after, in a folder with both, and what was done."""
    folder = tmp_path_factory.mktemp("trimming")
    (folder / "design.il").write_text(rtlil.convert(Design(), name="design", emit_src=False))
    yosys(folder, "read_rtlil design.il\nsynth_ecp5 -top design\nwrite_json plain.json\n")
    netlist = json.loads((folder / "plain.json").read_text())
    done = trim_luts(netlist)
    (folder / "trimmed.json").write_text(json.dumps(netlist))
    return folder, done


def _cells(path):
    return json.loads(path.read_text())["modules"]["design"]["cells"]


@pytest.mark.parametrize("rounds", [300, pytest.param(4000, marks=pytest.mark.slow)])
def test_the_netlist_does_the_same(rounds, netlists, seed):
    folder, _ = netlists
    trimmed = json.loads((folder / "trimmed.json").read_text())
    leave_open(trimmed)
    (folder / "open.json").write_text(json.dumps(trimmed))
    yosys(
        folder,
        netlist_script("plain.json", "design", "plain")
        + "design -reset\n"
        + netlist_script("open.json", "design", "trimmed"),
    )
    sizes = {"inputs": 4 * BITS, "outputs": OUTPUTS}
    compare(folder, "plain", "trimmed", DRIVE, **sizes, rounds=rounds, seed=seed)


def test_what_is_saved(netlists):
    """A LUT per LUT that is folded; less the sums of chains' first bits, which get one. A second time saves less."""
    folder, done = netlists
    assert all(done.values()), done
    before, after = (
        Counter(cell["type"] for cell in _cells(folder / f"{name}.json").values()) for name in ("plain", "trimmed")
    )
    begins = sum("_begin" in name for name in _cells(folder / "trimmed.json"))
    assert begins <= done["begins"]
    assert before.pop("LUT4") - after.pop("LUT4") == done["carries"] - begins
    assert before == after
    again = trim_luts(json.loads((folder / "trimmed.json").read_text()))
    assert again["ends"] == again["begins"] == 0 and done["carries"] > again["carries"]


def test_no_chain_is_fed(netlists):
    """nextpnr feeds a first carry in that is no open pin, and one out that has a net."""
    folder, _ = netlists
    chains = [cell["connections"] for cell in _cells(folder / "trimmed.json").values() if cell["type"] == "CCU2C"]
    carries = {nets["COUT"][0] for nets in chains} - {"x"}
    assert all(nets["CIN"][0] in carries | {"x"} for nets in chains)
    read = Counter(
        bit
        for cell in _cells(folder / "trimmed.json").values()
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input"
        for bit in bits
    )
    assert all(read[carry] for carry in carries)

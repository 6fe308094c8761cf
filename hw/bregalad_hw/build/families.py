"""Families of FPGAs: what their tools and their netlists differ in."""

import re
from abc import ABC, abstractmethod

from .floorplan import place_lanes
from .packing import pack_registers
from .trimming import trim_luts

# No memory of the design is read where it is written in the same clock, or what it then gives is not used; a block RAM
# alone is enough for that. Queues between two clocks, in modules that have a domain's clock beside `clk`, need nothing
# of the kind. Yosys does not merge registers that are to be kept, so duplicates stay apart.
_BEFORE = r"""
chformal -remove
proc *duplicate_*
setattr -set keep 1 *duplicate_*/t:$dff
select t:$memrd_v2 r:TRANSPARENCY_MASK=1'0 %i r:CLK_ENABLE=1 %i w:*_clk %m %d
setparam -set COLLISION_X_MASK 1'1
select -clear
"""


def _before(block_rams):
    """What Yosys does first; memories of those names it puts into block RAMs, queues of others among them."""
    chosen = "".join(f'setattr -set ram_style "block" -set no_rw_check 1 {name}\n' for name in block_rams)
    return chosen + _BEFORE


def _multiply(path, before, more, places):
    """Multiply what is behind a text wherever a file has it, to so many places."""
    found = re.compile(rf"({before})([\d.]+)")
    path.write_text(found.sub(lambda each: f"{each[1]}{float(each[2]) * more:.{places}f}", path.read_text()))


# Missed clocks are checked by the report of `hw.build`.
_ROUTING = "--timing-allow-fail --seed $SEED $STEP_OPTIONS"


class Family(ABC):
    """What `hw.build` asks of a board's device; a subclass is a family.

    Attributes
    ----------
    tools : tuple of str
        For synthesis, for place and route, and the one that makes the bitstream.
    netlist, routed : str
        Files of the design before and after place and route.
    nouns : dict
        What may run out, by its name in ``Board.resources``.
    routers : tuple of str
        nextpnr's options, to be tried in turn where a router comes to nothing.
    """

    @abstractmethod
    def overrides(self, constraints, clock_hz, block_rams=()):
        """What the platform's templates are filled with.

        Parameters
        ----------
        constraints : str
            The board's.
        clock_hz : float
            Of the array.
        block_rams : iterable of str
            As of `Board`.
        """

    @abstractmethod
    def aim(self, folder, pin, more):
        """Have the router asked for so many times the clocks that come of the board's pin."""

    @abstractmethod
    def needs(self, cells):
        """What a netlist takes, of each of ``nouns``, by how many cells it has of each type."""

    @abstractmethod
    def finish(self, netlist, device, placer):
        """Do, in place, what Yosys leaves to be done in a board's netlist before it is placed."""


class ECP5(Family):
    """Lattice ECP5: Yosys, nextpnr-ecp5 and Project Trellis.

    Parameters
    ----------
    dense : bool
        Whether to take fewer LUTs, for a slower clock: a function of more than four inputs is made of LUTs, not of a
        pair of them and the multiplexer behind it, and constants are compared without carry chains.
    """

    tools = "yosys", "nextpnr-ecp5", "ecppack"
    netlist, routed = "top.json", "top.config"
    nouns = {"DP16KD": "block RAMs", "MULT18X18D": "multipliers", "LUT4": "LUTs"}
    # By slack first: otherwise 32 lanes lose a sixth of the clock that they were placed for. A
    # clock that is out of reach the router may follow for ever; without regard to slack it always
    # ends, so that there is something to report.
    routers = "--router router2 --tmg-ripup", "--router router2"
    # In the netlist, as nextpnr has no options for these. A router that sets less store by how far
    # it seems to be to the end looks at more ways and finds shorter ones.
    _SETTINGS = {"router2/estimateWeight": "1.0"}
    # By placer. Otherwise a wire may leave the box around its ends by three tiles only: in a
    # device whose middle is as full as `static` makes it, nothing would find a way round.
    _MORE = {"static": {"router2/bbMargin/x": "40", "router2/bbMargin/y": "40"}}
    # All eight registers of a tile share two resets and few enables, so a net of less than that
    # keeps others away from where it goes; logic does the same.
    _FIRST = "-run begin:map_ffs"
    _BEHIND = r"""
opt_clean
dfflegalize -cell $_DFF_?_ 01 -cell $_DFF_?P?_ r -cell $_SDFF_?P?_ r -cell $_DFFE_??_ 01 \
    -cell $_DFFE_?P??_ r -cell $_SDFFE_?P??_ r -cell $_DLATCH_?_ x -mince 8 -minsrst 8
synth_ecp5 {options} -top {top} -run map_ffs:
"""

    def __init__(self, dense=False):
        self._options = "-nowidelut -cmp2softlogic" if dense else ""

    def _synthesis(self, top):
        """Yosys' options up to registers, and its commands from there on."""
        return f"{self._options} {self._FIRST}", self._BEHIND.format(options=self._options, top=top)

    def script(self, top):
        """What Yosys does to a design that it has read: a module's name in, a netlist out."""
        options, behind = self._synthesis(top)
        return f"{_BEFORE}\nsynth_ecp5 {options} -top {top}\n{behind}\n"

    def overrides(self, constraints, clock_hz, block_rams=()):
        options, behind = self._synthesis("top")
        return {
            "script_after_read": _before(block_rams),
            "synth_opts": options,
            "script_after_synth": behind,
            "add_preferences": constraints,
            "nextpnr_opts": _ROUTING,
        }

    def aim(self, folder, pin, more):
        _multiply(folder / "top.lpf", f'FREQUENCY PORT "{pin}" ', more, 1)

    def needs(self, cells):
        return {kind: cells[kind] for kind in self.nouns} | {
            "LUT4": cells["LUT4"] + 2 * cells["CCU2C"] + 4 * cells["TRELLIS_DPR16X4"]
        }

    def improve(self, netlist):
        """Do better, in place, what Yosys leaves to be done in a netlist of any design."""
        pack_registers(netlist)
        trim_luts(netlist)

    def finish(self, netlist, device, placer):
        self.improve(netlist)
        place_lanes(netlist, device)
        self.settle(netlist, placer)

    def settle(self, netlist, placer):
        """Say in a netlist what nextpnr has no options for."""
        netlist["modules"]["top"]["settings"] = self._SETTINGS | self._MORE.get(placer, {})


class Gowin(Family):
    """Gowin GW2A: Yosys, nextpnr-himbaechel and Project Apicula."""

    tools = "yosys", "nextpnr-himbaechel-gowin", "gowin_pack"
    netlist, routed = "top.syn.json", "top.pnr.json"
    nouns = {"BSRAM": "block RAMs", "MULT18X18": "multipliers", "LUT4": "LUTs", "DFF": "flip-flops"}
    routers = ("--router router1",)  # what nextpnr takes for it by default
    _RAMS = "SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"

    def overrides(self, constraints, clock_hz, block_rams=()):
        # nextpnr does not know what a PLL makes of its clock; all clocks are the array's.
        return {
            "script_after_read": _before(block_rams),
            "synth_opts": "-family gw2a",
            "nextpnr_opts": f"--freq {clock_hz / 1e6:.3f} {_ROUTING}",
        }

    def aim(self, folder, pin, more):
        _multiply(folder / "build_top.sh", "--freq ", more, 3)

    def needs(self, cells):
        luts = sum(cells[f"LUT{inputs}"] for inputs in range(1, 5))
        return {
            "BSRAM": sum(cells[kind] for kind in self._RAMS),
            "MULT18X18": cells["MULT18X18"] + -(-cells["MULT9X9"] // 2),
            "LUT4": luts + cells["ALU"] + 8 * cells["RAM16SDP4"],
            "DFF": sum(count for kind, count in cells.items() if kind.startswith("DFF")),
        }

    def finish(self, netlist, device, placer):
        """Nothing: these cells have no rules of ours."""

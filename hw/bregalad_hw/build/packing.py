"""Move registers into the block RAMs and multipliers beside them, in an ECP5 netlist.

Yosys leaves the registers that these blocks have unused, and without them they are slow: a block
RAM's data come 5.7 ns after the clock (speed grade 6), a product 4 ns after its factors. The
design keeps plain registers after memories and on both sides of products; they are found here.
"""

from collections import Counter

from .netlist import Netlist

_CONSTANTS = ("0", "1", "x", "z")


class _Registers(Netlist):
    """Registers by the net that they drive, and by the one that they read."""

    def __init__(self, module):
        super().__init__(module, "TRELLIS_FF", "Q")
        self.behind = {self.net(name, "DI"): name for name in self.drivers.values()}

    def _plain(self, name, clock):
        """Whether a register takes its input at every rising edge of ``clock``, from 0 on."""
        if name is None:
            return False
        cell = self.cells[name]
        nets, parameters = cell["connections"], cell["parameters"]
        return (
            nets["CLK"] == clock
            and parameters["CLKMUX"] == "CLK"
            and parameters["REGSET"] == "RESET"
            and nets.get("LSR", ["0"]) == ["0"]
            and (parameters["CEMUX"].strip() == "1" or nets.get("CE") == ["1"])
        )

    def row_behind(self, nets, clock=None):
        """The registers that alone read these nets, and their clock; None if there is another."""
        row = [self.behind.get(net) for net in nets if self.readers[net]]
        if not row or None in row:
            return None
        clock = clock or self.cells[row[0]]["connections"]["CLK"]
        alone = all(self.readers[net] <= 1 for net in nets)
        return (row, clock) if alone and all(self._plain(r, clock) for r in row) else None

    def row_before(self, nets, clock):
        """The registers that drive these nets; None if anything else than constants does, too."""
        row = [self.drivers.get(net) for net in nets if net not in _CONSTANTS]
        if not row or "1" in nets or not all(self._plain(r, clock) for r in row):
            return None
        return row

    def move(self, cell, ports, row):
        """Let ``cell`` drive what its registers drove."""
        to = {self.cells[r]["connections"]["DI"][0]: self.cells[r]["connections"]["Q"][0] for r in row}
        for port in ports:
            net = cell["connections"][port][0]
            if net in to:
                cell["connections"][port] = [to[net]]
        for r in row:
            self.readers[self.cells[r]["connections"]["DI"][0]] = 0
            del self.drivers[self.cells[r]["connections"]["Q"][0]], self.cells[r]

    def pull(self, cell, ports, row):
        """Let ``cell`` read what the registers before it read; these stay for other readers."""
        for r in row:
            nets = self.cells[r]["connections"]
            source, net = nets["DI"][0], nets["Q"][0]
            for port in ports:
                if cell["connections"][port] == [net]:
                    cell["connections"][port] = [source]
                    self.readers[net] -= 1
                    self.readers[source] += 1
            if not self.readers[net]:
                del self.cells[r], self.drivers[net]
                self.readers[source] -= 1
                if self.behind[source] == r:
                    del self.behind[source]


def pack_registers(design):
    """Change a netlist in place; it does the same, clock by clock, as before.

    A block RAM's port takes the registers after its data if nothing else reads these; a multiplier
    takes those before its factors, and one or two rows after its product. Only registers without
    reset and enable are moved, and whole rows of them.

    Parameters
    ----------
    design : dict
        What Yosys writes with ``write_json`` after ``synth_ecp5``.

    Returns
    -------
    dict
        How many ``block_rams`` (ports) and ``multipliers`` (rows) were given registers.
    """
    done = Counter(block_rams=0, multipliers=0)
    for module in design["modules"].values():
        if not any(cell["type"] == "TRELLIS_FF" for cell in module["cells"].values()):
            continue
        netlist = _Registers(module)
        for cell in list(module["cells"].values()):
            if cell["type"] == "DP16KD":
                done["block_rams"] += sum(_pack_ram(netlist, cell, side) for side in "AB")
            elif cell["type"] == "MULT18X18D":
                done["multipliers"] += _pack_multiplier(netlist, cell)
    return dict(done)


def _ports(cell, prefix):
    return [port for port in cell["connections"] if port.startswith(prefix) and port[len(prefix) :].isdigit()]


def _pack_ram(netlist, cell, side):
    """Give a port's data their register; whether there was one."""
    nets, parameters = cell["connections"], cell["parameters"]
    ports = _ports(cell, f"DO{side}")
    found = netlist.row_behind([nets[port][0] for port in ports], nets[f"CLK{side}"])
    # The register in the block follows the clock enable, too: it must always be on. Words of 36
    # bits come out at the pins of both ports, and no manual says whose registers they pass then.
    if (
        found is None
        or int(parameters[f"DATA_WIDTH_{side}"], 2) == 36
        or nets[f"CE{side}"] != ["1"]
        or nets[f"OCE{side}"] != ["1"]
        or nets[f"RST{side}"] != ["0"]
        or parameters[f"CLK{side}MUX"] != f"CLK{side}"
    ):
        return False
    netlist.move(cell, ports, found[0])
    parameters[f"REGMODE_{side}"] = "OUTREG"
    return True


def _pack_multiplier(netlist, cell):
    """Give factors and product their registers; how many rows."""
    nets, parameters = cell["connections"], cell["parameters"]
    ports = _ports(cell, "P")
    rows, clock = [], None
    # The row right after the product is the pipeline's, unless it is the only one.
    while len(rows) < 2:
        found = netlist.row_behind([nets[port][0] for port in ports], clock)
        if found is None:
            break
        row, clock = found
        netlist.move(cell, ports, row)
        rows.append(row)
    used = ["OUTPUT", "PIPELINE"][: len(rows)]
    for factor in "AB" if clock else "":
        row = netlist.row_before([nets[port][0] for port in _ports(cell, factor)], clock)
        if row is not None:
            netlist.pull(cell, _ports(cell, factor), row)
            used.append(f"INPUT{factor}")
    if used:
        nets |= {"CLK0": clock, "CE0": ["1"], "RST0": ["0"]}
        cell["port_directions"] |= {"CLK0": "input", "CE0": "input", "RST0": "input"}
        parameters |= {"GSR": "DISABLED", "RESETMODE": "SYNC"}
        parameters |= {f"REG_{name}_CLK": "CLK0" for name in used}
        parameters |= {f"REG_{name}_{port}": f"{port}0" for name in used for port in ("CE", "RST")}
    return len(used)

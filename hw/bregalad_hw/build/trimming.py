"""Take fewer LUTs than Yosys leaves, in an ECP5 netlist.

What a carry chain's own LUTs can do beside adding, Yosys leaves to others, and nextpnr adds two
pairs of LUTs to each chain, to feed its first carry in and its last one out.
"""

from collections import Counter

from .netlist import Netlist

_ADDER = "1001011010101010"  # A ^ B ^ C while D is 1, and A as what the carry is if that is 0
_INPUTS = "ABCD"


class _Luts(Netlist):
    """LUTs by the net that they drive."""

    def __init__(self, module):
        super().__init__(module, "LUT4", "Z")

    def function(self, name):
        """What a LUT computes: its nets, and a function of a dict of their values."""
        nets = [self.net(name, port) for port in _INPUTS]
        init = int(self.cells[name]["parameters"]["INIT"], 2)
        return (
            nets,
            lambda values: (
                init
                >> sum(
                    (net == "1" if isinstance(net, str) else values.get(net, 0)) << place
                    for place, net in enumerate(nets)
                )
                & 1
            ),
        )

    def add_lut(self, name, net, nets, function):
        """A LUT that drives a net with a function of at most four others."""
        self.cells[name] = {
            "hide_name": 0,
            "type": "LUT4",
            "parameters": {"INIT": _table(nets, function, 4)},
            "attributes": {},
            "port_directions": dict.fromkeys(_INPUTS, "input") | {"Z": "output"},
            "connections": {port: [there] for port, there in zip(_INPUTS, [*nets, *"0000"], strict=False)}
            | {"Z": [net]},
        }
        self.drivers[net] = name

    def remove_lut(self, name):
        del self.drivers[self.net(name, "Z")], self.cells[name]


def _table(nets, function, inputs):
    """A function's truth table as a string of bits, that of all ones first."""
    return "".join(
        str(function({net: place >> i & 1 for i, net in enumerate(nets)})) for place in reversed(range(1 << inputs))
    )


def _support(nets, function):
    """The nets that a function depends on."""
    free = [net for net in dict.fromkeys(nets) if not isinstance(net, str)]
    needed = []
    for net in free:
        others = [other for other in free if other != net]
        for place in range(1 << len(others)):
            values = {other: place >> i & 1 for i, other in enumerate(others)}
            if function(values | {net: 0}) != function(values | {net: 1}):
                needed.append(net)
                break
    return needed


def trim_luts(design):
    """Change a netlist in place; it does the same, clock by clock, as before.

    * Nothing is fed out of a carry chain's end that nobody reads.
    * Where a chain begins with a constant, its first half makes its carry alone, and a LUT of its
      own the sum: nothing is fed in.
    * A LUT of at most two inputs that only a chain reads goes into the chain's LUT.

    Parameters
    ----------
    design : dict
        What Yosys writes with ``write_json`` after ``synth_ecp5``.

    Returns
    -------
    dict
        How many ``ends`` and ``begins`` of chains need nothing, and LUTs went into ``carries``.
    """
    done = Counter(ends=0, begins=0, carries=0)
    for module in design["modules"].values():
        netlist = _Luts(module)
        chains = [name for name, cell in netlist.cells.items() if cell["type"] == "CCU2C"]
        carries = {netlist.net(name, "COUT") for name in chains}
        for name in chains:
            nets = netlist.cells[name]["connections"]
            if nets["COUT"] != ["x"] and not netlist.readers[nets["COUT"][0]]:
                nets["COUT"] = ["x"]
                done["ends"] += 1
            if nets["CIN"][0] not in carries:
                done["begins"] += _begin(netlist, name)
        for name in chains:
            done["carries"] += sum(_fold_into_carry(netlist, name, half) for half in "01")
    return dict(done)


def _is_adder(netlist, name, half):
    cell = netlist.cells[name]
    return (
        cell["parameters"][f"INIT{half}"] == _ADDER
        and cell["parameters"][f"INJECT1_{half}"] == "NO"
        and netlist.net(name, f"C{half}") in ("0", "1")
        and netlist.net(name, f"D{half}") == "1"
    )


def _begin(netlist, name):
    """Make a chain's first carry of its first two bits; whether it can be done."""
    cell = netlist.cells[name]
    nets = cell["connections"]
    if nets["CIN"][0] not in ("0", "1") or not _is_adder(netlist, name, 0):
        return False
    a, b, inverts, carry = (nets[port][0] for port in ("A0", "B0", "C0", "CIN"))
    inverts, carry = int(inverts), int(carry)

    def value(values, net):
        return int(net) if isinstance(net, str) else values[net]

    if nets["S0"][0] != "x" and netlist.readers[nets["S0"][0]]:
        netlist.add_lut(
            f"{name}_begin",
            nets["S0"][0],
            [net for net in dict.fromkeys((a, b)) if not isinstance(net, str)],
            lambda values: value(values, a) ^ value(values, b) ^ inverts ^ carry,
        )
        netlist.readers.update((a, b))
    # Its LUT is 0, and so the carry what its two lowest inputs say.
    nets |= {"CIN": ["x"], "S0": ["x"], "C0": ["1"]}
    cell["parameters"]["INIT0"] = 12 * "0" + _table("ab", lambda v: carry if v["a"] ^ v["b"] ^ inverts else v["a"], 2)
    return True


def _fold_into_carry(netlist, name, half):
    """Put the LUT before one of a bit's summands into the chain; whether there is one."""
    if not _is_adder(netlist, name, half):
        return False
    cell = netlist.cells[name]
    inverts = int(netlist.net(name, f"C{half}"))
    for port, other in (("B", "A"), ("A", "B")):
        net = netlist.net(name, port + half)
        lut = netlist.drivers.get(net)
        if lut is not None and netlist.readers[net] == 1:
            nets, function = netlist.function(lut)
            needed = _support(nets, function)
            if len(needed) <= 2:
                # The other summand comes to A: of two that are equal it is the carry.
                first = inverts if other == "B" else 0
                _add(cell, half, netlist.net(name, other + half), needed, function, first, inverts)
                netlist.readers.subtract(nets)
                netlist.readers.update(needed)
                netlist.remove_lut(lut)
                return True
    return False


def _add(cell, half, summand, needed, function, first, inverts):
    """Let a bit of a chain add a summand, inverted if ``first``, and a function of up to two nets.

    If ``inverts``, one of both is inverted.
    """
    sum_ = _table(
        (0, 1, 2), lambda v: v[0] ^ inverts ^ function({net: v[place] for place, net in enumerate(needed, 1)}), 3
    )
    carry = _table((0,), lambda v: v[0] ^ first, 1)
    cell["parameters"][f"INIT{half}"] = sum_ + 4 * carry
    for port, net in zip("ABC", [summand, *needed, "0", "0"], strict=False):
        cell["connections"][port + half] = [net]

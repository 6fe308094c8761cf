"""Take fewer LUTs than Yosys leaves, in an ECP5 netlist.

What a carry chain's own LUTs can do beside adding, Yosys leaves to others, and nextpnr adds two
pairs of LUTs to each chain, to feed its first carry in and its last one out.
"""

from collections import Counter

from .netlist import Netlist

__all__ = ["trim_luts"]

_ADDER = "1001011010101010"  # A ^ B ^ C while D is 1, and A as what the carry is if that is 0
_INPUTS = "ABCD"


class _Luts(Netlist):
    """LUTs, and multiplexers (PFUMX) of two, by the net that they drive."""

    def __init__(self, module):
        super().__init__(module, "LUT4", "Z")
        self.multiplexers = {self.net(name, "Z"): name for name, cell in self.cells.items() if cell["type"] == "PFUMX"}

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

    def set_lut(self, name, nets, function):
        """Let a LUT compute a function of at most four nets."""
        cell = self.cells[name]
        for place, port in enumerate(_INPUTS):
            cell["connections"][port] = [nets[place] if place < len(nets) else "0"]
        cell["parameters"]["INIT"] = _table(nets, function, 4)

    def add_lut(self, name, net):
        """A LUT, whose function is still to be set, that drives a net."""
        self.cells[name] = _cell("LUT4", _INPUTS, {"Z": [net]})
        self.drivers[net] = name

    def remove_lut(self, name):
        del self.drivers[self.net(name, "Z")], self.cells[name]

    def halves(self, name):
        """The LUTs that a multiplexer alone reads, that of 0 first, or None if it has not both."""
        nets = [self.net(name, port) for port in ("BLUT", "ALUT")]
        if isinstance(self.net(name, "C0"), str) or any(
            net not in self.drivers or self.readers[net] != 1 for net in nets
        ):
            return None
        return [self.drivers[net] for net in nets]

    def multiplexed(self, name):
        """What a multiplexer and its two LUTs compute, as `function` says it."""
        select = self.net(name, "C0")
        sides = [self.function(lut) for lut in self.halves(name)]
        return ([select, *sides[0][0], *sides[1][0]], lambda values: sides[values.get(select, 0)][1](values))

    def source(self, net):
        """What is computed for a net, as `function` says it, and its LUTs; None if unknown."""
        if net in self.drivers:
            return *self.function(self.drivers[net]), [self.drivers[net]]
        name = self.multiplexers.get(net)
        if name is None or self.halves(name) is None:
            return None
        return *self.multiplexed(name), self.halves(name)

    def remove_source(self, net):
        nets, _, luts = self.source(net)
        self.readers.subtract(nets)
        if net in self.multiplexers:
            self.readers.subtract(self.net(lut, "Z") for lut in luts)
            del self.cells[self.multiplexers.pop(net)]
        for lut in luts:
            self.remove_lut(lut)


def _cell(kind, inputs, nets):
    """A new cell, whose output is Z."""
    directions = dict.fromkeys(inputs, "input") | {"Z": "output"}
    told = {"hide_name": 0, "type": kind, "parameters": {}, "attributes": {}}
    return told | {"port_directions": directions, "connections": nets}


def _table(nets, function, inputs):
    """A function's truth table as a string of bits, that of all ones first."""
    return "".join(
        str(function({net: place >> i & 1 for i, net in enumerate(nets)})) for place in reversed(range(1 << inputs))
    )


def _support(nets, function, fixed):
    """The nets, less those that are fixed, that a function depends on."""
    free = [net for net in dict.fromkeys(nets) if not isinstance(net, str) and net not in fixed]
    needed = []
    for net in free:
        others = [other for other in free if other != net]
        for place in range(1 << len(others)):
            values = fixed | {other: place >> i & 1 for i, other in enumerate(others)}
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
    * A LUT that only one of the two LUTs before a multiplexer (PFUMX) reads goes into that, where
      another choice of the multiplexer's input makes room.
    * A LUT and two or more that it alone reads become two before a multiplexer, where these have
      room.

    Parameters
    ----------
    design : dict
        What Yosys writes with ``write_json`` after ``synth_ecp5``.

    Returns
    -------
    dict
        How many ``ends`` and ``begins`` of chains need nothing, LUTs went into ``carries`` and
        into ``multiplexers``, and were saved by ``pairs`` before new ones.
    """
    done = Counter(ends=0, begins=0, carries=0, multiplexers=0, pairs=0)
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
        for name in list(netlist.multiplexers.values()):
            if name in netlist.cells:  # it may have gone into another
                done["multiplexers"] += _fold_into_multiplexer(netlist, name)
        halves = {netlist.net(name, port) for name in netlist.multiplexers.values() for port in ("ALUT", "BLUT")}
        for net, name in list(netlist.drivers.items()):
            if net not in halves and name in netlist.cells:
                done["pairs"] += _make_multiplexer(netlist, name)
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
        lut = f"{name}_begin"
        netlist.add_lut(lut, nets["S0"][0])
        netlist.set_lut(
            lut,
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
            needed = _support(nets, function, {})
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


def _fold_into_multiplexer(netlist, name):
    """Put LUTs in front of a PFUMX's two into these; how many."""
    pair = netlist.halves(name)
    if pair is None:
        return 0
    split = _Split(netlist, *netlist.multiplexed(name))
    if split.saved:
        split.carry_out(pair)
        netlist.cells[name]["connections"]["C0"] = [split.chosen]
    return split.saved


def _make_multiplexer(netlist, name):
    """Do with a PFUMX and its two LUTs what a LUT and LUTs in front of it did; LUTs saved."""
    split = _Split(netlist, *netlist.function(name))
    if split.saved < 2:
        return 0
    out = netlist.net(name, "Z")
    netlist.remove_lut(name)
    pair, between = [f"{name}_{side}" for side in ("BLUT", "ALUT")], netlist.new_nets(2)
    for lut, net in zip(pair, between, strict=True):
        netlist.add_lut(lut, net)
    split.carry_out(pair)
    netlist.multiplexers[out] = f"{name}_PFUMX"
    nets = {"ALUT": [between[1]], "BLUT": [between[0]], "C0": [split.chosen], "Z": [out]}
    netlist.cells[f"{name}_PFUMX"] = _cell("PFUMX", ("ALUT", "BLUT", "C0"), nets)
    netlist.readers.update(between)
    return split.saved - 1


class _Split:
    """A function, and of LUTs that it alone reads as many as there is room for, as two LUTs.

    Attributes
    ----------
    chosen : int or None
        The net that chooses between the two.
    gone : list
        The nets whose LUTs are done with.
    saved : int
        How many LUTs these are.
    """

    def __init__(self, netlist, nets, function):
        self.netlist, self.nets, self.function = netlist, nets, function
        self.chosen, self.cofactors, self.gone, self.saved = None, [], [], 0
        needed = _support(nets, function, {})
        self.children = children = {}
        for net in needed:
            source = netlist.source(net)
            if source and netlist.readers[net] == nets.count(net):
                children[net] = source
        candidates = dict.fromkeys(needed) if children else {}
        for inputs, _, _ in children.values():
            candidates |= {net: None for net in inputs if not isinstance(net, str)}
        for chosen in candidates:
            cofactors = [_support(needed, function, {chosen: value}) for value in (0, 1)]
            gone, saved = [], 0
            for net, (inputs, own, luts) in children.items():
                with_child = [
                    list(dict.fromkeys([n for n in side if n != net] + _support(inputs, own, {chosen: value})))
                    if net in side
                    else side
                    for value, side in enumerate(cofactors)
                ]
                if net != chosen and max(map(len, with_child)) <= 4:
                    cofactors = with_child
                    gone.append(net)
                    saved += len(luts)
            if saved > self.saved:
                self.chosen, self.cofactors, self.gone, self.saved = chosen, cofactors, gone, saved

    def carry_out(self, pair):
        """Make LUTs of the two halves, that of 0 first."""
        netlist, children = self.netlist, self.children

        def whole(values):
            return self.function(values | {net: children[net][1](values) for net in self.gone})

        for net in self.gone:
            netlist.remove_source(net)
        netlist.readers.subtract(self.nets)
        for value, lut in enumerate(pair):
            netlist.set_lut(lut, self.cofactors[value], lambda v, at=value: whole(v | {self.chosen: at}))
            netlist.readers.update(self.cofactors[value])
        netlist.readers.update([self.chosen])

"""A block, beside it what its streams have to do, and what else is claimed of it."""

from dataclasses import dataclass

from amaranth import Assert, Assume, ClockDomain, Elaboratable, Module, Signal, Value
from amaranth.lib import stream


class Watched(Elaboratable):
    """A block, its streams' contract, and more to be shown.

    Parameters
    ----------
    block : wiring.Component
    more : callable, optional
        ``more(m, block)`` adds assertions and assumptions.
    but : tuple of str
        Streams to which the contract does not apply.
    """

    def __init__(self, block, more=None, but=()):
        self.block = block
        self.more = more
        self.but = but
        self.sync = ClockDomain(reset_less=True)

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = self.sync
        m.submodules.block = self.block
        for name, member in self.block.signature.members.items():
            if member.is_signature and isinstance(member.signature, stream.Signature) and name not in self.but:
                made_here = member.flow.name == "Out"
                hold(m, getattr(self.block, name), Assert if made_here else Assume)
        if self.more is not None:
            self.more(m, self.block)
        return m

    def ports(self):
        """The clock, and all signals of the block's ports."""
        return [self.sync.clk, *ports_of(self.block)]


def ports_of(block):
    """All signals of a block's ports."""
    return [Value.cast(value) for _, _, value in block.signature.flatten(block)]


def hold(m, port, check):
    """What a stream offers stays until it is taken."""
    payload = Value.cast(port.payload)
    offered, before = Signal(), Signal(len(payload))
    m.d.sync += [offered.eq(port.valid & ~port.ready), before.eq(payload)]
    name = port.valid.name.removesuffix("__valid")
    m.d.comb += check(~offered | (port.valid & (payload == before)), f"{name} is held")


def steady(m, *values):
    """Assume of each that it is always the same."""
    began = Signal()
    m.d.sync += began.eq(1)
    for value in values:
        before = Signal(len(value))
        m.d.sync += before.eq(value)
        m.d.comb += Assume(~began | (before == value))


def soon(m, port, clocks, given=None):
    """A stream's input is ready again after at most ``clocks`` clocks while ``given`` holds."""
    waited = Signal(range(clocks + 2))
    with m.If(port.ready | (0 if given is None else ~given)):
        m.d.sync += waited.eq(0)
    with m.Elif(waited <= clocks):
        m.d.sync += waited.eq(waited + 1)
    m.d.comb += Assert(waited <= clocks, "locked up")


@dataclass(frozen=True)
class Proof:
    """What is proved, of what, and how.

    Parameters
    ----------
    says : str
    make : callable
        Makes what is elaborated.
    mode, depth
        Of SymbiYosys.
    trusted : str
        A module below whose own assertions are assumed: another proof shows them.
    """

    says: str
    make: object
    mode: str = "prove"
    depth: int = 3
    trusted: str = ""

"""AXI from one clock to another."""

from amaranth import Cat, Module
from amaranth.lib import fifo, wiring
from amaranth.lib.wiring import In, Out

from ..members import drive

CHANNELS = ("aw", "w", "b", "ar", "r")  # by which the names of their signals begin
BACK = ("b", "r")  # come from the subordinate
_LONG = ("w", "r")  # have a word per clock
_SHAKE = ("valid", "ready")
_WORDS, _HEADS = 16, 4  # that a queue holds; the former as many as its pointers take clocks there and back, and more


class AxiCrossing(wiring.Component):
    """Each channel of a bus by a queue of its own, whose pointers cross as Gray codes.

    Both domains must be reset together, for 16 clocks of the slower one. The paths between them must take less than a
    clock of the faster one: `package` writes constraints.

    Parameters
    ----------
    signature : Signature
        Of AXI4 or AXI4-Lite, seen from the manager.
    manager, subordinate : str
        Domains of ``i`` and of ``o``.

    Members
    -------
    i : In(signature), o : Out(signature)

    Latency: 2 clocks of the domain that writes and 4 of that which reads, at most. Throughput: a word per clock of the
    slower one.
    """

    def __init__(self, signature, manager, subordinate):
        self.domains = manager, subordinate
        super().__init__({"i": In(signature), "o": Out(signature)})

    def elaborate(self, platform):
        m = Module()
        names = self.o.signature.members
        for channel in CHANNELS:
            if f"{channel}valid" not in names:
                continue
            fields = [name for name in names if _channel_of(name) == channel and name[len(channel) :] not in _SHAKE]
            back = channel in BACK
            source, target = (self.o, self.i) if back else (self.i, self.o)
            writes, reads = reversed(self.domains) if back else self.domains
            payload = Cat(getattr(source, name) for name in fields)
            queue = fifo.AsyncFIFOBuffered(
                width=len(payload),
                depth=_WORDS if channel in _LONG else _HEADS,
                w_domain=writes,
                r_domain=reads,
            )
            m.submodules[channel] = queue
            m.d.comb += [
                *drive(queue, w_data=payload, w_en=getattr(source, f"{channel}valid")),
                getattr(source, f"{channel}ready").eq(queue.w_rdy),
                Cat(getattr(target, name) for name in fields).eq(queue.r_data),
                getattr(target, f"{channel}valid").eq(queue.r_rdy),
                queue.r_en.eq(getattr(target, f"{channel}ready")),
            ]
        return m


def _channel_of(name):
    """The channel that a signal belongs to: the longest that its name begins with."""
    return max((channel for channel in CHANNELS if name.startswith(channel)), key=len)

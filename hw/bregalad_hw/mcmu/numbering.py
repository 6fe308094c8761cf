"""Numbers of records on their way through the tracker, and what follows from them."""

from amaranth import Cat, Mux, Signal

from ..members import drive
from .phase import Phase


class Numbers:
    """Number records as they are fetched; say what is due, and what is counted.

    A record with MINUS or TEST has the number of the one before it.

    Parameters
    ----------
    tracker : Tracker
        Its ``tree``, ``renumber`` and ``last_number`` are read; its ``counted`` is driven, by `report`.

    Attributes
    ----------
    ready : Signal
        Records may come.
    fetched, node : Signal(32)
        Number of the record of the node fetched, and of that of the node that counts.
    """

    def __init__(self, tracker):
        self._tracker = tracker
        self._phase = Phase()
        self.ready = self._phase.ready
        self.fetched, self.node = (Signal(32, name=f"{name}_number") for name in ("fetched", "node"))
        # Of the record fetched: it has a number of its own, it is the last copy.
        self._counts, self._last = (Signal(name=f"number_{name}") for name in ("counts", "last"))

    def number_records(self, m, shown, shown_valid, moves):
        """Number what moves from ``shown`` on, where that is the first node of a record's first copy."""
        tracker, phase, fetched = self._tracker, self._phase, self.fetched
        m.submodules.phase = phase
        learns = ~shown.header.minus & ~shown.header.test
        own = shown.own & ~shown.header.alternate if tracker.geometry.alternates else shown.own
        with m.If(moves):
            m.d.sync += [self._counts.eq(learns), self._last.eq(~shown.header.more)]
        m.d.comb += [
            *drive(phase, every=tracker.tree.every.records, number=fetched, jumps=tracker.renumber),
            phase.next.eq(moves & shown_valid & own & learns & ~shown.header.again),
        ]
        with m.If(phase.next):
            m.d.sync += fetched.eq(fetched + 1)
        with m.If(tracker.renumber):
            m.d.sync += fetched.eq(tracker.last_number)

    def summon(self, row, due, stages):
        """Whether the row fetched becomes due: ``due`` or as all inner slots, but not one that is due already."""
        all_inner = self._phase.multiple
        return (
            (due | (self._counts & row.row.inner & all_inner))
            & self._last
            & ~Mux(row.same & stages.valid, row.written.due, row.row.due)
        )

    def report(self, m, ended):
        """Say up to which number all is counted: a record has ``ended`` with this clock, or the number was set."""
        passing = Signal(2)  # another number goes a record's way
        m.d.sync += passing.eq(Cat(self._tracker.renumber, passing))
        with m.If(passing[0]):
            m.d.sync += self.node.eq(self.fetched)
        with m.If(ended | passing[1]):
            m.d.sync += self._tracker.counted.eq(self.node)

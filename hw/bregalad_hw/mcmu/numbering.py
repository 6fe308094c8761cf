"""Numbers of records on their way through the tracker, and what follows from them."""

from amaranth import Cat, Mux, Signal

from .phase import Phase
from .slots import SINCE_WIDTH

__all__ = ["Numbers"]


class Numbers:
    """Number records as they are fetched; say what is due, what is counted, and which leaf has waited too long.

    A record with MINUS or TEST has the number of the one before it.

    Parameters
    ----------
    tracker : Tracker
        Its ``tree``, ``begun``, ``renumber`` and ``last_number`` are read; its ``counted``, ``overdue`` and
        ``overdue_at`` are driven, by `tell` and `wait`.

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

    def give(self, m, shown, shown_valid, moves):
        """Number what moves from ``shown`` on, where that is the first node of a record's first copy."""
        tracker, phase, fetched = self._tracker, self._phase, self.fetched
        m.submodules.phase = phase
        learns = ~shown.header.minus & ~shown.header.test
        own = shown.own & ~shown.header.alternate if tracker.geometry.alternates else shown.own
        with m.If(moves):
            m.d.sync += [self._counts.eq(learns), self._last.eq(~shown.header.more)]
        m.d.comb += [
            phase.every.eq(tracker.tree.every.records),
            phase.number.eq(fetched),
            phase.next.eq(moves & shown_valid & own & learns & ~shown.header.again),
            phase.jumps.eq(tracker.renumber),
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

    def move(self, row):
        """Assignments as the node fetched becomes the one that counts."""
        return [
            self.node.eq(self.fetched),
            row.node_limit.eq(row.limit),
            row.node_never.eq(row.never),
            row.node_fresh.eq(row.row.tried & (row.row.tried_at == self._tracker.begun)),
        ]

    def tell(self, m, ended):
        """Say up to which number all is counted: a record has ``ended`` with this clock, or the number was set."""
        passing = Signal(2)  # another number goes a record's way
        m.d.sync += passing.eq(Cat(self._tracker.renumber, passing))
        with m.If(passing[0]):
            m.d.sync += self.node.eq(self.fetched)
        with m.If(ended | passing[1]):
            m.d.sync += self._tracker.counted.eq(self.node)

    def wait(self, m, row, counted):
        """Say, two clocks later, whether a leaf has waited too long.

        Parameters
        ----------
        counted : Value
            The record's own slot has counted a record that learns, with its last beat in this clock.
        """
        tracker = self._tracker
        margin = tracker.tree.block.margin
        counts, since = Signal(), Signal(SINCE_WIDTH)
        most = Signal(SINCE_WIDTH + 2)  # that may have been counted
        number = Signal(32, name="waits_number")
        m.d.sync += [
            counts.eq(counted & ~row.after.inner & ~row.node_never & margin.any()),
            since.eq(row.after.since),
            most.eq(margin + Mux(row.node_fresh, 0, row.node_limit + 1)),
            number.eq(self.node),
            tracker.overdue.eq(counts & (since >= most)),
            tracker.overdue_at.eq(number),
        ]

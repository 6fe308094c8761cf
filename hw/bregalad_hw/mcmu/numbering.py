"""Numbers of records on their way through the tracker, and what they say of trials."""

from amaranth import Cat, Mux, Signal

from .phase import Phase

__all__ = ["Numbers"]


class Numbers:
    """Number records as they are fetched; say which of their slots are tried, and what is counted.

    A record with MINUS or TEST has the number of the one before it.

    Parameters
    ----------
    tracker : Tracker
        Its ``tree``, ``renumber`` and ``last_number`` are read; its ``counted`` is driven, by `tell`.

    Attributes
    ----------
    ready : Signal
        Records may come.
    fetched, node : Signal(32)
        Number of the record of the node fetched, and of that of the node that counts.
    until : Signal(32)
        Up to which no other trial comes of the node's slots, if there is one now.
    """

    def __init__(self, tracker):
        self._tracker = tracker
        self._phase = Phase()
        self.ready = self._phase.ready
        names = ("fetched", "node", "until")
        self.fetched, self.node, self.until = (Signal(32, name=f"{name}_number") for name in names)
        # `until` is later than the number. Of the record fetched: it has a number of its own, it is the last copy.
        self._later, self._counts, self._last = (Signal(name=f"number_{name}") for name in ("later", "counts", "last"))

    def give(self, m, shown, shown_valid, moves):
        """Number what moves from ``shown`` on, where that is the first node of a record's first copy."""
        tracker, phase, fetched = self._tracker, self._phase, self.fetched
        m.submodules.phase = phase
        learns = ~shown.header.minus & ~shown.header.test
        m.d.sync += self._later.eq(tracker.tree.delay.records != 0)
        with m.If(moves):
            m.d.sync += [self._counts.eq(learns), self._last.eq(~shown.header.more)]
        m.d.comb += [
            phase.every.eq(tracker.tree.every.records),
            phase.number.eq(fetched),
            phase.next.eq(moves & shown_valid & shown.own & learns & ~shown.header.again),
            phase.jumps.eq(tracker.renumber),
        ]
        with m.If(phase.next):
            m.d.sync += fetched.eq(fetched + 1)
        with m.If(tracker.renumber):
            m.d.sync += fetched.eq(tracker.last_number)

    def allow(self, m, rows, dues, stages, moves):
        """Of each row fetched, whether it is tried: ``dues`` or all inner slots, and no trial before is still out."""
        again = Signal()
        m.d.comb += again.eq(self._later | ~(stages.fetched.own & self._counts))  # that of the node is still out

        def still(row):
            """The number at hand is not above ``until``; numbers go round. TEST changes nothing."""
            return row.out & (~(row.until - self.fetched)[31] | stages.fetched.header.test)

        for each in rows:
            newer = Mux(each.due, again, still(each.after))
            m.d.comb += each.out.eq(Mux(each.same & stages.valid, newer, still(each.row)))
            with m.If(moves):
                m.d.sync += each.after.out.eq(each.out)
        all_inner = self._phase.multiple
        return [
            (due | (self._counts & each.row.inner & all_inner)) & self._last & ~each.out
            for each, due in zip(rows, dues, strict=True)
        ]

    def move(self):
        """Assignments as the node fetched becomes the one that counts."""
        return [self.node.eq(self.fetched), self.until.eq(self.fetched + self._tracker.tree.delay.records)]

    def tell(self, m, ended):
        """Say up to which number all is counted: a record has ``ended`` with this clock, or the number was set."""
        passing = Signal(2)  # another number goes a record's way
        m.d.sync += passing.eq(Cat(self._tracker.renumber, passing))
        with m.If(passing[0]):
            m.d.sync += self.node.eq(self.fetched)
        with m.If(ended | passing[1]):
            m.d.sync += self._tracker.counted.eq(self.node)

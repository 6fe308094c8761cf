"""The order in which a page's zooms and counts go to memory and come back."""

from amaranth import Cat, Mux, Signal

__all__ = ["PageWalk"]


class PageWalk:
    """A page's items in order: the zooms of all cells, pass by pass, then their counts, bin by bin.

    With ``all_lanes`` a zoom for each pass and a word for each of its bins, as operations of all lanes take them.
    """

    def __init__(self, m, geometry):
        self._m, self._geometry = m, g = m, geometry
        self.zooms, self.ended, self.last, self.all_lanes = (
            Signal(name=f"walk_{name}") for name in ("zooms", "ended", "last", "all_lanes")
        )
        ends = {"label": g.classes, "bin": g.bins, "lane": g.lanes, "pass_": g.passes}
        self.cell = {name: Signal(range(max(2, end)), name=f"walk_{name}") for name, end in ends.items()}
        last = {name: place == ends[name] - 1 for name, place in self.cell.items()}
        self._last = {
            "label": last["label"] | self.zooms | self.all_lanes,
            "bin": last["bin"] | self.zooms,
            "lane": last["lane"] | self.all_lanes,
            "pass_": last["pass_"],
        }
        m.d.comb += self.last.eq(Cat(self._last.values()).all() & ~self.zooms)

    def begin(self):
        self._m.d.sync += [self.zooms.eq(1), self.ended.eq(0), *(place.eq(0) for place in self.cell.values())]

    def go_on(self):
        m, carry = self._m, 1
        for name, place in self.cell.items():
            m.d.sync += place.eq(Mux(carry, Mux(self._last[name], 0, place + 1), place))
            carry = carry & self._last[name]
        with m.If(carry):
            m.d.sync += [self.zooms.eq(0), self.ended.eq(~self.zooms)]

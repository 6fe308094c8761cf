"""The order in which a page's bin windows and counts go to memory and come back."""

from amaranth import Cat, Mux, Signal


class PageWalk:
    """A page's items in order, each of all lanes: bin windows pass by pass, then counts pass by pass, bin by bin."""

    def __init__(self, m, geometry):
        self._m = m
        self.bin_windows, self.ended, self.last = (
            Signal(name=f"walk_{name}") for name in ("bin_windows", "ended", "last")
        )
        ends = {"label": geometry.classes, "bin": geometry.bins, "pass_": geometry.passes}
        self.cell = {name: Signal(range(max(2, end)), name=f"walk_{name}") for name, end in ends.items()}
        self._last = {name: place == ends[name] - 1 for name, place in self.cell.items()}
        for name in ("label", "bin"):
            self._last[name] |= self.bin_windows
        m.d.comb += self.last.eq(Cat(self._last.values()).all() & ~self.bin_windows)

    def begin(self):
        self._m.d.sync += [self.bin_windows.eq(1), self.ended.eq(0), *(place.eq(0) for place in self.cell.values())]

    def go_on(self):
        m, carry = self._m, 1
        for name, place in self.cell.items():
            m.d.sync += place.eq(Mux(carry, Mux(self._last[name], 0, place + 1), place))
            carry = carry & self._last[name]
        with m.If(carry):
            m.d.sync += [self.bin_windows.eq(0), self.ended.eq(~self.bin_windows)]

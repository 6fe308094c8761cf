"""Rows to records: label, flags, and a code for each attribute."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out
from bregalad.geometry import CODE_WIDTH, MISSING
from bregalad.protocol.rows import KEY_BYTES, KIND_BYTES, RowKind, places_of

from ..delay import DelayLine
from ..members import assign, drive, members_of, pass_on
from .cutter import Cutter
from .search import Search, search_latency, sought_layout

_SIGN = 1 << 31
_INFINITY = 0x7F800000  # bits of a float; those of a NaN are more
_NO_CLASS = 255
# Of what the cutter gives, what is not searched.
_PLACE, _HEAD = ("first", "end", "beat", "last"), ("label", "flags", "has_label", "has_flags")
_CUT = ("command", "i", "room", "stop", "begun", "starved", "busy")


def _search_clocks(geometry):
    """From a step to what its searchers have found."""
    return 1 + search_latency(places_of(geometry)) if geometry.searchers else 0


def codes_layout(geometry):
    """P codes of a record, beside them what is known of it."""
    return data.StructLayout(
        {
            "label": 8,
            "flags": 8,
            "codes": data.ArrayLayout(CODE_WIDTH, geometry.lanes),
            "first": 1,
            "last": 1,
        }
    )


class Quantiser(wiring.Component):
    """Take rows as a program has them in memory, and give records.

    Everything goes through one pipeline, in the order that it came in: numbers, codes, labels, and the edges that
    change what numbers become. Nothing in it waits; so whoever takes the beats says when there is room. ::

        words -> Cutter -> key per searcher -> Search x V -> codes of a beat
                   ^
        commands --+

    A step brings a number to each of V searchers, or a code in each of the bus' bytes, which waits as long. Without
    searchers a step of numbers gives none, and its record's label is 255.

    A number's code is how many edges are at or below it, as of the host's `CodeBook`; edges are keys that compare as
    unsigned integers (`bregalad.data.keys`). NaN is missing, 255. An infinite float is coded as it compares.

    Parameters
    ----------
    geometry : Geometry
    steps : int
        Of a row at most, a power of two, at least 2.

    Members
    -------
    command : In(stream of ROW_COMMAND)
        Records, edges, a layout; see `Cutter`.
    i : In(stream of bus words)
        What follows the commands.
    room : In(1)
        Steps of rows begin only then; ``under_way`` beats at most may come afterwards.
    o : Out({valid: 1, payload: codes_layout(geometry)})
        ceil(d / P) beats a record, to be taken when they come; a record's last step completes one, too. Lanes beyond
        the record's end hold 255. Label and flags are right in the last beat.
    stop, begun, starved
        Of the `Cutter`.
    busy : Out(1)
        A command has not ended. The beats of one that has may still come.

    Latency: ``latency`` clocks from the transfer of the word that completes a beat to ``o.valid``. Throughput: a step
    per clock while the words bring enough bytes: V numbers, or a code per byte of the bus.

    Source: docs/hardware.md, Quantiser.
    """

    def __init__(self, geometry, steps=64):
        self.geometry = g = geometry
        self.cutter = Cutter(g, steps)
        self.latency = Cutter.latency + _search_clocks(g) + 1
        self.under_way = self.latency - 1
        super().__init__(
            {
                **members_of(self.cutter, *_CUT),
                "o": Out(wiring.Signature({"valid": Out(1), "payload": Out(codes_layout(g))})),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        m.submodules.cutter = self.cutter
        pass_on(m, self.cutter, self, *_CUT)
        cut = self.cutter.o
        found = [self._search(m, searcher, cut) for searcher in range(g.searchers)]

        # What is not searched waits for what is; codes do in the searchers, as far as these are wide enough.
        step, searched = cut.beside, KEY_BYTES * g.searchers
        waits = data.StructLayout(
            {
                "step": 1,
                "begins": 1,
                "codes": 1,
                **{name: step[name].shape() for name in _PLACE},
                **{name: cut[name].shape() for name in _HEAD},
                "beyond": CODE_WIDTH * (g.bus_bytes - searched),
            }
        )
        late = Signal(waits)
        m.d.comb += [
            late.codes.eq(step.kind == RowKind.CODE),
            *assign(late, step, "step", "begins", *_PLACE),
            *assign(late, cut, *_HEAD),
            late.beyond.eq(cut.window.as_value()[CODE_WIDTH * searched :]),
        ]
        if latency := _search_clocks(g):
            for name, clocks in (("ahead", latency // 2), ("behind", latency - latency // 2)):
                m.submodules[name] = line = DelayLine(len(late.as_value()), clocks)
                m.d.comb += line.i.eq(late)
                late = data.View(waits, line.o)

        self._collect(m, late, found)
        return m

    def _search(self, m, searcher, cut):
        """Give a searcher its number, or an edge; what it has found."""
        step, window = cut.beside, cut.window
        search = Search(places_of(self.geometry))
        m.submodules[f"search_{searcher}"] = search

        def number(size):
            return Cat(window[size * searcher + byte] for byte in range(size))

        whole = number(KEY_BYTES)
        given = Signal(sought_layout(search.rows), name=f"given_{searcher}", reset_less=True)
        m.d.sync += [
            *drive(given, key=whole, out=step.out, row=step.row, write=step.edge & (step.searcher == searcher)),
            given.path.eq(Mux(step.edge, step.path, 0)),
        ]
        # Keys have the order of the numbers.
        with m.Switch(step.kind):
            for kind in (RowKind.U8, RowKind.U16):
                with m.Case(kind):
                    m.d.sync += given.key.eq(number(KIND_BYTES[kind]))
            with m.Case(RowKind.I32):
                m.d.sync += given.key.eq(whole ^ _SIGN)
            with m.Case(RowKind.F32):
                m.d.sync += [given.key.eq(whole ^ Mux(whole[-1], ~0, _SIGN)), given.out.eq(whole[:-1] > _INFINITY)]
        m.d.comb += search.i.eq(given)
        return search.o

    def _collect(self, m, step, found):
        """Put a step's codes to their lanes, and give the beat that it completes."""
        g, out = self.geometry, self.o.payload
        codes = Cat(*(each.key for each in found), step.beyond)
        complete, given = Signal(init=1), Signal()  # the last step completed a beat; one of this record is given
        m.d.sync += self.o.valid.eq(step.step & step.beat)
        with m.If(step.step):
            m.d.sync += [
                complete.eq(step.beat),
                given.eq(step.beat | (given & ~step.begins)),
                *drive(out, first=step.begins | ~given, last=step.last),
            ]
            with m.If(step.has_label):
                m.d.sync += out.label.eq(step.label)
            with m.If(step.has_flags):
                m.d.sync += out.flags.eq(step.flags)
            if not found:
                numbers, before = Signal(), Signal()  # the record has some
                m.d.comb += numbers.eq(~step.codes | (before & ~step.begins))
                m.d.sync += before.eq(numbers)
                with m.If(numbers):
                    m.d.sync += out.label.eq(_NO_CLASS)
            for lane in range(g.lanes):
                code = codes.word_select(lane % g.bus_bytes, CODE_WIDTH)
                number = MISSING
                if found:
                    searched = found[lane % len(found)]
                    number = searched.path | searched.out.replicate(CODE_WIDTH)
                with m.If((step.first <= lane) & (lane < step.end)):
                    m.d.sync += out.codes[lane].eq(Mux(step.codes, code, number))
                with m.Elif(step.begins | complete):
                    m.d.sync += out.codes[lane].eq(MISSING)

"""Walks that go round together, a step of one of them in every clock."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, MISSING
from bregalad.protocol.nodes import NodeKind

from ..delay import delay
from ..members import drive
from .node_table import NodeTable, rows_signature

_AFTER_ROW = 4  # stages from a node's row to the child: codes, two of their choice, branch


def beat_layout(nodes, codes):
    """Some codes of a record, beside its last ones the root that it begins at, and whether it is numbered."""
    return data.StructLayout(
        {"codes": data.ArrayLayout(CODE_WIDTH, codes), "root": range(nodes), "numbered": 1, "last": 1}
    )


def ways_layout(nodes, alternates):
    """Where a record goes: the leaves of its ways, the first its own."""
    return data.StructLayout(
        {
            "leaves": data.ArrayLayout(range(nodes), 1 + alternates),
            "more": range(1 + alternates),
            "lost": 1,
            "numbered": 1,
        },
    )


class Ring(wiring.Component):
    """Keep records; take each down its tree; hand the oldest over once it is through.

    A walk goes round with its node through the stages of a step: node, row, code, branch. One that has come to a leaf
    leaves its place to the next record, so as long as records wait, a step ends in every clock. Nothing is known of a
    record but in its own place, so to begin all anew it is enough to begin with the oldest again.

    At a fork the walk goes on as if there were none, and the fork is kept where the alternate's leaf
    will be; from there the walk goes on after its leaf.

    Parameters
    ----------
    nodes, attributes : int
        Of the node table.
    codes : int
        Of a beat, a power of two.
    records : int
        That are kept, a power of two, at least 2. With fewer than ``steps`` a step of one comes
        only every so many clocks; records of different depths take some more to fill the ring.
    alternates : int
        That a record goes down at most; of others it goes down the first child.

    Members
    -------
    i : In(stream of beat_layout)
        ``ceil(attributes / codes)`` beats of a record, or fewer if no node asks for the others.
    halt : In(1)
        Begin all walks anew when it is over.
    table : Out(rows_signature)
    there : Out(1), record : Out(ways_layout)
        The oldest record is through.
    take : In(1)
        Free its place. Not together with ``halt``.

    Latency: ``steps`` cycles for each node of its ways, from the last beat to ``there``. Throughput:
    a node per cycle, if ``steps`` records wait or walk; a record per two cycles.
    """

    steps = 1 + NodeTable.latency + _AFTER_ROW

    def __init__(self, nodes, attributes, codes, *, records=16, alternates=1):
        for name, value, least in (("codes", codes, 1), ("records", records, 2)):
            if value < least or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, at least {least}, not {value!r}")
        if alternates < 0:
            raise ValueError(f"alternates must be at least 0, not {alternates!r}")
        self.nodes, self.attributes, self.codes = nodes, attributes, codes
        self.records, self.alternates = records, alternates
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(nodes, codes))),
                "halt": In(1),
                "table": Out(rows_signature(nodes, attributes)),
                "there": Out(1),
                "record": Out(ways_layout(nodes, alternates)),
                "take": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        bits = self.records.bit_length() - 1
        ways = 1 + self.alternates
        lane_bits = self.codes.bit_length() - 1
        beat_bits = ((self.attributes - 1) >> lane_bits).bit_length()
        self._walk = data.StructLayout(
            {
                "place": bits,
                "node": range(self.nodes),
                "length": range(self.nodes + 1),  # of this way
                "way": range(ways),
                "forks": range(ways),
            }
        )

        # Places: records come, begin to walk, are handed over. One bit more than an address: full and empty differ.
        arrived, begun, oldest = (Signal(bits + 1, name=name) for name in ("arrived", "begun", "oldest"))
        kept = Signal(range(self.records + 1))
        beat = Signal(beat_bits)
        moved, ended = Signal(), Signal()
        m.submodules.codes = codes = memory.Memory(
            shape=CODE_WIDTH * self.codes, depth=self.records << beat_bits, init=[]
        )
        m.submodules.roots = roots = memory.Memory(
            shape=data.StructLayout({"root": range(self.nodes), "numbered": 1}), depth=self.records, init=[]
        )
        put, get = codes.write_port(), codes.read_port()
        root_put, root_get, root_kept = roots.write_port(), *(roots.read_port(domain="comb") for _ in range(2))
        m.d.comb += [
            moved.eq(self.i.valid & self.i.ready),
            ended.eq(moved & self.i.p.last),
            kept.eq((arrived - oldest)[: bits + 1]),
            *drive(put, en=moved, addr=Cat(beat, arrived[:bits]), data=self.i.p.codes),
            *drive(root_put, en=moved, addr=arrived[:bits]),
            *drive(root_put.data, root=self.i.p.root, numbered=self.i.p.numbered),
            root_get.addr.eq(begun[:bits]),
            root_kept.addr.eq(oldest[:bits]),
        ]
        m.d.sync += self.i.ready.eq(~((kept == self.records) | ((kept == self.records - 1) & ended)))
        with m.If(moved):
            m.d.sync += beat.eq(Mux(self.i.p.last, 0, beat + 1))
        with m.If(ended):
            m.d.sync += arrived.eq(arrived + 1)

        # Node. Whose step ends goes on, or else a record begins.
        walk, goes = Signal(self._walk, reset_less=True), Signal()
        after, goes_on = Signal(self._walk), Signal()
        begins = Signal()
        m.d.comb += [begins.eq(~goes_on & (begun != arrived)), self.table.node.eq(walk.node)]
        m.d.sync += [walk.eq(after), goes.eq((goes_on | begins) & ~self.halt)]
        with m.If(~goes_on):
            m.d.sync += [
                walk.eq(0),
                *drive(walk, place=begun[:bits], node=root_get.data.root, length=1),
            ]
        with m.If(self.halt):
            m.d.sync += begun.eq(oldest)
        with m.Elif(begins):
            m.d.sync += begun.eq(begun + 1)

        # Row.
        walk, goes = delay(m, walk, NodeTable.latency, "to_row"), self._going(m, goes, NodeTable.latency, "to_row")
        row = self.table.row
        at_limit = Signal()
        m.d.comb += [
            at_limit.eq(walk.length == self.nodes),
            get.addr.eq(Cat(row.attribute[lane_bits:][:beat_bits], walk.place)),
        ]
        step = Signal(
            data.StructLayout({"leaf": 1, "fork": 1, "ends": 1, "lost": 1, "row": row.shape(), "walk": self._walk}),
            reset_less=True,
        )
        leaf = row.kind == NodeKind.LEAF
        m.d.sync += [
            *drive(step, leaf=leaf, lost=~leaf & at_limit, row=row, walk=walk),
            step.fork.eq((row.kind == NodeKind.FORK) & (walk.forks != self.alternates)),
            step.ends.eq(Mux(leaf, walk.way == walk.forks, at_limit)),
        ]
        goes = self._going(m, goes, 1, "to_code")

        # Codes are there. What is known of the way is kept.
        found = self._keep(m, step, goes, oldest[:bits])
        # A place is cleared as its record begins, also anew, not as it is freed: so `take` moves nothing but the
        # oldest's number.
        through = Signal(self.records)
        set_, cleared = Signal(self.records), Signal(self.records)
        m.d.comb += [
            set_.eq(Mux(goes & step.ends, 1 << step.walk.place, 0)),
            cleared.eq(Mux(begins, 1 << begun[:bits], 0)),
        ]
        m.d.sync += through.eq((through | set_) & ~cleared)
        # Registers, or the way from a place's number to whether its record may go would be the longest.
        m.d.sync += self.there.eq(through.bit_select(oldest[:bits], 1) & (begun != oldest) & ~self.take & ~self.halt)
        m.d.sync += self.record.numbered.eq(root_kept.data.numbered)
        with m.If(self.take):
            m.d.sync += oldest.eq(oldest + 1)

        # The code, chosen in two steps.
        low_bits = lane_bits // 2
        lane = step.row.attribute[:lane_bits]
        part = Signal(CODE_WIDTH << low_bits, reset_less=True)
        m.d.sync += part.eq(get.data.word_select(lane[low_bits:], len(part)))
        goes, step = self._next(m, goes & ~step.ends, step, "to_part")
        code = Signal(CODE_WIDTH, reset_less=True)
        m.d.sync += code.eq(part.word_select(step.row.attribute[:low_bits], CODE_WIDTH))
        goes, step = self._next(m, goes, step, "to_choice")

        # Branch.
        kind, value = step.row.kind, step.row.value
        branch, child = Signal(8, reset_less=True), Signal(range(self.nodes), reset_less=True)
        m.d.sync += child.eq(step.row.child)
        with m.If(step.leaf):  # to the next alternate, the second child of its fork
            m.d.sync += [branch.eq(1), child.eq(found(step.walk.place, step.walk.way))]
        with m.Elif(kind == NodeKind.FORK):
            m.d.sync += branch.eq(0)
        with m.Elif((code == MISSING) | ((kind == NodeKind.MULTIWAY) & (code >= value))):
            m.d.sync += branch.eq(step.row.default)
        with m.Elif(kind == NodeKind.MULTIWAY):
            m.d.sync += branch.eq(code)
        with m.Else():
            m.d.sync += branch.eq(Mux(kind == NodeKind.NUMERIC, code >= value, code != value))
        goes, step = self._next(m, goes, step, "to_branch")
        m.d.comb += [
            goes_on.eq(goes),
            after.eq(step.walk),
            *drive(after, node=child + branch, way=step.walk.way + step.leaf, forks=step.walk.forks + step.fork),
            after.length.eq(Mux(step.leaf, 1, step.walk.length + 1)),
        ]
        return m

    def _going(self, m, goes, clocks, name):
        """`delay` of what a halt ends."""
        for clock in range(clocks):
            later = Signal(name=f"goes_{name}_{clock}")
            m.d.sync += later.eq(goes & ~self.halt)
            goes = later
        return goes

    def _next(self, m, goes, step, name):
        """Whether a step goes on, and what it is, a stage later."""
        return self._going(m, goes, 1, name), delay(m, step, 1, name)

    def _keep(self, m, step, goes, oldest):
        """Memories of ways, by a record's place: each way's leaf, and before, of an alternate, its fork.

        Returns a function of a place and a way, that gives the child of the next way's fork.
        """
        walk = step.walk
        kept = []
        for way in range(1 + self.alternates):
            m.submodules[f"way_{way}"] = found = memory.Memory(shape=range(self.nodes), depth=self.records, init=[])
            put, get = found.write_port(), found.read_port(domain="comb")
            reaches_leaf = (walk.way == way) & step.leaf
            forks = step.fork & (walk.forks == way - 1) if way else 0
            # Whose way goes round has that alone.
            last = step.lost if way == 0 else 0
            m.d.comb += [
                *drive(put, en=goes & (reaches_leaf | forks | last), addr=walk.place),
                put.data.eq(Mux(forks, step.row.child, walk.node)),
                get.addr.eq(oldest),
            ]
            m.d.sync += self.record.leaves[way].eq(get.data)
            kept.append(found)
        shape = data.StructLayout({"more": range(1 + self.alternates), "lost": 1})
        m.submodules.ends = ends = memory.Memory(shape=shape, depth=self.records, init=[])
        put, get = ends.write_port(), ends.read_port(domain="comb")
        m.d.comb += [
            *drive(put, en=goes & step.ends, addr=walk.place),
            put.data.more.eq(Mux(step.lost, 0, walk.way)),
            put.data.lost.eq(step.lost),
            get.addr.eq(oldest),
        ]
        m.d.sync += [self.record.more.eq(get.data.more), self.record.lost.eq(get.data.lost)]

        def next_fork(place, way):
            forks = []
            for found in kept[1:]:
                get = found.read_port(domain="comb")
                m.d.comb += get.addr.eq(place)
                forks.append(get.data)
            return data.ArrayLayout(range(self.nodes), len(forks))(Cat(forks))[way] if forks else 0

        return next_fork

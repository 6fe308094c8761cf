"""Rows of the slot table on their way through the tracker, and what counting makes of them."""

from collections import namedtuple

from amaranth import Cat, Mux, Signal

from .slots import SINCE_WIDTH, entry_layout

_CHANGING = ("n", "since", "halved", "underflow", "class_counts", "due")  # of a row, by counting


# The last two stages: the node fetched and whether there is one, whether its record adds one, its class, a bit each;
# the node that counts and whether there is one, whether its full rows are halved; `Numbers`.
Stages = namedtuple("Stages", "fetched fetched_valid plus fetched_hits node valid redo numbers")


def take_over(row, newer):
    """Assignments of what is newer in another row of the same slot."""
    return [row[name].eq(newer[name]) for name in _CHANGING]


class Row:
    """What the tracker keeps of the rows of its nodes, one after the other."""

    def __init__(self, geometry):
        entry = entry_layout(geometry)
        # What the node's row was as the stages moved, and the time before.
        self.late, self.before = Signal(entry, reset_less=True), Signal(entry, reset_less=True)
        self.look_before, self.shown_before, self.shown_late, self.shown_now = Signal(), Signal(), Signal(), Signal()
        self.row = Signal(entry, reset_less=True)  # the one fetched
        self.same = Signal()  # its slot is the node's, if there is a node
        self.after = Signal(entry, reset_less=True)  # the node's
        self.written = Signal(entry)  # what that is to become
        self.since = Signal(SINCE_WIDTH)  # of a node that moves
        self.source = Signal(entry)  # what is loaded into `after`
        self.limit, self.never = Signal(SINCE_WIDTH), Signal()
        self.due, self.full = Signal(), Signal()
        self.taking_back, self.stuck = Signal(), Signal()


def count(m, geometry, row, stages, moves, lowering):
    """What the record in the last stage makes of its node's row.

    A weight of -1 takes a clock more: whether it can be taken away is seen in the register. A full
    node's class is taken back before it is halved.

    Parameters
    ----------
    m : Module
        To which this is added.
    geometry : Geometry
    row : Row
        Whose members from ``after`` on are driven, but for ``written``.
    stages : Stages
        The node's header and class are driven: they become the fetched one's.
    moves : Value
        They do.
    lowering : Signal
        One is taken away from the node; driven.

    Returns
    -------
    fills, lowers : Value
        The next node is full; it has a weight of -1.
    """
    g = geometry
    fetched, _, plus, fetched_hits, node, valid, redo, numbers = stages
    source, after = row.source, row.after
    hits = Signal(g.classes)  # the node's class
    again = redo & row.full  # it is halved
    back = lowering | row.taking_back
    this = again | back  # not the next node
    # What is loaded: the next node, or this one again, lowered or halved. No node moves then.
    m.d.comb += source.eq(row.row)
    with m.If(again):
        m.d.comb += [source.eq(after), source.n.eq(g.count_max >> 1), source.halved.eq(1)]
        m.d.comb += [source.class_counts[k].eq(after.class_counts[k] >> 1) for k in range(g.classes)]
    with m.Elif((row.same & valid) | back):
        m.d.comb += take_over(source, row.written)

    counting = fetched.counts
    fills = counting & plus & ~redo & Mux(row.same & valid, after.n == g.count_max, row.row.n == g.count_max)
    with m.If(moves):
        m.d.sync += [node.header.eq(fetched.header), hits.eq(fetched_hits)]
    counts = ("n", "class_counts")
    with m.If(moves | again):
        m.d.sync += [
            *(after[name].eq(source[name]) for name in entry_layout(g).members if name not in counts),
            after.since.eq(source.since + (plus & ~redo)),
            row.full.eq(fills),
        ]

    # What is added is one, or all ones to take one away.
    def added(one):
        return Cat(one, (one & back).replicate(g.count_width - 1))

    ones = Mux(this, hits, fetched_hits & plus.replicate(g.classes))
    with m.If(moves | again | row.taking_back | (lowering & ~row.stuck)):
        m.d.sync += after.n.eq(source.n + added(plus | this))
        for k in range(g.classes):
            m.d.sync += after.class_counts[k].eq(source.class_counts[k] + added(ones[k]))
    m.d.comb += row.since.eq(Mux(row.same & valid, row.written.since, row.row.since))
    due = numbers.summon(row, plus & ~row.never & (row.since >= row.limit) & ~row.since.all(), stages)
    with m.If(moves):
        m.d.sync += row.due.eq(counting & due)
    lowers = fetched.header.minus & ~fetched.header.test & fetched.header.there
    m.d.comb += row.stuck.eq((after.class_counts[node.header.label] == 0) | (after.n == 0))
    m.d.sync += [lowering.eq(moves & lowers), row.taking_back.eq(moves & fills)]
    with m.If(lowering & row.stuck):
        m.d.sync += after.underflow.eq(1)
    return fills, lowers

"""Rows of the slot table on their way through the tracker, and what counting makes of them."""

from collections import namedtuple

from amaranth import Cat, Mux, Signal

from .slots import SINCE_WIDTH, entry_layout

__all__ = ["Row", "Stages", "count", "take_over"]

_CHANGING = ("n", "since", "halved", "underflow", "class_counts", "due")  # of a row, by counting


# The last two stages: the node fetched and whether there is one, whether its record adds one, its class, a bit each;
# the node that counts and whether there is one, whether its full rows are halved; `Numbers`.
Stages = namedtuple("Stages", "fetched fetched_valid plus fetched_hits node valid redo numbers")


def take_over(row, newer):
    """Assignments of what is newer in another row of the same slot."""
    return [row[name].eq(newer[name]) for name in _CHANGING]


class Row:
    """What the tracker keeps of one level's rows, one after the other."""

    def __init__(self, geometry, level):
        entry = entry_layout(geometry)

        def signal(name, shape=1, **options):
            return Signal(shape, name=f"{name}_{level}", **options)

        self.level = level
        # What the node's row was as the stages moved, and the time before.
        self.late, self.before = (signal(name, entry, reset_less=True) for name in ("late", "before"))
        self.look_before, self.shown_before, self.shown_late, self.shown_now = (
            signal(name) for name in ("look_before", "shown_before", "shown_late", "shown_now")
        )
        self.row = signal("row", entry, reset_less=True)  # the one fetched
        self.same = signal("same")  # its slot is the node's, if there is a node
        self.after = signal("after", entry, reset_less=True)  # the node's
        self.written = signal("written", entry)  # what that is to become
        self.since = signal("since", SINCE_WIDTH)  # of a node that moves
        self.source = signal("source", entry)  # what is loaded into `after`
        self.limit, self.never = signal("limit", SINCE_WIDTH), signal("never")
        self.due, self.full = signal("due"), signal("full")
        # Of the node that counts: it was tried as the block began; the limit above.
        self.node_fresh = signal("node_fresh")
        self.node_limit, self.node_never = signal("node_limit", SINCE_WIDTH), signal("node_never")
        self.taking_back, self.stuck = signal("taking_back"), signal("stuck")


def count(m, geometry, rows, stages, moves, lowering):
    """What the record in the last stage makes of its nodes' rows, one of each level.

    A weight of -1 takes a clock more: whether it can be taken away is seen in the register. A full
    node's class is taken back before it is halved.

    Parameters
    ----------
    m : Module
        To which this is added.
    geometry : Geometry
    rows : list of Row
        Whose members from ``after`` on are driven, but for ``written``.
    stages : Stages
        The node's header, class, rows and order are driven: they become the fetched one's.
    moves : Value
        They do.
    lowering : Signal
        One is taken away from the node; driven.

    Returns
    -------
    fills : list of Value
        Of each row, that the node after it is full.
    full, lowers : Value
        A row of the node is full; the next node has a weight of -1.
    """
    g = geometry
    fetched, _, plus, fetched_hits, node, valid, redo, numbers = stages
    entry = entry_layout(g)
    full = Cat(each.full for each in rows).any()

    def on(each, value):
        return value & fetched.on[each.level]

    hits = Signal(g.classes)  # the node's class
    again = [redo & each.full for each in rows]  # it is halved
    back = [lowering | each.taking_back for each in rows]
    # What is loaded: the next node, or this one again, lowered or halved. No node moves then.
    for each, again_, back_ in zip(rows, again, back, strict=True):
        source, after = each.source, each.after
        m.d.comb += source.eq(each.row)
        with m.If(again_):
            m.d.comb += [source.eq(after), source.n.eq(g.count_max >> 1), source.halved.eq(1)]
            m.d.comb += [source.class_counts[k].eq(after.class_counts[k] >> 1) for k in range(g.classes)]
        with m.Elif((each.same & valid) | back_):
            m.d.comb += take_over(source, each.written)

    fills = [
        on(each, plus & ~redo & Mux(each.same & valid, each.after.n == g.count_max, each.row.n == g.count_max))
        for each in rows
    ]
    with m.If(moves):
        m.d.sync += [node.header.eq(fetched.header), hits.eq(fetched_hits)]
        m.d.sync += [node.rows.eq(fetched.rows), node.order.eq(fetched.order)]
    counts = ("n", "class_counts")
    for each, again_, fills_ in zip(rows, again, fills, strict=True):
        source, after = each.source, each.after
        with m.If(moves | again_):
            m.d.sync += [
                *(after[name].eq(source[name]) for name in entry.members if name not in counts),
                after.since.eq(source.since + (plus & ~redo)),
                each.full.eq(fills_),
            ]
    # What is added is one, or all ones to take one away.
    for each, again_, back_ in zip(rows, again, back, strict=True):
        source, after = each.source, each.after
        this = again_ | back_  # not the next node

        def added(one, back=back_):
            return Cat(one, (one & back).replicate(g.count_width - 1))

        ones = Mux(this, hits, fetched_hits & plus.replicate(g.classes))
        with m.If(moves | again_ | each.taking_back | (lowering & ~each.stuck)):
            m.d.sync += after.n.eq(source.n + added(plus | this))
            for k in range(g.classes):
                m.d.sync += after.class_counts[k].eq(source.class_counts[k] + added(ones[k]))
    for each in rows:
        m.d.comb += each.since.eq(Mux(each.same & valid, each.written.since, each.row.since))
    dues = [plus & ~each.never & (each.since >= each.limit) & ~each.since.all() for each in rows]
    dues = numbers.summon(rows, dues, stages)
    with m.If(moves):
        m.d.sync += [each.due.eq(on(each, due)) for each, due in zip(rows, dues, strict=True)]
    lowers = fetched.header.minus & ~fetched.header.test & fetched.header.there
    m.d.comb += [
        each.stuck.eq((each.after.class_counts[node.header.label] == 0) | (each.after.n == 0)) for each in rows
    ]
    m.d.sync += lowering.eq(moves & lowers)
    m.d.sync += [each.taking_back.eq(moves & fills_) for each, fills_ in zip(rows, fills, strict=True)]
    for each in rows:
        with m.If(lowering & each.stuck):
            m.d.sync += each.after.underflow.eq(1)
    return fills, full, lowers

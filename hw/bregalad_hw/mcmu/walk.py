"""From a record's slot to the root: what the tracker begins with."""

from amaranth import Mux, Signal
from bregalad.protocol.commands import PATH_LIMIT

__all__ = ["walk_groups"]


def walk_groups(m, geometry, table, coming, walk, valid, go):
    """Take records, and go from group to group of nodes: the path that has come asks for the next.

    Parameters
    ----------
    m : Module
        To which this is added.
    geometry : Geometry
    table : rows_signature
        Of the slot table; what of it belongs to paths is driven.
    coming : stream of header_layout(geometry)
    walk, valid : Signal
        The stage and whether there is something in it; driven, but for what is returned.
    go : Value
        It moves on.

    Returns
    -------
    linked : Signal
        The group that is there is not the last.
    on : Signal
        Levels of which there is a node.
    """
    g = geometry
    spare = Signal(range(PATH_LIMIT), init=PATH_LIMIT - 1)  # nodes that may come after the next
    size = Signal(range(g.levels + 1))
    linked, loads = Signal(), Signal()
    path, on = table.path, Signal(g.levels)
    counts = valid & walk.header.there
    m.d.comb += [
        size.eq(sum(path.on)),
        linked.eq(counts & path.there & ~walk.header.test & (spare >= size)),
        loads.eq(~valid | go),
        coming.ready.eq(loads & ~linked & table.settled),
        table.path_en.eq(loads),
        table.path_slot.eq(Mux(linked, path.next, coming.payload.slot)),
    ]
    for level, number in enumerate(path.order):
        m.d.comb += on[level].eq(counts & path.on[level] & Mux(walk.header.test, number == 0, number <= spare))
    with m.If(loads):
        m.d.sync += [walk.own.eq(~linked), spare.eq(Mux(linked, spare - size, PATH_LIMIT - 1))]
        with m.If(~linked):
            m.d.sync += [valid.eq(coming.valid & table.settled), walk.header.eq(coming.payload)]
    return linked, on

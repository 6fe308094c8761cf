"""From a record's slot to the root: what the tracker begins with."""

from amaranth import Mux, Signal
from bregalad.protocol.commands import PATH_LIMIT

__all__ = ["walk_groups", "walk_nodes"]


def walk_nodes(m, geometry, table, coming, walk, valid, go):
    """Take records, and go from node to node: the link that has come asks for the next.

    Parameters
    ----------
    m : Module
        To which this is added.
    geometry : Geometry
    table : rows_signature
        Of the slot table; what of it belongs to links or paths is driven.
    coming : stream of header_layout(geometry)
    walk, valid : Signal
        The stage and whether there is something in it; driven, but for what `walk_groups` returns.
    go : Value
        It moves on.

    Returns
    -------
    linked : Signal
        The node that is there is not the last.
    on : Signal or None
        Of `walk_groups`: levels of which there is a node.
    """
    depth = Signal(range(PATH_LIMIT))
    at_limit = Signal()
    linked, loads = Signal(), Signal()
    link = table.link
    m.d.comb += [
        linked.eq(valid & link.there & ~walk.header.test & (walk.own | ~at_limit)),
        loads.eq(~valid | go),
        coming.ready.eq(loads & ~linked),
        table.link_en.eq(loads),
        table.link_slot.eq(Mux(linked, link.slot, coming.payload.slot)),
    ]
    with m.If(loads):
        m.d.sync += [
            walk.own.eq(~linked),
            depth.eq(Mux(walk.own, 1, depth + 1)),
            at_limit.eq(~walk.own & (depth == PATH_LIMIT - 2)),
        ]
        with m.If(linked):
            m.d.sync += walk.header.slot.eq(link.slot)
        with m.Else():
            m.d.sync += [valid.eq(coming.valid), walk.header.eq(coming.payload)]
    return linked, None


def walk_groups(m, geometry, table, coming, walk, valid, go):
    """As `walk_nodes`, but from one group of nodes that are counted together to the next."""
    g = geometry
    left = Signal(range(PATH_LIMIT + 1), init=PATH_LIMIT)  # nodes that may come still
    size = Signal(range(g.levels + 1))
    linked, loads = Signal(), Signal()
    path, on = table.path, Signal(g.levels)
    m.d.comb += [
        size.eq(sum(path.on)),
        linked.eq(valid & path.there & ~walk.header.test & (left > size)),
        loads.eq(~valid | go),
        coming.ready.eq(loads & ~linked & table.settled),
        table.path_en.eq(loads),
        table.path_slot.eq(Mux(linked, path.next, coming.payload.slot)),
    ]
    for level, number in enumerate(path.order):
        m.d.comb += on[level].eq(path.on[level] & Mux(walk.header.test, number == 0, number < left))
    with m.If(loads):
        m.d.sync += [walk.own.eq(~linked), left.eq(Mux(linked, left - size, PATH_LIMIT))]
        with m.If(linked):
            m.d.sync += walk.header.slot.eq(path.next)
        with m.Else():
            m.d.sync += [valid.eq(coming.valid & table.settled), walk.header.eq(coming.payload)]
    return linked, on

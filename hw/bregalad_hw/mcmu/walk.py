"""From a record's slot to the root: what the tracker begins with."""

from amaranth import Mux, Signal
from bregalad.protocol.commands import PATH_LIMIT

__all__ = ["walk"]


def walk(m, path, coming, stage, valid, go):
    """Take records, and go from node to node: the link that has come asks for the next.

    Parameters
    ----------
    m : Module
        To which this is added.
    path : path_signature
        Of the slot table; driven.
    coming : stream of header_layout(geometry)
    stage, valid : Signal
        The stage and whether there is something in it; driven, but for what is returned.
    go : Value
        It moves on.

    Returns
    -------
    linked, counts : Signal
        The node that is there is not the last; there is one, and it counts.
    """
    spare = Signal(range(PATH_LIMIT), init=PATH_LIMIT - 1)  # nodes that may come after the next
    linked, loads, counts = Signal(), Signal(), Signal()
    header = stage.header
    m.d.comb += [
        counts.eq(valid & header.there),
        linked.eq(counts & path.link.there & ~header.test & spare.any()),
        loads.eq(~valid | go),
        coming.ready.eq(loads & ~linked),
        path.en.eq(loads),
        path.slot.eq(Mux(linked, path.link.next, coming.payload.slot)),
    ]
    with m.If(loads):
        m.d.sync += [stage.own.eq(~linked), spare.eq(Mux(linked, spare - 1, PATH_LIMIT - 1))]
        with m.If(~linked):
            m.d.sync += [valid.eq(coming.valid), header.eq(coming.payload)]
    return linked, counts

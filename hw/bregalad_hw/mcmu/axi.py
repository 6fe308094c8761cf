"""An AXI4 bus."""

from enum import IntEnum

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ADDRESS_WIDTH", "BOUNDARY", "Response", "axi_signature", "join", "read_signature", "write_signature"]

ADDRESS_WIDTH = 64
BOUNDARY = 4096  # bytes; no burst crosses a multiple of it


class Response(IntEnum):
    """Values of ``rresp`` and ``bresp``; those of errors are also the codes of ERROR reports."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def read_signature(data_width, id_width=1):
    """AXI4 read address and read data channels, seen from the manager.

    Parameters
    ----------
    data_width : int
        Bits of ``rdata``.
    id_width : int
        Of ``arid`` and ``rid``.

    Source: Arm IHI 0022, chapter A2.
    """
    return wiring.Signature(
        {
            "arid": Out(id_width),
            "araddr": Out(ADDRESS_WIDTH),
            "arlen": Out(8),
            "arsize": Out(3),
            "arburst": Out(2),
            "arcache": Out(4),
            "arprot": Out(3),
            "arvalid": Out(1),
            "arready": In(1),
            "rid": In(id_width),
            "rdata": In(data_width),
            "rresp": In(2),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )


def write_signature(data_width, id_width=1):
    """AXI4 write address, write data and write response channels, seen from the manager.

    Parameters
    ----------
    data_width : int
        Bits of ``wdata``.
    id_width : int
        Of ``awid`` and ``bid``.

    Source: Arm IHI 0022, chapter A2.
    """
    return wiring.Signature(
        {
            "awid": Out(id_width),
            "awaddr": Out(ADDRESS_WIDTH),
            "awlen": Out(8),
            "awsize": Out(3),
            "awburst": Out(2),
            "awcache": Out(4),
            "awprot": Out(3),
            "awvalid": Out(1),
            "awready": In(1),
            "wdata": Out(data_width),
            "wstrb": Out(data_width // 8),
            "wlast": Out(1),
            "wvalid": Out(1),
            "wready": In(1),
            "bid": In(id_width),
            "bresp": In(2),
            "bvalid": In(1),
            "bready": Out(1),
        }
    )


def axi_signature(data_width, id_width=1):
    """All channels, seen from the manager.

    Parameters
    ----------
    data_width : int
        Bits of ``rdata`` and ``wdata``.
    id_width : int
        Of the channels' IDs.
    """
    read, write = (signature(data_width, id_width) for signature in (read_signature, write_signature))
    return wiring.Signature({**read.members, **write.members})


def join(m, axi, *managers):
    """Connect managers that have some of the channels each to a port that has all.

    Parameters
    ----------
    m : Module
    axi : interface of axi_signature
        Driven, a component's own port.
    managers : interface of read_signature or write_signature
        Of submodules.
    """
    for manager in managers:
        for name, member in manager.signature.members.items():
            theirs, ours = getattr(manager, name), getattr(axi, name)
            m.d.comb += ours.eq(theirs) if member.flow is Out else theirs.eq(ours)

"""The read half of an AXI4 bus."""

from enum import IntEnum

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ADDRESS_WIDTH", "BOUNDARY", "Response", "read_signature"]

ADDRESS_WIDTH = 64
BOUNDARY = 4096  # bytes; no burst crosses a multiple of it


class Response(IntEnum):
    """Values of ``rresp``; those of errors are also the codes of ERROR reports."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def read_signature(data_width):
    """AXI4 read address and read data channels, seen from the manager.

    Parameters
    ----------
    data_width : int
        Bits of ``rdata``.

    Source: Arm IHI 0022, chapter A2.
    """
    return wiring.Signature(
        {
            "arid": Out(1),
            "araddr": Out(ADDRESS_WIDTH),
            "arlen": Out(8),
            "arsize": Out(3),
            "arburst": Out(2),
            "arcache": Out(4),
            "arprot": Out(3),
            "arvalid": Out(1),
            "arready": In(1),
            "rid": In(1),
            "rdata": In(data_width),
            "rresp": In(2),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )

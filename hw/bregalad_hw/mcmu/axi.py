"""An AXI4 bus."""

from enum import IntEnum

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..members import drive

ADDRESS_WIDTH = 64
BOUNDARY = 4096  # bytes; no burst crosses a multiple of it


class Response(IntEnum):
    """Values of ``rresp`` and ``bresp``; those of errors are also the codes of ERROR reports."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


# What a burst is, beside its address.
BURST = {"len": 8, "size": 3, "burst": 2, "cache": 4, "prot": 3}


def channel(name, flow, **widths):
    """A channel's members: what goes with ``valid``, and ``ready``, which comes back."""
    fields = {f"{name}{field}": flow(width) for field, width in {**widths, "valid": 1}.items()}
    return {**fields, f"{name}ready": flow.flip()(1)}


def read_signature(data_width, id_width=1):
    """AXI4 read address and read data channels, with so many bits of data and of IDs, seen from the manager.

    Source: Arm IHI 0022, chapter A2.
    """
    return wiring.Signature(
        {
            **channel("ar", Out, id=id_width, addr=ADDRESS_WIDTH, **BURST),
            **channel("r", In, id=id_width, data=data_width, resp=2, last=1),
        }
    )


def write_signature(data_width, id_width=1):
    """AXI4 write address, data and response channels, with so many bits of data and of IDs, seen from the manager.

    Source: Arm IHI 0022, chapter A2.
    """
    return wiring.Signature(
        {
            **channel("aw", Out, id=id_width, addr=ADDRESS_WIDTH, **BURST),
            **channel("w", Out, data=data_width, strb=data_width // 8, last=1),
            **channel("b", In, id=id_width, resp=2),
        }
    )


def axi_signature(data_width, id_width=1):
    """All channels, seen from the manager."""
    read, write = (signature(data_width, id_width) for signature in (read_signature, write_signature))
    return wiring.Signature({**read.members, **write.members})


def end_taken(m, axi, *channels):
    """End each channel's ``valid``, a register, as it is taken; what follows in the module may begin the next."""
    for channel in channels:
        with m.If(getattr(axi, f"{channel}ready")):
            m.d.sync += getattr(axi, f"{channel}valid").eq(0)


def write_words(m, axi):
    """Make each write of a manager a word's: ``awvalid`` and ``wvalid`` end as they are taken.

    Returns whether address and word may be put into their registers.
    """
    m.d.comb += drive(axi, awsize=(len(axi.wdata) // 8).bit_length() - 1, awburst=0b01, awcache=0b0011, wlast=1)
    end_taken(m, axi, "aw", "w")
    return (~axi.awvalid | axi.awready) & (~axi.wvalid | axi.wready)

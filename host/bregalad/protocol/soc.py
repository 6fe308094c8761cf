"""The core in a system on chip: its rings in memory, its registers, its interrupt.

The core's registers are two groups of 32-bit words: those of the accelerator from byte 0 on, those declared here from
SOC_BASE on. What is no register, a word that is read-only, or a write of some of its bytes answers SLVERR and changes
nothing. A write of the accelerator's registers waits until nothing is under way, one of `window` or of a ring's place
until the core is stopped and idle; who would wait for longer than PATIENCE clocks gets SLVERR.

All addresses that the core is told count from the window's base. A burst outside the window never leaves the core, and
has failed with DECERR.

The command ring is 2^n descriptors of 16 bytes. A descriptor is a command as it is, without what follows it, or BUFFER:
bytes of the command stream that lie elsewhere. The report ring is a power of two of bytes, of 32-bit words. Indices
count descriptors or words, go round at 2^32, and are taken modulo the ring's size. Whoever writes to a ring moves its
`produced`, whoever reads its `consumed`. A descriptor is consumed when the accelerator has taken all that it brings.
A report's words are produced when memory has answered for them; while the ring is full, the accelerator waits.

What fails stops its ring before anything is lost: `commands_consumed` is the descriptor's index, an address is told,
and RESUME goes on with what has failed. RESET ends what is under way on the bus, empties both rings, where their
indices are, and resets the accelerator, which keeps statistics and slot table.
"""

from enum import IntEnum

from .fields import Access, Register, finder
from .fields import Field as Bits
from .layout import Field, Layout

SOC_BASE = 0x400
PAGE = 4096  # bytes; the window and both rings begin at one
SOC_BYTES = PAGE  # of all registers: interconnects give no less
SOC_VERSION = 2
PATIENCE = 1 << 16  # clocks
RING = (2, 16)  # the least and the most of a command ring's log2
REPORT_RING = (12, 26)  # and of a report ring's, in bytes
BUFFER = 0x80  # in place of an opcode

DESCRIPTOR = Layout(
    "descriptor",
    Field("opcode", 8, "BUFFER, 0x80, or that of a command, whose bytes these are."),
    Field("flags", 8, "0."),
    Field("reserved", 16),
    Field("count", 32, "Bytes, whole bus words."),
    Field("address", 64, "Of the first one, at a bus word."),
)


class Stop(IntEnum):
    """Why a ring has stalled."""

    NOTHING = 0  # it does not
    INDEX = 1  # more descriptors are produced than the ring has
    SLVERR = 2  # the bus has answered so
    DECERR = 3  # the bus has answered so, or the address is outside the window
    MISALIGNED = 4  # a BUFFER does not begin or end at a bus word


_RO, _RW, _PULSE = Access.RO, Access.RW, Access.PULSE
_STATUS = (
    ("reports", "Reports wait."),
    ("commands", "No descriptor does."),
    ("stopped", "A ring has stalled."),
)


def _words(number, name, *fields):
    return Register(name, 4 * number, *fields)


def _page(number, name, doc):
    """A byte address of a page."""
    return _words(number, name, Bits("zero", 12, _RO, "0."), Bits("page", 20, _RW, doc))


# Addresses count from SOC_BASE.
SOC_REGISTERS = (
    _words(
        0,
        "core",
        Bits("version", 8, _RO, f"SOC_VERSION, {SOC_VERSION}."),
        Bits("bus_bytes", 8, _RO, "Bytes of a bus word."),
        Bits("burst", 16, _RO, "Words of a burst at most."),
    ),
    _words(
        1,
        "control",
        Bits("run", 1, _RW, "1: take descriptors; 0: stop after the one that is under way."),
        Bits("resume", 1, _PULSE, "1: go on with what has failed."),
        Bits("reset", 1, _PULSE, "1: RESET."),
    ),
    _words(
        2,
        "state",
        Bits("idle", 1, _RO, "1: no descriptor is under way, none is read ahead, no report is being written."),
        Bits("resetting", 1, _RO, "1: RESET is under way."),
        Bits("commands", 8, _RO, "Stop of the command ring."),
        Bits("reports", 8, _RO, "Stop of the report ring."),
    ),
    _page(3, "window_low", "31:12 of the window's base."),
    _words(4, "window_high", Bits("base", 32, _RW, "63:32 of the window's base.")),
    _page(5, "window_size", "The window's bytes, the accelerator's `ram`."),
    _page(6, "commands_ring", "Where the command ring begins."),
    _words(7, "commands_size", Bits("log2", 5, _RW, "Of its descriptors.", RING[0], lambda g: RING)),
    _words(8, "commands_produced", Bits("count", 32, _RW, "Descriptors that the host has written.")),
    _words(9, "commands_consumed", Bits("count", 32, _RO, "Those that are done.")),
    _words(10, "failed_low", Bits("address", 32, _RO, "31:0 of the address at which the command ring has stalled.")),
    _words(11, "failed_high", Bits("address", 32, _RO, "63:32 of it.")),
    _page(12, "reports_ring", "Where the report ring begins."),
    _words(13, "reports_size", Bits("log2", 5, _RW, "Of its bytes.", REPORT_RING[0], lambda g: REPORT_RING)),
    _words(14, "reports_produced", Bits("count", 32, _RO, "Words that are in memory.")),
    _words(15, "reports_consumed", Bits("count", 32, _RW, "Those that the host has read.")),
    _words(16, "reports_failed", Bits("address", 32, _RO, "The address at which the report ring has stalled.")),
    _words(17, "interrupt", *(Bits(name, 1, _RO, doc) for name, doc in _STATUS)),
    _words(18, "interrupt_mask", *(Bits(name, 1, _RW, f"1: {doc[0].lower()}{doc[1:]}") for name, doc in _STATUS)),
)

find_soc = finder(SOC_REGISTERS)

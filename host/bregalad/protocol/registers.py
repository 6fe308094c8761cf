"""Identity, run-time configuration and performance counters.

A value out of its field's range becomes the nearest in it, on every board, and no pulse of such a word works.
So nothing that is written makes a board hang, and reading shows what was taken.
"""

from ..criteria import DECLARED, criterion_of, numbered
from ..geometry import Geometry
from .fields import Access, Field, Register, finder
from .tree import TREE_REGISTERS

MAGIC = 0x47455242  # "BREG", little endian
VERSION = 13  # changes whenever an old driver could not work a new bitstream


class CellKind:
    """What a cell's attribute is."""

    IGNORED = 0  # it counts nothing
    NUMERIC = 1  # bins 0..value against the others
    MULTIWAY = 2  # nominal, every value a side
    ONE_VS_REST = 3  # nominal, one value against the others


_RO, _RW, _PULSE = Access.RO, Access.RW, Access.PULSE

# Counters of events: the same on every board, since they follow from the command stream alone.
EVENTS = {
    "records": "Instance records counted.",
    "nodes": "Slots updated: path nodes of all records, and one for each record with TEST.",
    "beats": "Beats counted: nodes times passes.",
    "predictions": "Records whose prediction was told.",
    "attempts": "Attempts.",
    "halvings": "Slots halved because a count would overflow.",
    "clamped": "Beats in which a bin's counter stayed at 0 or at its maximum.",
    "bad_records": "Records skipped: slot or class out of range.",
}

# Counters of clocks, for the simulated board and the FPGA; 0 on the emulated one.
TIMINGS = {
    "clocks": "Clocks since clear.",
    "learning": "Clocks with a LEARN under way.",
    "stall_input": "Clocks of a LEARN without a beat: stream or memory was late.",
    "stall_attempt": "Clocks of a LEARN given to an attempt's snapshot.",
    "stall_lock": "Clocks of a LEARN that waited for a slot under attempt.",
    "stall_halve": "Clocks of a LEARN spent on halving a slot.",
    "stall_report": "Clocks of a LEARN that waited for room for predictions.",
    "commands": "Clocks of array operations of CLEAR, PLACE, READ and WRITE.",
    "bursts": "AXI read bursts.",
    "dma_bytes": "Bytes of rows read from memory.",
    "stall_page": "Clocks of a LEARN that waited for statistics from memory.",
    "page_bytes": "Bytes of statistics and of their logs read from memory or written to it.",
}

COUNTERS = EVENTS | TIMINGS  # in order of address
_COUNTERS_BASE = 0x40
_WIDTH_BITS = 6  # of `build.count_width`
IDENTITY = ("identity", "build", "size", "memory")  # what tells a geometry, in order of address

REGISTERS = (
    Register("identity", 0x00, Field("magic", 32, _RO, f"MAGIC, {MAGIC:#010x}.")),
    Register(
        "build",
        0x04,
        Field("version", 8, _RO, f"VERSION, {VERSION}."),
        Field("criterion", 4, _RO, ", ".join(f"{each.number}: {each.name}" for each in DECLARED) + "."),
        Field("naive_bayes", 2, _RO, "1: naive Bayes predictions can be had."),
        Field("reserved", 2, _RO, "0."),
        Field("count_width", 8, _RO, "5:0: W; 7:6: (C - 1) / 256, 0 in hardware."),
        Field("classes", 8, _RO, "C modulo 256."),
    ),
    Register(
        "size",
        0x08,
        Field("lanes", 16, _RO, "P."),
        Field("passes", 12, _RO, "K_max."),
    ),
    Register(
        "memory",
        0x0C,
        Field("slots", 16, _RO, "S."),
        Field("bins", 8, _RO, "B."),
        Field("bus_bytes", 8, _RO, "Bytes of a bus word."),
    ),
    Register("control", 0x10, Field("clear", 1, _PULSE, "Return the counters below to 0.")),
    Register(
        "status",
        0x14,
        Field("halted", 1, _RO, "1 from an ERROR report to RESET."),
        Field("busy", 1, _RO, "A command, attempt or report is under way."),
        Field("failing", 1, _RO, "Memory fails to read or write a page, and is asked again until it does not."),
    ),
    Register(
        "cells",
        0x18,
        Field("count", 16, _RW, "Codes of an instance record, 1 to P K_max.", 1, lambda g: (1, g.max_cells)),
    ),
    Register("classes", 0x1C, Field("count", 11, _RW, "Classes in use, 1 to C.", 2, lambda g: (1, g.classes))),
    Register(
        "report",
        0x20,
        Field("all", 1, _RW, "Attempts report 0: TOP_CANDIDATES, 1: GAINS."),
        Field("neighbours", 1, _RW, "1: predictions look at the bins beside a numeric cell's, too."),
    ),
    Register("grace", 0x24, Field("leaf", 24, _RW, "Instances between attempts of a leaf slot; 0: none.", 200)),
    Register(
        "inner_grace", 0x28, Field("inner", 24, _RW, "Instances between attempts of an inner slot; 0: none.", 2000)
    ),
    Register(
        "cell",
        0x2C,
        Field(
            "index",
            16,
            _RW,
            "Cell whose configuration the rest of this word is, less than P K_max.",
            limits=lambda g: (0, g.max_cells - 1),
        ),
        Field("kind", 2, _RW, "CellKind."),
        Field("first", 1, _RW, "1: the first (mostly: only) cell of its attribute.", 1),
        Field("other", 1, _RW, "1: nominal, the last bin counts all values of other cells."),
        Field("base", 8, _RW, "Nominal: the code that bin 0 counts."),
        Field("write", 1, _PULSE, "1: store the configuration."),
    ),
    Register(
        "tree",
        0x30,
        Field("nodes", 16, _RO, "Rows of the node table."),
        Field("searchers", 8, _RO, "Numbers of a row whose codes are found in a clock; 0: rows hold codes only."),
        Field("alternates", 8, _RO, "That a record goes down at most."),
    ),
    Register("pages", 0x38, Field("resident", 16, _RO, "Slots whose statistics are on the chip at a time; 0: all.")),
    Register("ram", 0x34, Field("bytes", 32, _RO, "Of the memory that LEARN and LOAD name; 0: there is none.")),
    *(
        Register(name, _COUNTERS_BASE + 4 * i, Field("count", 32, _RO, doc + " Wraps."))
        for i, (name, doc) in enumerate(COUNTERS.items())
    ),
)

# What the host sets before it sends commands.
CONFIGURATION = tuple(register for register in REGISTERS if any(field.access is Access.RW for field in register.fields))

find = finder((*REGISTERS, *TREE_REGISTERS))


def identity_fields(geometry):
    """What a board's registers tell of it: ``register.field`` to value, those of IDENTITY, `tree` and `pages`."""
    g = geometry
    return {
        "identity.magic": MAGIC,
        "build.version": VERSION,
        "build.criterion": criterion_of(g.criterion).number,
        "build.naive_bayes": int(g.naive_bayes),
        "build.reserved": 0,
        "build.count_width": g.count_width | g.classes - 1 >> 8 << _WIDTH_BITS,
        "build.classes": g.classes & 0xFF,
        "size.lanes": g.lanes,
        "size.passes": g.passes,
        "memory.slots": g.slots,
        "memory.bins": g.bins,
        "memory.bus_bytes": g.bus_bytes,
        "tree.nodes": g.nodes,
        "tree.searchers": g.searchers,
        "tree.alternates": g.alternates,
        "pages.resident": g.resident,
    }


def geometry_of(read):
    """The geometry that a board's registers tell, ``read`` by ``register.field``; ValueError if it is none."""
    width = read("build.count_width")
    return Geometry(
        lanes=read("size.lanes"),
        passes=read("size.passes"),
        bins=read("memory.bins"),
        classes=(read("build.classes") - 1 & 0xFF) + (width >> _WIDTH_BITS << 8) + 1,
        slots=read("memory.slots"),
        count_width=width & (1 << _WIDTH_BITS) - 1,
        bus_width=8 * read("memory.bus_bytes"),
        criterion=numbered(read("build.criterion")).name,
        naive_bayes=bool(read("build.naive_bayes")),
        nodes=read("tree.nodes"),
        searchers=read("tree.searchers"),
        alternates=read("tree.alternates"),
        resident=read("pages.resident"),
    )


def identity(geometry):
    """The registers of IDENTITY: name to 32-bit value."""
    fields = identity_fields(geometry)
    return {name: sum(fields[f"{name}.{field.name}"] << lsb for field, lsb in find(name).layout()) for name in IDENTITY}

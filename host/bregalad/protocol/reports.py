"""Reports: what the board answers, in the order of the commands that caused them.

The report stream is a sequence of 32-bit words, little endian; ``last`` marks a report's last
word. Lengths follow from the kind, the geometry and (GAINS) the cells in use.
"""

from enum import IntEnum, IntFlag
from functools import cache

from ..complete import complete
from ..geometry import GAIN_FRACTION
from .layout import Field, Layout
from .tree import TREE_REPORTS, TreeKind


class Kind(IntEnum):
    """First byte of a report."""

    TOP_CANDIDATES = 1  # an attempt's top two attributes
    GAINS = 2  # an attempt's gains, one per cell
    STATISTICS = 3  # answer to READ of a cell
    ENTRY = 4  # answer to READ of a slot's entry
    FENCE = 5  # answer to FENCE
    ERROR = 6  # why the board has halted


class AttemptFlag(IntFlag):
    """Flags of TOP_CANDIDATES and GAINS."""

    HALVED = 1  # the slot's counts were halved since its last attempt
    UNDERFLOW = 2  # a weight -1 met a class count of 0 since the slot's last attempt
    INNER = 4  # the slot is an inner node's


class EntryFlag(IntFlag):
    """Flags of a slot's entry."""

    HALVED = 1  # as in AttemptFlag
    UNDERFLOW = 2  # as in AttemptFlag
    INNER = 4  # as in AttemptFlag
    DUE = 8  # of boards with a node table: it is tried at the block's end
    TRIED = 16  # `tried` says when it was last


class ErrorCode(IntEnum):
    """``flags`` of an ERROR report; the board drops what comes from there to RESET."""

    COMMAND = 1  # unknown opcode, a slot or cell out of range, or a LOAD of what is not all in memory
    SLAVE = 2  # AXI SLVERR
    DECODE = 3  # AXI DECERR


def _head(flags="0.", slot=""):
    return Field("kind", 8), Field("flags", 8, flags), Field("slot", 16, slot)


HEADER = Layout("header", *_head())

CANDIDATE = Layout(
    "candidate",
    Field("cell", 16, "First cell of the attribute, NONE if not valid."),
    Field("value", 8, "Numeric: bins 0..value go left. One-vs-rest: the value's code. Else 0."),
    Field("valid", 8, "0: no attribute, or (GAINS) not the last cell of one."),
    Field(
        "gain", 64, f"n G: a gain (information gain in bits) times instances, unit 2**-{GAIN_FRACTION}.", signed=True
    ),
)


def _candidate(name):
    return tuple(Field(f"{name}_{f.name}", f.width, f.doc, f.signed) for f in CANDIDATE.fields)


def top_candidates_layout(geometry):
    """TOP_CANDIDATES: the top two attributes of a slot."""
    classes = geometry.classes
    return Layout(
        "top_candidates",
        *_head("AttemptFlag."),
        Field("n", 32, "Instances in the slot."),
        Field("class_counts", 32, count=classes),
        *_candidate("best"),
        *_candidate("second"),
        *_candidate("current"),
        Field(
            "left",
            32,
            "Class counts of best's left side (numeric) or value (one-vs-rest); 0 if best is multiway.",
            count=classes,
        ),
    )


def gains_layout(geometry, cells):
    """GAINS: a candidate per cell in use."""
    return Layout(
        "gains",
        *_head("AttemptFlag."),
        Field("n", 32, "Instances in the slot."),
        Field("class_counts", 32, count=geometry.classes),
        Field(
            "candidates",
            32,
            "Three words for each cell in use, as those of best in TOP_CANDIDATES: "
            "cell + (value << 16) + (valid << 24), gain 31:0, gain 63:32. An "
            "attribute's stand at its last cell.",
            count=CANDIDATE.size // 4 * cells,
        ),
    )


def statistics_layout(geometry):
    """STATISTICS: the counts of one cell, bin by bin, classes side by side."""
    return Layout(
        "statistics",
        *_head(),
        Field("cell", 16),
        Field("reserved", 16),
        Field("counts", 32, "Bin by bin, classes side by side.", count=geometry.bins * geometry.classes),
    )


def entry_body(geometry):
    """What ENTRY reports and WRITE (cell NONE) takes."""
    tried = Field("tried", 32, "With a node table: number of the last record as of the last attempt.")
    return Layout(
        "entry",
        Field("n", 32, "Instances in the slot."),
        Field("since", 32, "Instances since the last attempt."),
        Field("link", 16),
        Field("current", 16),
        Field("entry_flags", 16, "EntryFlag."),
        Field("period", 16, "Instances between attempts, 0: the role's register."),
        *([tried] if geometry.nodes else []),
        Field("class_counts", 32, count=geometry.classes),
    )


def entry_layout(geometry):
    """ENTRY: a slot's row of the slot table."""
    return Layout("entry", *_head(), *entry_body(geometry).fields)


FENCE = Layout("fence", *_head(slot="0."), Field("token", 32, "That of the command."))

ERROR = Layout(
    "error",
    *_head("ErrorCode.", "0."),
    Field("address", 64, "Bus word that failed (SLAVE, DECODE); first 8 command bytes (COMMAND)."),
    Field("count", 32, "Records of the LEARN that were counted before the error."),
)


_LAYOUTS = complete(
    Kind,
    {  # of a geometry and the cells in use
        Kind.TOP_CANDIDATES: lambda geometry, cells: top_candidates_layout(geometry),
        Kind.GAINS: gains_layout,
        Kind.STATISTICS: lambda geometry, cells: statistics_layout(geometry),
        Kind.ENTRY: lambda geometry, cells: entry_layout(geometry),
        Kind.FENCE: lambda geometry, cells: FENCE,
        Kind.ERROR: lambda geometry, cells: ERROR,
    },
    __file__,
)


@cache
def layout_of(kind, geometry, cells):
    """The layout of a report of the given kind; ValueError if there is no such kind."""
    if kind in TREE_REPORTS:
        return TREE_REPORTS[kind]
    try:
        layout = _LAYOUTS[kind]
    except KeyError:
        known = ", ".join(f"{known.value} ({known.name})" for known in (*Kind, *TreeKind))
        raise ValueError(f"no report is of kind {kind!r}; there are {known}") from None
    return layout(geometry, cells)


def kind_of(byte):
    """The kind of a report that begins with a byte, of those that there are."""
    return TreeKind(byte) if byte in TREE_REPORTS else Kind(byte)

"""The sizes a bitstream is built for, shared by hardware, driver and simulation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from .criteria import criterion_of
from .fixed import GAIN_FRACTION
from .words import shown

CODE_WIDTH = 8  # bits of an attribute code
BYTE_CLASSES = 256  # that a row's label tells
HARDWARE_CLASSES = 32  # a bitstream counts at most; more are counted on the emulated board
MOST_CLASSES = 1024
MOST_NODES = 32768  # rows of a node table in hardware
MOST_WIDTH = 32  # bits of a counter
_NUMBER_WIDTH = 32  # bits of a number in a row, at most
MISSING = 255  # the code of a missing value
NONE = 0xFFFF  # "no slot" and "no cell" in commands and reports

_BOUNDS = {
    "lanes": (1, 1024),
    "passes": (1, 256),
    "bins": (4, 64),
    "classes": (2, MOST_CLASSES),
    "slots": (2, 32768),
    "count_width": (12, MOST_WIDTH),
    "bus_width": (32, 512),
    "nodes": (0, 65535),
    "alternates": (0, 7),
    "resident": (0, 32768),
}


@dataclass(frozen=True)
class Geometry:
    """Sizes fixed at synthesis; the board tells them in its geometry registers.

    Parameters
    ----------
    lanes : int
        P, attribute processors side by side, 1 to 1024.
    passes : int
        K_max, beats that an instance may take, 1 to 256.
    bins : int
        B, counters per class of one (slot, cell), a power of two, 4 to 64.
    classes : int
        C, 2 to 1024; in hardware 2 to 32.
    slots : int
        S, tree nodes whose statistics the board holds, 2 to 32768.
    count_width : int
        W, bits of a counter, 12 to 32.
    bus_width : int
        Bits of the command stream and of the AXI memory port, a power of two, 32 to 512.
    criterion : str
        What the gain units compute: one of ``CRITERIA``. Kearns-Mansour takes ``classes=2``.
    naive_bayes : bool
        Whether the lanes hold what naive Bayes predictions need.
    nodes : int
        Rows of the board's node table, in hardware 2 to 32768; 0: a tree in this process may have any number.
    searchers : int
        Numbers of a row whose codes a board finds in the same clock: 0 to the 32-bit words of a bus
        word, and as many as these unless given. With 0 rows hold codes only; otherwise nothing but speed depends on it.
    alternates : int
        Of a board with ``nodes``: alternates that a record goes down at most beside its own way, 0 to 7.
    resident : int
        Slots whose statistics a board has on the chip at a time, 2 to ``slots`` - 1, while the others' lie in its
        memory; 0: all of them. Nothing but speed depends on it.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is out of its range or no power of two where one is needed, or there is no such
        criterion.

    Source: design, sections 3 and 5.
    """

    lanes: int = 8
    passes: int = 4
    bins: int = 16
    classes: int = 2
    slots: int = 64
    count_width: int = 18
    bus_width: int = 128
    criterion: str = "information_gain"
    naive_bayes: bool = False
    nodes: int = 0
    searchers: int = None  # type: ignore[assignment]  # until __post_init__ asks the bus
    alternates: int = 0
    resident: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            _check_size(name, value, low, high)
            if name in ("bins", "bus_width") and value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value}")
        if self.searchers is None:
            object.__setattr__(self, "searchers", self._numbers)
        _check_size("searchers", self.searchers, 0, self._numbers)
        takes = criterion_of(self.criterion).classes
        if takes not in (None, self.classes):
            raise ValueError(f"the criterion {self.criterion} takes classes = {takes}, not {self.classes}")
        if not isinstance(self.naive_bayes, bool):
            raise TypeError(f"naive_bayes must be True or False, not {self.naive_bayes!r}")
        if self.resident == 1 or self.resident >= self.slots:
            raise ValueError(
                f"resident must be 0 for all slots, or 2 to {self.slots - 1}, fewer than these, not {self.resident}"
            )
        if self.max_cells > 0x7FFF:
            raise ValueError(f"lanes x passes must be at most 32767 cells, not {self.max_cells}")

    @property
    def _numbers(self) -> int:
        """Of a bus word."""
        return self.bus_width // _NUMBER_WIDTH

    @property
    def max_cells(self) -> int:
        """Cells (lane, pass) of one slot: the most codes that an instance can have."""
        return self.lanes * self.passes

    @property
    def bin_bits(self) -> int:
        """Bits of a bin index."""
        return self.bins.bit_length() - 1

    @property
    def root_shift(self) -> int:
        """The bin window shift with which ``bins`` bins cover all 256 codes."""
        return CODE_WIDTH - self.bin_bits

    @property
    def count_max(self) -> int:
        """The largest value of a counter."""
        return (1 << self.count_width) - 1

    @property
    def gain_width(self) -> int:
        """Bits of a scaled gain n G and of its sums, two's complement.

        No gain exceeds n log2 C < 2**W log2 C instances times bits, and what goes beyond it on the
        way may wrap. One bit is the sign, one is spare for what the fixed point adds.
        """
        most = (self.classes - 1).bit_length()  # bits of a class, at least log2 C
        return self.count_width + (most - 1).bit_length() + GAIN_FRACTION + 2

    @property
    def bus_bytes(self) -> int:
        """Bytes of a word of the command stream and of the memory port."""
        return self.bus_width // 8

    def passes_for(self, cells: int) -> int:
        """Beats K that an instance of ``cells`` codes takes."""
        return -(-cells // self.lanes)

    def check_hardware(self) -> None:
        """Raise a ValueError unless hardware can be built of these sizes."""
        if not 2 <= self.nodes <= MOST_NODES:
            raise ValueError(
                f"nodes must be 2 to {MOST_NODES} in hardware, not {self.nodes}: choose as many rows of its node "
                "table as trees may have nodes"
            )
        if self.lanes & (self.lanes - 1):
            raise ValueError(f"lanes must be a power of two in hardware, not {self.lanes}")
        if self.classes > HARDWARE_CLASSES:
            raise ValueError(
                f"classes must be 2 to {HARDWARE_CLASSES} in hardware, not {self.classes}; "
                f"the emulated board counts up to {MOST_CLASSES}"
            )

    def as_dict(self) -> dict[str, Any]:
        """Names and sizes, for saving and for messages."""
        return asdict(self)

    @classmethod
    def of(cls, geometry: Geometry | str) -> Geometry:
        """A geometry, given as such or as the name of a preset; TypeError or ValueError if it is neither."""
        if isinstance(geometry, cls):
            return geometry
        if not isinstance(geometry, str):
            raise TypeError(f"geometry must be a Geometry or a preset's name, not {shown(geometry)}")
        if geometry not in PRESETS:
            raise ValueError(f"no geometry {shown(geometry)}; there are {', '.join(PRESETS)}")
        return PRESETS[geometry]

    @classmethod
    def parse(cls, words: Iterable[str], base: Geometry) -> Geometry:
        """Hardware's geometry of a command line's words: a preset's, or ``base``, changed by ``name=value`` pairs.

        ValueError if there is no such preset or size, or a value is not allowed in hardware.
        """
        changes: dict[str, Any] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if not equals:
                base = cls.of(word)
            elif name not in (known := base.as_dict()):
                raise ValueError(f"no size {name!r}; there are {', '.join(known)}")
            elif name in changes:
                raise ValueError(f"{name} is given twice")
            elif name == "criterion":
                changes[name] = value
            elif name == "naive_bayes":
                if value not in ("0", "1"):
                    raise ValueError(f"naive_bayes must be 0 or 1, not {value!r}")
                changes[name] = value == "1"
            else:
                try:
                    changes[name] = int(value)
                except ValueError:
                    raise ValueError(f"{name} must be an integer, not {value!r}") from None
        found = base.replace(**changes)
        found.check_hardware()
        return found

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Layouts are looked up by it, for every report. Of numbers only: it is the same in every process.
        return hash(tuple(value for value in asdict(self).values() if not isinstance(value, str)))

    def replace(self, **changes: Any) -> Geometry:
        """A copy with some sizes changed, validated again; as many searchers as the bus has numbers stay so many."""
        sizes = self.as_dict()
        if self.searchers == self._numbers:
            del sizes["searchers"]
        return Geometry(**{**sizes, **changes})


def _check_size(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be {low} to {high}, not {value}")


PRESETS = {
    "tiny": Geometry(lanes=2, passes=2, bins=8, classes=2, slots=16, count_width=16, bus_width=32, nodes=64),
    "small": Geometry(lanes=8, passes=2, bins=16, classes=2, slots=64, bus_width=128, nodes=512),
    "many-classes": Geometry(
        lanes=16, passes=4, bins=16, classes=32, slots=256, count_width=20, bus_width=256, nodes=2048
    ),
    "wide": Geometry(lanes=32, passes=4, bins=16, classes=2, slots=128, bus_width=512, nodes=1024),
    "wider": Geometry(lanes=64, passes=16, bins=16, classes=2, slots=64, bus_width=512, nodes=512),
    "fine": Geometry(lanes=8, passes=2, bins=64, classes=4, slots=64, count_width=24, bus_width=128, nodes=512),
}

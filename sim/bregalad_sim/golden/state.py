"""What a board keeps beside the counts: a cell's configuration, a slot's row."""

from dataclasses import dataclass

from bregalad.geometry import NONE
from bregalad.protocol.registers import CellKind


@dataclass
class Cell:
    """Run-time configuration of one cell."""

    kind: int = CellKind.IGNORED
    first: int = 1
    other: int = 0
    base: int = 0


@dataclass
class Entry:
    """A slot's row of the slot table."""

    class_counts: list
    n: int = 0
    since: int = 0
    link: int = NONE
    current: int = NONE
    inner: bool = False
    halved: bool = False
    underflow: bool = False
    period: int = 0
    # See NODE in host/bregalad/protocol/tree.py.
    only: int = NONE
    inherited: int = 0
    all_up_to: int = 0
    due: bool = False  # it is tried at the block's end
    tried: bool = False  # it has been, when the last record's number was
    tried_at: int = 0

"""What learning costs: clocks per instance, from the sizes of board, stream and tree."""

from dataclasses import dataclass
from math import exp

from bregalad.geometry import CODE_WIDTH, Geometry
from bregalad.protocol.commands import RECORD_HEADER
from bregalad.protocol.registers import CellKind

from .array.array import HANDOVER
from .gain.gain import arithmetic_latency
from .gain.scan import SNAPSHOTS, scan_clocks
from .mcmu.scheduler import TRIALS

__all__ = ["Costs"]

_ROUNDS = 30  # of an iteration that halves its error each time


@dataclass(frozen=True)
class Costs:
    """Clocks of the board per instance, in the long run.

    Parameters
    ----------
    geometry : Geometry
    cells : int
        d, codes of an instance: its attributes, and more for nominal ones of more than B values.
    nodes : float
        Nodes of a path that count an instance: 1 in a VFDT, the leaf's depth and 1 in an EFDT;
        the mean over the instances, whose paths are taken to be of the two whole numbers beside it.
    grace, inner_grace : int
        Instances between trials of a leaf, of an inner node; 0: none.
    kind : int
        `CellKind` of the attributes; of numeric ones the gain units have most to do.
    classes : int, optional
        In use; all of the geometry unless given.

    Members
    -------
    passes : int
        K = ceil(d / P), beats of an instance at a node.
    trials : float
        Per instance.
    groups : float
        Of a path's nodes, each counted at once: ceil(nodes / levels), as long as there are slots
        of the levels that go with those above.
    counting : float
        Clocks of the array's beats: K at each group of the path.
    snapshots : float
        Clocks of the array that trials take from counting, at all levels: B K each, none with two
        banks.
    gains : float
        Clocks of the gain units, beside the counting: a scan of every pass of every trial, and
        the way to the next.
    waits : float
        Clocks in which a record waits for an inner node whose snapshot is not taken: until the
        gain units have done so much of what was there before that the snapshot's last pass finds
        room. Where the units are busy that is taken to be exponential, half a trial's scans in the
        mean and up to twice as much under load (which power of the load is by the sweep of
        `bench costs`); the tree to be a binary one, in which every second record of a node
        goes on to a certain child. No records are taken to come to leaves under trial.
    blocked : float
        Share of the trials that find neither a place in the queue nor a gain unit with room, so
        that the array waits: that of a queue with trials at random and scans of equal length,
        taken to be the one with scans at random and twice the room.
    supply : float
        Bus words of a record; they are taken beside the counting.
    clocks : float
        (counting + snapshots + waits) / (1 - blocked), or supply if that is more. With many more
        trials than the gain units can do it becomes `gains`.
    bound : str
        What takes longest: "array", "gains" or "supply".

    Left out, since the driver sees to it that they are rare: the start of each LEARN, the commands
    of a split, waits for a leaf's slot or for a decision. Left out, too: naive Bayes predictions from
    numeric attributes, which take 2 K clocks each.

    Raises
    ------
    ValueError
        If the geometry has no room for ``cells``, or ``nodes`` is less than 1.

    Source: `Tracker`, `TrialScheduler`, `Dispenser`, `scan_clocks`; the blocking of an
    M/M/1/n queue is (1 - r) r^n / (1 - r^(n + 1)).
    """

    geometry: Geometry
    cells: int
    nodes: float = 1
    grace: int = 200
    inner_grace: int = 2000
    kind: int = CellKind.NUMERIC
    classes: int | None = None

    def __post_init__(self):
        if not 1 <= self.cells <= self.geometry.max_cells:
            raise ValueError(f"cells must be 1 to {self.geometry.max_cells}, not {self.cells!r}")
        if self.nodes < 1:
            raise ValueError(f"nodes must be at least 1, not {self.nodes!r}")

    @property
    def passes(self):
        return self.geometry.passes_for(self.cells)

    @property
    def trials(self):
        return (1 / self.grace if self.grace else 0) + ((self.nodes - 1) / self.inner_grace if self.inner_grace else 0)

    @property
    def groups(self):
        whole = int(self.nodes)
        fewer, more = (-(-nodes // self.geometry.levels) for nodes in (whole, whole + 1))
        return fewer + (self.nodes - whole) * (more - fewer)

    @property
    def counting(self):
        return self.groups * self.passes

    @property
    def snapshots(self):
        return self.trials * self.geometry.bins * self.passes * (self.geometry.banks == 1)

    @property
    def gains(self):
        scan = scan_clocks(
            self.geometry,
            arithmetic_latency(self.geometry),
            self.kind != CellKind.MULTIWAY,
            self.kind != CellKind.NUMERIC,
            self.classes or self.geometry.classes,
        )
        return self.trials * self.passes * (scan + HANDOVER)

    @property
    def waits(self):
        inner = int(self.nodes) - 1
        if not (inner and self.inner_grace):
            return 0.0
        busy = self.counting + self.snapshots
        scans = self.gains / self.trials  # of a trial
        room = max(0, SNAPSHOTS / self.passes - 1) * scans
        waits = 0.0
        for _ in range(_ROUNDS):  # the longer records wait, the less there is to do meanwhile
            load = min(1.0, self.gains / (busy + waits))
            mean = scans / 2 * (1 + load**3)
            lost = sum(mean * mean / (mean + 2**depth * (busy + waits)) for depth in range(inner))
            waits = (waits + load * exp(-room / mean) * lost / self.inner_grace) / 2
        return waits

    @property
    def blocked(self):
        room = 2 * (TRIALS + SNAPSHOTS / self.passes)
        load = self.gains / (self.counting + self.snapshots + self.waits)
        if abs(load - 1) < 1e-9:
            return 1 / (room + 1)
        return (1 - load) * load**room / (1 - load ** (room + 1))

    @property
    def supply(self):
        return (RECORD_HEADER.size + self.cells * CODE_WIDTH // 8) / self.geometry.bus_bytes

    @property
    def clocks(self):
        return max((self.counting + self.snapshots + self.waits) / (1 - self.blocked), self.supply)

    @property
    def bound(self):
        parts = {"array": self.counting + self.snapshots + self.waits, "gains": self.gains, "supply": self.supply}
        return max(parts, key=parts.get)

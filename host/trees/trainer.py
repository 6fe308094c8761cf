"""Streams instances to a board and grows the tree from its suggestions, in strict order.

A leaf's statistics depend only on the order of the instances that reach it, and the tree changes
only through trials. So the trainer streams ahead and withholds just the instances that reach a leaf
whose trial is still out; they follow once the verdict is in. Tree and predictions are those of the
one-at-a-time algorithm at any link latency (design, section 6).

Where slots could run out, which leaf loses its slot depends on what every leaf has seen by then. So
as long as the trials of the instances ahead could need more slots than are free, the trainer stops
at each trial until its verdict is in.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from ..boards.base import BoardError
from ..geometry import MISSING
from ..protocol.commands import Opcode, pack_command
from ..protocol.reports import ErrorCode, Kind, layout_of
from .feed import open_feed
from .interrupt import deferred_interrupt
from .nodes import NUMERIC, ONE_VS_REST, Nodes
from .policy import KEEP, TIE, judge, suggestion_words
from .router import FIRED, advance, release, withhold_in
from .slots import SlotPool

__all__ = ["Tally", "Trainer"]

_CODES = MISSING  # codes 0..254 are values


# Instances that are being learnt, as `router.advance` describes them.
_Window = namedtuple("_Window", "codes labels predictions follower")


@dataclass
class Tally:
    """What has happened to a tree so far."""

    instances: int = 0
    splits: int = 0
    ties: int = 0  # splits that only the tie threshold allowed
    trials: int = 0
    halvings: int = 0  # trials that found their slot's counts halved since the last


class Trainer:
    """One tree, one board.

    Parameters
    ----------
    board : Board
        Idle; its configuration and statistics are overwritten.
    cells : CellMap
    policy : HoeffdingPolicy
    classes : int
        Classes in use.
    nodes : Nodes, optional
        A tree to go on with; see ``restore``.
    tally : Tally, optional
        Counts to go on with.
    review_period : int
        Where leaves are without a slot, all leaves compete for the slots anew every so many
        instances.
    feed : "stream" or "memory"
        Whether records go with the commands or through the board's memory and DMA.

    Raises
    ------
    ValueError
        If the board's geometry or memory is too small for the stream.
    BoardError
        If another trainer uses the board.
    """

    def __init__(self, board, cells, policy, classes, *, nodes=None, tally=None,
                 review_period=20_000, feed="stream"):
        geometry = board.geometry
        if classes > geometry.classes:
            raise ValueError(f"the stream has {classes} classes, but the board has counters for "
                             f"{geometry.classes}: choose a geometry with classes >= {classes}")
        board.claim(self)
        self.board = board
        self.cells = cells
        self.policy = policy
        self.classes = classes
        self.nodes = Nodes(geometry.classes) if nodes is None else nodes
        self.pool = SlotPool(geometry.slots)
        self.review_period = review_period
        self.tally = Tally() if tally is None else tally
        self._words = suggestion_words(geometry)
        self._reading = {}  # node -> split that waits for STATISTICS
        self._commands = []  # to send before the next records
        self._outstanding = 0  # trials whose verdict is not in
        self._ready = []  # leaves that have withheld instances and no trial out
        self.broken = False  # a board failed half-way: its statistics are not the tree's
        self._feed = open_feed(feed, board, len(cells))
        self._prepare()

    # Setting up

    def _prepare(self):
        board, policy = self.board, self.policy
        board.send(pack_command(board.geometry, Opcode.RESET))
        self.fence()
        self.cells.configure(board)
        board.write("classes.count", self.classes)
        board.write("grace.leaf", policy.grace)
        board.write("report.all", 0)
        if len(self.nodes) == 1 and self.nodes.slot[0] < 0:
            self.nodes.slot[0] = self.pool.take(0)
            self.command(Opcode.CLEAR, slot=int(self.nodes.slot[0]))

    def fence(self):
        """Wait until the board has done all that it was sent."""
        board = self.board
        board.send(pack_command(board.geometry, Opcode.FENCE))
        while not any(kind is Kind.FENCE for kind, _ in self.reports(board.receive(wait=True))):
            pass

    def command(self, opcode, **values):
        """Queue a command; it is sent before the next records, or by ``flush``."""
        self._commands.append(pack_command(self.board.geometry, opcode, **values))

    # Learning

    def learn(self, codes, labels):
        """Predict, then learn each instance in order.

        Parameters
        ----------
        codes : uint8 array (n, attributes)
        labels : int32 array (n,)
            0 to classes - 1.

        Returns
        -------
        int32 array (n,)
            The prediction for each instance by the tree that had learnt all before it.

        Raises
        ------
        BoardError
            If the board reports an error or is gone.
        KeyboardInterrupt
            At the next instance at which tree and board agree; ``tally.instances`` tells which.
        """
        codes = np.ascontiguousarray(codes)
        count = len(codes)
        window = _Window(codes, labels, np.zeros(count, np.int32), np.full(count, -1, np.int32))
        position = 0
        if self.broken:
            raise BoardError(f"board {self.board.name} failed while this tree was learning; it "
                             "still predicts and can be saved; to learn on with new statistics "
                             "close() it first, or load what was saved before")
        with deferred_interrupt() as check_interrupt:
            while position < count:
                check_interrupt()
                self.broken = True  # unless the board gets through
                stop, single = self._plan(position, count)
                done = self._run(window, position, stop, single)
                self.broken = False
                self.tally.instances += done - position
                position = done
                if self.tally.instances % self.review_period == 0:
                    self.review()
        return window.predictions

    def _plan(self, position, count):
        """How far the stream may run ahead, and whether trials must be waited for."""
        grace = self.policy.grace
        until_review = self.review_period - self.tally.instances % self.review_period
        ahead = min(count - position, until_review)
        active = np.flatnonzero(self.nodes.slot >= 0)
        remaining = grace - self.nodes.since[active]
        reach = ahead
        while reach >= grace:
            trials = self.pool.worst_trials(remaining, grace, reach)
            if trials * (self.cells.most_branches - 1) <= self.pool.free:
                return position + reach, False
            reach //= 2
        return position + ahead, True

    def _run(self, window, position, stop, single):
        """Learn instances until ``stop``, or (single) until the first trial's verdict."""
        out, size = self._feed.out, self._feed.size
        capacity = len(out)
        grace = self.policy.grace
        while True:
            while self._feed.full:
                self._handle(window, self.board.receive(wait=True))
            at = 0
            while self._ready and at + size <= capacity:
                leaf = self._ready[-1]
                at, trials = release(self.nodes.table, self.nodes.counts, *window, leaf,
                                     self.cells.attribute, grace, out, at)
                self._started(trials)
                if trials or self.nodes.head[leaf] < 0:
                    self._ready.pop()
            if position < stop and not self._ready and not (single and self._outstanding):
                position, at, trials, why = advance(
                    self.nodes.table, self.nodes.counts, *window, position, stop,
                    self.cells.attribute, grace, single, out, at)
                self._started(trials)
                if why == FIRED:
                    stop = position
            self.flush()
            if at:
                self._feed.send(at)
            idle = not self._ready and position == stop
            if idle and not self._outstanding:
                return position
            self._handle(window, self.board.receive(wait=idle))

    def _started(self, trials):
        self._outstanding += trials
        self.tally.trials += trials

    def flush(self):
        """Send the commands that wait."""
        if self._commands:
            self.board.send(b"".join(self._commands))
            self._commands.clear()

    # Reports

    def reports(self, data):
        """Yield ``(kind, bytes)`` of each report that is not for the feed.

        Suggestions in a row, which the compiled policy takes together, come as one.
        """
        geometry, cells = self.board.geometry, len(self.cells)
        at = 0
        while at < len(data):
            kind = Kind(data[at])
            size = layout_of(kind, geometry, cells).size
            end = at + size
            while kind is Kind.SUGGESTION and end < len(data) and data[end] == kind:
                end += size
            report, at = data[at:end], end
            token = int(layout_of(kind, geometry, cells).unpack(report)["token"]) if (
                kind is Kind.FENCE) else 0
            if token:
                self._feed.done(token)
            else:
                yield kind, report

    def _handle(self, window, data):
        for kind, report in self.reports(data):
            if kind is Kind.SUGGESTION:
                self._judge(report)
            elif kind is Kind.STATISTICS:
                self._statistics(window, report)
            elif kind is Kind.ERROR:
                raise self.error(report)

    def error(self, report):
        """The exception for an ERROR report."""
        error = layout_of(Kind.ERROR, self.board.geometry, 0).unpack(report)
        code = ErrorCode(int(error["flags"]))
        return BoardError(f"board {self.board.name} reports {code.name} at "
                          f"{int(error['address']):#x} after {int(error['count'])} records")

    def _judge(self, data):
        words = np.frombuffer(data, np.uint32).reshape(-1, self._words.size)
        policy = self.policy
        verdicts = judge(words, self._words, self.nodes.base, self.pool.node, self.classes,
                         policy.delta, policy.tau)
        for row, verdict in zip(words, verdicts, strict=True):
            node = int(self.pool.node[row[0] >> 16])
            self.tally.halvings += int(row[0] >> 8 & 1)
            if verdict == KEEP:
                self._verdict_in(node)
            else:
                self._begin_split(node, row.tobytes(), bool(verdict == TIE))

    def _verdict_in(self, node):
        self.nodes.waiting[node] = 0
        self._outstanding -= 1
        if self.nodes.head[node] >= 0:
            self._ready.append(node)

    # Splits

    def _begin_split(self, node, report, tie):
        suggestion = layout_of(Kind.SUGGESTION, self.board.geometry, 0).unpack(report)
        # The suggestion holds the class counts of one side of the best split; those of all
        # children, and of the missing values, are in the attribute's bins.
        cells = self.cells.cells_of(int(self.cells.attribute[suggestion["best_cell"]]))
        for cell in cells:
            self.command(Opcode.READ, slot=int(suggestion["slot"]), cell=int(cell))
        self._reading[node] = (suggestion, tie, len(cells), [])

    def _statistics(self, window, report):
        geometry = self.board.geometry
        statistics = layout_of(Kind.STATISTICS, geometry, 0).unpack(report)
        node = int(self.pool.node[statistics["slot"]])
        suggestion, tie, expected, counts = self._reading[node]
        counts.append(statistics["counts"].astype(np.int64).reshape(geometry.bins, -1))
        if len(counts) < expected:
            return
        del self._reading[node]
        own = suggestion["class_counts"].astype(np.int64)
        attribute = int(self.cells.attribute[suggestion["best_cell"]])
        kind = int(self.cells.kind[suggestion["best_cell"]])
        value = int(suggestion["best_value"])
        if kind == NUMERIC:
            bins = counts[0]
            sides = np.stack([bins[:value + 1].sum(axis=0), bins[value + 1:].sum(axis=0)])
        else:
            values = self.cells.values(attribute, counts)
            if kind == ONE_VS_REST:
                rest = values.sum(axis=0) - values[value]
                sides = np.stack([values[value], rest])
            else:
                # Branches up to the highest value seen here, as in MOA.
                sides = values[:1 + int(np.flatnonzero(values.any(axis=1)).max(initial=0))]
        self._split(window, node, kind, attribute, value, own, sides, tie)

    def _split(self, window, node, kind, attribute, value, own, sides, tie):
        """Turn a leaf into a test with one leaf per row of ``sides``."""
        nodes = self.nodes
        sides = sides.copy()
        default = int(np.argmax(sides.sum(axis=1)))
        # Instances with the value missing go where later ones will go.
        sides[default] += np.maximum(own - sides.sum(axis=0), 0)
        child = nodes.add(len(sides))
        lo, shift = self._zoom(node, attribute) if kind == NUMERIC else (0, 0)
        nodes.kind[node] = kind
        nodes.attribute[node] = attribute
        nodes.threshold[node] = lo + (value + 1 << shift) if kind == NUMERIC else value
        nodes.child[node] = child
        nodes.width[node] = len(sides)
        nodes.default[node] = default
        family = np.arange(child, child + len(sides))
        nodes.parent[family] = node
        nodes.majority[family] = np.where(sides.any(axis=1), sides.argmax(axis=1),
                                          nodes.majority[node])
        if self.policy.child_counts == "inherit":
            nodes.counts[family] = nodes.base[family] = sides
        self._settle(node, family)
        self.tally.splits += 1
        self.tally.ties += tie
        nodes.waiting[node] = 0
        self._outstanding -= 1
        withhold_in(nodes.table, window.codes, window.follower, node)
        self._ready += [int(leaf) for leaf in family[nodes.head[family] >= 0]]

    def _zoom(self, node, attribute):
        """(lo, shift) of a numeric attribute at a node: the finest that fits its codes."""
        low, high = self.nodes.code_range(node, attribute, _CODES)
        return low, self._shift(high - low)

    def _shift(self, codes):
        shift = 0
        while self.board.geometry.bins << shift < codes:
            shift += 1
        return shift

    def _settle(self, node, family):
        """Hand a split leaf's slot and free ones to its children, as far as they go."""
        nodes, pool = self.nodes, self.pool
        slot = int(nodes.slot[node])
        nodes.slot[node] = -1
        if len(family) <= pool.free + 1:
            keepers = family
        else:
            leaves = nodes.leaves()
            active = leaves[nodes.slot[leaves] >= 0]
            keep = pool.keepers(nodes, leaves[np.isin(leaves, [*active, *family])])
            for leaf in np.setdiff1d(active, keep):
                self._deactivate(int(leaf))
            keepers = np.intersect1d(family, keep)
        # The parent's own slot comes last: until then its zoom is what the others inherit.
        for leaf in keepers[1:]:
            nodes.slot[leaf] = pool.take(leaf)
            self._place(int(leaf), slot)
        if len(keepers):
            pool.hand_over(slot, int(keepers[0]))
            nodes.slot[keepers[0]] = slot
            self._place(int(keepers[0]), slot)
        else:
            pool.give_back(slot)

    def _place(self, leaf, parent_slot):
        nodes = self.nodes
        parent = int(nodes.parent[leaf])
        zoom = {}
        if nodes.kind[parent] == NUMERIC:
            attribute = int(nodes.attribute[parent])
            lo, shift = self._zoom(leaf, attribute)
            zoom = {"cell": int(self.cells.first_cell[attribute]), "lo": lo, "shift": shift}
        self.command(Opcode.PLACE, slot=int(nodes.slot[leaf]), parent=parent_slot, **zoom)

    # Leaves without a slot

    def _deactivate(self, leaf):
        self.pool.give_back(int(self.nodes.slot[leaf]))
        self.nodes.slot[leaf] = -1
        self.nodes.since[leaf] = 0

    def _activate(self, leaf):
        """Give an inactive leaf a slot; its statistics start anew."""
        nodes = self.nodes
        nodes.slot[leaf] = slot = self.pool.take(leaf)
        nodes.since[leaf] = 0
        nodes.base[leaf] = nodes.counts[leaf] if self.policy.child_counts == "inherit" else 0
        self.command(Opcode.CLEAR, slot=slot)
        self.rezoom(leaf)

    def rezoom(self, leaf):
        """Set a cleared slot's zoom to what its leaf's path asks for."""
        nodes = self.nodes
        slot = int(nodes.slot[leaf])
        tested = {int(nodes.attribute[node]) for node in nodes.path(leaf)
                  if nodes.kind[node] == NUMERIC}
        for attribute in sorted(tested):
            lo, shift = self._zoom(leaf, attribute)
            self.command(Opcode.PLACE, slot=slot, parent=slot,
                          cell=int(self.cells.first_cell[attribute]), lo=lo, shift=shift)

    def review(self):
        """Let all leaves compete for the slots if some have none."""
        nodes = self.nodes
        leaves = nodes.leaves()
        if (nodes.slot[leaves] >= 0).all():
            return
        keep = self.pool.keepers(nodes, leaves)
        for leaf in np.setdiff1d(leaves[nodes.slot[leaves] >= 0], keep):
            self._deactivate(int(leaf))
        for leaf in keep[nodes.slot[keep] < 0]:
            self._activate(int(leaf))

"""Learns a tree on a board: instances go to its driver, decisions change the tree, in strict order.

The tree stands still for a block of instances. What is due at its end is tried, and takes effect at the next
block's end: only there the stream waits for reports. Children get what their parent has counted when its split
takes effect, which is read back then. So tree and predictions follow from the stream alone, at any latency of the
link (docs/learners.md, "Blocks").
"""

from collections import namedtuple
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from typing import Any

import numpy as np

from ..boards.base import BoardError
from ..boards.engine import Engine
from ..drift.adwin import new_windows
from ..engine.alternate_tests import TESTED
from ..engine.arguments import BUSY, COUNTS, LEFT, LENGTH, PENDING, PHASE
from ..engine.event_counts import EventCounts
from ..interrupt import deferred_interrupt
from ..policy.decide import form_of
from ..predictors import Predictor, predictor_of
from ..tree.blocks import FAR, busy, length_of
from ..tree.cells import check_cells
from ..tree.nodes import Nodes
from ..tree.table import ROWS
from ..tree.window import Memory
from ..warn import warn
from ..words import shown
from . import checkpoint
from .devices.rows import RowDriver
from .engine import EngineDriver
from .growth import Growth
from .requirements import check_abilities, check_classes
from .steps import SAFE, Steps

HEAVIEST = 10_000  # what an instance may weigh

# Instances that are being learnt: uint8 array (n, attributes), int32 arrays (n,) and (n,), int32 array (n,) or None.
_Window = namedtuple("_Window", "codes labels predictions weights")


class Trainer:
    """One tree, one board, which is idle: its configuration and statistics are overwritten.

    So many classes are in use; leaves predict by "mc", or by "nb" or "nba", which the board does. With ``nodes`` (see
    ``checkpoint.restore``), ``event_counts`` and ``memory`` (of a policy with a window) a tree goes on. Where leaves
    are without a slot, all compete for the slots anew every ``review_period`` instances.

    ValueError if the board's geometry or memory is too small for the stream, or its bitstream lacks the policy's
    criterion or the leaves' prediction; BoardError if another trainer uses the board.
    """

    def __init__(
        self,
        board,
        cells,
        policy,
        classes,
        *,
        prediction="mc",
        nodes=None,
        event_counts=None,
        review_period=20_000,
        memory=None,
    ):
        geometry = board.geometry
        check_classes(geometry, classes)
        check_cells(geometry, len(cells))
        check_abilities(geometry, policy, prediction)
        board.claim(self)
        self.board = board
        self.cells = cells
        self.classes = classes
        self.predictor = int(predictor_of(prediction))
        self.review_period = review_period
        try:
            self._begin(policy, nodes, event_counts, memory)
            self.driver.configure()
            if len(self.nodes) == 1 and self.nodes.slot[0] < 0:
                self.growth.start()
        except BaseException:
            board.release(self)  # an exception's traceback would keep this trainer alive
            raise

    def _begin(self, policy, nodes=None, event_counts=None, memory=None):
        """Set up a tree."""
        geometry, cells = self.board.geometry, self.cells
        self.policy = policy
        self.nodes = Nodes(geometry.classes) if nodes is None else nodes
        self.nodes.average_over(len(cells.first_cell) if policy.gain_average else 0)
        self.nodes.watch(new_windows(1).shape[1] if policy.watched else TESTED if policy.rivals else 0)
        self.event_counts = EventCounts() if event_counts is None else event_counts
        self.memory = Memory(policy.window or 0, len(cells.first_cell)) if memory is None else memory
        self.failed = False  # a board failed half-way: its statistics are not the tree's
        self.requested = False  # reports that nobody waits for any more may still come
        self.rule = policy.block_rule
        self.block = np.zeros(4, np.int64)  # as `Arguments` has it
        self.window = None  # what is being learnt
        self._full = False  # a warning has said so
        # Whether nothing but `learn_row` has changed anything since `row_arguments`, and how many
        # instances there are until something else is to be done.
        self.rows_only, self.rows_left = False, 0
        self.driver: Any = (RowDriver if self.board.state is None else EngineDriver)(self)
        self._grow()
        self.resume_block()

    def _grow(self, totals=None):
        """Set up what depends on the attributes, too."""
        geometry, cells, policy, driver = self.board.geometry, self.cells, self.policy, self.driver
        self.growth = Growth(
            geometry, cells, policy, self.nodes, driver.apply, self.event_counts, self.board.first_slot
        )
        self.form = form_of(geometry.classes, cells, policy.reports_all)
        self.totals = totals
        driver.begin()

    def followed(self, policy, event_counts):
        """A trainer of a new tree on this one's board, which is configured already; this one is done.

        The policy is the same but for its seed.
        """
        other = copy(self)
        self.driver.leave()
        self.board.release(self)
        self.board.claim(other)
        other._begin(policy, event_counts=event_counts)
        other.growth.start()
        return other

    @property
    def broken(self):
        """Why the board's statistics are not the tree's, in words; None if they are."""
        if self.board.lost:
            return f"board {self.board.name} has lost what it had counted"
        if self.failed or self.board.torn:
            return (
                f"board {self.board.name} failed while this tree was learning (if its link was cut, resume() goes on)"
            )
        return None

    def consult(self, totals):
        """Let decisions ask these `Totals`, and tests of alternates, too."""
        self.totals = totals
        self.driver.begin()

    def count_classes(self, classes):
        """Count so many classes from now on; the board has counters for them."""
        self.rows_only = False
        self.driver.count_classes(classes)
        self.classes = classes

    def widen(self, cells):
        """Count more attributes from now on, the last ones, on a board with the cells; for a driver that ``widens``."""
        self.check_working()
        known, attributes = len(self.cells), len(cells.first_cell)
        pool = self.growth.pool
        self.nodes.average_over(attributes if self.policy.gain_average else 0)
        self.memory.widen(attributes)
        self.cells = cells
        self._grow(self.totals)
        self.growth.pool = pool
        self.driver.widen(known)

    def leave(self):
        """Leave a board that works to another trainer; this one is of no use any more."""
        try:
            if not (self.broken or self.board.cut):
                with deferred_interrupt(), suppress(BoardError):
                    # If the link is cut now, nothing is lost but clocks of the next tree's.
                    self.driver.leave()
        finally:
            self.board.release(self)

    def check_working(self):
        """Be ready to learn or to ask; a BoardError if the board has failed."""
        self.rows_only = False
        if self.broken:
            raise BoardError(
                f"{self.broken}; the tree is kept and can be saved; to learn on with "
                "new statistics close() it first, or load what was saved before"
            )
        self.driver.check_working()

    # Learning

    def learn(self, codes, labels):
        """Go through `learning`; when a KeyboardInterrupt comes `Steps.run` says."""
        return self.run(self.learning(codes, labels))

    def run(self, steps):
        """What a generator for `Steps` comes to."""
        return Steps(steps).run(lambda wait: self.board.receive(wait))

    def learn_rows(self, address, count):
        """What ``driver.learning_rows`` does."""
        return self.run(self.driver.learning_rows(address, count))

    @contextmanager
    def beside(self):
        """A trainer of the same tree on the engine, with the same statistics, for a moment."""
        nodes = deepcopy(self.nodes)
        kept = checkpoint.read(self)
        with Engine(self.board.geometry.replace(nodes=0)) as board:
            prediction = Predictor(self.predictor).word  # type: ignore[call-arg]
            other = Trainer(board, self.cells, self.policy, self.classes, prediction=prediction, nodes=nodes)
            checkpoint.restore(other, kept)
            yield other

    def check_weights(self, weights, count):
        """Refuse what is no int32 array of so many weights, or weighs more than the board takes."""
        if len(self.memory):
            raise ValueError("a tree with a window learns instances of weight 1 only, since it forgets them one by one")
        if not isinstance(weights, np.ndarray) or weights.dtype != np.int32 or weights.shape != (count,):
            raise TypeError(f"weights must be an int32 array ({count},), not {shown(weights)}")
        if count and not 0 <= weights.min() <= weights.max() <= HEAVIEST:
            raise ValueError(f"weights must be 0 to {HEAVIEST}")
        self.driver.check_weights(weights)

    @property
    def until_review(self):
        """Instances until all leaves compete for the slots."""
        return self.review_period - self.event_counts.instances % self.review_period

    def learning(self, codes, labels, weights=None):
        """Predict, then learn each instance in order; a generator for `Steps`, which outlives a cut of the link.

        ``codes`` are uint8 (n, attributes), ``labels`` int32 (n,), 0 to classes - 1; ``weights``, int32 (n,), see
        `check_weights`, how often each is learnt, 0: it is predicted only. Returns int32 (n,), each prediction by what
        came before. ValueError if a code is none of its attribute's; nothing is learnt then. BoardError if the board
        reports an error or is gone; ``event_counts.instances`` tells how many are learnt then.
        """
        self.check_working()
        codes = np.ascontiguousarray(codes)
        self.cells.check(codes)
        count = len(codes)
        if len(labels) != count:  # compiled code would read on beyond them
            raise ValueError(f"there are {count} instances, but {len(labels)} labels")
        self.window = window = _Window(codes, labels, np.zeros(count, np.int32), weights)
        position = 0
        while position < count:
            if position:
                yield SAFE
            self.rows_only = False  # somebody may have predicted meanwhile
            self.failed = True  # unless the board gets through
            end = position + min(count - position, self.until_review)
            if self.totals is not None:
                past = self.memory.in_order(self.event_counts.instances)
                self.totals.begin(labels[position:end], self.event_counts.instances, past)
            yield from self.driver.learning(position, end)
            self.failed = False
            position = end
            if self.event_counts.instances % self.review_period == 0 and self.growth.review():
                self.driver.changed()
        self.window = None  # it may be large
        self.check_room()
        return window.predictions

    def check_room(self):
        """Warn, once, if the board's node table has no room for another split."""
        if self.nodes.room[ROWS] > self.growth.style.most_rows and not self._full:
            self._full = True
            warn(
                f"board {self.board.name}: its node table of {self.board.geometry.nodes} rows is full, so the tree "
                "splits no more: choose a geometry with more nodes"
            )

    def settling(self):
        """Have all decisions take effect now; a generator for `Steps`."""
        self.check_working()
        self.failed = True
        yield from self.driver.settling()
        self.begin_block(self.event_counts.instances)
        self.failed = False

    def resume_block(self):
        """The block that is being learnt goes on."""
        self.begin_block(self.event_counts.begun, self.event_counts.ends or FAR)

    def begin_block(self, begun, until=FAR):
        """The block that is being learnt began with so many instances learnt, and the tree as it is.

        It ends with ``until`` learnt at the latest.
        """
        nodes = self.nodes
        if self.rule.fixed == 1:  # no instance of it has been learnt: that would have ended it
            begun = self.event_counts.instances
        self.event_counts.begun = begun
        self.block[LENGTH] = length = length_of(self.rule, nodes.table, nodes.rows)
        # Another ``block`` may be shorter.
        self.event_counts.ends = max(min(begun + length, until), self.event_counts.instances + 1)
        self.block[BUSY] = (PENDING | 1) * busy(nodes.table, nodes.rows)
        self.block[[PHASE, LEFT]] = COUNTS, 0

    # One instance at a time

    def row_arguments(self, codes, labels, predictions):
        """What `learn_row` and `predict_row` work on; None if that is not for them now.

        ``codes`` are uint8 (attributes,), read-only; ``labels`` and ``predictions`` int32 (1,), the latter written.
        """
        if self.failed or not self.driver.rows:
            return None
        # What else is to be done is done by `learn`.
        self.rows_left = self.until_review - 1
        self.rows_only = True
        return self.driver.arguments_of(codes, labels, predictions)

    def learn_row(self, arguments):
        """`learn` of one instance, if ``rows_only`` and there are ``rows_left``."""
        # Ctrl-C comes before or after compiled code, and what that leaves is done by whoever
        # comes next. So are instances too many taken off here, at worst.
        self.rows_left -= 1
        if not self.driver.learn_row(arguments):
            self.rows_only = False
            with deferred_interrupt():
                self.driver.check_working()

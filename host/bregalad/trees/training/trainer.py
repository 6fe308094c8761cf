"""Streams instances to a board and grows the tree from its suggestions, in strict order.

The tree stands still for a block of instances. What is due at its end is tried, and takes effect at the next
block's end: only there the stream waits for reports. Children get what their parent has counted when its split
takes effect, which is read back then. So tree and predictions follow from the stream alone, at any latency of the
link (docs/learners.md, "Blocks").
"""

from collections import namedtuple
from contextlib import contextmanager, suppress
from copy import copy, deepcopy

import numpy as np

from ...boards.base import BoardError
from ...boards.emulated import EmulatedBoard
from ...boards.kernel.state import TERMS
from ...drift.adwin import new_windows
from ...interrupt import deferred_interrupt
from ...protocol.commands import Opcode, pack_command
from ...protocol.rows import MOST_WEIGHT
from ...words import shown
from ..requirements import check_abilities, check_alternates, check_block, check_classes, check_window
from ..structure import router
from ..structure.blocks import FAR, busy, earliest, length_of
from ..structure.growth import Growth
from ..structure.memory import Memory
from ..structure.nodes import Nodes
from ..weights import HEAVIEST
from . import checkpoint, sending
from .desk import BUSY, COUNTS, END, LEFT, PENDING, PHASE, Commands
from .feed import open_feed
from .hearing import Hearing
from .nearby import Nearby
from .recoding import recoding
from .resident_rows import ResidentRows
from .rivals import TESTED, chances_of, contest_of
from .steps import SAFE, Steps
from .streaming import Streaming
from .tally import Tally
from .trials import Trials
from .walking import Walking
from .watch import watch_of

__all__ = ["Trainer"]

# Instances that are being learnt, as `sending.advance` describes them.
_Window = namedtuple("_Window", "codes labels predictions weights")
# As of `direct.learn`.
_How = namedtuple("_How", "predictor anytime alternates watch forgets rules chances")


class Trainer(Hearing, Nearby, Streaming, ResidentRows):
    """One tree, one board.

    Parameters
    ----------
    board : Board
        Idle; its configuration and statistics are overwritten.
    cells : CellMap
    policy : SplitPolicy
    classes : int
        Classes in use.
    prediction : "mc", "nb" or "nba"
        What leaves predict; the latter two by the board.
    nodes : Nodes, optional
        A tree to go on with; see ``checkpoint.restore``.
    tally : Tally, optional
        Counts to go on with.
    review_period : int
        Where leaves are without a slot, all leaves compete for the slots anew every so many
        instances.
    feed : "stream" or "memory"
        Whether records go with the commands or through the board's memory and DMA.
    memory : Memory, optional
        What a policy with a window has learnt last, to go on with.

    Raises
    ------
    ValueError
        If the board's geometry or memory is too small for the stream, or its bitstream lacks the
        policy's criterion or the leaves' prediction.
    BoardError
        If another trainer uses the board.
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
        tally=None,
        review_period=20_000,
        feed="stream",
        memory=None,
    ):
        geometry = board.geometry
        check_classes(geometry, classes)
        check_abilities(geometry, policy, prediction)
        check_alternates(geometry, policy, feed)
        check_block(geometry, policy)
        board.claim(self)
        self.board = board
        self.cells = cells
        self.classes = classes
        self.predictor = router.PREDICTIONS[prediction]
        self.review_period = review_period
        self._begin(policy, nodes, tally, memory)
        # A board that walks records down the tree itself fetches them from memory.
        self.walking = Walking(self) if geometry.nodes else None
        self._fed_by = feed
        self._feed = None if geometry.nodes else open_feed(feed, board, len(cells))
        # A board in this process needs no stream between.
        self._direct = None
        if board.state is not None and feed == "stream":
            self._direct = Commands(self.growth.most_bytes)
        # How the leaves predict and what counts: what is None, nothing is compiled for.
        style = self.growth.style
        self._how = _How(
            self.predictor or None,
            style.anytime,
            style.alternates,
            watch_of(policy),
            len(self.memory) or None,
            contest_of(policy),
            None,
        )
        self._multiple = int(policy.inner_grace) if policy.tree_wide else 0
        try:
            self._prepare()
        except BaseException:
            board.release(self)  # an exception's traceback would keep this trainer alive
            raise

    def _begin(self, policy, nodes=None, tally=None, memory=None):
        """Set up a tree."""
        geometry, cells = self.board.geometry, self.cells
        self.policy = policy
        self.nodes = Nodes(geometry.classes) if nodes is None else nodes
        self.nodes.average_over(len(cells.first_cell) if policy.gain_average else 0)
        self.nodes.watch(new_windows(1).shape[1] if policy.watched else TESTED if policy.rivals else 0)
        self._commands = []  # to send before the next records
        self.tally = Tally() if tally is None else tally
        first = self.board.first_slot
        self.growth = Growth(geometry, cells, policy, self.nodes, self._commands, self.tally, first)
        self.memory = Memory(policy.window or 0, len(cells.first_cell)) if memory is None else memory
        self.trials = Trials(geometry, cells, policy, self.growth, self.classes, self.tally)
        self._failed = False  # a board failed half-way: its statistics are not the tree's
        self._asked = False  # reports that nobody waits for any more may still come
        self._rule = policy.block_rule(geometry)
        self._block = np.zeros(4, np.int64)  # as `Desk` has it
        self._window = None  # what is being learnt
        self._waiting = np.zeros((0, sending.WAITING), np.int32)  # predictions that the board is to report
        self._progress = np.zeros(3, np.int64)  # of these, as `sending` takes it
        self._found = []  # answers to READ, in order
        # Whether nothing but `learn_row` has changed anything since `row_desk`, and how many
        # instances there are until something else is to be done.
        self.rows_only, self.rows_left = False, 0
        self.begin_block(self.tally.begun)

    def followed(self, policy, tally):
        """A trainer of a new tree on this one's board, which is configured already; this one is done.

        Parameters
        ----------
        policy : SplitPolicy
            But for its seed the same.
        tally : Tally
        """
        other = copy(self)
        if self._direct is None and self.growth.unlink_all():
            self.flush()
        self.board.release(self)
        self.board.claim(other)
        other._begin(policy, tally=tally)
        if self.walking is not None:
            other.walking = Walking(other)
        other.growth.start()
        return other

    def _check_room(self):
        """Refuse a board that cannot count, or be sent, what a window holds."""
        if self.walking is not None:
            raise ValueError(
                f"board {self.board.name} holds the tree itself, and cannot forget: choose window=None, or a geometry "
                "with nodes=0"
            )
        check_window(self.board.geometry, self.policy)
        if len(self._feed.out) < 2 * self._feed.size:
            raise ValueError(f"board {self.board.name} has no memory for two records: feed it through the stream")

    @property
    def broken(self):
        """Why the board's statistics are not the tree's, in words; None if they are."""
        if self.board.lost:
            return f"board {self.board.name} has lost what it had counted"
        if self._failed or self.board.torn:
            return (
                f"board {self.board.name} failed while this tree was learning (if its link was cut, resume() goes on)"
            )
        return None

    @property
    def stuck(self):
        """Whether it has not come to the end of what it was learning."""
        return self._failed

    @property
    def asked(self):
        """Whether reports may still come that nobody waits for any more."""
        return self._asked

    # Setting up

    def _prepare(self):
        board, policy = self.board, self.policy
        if len(self.memory):
            self._check_room()
        board.send(pack_command(board.geometry, Opcode.RESET))
        self.fence()
        self.cells.configure(board)
        board.write("classes.count", self.classes)
        # The driver says when a slot is tried, or a trial might come before the last one has taken effect.
        board.write("grace.leaf", 0)
        board.write("inner_grace.inner", 0)
        board.write_fields(
            "report",
            all=int(policy.reports_all),
            predictions=int(self.predictor != router.MAJORITY),
            neighbours=int(self.cells.has_numbers),  # without, the board need not look for nothing
        )
        if self.walking is not None:
            self.walking.configure()
        if len(self.nodes) == 1 and self.nodes.slot[0] < 0:
            self.growth.start()

    def consult(self, totals):
        """Let decisions ask these `Totals`, and tests of alternates, too."""
        self.trials.totals = totals
        self._how = self._how._replace(chances=chances_of(self.policy, totals))

    def count_classes(self, classes):
        """Count so many classes from now on; the board has counters for them."""
        check_classes(self.board.geometry, classes)
        self.rows_only = False
        self.board.write("classes.count", classes)
        self.classes = self.trials.classes = classes

    @property
    def widens(self):
        """Whether `widen` is for it."""
        return self._direct is not None and self.walking is None

    def widen(self, cells):
        """Count more attributes from now on, the last ones; the board is in this process, and has the cells.

        Parameters
        ----------
        cells : CellMap
        """
        self.check_working()
        self.flush()
        geometry, policy, pool, totals = self.board.geometry, self.policy, self.growth.pool, self.trials.totals
        known, attributes = len(self.cells), len(cells.first_cell)
        cells.configure(self.board, known)
        self.board.write("report.neighbours", int(cells.has_numbers))
        self.board.state.entries[:, TERMS] = 0
        self.nodes.average_over(attributes if policy.gain_average else 0)
        self.memory.widen(attributes)
        self.cells = cells
        self.growth = Growth(geometry, cells, policy, self.nodes, self._commands, self.tally, self.board.first_slot)
        self.growth.pool = pool
        self.trials = Trials(geometry, cells, policy, self.growth, self.classes, self.tally)
        self.trials.totals = totals
        self._direct = Commands(self.growth.most_bytes)
        self._feed = open_feed(self._fed_by, self.board, len(cells))

    def leave(self):
        """Leave a board that works to another trainer; this one is of no use any more."""
        try:
            if not (self.broken or self.board.cut) and self.growth.unlink_all():
                with deferred_interrupt(), suppress(BoardError):
                    # If the link is cut now, nothing is lost but clocks of the next tree's.
                    self.flush()
                    self.fence()
        finally:
            self.board.release(self)

    def command(self, opcode, **values):
        """Queue a command; it is sent before the next records, or by ``flush``."""
        self.rows_only = False
        self.growth.command(opcode, **values)

    def check_working(self):
        """Be ready to learn or to ask; a BoardError if the board has failed."""
        self.rows_only = False
        if self.broken:
            raise BoardError(
                f"{self.broken}; the tree is kept and can be saved; to learn on with "
                "new statistics close() it first, or load what was saved before"
            )
        if self.board.take_turn(self) or self._asked:
            self.flush()
            self.fence()  # after all that an interrupted call had asked for
            self.choose_predictions()
            self._asked = False
        if self.walking is not None:
            self.walking.take_turn()
        if self._block[LEFT]:
            self._end_block_here()

    def choose_predictions(self):
        """Let the board predict what learning asks for."""
        self.board.write("report.predictions", int(self.predictor != router.MAJORITY))

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
        ValueError
            If a code is none of its attribute's; nothing is learnt then.
        BoardError
            If the board reports an error or is gone.
        KeyboardInterrupt
            At the next instance at which tree and board agree, or the end; ``tally.instances``
            tells which. In between only if a board at the end of a wire makes no progress.
        """
        return Steps(self.learning(codes, labels)).run(self.board.receive)

    @contextmanager
    def beside(self):
        """A trainer of the same tree on an emulated board, with the same statistics, for a moment."""
        nodes = deepcopy(self.nodes)
        kept = checkpoint.read(self)
        with EmulatedBoard(self.board.geometry.replace(nodes=0)) as board:
            prediction = {value: name for name, value in router.PREDICTIONS.items()}[self.predictor]
            other = Trainer(board, self.cells, self.policy, self.classes, prediction=prediction, nodes=nodes)
            checkpoint.restore(other, kept)
            yield other

    def check_weights(self, weights, count):
        """Refuse what is no int32 array of so many weights, or weighs more than the board takes."""
        if len(self.memory):
            raise ValueError("a tree with a window learns instances of weight 1 only, since it forgets them one by one")
        if self.walking is None and self._fed_by != "stream":
            raise ValueError(f"feed={self._fed_by!r} takes no weights: choose feed='stream'")
        if not isinstance(weights, np.ndarray) or weights.dtype != np.int32 or weights.shape != (count,):
            raise TypeError(f"weights must be an int32 array ({count},), not {shown(weights)}")
        if not count:
            return
        if not 0 <= weights.min() <= weights.max() <= HEAVIEST:
            raise ValueError(f"weights must be 0 to {HEAVIEST}")
        if self.walking is not None and weights.max() > MOST_WEIGHT:
            raise ValueError(
                f"board {self.board.name} holds the tree itself, and takes weights up to {MOST_WEIGHT}, not "
                f"{weights.max()}: choose a geometry with nodes=0"
            )

    @property
    def until_review(self):
        """Instances until all leaves compete for the slots."""
        return self.review_period - self.tally.instances % self.review_period

    def learning(self, codes, labels, weights=None):
        """``learn`` as a generator for `Steps`, which can be finished after the link was cut.

        Instances may have ``weights``, int32 array (n,), see `check_weights`: how often each is learnt, 0: it is
        predicted only.
        """
        self.check_working()
        codes = np.ascontiguousarray(codes)
        self.cells.check(codes)
        count = len(codes)
        if len(labels) != count:  # compiled code would read on beyond them
            raise ValueError(f"there are {count} instances, but {len(labels)} labels")
        self._window = window = _Window(codes, labels, np.zeros(count, np.int32), weights)
        self._progress[:] = 0
        position = 0
        while position < count:
            if position:
                yield SAFE
            self.rows_only = False  # somebody may have predicted meanwhile
            self._failed = True  # unless the board gets through
            end = position + min(count - position, self.until_review)
            if self.trials.totals is not None:
                past = self.memory.in_order(self.tally.instances)
                self.trials.totals.begin(labels[position:end], self.tally.instances, past)
            if self.walking is not None:
                yield from self.walking.learning(position, end)
            elif self._direct is not None:
                self._run_directly(position, end)
            else:
                yield from self._run_streaming(position, end)
            self._failed = False
            position = end
            if self.tally.instances % self.review_period == 0:
                changed = self.growth.review()
                if changed and self.walking is not None:
                    self.walking.told = False
        self._window = None  # it may be large
        if self.walking is not None:
            self.walking.check_room()
        return window.predictions

    def settling(self):
        """Have all decisions take effect now; a generator for `Steps`."""
        self.check_working()
        self._failed = True
        if self.walking is not None:
            yield from self.walking.effects(FAR - 1)
        yield from self._effects(FAR)
        self.flush()  # what the board is told to do must be done before its codes change
        self.begin_block(self.tally.instances)
        self._failed = False

    def recoding(self, changes, adopt):
        """Go on with other code books, when all decisions have taken effect; a generator for `Steps`.

        Parameters
        ----------
        changes : dict of Change
            By attribute, as ``Quantiser.changes`` gives them.
        adopt : callable
            Is given them where the tree takes them over: if the link is cut before, and never
            mended, books and tree stay as they were.
        """
        self.check_working()
        self._failed = True
        yield from recoding(self, changes, adopt)
        if self.walking is not None:
            self.walking.told = False
        self._failed = False

    def begin_block(self, begun):
        """The block that is being learnt began with so many instances learnt, and the tree as it is."""
        nodes = self.nodes
        if self._rule.fixed == 1:  # no instance of it has been learnt: that would have ended it
            begun = self.tally.instances
        self.tally.begun = begun
        length = length_of(self._rule, nodes.table, nodes.rows)
        self._block[END] = max(begun + length, self.tally.instances + 1)  # another ``block`` may be shorter
        self._block[BUSY] = (PENDING | 1) * busy(nodes.table, nodes.rows)
        self._block[[PHASE, LEFT]] = COUNTS, 0

    def _take_effect(self):
        """Have the next decision take effect: what it takes is read at this point of the stream."""
        self._read(self.trials.begin(int(earliest(self.nodes.table, self.nodes.rows))))

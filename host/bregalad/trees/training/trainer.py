"""Streams instances to a board and grows the tree from its suggestions, in strict order.

A node's statistics are a sum over the instances that reach it, and the tree changes only through
trials. So the trainer streams ahead and withholds just the instances that reach a node whose trial
is still out; they follow once the verdict is in, or before it, at a risk, to a board that would
have nothing to do (`speculation.py`). A node's trial is due with the same instance whatever the
latency: the instances that reach the node are counted when they are routed, the one that completes
its period shuts the gate, and the board tries the node when the last of them has been let go below.
Tree and predictions are those of the one-at-a-time algorithm at any link latency (design, section
6).

Where slots could run out, which leaf loses its slot depends on what every leaf has seen by then. As
long as the trials of the instances ahead could need more slots than are free, splits take place in
order, with hindsight (`hindsight.py`), once nothing else is under way. What hindsight does not
cover (inner nodes that count, naive Bayes, adaptive periods) stops at each trial until its verdict
is in.
"""

from collections import namedtuple
from contextlib import contextmanager, suppress
from itertools import count as count_from

import numpy as np

from ...boards.base import BoardError, as_bytes
from ...interrupt import check_interrupt, deferred_interrupt
from ...protocol.commands import PATH_LIMIT, Opcode, pack_command
from ...protocol.reports import ErrorCode, Kind, layout_of
from ..requirements import check_abilities, check_classes
from ..structure import router
from ..structure.growth import Growth
from ..structure.nodes import HOLDING, TRIAL_OUT, Nodes
from ..structure.walk import route
from . import direct
from .feed import FEED_TOKENS, open_feed
from .hindsight import Hindsight
from .recoding import recoding
from .speculation import Speculation
from .steps import SAFE, Steps
from .tally import Tally
from .trials import Trials

__all__ = ["Trainer"]

# Instances that are being learnt, as `router.advance` describes them.
_Window = namedtuple("_Window", "codes labels predictions follower order leaves early")

_RUNS = (Kind.SUGGESTION, Kind.GAINS, Kind.PREDICTION)  # taken many at once by compiled code
# No two fences have the same, so that none is taken for one whose answer a cut has held up.
_TOKENS = count_from(FEED_TOKENS)


class Trainer:
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
    ):
        geometry = board.geometry
        check_classes(geometry, classes)
        check_abilities(geometry, policy, prediction)
        board.claim(self)
        self.board = board
        self.cells = cells
        self.policy = policy
        self.classes = classes
        self.predictor = router.PREDICTIONS[prediction]
        self.nodes = Nodes(geometry.classes) if nodes is None else nodes
        self.nodes.average_over(len(cells.first_cell) if policy.gain_average else 0)
        self._commands = []  # to send before the next records
        self.growth = Growth(geometry, cells, policy, self.nodes, self._commands)
        self.review_period = review_period
        self.tally = Tally() if tally is None else tally
        self.trials = Trials(geometry, cells, policy, self.growth, classes, self.tally)
        # Whether what instances have done after a split can be separated from what came before.
        self._sees_back = self.predictor == router.MAJORITY and not policy.anytime and not policy.adaptive_grace
        self._found = np.zeros((PATH_LIMIT, direct.FOUND), np.int64)
        self._failed = False  # a board failed half-way: its statistics are not the tree's
        self._asked = False  # reports that nobody waits for any more may still come
        self._feed = open_feed(feed, board, len(cells))
        # A board in this process needs no stream between.
        self._direct = None
        if board.state is not None and feed == "stream":
            self._direct = direct.Commands(self.growth.split_bytes)
        # How the leaves predict and what counts: what is None, nothing is compiled for.
        self._how = self.predictor or None, self.growth.style.anytime
        self._left = np.zeros(1, np.int64)  # of what was found, how much is still to be done
        # Whether nothing but `learn_row` has changed anything since `row_desk`, and how many
        # instances there are until something else is to be done.
        self.rows_only, self.rows_left = False, 0
        try:
            self._prepare()
        except BaseException:
            board.release(self)  # an exception's traceback would keep this trainer alive
            raise

    @property
    def broken(self):
        """Why the board's statistics are not the tree's, in words; None if they are."""
        if self.board.lost:
            return f"board {self.board.name} has lost what it had counted"
        if self._failed:
            return (
                f"board {self.board.name} failed while this tree was learning (if its link was cut, resume() goes on)"
            )
        return None

    # Setting up

    def _prepare(self):
        board, policy = self.board, self.policy
        board.send(pack_command(board.geometry, Opcode.RESET))
        self.fence()
        self.cells.configure(board)
        board.write("classes.count", self.classes)
        board.write("grace.leaf", policy.grace)
        inner = policy.anytime and not policy.tree_wide
        board.write("inner_grace.inner", policy.inner_grace if inner else 0)
        board.write_fields(
            "report",
            all=int(policy.reports_all),
            predictions=int(self.predictor != router.MAJORITY),
            neighbours=int(self.cells.has_numbers),  # without, the board need not look for nothing
        )
        if len(self.nodes) == 1 and self.nodes.slot[0] < 0:
            self.growth.start()

    def count_classes(self, classes):
        """Count so many classes from now on; the board has counters for them."""
        check_classes(self.board.geometry, classes)
        self.rows_only = False
        self.board.write("classes.count", classes)
        self.classes = self.trials.classes = classes

    def fence(self):
        """Wait until the board has done all that it was sent."""
        board, token = self.board, next(_TOKENS) & 0xFFFFFFFF
        board.send(pack_command(board.geometry, Opcode.FENCE, token=token))
        layout = layout_of(Kind.FENCE, board.geometry, 0)
        while not any(
            kind is Kind.FENCE and layout.unpack(report)["token"] == token
            for kind, report in self.reports(board.receive(wait=True))
        ):
            pass

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

    def _check_working(self):
        self.rows_only = False
        if self.broken:
            raise BoardError(
                f"{self.broken}; the tree is kept and can be saved; to learn on with "
                "new statistics close() it first, or load what was saved before"
            )
        if self._asked:
            self.flush()
            self.fence()  # after all that an interrupted call had asked for
            self.choose_predictions()
            self._asked = False
        if self._left[0]:
            self._change_found()

    def choose_predictions(self):
        """Let the board predict what learning asks for."""
        self.board.write("report.predictions", int(self.predictor != router.MAJORITY))

    @contextmanager
    def asking(self):
        """Ask the board for something; what is left of it if that fails is swept up later.

        Yields a function that waits for reports and yields them as `reports`. Ctrl-C comes there,
        or where `check_interrupt` is called.
        """
        with deferred_interrupt():
            self._check_working()
            self._asked = True
            yield self._answers
            self._asked = False

    def _answers(self):
        check_interrupt()
        for kind, report in self.reports(self.board.receive(wait=True)):
            if kind is Kind.ERROR:
                raise self.error(report)
            yield kind, report

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

    def learning(self, codes, labels):
        """``learn`` as a generator for `Steps`, which can be finished after the link was cut."""
        self._check_working()
        codes = np.ascontiguousarray(codes)
        self.cells.check(codes)
        count = len(codes)
        if len(labels) != count:  # compiled code would read on beyond them
            raise ValueError(f"there are {count} instances, but {len(labels)} labels")
        window = _Window(
            codes,
            labels,
            np.zeros(count, np.int32),
            np.full(count, -1, np.int32),
            np.zeros((count if self.predictor else 0, 2), np.int32),
            np.full(count, -1, np.int32),
            np.zeros(count, bool),
        )
        self._progress = np.zeros(1, np.int64)
        self._answered = 0
        self.trials.before = self.tally.instances
        if self._sees_back and self.board.early_bytes:
            self.trials.speculation = Speculation(self.board, self.cells, self.nodes, window)
        position = 0
        while position < count:
            yield SAFE
            self.rows_only = False  # somebody may have predicted meanwhile
            self._failed = True  # unless the board gets through
            ahead = self._ahead(position, count)
            if self._direct is not None and not self._tree_wide_now:
                done = self._run_directly(window, position, position + ahead)
            else:
                done = yield from self._run(window, position, position + ahead)
                self.tally.instances += done - position
            self._failed = False
            position = done
            if self.tally.instances % self.review_period == 0:
                self.growth.review()
        self.trials.speculation = None
        return window.predictions

    def recoding(self, changes, adopt):
        """Go on with other code books; a generator for `Steps`.

        Parameters
        ----------
        changes : dict of Change
            By attribute, as ``Quantiser.changes`` gives them.
        adopt : callable
            Is given them where the tree takes them over: if the link is cut before, and never
            mended, books and tree stay as they were.
        """
        self._check_working()
        self._failed = True
        yield from recoding(self, changes, adopt)
        self._failed = False

    @property
    def _tree_wide_now(self):
        """Whether the next instance makes the trials of the inner nodes on its path due."""
        policy = self.policy
        return policy.tree_wide and _until(self.tally.instances, policy.inner_grace) == 1

    def _ahead(self, position, count):
        """Instances until something else is to be done than learning."""
        ahead = min(count - position, _until(self.tally.instances, self.review_period))
        if self.policy.tree_wide:
            # The instance that makes inner nodes' trials due is learnt alone.
            ahead = min(ahead, max(1, _until(self.tally.instances, self.policy.inner_grace) - 1))
        return ahead

    def _reach(self, ahead, withheld=0):
        """How many of the instances ahead the stream may run on, slots being enough; 0: too few."""
        reach = ahead
        while reach >= min(self.policy.grace, ahead):
            needed = self.growth.slots_needed(withheld + reach, self.trials.outstanding)
            if needed <= self.growth.pool.free:
                return reach
            reach //= 2
        return 0

    def _run(self, window, position, end):
        """Learn instances until ``end``, or until slots are short, or from then until a verdict.

        Yields whether to wait for reports, and is sent those that came.
        """
        feed, nodes, trials = self._feed, self.nodes, self.trials
        out, size = feed.out, feed.size
        capacity = len(out)
        how = (self.predictor, self.policy.anytime, self.board.geometry.count_max, self._progress, self.cells.attribute)
        tree_wide = self._tree_wide_now
        start, stop = position, position + self._reach(end - position)
        few = np.inf  # trials that are out, from which on it is worth asking how far to go on
        short = stop == start
        single = short and not self._sees_back
        trials.hindsight = None
        if short:
            stop = end
            if self._sees_back:
                trials.hindsight = Hindsight(nodes, window.labels, window.leaves)
        while True:
            while feed.full:
                self._handle(window, (yield True))
            trials.decide_in_order(position)
            at = 0
            while trials.find_ready() and at + size <= capacity:
                node = trials.ready[-1]
                at, due = router.release(nodes.table, nodes.counts, *window, node, *how, out, at)
                trials.start(due)
                if nodes.gate[node] != HOLDING or at + size <= capacity:
                    trials.ready.pop()  # what it still holds waits for what is withheld below
            if position < stop and not trials.ready and not trials.deciding:
                first = position
                position, at, due, why = router.advance(
                    nodes.table, nodes.counts, *window, position, stop, *how, single, out, at
                )
                trials.start(due)
                if why == router.FIRED:
                    stop = position
            else:
                first = None
            if position == stop < end and not short and trials.outstanding <= few:
                withheld = int(np.count_nonzero(window.leaves[start:position] < 0))
                stop += self._reach(end - stop, withheld)
                few = trials.outstanding // 2 if position == stop else np.inf
            idle = not trials.find_ready() and (position == stop or trials.deciding)
            known = at  # bytes of records that no verdict will call for again
            if idle and trials.speculation is not None:
                at = trials.speculation.send(out, at)
                idle = at == known
            self.flush()
            if at:
                feed.send(at)
            if tree_wide and first is not None and position > first:
                self._try_path(window, first)
            if trials.decidable:
                continue
            answered = self._answered == self._progress[router.SENT]
            if idle and answered and trials.settled:
                return position
            self._handle(window, (yield idle))

    def _run_directly(self, window, position, stop):
        """Learn instances on a board in this process until ``stop``."""
        self.flush()
        self._handle(window, self.board.receive())
        instances = as_bytes(window.codes), window.labels, window.predictions
        while position < stop:
            self.nodes.reserve(self.cells.most_branches)
            position = direct.learn(self._desk_of(*instances), position, stop, *self._how)
            self._change_found()
        return position

    def _desk_of(self, codes, labels, predictions):
        """What ``direct`` works on; only of a board in this process."""
        nodes, growth = self.nodes, self.growth
        return direct.desk(
            self.board.state,
            nodes.table,
            nodes.matrices,
            nodes.room,
            nodes.blank,
            growth.style,
            self.cells.first_cell,
            growth.pool.stack,
            growth.pool.node,
            self._direct.written,
            self._direct.read,
            self.classes,
            self.trials.form,
            self.policy.options,
            self._found,
            self._left,
            self.tally.counts,
            codes,
            labels,
            predictions,
        )

    # One instance at a time, on a board in this process

    def row_desk(self, codes, labels, predictions):
        """What `learn_row` and `direct.predict` work on; None if that is not for them now.

        Parameters
        ----------
        codes : uint8 array (attributes,), read-only
        labels, predictions : int32 array (1,)
            The latter is written.
        """
        if self._direct is None or self.policy.tree_wide or self._failed or self._asked or self._commands:
            return None
        # What else is to be done is done by `learn`.
        self.rows_left = _until(self.tally.instances, self.review_period) - 1
        self.rows_only = True
        return self._desk_of(codes, labels, predictions)

    def predict_row(self, desk):
        """What `direct.predict` does, if ``rows_only``."""
        return direct.predict(desk, self._how[0])

    def learn_row(self, desk):
        """`learn` of one instance, if ``rows_only`` and there are ``rows_left``."""
        # Ctrl-C comes before or after `direct.learn`, and what that leaves is done by whoever
        # comes next. So are instances too many taken off here, at worst.
        self.rows_left -= 1
        direct.learn(desk, 0, 1, *self._how)
        if self._left[0]:
            self.rows_only = False
            with deferred_interrupt():
                self.trials.before = self.tally.instances - 1
                self._change_found()

    def _change_found(self):
        """Do what ``direct.learn`` has left to do."""
        changes = int(self._left[0])
        if not changes:
            return
        trials, board, failed = self.trials, self.board, self._failed
        self._failed = True
        found = self._found[:changes]
        trials.outstanding += changes
        trials.change(*found.T[: direct.AT], board.state.out[found[:, direct.AT :] + np.arange(trials.form.size)])
        while not trials.settled:
            self.flush()
            self._handle(None, board.receive(wait=True))
        self.flush()
        self._left[0] = 0
        self._failed = failed

    def _try_path(self, window, instance):
        """Try the inner nodes on an instance's path."""
        nodes = self.nodes
        leaf = route(nodes.table, window.codes[instance : instance + 1])[0]
        for node in list(nodes.path(int(leaf)))[1:]:
            nodes.gate[node] |= TRIAL_OUT
            nodes.due_at[node] = instance
            self.command(Opcode.TRIAL, slot=int(nodes.slot[node]))
            self.trials.start(1)
        self.flush()

    def flush(self):
        """Send the commands that wait."""
        if self._commands:
            with deferred_interrupt():
                data = b"".join(self._commands)
                self._commands.clear()  # first: what is sent, and then fails, must not go again
                self.board.send(data)

    # Reports

    def reports(self, data):
        """Yield ``(kind, bytes)`` of each report that is not for the feed.

        Trials and predictions in a row, which compiled code takes together, come as one.
        """
        geometry, cells = self.board.geometry, len(self.cells)
        at = 0
        while at < len(data):
            try:
                size = layout_of(data[at], geometry, cells).size
            except ValueError as error:
                self._failed = True
                raise BoardError(
                    f"board {self.board.name}: {error}; what the board tells cannot be "
                    "read: load the bitstream of this release"
                ) from None
            kind = Kind(data[at])
            end = at + size
            while kind in _RUNS and end < len(data) and data[end] == kind:
                end += size
            report, at = data[at:end], end
            token = int(layout_of(kind, geometry, cells).unpack(report)["token"]) if (kind is Kind.FENCE) else 0
            if 0 < token < FEED_TOKENS:
                self._feed.done(token)
            else:
                yield kind, report

    def _handle(self, window, data):
        for kind, report in self.reports(data):
            if kind is Kind.PREDICTION:
                layout = layout_of(kind, self.board.geometry, 0)
                found = np.frombuffer(report, layout.dtype)["label"].astype(np.int32)
                router.answer(
                    self.nodes.table,
                    window.labels,
                    window.predictions,
                    window.order,
                    self._answered,
                    self.predictor,
                    found,
                )
                self._answered += len(found)
            elif kind in (Kind.SUGGESTION, Kind.GAINS):
                self.trials.judge(report)
            elif kind is Kind.STATISTICS:
                self.trials.statistics(report)
            elif kind is Kind.ERROR:
                raise self.error(report)

    def error(self, report):
        """The exception for an ERROR report, after which the board does nothing more."""
        self._failed = True
        error = layout_of(Kind.ERROR, self.board.geometry, 0).unpack(report)
        names = {int(code): code.name for code in ErrorCode}
        code = int(error["flags"])
        return BoardError(
            f"board {self.board.name} reports {names.get(code, f'unknown error {code}')} at "
            f"{int(error['address']):#x} after {int(error['count'])} records"
        )


def _until(instances, period):
    """Instances until their number is the next multiple of a period."""
    return period - instances % period

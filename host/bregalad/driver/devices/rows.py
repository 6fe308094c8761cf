"""Learning on a board that holds the tree: rows go to its memory, candidates come back.

The driver hears of attempts that may change the tree, and of blocks that end with decisions to be carried out. What
leaves have counted stays on the board, and is read when somebody wants to know it.
"""

from functools import partial
from typing import Any

import numpy as np

from ...boards.base import BoardError
from ...engine.drift import watch_of
from ...geometry import NONE
from ...policy.decide import ALTERNATE, SWAP
from ...protocol.commands import COMMAND_BYTES, Opcode, padded
from ...protocol.decider import DECIDER
from ...protocol.leaf_rows import RowOp
from ...protocol.reports import Kind, layout_of
from ...protocol.rows import MOST_WEIGHT, Column, RowKind, RowLayout, edges_command, weighed
from ...protocol.tree import TreeKind, TreeOpcode, pack_tree
from ...tree.blocks import FAR, length_of, next_of
from ...tree.table import has_alternate
from ..decisions import carrying_out
from ..requirements import check_nodes
from ..steps import SAFE
from .device import DeviceDriver, relinked
from .filter import rule_of
from .node_edits import SEEN, UNREPORTED, words_of
from .progress import put_edits
from .queries import ALL, AT, CHOICE, DONE, LEAVES, NODE, WHOLE, answers, report_changes, request, sizes_of
from .replies import report_of, take, take_labels

_PART = 1 << 20  # rows after which Ctrl-C may end learning: so many that the host's share is what it is without
_HEAD = 2  # bytes of a row: label, flags
_DECISIONS = 16  # at most, whose statistics are asked for at once
_NO_WORDS = np.zeros(0, np.uint32)
_NO_WORDS.flags.writeable = False  # as those of reports are
_NO_WEIGHTS = np.zeros(0, np.int32)
_MOVING = (TreeKind.SPLIT_CANDIDATE, TreeKind.BLOCK, TreeKind.LEARNT)  # reports that say how far the board has learnt


class RowDriver(DeviceDriver):
    """`Driver` of devices. The trainer's tree may have learnt before, on another board, too."""

    def __init__(self, trainer):
        super().__init__(trainer)
        self._declared: Any = None  # the layout that the board has
        self._answers: tuple = ()  # what `_arguments` has made last
        self._turns = None  # as of the board when the tree's own began
        self.up_to_date = False  # the board has followed all that others have done to the tree, and its turn has begun
        self._at = np.zeros(1, AT)  # how far all is, as `answers` has it
        self._at[0]["state"] = DONE
        self._answered = 0  # instances of the window whose class has been told
        self._labels = []  # LABEL reports, of trees that are watched, whose errors nobody has looked at

    def begin(self):
        trainer, board, policy, nodes = self.trainer, self.board, self.trainer.policy, self.trainer.nodes
        geometry, growth = board.geometry, trainer.growth
        if policy.window:
            raise ValueError(f"board {board.name} cannot forget: choose window=None, or board='emulated'")
        # A column for each cell: an attribute of several has its code in each.
        places = enumerate(trainer.cells.attribute)
        columns = [Column(f"cell {cell}", _HEAD + int(attribute), RowKind.CODE) for cell, attribute in places]
        self._of_codes = RowLayout(columns, _HEAD + len(trainer.cells.first_cell), label=0, flags=1)
        if board.memory_size < 2 * (stride := self._of_codes.stride):
            raise ValueError(
                f"board {board.name} has {board.memory_size} bytes of memory, two rows take {2 * stride}: it learns "
                "from one half while the other is filled"
            )
        check_nodes(geometry, nodes)
        self.report = report_of(geometry, len(trainer.cells), policy.reports_all)
        self._watch = watch_of(policy)
        self._sizes, self._rule = sizes_of(geometry), rule_of(policy, trainer.classes)
        self._made_of = None, None, 0  # of what `_arguments` has made its last answers
        self._reported = np.full((geometry.nodes, len(SEEN)), UNREPORTED, np.int64)  # what the board has of each node
        self._requested = np.zeros((geometry.nodes * (2 + geometry.classes), 2), np.int64)
        self._held = np.zeros(geometry.nodes, np.int64)
        self._batch = np.zeros((_DECISIONS, 2), np.int64)
        self._own = np.zeros((_DECISIONS, geometry.classes), np.int64)
        most = int(np.bincount(trainer.cells.attribute).max())
        self._bins = np.zeros((_DECISIONS * most, geometry.bins, geometry.classes), np.int64)
        nodes.reserve(geometry.nodes)  # so that its arrays stay the same
        # Commands that compiled code writes at once, of all nodes and slots; memory that nothing is written to is none.
        carried_out = _DECISIONS * (growth.most_edits + 2 * geometry.slots)
        requested = geometry.nodes + len(self._bins) + _DECISIONS
        words = self._step * (carried_out + growth.review_edits + requested)
        self._out = np.zeros(words + 2 * words_of(self._step, geometry.classes, geometry.nodes), np.uint32)
        self._words = np.zeros(trainer.form.size, np.int64)

    def configure(self):
        board, policy, rule = self.board, self.trainer.policy, self.trainer.rule
        super().configure()
        board.write("grace.leaf", int(policy.grace))
        board.write("inner_grace.inner", 0 if not policy.anytime or policy.tree_wide else int(policy.inner_grace))
        board.write("every.records", int(policy.inner_grace) if policy.tree_wide else 0)
        board.write_fields("block", at_once=int(rule.fixed == 1), waits=int(policy.watched))
        for register in DECIDER:
            values = {field.name: self._rule[f"{register.name}.{field.name}"] for field in register.fields}
            board.write_fields(register.name, **values)

    def check_weights(self, weights):
        if len(weights) and weights.max() > MOST_WEIGHT:
            raise ValueError(
                f"board {self.board.name} takes weights up to {MOST_WEIGHT}, not {weights.max()}: choose "
                "board='emulated'"
            )

    def check_working(self):
        super().check_working()
        if self._turns != self.board.turns:
            self._turns, self._declared, self.up_to_date = self.board.turns, None, False

    def apply(self, edits):
        self._commands.append(self._out[: put_edits(edits, len(edits), self._step, self._out, 0)].tobytes())

    # Rows

    def _declare(self, layout, reported):
        """Say what rows are from now on, and whether the class of each record is told."""
        trainer = self.trainer
        if (found := len(layout.columns)) != (cells := len(trainer.cells)):
            raise ValueError(f"the row layout has {found} columns; the tree takes one for each of its {cells} cells")
        command = layout.command(self.board.geometry)
        self._declared = None  # until it is sent
        self._quantiser_command(TreeOpcode.LAYOUT, command)
        self.board.write_fields("leaf_predictor", by=trainer.predictor, reported=int(reported))
        self._declared = layout

    def declare(self, layout, edges):
        """Say what the rows are that `learning_rows` learns, whose classes are not told.

        The layout has a column for each cell: an attribute of several has its value in each. ``edges`` are by cell the
        keys, uint32, of the edges that numbers are encoded by (`bregalad.data.keys`). ValueError if it does not fit
        tree or board.
        """
        self.trainer.check_working()
        self._declare(layout, reported=False)
        for cell, keys in edges.items():
            self._quantiser_command(TreeOpcode.EDGES, edges_command(self.board.geometry, cell, keys))
        self.flush()

    def _quantiser_command(self, opcode, command):
        head = padded(bytes([opcode]) + command.head[1:], self.board.geometry.bus_bytes)
        self._commands.append(head + command.payload)

    # Learning

    def learning(self, position, end):
        """Learn instances of the trainer's window, and read what all leaves have counted; a generator for `Steps`."""
        board, layout = self.board, self._of_codes
        if self._declared is not layout:
            self._declare(layout, reported=True)
        half = min(board.memory_size // 2, board.batch_bytes) // layout.stride or 1  # rows
        self._answered = position
        self._load(position, end, half, 0)
        for turn, begin in enumerate(range(position, end, half)):
            place, other = (each * half * layout.stride for each in (turn % 2, 1 - turn % 2))
            yield from self.learning_there(
                place, min(half, end - begin), meanwhile=partial(self._load, begin + half, end, half, other)
            )
        yield from self._request(ALL, 0)

    def _load(self, begin, end, most, address):
        """Put some of the window's instances into the board's memory."""
        window, layout, part = self.trainer.window, self._of_codes, slice(begin, min(begin + most, end))
        if begin < end:
            rows = np.zeros((part.stop - begin, layout.stride), np.uint8)
            rows[:, 0], rows[:, _HEAD:] = window.labels[part], window.codes[part]
            if window.weights is not None:
                rows[:, 1] = weighed(window.weights[part])
            self.board.load(address, rows.reshape(-1))

    def learning_there(self, address, count, reviews=0, meanwhile=lambda: None):
        """Learn rows that lie in the board's memory; yields as `learning`.

        All leaves compete for the slots every ``reviews`` instances; 0: somebody else sees to that. ``meanwhile`` is
        called once the board has begun.
        """
        if not self.up_to_date:
            self.bring_up_to_date()
        at = self._at[0]
        at["address"], at["left"], at["stride"], at["reviews"] = address, count, self._declared.stride, reviews
        self._take(_NO_WORDS, 0)
        meanwhile()
        while at["state"] != DONE:
            if at["state"] == LEAVES:
                yield from self._effect(int(at["made"]))
                self._take(_NO_WORDS, 0)
            else:
                self.handle((yield True))

    def learning_rows(self, address, count):
        """Learn rows that lie in the board's memory, from a byte on, and have been declared; a generator.

        Returns of how many the class was predicted before they were learnt. ValueError if they do not all lie there.
        """
        trainer = self.trainer
        trainer.check_working()
        if self._declared is None:
            raise ValueError("rows have no layout yet: declare() it")
        most, stride = self.board.memory_size, self._declared.stride
        if address < 0 or count < 0 or address + count * stride > most:
            raise ValueError(
                f"{count} rows of {stride} bytes from {address} on do not lie in the {most} bytes of memory"
            )
        trainer.failed = True
        yield from self.hits()
        for begin in range(0, count, _PART):
            trainer.failed = False
            yield SAFE
            trainer.rows_only = False  # somebody may have predicted meanwhile
            trainer.failed = True
            part = min(_PART, count - begin)
            yield from self.learning_there(address + begin * stride, part, trainer.review_period)
            yield from self._request(ALL, 0)
        _, right = yield from self.hits()
        trainer.failed = False
        trainer.check_room()
        return right

    def hits(self):
        """Instances, and those whose class was predicted, since the last time; yields as `learning`."""
        self._commands.append(pack_tree(self.board.geometry, TreeOpcode.ROW, flags=RowOp.MARK))
        self.flush()
        return (yield from self.found(2))

    def settling(self):
        nodes = self.trainer.nodes
        while next_of(nodes.table, nodes.rows, FAR) >= 0:
            if not self.up_to_date:
                self.bring_up_to_date()
            yield from self._effect(FAR)
        self.changed()

    def changed(self):
        self.up_to_date = False

    def _effect(self, made):
        """A decision that compiled code leaves: read what it takes, change the tree, tell the board."""
        trainer, nodes, event_counts, at = self.trainer, self.trainer.nodes, self.trainer.event_counts, self._at[0]
        at["at_work"] = 1
        node = moved = int(next_of(nodes.table, nodes.rows, made))
        if (decision := int(nodes.decision[node])) > ALTERNATE:
            moved = int(nodes.child[node]) + (decision == SWAP)
        elif decision == ALTERNATE and has_alternate(nodes.table, node):
            node = int(nodes.parent[node])
        # Which leaf loses its slot to another depends on what all have counted.
        scope = CHOICE if trainer.growth.pool.free < trainer.cells.most_branches else NODE
        yield from self._request(scope, moved)
        before = event_counts.replaced, event_counts.alternates
        linked = trainer.policy.anytime and decision == SWAP and (slot := int(nodes.slot[moved])) >= 0
        found = (yield from self._reading([(slot, NONE)])) if linked else []
        yield from carrying_out(trainer, moved if decision == ALTERNATE else node)
        if linked:  # with its link, the board has begun to count anew up to the next attempt
            self.command(Opcode.WRITE, slot=slot, cell=NONE, payload=relinked(trainer, node, found[0]))
        if (event_counts.replaced, event_counts.alternates) != before:
            self._reported[list(nodes.children(node)), 0] = UNREPORTED  # new, whatever stood there
        self._report(WHOLE if scope == CHOICE else node)
        at["at_work"] = 0

    def predict(self, codes, leaves, scores):
        """As of `Driver`; by the engine."""
        self.trainer.check_working()
        with self.trainer.beside() as other:
            return other.driver.predict(codes, leaves, scores)

    def take(self, data, at):
        words = np.frombuffer(data, np.uint32)
        position = self._take(words, at // 4)
        if self._labels and position < len(words) and data[4 * position] in _MOVING:
            self._look_at_errors()
            position = self._take(words, position)
        if 4 * position < len(data) and data[4 * position] in (Kind.TOP_CANDIDATES, Kind.GAINS):
            raise BoardError(f"board {self.board.name} proposes to change what no node of the tree has: open it anew")
        return 4 * position

    def _take(self, words, at):
        position, used = take(self._arguments(), words, at, self.trainer.growth.style.anytime)
        self._write(used)
        return position

    def take_other(self, kind, report):
        """Take in a run of reports of one `TreeKind` that `take` leaves: of others nobody has asked for them."""
        found = np.frombuffer(report, layout_of(kind, self.board.geometry, 0).dtype)
        if kind is TreeKind.LABEL and self._watch is not None:
            self._labels.append(found)
            self._at[0]["labels"] = 1
        elif kind is TreeKind.LABEL:
            position, self._answered = self._answered, self._answered + len(found)
            self.trainer.window.predictions[position : self._answered] = found["label"]
        elif kind is TreeKind.MARK:
            self._found += [int(found["instances"][0]), int(found["hits"][0])]
        else:
            raise BoardError(f"board {self.board.name} tells {kind.name} out of turn: open it anew")

    def _look_at_errors(self):
        """Of the block that is being learnt, or part of it: whoever moves the tree on comes later."""
        trainer, nodes, window = self.trainer, self.trainer.nodes, self.trainer.window
        found = np.concatenate(self._labels)
        self._labels.clear()
        self._at[0]["labels"] = 0
        self._answered = take_labels(
            nodes.table,
            nodes.windows,
            nodes.rows,
            found["node"].astype(np.int64) - self.board.first_node,
            found["label"].astype(np.int64),
            window.labels,
            window.predictions,
            _NO_WEIGHTS if window.weights is None else window.weights,
            self._answered,
            self._watch,
            trainer.rule,
            int(trainer.event_counts.begun),
        )
        if self._answered < 0:
            raise BoardError(f"board {self.board.name} tells LABEL out of turn: open it anew")

    # The tree, told and read

    def _request(self, scope, node):
        """Have `request` ask, until all is told; yields as `learning`."""
        self._write(request(self._arguments(), scope, node, 0, 0))
        while self._at[0]["waiting"]:
            self.handle((yield True))

    def bring_up_to_date(self):
        """Have the board follow the tree, whose turn begins."""
        trainer, board, nodes, event_counts = self.trainer, self.board, self.trainer.nodes, self.trainer.event_counts
        self.up_to_date = True
        if self._reported[0, 0] == UNREPORTED:  # another tree may have left slots that are due
            for slot in board.first_slot + np.flatnonzero(trainer.growth.pool.node[board.first_slot :] < 0):
                self._commands.append(pack_tree(board.geometry, TreeOpcode.PERIOD, slot=int(slot)))
        self._report(WHOLE)
        waits = self._watch is not None and trainer.rule.fixed != 1
        values = {
            "flags": int(waits or next_of(nodes.table, nodes.rows, FAR) >= 0),
            "length": int(length_of(trainer.rule, nodes.table, nodes.rows)) - 1,
            "number": event_counts.instances & 0xFFFFFFFF,
            "since": event_counts.instances - event_counts.begun,
            "left": event_counts.ends - event_counts.instances - 1,
            "first": board.first_slot,
            "slots": board.geometry.slots,
        }
        self._commands.append(pack_tree(board.geometry, TreeOpcode.TURN, **values))
        self.flush()

    def _report(self, node):
        self._write(report_changes(self._arguments(), node, 0))

    def _write(self, used):
        """Send the commands that compiled code has written."""
        if used:
            self._commands.append(self._out[:used].tobytes())
        self.flush()

    @property
    def _step(self):
        """32-bit words of a command."""
        return max(COMMAND_BYTES, self.board.geometry.bus_bytes) // 4

    def _arguments(self):
        """What compiled code works on."""
        trainer, growth = self.trainer, self.trainer.growth
        table, pool, classes = self._made_of
        if table is trainer.nodes.table and pool is growth.pool and classes == trainer.classes:
            return self._answers
        self._made_of = trainer.nodes.table, growth.pool, trainer.classes
        self._answers = answers(
            growth.arrays,
            np.ascontiguousarray(trainer.cells.kind, np.int64),
            trainer.form,
            trainer.policy.options,
            trainer.classes,
            self._rule["decider.decides"],
            self.board.geometry.count_max,
            self._sizes,
            self.board.first_node,
            self._reported,
            trainer.event_counts.counts,
            trainer.rule,
            self._at,
            trainer.cells.most_branches,
            self._requested,
            self._held,
            self._batch,
            self._own,
            self._bins,
            self._out,
            self._words,
            self.report,
            self._step,
        )
        return self._answers

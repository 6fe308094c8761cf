"""Learning on a board that walks records down the tree itself: rows go to its memory, proposals come back.

The driver hears of trials that may change the tree, and of a stream that stands at a decision whose time has come.
What leaves have counted stays on the board, and is read when somebody wants to know it.
"""

import numpy as np

from ...boards.base import BoardError
from ...complete import complete
from ...geometry import NONE
from ...protocol.commands import COMMANDS, CommandFlag, Opcode, pack_command, padded
from ...protocol.leaf_rows import Predictor, RowOp, RowWord
from ...protocol.nodes import pack_edit
from ...protocol.reports import layout_of
from ...protocol.rows import ROW_COMMAND, Column, RowKind, RowLayout, edges_command
from ...protocol.tree import TREE_COMMANDS, TreeKind, TreeOpcode, pack_tree
from ..policy.rule import rule_of
from ..structure.nodes import LEAF
from ..structure.router import ADAPTIVE, BAYES, MAJORITY
from .follow import SEEN, UNTOLD, follow, words_of
from .trials import due_next, earliest

__all__ = ["Walking"]

_PREDICTORS = {MAJORITY: Predictor.MAJORITY, BAYES: Predictor.BAYES, ADAPTIVE: Predictor.ADAPTIVE}
_HEAD = 2  # bytes of a row: label, flags
_JUDGE = ("decides", "anytime", "first_trial", "inner_ties", "null", "asks_inner")


class Walking:
    """A trainer's tree on a board with a node table.

    Parameters
    ----------
    trainer : Trainer
        Its tree is a new one.

    Raises
    ------
    ValueError
        If the board's memory has no room for a row, or the tree has learnt before.
    """

    def __init__(self, trainer):
        self.trainer = trainer
        board, nodes = trainer.board, trainer.nodes
        # A column for each cell: an attribute of several has its code in each.
        places = enumerate(trainer.cells.attribute)
        columns = [Column(f"cell {cell}", _HEAD + int(attribute), RowKind.CODE) for cell, attribute in places]
        self._of_codes = RowLayout(columns, _HEAD + len(trainer.cells.first_cell), label=0, flags=1)
        self._declared = None  # the layout that the board has
        if board.memory_size < (stride := self._of_codes.stride):
            raise ValueError(
                f"board {board.name} has {board.memory_size} bytes of memory, a row takes {stride}: "
                "a board that holds trees fetches rows from memory"
            )
        if len(nodes) > 1 or trainer.tally.instances:
            raise ValueError(
                f"board {board.name} holds trees itself, and takes no tree that has learnt before: "
                "choose a geometry with nodes=0"
            )
        self.told = False  # the board has followed all that others have done to the tree
        geometry = board.geometry
        self._told = np.full((geometry.nodes, len(SEEN)), UNTOLD, np.int64)  # what the board has of each node
        self._out = np.zeros(0, np.uint32)  # commands that compiled code writes
        self._edits = 0  # EDITs sent
        self._proposal = 0, 0  # slot, and record, of the report that comes next
        self._learnt = False
        self._stood = None  # EDITs executed when the stream stood
        word = board.geometry.bus_bytes
        self._row_command = _whole_words(TREE_COMMANDS[TreeOpcode.ROW], word)
        self._read_command = _whole_words(COMMANDS[Opcode.READ], word)
        first = len(RowWord)
        self._words = [RowWord.MAJORITY, RowWord.RIGHT, *range(first, first + board.geometry.classes)]
        self._first = 0  # records that the board had learnt before
        self._ended = 0, 0  # records that it has learnt, and EDITs it has executed, when a LEARN ended
        self._answered = 0  # instances of the window whose class has been told

    def configure(self):
        """Write the registers, declare the rows; the root is a leaf."""
        trainer, policy = self.trainer, self.trainer.policy
        board, geometry = trainer.board, trainer.board.geometry
        self._rule = rule_of(policy, trainer.classes)
        board.write("grace.leaf", int(policy.grace))
        board.write("inner_grace.inner", 0 if not policy.anytime or policy.tree_wide else int(policy.inner_grace))
        board.write("every.records", int(policy.inner_grace) if policy.tree_wide else 0)
        board.write("delay.records", int(policy.delay))
        board.write_fields("judge", **{name: self._rule[f"judge.{name}"] for name in _JUDGE})
        board.write_fields(
            "judge_bound", **{name: self._rule[f"judge_bound.{name}"] for name in ("mantissa", "exponent")}
        )
        board.write_fields("judge_tie", n=self._rule["judge_tie.n"])
        # What it has learnt and changed before is told at the end of a LEARN, of nothing, too.
        self._send(pack_command(geometry, Opcode.LEARN, flags=CommandFlag.MEMORY))
        trainer.flush()
        self._learnt = False
        while not self._learnt:
            trainer._handle(board.receive(wait=True))
        self._first, self._edits = self._ended
        if policy.tree_wide and self._first % int(policy.inner_grace):
            raise BoardError(
                f"board {board.name} has learnt {self._first} instances before, and tries inner nodes whenever that "
                f"is a multiple of {policy.inner_grace}: open it anew"
            )

    def _send(self, command):
        self.trainer._commands.append(command)

    # Rows

    def declare(self, layout, told):
        """Say what rows are from now on, and whether the class of each record is told.

        Parameters
        ----------
        layout : RowLayout
            A column for each cell: an attribute of several has its value in each.
        told : bool
        """
        trainer = self.trainer
        if (found := len(layout.columns)) != (cells := len(trainer.cells)):
            raise ValueError(f"the row layout has {found} columns; the tree takes one for each of its {cells} cells")
        self._declared = None  # until it is sent
        self._quantiser_command(TreeOpcode.LAYOUT, layout.command(trainer.board.geometry))
        trainer.board.write_fields("leaf_predictor", by=_PREDICTORS[trainer.predictor], told=int(told))
        self._declared = layout

    def encode_by(self, edges):
        """Have the board encode numbers; by cell, the keys of their edges (`bregalad.data.keys`)."""
        for cell, keys in edges.items():
            self._quantiser_command(TreeOpcode.EDGES, edges_command(self.trainer.board.geometry, cell, keys))

    @property
    def stride(self):
        """Bytes of a row."""
        return self._declared.stride

    def check_rows(self, address, count):
        """Refuse rows that do not all lie in the board's memory with a ValueError."""
        if self._declared is None:
            raise ValueError("rows have no layout yet: declare() it")
        most = self.trainer.board.memory_size
        if address < 0 or count < 0 or address + count * self.stride > most:
            raise ValueError(
                f"{count} rows of {self.stride} bytes from {address} on do not lie in the {most} bytes of memory"
            )

    def _quantiser_command(self, opcode, command):
        head = ROW_COMMAND.unpack(command.head)
        values = {field.name: int(head[field.name]) for field in ROW_COMMAND.fields if field.name != "opcode"}
        self._send(pack_tree(self.trainer.board.geometry, opcode, payload=command.payload, **values))

    # Learning

    def learning(self, position, end, whole):
        """Learn instances of the trainer's window; a generator for `Steps`.

        With ``whole`` what leaves have counted is read then, and else where somebody asks for it.
        """
        board, window, layout = self.trainer.board, self.trainer._window, self._of_codes
        if self._declared is not layout:
            self.declare(layout, told=True)
        while position < end:
            count = min(end - position, board.memory_size // layout.stride)
            part = slice(position, position + count)
            rows = np.zeros((count, layout.stride), np.uint8)
            rows[:, 0], rows[:, _HEAD:] = window.labels[part], window.codes[part]
            board.load(0, rows.reshape(-1))
            self._answered = position
            yield from self.learning_there(0, count)
            position += count
        if whole or self.competing:
            yield from self.read_leaves()

    @property
    def competing(self):
        """Whether leaves are without a slot: which of them get one depends on what all have counted."""
        nodes = self.trainer.nodes
        return bool((nodes.slot[nodes.leaves()] < 0).any())

    def learning_there(self, address, count):
        """Learn rows that lie in the board's memory; yields as `learning`."""
        trainer = self.trainer
        if not self.told:
            self.tell()
        self._learnt, self._stood = False, None
        flags = CommandFlag.MEMORY
        self._send(pack_command(trainer.board.geometry, Opcode.LEARN, flags=flags, count=count, address=address))
        trainer.flush()
        while not self._learnt:
            # If more EDITs are on their way the board will say anew whether it stands.
            if self._stood == self._edits & 0xFFFF:
                self._stood = None
                yield from self._effect()
            else:
                trainer._handle((yield True))
        trainer.tally.instances += count
        yield from self.effects(trainer.tally.instances)

    def hits(self):
        """Instances, and those whose class was predicted, since the last time; yields as `learning`."""
        self._send(pack_tree(self.trainer.board.geometry, TreeOpcode.ROW, flags=RowOp.MARK))
        self.trainer.flush()
        return (yield from self.trainer.found(2))

    def effects(self, number):
        """Decisions that take effect when so many instances have been learnt; yields as `learning`."""
        nodes, delay = self.trainer.nodes, self.trainer.policy.delay
        while due_next(nodes.table, nodes.rows, delay) <= number:
            yield from self._effect()

    def _effect(self):
        """The next decision: read what it takes, change the tree, tell the board."""
        trainer, nodes, tally = self.trainer, self.trainer.nodes, self.trainer.tally
        node = int(earliest(nodes.table, nodes.rows))
        assert node >= 0, "the stream stands for nothing"
        if nodes.rows + trainer.cells.most_branches > (room := trainer.board.geometry.nodes):
            raise BoardError(
                f"board {trainer.board.name}: its node table of {room} rows has no room for another split: "
                "choose a geometry with more nodes"
            )
        short = trainer.growth.pool.free < trainer.cells.most_branches
        leaves = np.array([node] if nodes.kind[node] == LEAF else [], np.int64)
        if short:  # which leaf loses its slot depends on all of them
            yield from self.read_leaves()
        else:
            asked = self._ask_rows(leaves)
        changes = tally.splits + tally.replaced
        trainer._take_effect()
        while trainer.trials.reading:
            trainer._handle((yield True))
        if not short:
            self._take_rows(leaves, (yield from trainer.found(asked)))
        touched = [node]
        if tally.splits + tally.replaced > changes:
            touched += nodes.children(node)
            self._told[touched[1:]] = UNTOLD  # new, whatever stood there
        self.tell(None if short else touched, node)

    def take(self, kind, report):
        """Take in reports of a `TreeKind` that only such boards give."""
        _TAKE[kind](self, np.frombuffer(report, layout_of(kind, self.trainer.board.geometry, 0).dtype))

    def _take_proposal(self, found):
        self._proposal = int(found["slot"][0]), int(found["number"][0])

    def _take_stands(self, found):
        self._stood = int(found["slot"][-1])

    def _take_learnt(self, found):
        self._learnt = True
        self._ended = int(found["number"][0]), int(found["slot"][0])

    def _take_labels(self, found):
        count = len(found)
        self.trainer._window.predictions[self._answered : self._answered + count] = found["label"]
        self._answered += count

    def _take_word(self, found):
        self.trainer._found += found["value"].tolist()

    def _take_mark(self, found):
        self.trainer._found += [int(found["instances"][0]), int(found["hits"][0])]

    def judge(self, report):
        """Judge a proposal at once; what it changes takes effect later."""
        trainer, nodes = self.trainer, self.trainer.nodes
        slot, number = self._proposal
        node = int(trainer.growth.pool.node[slot])
        nodes.due_at[node] = number - self._first
        trainer.trials.start(np.array([node]))
        trainer.trials.judge(report)
        if nodes.verdict[node] > 0:
            return
        geometry = trainer.board.geometry
        if trainer.policy.adaptive_grace:
            period = min(int(nodes.period[node]), 0xFFFF)
            self._send(pack_tree(geometry, TreeOpcode.PERIOD, slot=slot, period=period))
        self._edits += 1
        self._send(padded(pack_edit(TreeOpcode.EDIT, node, None), geometry.bus_bytes))
        trainer.flush()

    # The tree, told and read

    def read_leaves(self):
        """What all leaves have counted and predict by; yields as `learning`."""
        trainer, nodes = self.trainer, self.trainer.nodes
        leaves = nodes.leaves()
        held = leaves[nodes.slot[leaves] >= 0]
        asked = self._ask_rows(leaves)
        entries = np.zeros(len(held), self._read_command)
        entries["opcode"], entries["slot"], entries["cell"] = Opcode.READ, nodes.slot[held], NONE
        self._send(entries.tobytes())
        trainer.flush()
        found = yield from trainer.found(asked + len(held))
        self._take_rows(leaves, found[:asked])
        nodes.own[leaves] = 0
        nodes.own[held] = [entry["n"] for entry in found[asked:]]

    def _ask_rows(self, leaves):
        """Queue what reads the rows of leaves; how many answers there will be."""
        self._access(RowOp.READ, leaves, self._words)
        return len(self._words) * len(leaves)

    def _access(self, op, leaves, words, values=0):
        """Queue a ROW for each of these words of each leaf."""
        commands = np.zeros((len(leaves), len(words)), self._row_command)
        commands["opcode"], commands["flags"] = TreeOpcode.ROW, op
        commands["node"], commands["word"], commands["value"] = np.reshape(leaves, (-1, 1)), words, values
        self._send(commands.tobytes())

    def _take_rows(self, leaves, found):
        """Take in the answers."""
        nodes = self.trainer.nodes
        table = np.array(found, np.uint32).reshape(len(leaves), len(self._words))
        nodes.majority[leaves] = table[:, 0] & 0xFFFF
        nodes.right[leaves] = table[:, 1].astype(np.int32)
        nodes.counts[leaves] = table[:, 2:]

    def tell(self, touched=None, decided=-1):
        """Have the board follow the tree.

        Parameters
        ----------
        touched : list of int, optional
            Nodes that may have changed; all unless given.
        decided : int
            The node that has been decided about: it is unlocked last. -1: none.
        """
        trainer, nodes = self.trainer, self.trainer.nodes
        if touched is None:
            self.told, touched = True, nodes.descendants()
        style = trainer.growth.style
        if len(self._out) < (words := words_of(style, nodes.classes, len(touched))):
            self._out = np.zeros(2 * words, np.uint32)
        used, edits = follow(
            nodes.table,
            *nodes.matrices[:2],
            style,
            trainer.policy.options,
            trainer.cells.first_cell,
            self._rule["judge.decides"],
            trainer.classes,
            trainer.board.geometry.count_max,
            self._told,
            np.asarray(touched, np.int64),
            decided,
            self._out,
        )
        self._edits += edits
        if used:
            self._send(self._out[:used].tobytes())
        trainer.flush()


def _whole_words(layout, word):
    """The dtype of commands of a layout, each in whole words of the bus."""
    dtype = layout.dtype
    formats = [dtype[name] for name in dtype.names]
    return np.dtype({"names": dtype.names, "formats": formats, "itemsize": -(-layout.size // word) * word})


_TAKE = complete(
    TreeKind,
    {
        TreeKind.PROPOSAL: Walking._take_proposal,
        TreeKind.STANDS: Walking._take_stands,
        TreeKind.LEARNT: Walking._take_learnt,
        TreeKind.LABEL: Walking._take_labels,
        TreeKind.MARK: Walking._take_mark,
        TreeKind.ROW: Walking._take_word,
    },
    __file__,
)

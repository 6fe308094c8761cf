"""A host of the golden tree board: it answers proposals, and does nothing else while records are learnt.

What it decides with is the driver's: policy, growth, nodes, and who carries decisions out.
"""

import numpy as np
from bregalad.geometry import NONE
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.leaf_rows import Predictor, RowWord, row_words
from bregalad.protocol.nodes import Node, NodeKind
from bregalad.protocol.reports import Kind, layout_of
from bregalad.trees.policy.rule import ask_up_to, rule_of
from bregalad.trees.structure.growth import Growth
from bregalad.trees.structure.nodes import LEAF, MULTIWAY, NEVER, Nodes
from bregalad.trees.structure.split import LONG
from bregalad.trees.training.tally import Tally
from bregalad.trees.training.trials import FAR, Trials, due_next, earliest

from .golden.tree import TreeBoard

__all__ = ["TreeHost"]

_PREDICTORS = {"mc": Predictor.MAJORITY, "nb": Predictor.BAYES, "nba": Predictor.ADAPTIVE}


class TreeHost:
    """One tree on a golden tree board.

    Parameters
    ----------
    geometry, cells, policy, classes, prediction, review_period
        As of ``Trainer``.

    Attributes
    ----------
    nodes : Nodes
        The tree; what its leaves have counted is read from the board when it is needed.
    board : TreeBoard
    proposals : int
        That the board has sent.
    """

    def __init__(self, geometry, cells, policy, classes, *, prediction="mc", review_period=20_000):
        self.cells, self.policy, self.classes = cells, policy, classes
        self.nodes = Nodes(geometry.classes)
        self.nodes.average_over(len(cells.first_cell) if policy.gain_average else 0)
        self._commands = []
        self.growth = Growth(geometry, cells, policy, self.nodes, self._commands)
        self.trials = Trials(geometry, cells, policy, self.growth, classes, Tally())
        self.proposals = 0
        self._review_period = review_period
        self._rule = rule_of(policy, classes)
        self._told = {}  # rows that the board has, by node
        self.board = board = TreeBoard(
            geometry,
            4096,
            cells.attribute,
            _PREDICTORS[prediction],
            paths=policy.anytime,
            delay=policy.delay,
            every=policy.inner_grace if policy.tree_wide else 0,
            rule=self._rule,
        )
        self._configure(board.array)
        self.growth.start()
        self._tell([])

    def _configure(self, array):
        cells = self.cells
        array.write_register("cells", len(cells))
        array.write_register("classes", self.classes)
        array.write_register("grace", 0)
        array.write_register("inner_grace", 0)
        array.fields["report.all"] = int(self.policy.reports_all)
        array.fields["report.neighbours"] = int(cells.has_numbers)
        for cell in range(len(cells)):
            for name in ("kind", "first", "other", "base"):
                setattr(array.cells[cell], name, int(getattr(cells, name)[cell]))

    def learn(self, codes, labels):
        """Predictions of instances by the tree that had learnt all before each; as ``Trainer.learn``."""
        predictions = []
        for row, label in zip(codes.tolist(), labels.tolist(), strict=True):
            while self.board.stands(row):
                self._take_effect()
            predicted, proposals = self.board.learn(row, label)
            predictions.append(predicted)
            for proposal in proposals:
                self._answer(proposal)
            if self.board.number % self._review_period == 0:
                self._take_effects()
                self._read_rows()
                self.growth.review()
                self._tell([])
        self._take_effects()
        return np.array(predictions)

    def _answer(self, proposal):
        """Judge a proposal at once; what it changes takes effect later."""
        self.proposals += 1
        node, nodes = proposal.node, self.nodes
        nodes.due_at[node] = proposal.number
        self.trials.start(np.array([node]))
        self.trials.judge(proposal.report)
        if nodes.verdict[node] <= 0:
            self.board.edit([(node, None)])
            if self.policy.adaptive_grace:
                self.board.rows.write(node, RowWord.PERIOD, int(nodes.period[node]))

    def _take_effects(self):
        """Decisions whose time has come."""
        while due_next(self.nodes.table, self.nodes.rows, self.policy.delay) <= self.board.number:
            self._take_effect()

    def _take_effect(self):
        """The next decision: read what it takes, change the tree, tell the board."""
        nodes = self.nodes
        assert due_next(nodes.table, nodes.rows, self.policy.delay) < FAR, "the stream stands for nothing"
        node = int(earliest(nodes.table, nodes.rows))
        self._read_rows()
        for slot, cell in self.trials.begin(node):
            self.trials.take(self._read(slot, cell))
        self._tell([node], whole=[node] if nodes.kind[node] == LEAF else [])

    def _read(self, slot, cell):
        geometry = self.board.geometry
        report = self.board.array.execute(pack_command(geometry, Opcode.READ, slot=slot, cell=cell))
        if cell == NONE:
            return layout_of(Kind.ENTRY, geometry, 0).unpack(report)
        counts = layout_of(Kind.STATISTICS, geometry, 0).unpack(report)["counts"]
        return counts.astype(np.int64).reshape(geometry.bins, -1)

    def _read_rows(self):
        """What leaves have counted: for the promise of each, and what its prediction was worth."""
        for leaf in self.nodes.leaves().tolist():
            row = self.board.rows.rows[leaf]
            self.nodes.counts[leaf] = row.counts
            self.nodes.majority[leaf] = row.words[RowWord.MAJORITY] & 0xFFFF

    def _tell(self, changed, whole=()):
        """Have the board follow the tree.

        Parameters
        ----------
        changed : list of int
            Nodes that have entered another role: they count towards their next trial anew.
        whole : list of int
            Those whose rows are written as those of new leaves are.
        """
        board, nodes = self.board, self.nodes
        for command in self._commands:
            board.array.execute(command)
        self._commands.clear()
        live = nodes.descendants().tolist()
        rows = {node: self._row(node) for node in live}
        new = [node for node in live if node not in self._told]
        for node in [*new, *whole]:
            words = row_words(
                nodes.counts[node],
                int(nodes.majority[node]),
                period=self._period(node),
                base=int(nodes.base[node].sum()),
                ask_up_to=self._ask_up_to(node),
            )
            self._write(node, dict(enumerate(words)))
        for node in changed:
            self._write(node, {RowWord.SINCE: 0, RowWord.PERIOD: self._period(node)})
        for node in live:
            self._write(node, {RowWord.ASK_UP_TO: self._ask_up_to(node), RowWord.BASE: int(nodes.base[node].sum())})
            gained = node in self._told and self._told[node].slot == NONE and rows[node].slot != NONE
            if nodes.due_at[node] == NEVER:
                board.forget_trial(node)
            if gained:
                self._write(node, {RowWord.SINCE: 0, RowWord.PERIOD: self._period(node)})
        order = [*new, *(node for node in live if node in self._told and rows[node] != self._told[node]), *changed]
        board.edit([(node, rows[node]) for node in dict.fromkeys(order)])
        self._told = rows

    def _write(self, node, words):
        for word, value in words.items():
            self.board.rows.write(node, word, int(value))

    def _row(self, node):
        nodes = self.nodes
        slot = int(nodes.slot[node]) if nodes.slot[node] >= 0 else NONE
        kind = int(nodes.kind[node])
        if kind == LEAF:
            return Node(slot=slot)
        value = int(nodes.width[node] if kind == MULTIWAY else min(nodes.threshold[node], 255))
        return Node(
            NodeKind(kind), int(nodes.attribute[node]), value, int(nodes.child[node]), int(nodes.default[node]), slot
        )

    def _period(self, node):
        period = int(self.nodes.period[node])
        return 0 if period == LONG else period

    def _ask_up_to(self, node):
        if not self._rule["judge.decides"]:
            return 0
        nodes = self.nodes
        used = sum(nodes.kind[above] == MULTIWAY for above in list(nodes.path(node))[1:])
        return ask_up_to(
            self.policy,
            self.classes,
            nodes.base[node],
            bool(nodes.kind[node] != LEAF),
            len(self.cells.first_cell) - used,
            self.board.geometry.count_max,
        )

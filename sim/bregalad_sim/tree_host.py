"""A host of a board that holds trees: it answers proposals, and does nothing else while records are learnt.

What it decides with is the driver's: policy, growth, nodes, and who carries decisions out.
"""

from collections import deque

import numpy as np
from bregalad.geometry import NONE
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.leaf_rows import Predictor, RowOp, RowWord, row_words
from bregalad.protocol.nodes import Node, NodeKind, pack_edit
from bregalad.protocol.reports import Kind, layout_of
from bregalad.protocol.rows import ROW_COMMAND, Column, RowKind, RowLayout
from bregalad.protocol.tree import TREE_REPORTS, TreeKind, TreeOpcode, only_of, pack_tree
from bregalad.trees.policy.rule import ask_up_to, rule_of
from bregalad.trees.structure.growth import Growth
from bregalad.trees.structure.nodes import LEAF, MULTIWAY, Nodes
from bregalad.trees.training.tally import Tally
from bregalad.trees.training.trials import FAR, Trials, due_next, earliest

from .golden.tree import TreeBoard

__all__ = ["GoldenLine", "TreeHost", "rows_of"]

_PREDICTORS = {"mc": Predictor.MAJORITY, "nb": Predictor.BAYES, "nba": Predictor.ADAPTIVE}


class GoldenLine:
    """A golden tree board, as a host reaches it.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
    """

    def __init__(self, geometry, memory_size=1 << 20):
        self.board = TreeBoard(geometry, memory_size)
        self._reports = deque()

    def write_register(self, name, value):
        """Set a register, between commands."""
        self.board.write_register(name, value)

    def load(self, address, data):
        """Put bytes into the board's memory."""
        self.board.memory.data[address : address + len(data)] = data

    def send(self, commands):
        """Give commands to the board."""
        data = self.board.execute(commands)
        while data:
            layout = report_layout(data[0], self.board.geometry, self.board.cells_in_use)
            self._reports.append(data[: layout.size])
            data = data[layout.size :]

    def receive(self):
        """The next report; IndexError if none comes."""
        return self._reports.popleft()


def report_layout(kind, geometry, cells):
    """The layout of a report of a board that holds trees."""
    return TREE_REPORTS[kind] if kind in list(TreeKind) else layout_of(Kind(kind), geometry, cells)


def rows_of(codes, labels, test=False):
    """Rows as `TreeHost` declares them: label, flags, a code for each attribute."""
    head = np.column_stack([labels, np.full(len(labels), 2 * test)])
    return np.hstack([head, codes]).astype(np.uint8).tobytes()


class TreeHost:
    """One tree on a board that walks.

    Parameters
    ----------
    line : GoldenLine, or what is used as such
        The board.
    geometry, cells, policy, classes, prediction, review_period
        As of ``Trainer``.

    Attributes
    ----------
    nodes : Nodes
        The tree; what its leaves have counted is read from the board when it is needed.
    number : int
        Records learnt.
    proposals : int
        That the board has sent.
    """

    def __init__(self, line, geometry, cells, policy, classes, *, prediction="mc", review_period=20_000):
        self.line, self.geometry = line, geometry
        self.cells, self.policy, self.classes = cells, policy, classes
        self.nodes = Nodes(geometry.classes)
        self.nodes.average_over(len(cells.first_cell) if policy.gain_average else 0)
        self._commands = []
        self.growth = Growth(geometry, cells, policy, self.nodes, self._commands)
        self.trials = Trials(geometry, cells, policy, self.growth, classes, Tally())
        self.number = self.proposals = self._edits = 0
        self._review_period = review_period
        self._rule = rule_of(policy, classes)
        self._told = {}  # what the board has of each node: its row, and what NODE says
        self._labels = []
        self._configure(prediction)
        self.growth.start()
        self._tell()

    def _configure(self, prediction):
        cells, line, policy = self.cells, self.line, self.policy
        for name, value in {
            "cells": len(cells),
            "classes": self.classes,
            "report": int(policy.reports_all) | int(cells.has_numbers) << 3,
            "grace": policy.grace,
            "inner_grace": 0 if not policy.anytime or policy.tree_wide else policy.inner_grace,
            "every": policy.inner_grace if policy.anytime and policy.tree_wide else 0,
            "delay": policy.delay,
            "leaf_predictor": _PREDICTORS[prediction] | 1 << 2,
            "judge": sum(
                self._rule[f"judge.{name}"] << bit
                for bit, name in enumerate(("decides", "anytime", "first_trial", "inner_ties", "null", "asks_inner"))
            ),
            "judge_bound": self._rule["judge_bound.mantissa"] | self._rule["judge_bound.exponent"] << 16,
            "judge_tie": self._rule["judge_tie.n"],
        }.items():
            line.write_register(name, int(value))
        for cell in range(len(cells)):
            parts = (cells.kind[cell], 2), (cells.first[cell], 1), (cells.other[cell], 1), (cells.base[cell], 8)
            word, bit = cell, 16
            for value, width in parts:
                word |= int(value) << bit
                bit += width
            line.write_register("cell", word | 1 << bit)
        # A column for each cell: an attribute of several has its code in each.
        columns = [
            Column(f"cell {cell}", 2 + int(attribute), RowKind.CODE) for cell, attribute in enumerate(cells.attribute)
        ]
        self._stride = 2 + len(cells.first_cell)
        head, payload = RowLayout(columns, self._stride, label=0, flags=1).command(self.geometry)
        line.send(pack_tree(self.geometry, TreeOpcode.LAYOUT, payload=payload, **_fields(head)))

    def learn(self, codes, labels):
        """Predictions of instances by the tree that had learnt all before each; as ``Trainer.learn``."""
        self._labels = []
        self.line.load(0, rows_of(codes, labels))
        done = 0
        while done < len(labels):
            count = min(len(labels) - done, self._review_period - self.number % self._review_period)
            self._learn(done * self._stride, count)
            done += count
            if self.number % self._review_period == 0:
                self._take_effects()
                self._read_rows()
                self.growth.review()
                self._tell()
        self._take_effects()
        return np.array(self._labels)

    def _learn(self, address, count):
        """Have records learnt that lie in memory."""
        self._send(pack_command(self.geometry, Opcode.LEARN, flags=1, count=count, address=address))
        while (told := self._next())["kind"] != TreeKind.LEARNT:
            if told["kind"] == TreeKind.STANDS and told["slot"] == self._edits & 0xFFFF:
                self._take_effect()
        self.number = int(told["number"])

    def _next(self):
        """The next report that is not told by the way, as a record."""
        while True:
            report = self.line.receive()
            layout = report_layout(report[0], self.geometry, len(self.cells))
            found = layout.unpack(report)
            if found["kind"] == TreeKind.LABEL:
                self._labels.append(int(found["label"]))
            elif found["kind"] == TreeKind.PROPOSAL:
                self._answer(int(found["slot"]), int(found["number"]), self.line.receive())
            elif found["kind"] == Kind.ERROR:
                raise RuntimeError(f"the board has halted: {found}")
            else:
                return found

    def _answer(self, slot, number, report):
        """Judge a proposal at once; what it changes takes effect later."""
        self.proposals += 1
        node, nodes = int(self.growth.pool.node[slot]), self.nodes
        nodes.due_at[node] = number
        self.trials.start(np.array([node]))
        self.trials.judge(report)
        if nodes.verdict[node] <= 0:
            if self.policy.adaptive_grace:
                self._send(
                    pack_tree(self.geometry, TreeOpcode.PERIOD, slot=slot, period=min(nodes.period[node], 0xFFFF))
                )
            self._keep(node)

    def _keep(self, node):
        self._send(_edit(self.geometry, node, None))

    def _take_effects(self):
        """Decisions whose time has come."""
        while due_next(self.nodes.table, self.nodes.rows, self.policy.delay) <= self.number:
            self._take_effect()

    def _take_effect(self):
        """The next decision: read what it takes, change the tree, tell the board."""
        nodes = self.nodes
        assert due_next(nodes.table, nodes.rows, self.policy.delay) < FAR, "the stream stands for nothing"
        node = int(earliest(nodes.table, nodes.rows))
        self._read_rows()
        changes = self.trials.tally.splits + self.trials.tally.replaced
        for slot, cell in self.trials.begin(node):
            self.trials.take(self._read(slot, cell))
        if self.trials.tally.splits + self.trials.tally.replaced > changes:
            for child in self._row(node).children:  # new, whatever stood there
                self._told.pop(child, None)
        self._tell(node)

    def _read(self, slot, cell):
        self._send(pack_command(self.geometry, Opcode.READ, slot=slot, cell=cell))
        found = self._next()
        if cell == NONE:
            return found
        return found["counts"].astype(np.int64).reshape(self.geometry.bins, -1)

    def _read_rows(self):
        """What leaves have counted: for the promise of each, and what its prediction was worth."""
        first = len(RowWord)
        for leaf in self.nodes.leaves().tolist():
            words = [RowWord.MAJORITY, *range(first, first + self.geometry.classes)]
            majority, *counts = (self._read_word(leaf, word) for word in words)
            self.nodes.counts[leaf] = counts
            self.nodes.majority[leaf] = majority & 0xFFFF

    def _read_word(self, node, word):
        self._send(pack_tree(self.geometry, TreeOpcode.ROW, flags=RowOp.READ, node=node, word=word))
        return int(self._next()["value"])

    def _send(self, command):
        self._edits += command[:1] == bytes([TreeOpcode.EDIT])
        self.line.send(command)

    def _tell(self, decided=None):
        """Have the board follow the tree; the node that has been decided about is unlocked last."""
        nodes, commands = self.nodes, self._commands
        live = nodes.descendants().tolist()
        now = {node: (self._row(node), self._beside(node)) for node in live}
        for node in live:
            row, beside = now[node]
            if beside["slot"] != NONE and (node not in self._told or self._told[node][1] != beside):
                commands.append(pack_tree(self.geometry, TreeOpcode.NODE, **beside))
            leaf = row.kind == NodeKind.LEAF
            if leaf and (node not in self._told or self._told[node][0].kind != NodeKind.LEAF):
                for word, value in enumerate(row_words(nodes.counts[node], int(nodes.majority[node]))):
                    commands.append(
                        pack_tree(
                            self.geometry, TreeOpcode.ROW, flags=RowOp.WRITE, node=node, word=word, value=int(value)
                        )
                    )
        changed = [node for node in live if node not in self._told or self._told[node][0] != now[node][0]]
        for node in sorted(changed, key=lambda node: node == decided):
            commands.append(_edit(self.geometry, node, now[node][0]))
        if decided is not None and decided not in changed:
            commands.append(_edit(self.geometry, decided, None))
        self._told = now
        for command in commands:
            self._send(command)
        commands.clear()

    def _row(self, node):
        nodes = self.nodes
        kind = int(nodes.kind[node])
        # A leaf without a slot of its own is counted by the nodes above all the same.
        above = node
        while self.policy.anytime and nodes.slot[above] < 0 and above != 0:
            above = int(nodes.parent[above])
        slot = int(nodes.slot[above]) if nodes.slot[above] >= 0 else NONE
        if kind == LEAF:
            return Node(slot=slot)
        value = int(nodes.width[node] if kind == MULTIWAY else min(nodes.threshold[node], 255))
        cell = int(self.cells.first_cell[nodes.attribute[node]])
        return Node(NodeKind(kind), cell, value, int(nodes.child[node]), int(nodes.default[node]), slot)

    def _beside(self, node):
        """What NODE says of a node's slot."""
        nodes = self.nodes
        slot = int(nodes.slot[node])
        return {
            "slot": slot if slot >= 0 else NONE,
            "node": node,
            "only": only_of(nodes.base[node]),
            "base": int(nodes.base[node].sum()),
            "ask_up_to": self._ask_up_to(node),
        }

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
            self.geometry.count_max,
        )


def _edit(geometry, node, row):
    """Bytes of an EDIT, as a bus takes them."""
    packed = pack_edit(TreeOpcode.EDIT, node, row)
    return packed + bytes(-len(packed) % geometry.bus_bytes)


def _fields(head):
    """A row command's fields, but for its opcode."""
    found = ROW_COMMAND.unpack(head)
    return {field.name: int(found[field.name]) for field in ROW_COMMAND.fields if field.name != "opcode"}

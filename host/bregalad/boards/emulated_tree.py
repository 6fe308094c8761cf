"""A board that holds trees, as a compiled model: bit-exact, without any hardware."""

import numpy as np

from ..geometry import MISSING
from ..protocol.commands import PATH_LIMIT
from ..protocol.rows import places_of, searchers_of
from ..protocol.tree import TREE_REGISTERS, TREE_REPORTS, TreeKind
from . import kernel
from .emulated import EmulatedBoard
from .kernel import tree as kernel_tree
from .kernel.judge import RULE

__all__ = ["EmulatedTreeBoard"]


class EmulatedTreeBoard(EmulatedBoard):
    """The golden model of a board with a node table, compiled by Numba: rows in its memory, proposals out.

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    memory_size : int
        Bytes of memory for rows.

    Source: sim/bregalad_sim/golden/tree.py.
    """

    def __init__(self, geometry, memory_size=1 << 24):
        self._tree = None  # registers are written before there is one
        super().__init__(geometry, memory_size)
        g, classes = geometry, geometry.classes
        for register in TREE_REGISTERS:
            for field in register.fields:
                self._fields[f"{register.name}.{field.name}"] = field.reset
        attributes = searchers_of(g) * places_of(g)
        at = np.zeros(kernel_tree.SIZE, np.int64)
        at[kernel_tree.STRIDE] = 1
        self._tree = kernel_tree.Tree(
            state=self._state,
            nodes=kernel_tree.first_rows(g.nodes),
            extra=kernel_tree.first_extra(g.slots),
            rows=np.zeros((g.nodes, kernel_tree.WORDS + classes), np.int64),
            tallies=np.zeros((classes, 1 << (classes - 1).bit_length()), np.int64),
            rule=np.zeros(len(RULE), np.int64),
            settings=np.zeros(len(kernel_tree.SETTINGS), np.int64),
            at=at,
            parts=np.zeros((attributes, kernel_tree.PART_COLUMNS), np.int64),
            edges=np.full((attributes, kernel_tree.EDGE_ROOM), 0xFFFFFFFF, np.uint32),
            beginnings=np.zeros((attributes, kernel_tree.BEGINNING), np.uint32),
            below=np.zeros((attributes, 1 << kernel_tree.BUCKET_BITS), np.uint8),
            block=np.full((kernel_tree.BLOCK, g.max_cells), MISSING, np.uint8),
            keys=np.zeros(kernel_tree.BLOCK, np.uint32),
            found=np.zeros(kernel_tree.BLOCK, np.uint32),
            open=np.zeros((2 * g.slots + 16, 2), np.int64),
            searchers=searchers_of(g),
            places=places_of(g),
        )
        self._store_configuration()

    @property
    def state(self):
        """None: the driver reaches this board by commands alone."""
        return None

    def _reserve(self):
        sizes = {kind: TREE_REPORTS[kind].size // 4 for kind in TreeKind}
        told = PATH_LIMIT * sizes[TreeKind.PROPOSAL] + sizes[TreeKind.LABEL] + sizes[TreeKind.MARK]
        return super()._reserve() + told + sizes[TreeKind.LEARNT]

    # Commands and reports

    def send(self, data):
        data = self._words(data)
        if self._pending:
            data = np.frombuffer(self._pending + data.tobytes(), np.uint8)
        self._pending = data[self._execute(data) :].tobytes()

    def _execute(self, data):
        """Execute all that ``data`` holds, and learn up to where the stream stands; the bytes consumed."""
        if self._tree.state is not self._state:
            self._tree = self._tree._replace(state=self._state)
        tree, progress, reserve = self._tree, self._state.progress, self._state.reserve
        at, goes_on = np.int64(0), True
        while goes_on:
            at += kernel_tree.execute(tree, data[at:])
            goes_on = False
            if progress[kernel.ASKED]:
                kernel_tree.ask(tree, progress[kernel.ASKED] - 1)
                progress[kernel.ASKED], goes_on = 0, True
            if tree.at[kernel_tree.LEARNING] and tree.at[kernel_tree.READY]:
                kernel_tree.learn(tree)
                goes_on = True
            if progress[kernel.USED] + reserve > self._state.out.size:
                self._collect()
                goes_on = True
            if progress[kernel.LOADING]:
                at += self._take(data[at:])
                goes_on = not progress[kernel.LOADING]
        return at

    def _under_way(self):
        return bool(super()._under_way() or self._tree.at[kernel_tree.LEARNING])

    # Registers

    def _store_configuration(self):
        super()._store_configuration()
        if self._tree is not None:
            self._tree.rule[:] = [self._fields[name] for name in RULE]
            self._tree.settings[:] = [self._fields[name] for name in kernel_tree.SETTINGS]

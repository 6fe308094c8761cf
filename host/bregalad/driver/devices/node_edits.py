"""What a board that routes records down the tree is told of nodes that have changed, in compiled code."""

import numpy as np

from ...compiled import njit
from ...geometry import MISSING, NONE
from ...protocol.leaf_rows import RowOp, RowWord
from ...protocol.nodes import EDIT, KIND_LOW
from ...protocol.tree import MANY, TREE_COMMANDS, TreeOpcode
from ...protocol.words import putter
from ...tree.table import LEAF, MULTIWAY, NO_NODE, above
from .filter import all_up_to

UNREPORTED = -1  # in place of a node's kind: the board has no row of it

# What is told of a node, in this order: its row, then what NODE says.
SEEN = ("kind", "cell", "value", "child", "default", "slot", "beside", "only", "inherited", "all_up_to")
_KIND, _SLOT, BESIDE = (SEEN.index(name) for name in ("kind", "slot", "beside"))

_EDIT, _NODE, _ROW = (int(TreeOpcode[name]) for name in ("EDIT", "NODE", "ROW"))
_WRITE = int(RowOp.WRITE)
_FIRST, _MAJORITY, _LEAD, _RIGHT = len(RowWord), *(int(RowWord[name]) for name in ("MAJORITY", "LEAD", "RIGHT"))
_put_edit = putter(EDIT, "opcode", "flags", "node", "test", "child", "value", "default", "slot")
_put_node = putter(TREE_COMMANDS[TreeOpcode.NODE], "opcode", "flags", "slot", "node", "only", "inherited", "all_up_to")
_put_row = putter(TREE_COMMANDS[TreeOpcode.ROW], "opcode", "flags", "node", "word", "value")


@njit()
def row_words(counts, majority, right):
    """All words of a new leaf's row, int64 array (words,), by `RowWord`.

    ``counts`` is an int64 array of every class of the board, ``majority`` what it predicts as long as it has none.
    """
    words = np.zeros(_FIRST + len(counts), np.int64)
    words[_MAJORITY], words[_RIGHT] = majority, right
    for k in range(len(counts)):
        words[_FIRST + k] = counts[k]
        if counts[k] > words[_LEAD]:
            words[_MAJORITY], words[_LEAD] = k, counts[k]
    return words


def words_of(step, classes, nodes):
    """32-bit words that `follow` writes at most, of so many nodes and of ``step`` a command."""
    return nodes * (2 + len(RowWord) + classes) * step


@njit(inner=True)
def _look(answers, node, now):
    """What is to be told of a node; ``now``, int64 array by `SEEN`, is written."""
    tree, options = answers.tree, answers.options
    table, inherited, first_cell = tree.table, tree.matrices[1], tree.first_cell
    row = table[node]
    over, used = np.int64(row["parent"]), 0
    while over != NO_NODE:
        used += table[over]["kind"] == MULTIWAY
        over = np.int64(table[over]["parent"])
    only, total = NONE, np.int64(0)
    for k in range(inherited.shape[1]):
        if inherited[node, k]:
            only = MANY if total else k
            total += inherited[node, k]
    own, kind = np.int64(row["slot"]), np.int64(row["kind"])
    # A leaf without a slot of its own is counted by the nodes above all the same.
    slot, over = own, np.int64(node)
    while tree.style.anytime is not None and kind == LEAF and slot < 0 and over != NO_NODE:
        over = np.int64(above(table, over))
        slot = np.int64(table[over]["slot"]) if over != NO_NODE else slot
    now[:] = 0
    now[_KIND] = kind
    if kind != LEAF:
        value = np.int64(row["width"]) if kind == MULTIWAY else min(np.int64(row["threshold"]), np.int64(MISSING))
        now[1], now[2] = first_cell[row["attribute"]], value
        now[3], now[4] = row["child"], row["default"]
    now[_SLOT] = slot if slot >= 0 else NONE
    now[BESIDE] = own if own >= 0 else NONE
    now[BESIDE + 1], now[BESIDE + 2] = only, total
    if answers.decides:
        left = len(first_cell) - used
        now[BESIDE + 3] = all_up_to(options, answers.classes, inherited[node], kind != LEAF, left, answers.most)


@njit(inner=True)
def _differs(reported, now, first, last):
    differs = False
    for at in range(first, last):
        differs |= reported[at] != now[at]
    return differs


@njit(inner=True)
def follow(answers, touched, used):
    """Write what the board is to be told of nodes that may have changed: NODEs, rows of new leaves, EDITs.

    ``used`` words of ``out`` have been written; returned is where the next command begins.
    """
    reported, step, out, first_node = answers.reported, answers.step, answers.out, answers.first_node
    table, counts = answers.tree.table, answers.tree.matrices[0]
    now = np.empty(len(SEEN), np.int64)
    for node in touched:
        seen = reported[node]
        _look(answers, node, now)
        if now[BESIDE] != NONE and (seen[_KIND] == UNREPORTED or _differs(seen, now, BESIDE, len(SEEN))):
            facts = (now[BESIDE + 1], now[BESIDE + 2], now[BESIDE + 3])
            used = _put_node(out, used, step, (_NODE, 0, now[BESIDE], first_node + node, *facts))
        if now[_KIND] == LEAF and seen[_KIND] != LEAF:
            values = row_words(counts[node], np.int64(table[node]["majority"]), np.int64(table[node]["right"]))
            for word in range(len(values)):
                used = _put_row(out, used, step, (_ROW, _WRITE, first_node + node, word, values[word]))
        if _differs(seen, now, 0, BESIDE):
            test, child = now[_KIND] << KIND_LOW | now[1], first_node + now[3] if now[_KIND] != LEAF else 0
            edit = (_EDIT, 0, first_node + node, test, child, now[2], now[4], now[_SLOT])
            used = _put_edit(out, used, step, edit)
        seen[:] = now
    return used

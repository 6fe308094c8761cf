"""A change of code books, on the tree and on its board."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING, NONE
from ..tree.edits import EDIT, KEEP
from ..tree.recode import carry, pieces_of, recode_nodes
from ..tree.routing import leaf_below, next_leaf
from ..tree.split import place_slot, shift_of
from ..tree.table import NO_NODE, above, code_range


def recoding(trainer, changes, adopt):
    """Give nodes and statistics the codes of new books; a generator for `Steps`.

    All that the trainer was given is learnt, and all decisions have taken effect; the changes are as of
    ``Quantiser.changes``. ``adopt`` is given them where the tree takes them over: if the link is cut before, and never
    mended, books and tree stay as they were.
    """
    trainer.check_working()
    trainer.failed = True
    nodes = trainer.nodes
    live = nodes.descendants()
    held = live[nodes.slot[live] >= 0]
    attributes = changes.attributes
    pieces = pieces_of(changes.old, changes.new, changes.values)
    cells = trainer.cells.first_cell[attributes]
    slots, driver = nodes.slot[held].astype(np.int64), trainer.driver
    counts = yield from driver.counts_of(slots, cells)
    before = _ranges(nodes.table, held, attributes)
    adopt(changes)
    trainer.event_counts.history.recode(attributes, *changes.old)
    memory, learnt = trainer.memory, trainer.event_counts.instances
    recode_nodes(nodes.table, live, attributes, changes.old, changes.new)
    after = _ranges(nodes.table, held, attributes)
    if len(memory):  # what is forgotten later must have been counted
        _recode(memory.codes, memory.labels, memory.attributes, learnt, attributes, pieces)
        counts[:] = 0
        _count_anew(nodes.table, memory.read, memory.labels, memory.attributes, learnt, held, attributes, after, counts)
    else:
        out = np.empty(counts.shape[2:], np.int64)
        _carry_all(counts, before, after, pieces, trainer.board.geometry.count_max, out)
    edits = np.zeros((slots.size * cells.size, EDIT), np.int64)
    driver.apply(edits[: _bin_windows(slots, cells, before, after, counts.shape[2], edits)])
    driver.write_counts(slots, cells, counts)
    driver.changed()
    trainer.failed = False


@njit()
def _bin_windows(slots, cells, before, after, bins, found):
    """Write edits of slots where nodes cover other codes than before; how many they are."""
    used = np.int64(0)
    for node in range(len(slots)):
        for i in range(len(cells)):
            low, high = after[node, i, 0], after[node, i, 1]
            if before[node, i, 0] != low or before[node, i, 1] != high:
                slot, shift, none = slots[node], shift_of(bins, high - low), np.int64(NONE)
                used = place_slot(slot, slot, np.int64(KEEP), cells[i], low, shift, none, none, found, used)
    return used


@njit()
def _ranges(table, held, attributes):
    """The codes of attributes that nodes cover; int64 array (nodes, attributes, 2)."""
    found = np.empty((len(held), len(attributes), 2), np.int64)
    for i in range(len(held)):
        for j in range(len(attributes)):
            found[i, j, 0], found[i, j, 1] = code_range(table, held[i], attributes[j])
    return found


@njit()
def _carry_all(counts, before, after, pieces, most, out):
    """`carry` of some cells of all nodes, int64 array (nodes, cells, bins, classes); ``out`` is written, too."""
    bins, classes = out.shape
    for i in range(counts.shape[1]):
        for node in range(len(counts)):
            for index in range(bins):  # one by one: of whole arrays Numba compiles what words an error, three seconds
                for k in range(classes):
                    out[index, k] = 0
            carry(counts[node, i], before[node, i], after[node, i], _of(pieces, i), most, out)
            for index in range(bins):
                for k in range(classes):
                    counts[node, i, index, k] = out[index, k]


@njit(inner=True)
def _of(pieces, i):
    """Those of one attribute."""
    count = pieces[0][i]
    return pieces[1][i, :count], pieces[2][i, :count], pieces[3][i, :count]


@njit()
def _recode(codes, labels, attributes, learnt, changed, pieces):
    """Give the instances of a memory codes of new books, of some attributes; ``pieces`` of `pieces_of`.

    Instances of one old code are divided among its pieces as the sample's values are.
    """
    for i in range(len(changed)):
        old, new, mass = _of(pieces, i)
        for turn in range(min(learnt, len(labels))):
            at = turn * attributes + changed[i]
            code = codes[at]
            if code == MISSING:
                continue
            first = 0
            while old[first] < code and first < len(old) - 1:
                first += 1
            last = first
            total = 0
            while last < len(old) and old[last] == old[first]:
                total += mass[last]
                last += 1
            # Even steps that never meet: of any instances in a row each piece gets its share.
            step = (turn * 0.6180339887498949) % 1.0
            place = first
            if total:
                seen = mass[place]
                while step * total >= seen and place < last - 1:
                    place += 1
                    seen += mass[place]
            else:
                place += int(step * (last - first))
            codes[at] = new[place]


@njit()
def _count_anew(table, past, labels, attributes, learnt, held, changed, ranges, out):
    """Count numeric attributes of the instances of a memory at all nodes with a slot, ``held``, that know them.

    ``ranges`` are the codes that the nodes' bins cover, int array (nodes, attributes, 2); ``out``, zeros, int64 array
    (nodes, attributes, bins, classes), is written.
    """
    size, bins = len(labels), out.shape[2]
    place = np.full(len(table), -1)
    for i in range(len(held)):
        place[held[i]] = i
    for turn in range(min(learnt, size)):
        number = learnt - (learnt - 1 - turn) % size
        leaf = leaf_below(table, np.uint32(0), past, turn * attributes)
        while True:
            node = np.int64(leaf)
            while node != NO_NODE:
                i = place[node]
                if i >= 0 and number > table[node]["born"]:
                    for j in range(len(changed)):
                        code = np.int64(past[turn * attributes + changed[j]])
                        if code != MISSING:
                            low, high = ranges[i, j]
                            index = min(max(code - low, 0) >> shift_of(bins, high - low), bins - 1)
                            out[i, j, index, labels[turn]] += 1
                node = np.int64(above(table, node))
            leaf = next_leaf(table, leaf, past, turn * attributes)
            if not leaf:
                break

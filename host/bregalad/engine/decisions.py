"""Attempts that are due, and what they have decided, on a board in this process: decided and carried out at once."""

import numpy as np

from ..compiled import njit
from ..policy.decide import ALTERNATE, KEEP, SWAP, TIE, decide_row, left_out
from ..tree.alternates import begin, end, may_begin
from ..tree.blocks import is_due
from ..tree.deactivation import divide
from ..tree.split import cells_of, sides_of
from ..tree.table import ROWS, has_alternate
from .event_counts import ALTERNATES, ATTEMPTS, DROPPED, HALVINGS, SWAPPED
from .history import ALTERNATE as BEGINS
from .history import DRIFT, record_event
from .history import DROPPED as GOES
from .history import SWAPPED as TAKES_OVER
from .statistics.candidates import attempt
from .statistics.counting import obey
from .statistics.state import COUNTS, KIND

# For what is called from one place: it would be compiled for itself, and again in its caller.
_inlined = njit(inline="always")


@_inlined
def _values(counts, slot, first, cells):
    """Class counts of an attribute's values, as ``CellMap.values`` gives them."""
    bins, classes = counts.shape[1:3]
    each = bins if cells == 1 else bins - 1
    values = np.empty((cells * each, classes), np.int64)
    for cell in range(cells):
        for index in range(each):
            for k in range(classes):
                values[cell * each + index, k] = counts[slot, index, k, first + cell]
    return values


@_inlined
def split(state, work, node, anytime):
    """Split a leaf as its last attempt has decided; False, and nothing is done, if rows or slots do not suffice."""
    tree = work.tree
    row = tree.table[node]
    cell, value, slot = np.int64(row["cell"]), np.int64(row["value"]), np.int64(row["slot"])
    attribute, _, cells = cells_of(tree.first_cell, work.plan.form.attribute, cell)
    kind = np.int64(state.config[KIND, cell])
    values = _values(state.counts, slot, cell, cells)
    sides = sides_of(values, kind, value)
    width, classes = sides.shape
    if tree.room[0] + width > len(tree.table) or width > tree.stack[0] + (anytime is None):
        return False
    observed = np.empty(classes, np.int64)
    for k in range(classes):
        observed[k] = state.entries[slot, COUNTS + k]
    tie = row["decision"] == TIE
    row["decision"] = KEEP
    used = divide(tree, node, attribute, kind, value, values, sides, observed, tie, anytime, None)
    obey(work.slots, tree.edits, used)
    return True


@_inlined
def change_alternate(work, node, seen):
    """Carry out a decision on an alternate, as `driver.decisions` does; False, with nothing done, if not for here."""
    tree, event_counts = work.tree, work.event_counts
    table = tree.table
    decision = table[node]["decision"]
    begins = decision == ALTERNATE
    if begins and not may_begin(table, tree.room, tree.style, node):
        table[node]["decision"] = KEEP
        record_event(tree, DRIFT, node, seen)
        return True
    # For an alternate, a leaf may lose its slot.
    short = tree.stack[0] == 0 or tree.room[0] + 2 > len(table)
    if decision < ALTERNATE or begins and short:
        return False
    table[node]["decision"] = KEEP
    if begins:
        record_event(tree, DRIFT, node, seen)
    if begins and has_alternate(table, node):
        node = np.int64(table[node]["parent"])
        record_event(tree, GOES, np.int64(table[node]["child"] + 1), seen)
        end(tree, node, np.int64(0))
        event_counts[DROPPED] += 1
    if begins:
        alternate, used = begin(tree, node, seen)
        record_event(tree, BEGINS, alternate, seen)
        event_counts[ALTERNATES] += 1
    else:
        swaps = np.int64(decision == SWAP)
        record_event(tree, TAKES_OVER if swaps else GOES, np.int64(table[node]["child"] + 1), seen)
        used = end(tree, node, swaps)
        event_counts[SWAPPED if swaps else DROPPED] += 1
    obey(work.slots, tree.edits, used)
    return True


@_inlined
def try_due(state, work, number, words):
    """Try the nodes that are due; whether any of them is to change."""
    table, (_, inherited, gains, _, evidence), event_counts = work.tree.table, work.tree.matrices, work.event_counts
    form, options, classes = work.plan.form, work.plan.options, work.plan.classes
    decided = False
    for node in range(work.tree.room[ROWS]):
        row = table[node]
        if not is_due(row):
            continue
        row["since"], row["due_at"], row["decision"] = 0, number, KEEP
        if options.subset:
            out = left_out(table, node, options, form.attributes)
            for cell in range(form.cells):
                state.wanted[cell] = not out[form.attribute[cell]]
        halved = attempt(state, np.int64(row["slot"]), np.int64(form.cells), classes, form.all, words)
        state.wanted[:] = True
        event_counts[ATTEMPTS] += 1
        event_counts[HALVINGS] += halved
        decision, cell, value = decide_row(
            words, form, options, table, inherited, gains, evidence, node, classes, number, options.anytime
        )
        if decision != KEEP:
            row["decision"], row["cell"], row["value"] = decision, cell, value
            decided = True
    return decided

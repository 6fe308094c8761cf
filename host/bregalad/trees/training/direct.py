"""Learning on a board in this process: no link, so no report is ever late.

What goes over a link as records, reports, commands and statistics is done here in one compiled
loop: an instance is routed, predicted and counted in one walk, a trial is judged at once, and a
leaf that splits gets its children. Only what changes inner nodes, or is short of room, returns.
"""

import numpy as np
from numba import types
from numba.experimental import structref

from ...boards import kernel
from ...compiled import njit
from ...protocol.reports import HEADER, SuggestionFlag
from ...protocol.words import getter
from ..policy.judge import KEEP, SPLIT, TIE, judge_row
from ..structure.nodes import LEAF, TRIAL_OUT
from ..structure.router import ADAPTIVE, arrive, choose, count_class
from ..structure.split import enter_role, hand_out, sides_of, sprout
from ..structure.walk import GROUP, child_of, walk
from .tally import HALVINGS, INSTANCES, SPLITS, TIES, TRIALS

__all__ = ["Commands", "FOUND", "AT", "learn", "predict"]

_flags_of = getter(HEADER, "flags")
_HALVED = int(SuggestionFlag.HALVED)

NODE, VERDICT, CELL, VALUE, PERIOD, AT, FOUND = range(7)  # columns of what `learn` finds


@structref.register
class _DeskType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class Desk(structref.StructRefProxy):
    """All that `learn` works on, as one argument: handed over one by one, the arrays would take
    longer than an instance.

    Parameters
    ----------
    state : kernel.State
    table, matrices, room, blank : arrays of ``Nodes``
        No gate is shut.
    style : split.Style
    first_cell : int64 array (attributes,)
    stack, slot_node : arrays of ``SlotPool``
    written, read : uint8 arrays
        Of ``Commands``, for a node and its children.
    classes, form, options
        As in ``judge_row`` and ``SplitPolicy.judge``.
    found : int64 array (PATH_LIMIT, FOUND)
        Trials of the last instance whose verdicts are left to do; their reports stay in
        ``state.out``, from word AT on. Written.
    left : int64 array (1,)
        How many these are. Written.
    tally : int64 array
        ``Tally.counts``. Written.
    codes : uint8 array (n * attributes,), read-only
    labels, predictions : int32 array (n,)
        Instances; the latter is written.
    """


_FIELDS = (
    "state",
    "table",
    "matrices",
    "room",
    "blank",
    "style",
    "first_cell",
    "stack",
    "slot_node",
    "written",
    "read",
    "classes",
    "form",
    "options",
    "found",
    "left",
    "tally",
    "codes",
    "labels",
    "predictions",
)
structref.define_proxy(Desk, _DeskType, list(_FIELDS))


@njit()
def desk(
    state,
    table,
    matrices,
    room,
    blank,
    style,
    first_cell,
    stack,
    slot_node,
    written,
    read,
    classes,
    form,
    options,
    found,
    left,
    tally,
    codes,
    labels,
    predictions,
):
    """A `Desk`; its own constructor would be compiled by every process anew."""
    return Desk(
        state,
        table,
        matrices,
        room,
        blank,
        style,
        first_cell,
        stack,
        slot_node,
        written,
        read,
        classes,
        form,
        options,
        found,
        left,
        tally,
        codes,
        labels,
        predictions,
    )


# For what is called from one place: it would be compiled for itself, and again in its caller.
_inlined = njit(error_model="numpy", inline="always")


class Commands:
    """A buffer that compiled code writes commands to and the kernel reads them from."""

    def __init__(self, size):
        self.written = np.zeros(size, np.uint8)
        self.read = self.written.view()
        self.read.flags.writeable = False  # as the kernel's other input, so one compiled version


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
def _split(
    state,
    table,
    matrices,
    room,
    blank,
    style,
    first_cell,
    stack,
    slot_node,
    written,
    read,
    words,
    form,
    node,
    cell,
    value,
    tie,
    anytime,
):
    """Split a leaf; False, and nothing is done, if rows or slots do not suffice."""
    counts, base, gains = matrices
    attribute = form.attribute[cell]
    last = first_cell[attribute + 1] if attribute + 1 < len(first_cell) else form.cells
    kind = np.int64(state.config[kernel.KIND, cell])
    row = table[node]
    values = _values(state.counts, row["slot"], cell, last - cell)
    sides = sides_of(values, kind, value)
    width, classes = sides.shape
    handed = 0 if style.anytime else 1  # a leaf's own slot
    if stack[0] + handed < width or room[0] + width > len(table):
        return False
    own = np.empty(classes, np.int64)
    for k in range(classes):
        own[k] = words[form.class_counts + k]
    child = sprout(
        table, counts, base, gains, room, blank, style, node, attribute, kind, value, values, sides, own, tie
    )
    used = np.int64(0)
    if anytime is not None:
        used = enter_role(table, style, first_cell, node, written, used)
    leaves = np.empty(width, np.int64)
    for branch in range(width):
        leaves[branch] = child + branch
    used = hand_out(table, style, first_cell, stack, slot_node, node, leaves, written, used)
    for at in range(0, used, style.command_bytes):
        kernel.place(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift, read, at)
    return True


@_inlined
def _try(state, table, base, gains, leaf, form, options, classes, seen, found, tally):
    """Try the nodes on an instance's path that are due, from the leaf up; changes found."""
    changes = 0
    node = leaf
    while node >= 0:
        row = table[node]
        if row["gate"] & TRIAL_OUT:
            at = state.progress[kernel.USED]
            kernel.trial(state, np.int64(row["slot"]), np.int64(0))
            words = state.out[at : at + form.size]
            tally[TRIALS] += 1
            tally[HALVINGS] += _flags_of(words, 0) & _HALVED
            verdict, cell, value, period = judge_row(
                words, form, options, table, base, gains, node, classes, seen + row["due_at"] + 1, options.anytime
            )
            if verdict == KEEP:
                row["gate"] &= ~TRIAL_OUT
            if verdict != KEEP or period:
                found[changes, NODE], found[changes, VERDICT] = node, verdict
                found[changes, CELL], found[changes, VALUE] = cell, value
                found[changes, PERIOD], found[changes, AT] = period, at
                changes += 1
        node = row["parent"]
    return changes


@kernel.inner
def _walk(
    entries,
    cell_counts,
    counters,
    shares,
    lo,
    shift,
    config,
    events,
    scores,
    logs,
    bayes_table,
    own_codes,
    places,
    count_max,
    lanes,
    table,
    counts,
    codes,
    where,
    labels,
    predictions,
    start,
    stop,
    predictor,
    anytime,
    neighbours,
    classes,
    attributes,
    found,
    going,
    first,
    walked,
):
    """Learn instances until trials are due.

    Parameters
    ----------
    found, going : uint32 arrays (GROUP,)
        The former has the leaves of the instances ``first`` to ``walked``, and is written.

    Others as in ``learn``.

    Returns
    -------
    i, leaf, first, walked : int
        The next instance, and the leaf of the last one or -1.
    """
    mix, shape = kernel.mixture(config, len(where)), cell_counts.shape
    records = nodes = clamped = due = 0
    node = np.uint32(0)
    i = start
    while i < stop and not due:
        at = i * attributes
        label = labels[i]
        rows = kernel.gather(mix, shape, codes, at, where, own_codes, places)
        active = True
        node = np.uint32(0)
        if anytime is None:  # inner nodes count nothing; from a leaf that has split meanwhile go on
            if i >= walked:
                first, walked = i, min(i + GROUP, stop)
                walk(table, codes, attributes, first, found[: walked - first], going)
            node = found[np.uint64(i - first)]
        while True:
            row = table[node]
            leaf = row["kind"] == LEAF
            if leaf:
                active = row["slot"] >= 0
                majority = count_class(row, counts, node, label)
                predictions[i] = majority
            slot = np.uint32(row["slot"])
            if active and (leaf or anytime is not None):
                kernel.locate(config, lo, shift, mix, shape, slot, own_codes, places)
                if leaf:
                    if predictor is not None and row["own"]:
                        bayes = kernel.only_class(entries, classes, slot)
                        if bayes < 0:
                            bayes = kernel.classify(
                                entries,
                                shape,
                                counters,
                                shares,
                                config,
                                mix,
                                neighbours,
                                classes,
                                scores,
                                logs,
                                bayes_table,
                                np.int64(slot),
                                places,
                            )
                        predictions[i] = choose(row, predictor, majority, bayes, label)
                if entries[slot, kernel.N] == count_max:
                    kernel.halve(entries, shape, counters, events, np.int64(slot))
                clamped += kernel.add(
                    entries, counters, shares, shape[3], lanes, count_max, logs, bayes_table, slot, label, places, rows
                )
                nodes += 1
                due += arrive(row, i)
            if leaf:
                if active:
                    row["own"] = entries[slot, kernel.N]
                break
            node = child_of(row, codes, at)
        records += active or anytime is not None
        i += 1
    events[kernel.RECORDS] += records
    events[kernel.NODES] += nodes
    events[kernel.BEATS] += nodes * ((len(where) + lanes - 1) // lanes)
    events[kernel.CLAMPED] += clamped
    if predictor is not None:
        events[kernel.PREDICTED] += records
    return i, np.int64(node) if due else -1, first, walked


@njit(error_model="numpy")
def learn(desk, start, stop, predictor, anytime):
    """Learn instances until ``stop``, or until something is to be done that it leaves.

    Parameters
    ----------
    desk : Desk
    start, stop : int
    predictor : BAYES, ADAPTIVE or None
        The last for the majority class: what is None, Numba compiles nothing for.
    anytime : int or None
        ``style.anytime``.

    Returns
    -------
    int
        The next instance.
    """
    state, table, room, style = desk.state, desk.table, desk.room, desk.style
    form, options, classes = desk.form, desk.options, desk.classes
    first_cell, stack, slot_node = desk.first_cell, desk.stack, desk.slot_node
    found, tally = desk.found, desk.tally
    codes, labels, predictions = desk.codes, desk.labels, desk.predictions
    counts, base, gains = desk.matrices
    where = form.attribute
    own_codes, places = state.codes[: len(where)], state.places[: len(where)]
    group, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    seen = tally[INSTANCES] - start
    changes = 0
    i = first = walked = start
    while i < stop and not changes:
        # A function of its own: a loop that uses the state counts references of all its arrays.
        i, leaf, first, walked = _walk(
            state.entries,
            state.counts,
            state.counters,
            state.shares,
            state.lo,
            state.shift,
            state.config,
            state.events,
            state.scores,
            state.logs,
            state.bayes_table,
            own_codes,
            places,
            state.count_max,
            state.lanes,
            table,
            counts,
            codes,
            where,
            labels,
            predictions,
            i,
            stop,
            predictor,
            anytime,
            state.registers[kernel.NEIGHBOURS],
            classes,
            len(first_cell),
            group,
            going,
            first,
            walked,
        )
        if leaf < 0:
            break
        changes = _try(state, table, base, gains, leaf, form, options, classes, seen, found, tally)
        verdict = found[0, VERDICT]
        if changes == 1 and found[0, NODE] == leaf and (verdict == SPLIT or verdict == TIE):
            if _split(
                state,
                table,
                (counts, base, gains),
                room,
                desk.blank,
                style,
                first_cell,
                stack,
                slot_node,
                desk.written,
                desk.read,
                state.out[found[0, AT] :],
                form,
                leaf,
                found[0, CELL],
                found[0, VALUE],
                verdict == TIE,
                anytime,
            ):
                tally[SPLITS] += 1
                tally[TIES] += verdict == TIE
                table[leaf]["gate"] &= ~TRIAL_OUT
                changes = 0
        state.progress[kernel.USED] = 0
    desk.left[0] = changes
    tally[INSTANCES] += i - start
    return i


@njit(error_model="numpy")
def predict(desk, predictor):
    """What the leaf of the first instance predicts; naive Bayes as ``bayes.predict`` asks for it.

    Parameters
    ----------
    desk : Desk
    predictor : BAYES, ADAPTIVE or None
        As in `learn`.

    Returns
    -------
    leaf, label : int
    bayes : bool
        Whether it was naive Bayes; then ``state.scores`` has the classes' scores.
    """
    table, codes = desk.table, desk.codes
    node = np.uint32(0)
    while table[node]["kind"] != LEAF:
        node = child_of(table[node], codes, 0)
    row = table[node]
    majority = np.int64(row["majority"])
    if predictor is None:
        return np.int64(node), majority, False
    if row["slot"] < 0 or row["own"] <= 0 or predictor == ADAPTIVE and row["right"] > 0:
        return np.int64(node), majority, False
    state, where = desk.state, desk.form.attribute
    own_codes, places = state.codes[: len(where)], state.places[: len(where)]
    mix, shape, slot = kernel.mixture(state.config, len(where)), state.counts.shape, row["slot"]
    kernel.gather(mix, shape, codes, 0, where, own_codes, places)
    kernel.locate(state.config, state.lo, state.shift, mix, shape, np.uint32(slot), own_codes, places)
    label = kernel.classify(
        state.entries,
        shape,
        state.counters,
        state.shares,
        state.config,
        mix,
        state.registers[kernel.NEIGHBOURS],
        desk.classes,
        state.scores,
        state.logs,
        state.bayes_table,
        np.int64(slot),
        places,
    )
    state.events[kernel.PREDICTED] += 1
    state.events[kernel.NODES] += 1
    state.events[kernel.BEATS] += (len(where) + state.lanes - 1) // state.lanes
    return np.int64(node), np.int64(label), True

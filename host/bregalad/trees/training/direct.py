"""Learning on a board in this process: no link, so no report is ever late.

What goes over a link as records, reports, commands and statistics is done here in one compiled
loop: an instance is routed, predicted and counted in one walk, a trial is judged at once, and a
leaf that splits gets its children. Only what changes inner nodes, or is short of room, returns.
"""

import numpy as np
from numba.experimental import structref

from ...boards import kernel
from ...compiled import Record, njit
from ...geometry import NONE
from ...protocol.reports import HEADER, SuggestionFlag
from ...protocol.words import getter
from ..policy.judge import ALTERNATE, KEEP, SPLIT, SWAP, TIE, judge_row, left_out
from ..structure.alternates import begin, end
from ..structure.contest import divide
from ..structure.memory import count_off, date, leaf_of
from ..structure.nodes import LEAF, NO_NODE, above, has_alternate
from ..structure.router import ADAPTIVE, arrive, choose, count_class, summon
from ..structure.split import cells_of, sides_of
from ..structure.walk import GROUP, child_of, next_leaf, walk
from .rivals import contest, worth
from .tally import ALTERNATES, DROPPED, HALVINGS, INSTANCES, SPLITS, SWAPPED, TIES, TRIALS
from .trials import due_next, earliest
from .watch import follow

__all__ = ["Commands", "LEFT", "NEXT", "learn", "predict"]

_flags_of = getter(HEADER, "flags")
_HALVED = int(SuggestionFlag.HALVED)

# Elements of `ahead`: instances learnt when the next decision takes effect; 1: that is left to be done.
NEXT, LEFT = range(2)


@structref.register
class _DeskType(Record):
    pass


class Desk(structref.StructRefProxy):
    """All that `learn` works on, as one argument: handed over one by one, the arrays would take
    longer than an instance.

    Parameters
    ----------
    state : kernel.State
    table, matrices, room, blank : arrays of ``Nodes``
    style : split.Style
    first_cell : int64 array (attributes,)
    stack, slot_node : arrays of ``SlotPool``
    written, read : uint8 arrays
        Of ``Commands``, for a node and its children.
    classes, form, options
        As in ``judge_row`` and ``SplitPolicy.judge``.
    multiple, delay : int
        As in ``sending.advance``.
    ahead : int64 array (2,)
        By NEXT and LEFT; written.
    tally : int64 array
        ``Tally.counts``. Written.
    past, kept, kept_labels : arrays
        ``read``, ``codes`` and ``labels`` of ``Memory``.
    codes : uint8 array (n * attributes,), read-only
    labels, predictions : int32 array (n,)
        Instances; the latter is written.
    weights : int32 array (n,) or None
        How often each is learnt; 0: it is predicted only. None: once each.
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
    "multiple",
    "delay",
    "ahead",
    "tally",
    "past",
    "kept",
    "kept_labels",
    "codes",
    "labels",
    "predictions",
    "weights",
)
structref.define_proxy(Desk, _DeskType, list(_FIELDS))


@njit()
def desk(*fields):
    """A `Desk`; its own constructor would be compiled by every process anew."""
    return Desk(*fields)


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
    state, table, matrices, room, blank, style, first_cell, stack, slot_node, written, read, form, node, anytime
):
    """Split a leaf as its last trial has decided; False, and nothing is done, if rows do not suffice."""
    row = table[node]
    cell, value, slot = np.int64(row["cell"]), np.int64(row["value"]), np.int64(row["slot"])
    attribute, _, cells = cells_of(first_cell, form.attribute, cell)
    kind = np.int64(state.config[kernel.KIND, cell])
    values = _values(state.counts, slot, cell, cells)
    sides = sides_of(values, kind, value)
    width, classes = sides.shape
    if room[0] + width > len(table):
        return False
    own = np.empty(classes, np.int64)
    for k in range(classes):
        own[k] = state.entries[slot, kernel.COUNTS + k]
    tie = row["verdict"] == TIE
    row["verdict"] = KEEP
    used = divide(
        table,
        matrices,
        room,
        blank,
        style,
        first_cell,
        stack,
        slot_node,
        node,
        attribute,
        kind,
        value,
        values,
        sides,
        own,
        tie,
        written,
        anytime,
    )
    _obey(state, style, read, used)
    return True


@_inlined
def _obey(state, style, read, used):
    kernel.obey(
        state.entries,
        state.counts,
        state.counters,
        state.shares,
        state.lo,
        state.shift,
        read,
        used,
        np.int64(style.command_bytes),
    )


@_inlined
def _change_alternate(
    state, table, matrices, room, blank, style, first_cell, stack, slot_node, written, read, tally, node, seen
):
    """Carry out a decision on an alternate, as ``Trials`` does; False, and nothing is done, if that is not for here."""
    verdict = table[node]["verdict"]
    begins = verdict == ALTERNATE
    # Links are taken out one by one where nodes go; for an alternate, a leaf may lose its slot.
    if verdict < ALTERNATE or style.links is not None or begins and (stack[0] == 0 or room[0] + 2 > len(table)):
        return False
    table[node]["verdict"] = KEEP
    if begins and has_alternate(table, node):
        node = np.int64(table[node]["parent"])
        end(table, matrices, room, blank, style, first_cell, stack, slot_node, node, np.int64(0), written)
        tally[DROPPED] += 1
    if begins:
        _, used = begin(table, matrices, room, blank, style, first_cell, stack, slot_node, node, seen, written)
        tally[ALTERNATES] += 1
    else:
        swaps = np.int64(verdict == SWAP)
        used = end(table, matrices, room, blank, style, first_cell, stack, slot_node, node, swaps, written)
        tally[SWAPPED if swaps else DROPPED] += 1
    _obey(state, style, read, used)
    return True


@_inlined
def _try(state, table, base, gains, leaf, form, options, classes, number, delay, ahead, tally):
    """Try the nodes above an instance, and its leaf, that are due."""
    node = leaf
    while node != NO_NODE:
        row = table[node]
        if row["due_at"] == number and row["verdict"] == KEEP:
            if options.subset:
                out = left_out(table, node, options, form.attributes)
                for cell in range(form.cells):
                    state.wanted[cell] = not out[form.attribute[cell]]
            kernel.trial(state, np.int64(row["slot"]), np.int64(0))
            words = state.out[: form.size]
            state.progress[kernel.USED] = 0
            state.wanted[:] = True
            tally[TRIALS] += 1
            tally[HALVINGS] += _flags_of(words, 0) & _HALVED
            verdict, cell, value = judge_row(
                words, form, options, table, base, gains, node, classes, number, options.anytime
            )
            if verdict != KEEP:
                row["verdict"], row["cell"], row["value"] = verdict, cell, value
                ahead[NEXT] = min(ahead[NEXT], number + delay)
        node = np.int64(above(table, node))


@kernel.inner
def _forget(
    entries,
    counters,
    shares,
    lo,
    shift,
    config,
    logs,
    bayes_table,
    own_codes,
    places,
    lanes,
    table,
    counts,
    base,
    where,
    mix,
    shape,
    past,
    at,
    label,
    number,
):
    """Forget an instance; how many records, nodes and beats that were at 0 it takes.

    Parameters
    ----------
    past, at : uint8 array (n,), read-only, and int
        Its codes, and where they begin.
    number : int
        Instances that the tree had learnt, this one included.
    """
    records = nodes = clamped = 0
    rows = kernel.gather(mix, shape, past, at, where, own_codes, places)
    leaf = leaf_of(table, past, at)
    while True:
        slot = count_off(table, counts, base, leaf, number, label)
        records += slot != NONE
        while slot != NONE:
            kernel.locate(config, lo, shift, mix, shape, slot, own_codes, places)
            kernel.take_off(entries, slot, label)
            clamped += kernel.count_places(
                entries, counters, shares, shape[3], lanes, 0, -1, logs, bayes_table, slot, label, places, rows
            )
            nodes += 1
            slot = np.int64(entries[slot, kernel.LINK])
        leaf = next_leaf(table, leaf, past, at)
        if not leaf:
            return records, nodes, clamped


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
    windows,
    base,
    past,
    kept,
    kept_labels,
    codes,
    where,
    labels,
    predictions,
    weights,
    start,
    stop,
    seen,
    predictor,
    anytime,
    alternates,
    watch,
    forgets,
    rules,
    chances,
    multiple,
    delay,
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
    seen : int
        Instances learnt before the first of ``codes``.
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
    leaf = np.uint32(0)
    i = start
    while i < stop and not due:
        at = i * attributes
        label = labels[i]
        number = seen + i + 1
        if forgets is not None:
            turn = (number - 1) % len(kept_labels)
            if number > len(kept_labels):
                taken, passed, stuck = _forget(
                    entries,
                    counters,
                    shares,
                    lo,
                    shift,
                    config,
                    logs,
                    bayes_table,
                    own_codes,
                    places,
                    lanes,
                    table,
                    counts,
                    base,
                    where,
                    mix,
                    shape,
                    past,
                    turn * attributes,
                    kept_labels[turn],
                    number - len(kept_labels),
                )
                records, nodes, clamped = records + taken, nodes + passed, clamped + stuck
                if chances is not None:
                    chances.totals[kept_labels[turn]] -= 1
            for attribute in range(attributes):
                kept[turn * attributes + attribute] = codes[at + attribute]
            kept_labels[turn] = label
        if chances is not None:
            chances.totals[label] += 1
        rows = kernel.gather(mix, shape, codes, at, where, own_codes, places)
        if i >= walked:
            first, walked = i, min(i + GROUP, stop)
            walk(table, codes, attributes, first, found[: walked - first], going)
        leaf = found[np.uint64(i - first)]
        row = table[leaf]
        weight = np.int64(1) if weights is None else np.int64(weights[i])
        own_right = right = 0.0
        reached = leaf  # then the leaves of the alternates, too
        while True:
            if chances is not None:
                right = worth(chances, counts, np.int64(reached), label)
            if weights is None:
                majority = count_class(row, counts, reached, label)
            else:
                majority = row["majority"]
                if weight:
                    count_class(row, counts, reached, label, weight)
            predicted = majority
            active = row["slot"] >= 0
            counting = active
            node = reached
            while True:
                if counting:
                    slot = np.uint32(row["slot"])
                    kernel.locate(config, lo, shift, mix, shape, slot, own_codes, places)
                    if predictor is not None and (anytime is None or node == reached) and row["own"]:
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
                        predicted = choose(row, predictor, majority, bayes, label, weight)
                    left = weight
                    while left:
                        # What is full is halved before it counts further: near that, by one after the other.
                        step = left if entries[slot, kernel.N] + left <= count_max else np.int64(1)
                        if entries[slot, kernel.N] == count_max:
                            kernel.halve(entries, shape, counters, events, np.int64(slot))
                        clamped += kernel.add(
                            entries,
                            counters,
                            shares,
                            shape[3],
                            lanes,
                            count_max,
                            step,
                            logs,
                            bayes_table,
                            slot,
                            label,
                            places,
                            rows,
                        )
                        left -= step
                    nodes += 1
                    if weight:
                        if anytime is None or node == reached:
                            row["own"] = entries[slot, kernel.N]
                        due += arrive(row, number, delay, weight)
                if anytime is None:  # inner nodes count nothing
                    break
                over = row["parent"] if alternates is None else above(table, node)
                if over == NO_NODE:
                    break
                node = np.uint32(over)
                row = table[node]
                counting = True
            if anytime is not None:
                if multiple and number % multiple == 0:
                    due += summon(table, reached, number, delay)
                active |= node != reached
            records += active
            if reached == leaf:
                predictions[i] = predicted
            if rules is not None:
                if chances is None:
                    right = 1.0 if majority == label else 0.0
                if reached == leaf:
                    own_right = right
                else:
                    due += contest(table, windows, np.int64(reached), right - own_right, rules, number, delay)
            if watch is not None and weight:
                due += follow(table, windows, np.int64(reached), predicted != label, watch, number, delay)
            if alternates is None:
                break
            reached = next_leaf(table, reached, codes, at)
            if not reached:
                break
            row = table[reached]
        i += 1
    events[kernel.RECORDS] += records
    events[kernel.NODES] += nodes
    events[kernel.BEATS] += nodes * ((len(where) + lanes - 1) // lanes)
    events[kernel.CLAMPED] += clamped
    if predictor is not None:
        events[kernel.PREDICTED] += records
    return i, np.int64(leaf) if due else -1, first, walked


@njit(error_model="numpy", nogil=True)
def learn(desk, start, stop, predictor, anytime, alternates, watch, forgets, rules, chances):
    """Learn instances until ``stop``, or until a decision takes effect that it leaves.

    Parameters
    ----------
    desk : Desk
    start, stop : int
    predictor : BAYES, ADAPTIVE or None
        The last for the majority class: what is None, Numba compiles nothing for.
    anytime, alternates : int or None
        Of the style.
    watch : Watch or None
    forgets : int or None
        Whether there is a memory.
    rules : Contest or None
    chances : Chances or None
        Of trees whose rivals are tested without all labels.

    Returns
    -------
    int
        The next instance.
    """
    state, table, room, style = desk.state, desk.table, desk.room, desk.style
    form, options, classes = desk.form, desk.options, desk.classes
    first_cell, stack, slot_node = desk.first_cell, desk.stack, desk.slot_node
    multiple, delay, ahead, tally = desk.multiple, desk.delay, desk.ahead, desk.tally
    codes, labels, predictions = desk.codes, desk.labels, desk.predictions
    counts, base, gains, windows = desk.matrices
    where = form.attribute
    own_codes, places = state.codes[: len(where)], state.places[: len(where)]
    group, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    seen = tally[INSTANCES] - start
    i = first = walked = start
    while True:
        if ahead[NEXT] <= seen + i:
            node = earliest(table, room[0])
            row = table[node]
            if watch is not None and _change_alternate(
                state,
                table,
                (counts, base, gains, windows),
                room,
                desk.blank,
                style,
                first_cell,
                stack,
                slot_node,
                desk.written,
                desk.read,
                tally,
                node,
                seen + i,
            ):
                ahead[NEXT] = due_next(table, room[0], delay)
                walked = i
                continue
            tie = row["verdict"] == TIE
            if not (tie or row["verdict"] == SPLIT) or row["kind"] != LEAF:
                break
            if not _split(
                state,
                table,
                (counts, base, gains, windows),
                room,
                desk.blank,
                style,
                first_cell,
                stack,
                slot_node,
                desk.written,
                desk.read,
                form,
                node,
                anytime,
            ):
                break
            if forgets is not None:
                date(table, node, seen + i, style.inherit)
            tally[SPLITS] += 1
            tally[TIES] += tie
            ahead[NEXT] = due_next(table, room[0], delay)
            walked = i  # beyond, the tree has changed
            continue
        if i >= stop:
            break
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
            windows,
            base,
            desk.past,
            desk.kept,
            desk.kept_labels,
            codes,
            where,
            labels,
            predictions,
            desk.weights,
            i,
            min(stop, ahead[NEXT] - seen),
            seen,
            predictor,
            anytime,
            alternates,
            watch,
            forgets,
            rules,
            chances,
            multiple,
            delay,
            state.registers[kernel.NEIGHBOURS],
            classes,
            len(first_cell),
            group,
            going,
            first,
            walked,
        )
        if leaf >= 0:
            while True:
                _try(state, table, base, gains, leaf, form, options, classes, seen + i, delay, ahead, tally)
                if alternates is None:
                    break
                leaf = np.int64(next_leaf(table, leaf, codes, (i - 1) * len(first_cell)))
                if not leaf:
                    break
            if alternates is not None:
                ahead[NEXT] = min(ahead[NEXT], due_next(table, room[0], delay))
    ahead[LEFT] = ahead[NEXT] <= seen + i
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

"""Learning over a stream to the board, compiled: gates, predictions, and the records for it."""

import numpy as np

from ...compiled import njit
from ...protocol.commands import LABEL_HIGH, RECORD_HEADER
from .nodes import HOLDING, LEAF, TRIAL_OUT, descendants
from .walk import GROUP, child_of, walk

__all__ = [
    "DONE",
    "FIRED",
    "SENT",
    "MAJORITY",
    "BAYES",
    "ADAPTIVE",
    "PREDICTIONS",
    "arrive",
    "count_class",
    "choose",
    "advance",
    "release",
    "releasable",
    "send_early",
    "answer",
    "open_gates",
]

FULL, DONE, FIRED = range(3)  # why `advance` returned
SENT = 0  # element of `progress`: records sent whose prediction the board will report
MAJORITY, BAYES, ADAPTIVE = range(3)
PREDICTIONS = {"mc": MAJORITY, "nb": BAYES, "nba": ADAPTIVE}  # what a leaf predicts

# Arrays are passed one by one, not in a tuple: Numba counts references on every access to one, and
# in every call that takes them. An index that may be negative is tested for it.
_inlined = njit(inline="always")

_RECORD_HEAD = RECORD_HEADER.size
_SLOT_AT, _LABEL_AT, _FLAGS_AT = map(RECORD_HEADER.offset, ("slot", "label", "flags"))


@njit()
def arrive(node, i):
    """Count an instance's arrival towards a node's trial; 1 if that makes it due."""
    node["since"] += 1
    if node["since"] != node["period"]:
        return 0
    node["since"] = 0
    node["gate"] |= TRIAL_OUT
    node["due_at"] = i
    return 1


@_inlined
def _count(node, most):
    """Count an instance's arrival as the board does: what is full is halved before."""
    own = node["own"]
    node["own"] = (own >> 1 if own == most else own) + 1


@njit()
def _holds_below(table, top):
    for node in descendants(table, top, len(table))[1:]:
        if table[node]["gate"] & HOLDING:
            return True
    return False


@_inlined
def _must_wait(table, node, most):
    """Whether an anytime tree's next arrival would halve counts that earlier ones are not in."""
    return table[node]["own"] == most and _holds_below(table, node)


@_inlined
def count_class(node, counts, leaf, label):
    """Count an instance's class at a leaf; the majority class before."""
    majority = node["majority"]
    count = counts[leaf, label] + 1
    counts[leaf, label] = count
    lead = counts[leaf, majority]  # outside of branches, or references are counted
    # Ties go to the lower class; an empty leaf's first class is its own.
    if label != majority and (count > lead or (count == lead and label < majority)):
        node["majority"] = label
    return majority


@njit()
def choose(node, predictor, majority, bayes, label):
    """The prediction by BAYES or ADAPTIVE, which then counts which of the two was right."""
    if predictor == BAYES or bayes == majority:
        return bayes
    chosen = bayes if node["right"] <= 0 else majority
    node["right"] += np.int64(label == majority) - np.int64(label == bayes)
    return chosen


@_inlined
def _withhold(table, follower, i, at):
    node = table[at]
    if node["gate"] & HOLDING:
        follower[node["tail"]] = i
    else:
        node["gate"] |= HOLDING
        node["head"] = i
    node["tail"] = i
    follower[i] = -1


@_inlined
def _descend(table, codes, first_code, follower, i, at, anytime, most):
    """Follow an instance, whose codes are those from ``first_code`` on, from a node to its leaf.

    Returns the leaf, -1 if the instance is withheld on the way, and the trials that are due.

    An instance that is withheld below counts as arrived here: so a node's trial is due with the
    same instance whatever the latency, and takes place when the last one below has been counted.
    One with which the board halves a node's counts waits there for all that are withheld below.
    """
    due = 0
    while table[at]["kind"] != LEAF:
        if anytime:
            if _must_wait(table, at, most):
                _withhold(table, follower, i, at)
                return np.int64(-1), due
            _count(table[at], most)
            due += arrive(table[at], i)
        at = child_of(table[at], codes, first_code)
        if table[at]["gate"]:
            _withhold(table, follower, i, at)
            return np.int64(-1), due
    return np.int64(at), due


@_inlined
def _write_record(out, at, slot, label, codes, first_code, cell_attribute):
    """Write an instance's record; return where the next begins."""
    out[np.uint64(at + _SLOT_AT)] = slot & 0xFF
    out[np.uint64(at + _SLOT_AT + 1)] = slot >> 8
    out[np.uint64(at + _LABEL_AT)] = label & 0xFF
    out[np.uint64(at + _FLAGS_AT)] = label >> 8 << LABEL_HIGH
    at += _RECORD_HEAD
    for cell in range(len(cell_attribute)):
        out[np.uint64(at + cell)] = codes[first_code + np.uint64(cell_attribute[cell])]
    return at + len(cell_attribute)


@njit()
def _learn(
    table,
    counts,
    codes,
    attributes,
    labels,
    predictions,
    follower,
    order,
    leaves,
    early,
    first,
    found,
    passing,
    predictor,
    anytime,
    most,
    progress,
    cell_attribute,
    single,
    out,
    at,
):
    """Count instances at their leaves and write their records, or withhold them there.

    Not inlined: where branches are many, Numba counts references to every array.

    Parameters
    ----------
    codes : uint8 array (n * attributes,)
    first : int
        The instances are those from there on.
    found : uint32 array
        Their leaves; those of an anytime tree's instances are found here, unless ``passing``.
    passing : bool
        They are let through shut gates: their turn has come.

    Others as in ``advance``; there is room for all records.

    Returns
    -------
    done, at, trials : int
        Instances, bytes in ``out``, trials that are due.
    """
    trials = 0
    for index in range(len(found)):
        if trials and single:
            return index, at, trials
        i = np.uint64(first + index)
        first_code = i * np.uint64(attributes)
        if anytime and not passing:
            # An instance after withheld ones waits too, or it would overtake them.
            if table[0]["gate"]:
                _withhold(table, follower, i, 0)
                continue
            leaf, due = _descend(table, codes, first_code, follower, i, np.uint32(0), anytime, most)
            trials += due
            if leaf < 0:
                continue
        else:
            leaf = np.int64(found[index])
            if table[leaf]["gate"] and not passing:
                _withhold(table, follower, i, leaf)
                continue
        node = table[leaf]
        label = labels[i]
        predictions[i] = count_class(node, counts, leaf, label)
        leaves[i] = leaf
        slot = node["slot"]
        active = slot >= 0
        if not active:
            if not anytime:
                continue
            # The nodes above count it all the same.
            slot = table[node["parent"]]["slot"]
        if predictor != MAJORITY:
            # A leaf without statistics of its own has nothing to predict from.
            order[progress[SENT], 0] = i
            order[progress[SENT], 1] = leaf if active and node["own"] else -1
            progress[SENT] += 1
        if not (passing and early[i]):
            at = _write_record(out, at, slot, label, codes, first_code, cell_attribute)
        if active:
            _count(node, most)
            trials += arrive(node, i)
    return len(found), at, trials


@njit()
def release(
    table,
    counts,
    codes,
    labels,
    predictions,
    follower,
    order,
    leaves,
    early,
    node_at,
    predictor,
    anytime,
    most,
    progress,
    cell_attribute,
    out,
    at,
):
    """Let go a node's withheld instances until none is left, its trial is due or ``out`` is full.

    Or until one would halve the node's counts while others are withheld below.

    Parameters as in ``advance``.

    Returns
    -------
    at, trials : int
        Bytes in ``out``, trials that are due.
    """
    size, attributes = _RECORD_HEAD + len(cell_attribute), codes.shape[1]
    flat = codes.ravel()
    trials = 0
    found = np.empty(1, np.uint32)
    node = table[node_at]
    while node["gate"] == HOLDING and at + size <= len(out):
        if anytime and _must_wait(table, node_at, most):
            break
        i = node["head"]
        node["head"] = follower[i]
        if follower[i] < 0:
            node["gate"] = 0
        leaf, due = _descend(table, flat, i * attributes, follower, i, node_at, anytime, most)
        trials += due
        if leaf >= 0:
            found[0] = leaf
            _, at, due = _learn(
                table,
                counts,
                flat,
                attributes,
                labels,
                predictions,
                follower,
                order,
                leaves,
                early,
                i,
                found,
                True,
                predictor,
                anytime,
                most,
                progress,
                cell_attribute,
                False,
                out,
                at,
            )
            trials += due
    return at, trials


@njit()
def releasable(table, rows, most):
    """Nodes of an anytime tree from which ``release`` would let go an instance; int64 array."""
    found = np.empty(rows, np.int64)
    count = 0
    for node in range(rows):
        if table[node]["gate"] == HOLDING and not _must_wait(table, node, most):
            found[count] = node
            count += 1
    return found[:count]


@njit()
def advance(
    table,
    counts,
    codes,
    labels,
    predictions,
    follower,
    order,
    leaves,
    early,
    start,
    stop,
    predictor,
    anytime,
    most,
    progress,
    cell_attribute,
    single,
    out,
    at,
):
    """Route the instances ``start`` to ``stop``: learn them or withhold them.

    Parameters
    ----------
    table, counts : arrays
        ``Nodes.table`` and ``Nodes.counts``.
    codes : uint8 array (n, attributes)
    labels, predictions : int32 array (n,)
        Predictions by majority class are written.
    follower : int32 array (n,)
        The next instance withheld at the same node; written.
    order : int32 array (n, 2)
        Instance and leaf of every prediction that the board will report, in order; written. The
        leaf is -1 where the majority class's prediction stands.
    leaves : int32 array (n,)
        Leaf that has counted an instance; written.
    early : bool array (n,)
        Instances withheld whose record has been sent already.
    start, stop : int
    predictor : MAJORITY, BAYES or ADAPTIVE
    anytime : bool
        Whether inner nodes count, too.
    most : int
        Instances that a slot counts before it halves.
    progress : int64 array
        By SENT.
    cell_attribute : int array (cells,)
        Attribute of every code of a record.
    single : bool
        Return as soon as a trial is due.
    out : uint8 array
        Records for the board are written from ``at`` on.
    at : int

    Returns
    -------
    position, at, trials, why : int
        Next instance, bytes in ``out``, trials that are due, and FULL, DONE or FIRED.
    """
    size, attributes = _RECORD_HEAD + len(cell_attribute), codes.shape[1]
    flat = codes.ravel()
    found, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    trials = 0
    i = start
    while i < stop:
        count = min(GROUP, stop - i, (len(out) - at) // size)
        if count == 0:
            return i, at, trials, FULL
        if not anytime:
            # No gates but leaves' are shut: a node that splits lets go all before others come.
            walk(table, flat, attributes, i, found[:count], going)
        done, at, due = _learn(
            table,
            counts,
            flat,
            attributes,
            labels,
            predictions,
            follower,
            order,
            leaves,
            early,
            i,
            found[:count],
            False,
            predictor,
            anytime,
            most,
            progress,
            cell_attribute,
            single,
            out,
            at,
        )
        trials += due
        i += done
        if trials and single:
            return i, at, trials, FIRED
    return stop, at, trials, DONE


@njit()
def send_early(table, codes, labels, follower, early, leaves, most, cell_attribute, out, at):
    """Write the records of leaves' withheld instances: none that makes a trial due or halves.

    Parameters
    ----------
    early : bool array (n,)
        Written.
    leaves : int array (m,)
        In their order.
    most : int
        Instances that the board can count at a leaf before it halves.

    Others as in ``advance``; none of these instances is counted here.

    Returns
    -------
    int
        Bytes in ``out``.
    """
    size, attributes = _RECORD_HEAD + len(cell_attribute), codes.shape[1]
    flat = codes.ravel()
    for leaf in leaves:
        node = table[leaf]
        left = min(node["period"] - 1 - node["since"], most - node["own"])
        i = node["head"]
        while i >= 0 and left > 0 and at + size <= len(out):
            if not early[i]:
                at = _write_record(
                    out, at, node["slot"], labels[i], flat, np.uint64(i) * np.uint64(attributes), cell_attribute
                )
                early[i] = True
            left -= 1
            i = follower[i]
    return at


@njit()
def answer(table, labels, predictions, order, answered, predictor, found):
    """Take in predictions by naive Bayes.

    Parameters
    ----------
    table, labels, predictions, order, predictor
        As in ``advance``.
    answered : int
        Predictions taken in before.
    found : int32 array
        The classes predicted.
    """
    for bayes in found:
        i, leaf = order[answered, 0], order[answered, 1]
        answered += 1
        if leaf < 0:
            continue
        predictions[i] = choose(table[leaf], predictor, predictions[i], bayes, labels[i])


@njit()
def open_gates(table, nodes):
    """Trials that change nothing: open the nodes' gates.

    Returns
    -------
    int64 array
        Those of ``nodes`` that withhold instances.
    """
    holding = np.empty(len(nodes), np.int64)
    count = 0
    for node in nodes:
        table[node]["gate"] &= ~TRIAL_OUT
        if table[node]["gate"]:
            holding[count] = node
            count += 1
    return holding[:count]

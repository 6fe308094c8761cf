"""What the arrays and entries of a saved tree must be; compiled code would go astray in others."""

import hashlib
from math import isfinite

import numpy as np

from ...drift import adwin
from ...engine.event_counts import EventCounts
from ...engine.history import Log
from ...geometry import MISSING
from ...policy.decide import ALTERNATE, CONSULT, DROP, KEEP, NO_CELL, PRUNE, RELOCATE, SWAP
from ...protocol.reports import entry_layout
from ...tree import table
from ...tree.cells import CellMap
from ...tree.split import LONG
from ...words import shown
from ..looking.page import POINTS

_NOT_THESE = "its nodes wait for what they cannot become"
_MANY = 1 << 53  # more than anything is ever counted
# Least and greatest values at the nodes of the tree. What leads from node to node is checked with
# the nodes; "slot" and "next" are found anew.
_LIMITS = {
    "threshold": (0, 2 * MISSING),
    "observed": (0, _MANY),
    "since": (0, _MANY),
    "period": (0, LONG),
    "due_at": (table.NEVER, _MANY),
    "decision": (KEEP, DROP),
    "value": (0, MISSING),
    "right": (-_MANY, _MANY),
    "low": (0, MISSING),
    "high": (0, MISSING),
    "wait": (0, 1 << 30),
    "tried": (0, 1 << 30),
    "born": (0, _MANY),
    "made": (0, _MANY),
    "counts": (0, _MANY),
    "inherited": (0, _MANY),
    "gains": (-1e18, 1e18),
    "windows": (-1e18, 1e18),
    "evidence": (-1e18, 1e18),
}
_NODE = (*table.FIELDS, *table.MATRICES)
_FLOATS = (*table.PER_ATTRIBUTE, *table.PER_WINDOW, *table.PER_ATTEMPT)
_BOARD = ("nodes", "entries", "counts")
_HISTORY = Log._fields  # looked at by `History`
_MEMORY = ("codes", "labels")  # looked at by `Memory`; only of trees with a window
_SAMPLE = ("count", "kept", "recent", "rest", "calm")  # looked at by `Sample`

# Entries of the description, of those that there are, and their types.
_ENTRIES = {
    **dict.fromkeys(("params", "schema", "quantiser", "run", "columns", "curve", "geometry", "event_counts"), dict),
    **dict.fromkeys(("tree", "class_type", "board"), str),
    **dict.fromkeys(("named", "grows"), bool),
    **dict.fromkeys(("classes", "fractions"), list),
    "given_geometry": (dict, str, type(None)),
}
_LABELS = {"b": (bool,), "i": (int,), "u": (int,), "f": (float,), "U": (str,), "O": (int, float)}


def digest_of(arrays):
    """A digest of named arrays: of their names, types, shapes and contents; bytes (32,)."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def check_entries(meta):
    """Refuse a description with an entry of another type; one that lacks any is refused where that is looked for."""
    for name in _ENTRIES.keys() & meta.keys():
        if not isinstance(meta[name], _ENTRIES[name]):
            raise ValueError(f"the entry {name!r} is {shown(meta[name])}")
    columns = meta.get("columns", {"class": "", "ignored": []})
    if not isinstance(columns.get("class"), str) or not isinstance(columns.get("ignored"), list):
        raise ValueError(f"the entry 'columns' is {shown(columns)}")
    points = list(map(meta.get("curve", dict.fromkeys(POINTS, [])).get, POINTS))
    if not all(isinstance(each, list) and len(each) == len(points[0]) for each in points):
        raise ValueError("the entry 'curve' is none")


def check_event_counts(event_counts):
    """Refuse what is no `EventCounts`."""
    if (
        set(event_counts) != set(EventCounts().as_dict())
        or not all(map(is_count, event_counts.values()))
        or event_counts["begun"] > event_counts["instances"]
    ):
        raise ValueError(f"the entry 'event_counts' is {shown(event_counts)}")


def is_count(value):
    """Whether a value of a description can be a number of instances, or the like."""
    return type(value) is int and 0 <= value <= _MANY


def labels_from(labels, kind, grows):
    """The classes from a list and the name of their type.

    TypeError or ValueError if they are not distinct or of another type; or not sorted, unless the tree ``grows``: then
    those that came later are the last.
    """
    found = np.array(labels, kind)
    kinds = _LABELS.get(found.dtype.kind, ())
    if (
        not labels
        or found.shape != (len(labels),)
        or found.tolist() != labels
        or not all(type(label) in kinds for label in labels)
        or len(set(labels)) < len(labels)
        or not grows
        and sorted(labels) != labels
        or not all(isfinite(label) for label in labels if isinstance(label, float))
    ):
        raise ValueError(f"the classes are {shown(labels)} of type {kind!r}")
    return found


def check_shapes(arrays, attributes, policy):
    """Refuse arrays of other names, types or shapes than a tree of so many attributes has.

    They are named "node_...", "board_...", "sample_...", "history_..." and "memory_...".
    """
    kinds = {
        "node": _NODE,
        "board": _BOARD,
        "sample": _SAMPLE,
        "history": _HISTORY,
        **({} if policy.window is None else {"memory": _MEMORY}),
    }
    expected = {f"{kind}_{name}" for kind, names in kinds.items() for name in names}
    if wrong := expected.symmetric_difference(arrays):
        what = "no" if min(wrong) in expected else "an unknown"
        raise ValueError(f"{what} array {min(wrong)!r}")
    rows, held = (np.atleast_1d(arrays[name]).shape[0] for name in ("node_kind", "board_nodes"))
    for name in _NODE:
        whole = None if name in _FLOATS else np.iinfo(table.FIELDS[name][0] if name in table.FIELDS else np.int64)
        limits = whole and (whole.min, whole.max)
        _check_array(f"node_{name}", arrays, rows, 1 + (name in table.MATRICES), limits)
    for ndim, name in enumerate(_BOARD, 1):
        _check_array(f"board_{name}", arrays, held, ndim, (0, (1 << 32) - 1))
    if arrays["node_inherited"].shape != arrays["node_counts"].shape:
        raise _wrong("node_inherited", arrays["node_inherited"])
    if arrays["node_gains"].shape[1] not in (0, attributes):
        raise _wrong("node_gains", arrays["node_gains"])
    if arrays["node_evidence"].shape[1] != table.EVIDENCE:
        raise _wrong("node_evidence", arrays["node_evidence"])
    windows = arrays["node_windows"]
    if windows.shape[1] and not policy.rivals and adwin.trouble(windows):
        raise _wrong("node_windows", windows)


def _check_array(name, arrays, rows, ndim, limits):
    """Refuse an array of another shape; or of floats, if it has ``limits``, or beyond these, and else of integers."""
    array = arrays[name]
    if (
        array.dtype.kind not in ("iu" if limits else "f")
        or array.ndim != ndim
        or len(array) != rows
        or (limits and array.size and not limits[0] <= array.min() <= array.max() <= limits[1])
    ):
        raise _wrong(name, array)


def check_tree(nodes, capacities, classes, policy):
    """Refuse what no node can have; the nodes hang together already.

    Capacities are a list of int: per attribute 0 if it is numeric, else how many values it may have. So many classes
    are in use.
    """
    live = nodes.descendants()
    if nodes.forks and not policy.alternates:
        raise ValueError("its nodes have alternates, which such a tree has not")
    decision = nodes.decision[live]
    consulted = decision == CONSULT
    if (~consulted & (decision > KEEP) & (decision < SWAP) if policy.consults else consulted).any():
        raise ValueError(_NOT_THESE)
    for name, (least, most) in _LIMITS.items():
        column = getattr(nodes, name)[live]
        if column.size and not least <= column.min() <= column.max() <= most:  # nor NaN
            raise ValueError(f"no tree has nodes with such {name!r}")
    inner = nodes.inner()
    kind, width = nodes.kind[inner], nodes.width[inner]
    capacity = np.array(capacities)[nodes.attribute[inner]]
    if (
        ((kind == table.NUMERIC) != (capacity == 0)).any()
        or ((kind != table.MULTIWAY) & (width != 2)).any()
        or ((kind == table.MULTIWAY) & (width > capacity)).any()
        or (nodes.low[live] > nodes.high[live]).any()
    ):
        raise ValueError("its tests are not of its attributes")
    if (
        (nodes.majority[live] >= classes).any()
        or nodes.counts[live, classes:].any()
        or nodes.inherited[live, classes:].any()
    ):
        raise ValueError("its nodes count classes that there are not")


def check_statistics(statistics, nodes, capacities, classes, geometry, anytime, nominal_split):
    """Refuse statistics, int arrays as ``checkpoint.read`` has them, that no board can have counted for the nodes.

    Nodes, capacities and classes are as in `check_tree`, the geometry that of the board which they were read from;
    ``anytime`` is whether inner nodes count, too.
    """
    held, entries, counts = (statistics[name] for name in _BOARD)
    live = nodes.descendants()
    cells = CellMap.build(capacities, geometry.bins, nominal_split)
    if (
        len(cells) > geometry.max_cells
        or len(held) > geometry.slots
        or nodes.classes != geometry.classes
        or classes > geometry.classes
        or entries.shape[1] != entry_layout(geometry.replace(nodes=0)).size // 4 - 1
        or counts.shape[1:] != (len(cells), geometry.bins * geometry.classes)
    ):
        raise ValueError("its statistics are not of its board")
    _check_decisions(nodes, held, cells, geometry.bins)
    inner = nodes.inner()
    may = live[nodes.kind[live] != table.FORK] if anytime else nodes.leaves()
    # Parents before children, as they go to the board: a child's link names its parent's slot.
    if not np.array_equal(may[np.isin(may, held)], held) or anytime and len(held) and not np.isin(inner, held).all():
        raise ValueError("its statistics are not of its nodes")
    seen, observed = entries[:, 0].astype(np.int64), entries[:, 4:].astype(np.int64)
    total = observed.sum(axis=1)
    # Halving rounds each class down.
    if (
        (seen > geometry.count_max).any()
        or (total > seen).any()
        or observed[:, classes:].any()
        or (total < seen - geometry.classes).any()
        or ((seen > 0) & (total == 0)).any()
    ):
        raise ValueError("its statistics do not add up")
    by_bin = counts.reshape(len(held), len(cells), geometry.bins, geometry.classes)
    if (by_bin.sum(axis=2, dtype=np.int64) > observed[:, np.newaxis]).any():
        raise ValueError("its statistics do not add up")
    for cell in range(len(cells)):
        capacity = capacities[cells.attribute[cell]]
        if capacity:
            bins = geometry.bins - int(cells.other[cell])
            if by_bin[:, cell, min(bins, capacity - int(cells.base[cell])) : bins].any():
                raise ValueError("its statistics are of values that there are not")


def _check_decisions(nodes, held, cells, bins):
    """Refuse decisions, still to take effect, that no attempt of the nodes can have come to."""
    for node in np.flatnonzero(nodes.decision != KEEP).tolist():
        inner, decision, cell = nodes.kind[node] != table.LEAF, nodes.decision[node], nodes.cell[node]
        fork = nodes.kind[node] == table.FORK
        if decision >= ALTERNATE:
            if fork != (decision in (SWAP, DROP)) or not -1 <= cell < len(cells):
                raise ValueError(_NOT_THESE)
            continue
        if decision == CONSULT:
            if cell != NO_CELL or node not in held:
                raise ValueError(_NOT_THESE)
            continue
        known = decision == PRUNE or cell in cells.first_cell
        if known and decision != PRUNE:
            attribute = cells.attribute[cell]
            highest = cells.capacities[attribute] or bins
            known = nodes.value[node] < highest and (decision != RELOCATE or attribute == nodes.attribute[node])
        if not known or node not in held or not inner and decision in (PRUNE, RELOCATE):
            raise ValueError(_NOT_THESE)


def _wrong(name, array):
    return ValueError(f"the array {name!r} has type {array.dtype}, shape {array.shape}, or values that it cannot have")

"""What has happened to a tree, event by event: compiled code records it where the tree changes."""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from ..tree.table import BOUND, DECIDED, FORK, GAIN, MADE, NO_NODE, NUMERIC, RIVAL, N

MOST = 10_000  # events that are kept: a MB
LEVELS = 32  # of a path that are kept

# In the order of events of one node at one instance.
EVENTS = ("split", "replaced", "pruned", "drift", "dropped", "alternate", "swapped")
SPLIT, REPLACED, PRUNED, DRIFT, DROPPED, ALTERNATE, SWAPPED = range(len(EVENTS))

EVENT = np.dtype(
    [
        ("instances", np.int64),  # that the tree had learnt
        ("n", np.float64),  # instances that the decision is based on; 0: it is not one on gains
        ("gain", np.float64),
        ("rival", np.float64),  # the gain that it was compared with
        ("bound", np.float64),  # by which it had to be larger
        ("value", np.float64),  # the threshold in the attribute's unit; NaN: by the code book of now, or no number
        ("event", np.int32),
        ("depth", np.int32),
        ("within", np.int32),  # in how many alternates the node is
        ("kind", np.int32),  # of the node's test, which is the new one, or one that goes
        ("attribute", np.int32),  # -1: it has none
        ("threshold", np.int32),  # a code, as of nodes
    ],
    align=True,
)

Log = namedtuple("Log", "events paths count")
Log.__doc__ = """A `History` for compiled code.

events : structured array (MOST,) of EVENT
paths : uint8 array (MOST, LEVELS)
    The branches from the root to the node, each plus 1; 0 behind the last.
count : int64 array (1,)
    Events so far; number i is at i modulo MOST.
"""


@njit()
def record_event(tree, event, node, seen):
    """Record what happens to a node with ``seen`` instances learnt: a split behind it, all else before it.

    The tree's ``log`` is written, and what the node's ``evidence`` says of its test.
    """
    table, evidence, log = tree.table, tree.matrices[4][node], tree.log
    place = log.count[0] % MOST
    log.count[0] += 1
    log.paths[place] = 0
    depth, within, at = np.int64(0), np.int64(0), np.int64(node)
    while table[at]["parent"] != NO_NODE:
        above = np.int64(table[at]["parent"])
        branch = at - table[above]["child"]
        if table[above]["kind"] == FORK:
            within += branch
        else:  # upwards: what is further down moves on, or out
            for level in range(LEVELS - 1, 0, -1):
                log.paths[place, level] = log.paths[place, level - 1]
            log.paths[place, 0] = branch + 1
            depth += 1
        at = above
    if event == SPLIT or event == REPLACED or event == ALTERNATE:
        # Item by item: for a slice Numba compiles the words of its errors.
        for at in range(MADE - DECIDED):
            evidence[MADE + at] = evidence[DECIDED + at]
    row, own = log.events[place], table[node]
    row["instances"], row["event"], row["depth"], row["within"] = seen, event, depth, within
    row["kind"], row["attribute"], row["threshold"] = own["kind"], own["attribute"], own["threshold"]
    based = 1.0 if event <= PRUNED or event == ALTERNATE else 0.0
    row["n"], row["gain"] = based * evidence[DECIDED + N], based * evidence[DECIDED + GAIN]
    row["rival"], row["bound"] = based * evidence[DECIDED + RIVAL], based * evidence[DECIDED + BOUND]
    row["value"] = np.nan


class History:
    """The last MOST events of a tree; older ones go, and are counted. ``log``: a `Log`."""

    def __init__(self):
        self.log = Log(np.zeros(MOST, EVENT), np.zeros((MOST, LEVELS), np.uint8), np.zeros(1, np.int64))

    def recode(self, attributes, edges, counts):
        """Give thresholds their values, for the code books of these attributes, int64 (m,), are to change.

        The books so far have these edges, float64 (m, edges), of which so many count, int64 (m,).
        """
        events = self.log.events
        unnamed = np.flatnonzero((events["kind"] == NUMERIC) & np.isnan(events["value"]))
        for attribute, own, count in zip(attributes, edges, counts, strict=True):
            at = unnamed[events["attribute"][unnamed] == attribute]
            book = np.concatenate([[-np.inf], own[:count], np.full(256 - count, np.inf)])  # as `CodeBook.threshold`
            events["value"][at] = book[np.minimum(events["threshold"][at], 256)]

    def _places(self):
        """Where the events are that are kept, oldest first."""
        count = self.log.count[0]
        return np.arange(max(0, count - MOST), count) % MOST

    def __getstate__(self):
        """Arrays to save: as a `Log` has them, but the events that are kept in order."""
        events, paths, count = self.log
        return {"events": events[self._places()], "paths": paths[self._places()], "count": count.copy()}

    def __setstate__(self, state):
        History.__init__(self)
        self.log.count[:] = state["count"]
        self.log.events[self._places()], self.log.paths[self._places()] = state["events"], state["paths"]

    @classmethod
    def from_state(cls, state, capacities):
        """A history as saved; ValueError if the arrays are none of a tree with attributes of such capacities."""
        history, (events, paths, count) = cls(), (state[name] for name in Log._fields)
        numeric = np.array([*capacities, -1]) == 0  # the last one's is of no attribute
        for mine, given in zip(history.log, (events, paths, count), strict=True):
            if mine.dtype != given.dtype or mine.shape[1:] != given.shape[1:] or not given.ndim or len(given) > MOST:
                raise ValueError("its history is none")
        if (
            len(count) != 1
            or not len(events) == len(paths) == min(MOST, count[0])
            or count[0] >> 53
            or not ((events["event"] >= 0) & (events["event"] < len(EVENTS)) & (events["threshold"] >= 0)).all()
            or not ((events["attribute"] >= -1) & (events["attribute"] < len(capacities))).all()
            or ((events["kind"] % FORK > 0) & ((events["kind"] == NUMERIC) != numeric[events["attribute"]])).any()
        ):
            raise ValueError("its history is not of its tree")
        history.__setstate__(state)
        return history

    def in_order(self):
        """Events, their paths, and how many older ones are gone.

        Of events of one instance those of upper nodes come first, then those further to the left, whatever order a
        board's reports have come in. So of an instance of which some may be gone all go.
        """
        events, paths, count = self.__getstate__().values()
        if count[0] > MOST:
            whole = events["instances"] > events["instances"][0]
            events, paths = events[whole], paths[whole]
        keys = ("threshold", "attribute", "n", "event", "within")
        order = np.lexsort((*(events[name] for name in keys), *paths.T[::-1], events["depth"], events["instances"]))
        return events[order], paths[order], int(count[0]) - len(order)

    def __eq__(self, other):
        (mine, here, gone), (theirs, there, others) = self.in_order(), other.in_order()
        return gone == others and mine.tobytes() == theirs.tobytes() and np.array_equal(here, there)

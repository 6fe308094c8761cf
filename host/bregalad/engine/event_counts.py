"""What has happened to a tree, in numbers."""

import numpy as np

from .history import History

_EVENTS = (
    "instances",
    "splits",  # of leaves
    "replaced",  # splits of inner nodes that took another one's place
    "pruned",  # inner nodes that became leaves
    "ties",  # splits, new or replaced, that only the tie threshold allowed
    "attempts",
    "alternates",  # that began
    "swapped",  # alternates that took over
    "dropped",  # alternates that went
    "halvings",  # attempts that found their slot's counts halved since the last
    "begun",  # instances before the block that is being learnt
    "ends",  # and at its end; 0: as long as it usually is
)
INSTANCES, SPLITS, REPLACED, TIES, ATTEMPTS, HALVINGS = map(
    _EVENTS.index, ("instances", "splits", "replaced", "ties", "attempts", "halvings")
)
ALTERNATES, SWAPPED, DROPPED, BEGUN, ENDS = map(_EVENTS.index, ("alternates", "swapped", "dropped", "begun", "ends"))


def _event(place):
    def read(event_counts):
        return int(event_counts.counts[place])

    def write(event_counts, count):
        event_counts.counts[place] = count

    return property(read, write)


class EventCounts:
    """What has happened to a tree so far; every name in ``_EVENTS`` is an attribute. ``events`` are counts to go on
    with.

    ``counts``, int64 array, has all of them by INSTANCES and so on: compiled code counts here, so that what is learnt
    and what is counted cannot come apart. ``history`` is a History.
    """

    begun: int
    ends: int
    instances: int

    def __init__(self, **events):
        self.counts = np.array([events.get(name, 0) for name in _EVENTS], np.int64)
        self.history = History()

    def __eq__(self, other):
        return (
            isinstance(other, EventCounts)
            and bool((self.counts == other.counts).all())
            and self.history == other.history
        )

    def __repr__(self):
        return f"EventCounts({', '.join(f'{name}={count}' for name, count in self.as_dict().items())})"

    def as_dict(self):
        """The counts by name."""
        return dict(zip(_EVENTS, self.counts.tolist(), strict=True))


for _place, _name in enumerate(_EVENTS):
    setattr(EventCounts, _name, _event(_place))

"""A bounded summary of a stream's numbers: which values there are, and which of late."""

import copy

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .edges import insert
from .search import flat_of
from .tables import with_room

KEPT = 1024  # rows of the whole stream that are kept at most; half as many at least
RECENT = 512  # rows that the latest part of the stream is known by
FIRST = 8  # instances before the first change of books
FORCED = 2048  # instances up to which books change whenever their number has doubled
_MOST_STEP = 4  # log2 of how many instances one recent row stands for at most
_SHARE = 6  # times a code's equal share of the recent distinct values, and
_SPARE = 8  # so many more, are too many
_MOST_CALM = 63  # looks
_ARRAYS = ("kept", "recent", "rest", "calm")


class Sample:
    """Rows of a stream: one of every 2**k of the whole of it, and the last `RECENT` of a denser choice.

    Which rows these are depends on their place in the stream alone: chosen by a hash, since a stream may have periods.
    Whether a book is to change is looked at at certain counts of instances (``next_look``).

    ``count`` instances came so far. Row w of ``kept``, float64 array (KEPT, columns), is one of the instances w 2**k to
    (w + 1) 2**k - 1, for the least k with which all fit; ``recent``, float64 array (RECENT, columns), is a ring.
    ``rest`` and ``calm``, int64 arrays (columns,), are looks to let pass before a column may change again, and how many
    the next time: twice as many after each change that did not help.
    """

    def __init__(self, columns):
        self.count = 0
        self._quiet = 0  # up to this count nothing but counting is to be done, where it is known
        # Columns lie in rows of these, so that there may be room for more.
        self._kept, self._ring = np.full((columns, KEPT), np.nan), np.full((columns, RECENT), np.nan)
        self.rest = np.zeros(columns, np.int64)
        self.calm = np.zeros(columns, np.int64)

    @property
    def kept(self):
        return self._kept[: len(self.rest)].T

    @property
    def recent(self):
        return self._ring[: len(self.rest)].T

    def extended(self, columns):
        """A sample of so many more columns, which have had no values yet; see `Quantiser.extended`."""
        other, total = copy.copy(self), len(self.rest) + columns
        other._kept, other._ring = (with_room(rows, total, np.nan) for rows in (self._kept, self._ring))
        other.rest, other.calm = (np.append(looks, np.zeros(columns, np.int64)) for looks in (self.rest, self.calm))
        return other

    @property
    def next_look(self):
        """The count of instances at which the books are to be looked at next."""
        count = self.count
        if count < FIRST:
            return FIRST
        if count < FORCED // 2:
            return 1 << count.bit_length()
        period = RECENT << _step(count)
        return (count // period + 1) * period

    @property
    def forced(self):
        """Whether all books change now."""
        return FIRST <= self.count <= FORCED and self.count & (self.count - 1) == 0

    def add(self, numbers):
        """Take in instances, up to ``next_look`` at most: float32 or float64 array (n, columns)."""
        end = self.count + len(numbers)
        _add(*flat_of(numbers), self.count, end, self._ring[: len(self.rest)], self._kept[: len(self.rest)])
        self.count = end

    def add_row(self, numbers):
        """`add` of one instance; whether the books are to be looked at."""
        if self.count < self._quiet:
            self.count += 1
            return False
        look = self.next_look
        self.add(numbers)
        self._quiet = _quiet(self.count, self.next_look)
        return self.count == look

    def values(self, columns):
        """All values kept of some columns: float64 array (columns, n), each rising, and how many of each are there."""
        step = _whole_step(self.count)
        kept = -(-self.count >> step)
        if kept and _first_of(kept - 1, step) >= self.count:
            kept -= 1
        values = np.concatenate([self._kept[columns, :kept], self._ring[columns, : self._recent]], axis=1)
        values.sort(axis=1)  # missing ones come last
        return values, values.shape[1] - np.isnan(values).sum(axis=1)

    @property
    def _recent(self):
        return min(self.count, RECENT)  # `recent` is full before a step is more than an instance

    def crowded(self, tables):
        """Per column the share of recent values in codes that too many distinct ones have, by the columns'
        `NumberTables`.
        """
        recent = self.recent[: self._recent]
        return _crowded(recent, tables.alone(recent))

    def due(self, tables):
        """The columns whose books are to change, at ``next_look``; list of int."""
        if self.forced:
            return list(range(len(self.rest)))
        crowded = self.crowded(tables) > 0
        self.calm[~crowded] = self.rest[~crowded] = 0
        waiting = crowded & (self.rest > 0)
        self.rest[waiting] -= 1
        due = crowded & ~waiting
        self.rest[due] = self.calm[due]
        self.calm[due] = np.minimum(2 * self.calm[due] + 1, _MOST_CALM)
        return np.flatnonzero(due).tolist()

    def state(self):
        """All that it knows: arrays by name."""
        return {"count": np.array(self.count), **{name: getattr(self, name).copy() for name in _ARRAYS}}

    @classmethod
    def from_state(cls, state, columns):
        """The sample that `state` described, of so many columns; ValueError if it is none."""
        sample = cls(columns)
        count = state["count"]
        if count.shape != () or count.dtype.kind not in "iu" or not 0 <= count < 1 << 53:
            raise ValueError("no sample: its count is none")
        sample.count = int(count)
        for name in _ARRAYS:
            old, new = getattr(sample, name), state[name]
            if new.shape != old.shape or new.dtype.kind != old.dtype.kind or np.isinf(new).any():
                raise ValueError(f"no sample: {name} is of type {new.dtype} and shape {new.shape}, or infinite")
            if new.dtype.kind == "i" and not ((new >= 0) & (new <= _MOST_CALM)).all():
                raise ValueError(f"no sample: {name} is {new.tolist()}")
            old[...] = new
        return sample


@njit()
def _hash(window, step):
    x = np.uint64(window) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(step) * np.uint64(0xD1B54A32D192ED03)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(x >> np.uint64(40)) & 1


@njit()
def _first_of(window, step):
    """The instance that stands for a window of ``2**step``: of its halves' one."""
    while step:
        window = 2 * window + _hash(window, step)
        step -= 1
    return window


@njit()
def _add(flat, row_step, column_step, start, end, ring, kept):
    """Take in the instances ``start`` to ``end``, of `flat_of`, where the windows that they stand for are.

    In the ring a row's place is its window's, so that it need not be kept.
    """
    _gather(flat, row_step, column_step, start, start, end, _step(start), ring)
    at = start
    while at < end:
        step = _whole_step(at + 1)
        if _whole_step(at) < step:  # all windows are full: one of two stays
            for window in range(KEPT // 2):
                stays = 2 * window + _hash(window, step)
                for column in range(len(kept)):
                    kept[column, window] = kept[column, stays]
        stop = min(end, KEPT << step)
        _gather(flat, row_step, column_step, start, at, stop, step, kept)
        at = stop


@njit()
def _gather(flat, row_step, column_step, first, start, end, step, kept):
    """Put the instances ``start`` to ``end`` that stand for their windows where these are in ``kept``.

    ``flat`` begins with instance ``first``.
    """
    for window in range(start >> step, ((end - 1) >> step) + 1):
        row = _first_of(window, step)
        if start <= row < end:
            place = window % kept.shape[1]
            at = (row - first) * row_step
            for column in range(len(kept)):
                kept[column, place] = flat[at + column * column_step]


@njit()
def _quiet(count, look):
    """The first instance from ``count`` on that is more than to be counted, or comes before a look."""
    while count < look - 1:
        step, whole = _step(count), _whole_step(count + 1)
        if whole > _whole_step(count) or count in (_first_of(count >> step, step), _first_of(count >> whole, whole)):
            break
        count += 1
    return count


@njit()
def _step(count):
    """log2 of how many instances a recent row stands for."""
    step = 0
    while step < _MOST_STEP and count >> (step + 1) >= 2 * RECENT:
        step += 1
    return step


@njit()
def _whole_step(count):
    """log2 of how many instances a row of the whole stream stands for."""
    step = 0
    while KEPT << step < count:
        step += 1
    return step


@njit()
def _crowded(rows, codes):
    """Per column the share of values in codes that have too many distinct ones."""
    shares, held, own = np.zeros(rows.shape[1]), np.empty(MISSING + 1, np.int64), np.empty(len(rows))
    for column in range(rows.shape[1]):
        held[:] = 0
        for i in range(len(rows)):
            held[codes[i, column]] += 1
        known = len(rows) - held[MISSING]
        limit = _SPARE + _SHARE * known // MISSING
        sharing = 0
        for code in range(MISSING):
            if held[code] <= limit:
                continue
            different = 0
            for i in range(len(rows)):
                if codes[i, column] == code:
                    different = insert(own, different, rows[i, column])
                    if different > limit:
                        sharing += held[code]
                        break
        shares[column] = sharing / max(known, 1)
    return shares

"""A bounded summary of a stream's numbers: which values there are, and which of late."""

import copy

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .edges import insert
from .search import flat_of
from .tables import NumberTables, with_room

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

    Which rows these are depends on their place in the stream alone: chosen by a hash, since a
    stream may have periods. Whether a book is to change is looked at at certain counts of
    instances (``next_look``).

    Parameters
    ----------
    columns : int
    places : sequence of int
        Where an instance's codes have those of the columns.

    Attributes
    ----------
    count : int
        Instances so far.
    kept : float64 array (KEPT, columns)
        Row w is one of the instances w 2**k to (w + 1) 2**k - 1, for the least k with which all fit.
    recent : float64 array (RECENT, columns)
        A ring.
    coded : bool
        Whether the codes of ``recent`` are those of the books as they are.
    rest, calm : int64 array (columns,)
        Looks to let pass before a column may change again, and how many the next time: twice as
        many after each change that did not help.
    """

    def __init__(self, columns, places=None):
        self.places = np.arange(columns) if places is None else np.asarray(places, np.int64)
        self.coded = True
        # There may be room for more columns.
        self._codes = np.full((RECENT, columns), MISSING, np.uint8)
        self._kept = np.full((KEPT, columns), np.nan)
        self._ring = np.full((RECENT, columns), np.nan)
        self.count = 0
        self._quiet = 0  # up to this count nothing but counting is to be done, where it is known
        self.rest = np.zeros(columns, np.int64)
        self.calm = np.zeros(columns, np.int64)

    @property
    def kept(self):
        return self._kept[:, : len(self.places)]

    @property
    def recent(self):
        return self._ring[:, : len(self.places)]

    def copy(self):
        """Another that knows the same."""
        other = copy.copy(self)
        for name in ("_codes", "_kept", "_ring", "rest", "calm"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def extended(self, places):
        """A sample of more columns, of these places; they have had no values yet; see `Quantiser.extended`."""
        other, columns = copy.copy(self), len(self.places) + len(places)
        other.places = np.append(self.places, np.asarray(places, np.int64))
        for name, blank in (("_codes", MISSING), ("_kept", np.nan), ("_ring", np.nan)):
            setattr(other, name, with_room(getattr(self, name), columns, blank, axis=1))
        for name in ("rest", "calm"):
            setattr(other, name, np.append(getattr(self, name), np.zeros(len(places), np.int64)))
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

    def add(self, numbers, codes):
        """Take in instances, up to ``next_look`` at most.

        Parameters
        ----------
        numbers : float32 or float64 array (n, columns)
        codes : uint8 array (n, attributes)
        """
        start, end = self.count, self.count + len(numbers)
        # In the ring a row's place is its window's, so that it need not be kept.
        flat = flat_of(numbers)
        _gather(*flat, numbers.shape[1], start, start, end, _step(start), self._ring)
        _gather_codes(codes, self.places, start, start, end, _step(start), self._codes)
        at = start
        while at < end:
            step = _whole_step(at + 1)
            if _whole_step(at) < step:  # all windows are full: one of two stays
                pairs = np.arange(KEPT // 2)
                with np.errstate(over="ignore"):  # seldom: no compiling is worth it
                    self._kept[pairs] = self._kept[2 * pairs + _hash.py_func(pairs, step)]
            stop = min(end, KEPT << step)
            _gather(*flat, numbers.shape[1], start, at, stop, step, self._kept)
            at = stop
        self.count = end
        self._quiet = 0

    def add_row(self, numbers, codes):
        """`add` of one instance; whether the books are to be looked at."""
        if self.count < self._quiet:
            self.count += 1
            return False
        look = self.next_look
        self.add(numbers, codes)
        self._quiet = self._wanted()
        return self.count == look

    def _wanted(self):
        """The next instance that is more than to be counted."""
        count = self.count
        if count < KEPT or _whole_step(count) < _whole_step(count + 1):  # the next makes all windows wider
            return count
        return min(
            self.next_look - 1,
            _next_chosen(count, _step(count)),
            _next_chosen(count, _whole_step(count + 1)),
            KEPT << _whole_step(count + 1),
        )

    def values(self, columns):
        """All values kept of some columns: float64 array (columns, n), each rising, and how many of each are there."""
        step = _whole_step(self.count)
        kept = -(-self.count >> step)
        if kept and _first_of(kept - 1, step) >= self.count:
            kept -= 1
        parts = self.kept[:kept], self.recent[: self._recent]
        values = np.empty((len(columns), sum(map(len, parts))))
        np.concatenate([part.T if len(columns) == part.shape[1] else part.T[columns] for part in parts], 1, values)
        values.sort(axis=1)  # missing ones come last
        return values, values.shape[1] - np.isnan(values).sum(axis=1)

    @property
    def _recent(self):
        return min(self.count, RECENT)  # `recent` is full before a step is more than an instance

    def crowded(self, books):
        """Per column the share of recent values in codes that too many distinct ones have; float array."""
        if not self.coded:
            NumberTables(books, np.arange(len(books))).encode(self.recent, self._codes)
            self.coded = True
        shares, held = np.zeros(self._ring.shape[1]), np.empty(MISSING + 1, np.int64)
        _crowded(self._ring[: self._recent], self._codes, shares, held)
        return shares[: len(books)]

    def due(self, books):
        """The columns whose books are to change, at ``next_look``; list of int."""
        if self.forced:
            return list(range(len(books)))
        crowded = self.crowded(books) > 0
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
    def from_state(cls, state, places):
        """The sample that `state` described, of these places.

        Raises
        ------
        ValueError
            If it is none.
        """
        sample = cls(len(places), places)
        sample.coded = False
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
def _gather_codes(codes, places, first, start, end, step, rows):
    """`_gather` of the codes of columns."""
    for window in range(start >> step, ((end - 1) >> step) + 1):
        row = _first_of(window, step)
        if start <= row < end:
            at = window % len(rows)
            for column in range(len(places)):
                rows[at, column] = codes[row - first, places[column]]


@njit()
def _gather(flat, row_step, column_step, columns, first, start, end, step, rows):
    """Put the instances ``start`` to ``end`` that stand for their windows where these are in ``rows``.

    ``flat`` of `flat_of` begins with instance ``first``.
    """
    for window in range(start >> step, ((end - 1) >> step) + 1):
        row = _first_of(window, step)
        if start <= row < end:
            place = window % len(rows)
            at = (row - first) * row_step
            for column in range(columns):
                rows[place, column] = flat[at + column * column_step]


def _next_chosen(start, step):
    row = _first_of(start >> step, step)
    return row if row >= start else _first_of((start >> step) + 1, step)


def _step(count):
    """log2 of how many instances a recent row stands for."""
    return min(max((count // (2 * RECENT)).bit_length() - 1, 0), _MOST_STEP)


def _whole_step(count):
    """log2 of how many instances a row of the whole stream stands for."""
    return max(count - 1, 0).bit_length() - (KEPT.bit_length() - 1) if count > KEPT else 0


@njit()
def _crowded(rows, codes, shares, held):
    """Write per column the share of values in codes that have too many distinct ones; ``held`` is written, too."""
    own = np.empty(len(rows))
    for column in range(rows.shape[1]):
        for code in range(MISSING + 1):
            held[code] = 0
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

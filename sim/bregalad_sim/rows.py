"""Row layouts, edges and rows at random, and what the host's code books make of them."""

import numpy as np
from bregalad.geometry import MISSING
from bregalad.protocol.rows import KIND_BYTES, Column, RowKind, RowLayout, reach_of

_TYPES = {RowKind.CODE: "u1", RowKind.U8: "u1", RowKind.U16: "<u2", RowKind.I32: "<i4", RowKind.F32: "<f4"}
_SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38], "<f4"
)
# As a C program may have them; a NaN of any sign and fraction is one.
_NANS = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF], "<u4").view("<f4")


def any_layout(geometry, rng, count=None):
    """A `RowLayout`: runs of a kind, padding anywhere, label and flags anywhere or not at all.

    It has ``count`` attributes; any number unless given.
    """
    if count is None:
        count = int(rng.choice([1, geometry.max_cells, rng.integers(1, geometry.max_cells + 1)]))
    parts, kind = [], RowKind.CODE
    mixed = rng.choice([0.0, 0.1, 0.9])  # how often kinds change
    for _ in range(count):
        if not parts or rng.random() < mixed:
            kind = RowKind(int(rng.integers(5)))
        parts.append(kind)
    heads = [name for name in ("label", "flags") if rng.random() < 0.8]
    if rng.random() < 0.3:
        heads.reverse()
    places = sorted(int(place) for place in rng.choice([0, count, int(rng.integers(count + 1))], len(heads)))
    gaps = rng.choice([0.0, 0.0, 0.2])
    columns, where, at = [], {}, 0
    for index in range(count + 1):
        while places and places[0] == index:
            places.pop(0)
            where[heads.pop(0)] = at
            at += 1
        if rng.random() < gaps:
            at += int(rng.choice([1, 3, rng.integers(1, 12), 5 * geometry.bus_bytes]))
        if index < count:
            columns.append(Column(f"a{index}", at, parts[index]))
            at += KIND_BYTES[parts[index]]
    if at < reach_of(geometry) and rng.random() < 0.2:  # codes in any order of the bytes
        offsets = rng.permutation([column.offset for column in columns if column.kind is RowKind.CODE]).tolist()
        columns = [
            Column(each.name, offsets.pop(), each.kind) if each.kind is RowKind.CODE else each for each in columns
        ]
    return RowLayout(columns, at + int(rng.choice([0, 0, 1, 2 * geometry.bus_bytes])), **where)


def any_edges(kind, rng):
    """Rising edges of a code book, some of them where or beyond where numbers of a kind end."""
    count = int(rng.choice([0, 1, 254, rng.integers(0, 255)]))
    if kind is RowKind.F32:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = any_numbers(kind, rng, count).astype(np.float64)
        # Between two float32, and at one.
        values *= 1 + 1e-9 * rng.standard_normal(count) * (rng.random(count) < 0.5)
        values[: count // 20] = rng.choice([0.0, -0.0, 1e300, -1e300, 1e-300, -1e-300], count // 20)
    else:
        low, high = _limits(kind)
        values = rng.integers(low - 3, high + 4, count) + rng.choice([0.0, 0.5, 1e-9])
    return np.unique(values[np.isfinite(values)])


def _limits(kind):
    info = np.iinfo(_TYPES[kind])
    return info.min, info.max


def any_numbers(kind, rng, count):
    """Numbers of a kind: of any size, the outermost and the strange ones often."""
    if kind is not RowKind.F32:
        low, high = _limits(kind)
        drawn = rng.integers(low, high + 1, count)
        return np.where(rng.random(count) < 0.2, rng.choice([low, high], count), drawn).astype(_TYPES[kind])
    drawn = rng.standard_normal(count).astype("<f4")
    wild = rng.integers(0, 1 << 32, count, np.uint32).view("<f4")
    strange = rng.choice(np.concatenate([_SPECIAL, _NANS]).view("<u4"), count).view("<f4")
    which = rng.random(count)
    bits = [each.view("<u4") for each in (strange, wild, drawn)]  # no NaN changes on the way
    return np.select([which < 0.2, which < 0.4], bits[:2], bits[2]).view("<f4")


def any_rows(layout, rng, count):
    """Bytes of so many rows, what nobody reads among them."""
    table = np.frombuffer(rng.bytes(count * layout.stride), np.uint8).reshape(count, layout.stride).copy()
    for column in layout.columns:
        values = any_numbers(column.kind, rng, count)
        table[:, column.offset : column.end] = values.view(np.uint8).reshape(count, KIND_BYTES[column.kind])
    return table.tobytes()


def coded(layout, rows, books, flags):
    """Label, flags and codes of each row, by the host's code books.

    Parameters
    ----------
    layout : RowLayout
    rows : bytes
    books : dict of CodeBook
        By attribute; none for one that is a code.
    flags : int
        Of rows that have none.
    """
    table = np.frombuffer(rows, np.uint8).reshape(-1, layout.stride)
    codes = np.empty((len(table), len(layout.columns)), np.uint8)
    for index, column in enumerate(layout.columns):
        values = np.ascontiguousarray(table[:, column.offset : column.end]).view(_TYPES[column.kind])[:, 0]
        if column.kind is RowKind.CODE:
            codes[:, index] = values
            continue
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = values.astype(np.float64)
        # The host refuses infinite values; here they are coded as they compare.
        found = np.searchsorted(books[index].edges, values, side="right")
        codes[:, index] = np.where(np.isnan(values), MISSING, found)
    labels = [0] * len(table) if layout.label is None else table[:, layout.label].tolist()
    given = [flags] * len(table) if layout.flags is None else table[:, layout.flags].tolist()
    return list(zip(labels, given, codes.tolist(), strict=True))


def records_of(beats, attributes):
    """Label, flags and codes of each record, of beats as they come."""
    records, codes = [], []
    for beat in beats:
        assert beat.first == (not codes)
        codes += beat.codes
        if beat.last:
            assert all(code == 255 for code in codes[attributes:])
            records.append((beat.label, beat.flags, codes[:attributes]))
            codes = []
    assert not codes
    return records

"""Fields of reports for compiled code, generated from their layouts."""

import numpy as np

from ..compiled import njit


def words_before(layout, name):
    """Whole words of an item before a field; ValueError if it does not begin one."""
    word, byte = divmod(layout.offset(name), 4)
    if byte:
        raise ValueError(f"{layout.name}.{name} does not begin a word")
    return word


def _place(layout, name):
    """``(word, lowest bit, width)`` of a field that lies in one word, or fills two."""
    field = next(field for field in layout.fields if field.name == name)
    word, byte = divmod(layout.offset(name), 4)
    if field.count is not None or field.width != 64 and 8 * byte + field.width > 32 or field.width == 64 and byte:
        raise ValueError(f"{layout.name}.{name} lies across words, or is an array")
    return word, 8 * byte, field.width


def getter(layout, name):
    """A compiled function ``get(words, at)`` that reads a field, an int64, of the item that begins at ``words[at]``.

    ``words`` is a uint32 array. The field must be no array, and not cross from one word into the next, or fill two;
    ValueError for others. The function is inlined where it is used.
    """
    word, shift, width = _place(layout, name)
    mask = (1 << min(width, 32)) - 1

    if width == 64:

        @njit(inline="always")
        def get(words, at):
            return (np.int64(words[at + word + 1]) << 32) | np.int64(words[at + word])
    else:

        @njit(inline="always")
        def get(words, at):
            return np.int64(words[at + word]) >> shift & mask

    return get


def putter(layout, *names):
    """A compiled function ``put(words, at, size, values)`` that writes an item of ``size`` words; see `getter`.

    ``values`` has an int for each name, in the fields' order; of larger ones the lowest bits are written. All else of
    the item becomes 0. Returned is where the next one begins.
    """
    places = [_place(layout, name) for name in names]
    if places != sorted(places):
        raise ValueError(f"{layout.name}: {', '.join(names)} are not in the layout's order")
    # For each word that a field lies in: number of its value, shift to the right, mask, shift to the left.
    parts = [
        (word + half, index, 32 * half, (1 << min(width, 32)) - 1, shift)
        for index, (word, shift, width) in enumerate(places)
        for half in range(2 if width == 64 else 1)
    ]
    in_words, indices, rights, masks, lefts = zip(*parts, strict=True)

    @njit(inline="always")
    def put(words, at, size, values):
        words[at : at + size] = 0
        for i in range(len(indices)):  # which are constants, so that nothing is left of the loop
            words[at + in_words[i]] |= np.uint32((values[indices[i]] >> rights[i] & masks[i]) << lefts[i])
        return at + size

    return put

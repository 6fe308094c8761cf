"""Fields of reports for compiled code, generated from their layouts."""

import numpy as np

from ..compiled import njit


def words_before(layout, name):
    """Whole words of an item before a field.

    Raises
    ------
    ValueError
        If the field does not begin a word.
    """
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
    """A compiled function ``get(words, at)`` that reads a field of an item.

    Parameters
    ----------
    layout : Layout
    name : str
        A field that is no array and does not cross from one 32-bit word into the next, or fills two.

    Returns
    -------
    function of (uint32 array, int)
        The field, an int64, of the item that begins at ``words[at]``. It is inlined where it is used.

    Raises
    ------
    ValueError
        If the field is another one.
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
    """A compiled function ``put(words, at, values)`` that writes fields of an item.

    Parameters
    ----------
    layout : Layout
    *names : str
        Fields as of `getter`, in their order. What else lies in their words becomes 0.

    Returns
    -------
    function of (uint32 array, int, tuple)
        It writes the values, an int for each name, to the item that begins at ``words[at]``; of larger ones the lowest
        bits. It is inlined where it is used.

    Raises
    ------
    ValueError
        If a field is another one.
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
    begun = tuple(sorted(set(in_words)))

    @njit(inline="always")
    def put(words, at, values):
        for word in begun:
            words[at + word] = 0
        for i in range(len(indices)):  # which are constants, so that nothing is left of the loop
            words[at + in_words[i]] |= np.uint32((values[indices[i]] >> rights[i] & masks[i]) << lefts[i])

    return put

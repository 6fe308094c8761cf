"""Fields of reports for compiled code, generated from their layouts."""

import numpy as np

from ..compiled import njit

__all__ = ["getter"]


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
    field = next(field for field in layout.fields if field.name == name)
    word, byte = divmod(layout.offset(name), 4)
    if field.count is not None or field.width != 64 and 8 * byte + field.width > 32 or field.width == 64 and byte:
        raise ValueError(f"{layout.name}.{name} lies across words, or is an array")
    shift, mask = 8 * byte, (1 << min(field.width, 32)) - 1

    if field.width == 64:

        @njit(inline="always")
        def get(words, at):
            return (np.int64(words[at + word + 1]) << 32) | np.int64(words[at + word])
    else:

        @njit(inline="always")
        def get(words, at):
            return np.int64(words[at + word]) >> shift & mask

    return get

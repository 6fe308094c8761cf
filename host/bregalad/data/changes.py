"""How the code books of numeric attributes change."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Changes:
    """Books that are to change, all of them in arrays.

    Attributes
    ----------
    attributes : int64 array (m,)
        Whose books, rising.
    old, new : tuple of float64 array (m, edges), int64 array (m,)
        Edges before and after, and how many each has.
    values : tuple of float64 array (m, n), int64 array (m,)
        The values that the stream's sample holds, rising, and how many of each.
    """

    attributes: np.ndarray
    old: tuple
    new: tuple
    values: tuple

    def __len__(self):
        return len(self.attributes)

    def __iter__(self):
        """Per attribute: it, its old edges, its new ones, its values."""
        for i, attribute in enumerate(self.attributes.tolist()):
            yield attribute, *(table[i, : counts[i]] for table, counts in (self.old, self.new, self.values))

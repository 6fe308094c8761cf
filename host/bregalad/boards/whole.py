"""How long reports are, to tell whole ones from the beginning of one."""

import numpy as np

from ..protocol.reports import layout_of


class Sizes:
    """Of the reports of a board.

    Parameters
    ----------
    geometry : Geometry
    """

    def __init__(self, geometry):
        self._geometry = geometry
        self.use(1)

    def use(self, cells):
        """So many cells are in use from now on."""
        self._cells, self._words = cells, {}

    def whole(self, data):
        """How many bytes at the beginning of ``data`` are whole reports.

        Parameters
        ----------
        data : bytes
            Of reports, the first from its beginning.

        Raises
        ------
        ValueError
            If there is no report of a kind.
        """
        words, at = np.frombuffer(data, "<u4"), 0
        while at < len(words):
            kind = int(words[at]) & 0xFF
            if kind not in self._words:
                self._words[kind] = layout_of(kind, self._geometry, self._cells).size // 4
            size = self._words[kind]
            # Those of a kind in a row at once.
            run = words[at : at + (len(words) - at) // size * size : size] & 0xFF == kind
            count = len(run) if run.all() else int(run.argmin())
            if not count:
                break
            at += count * size
        return 4 * at

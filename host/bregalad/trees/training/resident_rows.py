"""Rows that lie in a board's memory, learnt where they lie, on boards that walk records down the tree."""

from .steps import SAFE, Steps

__all__ = ["ResidentRows"]

_PART = 1 << 20  # rows after which Ctrl-C may end learning: so many that the host's share is what it is without


class ResidentRows:
    """Mixin of `Trainer`."""

    def declare(self, layout, edges, told=False):
        """Say what the rows are that `learn_rows` learns; board and tree agree about nothing else.

        Parameters
        ----------
        layout : RowLayout
            A column for each cell: an attribute of several has its value in each.
        edges : dict of uint32 array
            By cell, keys of the edges that numbers are encoded by (`bregalad.data.keys`).
        told : bool
            Whether the board reports the class of each record.

        Raises
        ------
        ValueError
            If the board does not walk records, or the layout does not fit the tree or the board.
        """
        self._check_walks()
        self.walking.declare(layout, told)
        self.walking.encode_by(edges)
        self.flush()

    def learn_rows(self, address, count):
        """Learn rows that lie in the board's memory, as often as wished.

        Parameters
        ----------
        address : int
            Byte of the first row.
        count : int

        Returns
        -------
        int
            Rows whose class was predicted before they were learnt.

        Raises
        ------
        ValueError
            If not all of them lie in the memory, or nobody has said what they are (`declare`).
        BoardError
            If the board reports an error or is gone.
        """
        return Steps(self.learning_rows(address, count)).run(self.board.receive)

    def learning_rows(self, address, count):
        """``learn_rows`` as a generator for `Steps`, which can be finished after the link was cut."""
        self._check_walks()
        walking = self.walking
        walking.check_rows(address, count)
        self._failed = True
        yield from walking.hits()
        for begin in range(0, count, _PART):
            self._failed = False
            yield SAFE
            self.rows_only = False  # somebody may have predicted meanwhile
            self._failed = True
            yield from walking.learning_there(
                address + begin * walking.stride, min(_PART, count - begin), self.review_period
            )
            yield from walking.read_leaves()
        _, right = yield from walking.hits()
        self._failed = False
        walking.check_room()
        return right

    def _check_walks(self):
        self.check_working()
        if self.walking is None:
            raise ValueError(
                f"board {self.board.name} takes records with their slots: choose a geometry with nodes of a node table"
            )

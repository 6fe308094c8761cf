"""The error that boards and the links to them have in common."""


class BoardError(Exception):
    """The board does not answer, or is not what it was taken for."""

"""ARFF files: columns are declared in a header, data are delimited text."""

import io
import re
from collections import Counter
from itertools import islice

from scipy.io import arff

from .files import open_text
from .schema import Attribute, DataError
from .sources import HEAD, LineSource
from .text import Layout, fields_of

__all__ = ["ArffSource"]

_QUOTE = re.compile(r"""(?:^|,)\s*(['"])""")  # that a field begins with
_NAME = re.compile(r"""^(\s*@attribute\s+)"([^"']*)"(?=\s)""", re.IGNORECASE)


class ArffSource(LineSource):
    """Weka's format: columns are declared, data are delimited text."""

    def __init__(self, path):
        self.path = path
        with open_text(path) as text:
            self.attributes, self.skipped = read_header(text, path)
            self.layout = data_layout(path, islice(text, HEAD))

    def _check(self, block):
        check_dense(block, self.path)


def read_header(text, path):
    """Read an open ARFF text up to the first line of its data.

    Returns
    -------
    attributes : tuple of Attribute
        All columns, the class among them.
    lines : int
        Lines read.

    Raises
    ------
    DataError
        If there is no ``@data``, no attribute, or one that is neither numeric nor nominal.
    """
    header = []
    for line in text:
        header.append(_NAME.sub(r"\1'\2'", line))  # SciPy knows single quotes only
        if line.strip().lower() == "@data":
            break
    else:
        raise DataError(f"{path}: an ARFF file needs a line @data, none found")
    for number, line in enumerate(header, 1):
        if line.split()[:1] and line.split()[0].lower() == "@attribute":
            _check(line, number, path)
    try:
        # SciPy reads data as a whole and without line numbers, so it is given the header alone.
        _, meta = arff.loadarff(io.StringIO("".join(header)))
    except (arff.ArffError, ValueError, NotImplementedError, StopIteration) as error:
        raise DataError(f"{path}: the ARFF header cannot be read: {error}") from error
    attributes = []
    for name in meta.names():
        kind, values = meta[name]
        if kind not in ("numeric", "nominal"):
            raise DataError(f"{path}: attribute {name!r} is of kind {kind}; "
                            "allowed are numeric (real, integer) and nominal")
        try:
            attributes.append(Attribute(_unquoted(name), kind,
                                        tuple(_unquoted(value.strip()).strip()
                                              for value in values or ())))
        except ValueError as error:
            raise DataError(f"{path}: {error}") from error
    return tuple(attributes), len(header)


def data_layout(path, lines):
    """How ARFF divides its data, of which these are the first lines: by one of its two quotes."""
    opened = Counter(quote for line in lines if not line.lstrip().startswith("%")
                     for quote in _QUOTE.findall(line))
    return Layout(path, ",", quote=max("'\"", key=opened.__getitem__), comment="%")


def check_dense(block, path):
    """Raise `DataError` if a line is in ARFF's sparse notation."""
    for number, line in zip(block.numbers, block.lines, strict=True):
        if line.startswith("{"):
            raise DataError(f"{path}, line {number}: sparse ARFF is not read; "
                            "write every value (Weka: SparseToNonSparse)")


def _check(line, number, path):
    words = fields_of(line, Layout(path, " ", quote="'"))
    kind = words[-1].lower() if words else ""
    if "{" not in line and kind in ("string", "relational"):
        raise DataError(f"{path}, line {number}: an attribute of kind {kind} cannot be learnt; "
                        "allowed are numeric (real, integer) and nominal")


def _unquoted(name):
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        return name[1:-1]
    return name

"""Streams from files: ARFF, delimited text and Parquet, plain or compressed; and generators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..warn import warn
from ..words import counted, ignored, listed
from .formats.arff import ArffSource
from .formats.delimited import TextSource
from .formats.files import File
from .formats.kafka import TopicSource, is_topic
from .formats.parquet import JsonSource, ParquetSource
from .generators import PREFIX
from .generators.source import GeneratorSource
from .schema import Attribute, DataError, Schema

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..hints import Path
    from .formats.sources import Source

    Columns: TypeAlias = Sequence[str | int] | str  # by name or index

_COLUMNAR = dict.fromkeys((".parquet", ".pq"), ParquetSource) | dict.fromkeys(
    (".jsonl", ".ndjson", ".json"), JsonSource
)


class Stream:
    """The instances of a file, chunk by chunk.

    Every iteration starts from the beginning; a pipe's raises `DataError` unless it is the first.

    Iteration yields ``(X, y)``: a `pandas.DataFrame` of the attributes, numeric ones as float64
    with NaN for missing, nominal ones as categories if their values are declared and as strings if
    they are not (the next chunk may have others), and a numpy array of class labels, strings.
    Nothing of a chunk with an error in it is handed out.

    Members
    -------
    path : str
        The file, or the generator's name.
    schema : Schema
        Its attributes and class.
    chunk : int
        Most instances in a chunk.
    once : bool
        Whether it is not read beforehand: it comes through a pipe, which is iterated once only, or from a topic.
    source : Source
        What it comes from; a topic's tells and takes its ``position``.
    len_hint : int or None
        The number of instances where a generator or Parquet tells it, or all were read once.
    """

    def __init__(self, source: Source, schema: Schema, chunk: int, labels: str | None = "all") -> None:
        self.path = str(source.path)
        self.schema = schema
        self.chunk = chunk
        self.once = source.once
        self._numbers = {a.name for a in schema.attributes if a.kind == "numeric"}
        self.source = source
        source.check = self._check
        self.len_hint = source.rows
        self._labelled = labels

    def __repr__(self) -> str:
        label = f", class {self.schema.class_name!r}" if self._labelled else ""
        return f"<Stream {self.path}: {counted(len(self.schema.attributes), 'attribute')}{label}>"

    def __iter__(self) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
        names = list(self.schema.names)
        kinds = {
            name: pd.CategoricalDtype(list(values)) if values else object
            for name, values in self.schema.nominal.items()
        }
        kept = [*names, self.schema.class_name] if self._labelled else names
        total = 0
        for table, where in self.source.tables(self.chunk, kept, self._numbers):
            self._check(table, where)
            labels = np.full(len(table), None, object)
            if self._labelled:
                column = table[self.schema.class_name]
                labels = np.where(column.isna(), labels, column.to_numpy(object))
            total += len(labels)
            yield table[names].astype(kinds), labels
        if not total and not self.source.begun:
            raise DataError(f"{self.path}: no instance, the file has no data")
        self.len_hint = total

    def values(self, names: Iterable[str]) -> Iterator[tuple[int, dict[str, list]]]:
        """Go through the stream for the values of some nominal columns; the class may be one.

        Only these columns are read, so what is wrong in another is not found. Yields how many instances a chunk has,
        and by column a list of the distinct values in it.
        """
        for table, where in self.source.tables(self.chunk, list(names), set()):
            if self.schema.class_name in names:
                self._check_labelled(table, where)
            yield (
                len(table),
                {name: table[name].cat.remove_unused_categories().cat.categories.tolist() for name in names},
            )

    def _check(self, table, where):
        if self._labelled:
            self._check_labelled(table, where)
            if self.schema.classes:
                _check_declared(table[self.schema.class_name], self.schema.classes, where)
        for attribute in self.schema.attributes:
            if attribute.values:
                _check_declared(table[attribute.name], attribute.values, where)

    def _check_labelled(self, table, where):
        absent = table[self.schema.class_name].isna()
        if self._labelled == "all" and absent.any():
            row = int(absent.to_numpy().argmax())
            raise DataError(
                f"{where(row)}: the class {self.schema.class_name!r} is missing; every instance needs a label"
            )


def open_stream(
    path: Path,
    *,
    class_name: str | int | None = None,
    nominal: Columns = (),
    numeric: Columns = (),
    ignore: Columns = (),
    classes: Iterable[Any] | None = None,
    header: str | bool = "auto",
    names: Iterable[str] | None = None,
    decimal: str = ".",
    member: str | None = None,
    unlabelled: bool = False,
    chunk: int = 65536,
) -> Stream:
    """Open a file as a stream of instances.

    The suffix tells the format: ``.arff``, ``.parquet`` or ``.pq``, ``.jsonl``, ``.ndjson`` or ``.json``; anything
    else is delimited text, comma, tab, semicolon or bar, one instance per line. Each may be compressed, ``.gz`` or
    ``.zip``. Missing is ``?`` or an empty field, in a numeric column also what pandas takes for it, as ``NA`` and
    ``null``. Dates and times as ISO 8601 has them are seconds.

    Parameters
    ----------
    path : str or Path
        The file, ``-`` for standard input, ``generator:NAME,option=value,...`` as in `open_generator`, or
        ``kafka://broker:9092/topic`` of JSON messages. Standard input, FIFOs and devices are read once: CSV or ARFF,
        plain or compressed by gzip. Kinds are inferred from one chunk of them at most.
    class_name : str, int or False
        The class column, by name or index; the last by default. False: there is none, every column
        is an attribute, and labels come out as None. Parquet columns that pandas wrote as a frame's
        index are left out.
    nominal, numeric : sequences of str or int
        Kinds of columns that are not to be inferred from the first 10,000 rows.
    ignore : sequence of str or int
        Columns to leave out.
    classes : sequence
        The labels allowed; undeclared ones raise. Default: what ARFF declares, else any.
    header : "auto", True or False
        Whether the first line of a delimited text names the columns.
    names : sequence of str
        The columns' names, where the file has none or others are wanted.
    decimal : "." or ","
        The decimal mark of the numbers in a delimited text.
    member : str
        The file of a zip archive that holds the data, if there are several.
    unlabelled : bool
        Whether instances may lack a label, which is None then.
    chunk : int
        Most instances per chunk, at least 1.

    Returns
    -------
    Stream

    Raises
    ------
    DataError
        If the file cannot be understood, here or while iterating; the message names file, line
        and column and says what is allowed.
    ValueError
        If an option is out of its range.
    OSError
        If the file cannot be read.
    """
    known = (class_name,) if isinstance(class_name, str) and not _is_index(class_name) else ()
    source = open_source(path, header=header, known=known, names=names, decimal=decimal, member=member, chunk=chunk)
    return stream_of(
        source,
        class_name=class_name,
        nominal=nominal,
        numeric=numeric,
        ignore=ignore,
        classes=classes,
        unlabelled=unlabelled,
        chunk=chunk,
    )


def open_source(path, *, header="auto", known=(), names=None, decimal=".", member=None, chunk=65536, expected=()):
    """Open a file in its format, a `Source`, without a choice among its columns yet; `stream_of` makes one.

    Parameters are those of `open_stream`. A line that holds one of the names ``known`` is a header; ``expected`` are
    the columns of a topic (Attributes), where a saved tree tells them.
    """
    _check_options(header, decimal, chunk)
    path = str(path)
    if path.startswith(PREFIX):
        source = GeneratorSource(path)
    elif is_topic(path):
        source = TopicSource(path, expected)
    elif (suffix := (path := File(path, member)).suffix) in _COLUMNAR:
        if path.once:
            raise path.refusal("Parquet" if _COLUMNAR[suffix] is ParquetSource else "JSON")
        source = _COLUMNAR[suffix](path)
    elif suffix == ".arff" or path.once and path.is_arff():
        source = ArffSource(path)
    else:
        source = TextSource(path, suffix, header, {*known, *(names or ())}, names is not None, decimal, chunk)
    if decimal != "." and not isinstance(source, TextSource):
        raise ValueError(f"{path}: decimal is for delimited text; other formats have a point")
    if names is not None:
        source.rename(names)
    return source


def _check_options(header, decimal, chunk):
    if header not in ("auto", True, False):
        raise ValueError(f'header must be "auto", True or False, not {header!r}')
    if not isinstance(chunk, int) or isinstance(chunk, bool) or chunk < 1:
        raise ValueError(f"chunk must be a positive integer, not {chunk!r}")
    if decimal not in (".", ","):
        raise ValueError(f'decimal must be "." or ",", not {decimal!r}')


def stream_of(
    source, *, class_name=None, nominal=(), numeric=(), ignore=(), classes=None, unlabelled=False, chunk=65536
):
    """The `Stream` of an open source; parameters and errors as those of `open_stream`."""
    path = source.path
    if class_name is not False and len(source.columns) < 2:
        raise DataError(
            f"{path}: an attribute and a class are needed, but there is one column "
            "only; a text's fields are divided by comma, tab, semicolon or bar"
        )
    key = len(source.columns) - 1 if class_name is None else class_name
    label = None if class_name is False else _index(source, key, "the class column")
    chosen = {kind: _indices(source, keys, kind) for kind, keys in (("nominal", nominal), ("numeric", numeric))}
    if both := chosen["nominal"] & chosen["numeric"]:
        raise ValueError(f"column {source.columns[min(both)]!r} is declared nominal and numeric")
    ignore = (ignore,) if isinstance(ignore, str) else ignore
    dropped = _indices(source, [key for key in ignore if key not in source.index], "ignored")
    if label in dropped:
        raise ValueError(f"the class column {source.columns[label]!r} is ignored")
    attributes = _attributes(source, label, chosen, dropped)
    if label is None:  # a name that no attribute has
        unused = "class" + " " * max((len(a.name) for a in attributes), default=0)
        return Stream(source, Schema(attributes, unused), chunk, labels=None)
    classes = source.attributes[label].values if classes is None else classes
    schema = Schema(attributes, source.columns[label], tuple(map(str, classes)))
    return Stream(source, schema, chunk, labels="some" if unlabelled else "all")


def _attributes(source, label, chosen, dropped):
    """The attributes that are not the class nor ignored; DataError if one of all, or the class, cannot be read."""
    attributes, refused, times = [], {}, []
    for i, attribute in enumerate(source.attributes):
        if i in dropped:
            continue
        declared = next((kind for kind, columns in chosen.items() if i in columns), None)
        if reason := source.refusal(i, i == label or declared == "nominal"):
            refused[attribute.name] = reason
        if i == label:
            continue
        if declared is None and i in source.times:
            times.append(attribute.name)
        elif declared not in (None, attribute.kind):
            attribute = Attribute(attribute.name, declared)
        attributes.append(attribute)
    if refused:
        first, *others = refused
        also = f"; refused are {listed(map(repr, others))}, too: {ignored(refused)} leaves out all" if others else ""
        raise DataError(refused[first] + also)
    if times:
        warn(
            f"{source.path}: dates and times are read as seconds, dates as those since 1970 in UTC: "
            f"{listed(map(repr, times))}; {ignored(times)} leaves them out, --nominal takes their words"
        )
    return tuple(attributes)


def _index(source, key, what):
    """A column's index, by its name or index; ``what`` it is to be."""
    names = source.columns
    if key in names:
        return names.index(key)
    at = int(key) if _is_index(key) else key
    if isinstance(at, (int, np.integer)) and not isinstance(at, bool) and -len(names) <= at < len(names):
        return int(at) % len(names)
    left_out = "; the index of the data frame is left out (frame.reset_index() makes it columns)"
    raise DataError(
        f"{source.path}: {what} {at!r} is unknown; the columns are {', '.join(names)} (0 to {len(names) - 1})"
        + left_out * (key in source.index)
    )


def _indices(source, keys, kind):
    keys = (keys,) if isinstance(keys, str) else keys
    return {_index(source, key, f"the {kind} column") for key in keys}


def _is_index(key):
    """Whether a word is a number, as a command line names a column's index."""
    return isinstance(key, str) and key.removeprefix("-").isdecimal()


def _check_declared(column, values, where):
    known = column.cat.categories.isin(values)
    if known.all():
        return
    codes = column.cat.codes.to_numpy()
    bad = (codes >= 0) & ~known[codes]
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"{where(row)}, column {column.name!r}: {column.iloc[row]!r} is not declared; allowed are {listed(values)}"
        )

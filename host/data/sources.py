"""The file formats: what columns a file has, and its rows as checked tables."""

from itertools import islice
from os.path import getsize

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from . import arff
from .files import open_binary, open_text
from .schema import Attribute, DataError
from .text import MISSING_NUMBERS, Layout, blocks, fields_of, is_number, parse, sniff

__all__ = ["ArffSource", "ParquetSource", "TextSource"]

HEAD = 10_000  # rows from which the kinds of undeclared columns are inferred
_COUNTED = 4 << 20  # bytes of a file whose rows are counted for a progress bar


class Source:
    """What the formats have in common.

    Members
    -------
    attributes : tuple of Attribute
        One for every column of the file, the class among them.
    count() : int or None
        The number of rows if it is known cheaply.
    tables(chunk, kept, numeric) : iterator of (pandas.DataFrame, function)
        The columns ``kept``, those in the set ``numeric`` as float64, the others as categories of
        strings; the function names the place of a row of the table.
    """

    @property
    def columns(self):
        """The columns' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    def rename(self, names):
        """Give the columns other names."""
        names = tuple(names)
        if len(names) != len(self.attributes):
            raise DataError(f"{self.path}: {len(names)} names, but {len(self.attributes)} columns")
        self._unique(names, self.path)
        self.attributes = tuple(Attribute(name, a.kind, a.values)
                                for name, a in zip(names, self.attributes, strict=True))

    @staticmethod
    def _unique(names, place):
        seen = set()
        for name in names:
            if name in seen:
                raise DataError(f"{place}: column {name!r} is named twice")
            if not name:
                raise DataError(f"{place}: column {len(seen)} has no name")
            seen.add(name)


class LineSource(Source):
    """A format with one instance per line: ``layout`` divides it, ``skipped`` lines precede."""

    def count(self):
        """Lines of data; blank ones count, so it is a hint."""
        if getsize(self.path) > _COUNTED:
            return None
        total, last = 0, b"\n"
        with open_binary(self.path) as file:
            while piece := file.read(1 << 20):
                total += piece.count(b"\n")
                last = piece[-1:]
        return max(0, total + (last != b"\n") - self.skipped)

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` lines at a time."""
        with open_text(self.path) as text:
            for _ in islice(text, self.skipped):
                pass
            for block in blocks(text, self.layout, chunk, self.skipped + 1):
                self._check(block)
                table = parse(block, self.layout, self.columns, kept, numeric)
                yield table, lambda row, block=block: f"{self.path}, line {block.numbers[row]}"

    def _check(self, block):
        pass


class ArffSource(LineSource):
    """Weka's format: columns are declared, data are delimited text."""

    def __init__(self, path):
        self.path = path
        with open_text(path) as text:
            self.attributes, self.skipped = arff.read_header(text, path)
            self.layout = arff.data_layout(path, islice(text, HEAD))

    def _check(self, block):
        arff.check_dense(block, self.path)


class TextSource(LineSource):
    """Delimited text; what is not said about its columns is inferred from the head."""

    def __init__(self, path, suffix, header, known):
        self.path = path
        self.layout = Layout(path, "\t" if suffix in (".tsv", ".tab") else ",")
        with open_text(path) as text:
            lines = list(islice(text, HEAD + 1))
        if any("\0" in line for line in lines[:100]):
            raise DataError(f"{path}: not a text; allowed are ARFF, CSV, TSV and Parquet, "
                            "also as .gz and .zip")
        head = next(blocks(iter(lines), self.layout, HEAD + 1), None)
        if head is None:
            raise DataError(f"{path}: the file is empty")
        if self.layout.delimiter != "\t":
            self.layout.delimiter = sniff(head.lines[:100])
        rows = [fields_of(line, self.layout) for line in head.lines]
        width, first = len(rows[0]), f"{path}, line {head.numbers[0]}"
        if header is True or header == "auto" and _is_header(rows, known):
            self.skipped = head.numbers[0]
            columns = rows.pop(0)
            self._unique(columns, first)
            if not rows:
                raise DataError(f"{path}: no instance, the file has a header only")
        else:
            self.skipped = 0
            columns = [f"x{i}" for i in range(width - 1)] + ["class"]
        rows = [row for row in rows if len(row) == width]
        self.attributes = tuple(
            Attribute(name, "numeric" if _numeric(row[i] for row in rows) else "nominal")
            for i, name in enumerate(columns))


class ParquetSource(Source):
    """A Parquet file; its columns' types tell their kinds."""

    def __init__(self, path):
        self.path = path
        with self._open() as file:
            fields = list(file.schema_arrow)
            self.rows = file.metadata.num_rows
        self.fields = [field.name for field in fields]
        self._unique(self.fields, path)
        for field in fields:
            if pa.types.is_nested(field.type):
                raise DataError(f"{path}: column {field.name!r} holds {field.type}; a column holds "
                                "numbers, strings or truth values")
        self.attributes = tuple(Attribute(field.name, _kind(field.type)) for field in fields)

    def count(self):
        """The rows, from the file's own metadata."""
        return self.rows

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` rows at a time."""
        stored = dict(zip(self.columns, self.fields, strict=True))
        done = 0
        with self._open() as file:
            for batch in file.iter_batches(chunk, columns=[stored[name] for name in kept]):
                def where(row, start=done):
                    return f"{self.path}, row {start + row}"

                yield pd.DataFrame({
                    name: self._column(batch.column(batch.schema.get_field_index(stored[name])),
                                       name, name in numeric, where)
                    for name in kept}), where
                done += len(batch)

    def _column(self, column, name, numeric, where):
        if not numeric:
            return _categories(column)
        if _kind(column.type) == "nominal":
            column = column.cast(pa.string()) if not pa.types.is_dictionary(column.type) \
                else column.dictionary_decode().cast(pa.string())
            texts = column.to_pylist()
            for row, field in enumerate(texts):
                if field is not None and field.strip() not in MISSING_NUMBERS \
                        and not is_number(field):
                    self._refuse(field, name, where(row))
            values = np.array([np.nan if field is None or field.strip() in MISSING_NUMBERS
                               else float(field) for field in texts], np.float64)
        else:
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            self._refuse(values[row], name, where(row))
        return values

    @staticmethod
    def _refuse(value, name, place):
        raise DataError(f"{place}, column {name!r}: {value!s} is not a finite number; allowed "
                        "are finite numbers and, for a missing value, null or NaN")

    def _open(self):
        return _Parquet(self.path)


class _Parquet:
    """A Parquet file, read into memory first if it is compressed, since it is not sequential."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        try:
            source = self.path
            if self.path.lower().endswith((".gz", ".zip")):
                with open_binary(self.path) as file:
                    source = pa.BufferReader(file.read())
            self.file = parquet.ParquetFile(source)
        except pa.ArrowInvalid as error:
            raise DataError(f"{self.path}: not a Parquet file ({error})") from error
        return self.file

    def __exit__(self, kind, error, trace):
        self.file.close()
        if isinstance(error, pa.ArrowException | OSError):
            raise DataError(f"{self.path}: the Parquet data are damaged ({error})") from error


def _kind(kind):
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return "numeric" if number else "nominal"


def _categories(column):
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        # NaN is a missing value here too, and 1.0 is the label "1" that a text would have.
        whole = pd.Series(column.to_pandas(), dtype=object)
        texts = [None if v is None or v != v else str(int(v)) if float(v).is_integer() else str(v)
                 for v in whole]
        return pd.Categorical(texts)
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())  # of integers with nulls pandas would make floats
    codes, values = pd.factorize(column.to_pandas())
    values = [str(value) for value in values]
    missing = [i for i, value in enumerate(values) if value in ("", "?")]
    codes = np.where(np.isin(codes, missing), -1, codes)
    return pd.Categorical.from_codes(codes, values).remove_unused_categories()


def _numeric(fields):
    return all(field in MISSING_NUMBERS or is_number(field) for field in fields)


def _is_header(rows, known):
    """Names stand above the data if they are distinct words and some column is of numbers."""
    names, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if known & set(names):
        return True
    # An empty name is no number: pandas writes one above its index, and it is refused as such.
    if len(set(names)) < len(names) or any(name and _numeric((name,)) for name in names):
        return False
    if not body:
        return True
    columns = list(zip(*body, strict=True))
    return any(map(_numeric, columns)) \
        or not any(name in column for name, column in zip(names, columns, strict=True))

"""Parquet files, and JSON by the line: their columns' types tell the kinds."""

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import json as arrow_json
from pyarrow import parquet

from ..schema import Attribute, DataError
from ..times import seconds
from .sources import Source
from .text import number_of

# Plain bytes are what some programs write for texts.
_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "bool")


class ParquetSource(Source):
    """A Parquet file, or one of JSON by the line; its columns' types tell their kinds.

    What pandas' metadata call the index of its frame is no column, as pandas has it.
    """

    def __init__(self, path):
        self.path = path
        with self._opened() as file:
            schema = file.schema_arrow
            self.rows = file.metadata.num_rows
        self._unique(schema.names, path)
        kept = set(_index(schema.metadata))
        self.index = tuple(name for name in schema.names if name in kept)
        self.attributes, self.refusals, self._fields = (), {}, []
        for field in schema:
            if field.name not in kept:
                self._add(field.name, field.type)
        if not self.attributes:
            index = f", but the index of a pandas frame ({', '.join(self.index)})" if self.index else ""
            raise DataError(f"{path}: no column{index}")

    def _add(self, name, kind):
        """Add a column of an Arrow type; it says which kind it is."""
        index, learnt = len(self.attributes), _kind(kind)
        if pa.types.is_temporal(kind):
            self.times += (index,)
        if learnt is None:
            why = f"it holds {kind}; allowed are numbers, strings and truth values"
            self.refusals[index] = str(self.path), why, False
        self.attributes += (Attribute(name, learnt or "nominal"),)
        self._fields.append(name)

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` rows at a time."""
        stored = {name: field for name, field in zip(self.columns, self._fields, strict=True) if name in kept}
        done = 0
        with self._opened() as file:
            for batch in file.iter_batches(chunk, columns=list(stored.values())):

                def where(row, start=done):
                    return f"{self.path}, row {start + row}"

                yield self._frame({name: batch.column(field) for name, field in stored.items()}, numeric, where), where
                done += len(batch)

    def _frame(self, columns, numeric, where):
        """A table of Arrow columns by name."""
        table = {name: self._column(column, name, name in numeric, where) for name, column in columns.items()}
        return pd.DataFrame(table)

    def _column(self, column, name, numeric, where):
        if not numeric:
            return pd.Categorical.from_codes(*self._words(column, name, where)).remove_unused_categories()
        if pa.types.is_temporal(column.type):
            return seconds(column.to_pandas(date_as_object=False))
        if _kind(column.type) == "numeric" or pa.types.is_boolean(column.type):
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            codes, words = self._words(column, name, where)
            values = np.array([*(number_of(word.strip()) for word in words), np.nan])[codes]  # the last: missing words
        if (infinite := np.isinf(values)).any():
            row = int(infinite.argmax())
            raise DataError(
                f"{where(row)}, column {name!r}: {_word(column.to_pandas()[row])} is not a finite number; allowed "
                "are finite numbers and, for a missing value, null or NaN"
            )
        return values

    @staticmethod
    def _words(column, name, where):
        """A column as codes, -1 for missing, and the words that they stand for."""
        if pa.types.is_integer(column.type):
            column = column.cast(pa.string())  # of integers with nulls pandas would make floats
        elif pa.types.is_float16(column.type):
            column = column.cast(pa.float32())  # pandas finds no distinct ones among these
        codes, values = pd.factorize(column.to_pandas())
        try:
            words = [_word(value) for value in values]
        except UnicodeDecodeError as error:
            row = codes.tolist().index(list(values).index(error.object))
            raise DataError(
                f"{where(row)}, column {name!r}: the bytes {error.object!r} are no text in UTF-8; leave the column out "
                f"with ignore=[{name!r}] (--ignore)"
            ) from error
        distinct, words = pd.factorize(np.array(words, object))
        return np.append(distinct, -1)[codes], words

    @contextmanager
    def _opened(self):
        # By its name Arrow opens only what is named in UTF-8, and it does not begin with its beginning.
        with self.path.open() as file, _explained(self.path, "not a Parquet file, or a damaged one"):
            with parquet.ParquetFile(pa.BufferReader(file.read()) if self.path.packing else file) as source:
                yield source


class JsonSource(ParquetSource):
    """JSON, an object on each line: Arrow reads it whole, and its types tell the kinds."""

    def __init__(self, path):
        sink = pa.BufferOutputStream()
        with path.open() as file, _explained(path, "not JSON with an object on each line"):
            table = arrow_json.read_json(file)
            table.validate(full=True)
            parquet.write_table(table, sink)
        self._data = sink.getvalue()
        super().__init__(path)

    @contextmanager
    def _opened(self):
        with parquet.ParquetFile(pa.BufferReader(self._data)) as file:
            yield file


@contextmanager
def _explained(path, what):
    """Arrow's errors as `DataError` of one line."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's own
            raise
        raise DataError(f"{path}: {what} ({' '.join(str(error).split())})") from error


def _kind(kind):
    """What a column of an Arrow type is, None if it is not learnt from."""
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type) and "nominal"
    interval = getattr(kind, "extension_name", None) == "pandas.interval"
    if interval or str(kind) in _TEXTS or pa.types.is_fixed_size_binary(kind):
        return "nominal"
    numeric = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    return "numeric" if numeric else None


def _word(value):
    """A value, which is there, as the word that a text would have; None for one that a text takes for missing."""
    if isinstance(value, bytes):
        value = value.decode()
    elif isinstance(value, float | np.floating):
        value = int(value) if float(value).is_integer() else float(value)
    return None if value in ("", "?") else str(value)


def _index(metadata):
    """The columns that pandas' metadata call the index; none if another library wrote the file."""
    try:
        levels = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return [level for level in levels if isinstance(level, str)]  # a range is no column
    except (KeyError, TypeError, ValueError):
        return []

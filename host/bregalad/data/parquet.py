"""Parquet files: their columns' types tell the kinds."""

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from .files import open_binary
from .schema import Attribute, DataError
from .sources import Source
from .text import MISSING_NUMBERS, is_number

__all__ = ["ParquetSource"]


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

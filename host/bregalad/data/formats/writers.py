"""Streams to files: ARFF, CSV and Parquet."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from ...files import replacing
from ..schema import Attribute
from .arff import quoted
from .files import File

if TYPE_CHECKING:
    from ...hints import Path
    from ..generators import Generator
    from ..readers import Stream

__all__ = ["check_writable", "write_stream"]

_FORMATS = {"": (".arff", ".csv", ".tsv", ".parquet", ".pq"), ".gz": (".arff", ".csv", ".tsv"), ".zip": ()}


def check_writable(path: Path) -> None:
    """Raise ValueError if the file's name tells no format that can be written."""
    file = File(str(path))
    if file.suffix not in _FORMATS[file.packing]:
        raise ValueError(f"{path}: streams are written as .arff, .csv, .tsv (each also as .gz), .parquet or .pq")


def write_stream(
    stream: Stream | Generator, path: Path, *, limit: int | None = None, progress: Callable[[int], object] | None = None
) -> int:
    """Write a stream's instances to a file, a chunk at a time; `open_stream` reads it again.

    Parameters
    ----------
    stream : Stream or Generator
    path : str or Path
        Its suffix tells the format: .arff, .csv, .tsv (each also as .gz), .parquet or .pq.
    limit : int, optional
        Instances to stop after.
    progress : callable, optional
        Called with the number of instances after every chunk.

    Returns
    -------
    int
        Instances written.

    Raises
    ------
    ValueError
        If the format is none of these, or ARFF is asked for and a nominal attribute, or the
        class, does not declare its values; or a word would not be read again as it is: ``?``
        and, but in ARFF, an empty one, in delimited text also one with a line break in it or
        blanks around it.
    OSError
        If the file cannot be written.
    """
    check_writable(path)
    suffix = File(str(path)).suffix
    if suffix == ".arff":
        header = _arff_header(stream.schema)
    nominal = {*stream.schema.nominal, stream.schema.class_name}
    _check_words([*stream.schema.names, stream.schema.class_name], suffix)
    done, writer = 0, None
    packed = str(path).lower().endswith(".gz")
    with (
        replacing(path, "wb") as plain,
        gzip.GzipFile(str(path), "wb", 6, plain) if packed else nullcontext(plain) as file,
    ):
        if suffix == ".arff":
            file.write(header.encode())
        for X, y in stream:
            left = None if limit is None else limit - done
            X, y = X[:left], y[:left]
            table = X.assign(**{stream.schema.class_name: y})
            for name in nominal:
                _check_words(table[name].dropna().unique(), suffix)
            if suffix in (".parquet", ".pq"):
                types = pa.schema([(name, pa.string() if name in nominal else pa.float64()) for name in table])
                writer = writer or parquet.ParquetWriter(file, types)
                writer.write_table(pa.Table.from_pandas(table, types, preserve_index=False))
            elif suffix == ".arff":
                columns = [_fields(table[name], name in nominal) for name in table]
                file.writelines((",".join(row) + "\n").encode() for row in zip(*columns, strict=True))
            else:
                divider = "\t" if suffix == ".tsv" else ","
                text = table.to_csv(index=False, header=not done, na_rep="?", sep=divider, lineterminator="\n")
                file.write(text.encode())
            done += len(y)
            if progress is not None:
                progress(len(y))
            if done == limit:
                break
        if writer is not None:
            writer.close()
    return done


def _check_words(words, suffix):
    """Raise ValueError at a word that the readers take for another or a missing one."""
    for word in map(str, words):
        if (
            word == "?"
            or suffix != ".arff"
            and not word
            or suffix in (".csv", ".tsv")
            and (word != word.strip() or set(word) & set("\n\r\0"))
        ):
            raise ValueError(
                f"{suffix} cannot hold {word!r}: it is read as another word or as missing; .arff holds all but ?"
            )


def _fields(column, nominal):
    """A column in ARFF's notation."""
    words = column.astype(object).map(quoted if nominal else repr, na_action="ignore")
    return words.where(column.notna(), "?")


def _arff_header(schema):
    lines = ["@relation stream"]
    for attribute in (*schema.attributes, Attribute(schema.class_name, "nominal", schema.classes)):
        if attribute.kind == "nominal" and not attribute.values:
            raise ValueError(
                f"ARFF declares the values of {attribute.name!r}, but this stream does not know them beforehand: write "
                ".csv or .parquet"
            )
        what = "{" + ",".join(map(quoted, attribute.values)) + "}" if attribute.values else "numeric"
        lines.append(f"@attribute {quoted(attribute.name)} {what}")
    return "\n".join([*lines, "@data", ""])

"""A generator in the place of a file."""

import pandas as pd

from ..formats.sources import Source
from ..schema import Attribute, DataError
from . import open_generator


class GeneratorSource(Source):
    """The columns of a generator, the class last; members as in `Source`."""

    def __init__(self, path):
        self.path = path
        self.generator = open_generator(path)
        self.rows = self.generator.len_hint
        schema = self.generator.schema
        self.attributes = (*schema.attributes, Attribute(schema.class_name, "nominal", schema.classes))

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` rows at a time."""
        schema, done = self.generator.schema, 0
        own = dict(zip(self.columns, (*schema.names, schema.class_name), strict=True))
        for X, y in self.generator.chunks(chunk):
            X[schema.class_name] = pd.Categorical(y, schema.classes)
            table = {name: self._column(X[own[name]], name, name in numeric) for name in kept}
            yield pd.DataFrame(table), lambda row, start=done + 1: f"{self.path}, instance {start + row}"
            done += len(y)

    def _column(self, column, name, numeric):
        if numeric == (column.dtype.kind == "f"):
            return column
        if numeric:
            raise DataError(f"{self.path}: column {name!r} holds words; it cannot be numeric")
        return pd.Categorical(column.to_numpy().astype(str))

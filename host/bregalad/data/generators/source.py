"""A generator in the place of a file."""

import pandas as pd

from ..formats.sources import Source
from ..schema import Attribute, DataError
from .catalogue import open_generator


class GeneratorSource(Source):
    """The columns of a generator, the class last; members as in `Source`."""

    def __init__(self, path):
        self.path = path
        self.generator = open_generator(path)
        schema = self.generator.schema
        self.attributes = (*schema.attributes, Attribute(schema.class_name, "nominal", schema.classes))

    def count(self):
        """The instances, if there is an end."""
        return self.generator.len_hint

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` rows at a time."""
        own = (*self.generator.schema.names, self.generator.schema.class_name)
        own = dict(zip(self.columns, own, strict=True))
        done = 0
        for X, y in self.generator.chunks(chunk):
            X[self.generator.schema.class_name] = pd.Categorical(y, self.generator.schema.classes)
            yield (
                pd.DataFrame({name: self._column(X[own[name]], name, name in numeric) for name in kept}),
                self._where(done),
            )
            done += len(y)

    def _where(self, start):
        return lambda row: f"{self.path}, instance {start + row + 1}"

    def _column(self, column, name, numeric):
        if numeric == (column.dtype.kind == "f"):
            return column
        if numeric:
            raise DataError(f"{self.path}: column {name!r} holds words; it cannot be numeric")
        return pd.Categorical(column.to_numpy().astype(str))

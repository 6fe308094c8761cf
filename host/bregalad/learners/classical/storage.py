"""Saved classical trees: their instances, of which the tree is built anew."""

import numpy as np

from ...data.quantiser import Quantiser
from ...data.schema import Schema
from ...estimator.saving import storage
from ...estimator.saving.contents import is_count
from ...geometry import MISSING
from ...words import shown
from .kernel import Data
from .tree import Tree

_TYPES = {"numbers": np.float64, "codes": np.uint8, "labels": np.int32}


def save(tree, path, kept):
    """Write a fitted ``ClassicalTree`` to ``path``, and entries of its description that are ``kept``."""
    instances = tree._tree.instances.data._asdict()
    meta = storage.described(tree, kept) | {"event_counts": tree._tree.event_counts}
    storage.write(path, meta, {f"kept_{name}": part for name, part in instances.items()})


def restored(cls, meta, arrays, changes):
    """The ``ClassicalTree`` of a description and arrays, with some parameters changed; errors as ``storage.load``."""
    with storage.of_the_file():
        params = storage.parameters_of(meta)
        cls(**params).check_parameters()
        empty = Quantiser(Schema.from_dict(meta["schema"])).sample.state()  # no tree of these has one
        members = storage.members_of(meta, empty)
        kept = _kept(arrays, members)
        event_counts = meta["event_counts"]
        if event_counts.keys() != Tree([], True).event_counts.keys() or not all(map(is_count, event_counts.values())):
            raise ValueError(f"the entry 'event_counts' is {shown(event_counts)}")
    tree = cls(**params | changes)
    tree.check_parameters()
    tree.__dict__.update(members)
    tree._made_with = tree._decisive()
    tree._check_attributes(tree.schema_)
    tree._check_classes(len(tree.classes_))
    tree._begin()
    if len(kept.labels):
        tree._take(kept)
    tree._tree.event_counts |= event_counts
    return tree


def _kept(arrays, members):
    """The instances, checked."""
    if set(arrays) != {f"kept_{name}" for name in _TYPES}:
        raise ValueError(f"its arrays are {sorted(arrays)}")
    kept = Data(**{name: np.ascontiguousarray(arrays[f"kept_{name}"]) for name in _TYPES})
    books = members["_quantiser"].books
    room = [len(book.values) for book in books if hasattr(book, "values")]
    count = len(kept.labels) if kept.labels.ndim else 0
    shapes = {"numbers": (len(books) - len(room), count), "codes": (count, len(room)), "labels": (count,)}
    for name, part in kept._asdict().items():
        if part.dtype != _TYPES[name] or part.shape != shapes[name]:
            raise ValueError(f"the array 'kept_{name}' has type {part.dtype} and shape {part.shape}")
    known = (kept.codes < np.array(room, np.int64)) | (kept.codes == MISSING)
    labels = (kept.labels >= 0) & (kept.labels < len(members["classes_"]))
    if np.isinf(kept.numbers).any() or not known.all() or not labels.all():
        raise ValueError("its instances have values or labels that there are not")
    return kept

"""Iterables as streams: of dicts, of instances with their labels, or of data frames with a class column."""

from collections.abc import Mapping
from itertools import chain, islice

import pandas as pd

from ..words import listed, shown
from .frames import as_pandas

_BATCH = 4096  # instances that come one by one are learnt together


def parts_of(stream, class_name, known):
    """Frames or arrays, each with its labels; ``known()`` tells the attributes that there are by now."""
    items = iter(stream)
    for item in items:
        pair = isinstance(item, tuple) and len(item) == 2
        if isinstance(item[0] if pair else item, Mapping):
            yield from _batch(chain([item], islice(items, _BATCH - 1)), class_name, pair, known)
        elif pair:
            yield item
        elif isinstance(frame := as_pandas(item), pd.DataFrame):
            yield _divided(frame, class_name)
        else:
            raise TypeError(f"a stream brings dicts, pairs of instances and labels, or data frames, not {shown(item)}")


def _batch(items, class_name, pair, known):
    """Dicts, or pairs of a dict and a label, as one part; of a stream that fails what it has brought, too."""
    instances, labels = [], []
    try:
        for item in items:
            x, *y = item if pair and isinstance(item, tuple) else [item]
            if not isinstance(x, Mapping) or len(y) != pair:
                raise TypeError(f"the stream has brought {'pairs' if pair else 'dicts'}, but then {shown(item)}")
            instances.append(x)
            labels += y
    finally:
        frame, names = pd.DataFrame(instances), list(known())
        frame = frame.reindex(columns=[*names, *(name for name in frame if name not in names)])  # absent is missing
        yield (frame, labels) if pair else _divided(frame, class_name)


def _divided(frame, class_name):
    if class_name not in frame:
        raise ValueError(f"class_name must be the class's key or column, one of {listed(frame)}, not {class_name!r}")
    return frame.drop(columns=class_name), frame[class_name]

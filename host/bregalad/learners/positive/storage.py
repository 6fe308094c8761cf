"""Saved learners of positive and unlabelled instances: the files of their trees in one."""

import numpy as np

from ...estimator.saving import storage

_OWN = ("geometry", "event_counts", "quantiser")  # entries of a tree's description that are its own


def save(learner, path, kept):
    """Write a fitted ``PositiveLearner`` to ``path``, and entries of its description that are ``kept``."""
    arrays, trees = {}, []
    for place, (level, tree) in enumerate(learner.trees_.items()):
        meta, columns = storage.contents(tree, kept)
        columns |= {f"sample_{name}": column for name, column in tree._quantiser.sample.state().items()}
        arrays |= {f"{place}_{name}": column for name, column in columns.items()}
        trees.append({name: meta[name] for name in _OWN} | {"level": level, "totals": tree.totals.tolist()})
    del meta["event_counts"]
    meta |= {"tree": type(learner).__name__, "params": meta["params"] | {"level": learner.level}, "trees": trees}
    storage.write(path, meta, arrays)


def restored(cls, meta, arrays, changes):
    """The ``PositiveLearner`` of a description and arrays, with some parameters changed; errors as ``storage.load``."""
    for name in ("level", "positive"):
        if name in changes:
            raise ValueError(f"{name} is what the saved trees have learnt with: leave it as it is")
    with storage.of_the_file():
        params = storage.checked_parameters(cls, meta)
        levels = cls(**params)._levels
        if [own["level"] for own in meta["trees"]] != list(levels):
            raise ValueError(f"its trees are not those of the levels {levels}")
        learnt = [
            _learnt(cls._kind(**params | {"level": level}), meta | own, storage.section(arrays, f"{place}_"))
            for place, (level, own) in enumerate(zip(levels, meta["trees"], strict=True))
        ]
    learner = cls(**params | changes)
    learner.check_parameters()
    trees = [
        storage.built(cls._kind, params | {"level": level}, each, changes)
        for level, each in zip(levels, learnt, strict=True)
    ]
    learner._keep(dict(zip(levels, trees, strict=True)))
    return learner


def _learnt(tree, meta, arrays):
    """What one of the trees has learnt, checked: its members."""
    members = storage.learnt_by(tree, meta, arrays)
    if tree.positive not in members["classes_"].tolist():
        raise ValueError(f"its classes are not of positive={tree.positive!r}")
    totals, memory, count = meta["totals"], members["_memory"], members["_event_counts"].instances
    known = np.bincount(memory.labels[:count], minlength=2).tolist() if memory is not None else totals
    if totals != known or [type(each) for each in totals] != [int, int] or min(totals) < 0:
        raise ValueError(f"the entry 'totals' is {totals}")
    if memory is None and sum(totals) != count:
        raise ValueError(f"of {count} instances it counts {totals}")
    tree.__dict__.update(members)
    tree._begin_totals(totals)
    return members | {"_totals": tree._totals}

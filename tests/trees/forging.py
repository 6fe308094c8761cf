"""Damage saved trees at random: bytes, arrays, entries; each loads to a tree that works, or not.

Run in a process of its own (a crash is a finding): ``python forging.py FOLDER SEED COUNT``. Prints
what came of it as a line of JSON.
"""

import json
import logging
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from bregalad import CVFDT, EFDT, HAT, ITI, VFDT, CTree, Geometry, PuuVFDT
from bregalad.ensemble import AdaptiveRandomForest, OnlineBagging, load_learner
from bregalad.estimator.saving import storage
from bregalad.estimator.saving.contents import digest_of

_CLASSES = 3


def data(count, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((count, 2)), rng.integers(0, 5, count), rng.integers(0, 20, count)])
    y = (X[:, 0] > 0.5) + ((X[:, 2] > 2) & (X[:, 1] > 0.3))
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, np.where(rng.random(count) < 0.1, rng.integers(0, _CLASSES, count), y)


def save_all(folder):
    """Trees of all kinds, and other learners, in files."""
    X, y = data(6000, 0)
    often = {"grace": 50, "nominal": [2, 3], "delta": 0.01}
    kinds = {"grace": 50, "delta": 0.01, "block": 60}
    small = Geometry(lanes=4, passes=3, bins=16, classes=4, slots=6, count_width=12)
    trees = (
        VFDT(leaf_prediction="nba", **often),
        VFDT(geometry=small, review_period=500, **often),  # halved counts, too few slots
        VFDT(nominal_split="one_vs_rest", adaptive_grace=True, bin_window="seen", **often),
        VFDT(ties="htat", **often),
        EFDT(leaf_prediction="nb", inner_grace=200, nominal_split="one_vs_rest", **often),
        EFDT(inner_grace=100, variant="moa", gain_average=True, **often),
        EFDT(inner_grace=100, variant="kdd2018", child_counts="zero", **often),
        CTree(scale=0.01),
    )
    others = (
        HAT(drift_delta=0.1, **kinds),
        CVFDT(window=1000, inner_grace=100, test_every=100, test_length=50, **kinds),
        PuuVFDT(level=0.5, positive="yes", **kinds),
        OnlineBagging(VFDT(**kinds), members=2),
        AdaptiveRandomForest(VFDT(**kinds), members=2, warning=0.2, drift=0.1),
    )
    instances = (trees, 6000), (others, 3000), ([ITI(nominal=[2])], 500)
    for number, (learner, count) in enumerate((each, count) for many, count in instances for each in many):
        labels = np.where(y > 0, "yes", "no") if isinstance(learner, CTree | PuuVFDT) else y
        learner.fit(X[:count], labels[:count])
        assert learner.report()["splits"]
        learner.save(folder / f"{number}")


def write(path, meta, arrays):
    """As `storage.write`, but quick: a file with a digest that is right."""
    arrays = {**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
    with path.open("wb") as file:
        np.savez(file, digest=np.frombuffer(digest_of(arrays), np.uint8), **arrays)


def damage_bytes(rng, whole):
    """Other bytes, fewer or more."""
    found = bytearray(whole)
    at = rng.randrange(len(found))
    match rng.randrange(5):
        case 0:
            for _ in range(rng.choice((1, 1, 1, 10, 100))):
                found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
        case 1:
            del found[at:]
        case 2:
            del found[at : at + rng.choice((1, 10, 1000))]
        case 3:
            found[at:at] = rng.randbytes(rng.choice((1, 10, 1000)))
        case 4:
            length = rng.choice((1, 10, 1000))
            found[at : at + length] = bytes(length)
    return bytes(found)


@np.errstate(all="ignore")
def forge_values(rng, flat, near):
    """One or some values that are extreme; or, if ``near``, one that is one more or less."""
    if near:
        flat[rng.randrange(len(flat))] += np.array(rng.choice((1, -1))).astype(flat.dtype)
        return
    extremes = (0, 1, -1, 2, 3, 5, 127, 255, 256, 65535, 1 << 20, 2**31 - 1, 1 << 32, 1 << 62, -(1 << 31), len(flat))
    for _ in range(rng.choice((1, 1, 3))):
        flat[rng.randrange(len(flat))] = np.array(rng.choice(extremes)).astype(flat.dtype)


def forge_array(rng, arrays):
    """Another value, order, type, shape or name."""
    name = rng.choice(sorted(arrays))
    array = arrays[name].copy()
    flat = array.reshape(-1)
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    match rng.randrange(13):
        case 0:
            array[...] = 0
        case 1 if array.ndim:
            numbers.shuffle(array)
        case 2 if array.ndim and len(array):
            array[rng.randrange(len(array))] = array[rng.randrange(len(array))]
        case 3:
            array = array.astype(rng.choice(("f4", "f8", "i1", "u8", "c16", "S3", "U2", "?", "i8", "M8[s]", ">i4")))
        case 4 if array.ndim:
            array = rng.choice(
                (
                    array[np.newaxis],
                    array[..., np.newaxis],
                    array.reshape(-1),
                    array[:0],
                    array[:-1],
                    np.concatenate([array, array]),
                    np.zeros((), array.dtype),
                    array.T,
                )
            )
        case 5 | 6 | 7 | 9 as what if len(flat):
            forge_values(rng, flat, near=what == 9)
        case 8 if array.dtype.kind == "f" and len(flat):
            flat[rng.randrange(len(flat))] = rng.choice((np.nan, np.inf, -np.inf, 1e300))
        case 10:
            arrays[f"{name}{rng.choice('x_')}"] = arrays.pop(name)
            return
        case 11:
            array = arrays[rng.choice(sorted(arrays))]
        case _:
            array[...] = numbers.integers(0, rng.choice((2, 10, 300)), array.shape)
    arrays[name] = array


def forge_entry(rng, meta):
    """Another value, type or name somewhere in the description."""
    at, key = meta, None
    while isinstance(at, dict | list) and len(at) and (key is None or rng.random() < 0.9):
        holder = at
        key = rng.choice(sorted(at)) if isinstance(at, dict) else rng.randrange(len(at))
        at = holder[key]
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(at, list):
            rng.shuffle(at)
        case 2 if isinstance(at, list) and at:
            at.append(rng.choice(at))
        case 3 if isinstance(at, int | float):
            holder[key] = at + rng.choice((1, -1, 1 << 10, 0.5))
        case 4 if isinstance(holder, dict):
            holder[f"{key}x"] = at
        case _:
            holder[key] = rng.choice(
                (
                    *(None, True, False, 0, 1, -1, 2, 3, 64, 255, 256, 1 << 31, 1 << 63, 10**30, 0.5, 1e308),
                    *(float("nan"), float("inf"), "", "x", "nba", "gini", "1", "<f8", "<U1", [], {}, [0], ["a"], [[]]),
                    *([["a", [1]]], {"a": 1}),
                )
            )


def use(tree, X, folder):
    """All that a tree is for."""
    tree.predict(X)
    shares = tree.predict_proba(X)
    assert shares.shape == (len(X), len(tree.classes_)) and (abs(shares.sum(axis=1) - 1) < 1e-6).all()
    labels = tree.classes_[np.arange(50) % len(tree.classes_)]
    if "class_weight" in tree.get_params():
        tree.set_params(class_weight=None)  # it may name classes of a fit to come
    tree.partial_fit(X[:50], labels)
    assert tree.report() and (not hasattr(tree, "draw") or tree.draw() and tree.to_graphviz())
    tree.save(folder / "again")
    try:
        load_learner(folder / "again").predict(X)
    except ValueError as error:
        # That a window's instances are others than nodes have counted comes out as they are forgotten.
        assert getattr(tree, "window", None) and "statistics do not add up" in str(error), str(error)


def attempt(rng, sources, folder):
    """Damage one file; what came of it."""
    path = folder / "forged"
    whole, (meta, arrays) = sources[rng.randrange(len(sources))]
    how = rng.choice(("bytes", "array", "array", "entry", "entry", "both"))
    if how == "bytes":
        path.write_bytes(damage_bytes(rng, whole))
    else:
        arrays, meta = dict(arrays), json.loads(json.dumps(meta))
        for _ in range(rng.choice((1, 1, 1, 2))):
            if how != "entry":
                forge_array(rng, arrays)
            if how != "array":
                forge_entry(rng, meta)
        write(path, meta, arrays)
    X, _ = data(60, rng.randrange(1000))
    try:
        try:
            tree = load_learner(path)
        except ValueError as error:
            assert str(path) in str(error) and "\n" not in str(error), str(error)
            return f"{how} refused"
        use(tree, X, folder)
    except MemoryError:
        return f"{how} too large"
    return f"{how} works"


def main(folder, seed, count):
    """Damage so many files; JSON with how often what came of it."""
    warnings.simplefilter("ignore")
    logging.disable()  # of boards that are named, and of what is compiled
    folder = Path(folder)
    sources = [(path.read_bytes(), storage.read(path)) for path in sorted(folder.glob("[0-9]*"))]
    found = Counter()
    with (folder / "seed").open("w") as last:
        for number in range(seed, seed + count):
            last.seek(0)
            last.write(f"{number}\n")
            last.flush()
            try:
                found[attempt(random.Random(number), sources, folder)] += 1
            except Exception as error:
                print(f"seed {number}: {type(error).__name__}: {error}", file=sys.stderr)
                found["wrong"] += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

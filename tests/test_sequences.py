"""Learners of all kinds, saved, copied, pickled, mapped or closed after every chunk: as one that is left alone.

As many as are wanted: ``SEQUENCES=2000 python -m pytest -m slow -s tests/test_sequences.py``.
"""

import copy
import os
import pickle
import random
import warnings
from collections import Counter

import joblib
import numpy as np
import pandas as pd
import pytest
from bregalad.ensemble.bagging import ENSEMBLES, load_learner
from bregalad.learners.catalogue import CLASSICAL, POSITIVE, TREES

# Each value of these is the same compiled code.
_TREE = {
    "grace": (20, 50),
    "inner_grace": (60, 200),
    "delta": (1e-7, 1e-2),
    "tau": (0.05, 0.3, 1.0),
    "scale": (0.005, 0.05),
    "block": (1, 1, 7, 60, 400, 1 / 32),
    "bin_window": ("path", "seen"),
    "child_counts": ("inherit", "zero"),
    "nominal_split": ("multiway", "one_vs_rest"),
    "same_attribute": ("keep", "replace"),
    "max_depth": (None, 2),
    "slots": (12, 64, 1024),
    "review_period": (300, 20_000),
    "nominal_values": (2, 64),
    "class_weight": (None, None, {"p": 1.5, "q": 0.7}),
    "adaptive_grace": (False, True),
    "window": (400, 1000),
    "test_every": (60, 200),
    "test_length": (20, 60),
    "switch_width": (50, 300),
    "drift_delta": (0.002, 0.2),
    "leaf_alternates": (False, True),
    "level": (0.5,),
}
_FOREST = {
    "members": (1, 3),
    "rate": (1.0, 6.0),
    "seed": (1, 2),
    "attributes": (0.4, 0.6),
    "drift": (0.001, 0.3),
    "warning": (0.01, 0.5),
    "weighted": (True, False),
}
_KINDS = TREES | CLASSICAL | POSITIVE | ENSEMBLES


def made(rng, name):
    """A learner that has learnt nothing, with some parameters at random."""
    kind = _KINDS[name]
    if name in ENSEMBLES:
        tree = made(rng, "vfdt").set_params(nominal_split="multiway")
        return kind(tree, **_drawn(rng, kind, _FOREST) | {"members": rng.choice((1, 3))})
    given = _drawn(rng, kind, _TREE) | ({"positive": "p"} if name in POSITIVE else {})
    if name == "ctree":
        given["nominal_split"] = "one_vs_rest"  # the other takes numbers only
    return kind(**given)


def _drawn(rng, kind, options):
    known = sorted(set(options) & set(kind._get_param_names()))
    given = {name: rng.choice(options[name]) for name in known if rng.random() < 0.6 or name == "level"}
    if "window" in known:  # no shorter than the others, and than the stream
        given |= {"window": rng.choice(options["window"]), "inner_grace": 60, "grace": 20}
    return given


def stream(seed, count, nominal):
    """Numbers whose range moves, a nominal attribute, values missing, and labels that come to depend on others."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(count, 3)) + np.outer(np.arange(count) / 300, [1, 0, -1]), columns=list("abc"))
    X["k"] = rng.choice(list("uvw"), count)
    late = np.arange(count) >= count // 2
    y = np.where(late, X["b"] > 0.3, (X["a"] - np.arange(count) / 300 > 0) ^ (X["k"] == "u"))
    y ^= rng.random(count) < 0.1
    if nominal:  # all of them, none missing
        X = X.assign(**{name: np.digitize(X[name], [-1, 0, 1]).astype(str) for name in "abc"})
    else:
        X = X.mask(rng.random(X.shape) < 0.02)
    return X, np.where(y, "p", "q")


def learnt(tree, X, y, how, weights):
    """Learn a chunk in one of several ways; what that has answered."""
    if how == "one" and hasattr(tree, "learn_one") and hasattr(tree, "classes_"):
        for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
            tree.learn_one({name: value for name, value in row.items() if value == value}, label)
        return None
    if how == "weights" and not isinstance(tree, tuple(POSITIVE.values())):
        tree.partial_fit(X, y, ["p", "q"], sample_weight=weights)
        return None
    if how == "test" and getattr(tree, "class_weight", None) is None:
        return tree.test_then_train(X, y, ["p", "q"]).tolist()
    tree.partial_fit(X, y, ["p", "q"])
    return None


def broken(rng, tree, folder):
    """The same learner after something that must make no difference; and what that was."""
    what = rng.choice(("saved", "saved", "copied", "pickled", "mapped", "closed", "left alone"))
    if what == "saved":
        tree.save(folder / "learner")
        return load_learner(folder / "learner"), what
    if what == "copied":
        return copy.deepcopy(tree), what
    if what == "pickled":
        return pickle.loads(pickle.dumps(tree)), what
    if what == "mapped":
        joblib.dump(tree, folder / "mapped")
        mapped = joblib.load(folder / "mapped", mmap_mode="r")
        (folder / "mapped").unlink()  # what is still mapped must not be written over
        return mapped, what
    if what == "closed" and hasattr(tree, "close"):
        tree.close()
    return tree, what


def difference(one, other, X):
    """What tells two learners apart, None: nothing."""
    if one.report() != other.report():
        return f"report() is {one.report()}, not {other.report()}"
    if not (one.predict(X) == other.predict(X)).all():
        return "predict"
    if not (one.predict_proba(X) == other.predict_proba(X)).all():
        return "predict_proba"
    if hasattr(one, "draw") and one.draw() != other.draw():
        return f"draw() is\n{one.draw()}\nnot\n{other.draw()}"
    return None


def sequence(seed, name, folder, found):
    """One learner, and a twin that is left alone; counts what was done."""
    rng = random.Random(seed)
    tree, twin = made(random.Random(seed), name), made(random.Random(seed), name)
    told = [f"seed {seed}: {tree!r}"]
    X, y = stream(seed, rng.choice((600, 1500)), name == "id5r")
    at = 0
    try:
        while at < len(y):
            size, how = rng.choice((1, 7, 150, 150, 400)), rng.choice(("fit", "fit", "test", "one", "weights"))
            size = min(size, 150) if how == "one" else size
            part = slice(at, at + size)
            weights = [rng.choice((0, 0.5, 1, 1, 2.25)) for _ in y[part]]
            told.append(f"{how} {at}:{at + size}")
            answers = [learnt(each, X[part], y[part], how, weights) for each in (tree, twin)]
            assert answers[0] == answers[1], "answers differ"
            at += size
            tree, what = broken(rng, tree, folder)
            told.append(what)
            found[what] += 1
            assert tree.report() == twin.report(), f"{tree.report()} is not {twin.report()}"
        assert (why := difference(tree, twin, X[-200:])) is None, why
        found[name] += 1
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n" + ", ".join(told)) from error
    finally:
        for each in (tree, twin):
            each.reset()


def run(seed, count, names, folder):
    rng, found = random.Random(seed), Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of values lost, of small weights
        for _ in range(count):
            sequence(rng.randrange(1 << 30), rng.choice(names), folder, found)
    print(f"{count} sequences: {dict(found)}")
    return found


@pytest.mark.parametrize("name", _KINDS)
def test_breaks_make_no_difference(name, seed, tmp_path):
    run(seed, 2, [name], tmp_path)


@pytest.mark.slow
def test_many_breaks_make_no_difference(seed, tmp_path):
    assert run(seed, int(os.environ.get("SEQUENCES", 2000)), list(_KINDS), tmp_path)["saved"]

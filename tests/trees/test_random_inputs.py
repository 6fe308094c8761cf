"""Calls with anything in them, at random: each works, or is refused by one clear line and leaves no trace.

What has been learnt in the end can be saved and read.

As many as are wanted: ``CALLS=100000 python -m pytest -m slow tests/trees/test_random_inputs.py``.
"""

import os
import random
import traceback
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import bregalad
import numpy as np
import odd
import odd_columns
import pandas as pd
import pytest
import sklearn
from bregalad import EFDT, VFDT, CorrHTree, CTree
from bregalad.data import DataError
from bregalad.estimator import board as tree_board
from sklearn.exceptions import NotFittedError

TREES = (VFDT, EFDT, CTree, CorrHTree)
CALLS = 12  # of one tree
HOMES = [str(Path(package.__file__).parent) for package in (bregalad, sklearn)]


def unclear(error):
    """Why an error is no clear refusal, None if it is one."""
    if type(error) not in (ValueError, TypeError, NotFittedError, DataError):
        return "its type"
    text = str(error)
    if not text.strip() or len(text.splitlines()) > 1 or len(text) > 1000:
        return "not one line"
    last = traceback.extract_tb(error.__traceback__)[-1]
    # What a library's own code stumbled over names nothing that a user knows.
    if not last.filename.startswith(tuple(HOMES)) or "raise" not in last.line:
        return f"raised by {last.filename}:{last.lineno}"
    return None


def good(rng, tree, n):
    """Instances that the tree takes."""
    if not hasattr(tree, "classes_"):
        kind = rng.randrange(3)
        X = np.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(n)]).reshape(n, 3)
        if kind:
            X = pd.DataFrame(X, columns=list("abc"))
        if kind == 2:
            X["k"] = pd.Series([rng.choice("uvw") for _ in range(n)], dtype="str")
        return X, [rng.choice(("p", "q")) for _ in range(n)]
    columns = []
    for attribute in tree.schema_.attributes:
        if attribute.kind == "numeric":
            columns.append([rng.gauss(0, 1) for _ in range(n)])
        else:
            columns.append([rng.choice(attribute.values or ("u", "v")) for _ in range(n)])
    X = pd.DataFrame(dict(enumerate(columns))).set_axis(list(tree.schema_.names), axis=1)
    if not hasattr(tree, "feature_names_in_"):
        X = X.to_numpy(object)
        X = X.astype(float) if all(a.kind == "numeric" for a in tree.schema_.attributes) else X
    return X, [rng.choice(tree.classes_.tolist()) for _ in range(n)]


def instances(rng, tree):
    """Good ones, good ones with something else about them, or anything."""
    n = rng.choice((0, 1, 2, 7, 12, 12))
    kind = rng.random()
    if kind < 0.3:
        return odd.table(rng, n), odd.labels(rng, n) if rng.random() < 0.5 else good(rng, tree, n)[1]
    X, y = good(rng, tree, n)
    if kind < 0.7:
        return odd.spoilt(rng, X, y)
    return X, odd.labels(rng, n) if rng.random() < 0.3 else y


def instance(rng, tree):
    """One of them as a dict."""
    X, y = good(rng, tree, 1)
    x = pd.DataFrame(X).iloc[0].to_dict()
    if not isinstance(X, pd.DataFrame):
        x = {f"x{name}": value for name, value in x.items()}
    what = rng.randrange(8)
    names = list(x)
    if what < 3 and names:
        x[rng.choice(names)] = odd_columns.scalar(rng)
    elif what == 3:
        y = [odd_columns.scalar(rng)]
    elif what == 4:
        x = dict(zip(odd.names(rng, len(names)), x.values(), strict=True))
    elif what == 5:
        x = rng.choice((odd_columns.scalar(rng), list(x.values()), {}, pd.Series(x), {**x, "more": 1}))
    return x, y[0]


def classes(rng, tree):
    """Labels that will come, or something else."""
    if rng.random() < 0.5:
        return tree.classes_ if hasattr(tree, "classes_") else rng.choice((["p", "q"], {"p", "q"}, [0, 1]))
    given = odd.labels(rng, rng.choice((0, 1, 2, 40)))
    return list(given) if hasattr(given, "__next__") else given


def call(rng, tree):
    """A method's name and its arguments."""
    often = ["partial_fit"] * 3 + ["learn_one"] * 2
    others = "fit test_then_train predict predict_proba score apply encode predict_one predict_proba_one draw"
    name = rng.choice([*often, *others.split(), "decision_path", "learn_codes"])
    if name.endswith("_one"):
        x, y = instance(rng, tree)
        if name != "learn_one":
            return name, (x,), {}
        return name, (x, y), {"w": odd_columns.scalar(rng)} if rng.random() < 0.2 else {}
    if name == "draw":
        return name, (odd_columns.scalar(rng),), {}
    X, y = instances(rng, tree)
    if name in ("predict", "predict_proba", "apply", "encode", "decision_path"):
        return name, (X,), {}
    if name == "learn_codes":
        return name, (rng.choice((np.zeros((3, 3), np.uint8), X)), rng.choice(([0, 1, 0], y))), {}
    given = {}
    if name in ("fit", "partial_fit", "score") and rng.random() < 0.2:
        given["sample_weight"] = odd.weights(rng, rng.choice((1, 7, len(y) if isinstance(y, list) else 1)))
    if name in ("partial_fit", "test_then_train") and (not hasattr(tree, "classes_") or rng.random() < 0.1):
        given["classes"] = classes(rng, tree)
    return name, (X, y), given


_GOOD = {
    "delta": (1e-7, 0.1, np.float32(0.05)),
    "tau": (0.05, 0, 1),
    "grace": (5, 20),
    "leaf_prediction": ("mc", "nb", "nba"),
    "nominal": ((), ["k"], [0], {"k": ["u", "v", "w"]}, [-1]),
    "class_weight": (None, None, {"p": 2}, {"p": 0.5, "q": 1}),
    "nominal_values": (2, 3, 64),
    "threads": (1, 2),
    "max_depth": (None, 1, 3),
}
_ODD = ["nominal", "class_weight", "slots", "threads", "geometry", "max_depth", "delta", "board"]


def parameters(rng, kind):
    """Those of a constructor; at times one is anything."""
    given = {"slots": 16, "grace": rng.choice((5, 12))}
    for name in rng.sample(sorted(_GOOD), rng.randrange(3)):
        given[name] = rng.choice(_GOOD[name])
    if rng.random() < 0.2:
        name = rng.choice(_ODD if rng.random() < 0.5 else kind._get_param_names())
        given[name] = rng.choice(
            (
                odd_columns.scalar(rng),
                odd_columns.scalar(rng),
                [odd_columns.scalar(rng)],
                {"k": odd_columns.scalar(rng)},
                {"p": odd_columns.scalar(rng), "q": 1},
                odd_columns.column(rng, 3),
            )
        )
    return given


def same(one, other):
    """Whether two trees have answered the same."""
    if hasattr(one, "toarray"):
        one, other = one.toarray(), other.toarray()
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return isinstance(one, bregalad.estimator.tree.StreamTree) or one == other


def written(value):
    try:
        return repr(value)
    except Exception:  # of decimals, and of small floats
        return f"a {type(value).__name__}"


def session(seed, found):
    """Calls of one tree, and of a twin that is spared those refused; adds what was met to a counter."""
    rng = random.Random(seed)
    kind = rng.choice(TREES)
    given = parameters(rng, kind)
    tree, twin = kind(**given), kind(**given)
    told = [f"seed {seed}: {kind.__name__}({written(given)})"]
    try:
        for _ in range(CALLS):
            name, args, options = call(rng, tree)
            told.append(f".{name}(*{written(args)}, **{written(options)})")
            plain = type(args[0]) is np.ndarray and args[0].dtype.kind in "biuf"
            before = args[0].copy() if plain else None
            try:
                answer = getattr(tree, name)(*args, **options)
            except Exception as error:
                why = unclear(error)
                assert why is None, f"no clear refusal ({why}): {type(error).__name__}: {str(error)[:500]}"
                found[f"{name}: {type(error).__name__}: {error}"] += 1
                told[-1] += f" refused: {str(error)[:200]}"
            else:
                found["worked"] += 1
                again = getattr(twin, name)(*args, **options)
                assert same(answer, again), f"answers {answer!r}, and without the refused calls {again!r}"
            assert not plain or np.array_equal(before, args[0], equal_nan=True), "X is changed"
        try:
            tree.check_parameters()
        except (TypeError, ValueError):
            return
        rest = random.Random(seed)
        X, y = good(rest, tree, 40)
        first = {} if hasattr(tree, "classes_") else {"classes": ["p", "q"]}
        told.append("good instances")
        ends = []
        for each in (tree, twin):
            try:
                each.partial_fit(X, y, **first)
                ends.append(None)
            except (TypeError, ValueError) as error:
                ends.append(str(error))
        assert ends[0] == ends[1], ends
        if ends[0] is not None:
            return
        assert tree.difference(twin) is None
        assert tree.report() == twin.report()
        assert np.array_equal(tree.predict_proba(X), twin.predict_proba(X))
        told.append("saved and read")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "tree"
            tree.save(path)
            kept = bregalad.load_tree(path)
        assert kept.difference(tree) is None
        assert np.array_equal(tree.predict_proba(X), kept.predict_proba(X))
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n" + "\n".join(told)) from error
    finally:
        for each in (tree, twin):
            tree_board.release(each)


def run(seed, count):
    rng = random.Random(seed)
    found = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # of a column vector, of values lost
        while found.total() < count:
            session(rng.randrange(1 << 30), found)
    refused = found.total() - found["worked"]
    print(f"{found.total()} calls, {refused} refused in {len(found) - 1} words")
    return found


@pytest.mark.slow
def test_random_calls(seed):
    assert run(seed, int(os.environ.get("CALLS", 100_000)))["worked"]

"""Trees that go on with other parameters, on other boards, or as copies."""

import warnings

import numpy as np
import pytest
from bregalad import EFDT, VFDT, CTree, Geometry, load_tree
from bregalad.boards.engine import Engine
from bregalad.tree.split import LONG
from bregalad_sim.latency import GoldenBoard
from noisy import stream


def noise(count, seed=0):
    """Nothing to be learnt: no split is due for long."""
    rng = np.random.default_rng(seed)
    return rng.random((count, 4)), rng.integers(0, 2, count)


def reloaded(tree, path, **changes):
    tree.save(path)
    return load_tree(path, **changes)


def test_leaves_of_another_policy_wait_before_a_tie(tmp_path):
    X, y = noise(2000)
    options = {"tau": 0.05, "delta": 1e-3}
    first = VFDT(**options).partial_fit(X[:1000], y[:1000], classes=[0, 1])
    tree = reloaded(first, tmp_path / "tree", ties="htat")
    before = tree.report()
    tree.partial_fit(X[1000:], y[1000:])
    now = tree.report()
    assert now["attempts"] > before["attempts"] and now["ties"] == before["ties"]
    first.partial_fit(X[1000:], y[1000:])
    assert first.report()["ties"] > before["ties"]  # without a wait there are some


def test_periods_of_its_own_end_with_adaptive_grace(tmp_path):
    X, y = noise(6000)
    first = VFDT(tau=0.001, adaptive_grace=True)
    first.partial_fit(X[:1000], y[:1000], classes=[0, 1])
    tree = reloaded(first, tmp_path / "tree", adaptive_grace=False)
    before = tree.report()["attempts"]
    tree.partial_fit(X[1000:], y[1000:])
    assert tree.report()["attempts"] - before == 25


def test_more_inner_nodes_than_slots(tmp_path):
    """Their statistics are lost, but they would count again."""
    X, y = noise(8000)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (X[:, 2] > 0.5)).astype(int)
    tree = EFDT(grace=50, delta=0.3, tau=0.3, inner_grace=500, leaf_prediction="mc").fit(X, y)
    inner = len(tree._nodes) - len(tree._nodes.leaves())
    assert inner > 8
    tree._trainer.failed = True  # as a failing board leaves it
    with pytest.warns(UserWarning, match="starts anew"):
        tree.save(tmp_path / "tree")
    small = Geometry(lanes=4, passes=1, bins=16, slots=8)
    with pytest.raises(ValueError, match=f"{inner} inner nodes want statistics, this board has 8"):
        load_tree(tmp_path / "tree", geometry=small)
    again = load_tree(tmp_path / "tree", geometry=small.replace(slots=inner))
    assert again.partial_fit(X[:500], y[:500]).report()["slots"] >= inner


def test_more_nodes_than_a_node_table_has_rows(tmp_path):
    X, y = stream(3000)
    sizes = Geometry(lanes=4, passes=1, slots=64, nodes=256)
    tree = VFDT(geometry=sizes, grace=50, delta=0.01, leaf_prediction="mc").fit(X, y)
    count = len(tree._nodes)
    tree.save(tmp_path / "tree")
    small = sizes.replace(nodes=count - 1)
    for changes in ({"geometry": small}, {"board": GoldenBoard(small, 1 << 12)}):
        with pytest.raises(ValueError, match=f"tree has {count} nodes, the board's node table {count - 1} rows"):
            load_tree(tmp_path / "tree", **changes)
    full = load_tree(tmp_path / "tree", geometry=sizes.replace(nodes=count))
    with pytest.warns(UserWarning, match=f"its node table of {count} rows is full, so the tree splits no more"):
        assert full.partial_fit(X, y).report()["nodes"] == count


@pytest.mark.parametrize(
    "kind, labels, changes, message",
    [
        (VFDT, 3, {"bound": "confidence"}, "is for two classes, the stream has 3"),
        (CTree, 2, {"nominal_split": "multiway"}, "is for binary splits"),
    ],
)
def test_loading_asks_what_learning_asks_of_a_stream(tmp_path, kind, labels, changes, message):
    rng = np.random.default_rng(1)
    tree = kind(nominal=[0]).fit(rng.integers(0, 3, (500, 2)), rng.integers(0, labels, 500))
    tree.save(tmp_path / "tree")
    with pytest.raises(ValueError, match=message):
        load_tree(tmp_path / "tree", **changes)


def test_a_board_opened_anew_has_what_changed_parameters_ask(tmp_path):
    X, y = stream(3000)
    first = VFDT(slots=100, leaf_prediction="mc").fit(X, y)
    for changes in ({"slots": 64}, {"leaf_prediction": "nba"}, {"criterion": "gini", "leaf_prediction": "nba"}):
        tree = reloaded(first, tmp_path / "tree", **changes)
        tree.partial_fit(X, y)
        tree.predict(X[:5])
        geometry = tree._trainer.board.geometry
        assert geometry == first._trainer.board.geometry.replace(
            slots=changes.get("slots", 100),
            naive_bayes="leaf_prediction" in changes,
            criterion=changes.get("criterion", "information_gain"),
        )
    small = first._trainer.board.geometry.replace(slots=64)
    with pytest.raises(ValueError, match="naive_bayes"):
        reloaded(first, tmp_path / "tree", geometry=small, leaf_prediction="nba")


@pytest.mark.parametrize("named_first", [True, False])
def test_the_board_that_is_closed_is_the_one_that_was_opened(monkeypatch, named_first):
    X, y = stream(600)
    closed = []
    monkeypatch.setattr(Engine, "close", lambda board: closed.append(board))
    given = Engine(Geometry(lanes=3, passes=1))
    first, second = ("emulated", given) if named_first else (given, "emulated")
    tree = VFDT(board=first).fit(X, y)
    opened = tree._trainer.board
    tree.set_params(board=second).fit(X, y)
    assert closed == ([opened] if named_first else [])
    assert given not in closed


def test_what_is_counted_at_a_leaf_has_no_end():
    X, y = stream(3000, missing=0)
    tree = VFDT(leaf_prediction="nb", grace=100_000).fit(X, y)
    before = tree.score(X, y)
    tree._nodes.right[0] = 2**31 - 2
    tree._nodes.period[0] = LONG
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.partial_fit(X[:5], y[:5])
    assert tree._nodes.observed[0] == len(X) + 5  # as the board's counters have it
    assert before > 0.8 and abs(tree.score(X, y) - before) < 0.01

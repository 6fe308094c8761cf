"""What goes wrong in practice: failures half-way, reused buffers, boards that do not fit."""

import itertools
import signal
from unittest.mock import Mock

import numpy as np
import pytest
from bregalad import EFDT, VFDT, BoardError, Geometry, open_board
from bregalad.boards import engine
from bregalad.data.quantiser import Quantiser
from bregalad.driver import checkpoint, steps, trainer
from bregalad.driver.devices import device
from bregalad.estimator import stream as learning
from bregalad_sim.ctrl_c import interrupted, interruptible
from bregalad_sim.latency import GoldenBoard
from noisy import stream
from numba.experimental import structref
from sklearn.base import clone


def test_halved_counts_do_not_make_the_tree_depend_on_calls():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((9000, 2)) < 0.5, 0.0, 1.0)
    y = rng.random(9000) < 0.5
    y[6000:] = X[6000:, 0] > 0.5
    options = {"geometry": Geometry(lanes=2, passes=1, count_width=12), "tau": 0.0}
    whole = VFDT(**options).partial_fit(X, y, classes=[False, True])
    parts = VFDT(**options).partial_fit(X[:7000], y[:7000], classes=[False, True]).partial_fit(X[7000:], y[7000:])
    assert whole.report()["halvings"] > 0
    assert parts.difference(whole) is None


def test_a_reused_buffer_is_not_learnt_twice():
    X, y = stream(2000)
    whole = VFDT().partial_fit(X, y, classes=[False, True])
    reused, buffer = VFDT(), np.empty((100, 3))
    for at in range(0, 2000, 100):
        buffer[:] = X[at : at + 100]
        reused.partial_fit(buffer, y[at : at + 100], classes=[False, True])
    assert reused.difference(whole) is None


def test_board_that_cannot_be_opened_costs_nothing(monkeypatch):
    X, y = stream()
    tree = VFDT()
    for at in (0, 300):
        with monkeypatch.context() as patch:
            patch.setattr(engine, "Engine", Mock(side_effect=BoardError("no power")))
            with pytest.raises(BoardError, match="no power"):
                tree.partial_fit(X[at : at + 700], y[at : at + 700], classes=[False, True])
            assert tree.report()["instances"] == at
            for call in (lambda: tree.predict(X), tree.draw, lambda: tree.difference(tree)):
                if not at:
                    with pytest.raises(BoardError, match="no power"):
                        call()
        tree.partial_fit(X[at : at + 300], y[at : at + 300])
        tree.close()
    tree.partial_fit(X[600:], y[600:])
    assert tree.difference(VFDT().partial_fit(X, y, classes=[False, True])) is None


def test_failed_board_leaves_a_tree_that_can_be_saved_and_learns_on(tmp_path):
    X, y = stream(6000)
    board = GoldenBoard(Geometry(lanes=3, passes=1, nodes=256))
    tree = VFDT(board=board, delta=1e-3).partial_fit(X[:4000], y[:4000], classes=[False, True])
    before = tree.predict(X)
    board.send(bytes([99] + [0] * (board.geometry.bus_bytes - 1)))
    with pytest.raises(BoardError, match="COMMAND"):
        tree.partial_fit(X[4000:], y[4000:])
    assert len(tree.predict(X)) == len(X)
    with pytest.warns(UserWarning, match="failed while .* not what the board had counted for"):
        tree.save(tmp_path / "tree")
    again = VFDT.load(tmp_path / "tree", board="emulated")
    assert (again.predict(X) == before).mean() > 0.95
    again.partial_fit(X[4000:], y[4000:])
    assert again.report()["inactive_leaves"] == 0
    assert again.score(X, y) > 0.8
    with pytest.raises(BoardError, match="close\\(\\) it first"):
        tree.partial_fit(X[4000:], y[4000:])
    with pytest.warns(UserWarning, match="not what the board had counted for"):
        tree.close()
    tree.partial_fit(X[4000:], y[4000:])
    assert tree.difference(again) is None


def test_a_closed_tree_frees_its_board_for_others():
    """Though the traceback of its last error, as an interactive shell keeps it, keeps it alive."""
    X, y = stream(1000)
    board = open_board("emulated", Geometry(lanes=3, passes=1, naive_bayes=True))
    tree = VFDT(board=board).partial_fit(X[:600], y[:600], classes=[False, True])
    kept = tree._trainer
    with pytest.raises(BoardError, match="another tree learns on this board"):
        VFDT(board=board).fit(X, y)
    tree.close()
    VFDT(board=board).fit(X, y).close()
    assert kept.board is board
    tree.partial_fit(X[600:], y[600:])
    assert tree.difference(VFDT().partial_fit(X, y, classes=[False, True])) is None


def test_a_tree_that_cannot_be_restored_frees_its_board(tmp_path, monkeypatch):
    X, y = stream(1000)
    VFDT(leaf_prediction="mc").fit(X, y).save(tmp_path / "tree")
    board = open_board("emulated", Geometry(lanes=3, passes=1))
    tree = VFDT.load(tmp_path / "tree", board=board, geometry=board.geometry)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "restore", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt) as kept:
            tree.counters()
    VFDT(board=board).fit(X, y).close()
    assert kept.tb
    tree.partial_fit(X, y)
    assert tree.difference(VFDT.load(tmp_path / "tree").partial_fit(X, y)) is None


@pytest.mark.parametrize("prediction", ["mc", "nb"])
def test_ctrl_c_leaves_nothing_that_was_asked_for(prediction, tmp_path):
    """Wherever it comes while statistics or predictions are read."""
    X, y = stream(3000)
    options = {"delta": 1e-3, "grace": 100, "leaf_prediction": prediction}
    geometry = Geometry(lanes=3, passes=1, bins=8, slots=200, naive_bayes=True, nodes=256)
    boards = [GoldenBoard(geometry) for _ in range(2)]
    whole = VFDT(boards[0], **options).fit(X, y)
    tree = VFDT(boards[1], **options).partial_fit(X[:2000], y[:2000], classes=[False, True])
    entries = checkpoint.read(tree._trainer)["entries"]
    calls = [lambda: tree.predict_proba(X[:50]), lambda: checkpoint.read(tree._trainer)]
    for call in calls[prediction == "mc" :]:
        for at in range(1, 10_000, 17):
            if not interrupted(call, at, trainer, checkpoint, device):
                break
            np.testing.assert_array_equal(checkpoint.read(tree._trainer)["entries"], entries)
        assert at > 50
        interrupted(call, at // 2, trainer, checkpoint, device)
    tree.partial_fit(X[2000:], y[2000:])
    assert tree.difference(whole) is None
    read = [checkpoint.read(each._trainer) for each in (tree, whole)]
    assert all((read[0][name] == read[1][name]).all() for name in read[0])


def test_ctrl_c_as_a_call_begins_or_ends_leaves_nothing_to_resume():
    X, y = stream(1000)
    tree = VFDT(geometry=Geometry(lanes=3, passes=1), leaf_prediction="mc", block=1)
    tree.partial_fit(X, y, classes=[False, True])
    for at in itertools.count(1):
        learnt = tree.report()["instances"]
        came = interrupted(lambda: tree.partial_fit(X[:10], y[:10]), at, learning, steps)
        assert not tree.unfinished and 0 <= tree.report()["instances"] - learnt <= 10
        if not came:
            break
    assert at > 10


def test_ctrl_c_is_not_swallowed_where_compiled_code_is_called():
    X, y = stream(1000)
    tree = VFDT(leaf_prediction="mc").partial_fit(X, y, classes=[False, True])
    row = {f"x{i}": value for i, value in enumerate(X[0].tolist())}
    for call in (lambda: tree.predict_one(row), lambda: tree.learn_one(row, True)):
        for _ in range(3):
            call()
        at = 1
        while interrupted(call, at, structref):
            at += 1


@pytest.mark.parametrize("look", [0, 3, 9, 11])
def test_ctrl_c_around_a_change_of_books_loses_nothing(look, monkeypatch):
    X, y = stream(30_000)
    X = X + np.arange(30_000)[:, np.newaxis] / 500
    pressed = []

    def pressing(quantiser, due, thresholds):
        pressed.append(len(pressed))
        if pressed[-1] == look:
            signal.raise_signal(signal.SIGINT)
        return changes(quantiser, due, thresholds)

    changes = Quantiser.changes
    whole = VFDT().partial_fit(X, y, classes=[False, True])
    tree = VFDT()
    monkeypatch.setattr(Quantiser, "changes", pressing)
    with interruptible(), pytest.raises(KeyboardInterrupt):
        tree.partial_fit(X, y, classes=[False, True])
    at = tree.report()["instances"]
    assert 0 < at < 30_000 and at == tree._quantiser.sample.count
    tree.partial_fit(X[at:], y[at:])
    assert tree.difference(whole) is None


@pytest.mark.parametrize(
    "tree, changes",
    [
        (VFDT(delta=1e-3), {"grace": 400}),
        (VFDT(delta=1e-3, adaptive_grace=True), {"grace": 301}),
        (EFDT(inner_grace=900), {"inner_grace": 300}),
        (EFDT(inner_grace=900), {"variant": "moa"}),
        (EFDT(inner_grace=900, variant="moa"), {"variant": "paper"}),
    ],
)
def test_a_loaded_tree_may_be_tried_at_other_times(tmp_path, tree, changes):
    """Host and board agree when."""
    X, y = stream(6000)
    y ^= X[:, 1] > 0.6
    tree = clone(tree).fit(X[:3950], y[:3950])
    tree.save(tmp_path / "tree")
    sizes = tree._trainer.board.geometry.replace(slots=64)
    boards = open_board("emulated", sizes), GoldenBoard(sizes.replace(nodes=256))
    direct, device = (
        type(tree).load(tmp_path / "tree", board=board, **changes).partial_fit(X[3950:], y[3950:]) for board in boards
    )
    assert direct.report()["attempts"] > 0 and device.difference(direct) is None
    names = direct.report().keys() - {"attempts"}  # of which a device tells some only
    assert all(device.report()[name] == direct.report()[name] for name in names)


def test_a_loaded_trees_parameters_are_those_it_was_made_with(tmp_path):
    X, y = stream(3000)
    X[:, 0] = np.nan_to_num(X[:, 0] * 3).astype(int)
    for nominal in ([0], {0: (0, 1, 2)}, np.array([0])):
        tree = VFDT(nominal=nominal, delta=1e-3).fit(X, y)
        tree.save(tmp_path / "tree")
        loaded = VFDT.load(tmp_path / "tree")
        assert loaded.geometry is None and loaded.difference(tree) is None
        assert loaded.partial_fit(X, y).difference(tree.partial_fit(X, y)) is None
        again = VFDT(nominal=nominal, delta=1e-3).fit(X, y)
        assert clone(loaded).fit(X, y).difference(again) is None
        five = np.arange(3000) % 5
        assert len(loaded.fit(X, five).classes_) == 5
    of_numpy = {"grace": np.int64(150), "tau": np.float32(0.05), "slots": np.int64(64)}
    for options in ({"geometry": Geometry(lanes=3, passes=1, slots=64)}, of_numpy):
        VFDT(**options).fit(X, y).save(tmp_path / "tree")
        assert options.items() <= VFDT.load(tmp_path / "tree").get_params().items()


def test_a_tree_keeps_the_parameters_that_it_was_begun_with(tmp_path):
    """What decides on splits and leaves cannot change midway; the rest can, and `fit` takes all."""
    X, y = stream(3000)
    tree = VFDT(delta=1e-3)

    def refuses(*steps):
        for step in steps:
            for name, value in (("delta", 0), ("grace", 100), ("leaf_prediction", "nba")):
                kept = getattr(tree, name)
                tree.set_params(**{name: value})
                with pytest.raises(ValueError, match=f"{name} was .* takes effect with fit or reset; set it back"):
                    step()
                tree.set_params(**{name: kept})

    tree.partial_fit(X[:300], y[:300], classes=[False, True])
    refuses(lambda: tree.partial_fit(X[300:], y[300:]))
    tree.partial_fit(X[300:], y[300:])
    refuses(
        lambda: tree.partial_fit(X, y),
        lambda: tree.predict(X),
        lambda: tree.learn_one(dict.fromkeys(("x0", "x1", "x2"), 0.5), True),
        lambda: tree.save(tmp_path / "tree"),
    )
    whole = VFDT(delta=1e-3).fit(X, y)
    assert tree.difference(whole) is None
    tree.set_params(threads=2, review_period=5000).save(tmp_path / "tree")
    kept = (tmp_path / "tree").read_bytes()
    tree.set_params(threads=0)
    with pytest.raises(ValueError, match="threads must be 1 to 256, not 0"):
        tree.save(tmp_path / "tree")  # or nothing could read it
    assert (tmp_path / "tree").read_bytes() == kept and [*tmp_path.iterdir()] == [tmp_path / "tree"]
    tree.set_params(threads=1, grace=100)
    assert tree.fit(X, y).difference(VFDT(delta=1e-3, grace=100).fit(X, y)) is None


def test_load_refuses_a_board_that_does_not_fit(tmp_path):
    X, y = stream(40_000, missing=0)
    y ^= (X[:, 1] > 0.5) & (X[:, 2] > 0.7)
    tree = VFDT(delta=1e-3, tau=0.0, leaf_prediction="mc").fit(X, y)
    assert tree.report()["leaves"] > 2
    tree.save(tmp_path / "tree")
    sizes = Geometry(lanes=3, passes=1, slots=1024, count_width=24)
    for geometry, message in (
        ("fine", "bins = 16, this one has 64"),
        ("many-classes", "classes = 2, this one has 32"),
        (sizes.replace(lanes=2), "3 cells are needed"),
        (sizes.replace(slots=2), "slots"),
        (sizes.replace(count_width=12), "counters hold 4095"),
    ):
        with pytest.raises(ValueError, match=message):
            VFDT.load(tmp_path / "tree", geometry=geometry)


def test_thousands_of_cells():
    tree = VFDT()
    X = np.zeros((20, 5000))
    tree.fit(X, np.arange(20) % 2)
    assert tree._open_trainer().board.geometry.max_cells >= 5000

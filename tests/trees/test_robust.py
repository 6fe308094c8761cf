"""What goes wrong in practice: failures half-way, reused buffers, boards that do not fit."""

import random

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, BoardError, Geometry, open_board
from bregalad.boards import emulated
from bregalad.sim.ctrl_c import interrupted
from bregalad.sim.latency import LateBoard
from bregalad.trees import bayes, checkpoint, trainer
from sklearn.base import clone


def stream(count=4000, seed=1, missing=0.1):
    rng = np.random.default_rng(seed)
    X = rng.random((count, 3))
    y = (X[:, 0] > 0.5) ^ (rng.random(count) < 0.1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def two_part(tree, X, y, cut, between):
    """Learn up to ``cut``, do something, learn the rest."""
    tree.partial_fit(X[:cut], y[:cut], classes=[False, True])
    tree = between(tree) or tree
    return tree.partial_fit(X[cut:], y[cut:])


@pytest.mark.parametrize("seed", range(5))
def test_missing_values_before_a_pause_count_after_it(seed):
    """Values missing before the board was closed are still on the board afterwards."""
    X, y = stream(seed=seed)
    X[1000:] = np.nan_to_num(X[1000:], nan=0.5)
    whole = VFDT(delta=1e-3).partial_fit(X, y, classes=[False, True])
    paused = two_part(VFDT(delta=1e-3), X, y, 1000, VFDT.close)
    assert paused.difference(whole) is None


@pytest.mark.parametrize("seed", range(5))
def test_halved_counts_do_not_make_the_tree_depend_on_calls(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((9000, 2)) < 0.5, 0.0, 1.0)
    y = rng.random(9000) < 0.5
    y[6000:] = X[6000:, 0] > 0.5
    X[8990:, 1] = np.nan
    options = {"geometry": Geometry(lanes=2, passes=1, count_width=12), "tau": 0.0}
    whole = VFDT(**options).partial_fit(X, y, classes=[False, True])
    cut = two_part(VFDT(**options), X, y, 7000, lambda tree: None)
    assert whole.report()["halvings"] > 0
    assert cut.difference(whole) is None


def test_a_reused_buffer_is_not_learnt_twice():
    X, y = stream(2000)
    whole = VFDT(head=1000).partial_fit(X, y, classes=[False, True])
    reused, buffer = VFDT(head=1000), np.empty((100, 3))
    for at in range(0, 2000, 100):
        buffer[:] = X[at:at + 100]
        reused.partial_fit(buffer, y[at:at + 100], classes=[False, True])
    assert reused.difference(whole) is None


def test_head_is_what_the_edges_are_learnt_from():
    X, y = stream(3000, missing=0)
    edges = [VFDT(head=head).fit(X, y)._quantiser.books[0].edges for head in (1000, 3000)]
    assert not np.array_equal(*edges)


def test_board_that_cannot_be_opened_costs_nothing(monkeypatch):
    X, y = stream()
    tree = VFDT(head=500).partial_fit(X[:300], y[:300], classes=[False, True])

    def fail(*_, **__):
        raise BoardError("no power")

    with monkeypatch.context() as patch:
        patch.setattr(emulated, "EmulatedBoard", fail)
        with pytest.raises(BoardError, match="no power"):
            tree.partial_fit(X[300:1000], y[300:1000])
    tree.partial_fit(X[300:], y[300:])
    assert tree.difference(VFDT(head=500).partial_fit(X, y, classes=[False, True])) is None


def test_failed_board_leaves_a_tree_that_can_be_saved_and_learns_on(tmp_path):
    X, y = stream(6000)
    board = open_board("emulated", Geometry(lanes=3, passes=1))
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
    board = open_board("emulated", Geometry(lanes=3, passes=1))
    tree = VFDT(board=board).partial_fit(X, y, classes=[False, True])
    kept = tree._trainer
    with pytest.raises(BoardError, match="another tree learns on this board"):
        VFDT(board=board).fit(X, y)
    tree.close()
    VFDT(board=board).fit(X, y).close()
    assert kept.board is board


def test_a_tree_that_cannot_be_restored_frees_its_board(tmp_path, monkeypatch):
    X, y = stream(1000)
    VFDT().fit(X, y).save(tmp_path / "tree")
    board = open_board("emulated", Geometry(lanes=3, passes=1))
    tree = VFDT.load(tmp_path / "tree", board=board, geometry=board.geometry)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "restore", interrupt)
        with pytest.raises(KeyboardInterrupt) as kept:
            tree.counters()
    VFDT(board=board).fit(X, y).close()
    assert kept.tb
    tree.partial_fit(X, y)
    assert tree.difference(VFDT.load(tmp_path / "tree").partial_fit(X, y)) is None


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("prediction", ["mc", "nb"])
def test_ctrl_c_leaves_nothing_that_was_asked_for(prediction, tmp_path):
    """Wherever it comes while statistics or predictions are read."""
    X, y = stream(3000)
    options = {"delta": 1e-3, "grace": 100, "leaf_prediction": prediction,
               "geometry": Geometry(lanes=3, passes=1, bins=8, naive_bayes=True)}
    whole = VFDT(**options).fit(X, y)
    tree = VFDT(**options).partial_fit(X[:2000], y[:2000], classes=[False, True])
    entries = checkpoint.read(tree._trainer)["entries"]
    calls = [lambda: tree.predict_proba(X[:50]), lambda: checkpoint.read(tree._trainer)]
    for call in calls[prediction == "mc":]:
        for at in range(1, 10_000, 17):
            if not interrupted(call, at, trainer, checkpoint, bayes):
                break
            np.testing.assert_array_equal(checkpoint.read(tree._trainer)["entries"], entries)
        assert at > 50
        interrupted(call, at // 2, trainer, checkpoint, bayes)
    tree.partial_fit(X[2000:], y[2000:])
    assert tree.difference(whole) is None
    read = [checkpoint.read(each._trainer) for each in (tree, whole)]
    assert all((read[0][name] == read[1][name]).all() for name in read[0])


def test_a_fit_with_too_few_labels_keeps_the_older_tree():
    X, y = stream(1000)
    tree = VFDT().fit(X, y)
    before = tree.predict(X)
    with pytest.raises(ValueError, match="X has 1000 instances, y has 5 labels"):
        tree.fit(X, y[:5])
    np.testing.assert_array_equal(tree.predict(X), before)


def test_failed_save_keeps_the_older_file(tmp_path):
    X, y = stream(1000)
    tree = VFDT().fit(X, y)
    tree.save(tmp_path / "tree")
    size = (tmp_path / "tree").stat().st_size
    tree.nominal = [object()]
    with pytest.raises(AttributeError):
        tree.save(tmp_path / "tree")
    assert (tmp_path / "tree").stat().st_size == size
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


@pytest.mark.parametrize("names", [[0, 1, 2], [0.5, "b", "c"], ["a", "b", "c"]])
def test_names_of_attributes_may_be_numbers(names):
    """A frame's names become strings; so do those of River's dicts."""
    X, y = stream(1000)
    frame = pd.DataFrame(np.round(X * 3), columns=names)
    tree = VFDT(head=100, nominal=[names[2]])
    for x, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        tree.learn_one(x, label)
    assert tree.report()["instances"] == 1000
    assert [a.kind for a in tree.schema_.attributes] == ["numeric", "numeric", "nominal"]
    assert tree.predict_one(dict(zip(names, (3, 0, 0), strict=True))) in (False, True)
    batch = VFDT(head=100, nominal=[names[2]]).partial_fit(frame, y, classes=[False, True])
    assert batch.difference(tree) is None


def test_a_name_goes_before_a_position():
    frame = pd.DataFrame(np.round(stream(500)[0] * 3), columns=[0, 1, 2]).drop(columns=0)
    tree = VFDT(nominal=[1]).fit(frame, stream(500)[1])
    assert {a.name: a.kind for a in tree.schema_.attributes} == {"1": "nominal", "2": "numeric"}


@pytest.mark.parametrize("x, y, error, message", [
    ({"a": pd.Timestamp("2020-01-01"), "b": 1}, 1, TypeError, "'a': a nominal value must be"),
    ({"a": np.float32("inf"), "b": 1}, 1, ValueError, "'a': inf is infinite"),
    ({"a": 1, "b": 1}, "x", ValueError, "labels must be all of one kind, not int and str"),
    ({"a": 1, "b": 1}, None, ValueError, "missing"),
])
def test_a_bad_instance_of_the_head_is_not_held(x, y, error, message):
    tree = VFDT(head=10)
    for i in range(20):
        if i in (0, 5):
            if i or y == 1:  # the first label may be of any kind
                with pytest.raises(error, match=message):
                    tree.learn_one(x, y)
        tree.learn_one({"a": float(i), "b": i % 2}, i % 2)
    assert tree.report()["instances"] == 20


@pytest.mark.parametrize("labels, classes", [
    (pd.array([2**53, 2**53 + 1] * 300, "Int64"), [2**53, 2**53 + 1]),
    (pd.array([0, 1] * 300, "UInt8"), [0, 1]),
    (pd.array([0, 1] * 300, "int64[pyarrow]"), [0, 1]),
    ([False, True] * 300, [False, True]),
])
def test_labels_stay_what_they_are(labels, classes):
    tree = VFDT().fit(np.arange(600).reshape(600, 1) % 2, pd.Series(labels))
    assert tree.classes_.dtype.kind in "iub" and tree.classes_.tolist() == classes
    assert tree.predict([[0], [1]]).tolist() == classes


@pytest.mark.parametrize("labels, message", [
    ([True, "x"] * 300, "labels must be all of one kind, not bool and str"),
    ([b"a", b"b"] * 300, "Unknown label type: bytes.*a label is a string, an integer or a boolean"),
    (np.array(["2020", "2021"] * 300, "M8[s]"), "Unknown label type: datetime64"),
])
def test_labels_that_no_file_could_hold(labels, message):
    with pytest.raises(ValueError, match=message):
        VFDT().fit(np.zeros((600, 1)), labels)


@pytest.mark.parametrize("feed", ["stream", "memory"])
@pytest.mark.parametrize("tree, changes", [
    (VFDT(delta=1e-3), {"grace": 50}), (VFDT(delta=1e-3), {"grace": 400}),
    (VFDT(delta=1e-3, adaptive_grace=True), {"grace": 301}),
    (EFDT(inner_grace=900), {"inner_grace": 300}), (EFDT(inner_grace=900), {"inner_grace": 5000}),
    (EFDT(inner_grace=900), {"variant": "moa"}),
    (EFDT(inner_grace=900, variant="moa"), {"variant": "paper"}),
])
def test_a_loaded_tree_may_be_tried_at_other_times(tmp_path, tree, changes, feed):
    """Host and board agree when; either feed gives the same tree."""
    X, y = stream(12_000)
    y ^= X[:, 1] > 0.6
    tree = clone(tree).fit(X[:3950], y[:3950])
    tree.save(tmp_path / "tree")
    tree, direct = (type(tree).load(tmp_path / "tree", feed=how, **changes).partial_fit(
        X[3950:], y[3950:]) for how in (feed, "stream"))
    assert tree.report()["trials"] > 0 and tree.difference(direct) is None
    assert tree.report() == direct.report()


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
    small = Geometry(lanes=3, passes=1, slots=64)
    tree = VFDT(geometry=small).fit(X, y)
    tree.save(tmp_path / "tree")
    assert VFDT.load(tmp_path / "tree").geometry == small


def test_numpy_parameters_can_be_saved(tmp_path):
    X, y = stream(1000)
    tree = VFDT(grace=np.int64(150), tau=np.float32(0.05), slots=np.int64(64)).fit(X, y)
    tree.save(tmp_path / "tree")
    assert VFDT.load(tmp_path / "tree").grace == 150


def test_a_tree_keeps_the_parameters_that_it_was_begun_with(tmp_path):
    """What decides on splits and leaves cannot change midway; the rest can, and `fit` takes all."""
    X, y = stream(3000)
    tree = VFDT(delta=1e-3)

    def refuses(*steps):
        for step in steps:
            for name, value in (("delta", 0), ("grace", 100), ("leaf_prediction", "nba")):
                kept = getattr(tree, name)
                tree.set_params(**{name: value})
                with pytest.raises(ValueError, match=f"{name} was .* takes effect with fit or "
                                                     "reset; set it back"):
                    step()
                tree.set_params(**{name: kept})

    tree.partial_fit(X[:300], y[:300], classes=[False, True])
    refuses(lambda: tree.partial_fit(X[300:], y[300:]), tree.end_warm_up)
    tree.partial_fit(X[300:], y[300:])
    refuses(lambda: tree.partial_fit(X, y), lambda: tree.predict(X),
            lambda: tree.learn_one(dict.fromkeys(("x0", "x1", "x2"), 0.5), True),
            lambda: tree.save(tmp_path / "tree"))
    whole = VFDT(delta=1e-3).fit(X, y)
    assert tree.difference(whole) is None
    tree.set_params(threads=2, review_period=5000).predict(X)
    tree.set_params(threads=0)
    with pytest.raises(ValueError, match="threads must be 1 to 256, not 0"):
        tree.save(tmp_path / "tree")  # or nothing could read it
    assert not (tmp_path / "tree").exists()
    tree.set_params(threads=1, grace=100)
    assert tree.fit(X, y).difference(VFDT(delta=1e-3, grace=100).fit(X, y)) is None


def test_too_many_values_of_an_attribute_are_named():
    X = pd.DataFrame({"a": range(300), "b": pd.Categorical([str(i) for i in range(300)])})
    with pytest.raises(ValueError, match="'b' is nominal and has more than 255 values"):
        VFDT().fit(X, X["a"] % 2)
    with pytest.raises(ValueError, match="300 classes, and no board has counters for more than 32"):
        VFDT().fit(X[["a"]], X["b"])


@pytest.mark.parametrize("changes, message", [
    ({"geometry": "fine"}, "bins = 16, this one has 64"),
    ({"geometry": "many-classes"}, "classes = 2, this one has 32"),
    ({"geometry": Geometry(lanes=2, passes=1, slots=1024, count_width=24)}, "3 cells are needed"),
    ({"geometry": Geometry(lanes=3, passes=1, slots=2, count_width=24)}, "slots"),
    ({"geometry": Geometry(lanes=3, passes=1, slots=1024, count_width=12)}, "counters hold 4095"),
])
def test_load_refuses_a_board_that_does_not_fit(tmp_path, changes, message):
    X, y = stream(40_000, missing=0)
    y ^= (X[:, 1] > 0.5) & (X[:, 2] > 0.7)
    tree = VFDT(delta=1e-3, tau=0.0).fit(X, y)
    assert tree.report()["leaves"] > 2
    tree.save(tmp_path / "tree")
    with pytest.raises(ValueError, match=message):
        VFDT.load(tmp_path / "tree", **changes)


def test_pickled_tree_keeps_its_boards_geometry():
    import pickle

    X, y = stream()
    board = open_board("emulated", Geometry(lanes=2, passes=2, bins=8))
    tree = VFDT(board=board).partial_fit(X[:2000], y[:2000], classes=[False, True])
    again = pickle.loads(pickle.dumps(tree))
    for one in (tree, again):
        one.partial_fit(X[2000:], y[2000:])
    assert again.difference(tree) is None


@pytest.mark.parametrize("codes, labels, error, message", [
    (np.zeros((2, 3), np.uint8), [0, 7], ValueError, "labels must be 0 to 1"),
    (np.zeros((2, 2), np.uint8), [0, 1], ValueError, r"shape \(2, 3\), not \(2, 2\)"),
    (np.zeros((2, 3)), [0, 1], TypeError, "codes must be uint8"),
    (np.zeros((2, 3), np.uint8), [0.0, 1.0], TypeError, "labels integers"),
])
def test_learn_codes_checks_its_arguments(codes, labels, error, message):
    X, y = stream(1000)
    with pytest.raises(error, match=message):
        VFDT().fit(X, y).learn_codes(codes, labels)


def test_learn_codes_takes_what_encode_can_give():
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["declared"] = pd.Categorical(np.where(y, "x", "y"), categories=["x", "y", "z"])
    frame["open"] = np.where(y, "x", "y")
    tree = VFDT(nominal={"declared": ["x", "y", "z"]}, nominal_values=5).fit(frame, y)
    tree.learn_codes(np.array([[0, 128, 254, 2, 4], [255] * 5], np.uint8), [0, 1])
    learnt = tree.report()["instances"]
    for row, message in (([0, 0, 0, 3, 0], "attribute 3 must be 0 to 2, or 255 .* not 3"),
                         ([0, 0, 0, 0, 5], "attribute 4 must be 0 to 4, or 255 .* not 5")):
        with pytest.raises(ValueError, match=message):
            tree.learn_codes(np.array([[0] * 5, row], np.uint8), [0, 1])
    assert tree.report()["instances"] == learnt


def test_objects_that_are_numbers_are_numeric():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc")).astype(object)
    tree = VFDT(delta=1e-3).fit(frame, y)
    assert [a.kind for a in tree.schema_.attributes] == ["numeric"] * 3
    assert tree.difference(VFDT(delta=1e-3).fit(X, y)) is None


def test_empty_first_batch_fixes_nothing():
    X, y = stream(1000)
    tree = VFDT()
    tree.partial_fit(pd.DataFrame(columns=["a"]), [], classes=[False, True])
    tree.partial_fit(X, y, classes=[False, True])
    assert tree.n_features_in_ == 3


@pytest.mark.parametrize("make, error, message", [
    (lambda X: X.assign(a=pd.Timestamp("2020-01-01")), (TypeError, ValueError), "'a'"),
    (lambda X: X.assign(a=np.inf), ValueError, "'a'.*inf"),
    (lambda X: X.assign(a=10**400), TypeError, "'a'.*numbers"),
    (lambda X: X.set_axis(["a", "b", "b"], axis=1), ValueError, "two columns named 'b'"),
    (lambda X: X.assign(a=pd.cut(X["a"].fillna(0), 3)), TypeError, "'a'"),
])
def test_bad_first_batch_can_be_mended(make, error, message):
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT()
    with pytest.raises(error, match=message):
        tree.partial_fit(make(frame), y, classes=[False, True])
    tree.partial_fit(frame, y, classes=[False, True])
    assert tree.report()["instances"] >= 500


def test_fit_on_bad_data_keeps_the_old_tree():
    X, y = stream()
    tree = VFDT(delta=1e-3).fit(X, y)
    before = tree.draw()
    with pytest.raises(ValueError, match="inf"):
        tree.fit(np.where(X > 0.9, np.inf, X), y)
    assert tree.draw() == before


def test_frame_first_then_array():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT().partial_fit(frame[:100], y[:100], classes=[False, True])
    tree.partial_fit(X[100:], y[100:])
    assert tree.difference(VFDT().partial_fit(frame, y, classes=[False, True])) is None


def test_one_bad_instance_by_one():
    X, y = stream(1000)
    rows = pd.DataFrame(X, columns=list("abc")).to_dict("records")
    tree = VFDT(head=200, delta=1e-3)
    for i, (x, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        if i == 50:
            with pytest.raises(ValueError, match="'a'.*infinite"):
                tree.learn_one({**x, "a": float("inf")}, label)
        if i == 700:
            with pytest.raises(ValueError, match="unknown attribute 'd'"):
                tree.learn_one({**x, "d": 1.0}, label)
            with pytest.raises(ValueError, match="y is 'maybe', none of the classes"):
                tree.learn_one(x, "maybe")
        tree.learn_one(x, label)
    batch = VFDT(head=200, delta=1e-3).partial_fit(pd.DataFrame(rows), y, classes=[False, True])
    assert tree.report() == batch.report()


def test_one_by_one_then_batches():
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT()
    for x, label in zip(frame[:100].to_dict("records"), y[:100].tolist(), strict=True):
        tree.learn_one(x, label)
    tree.partial_fit(frame[100:], y[100:], classes=[False, True])
    assert tree.difference(VFDT().partial_fit(frame, y, classes=[False, True])) is None


def test_labels_of_two_kinds():
    X, _ = stream(4)
    with pytest.raises(ValueError, match="labels must be all of one kind, not int and str"):
        VFDT().fit(X, np.array([1, "a", 1, "a"], object))
    with pytest.raises(ValueError, match=r"y\[0\] is 1, none of the classes \['1', 'a'\]"):
        VFDT().partial_fit(X, np.array([1, 2, 1, 2], object), classes=["1", "a"])


def test_unseen_value_goes_the_same_way_when_predicted_and_when_learnt():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"c": rng.choice(["a", "b"], 5000, p=[0.3, 0.7])})
    y = (X["c"] == "b").to_numpy()
    tree = VFDT(nominal_split="one_vs_rest", delta=1e-3).fit(X, y)
    assert tree.report()["splits"] == 1
    new = pd.DataFrame({"c": ["never seen"]})
    predicted = tree.predict(new)[0]
    assert tree.test_then_train(new, [True])[0] == predicted


def test_thousands_of_cells():
    tree = VFDT(head=10)
    X = np.zeros((20, 5000))
    tree.fit(X, np.arange(20) % 2)
    assert tree._open_trainer().board.geometry.max_cells >= 5000


def test_split_below_a_node_that_is_kept_takes_its_turn():
    """One instance makes a node's trial and one below due; the upper one, late, changes nothing."""
    rng = np.random.default_rng(70)
    X = rng.random((3000, 3))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.7) ^ (rng.random(3000) < 0.1)
    y[1500:] ^= X[1500:, 2] > 0.6
    X[rng.random(X.shape) < 0.05] = np.nan
    options = {"grace": 100, "inner_grace": 300}
    board = Geometry(lanes=3, passes=1, bins=8, slots=300, naive_bayes=True)
    whole = EFDT(board=open_board("emulated", board), **options).fit(X, y)
    for seed in range(5):
        late = LateBoard(open_board("emulated", board), random.Random(seed))
        tree = EFDT(board=late, **options)
        for part in np.split(np.arange(3000), [2000, 2400, 2401, 2801]):
            tree.partial_fit(X[part], y[part], classes=[False, True])
        assert tree.difference(whole) is None

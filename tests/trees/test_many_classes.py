"""Many classes, most of them more than hardware counts: the reference's trees, saved trees, new classes."""

import random

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import HARDWARE_CLASSES, Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT
from comparison import agree

CLASSES = (40, 153, 1024)
CAPACITIES = [0, 0, 5]
BAYES_ERROR = 0.023  # bits, of a term of naive Bayes
KINDS = {"vfdt": (VFDT, ReferenceVFDT, False), "efdt": (EFDT, ReferenceEFDT, True)}


def stream(seed, classes, count):
    """Codes and labels: squares of a board, some labels wrong, some values missing."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    side = int(np.ceil(classes**0.5))
    codes = np.stack([rng.integers(0, top, count) for top in (250, 250, 5)], axis=1).astype(np.uint8)
    labels = (codes[:, 0].astype(int) * side // 250 * side + codes[:, 1].astype(int) * side // 250) % classes
    labels = np.where(rng.random(count) < 0.05, rng.integers(0, classes, count), labels)
    codes[rng.random(codes.shape) < 0.02] = 255
    return codes, labels.astype(np.int32)


def trainer_on(board, anytime, prediction, classes, delta=0.05):
    cells = CellMap.build(CAPACITIES, board.geometry.bins)
    policy = SplitPolicy(delta=delta, grace=100, anytime=anytime, inner_grace=500)
    return Trainer(board, cells, policy, classes, prediction=prediction)


def geometry(classes, slots=400):
    return Geometry(lanes=2, passes=2, bins=8, classes=classes, slots=slots, count_width=24, naive_bayes=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "classes, prediction",
    [
        # The reference takes a millisecond for naive Bayes of a thousand classes.
        pytest.param(classes, prediction, marks=[pytest.mark.slow] * (classes > 1000 and prediction == "nb"))
        for classes in CLASSES
        for prediction in ("mc", "nb")
    ],
)
def test_equals_reference(classes, kind, prediction):
    codes, labels = stream(classes, classes, 20_000)
    _, reference, anytime = KINDS[kind]
    trainer = trainer_on(open_board("emulated", geometry(classes)), anytime, prediction, classes)
    predictions = trainer.learn(codes, labels)
    options = {"inner_grace": 500} if anytime else {}
    expected = reference(CAPACITIES, classes, bins=8, delta=0.05, grace=100, leaf_prediction=prediction, **options)
    wanted = expected.learn(codes, labels)
    agree(trainer, expected)
    assert expected.event_counts.splits > (20 if anytime else -1)
    differ = predictions != wanted
    if prediction == "nb":  # not where two classes are about equally likely
        differ &= expected.gaps > 2 * BAYES_ERROR * (len(CAPACITIES) + 1)
    assert not differ.any()
    assert len(np.unique(predictions)) > classes // 3 or not anytime


@pytest.mark.parametrize("anytime", [False, True])
def test_a_late_board_agrees(anytime):
    """Of as many classes as hardware counts."""
    classes = HARDWARE_CLASSES
    codes, labels = stream(classes + 1, classes, 3000)
    sizes = geometry(classes, slots=60)
    direct, late = (
        trainer_on(board, anytime, "nba", classes, delta=0.5)
        for board in (
            open_board("emulated", sizes),
            LateBoard(GoldenBoard(sizes.replace(nodes=256)), random.Random(classes)),
        )
    )
    expected = direct.learn(codes, labels)
    assert direct.event_counts.splits and len(np.unique(expected)) > classes / 2
    assert (late.learn(codes, labels) == expected).all()
    assert direct.nodes.difference(late.nodes) is None
    mine, theirs = checkpoint.read(direct), checkpoint.read(late)
    assert all((mine[name] == theirs[name]).all() for name in mine)
    leaves = direct.nodes.leaves()
    leaves = np.resize(leaves[direct.nodes.slot[leaves] >= 0], 200)
    for scores in (False, True):
        found = direct.driver.predict(codes[:200], leaves, scores)
        assert (late.driver.predict(codes[:200], leaves, scores) == found).all()


def frame(seed, classes, count):
    """A stream as names of classes, with numbers that are not codes."""
    codes, labels = stream(seed, classes, count)
    X = pd.DataFrame({"a": codes[:, 0] / 7.0, "b": codes[:, 1] - 60.0, "c": codes[:, 2].astype(float)})
    return X, np.array([f"c{label:04}" for label in labels], object)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", CLASSES)
def test_save_and_load_go_on_as_if_nothing_had_happened(classes, kind, tmp_path):
    X, y = frame(classes + 2, classes, 6000)
    names = [f"c{k:04}" for k in range(classes)]
    learner = KINDS[kind][0]
    whole, first = learner(delta=0.1), learner(delta=0.1)
    expected = whole.test_then_train(X, y, names)
    head = first.test_then_train(X[:3100], y[:3100], names)
    first.save(tmp_path / "tree")
    second = learner.load(tmp_path / "tree")
    assert (second.predict(X) == first.predict(X)).all()
    assert (second.predict_proba(X[:300]) == first.predict_proba(X[:300])).all()
    tail = second.test_then_train(X[3100:], y[3100:])
    assert (np.concatenate([head, tail]) == expected).all()
    assert whole.difference(second) is None
    shares = whole.predict_proba(X[:300])
    assert shares.shape == (300, classes) and (np.abs(shares.sum(axis=1) - 1) < 1e-9).all()
    assert (whole.classes_[shares.argmax(axis=1)] == whole.predict(X[:300])).all()


def test_a_saved_tree_of_many_classes_does_not_go_to_hardware(tmp_path):
    X, y = frame(3, 40, 1000)
    tree = VFDT().fit(X, y)
    tree.save(tmp_path / "tree")
    with pytest.raises(ValueError, match="classes must be 2 to 32 in hardware, not 40"):
        VFDT.load(tmp_path / "tree", board="simulated", geometry=geometry(40).replace(nodes=64))


def test_classes_that_come_later_find_room_beyond_those_of_hardware():
    X, y = frame(4, 300, 3000)
    tree, whole = EFDT(), EFDT()
    for instance, label in zip(X.to_dict("records"), y, strict=True):
        tree.learn_one(instance, label)
    assert len(tree.classes_) == 300 and tree._trainer.board.geometry.classes >= 300
    assert tree.predict(X[-500:]).tolist() == [tree.predict_one(x) for x in X[-500:].to_dict("records")]
    # Weights are saved up per class, also of those that were not there at first.
    weighed = EFDT()
    for i, (instance, label) in enumerate(zip(X.to_dict("records"), y, strict=True)):
        for weight in (1,) if i < 200 else (0.5, 0.5):
            weighed.learn_one(instance, label, weight)
    assert weighed.difference(tree) is None and weighed.classes_.tolist() == tree.classes_.tolist()
    whole.fit(X, y)
    assert len(whole.classes_) == 300

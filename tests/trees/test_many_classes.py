"""Many classes, most of them more than hardware counts: the reference's trees, saved trees, new classes."""

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT
from bregalad.boards import open_board
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT
from comparison import agree
from marks import nightly

CAPACITIES = [0, 0, 5]
BAYES_ERROR = 0.023  # bits, of a term of naive Bayes
KINDS = {"vfdt": (ReferenceVFDT, False), "efdt": (ReferenceEFDT, True)}


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


def geometry(classes):
    return Geometry(lanes=2, passes=2, bins=8, classes=classes, slots=400, count_width=24, naive_bayes=True)


@pytest.mark.parametrize("kind", KINDS)
# The reference takes a millisecond for naive Bayes of a thousand classes.
@pytest.mark.parametrize(
    "classes, prediction", [(40, "mc"), (40, "nb"), (153, "mc"), (153, "nb"), (1024, "mc"), *nightly((1024, "nb"))]
)
def test_equals_reference(classes, kind, prediction):
    codes, labels = stream(classes, classes, 20_000)
    reference, anytime = KINDS[kind]
    policy = SplitPolicy(delta=0.05, grace=100, anytime=anytime, inner_grace=500)
    cells = CellMap.build(CAPACITIES, 8)
    trainer = Trainer(open_board("emulated", geometry(classes)), cells, policy, classes, prediction=prediction)
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


def frame(seed, classes, count):
    """A stream as names of classes, with numbers that are not codes."""
    codes, labels = stream(seed, classes, count)
    X = pd.DataFrame({"a": codes[:, 0] / 7.0, "b": codes[:, 1] - 60.0, "c": codes[:, 2].astype(float)})
    return X, np.array([f"c{label:04}" for label in labels], object)


def test_a_saved_tree_of_many_classes_does_not_go_to_hardware(tmp_path):
    X, y = frame(3, 40, 1000)
    tree = VFDT().fit(X, y)
    tree.save(tmp_path / "tree")
    assert (VFDT.load(tmp_path / "tree").predict_proba(X) == tree.predict_proba(X)).all()
    with pytest.raises(ValueError, match="classes must be 2 to 32 in hardware, not 40"):
        VFDT.load(tmp_path / "tree", board="simulated", geometry=geometry(40).replace(nodes=64))


def test_classes_that_come_later_find_room_beyond_those_of_hardware():
    """Weights are saved up per class, also of those that were not there at first."""
    X, y = frame(4, 60, 900)
    tree, weighed = EFDT(), EFDT()
    for i, (instance, label) in enumerate(zip(X.to_dict("records"), y, strict=True)):
        tree.learn_one(instance, label)
        for weight in (1,) if i < 200 else (0.5, 0.5):
            weighed.learn_one(instance, label, weight)
    assert len(tree.classes_) == 60 and tree._trainer.board.geometry.classes >= 60
    assert weighed.difference(tree) is None and weighed.classes_.tolist() == tree.classes_.tolist()
    assert tree.predict(X[-500:]).tolist() == [tree.predict_one(x) for x in X[-500:].to_dict("records")]

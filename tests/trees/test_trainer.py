"""The driver on the emulated board: the float64 reference's tree, split by split, and its predictions."""

import pytest
from bregalad.boards import open_board
from bregalad.policy.split_policy import SplitPolicy
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT
from driving import CAPACITIES, OPTIONS, TREES, drifting, geometry, learn_alike, trainer_on
from marks import nightly

CASES = [
    *((tree, {"max_depth": 3}) for tree in TREES),
    *(("vfdt", {"child_counts": counts, "nominal_split": split}) for counts, split in OPTIONS),
    ("vfdt", {"ties": "htat"}),
    (
        "efdt moves",
        {"nominal_split": "one_vs_rest", "bound": "confidence-practical", "criterion": "gini", "max_depth": 3},
    ),
    *nightly(*((tree, {"max_depth": 1}) for tree in TREES)),
]


@pytest.mark.parametrize("tree, options", CASES)
def test_equals_reference(tree, options):
    codes, labels = drifting(2, 8000)
    options = {"delta": 1e-3, "grace": 100, **TREES[tree], **options}
    nominal_split, anytime = options.pop("nominal_split", "multiway"), options.pop("anytime", False)
    board = open_board("emulated", geometry(2000, criterion=options.get("criterion", "information_gain")))
    trainer = trainer_on(board, SplitPolicy(anytime=anytime, **options), nominal_split)
    kind = ReferenceEFDT if anytime else ReferenceVFDT
    reference = kind(CAPACITIES, 2, bins=8, nominal_split=nominal_split, **options)
    learn_alike(trainer, reference, codes, labels, 1777)
    assert reference.event_counts.splits and trainer.nodes.deepest <= options.get("max_depth", 99)

"""What active learning is for: half of the labels, and hardly less accuracy."""

from bregalad import CTree
from bregalad.active import ConfTree
from bregalad.benchmark import streams
from bregalad.evaluation import prequential
from streams import needs


@needs("elec")
def test_conf_tree_is_close_to_full_sampling():
    X, y, schema = streams.load("ELEC")
    stream, classes = [(X, y)], list(schema.classes)
    options = {"nominal": streams.nominal(X, schema), "leaf_prediction": "mc", "slots": 4096, "block": 1}
    full = prequential(CTree(**options), stream, classes)
    half = prequential(ConfTree(CTree(**options), 0.5, seed=1), stream, classes)
    assert half.labels[-1] <= len(y) / 2 < full.labels[-1] == len(y)
    assert full.accuracy[-1] > 0.75 and half.accuracy[-1] > full.accuracy[-1] - 0.01

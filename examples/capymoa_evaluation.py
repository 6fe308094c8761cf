"""A tree in CapyMOA's evaluation: pip install capymoa, and Java."""

from bregalad.capymoa import VFDT
from capymoa.evaluation import prequential_evaluation
from capymoa.stream.generator import SEA

stream = SEA()
learner = VFDT(stream.get_schema(), leaf_prediction="nba")
results = prequential_evaluation(stream, learner, max_instances=10_000)
print(f"Accuracy: {results['cumulative'].accuracy():.2f} %")
assert results["cumulative"].accuracy() > 80

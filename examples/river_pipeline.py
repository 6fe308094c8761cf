"""A tree in River's pipeline and evaluation: pip install 'bregalad[river]'."""

from bregalad.river import VFDT
from river import datasets, evaluate, metrics, preprocessing

model = preprocessing.StandardScaler() | VFDT(leaf_prediction="nba")
accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
print(accuracy)
assert accuracy.get() > 0.8

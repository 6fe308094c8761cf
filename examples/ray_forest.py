"""A forest whose members learn on workers of Ray; without a cluster, on this machine's cores: pip install ray."""

from bregalad.benchmark.streams import load
from bregalad.ensemble import AdaptiveRandomForest

X, y, schema = load("generator:agrawal", 6000)
forest = AdaptiveRandomForest(members=4, engine="ray,workers=2")
right = 0
for start in range(0, len(y), 2000):
    part = slice(start, start + 2000)
    right += (forest.test_then_train(X[part], y[part], classes=schema.classes) == y[part]).sum()
forest.close()
print(f"Accuracy: {right / len(y):.2%}")

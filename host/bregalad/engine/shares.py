"""Class shares of an instance on a board in this process, in one compiled call: two take longer than all they do."""

from ..compiled import njit
from .learn import predict
from .odds import odds_of_one


@njit()
def predict_shares(given, predictor, shares):
    """Write the class shares of the first instance, as ``predict_proba`` tells them, to a float64 array (classes,)."""
    leaf, label, bayes = predict(given, predictor)
    if bayes:
        odds_of_one(given.work.slots.scores, shares)
        return
    counts, total = given.work.tree.matrices[0], 0
    for k in range(len(shares)):
        total += counts[leaf, k]
    if not total:
        shares[:] = 0.0
        shares[label] = 1.0
        return
    for k in range(len(shares)):
        shares[k] = counts[leaf, k] / total

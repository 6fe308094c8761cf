"""Route, predict and count, compiled.

All in one file: Numba's cache does not see when functions or constants of another file change.
Arrays go one by one, not as ``Arrays``: Numba counts references on every access to a tuple of them.
"""

import math

import numpy as np
from numba import njit

__all__ = [
    "FIXED",
    "GAUSSIAN",
    "HIGH",
    "LEAF",
    "LOW",
    "MULTIWAY",
    "NUMERIC",
    "ONE_VS_REST",
    "PREDICTIONS",
    "VFML",
    "WEIGHT",
    "ZOOMED",
    "advance",
    "all_below",
    "majority",
    "visit",
]

LEAF, NUMERIC, MULTIWAY, ONE_VS_REST = range(4)  # kinds of a node
ZOOMED, FIXED, VFML, GAUSSIAN = range(4)  # kinds of an observer
WEIGHT, MEAN, SQUARES, LOW, HIGH = range(5)  # of ``moments``
PREDICTIONS = ("mc", "nb", "nba")
MC, NB, NBA = range(3)

BINS, LEAST = 3, 0.5  # naive Bayes: a bin and those beside it, which are taken to hold half as much at least
SMOOTHING = 16  # naive Bayes: a count of n weighs n + 1/16, against n_k + 1 instances


# Routing


@njit(cache=True)
def branch_of(node, value):
    """Which child a value goes to; NaN is missing."""
    if value != value:
        return node["default"]
    if node["kind"] == NUMERIC:
        return 1 if value >= node["threshold"] else 0
    if node["kind"] == ONE_VS_REST:
        return 1 if value != node["threshold"] else 0
    return np.int64(value) if 0 <= value < node["width"] else node["default"]


# Counting; ``zoom`` and the like are those of one row


@njit(cache=True, inline="always")
def fixed_bin(limits, bins, attribute, value):
    low, high = limits[attribute, 0], limits[attribute, 1]
    if not high > low:
        return 0
    index = np.int64(min(max((value - low) / (high - low) * bins, 0.0), bins - 1.0))
    # Rounding must not put a value on the other side of a threshold than routing does.
    if index > 0 and value < low + (high - low) / bins * index:
        index -= 1
    elif index < bins - 1 and value >= low + (high - low) / bins * (index + 1):
        index += 1
    return index


@njit(cache=True)
def find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value):
    """Where a known value is counted, -1 if it is not."""
    capacity = capacities[attribute]
    if capacity > 0:
        return np.int64(value) if 0 <= value < capacity else -1
    if kind == ZOOMED:
        return min(max(np.int64(value) - zoom[attribute, 0], 0) >> zoom[attribute, 2], bins - 1)
    if kind == FIXED:
        return fixed_bin(limits, bins, attribute, value)
    return max(_edges_up_to(edges, used, attribute, value) - 1, 0)


@njit(cache=True)
def _edges_up_to(edges, used, attribute, value):
    """How many edges are at or below a value."""
    low, high = 0, used[attribute]
    while low < high:
        middle = (low + high) // 2
        if edges[attribute, middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _new_bin(table, edges, used, bins, attribute, value):
    """Give a new value its own bin while there is room; until then every bin is one value."""
    count = used[attribute]
    at = _edges_up_to(edges, used, attribute, value)
    if count == bins or (at > 0 and edges[attribute, at - 1] == value):
        return
    for i in range(count, at, -1):
        edges[attribute, i] = edges[attribute, i - 1]
        table[attribute, i] = table[attribute, i - 1]
    edges[attribute, at] = value
    table[attribute, at] = 0
    used[attribute] = count + 1


@njit(cache=True)
def observe(kind, bins, capacities, limits, table, zoom, edges, used, moments, x, label):
    """Count an instance's attributes in one row; NaN is missing."""
    for attribute in range(len(x)):
        value = x[attribute]
        if value != value:
            continue
        numeric = capacities[attribute] == 0
        if numeric and kind == GAUSSIAN:
            # Welford, Technometrics 1962.
            weight = moments[attribute, label, WEIGHT] + 1
            delta = value - moments[attribute, label, MEAN]
            mean = moments[attribute, label, MEAN] + delta / weight
            moments[attribute, label, WEIGHT] = weight
            moments[attribute, label, MEAN] = mean
            moments[attribute, label, SQUARES] += delta * (value - mean)
            if weight == 1 or value < moments[attribute, label, LOW]:
                moments[attribute, label, LOW] = value
            if weight == 1 or value > moments[attribute, label, HIGH]:
                moments[attribute, label, HIGH] = value
            continue
        if numeric and kind == VFML:
            _new_bin(table, edges, used, bins, attribute, value)
        index = find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value)
        if index >= 0:
            table[attribute, index, label] += 1


@njit(cache=True)
def _deviation(moments):
    """The standard deviation of a sample."""
    return math.sqrt(moments[SQUARES] / (moments[WEIGHT] - 1)) if moments[WEIGHT] > 1 else 0.0


@njit(cache=True)
def density_log2(moments, value):
    """log2 of a normal density; a class of one value only is a point."""
    if moments[WEIGHT] == 0:
        return -np.inf
    deviation = _deviation(moments)
    if deviation == 0:
        return 0.0 if value == moments[MEAN] else -np.inf
    z = (value - moments[MEAN]) / deviation
    return -math.log2(math.sqrt(2 * math.pi) * deviation) - z * z / 2 * math.log2(math.e)


@njit(cache=True)
def _below(moments, value):
    """How many of a class are estimated at or below a value, as in MOA."""
    if value < moments[LOW]:
        return 0.0
    if value >= moments[HIGH]:
        return moments[WEIGHT]
    z = (value - moments[MEAN]) / _deviation(moments)
    return moments[WEIGHT] * (1 + math.erf(z / math.sqrt(2))) / 2


@njit(cache=True)
def all_below(moments, values):
    """``_below`` of (attributes, classes) at (attributes, values)."""
    result = np.zeros((len(values), values.shape[1], moments.shape[1]))
    for attribute in range(len(values)):
        for i in range(values.shape[1]):
            for label in range(moments.shape[1]):
                if moments[attribute, label, WEIGHT] > 0 and not np.isnan(values[attribute, i]):
                    result[attribute, i, label] = _below(moments[attribute, label], values[attribute, i])
    return result


# Predicting; what naive Bayes does is here and nowhere else


@njit(cache=True)
def majority(base, own, fallback):
    """The class with most counts, the lower of equal ones; ``fallback`` without any."""
    best, most = fallback, 0.0
    for label in range(len(own)):
        count = base[label] + own[label]
        if count > most:
            best, most = label, count
    return best


@njit(cache=True)
def _smoothed(count):
    return np.log2(SMOOTHING * count + 1)


@njit(cache=True)
def naive_bayes(kind, bins, capacities, limits, own, table, zoom, edges, used, moments, x, scores):
    """Write log2 of every class's share, up to what all have in common, to ``scores``."""
    for label in range(len(own)):
        # A class that the leaf has not seen has no share.
        scores[label] = np.log2(own[label]) if own[label] else -np.inf
    for attribute in range(len(x)):
        value = x[attribute]
        if value != value:
            continue
        if kind == GAUSSIAN and capacities[attribute] == 0:
            for label in range(len(own)):
                scores[label] += density_log2(moments[attribute, label], value)
            continue
        index = find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value)
        if index >= 0:
            there = bins if kind != VFML else used[attribute]
            for label in range(len(own)):
                count = _smoothed(table[attribute, index, label])
                if capacities[attribute] == 0:
                    below = _smoothed(table[attribute, index - 1, label]) if index > 0 else 0.0
                    above = _smoothed(table[attribute, index + 1, label]) if index + 1 < there else 0.0
                    least = count + np.log2(LEAST)
                    count = (count + max(below, least) + max(above, least)) / BINS
                scores[label] += count - np.log2(SMOOTHING * (own[label] + 1))


@njit(cache=True)
def best_and_gap(scores):
    """The lower class of equal best scores, and by how much it leads the next class."""
    best, second = 0, -np.inf
    for label in range(1, len(scores)):
        if scores[label] > scores[best]:
            second = scores[best]
            best = label
        elif scores[label] > second:
            second = scores[label]
    return best, scores[best] - second if scores[best] > second else 0.0


@njit(cache=True)
def bayes_decides(mode, bayes_right, majority_right):
    """Whether naive Bayes or the majority predicts."""
    return mode == NB or mode == NBA and bayes_right >= majority_right


# The stream


@njit(cache=True)
def visit(
    nodes,
    base,
    own,
    table,
    zoom,
    edges,
    used,
    moments,
    limits,
    capacities,
    kind,
    bins,
    x,
    label,
    top,
    mode,
    whole_path,
    all_due,
    scores,
    path,
):
    """Predict, then learn one instance, from a node on down.

    Parameters
    ----------
    nodes : array of NODE
    base, ..., capacities : arrays
        As in ``statistics.Arrays``.
    kind, bins : int
        Of the observer.
    x, label : float64 (attributes,), int
    top : int
        The node.
    mode : int
        Index into PREDICTIONS.
    whole_path : bool
        Count at every node of the path, not at the leaf only.
    all_due : bool
        The inner nodes that count are due for a trial.
    scores : float64 array (classes,)
        For use here.
    path : int64 array
        Is given the nodes of the path.

    Returns
    -------
    int, float, int
        The prediction; by how much naive Bayes was sure of it; the length of the path.
    """
    at, length = top, 0
    while True:
        path[length] = at
        length += 1
        if nodes[at]["kind"] == LEAF:
            break
        at = nodes[at]["child"] + branch_of(nodes[at], x[nodes[at]["attribute"]])
    leaf = nodes[at]
    row = leaf["row"]
    prediction = majority(base[row], own[row], leaf["fallback"])
    gap = np.inf
    if mode != MC:
        by_bayes = by_majority = prediction
        if own[row].any():
            naive_bayes(
                kind,
                bins,
                capacities,
                limits,
                own[row],
                table[row],
                zoom[row],
                edges[row],
                used[row],
                moments[row],
                x,
                scores,
            )
            by_bayes, gap = best_and_gap(scores)
        if bayes_decides(mode, leaf["bayes_right"], leaf["majority_right"]):
            prediction = by_bayes
        leaf["bayes_right"] += by_bayes == label
        leaf["majority_right"] += by_majority == label
    for level in range(0 if whole_path else length - 1, length):
        node = nodes[path[level]]
        row = node["row"]
        own[row, label] += 1
        observe(kind, bins, capacities, limits, table[row], zoom[row], edges[row], used[row], moments[row], x, label)
        node["since"] += 1
        if all_due and node["kind"] != LEAF:
            node["since"] = node["period"]
    return prediction, gap, length


@njit(cache=True)
def advance(
    nodes,
    base,
    own,
    table,
    zoom,
    edges,
    used,
    moments,
    limits,
    capacities,
    kind,
    bins,
    X,
    y,
    start,
    mode,
    whole_path,
    seen,
    multiple,
    at_once,
    begun,
    margin,
    path,
    predictions,
    gaps,
):
    """Predict, then learn instances.

    Parameters
    ----------
    nodes : array of NODE
    base, ..., capacities : arrays
        As in ``statistics.Arrays``.
    kind, bins : int
        Of the observer.
    X, y : float64 (n, attributes), int64 (n,)
    start : int
    mode : int
        Index into PREDICTIONS.
    whole_path : bool
        Count at every node of the path, not at the leaf only.
    seen, multiple : int
        Inner nodes are due when the instances learnt, ``seen`` before the first of X, are a multiple.
    at_once : bool
        Stop behind an instance that makes a node due.
    begun, margin : int
        Stop behind the instance with which a leaf has waited for ``margin`` instances: since it was due, or since it
        was tried, if ``begun`` instances had been learnt then.
    path : int64 array
        For use here.
    predictions, gaps : int64, float64 (n,)
        Are written.

    Returns
    -------
    int, bool
        Where in X it has stopped; whether for a leaf that has waited.
    """
    scores = np.empty(own.shape[1])
    for i in range(start, len(X)):
        predictions[i], gaps[i], length = visit(
            nodes,
            base,
            own,
            table,
            zoom,
            edges,
            used,
            moments,
            limits,
            capacities,
            kind,
            bins,
            X[i],
            y[i],
            0,
            mode,
            whole_path,
            (seen + i + 1) % multiple == 0,
            scores,
            path,
        )
        if at_once:
            for level in range(0 if whole_path else length - 1, length):
                node = nodes[path[level]]
                if node["since"] >= node["period"]:
                    return i + 1, False
        leaf = nodes[path[length - 1]]
        if leaf["since"] - (0 if leaf["tried_at"] == begun else leaf["period"]) >= margin:
            return i + 1, True
    return len(X), False

"""The description as an ONNX graph: tree ensembles say leaves and codes, gathers and sums what these predict."""

import json
import re
from itertools import count
from operator import index

import numpy as np

from ..extras import needing
from ..fixed import BAYES_BINS, BAYES_FRACTION
from ..words import shown
from .model import codes_of, edges_of, kept

_OLDEST = 13  # opset; before, operators take other inputs
_UNIT = np.log(2) / (BAYES_BINS << BAYES_FRACTION)
_NEVER = -1 << 30  # the score of a class that cannot win
_MEMBERS = (
    *("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids"),
    *("nodes_falsenodeids", "nodes_missing_value_tracks_true"),
    *("target_treeids", "target_nodeids", "target_ids", "target_weights"),
)
_NUMERIC = "known = Identity (X)  table = Identity (X)"
# What is no code of a nominal attribute is missing. Behind the attributes lie the ensemble's own columns.
_NOMINAL = """
    not_below = GreaterOrEqual (X, lowest)  not_above = Less (X, highest)
    inside = And (not_below, not_above)
    known = Where (inside, X, nan)
    asked = Gather <axis = 1> (known, column_attributes)
    from_codes = Sub (asked, column_codes)
    columns = Abs (from_codes)
    table = Concat <axis = 1> (known, columns)
"""
_LEAVES = """
    found = ai.onnx.ml.TreeEnsembleRegressor (table)
    numbers = Cast <to = 6> (found)
    leaf = Gather <axis = 1> (numbers, trees)
    majority = Gather (leaf_class, leaf)
    shares = Gather (leaf_shares, leaf)
"""
_MAJORITY = "class = Identity (majority)  chances = Identity (shares)"
_BAYES = """
    flat_code = Gather <axis = 1> (numbers, codes)  code = Unsqueeze (flat_code, one)
    which = Gather (leaf_bayes, leaf)
    low = Gather (lows, which)  step = Gather (steps, which)
    last = Gather (lasts, which)  first = Gather (firsts, which)
    from_low = Sub (code, low)  above_low = Max (from_low, zero)
    any_bin = Div (above_low, step)  bin = Min (any_bin, last)
    row = Add (first, bin)
    absent = IsNaN (known)  missing = Unsqueeze (absent, one)
    known_row = Where (missing, zero, row)
    small_terms = Gather (terms, known_row)  term = Cast <to = 6> (small_terms)
    sum = ReduceSum <keepdims = 0> (term, two)
    prior = Gather (priors, which)
    score = Add (sum, prior)
    best = ArgMax <axis = 2> (score)
    can_win = Gather (classes_of, which)
    raised_winner = GatherElements <axis = 2> (can_win, best)  winner = Squeeze (raised_winner, two)
    most = GatherElements <axis = 2> (score, best)
    less = Sub (score, most)  exact = Cast <to = 1> (less)
    logarithm = Mul (exact, unit)  bayes_shares = Softmax <axis = 2> (logarithm)
    spread_by_bayes = ScatterElements <axis = 2> (shares, can_win, bayes_shares)
    by_bayes = Gather (leaf_by_bayes, leaf)  raised_by_bayes = Unsqueeze (by_bayes, two)
    class = Where (by_bayes, winner, majority)
    any_chances = Where (raised_by_bayes, spread_by_bayes, shares)
    chances = Gather <axis = 2> (any_chances, classes)
"""
_ONE = "probabilities = Squeeze (chances, one)  elected = Squeeze (class, one)"
_MANY = """
    parts = Mul (chances, part)
    probabilities = ReduceSum <keepdims = 0> (parts, one)
    raised_class = Unsqueeze (class, two)
    told = Equal (raised_class, classes)  counted = Cast <to = 11> (told)
    votes = Mul (counted, weights)
    sum_0 = Gather <axis = 1> (votes, tree_0)
"""
# Votes are added one after the other, for sums depend on the order.
_MORE = "vote_{n} = Gather <axis = 1> (votes, tree_{n})  sum_{n} = Add (sum_{before}, vote_{n})\n"


def write(model, path=None, opset=17):
    """A ``ModelProto`` of a description, or a file; see ``Learner.to_onnx``."""
    with needing("to_onnx"):
        from onnx import checker, defs, helper, numpy_helper, parser
    try:
        opset = index(opset)
    except TypeError as error:
        raise TypeError(f"opset must be an integer, not {shown(opset)}") from error
    if not _OLDEST <= opset <= defs.onnx_opset_version():
        raise ValueError(f"opset must be {_OLDEST} to {defs.onnx_opset_version()}, not {opset}")
    attributes, (kind, labels) = model["attributes"], _labels(model["classes"])
    ensemble = _Ensemble(model)
    text, constants = _program(model, ensemble)
    text = f"""<ir_version: 7, opset_import: ["" : {opset}, "ai.onnx.ml" : 1]>
        learnt (float[n, {len(attributes)}] X) => ({kind}[n] label, float[n, {len(labels)}] probabilities) {{{text}}}"""
    made = parser.parse_model(text)
    made.ir_version, made.producer_name = helper.find_min_ir_version_for(made.opset_import), "bregalad"
    trees = next(node for node in made.graph.node if node.op_type == "TreeEnsembleRegressor")
    trees.attribute.extend(helper.make_attribute(name, each) for name, each in ensemble.members.items())
    constants["labels"] = labels
    made.graph.initializer.extend(numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items())
    known = [{name: each for name, each in attribute.items() if name != "edges"} for attribute in attributes]
    helper.set_model_props(made, {"attributes": json.dumps(known, ensure_ascii=False)})
    checker.check_model(made)
    return made if path is None else kept(made.SerializeToString(), path)


def _labels(classes):
    """Labels as an array, and the name of the type that ONNX has for them."""
    for label in classes:
        if isinstance(label, int) and not -1 << 63 <= label < 1 << 63:
            raise ValueError(f"to_onnx: ONNX's integers have 64 bits with a sign, and the label {label} needs more")
    labels = np.array(classes)
    kinds = {"U": ("string", object), "b": ("bool", bool), "f": ("double", float)}
    kind, dtype = kinds.get(labels.dtype.kind, ("int64", np.int64))
    return kind, labels.astype(dtype)


def _program(model, ensemble):
    """The graph's nodes as a text, and its constants by name."""
    attributes, trees, classes = model["attributes"], model["trees"], len(model["classes"])
    leaves = [node for tree in trees for node in tree["nodes"] if node["kind"] == "leaf"]
    bayes = [leaf["bayes"] for leaf in leaves if "bayes" in leaf]
    shares = np.zeros((len(leaves), classes + bool(bayes)), np.float32)  # the last column takes what cannot win
    for row, leaf in zip(shares, leaves, strict=True):
        row[:classes] = leaf.get("shares", 0)
    constants = {"trees": np.arange(len(trees)), "classes": np.arange(classes), "one": np.array([1])}
    constants |= {"leaf_shares": shares, "leaf_class": np.array([leaf.get("class", 0) for leaf in leaves])}
    constants |= {"two": np.array([2]), "zero": np.int32(0), "unit": np.float32(_UNIT)}
    nominal = [each["kind"] == "nominal" for each in attributes]
    if any(nominal):
        queried, codes = np.array(list(ensemble.columns), np.int64).reshape(-1, 2).T
        highest = [codes_of(each) if each["kind"] == "nominal" else np.inf for each in attributes]
        constants |= {"column_attributes": queried, "column_codes": np.float32(codes), "nan": np.float32(np.nan)}
        constants |= {"lowest": np.float32(np.where(nominal, 0, -np.inf)), "highest": np.float32(highest)}
    text = (_NOMINAL if any(nominal) else _NUMERIC) + _LEAVES
    if bayes:
        by_bayes = np.array(["bayes" in leaf for leaf in leaves])
        constants |= {"leaf_by_bayes": by_bayes, "leaf_bayes": np.maximum(by_bayes.cumsum() - 1, 0)}
        constants |= {"codes": np.arange(len(trees), len(trees) + len(attributes))} | _tables(bayes, classes)
    text += _BAYES if bayes else _MAJORITY
    if len(trees) == 1:
        text += _ONE
    else:
        weights = np.array([[tree["weight"]] for tree in trees])
        text += _MANY + "".join(_MORE.format(n=tree, before=tree - 1) for tree in range(1, len(trees)))
        text += f"elected = ArgMax <axis = 1, keepdims = 0> (sum_{len(trees) - 1})"
        constants |= {f"tree_{tree}": np.int64(tree) for tree in range(len(trees))}
        constants |= {"weights": weights, "part": np.float32(weights / weights.sum())}
    text += "\nlabel = Gather (labels, elected)\n"
    asked_for = set(re.findall(r"\w+", text))
    return text, {name: each for name, each in constants.items() if name in asked_for}


def _tables(leaves, classes):
    """The constants of leaves that predict by naive Bayes."""
    width, most = len(leaves[0]["attributes"]), max(len(leaf["classes"]) for leaf in leaves)
    can_win = np.full((len(leaves), most), classes)
    priors = np.full((len(leaves), most), _NEVER, np.int32)
    terms = [np.zeros((1, most), np.int16)]  # of what is missing
    lows, steps, lasts, firsts = np.zeros((4, len(leaves), width), np.int32)
    rows = 1
    for number, leaf in enumerate(leaves):
        count = len(leaf["classes"])
        can_win[number, :count], priors[number, :count] = leaf["classes"], leaf["prior"]
        for place, table in enumerate(leaf["attributes"]):
            terms.append(np.pad(np.array(table["terms"], np.int16), ((0, 0), (0, most - count))))
            lows[number, place], steps[number, place] = table["low"], 1 << table["shift"]
            lasts[number, place], firsts[number, place] = len(table["terms"]) - 1, rows
            rows += len(table["terms"])
    found = {"classes_of": can_win, "priors": priors, "terms": np.concatenate(terms)}
    return found | {"lows": lows, "steps": steps, "lasts": lasts, "firsts": firsts}


class _Ensemble:
    """The trees of a ``TreeEnsembleRegressor``, one per target: which leaf each tree comes to, and attributes' codes.

    While a tree grows, a leaf is a number, a test a tuple: a column, the least value that goes elsewhere than to the
    first child, whether this one takes what is missing, both children.

    ``columns`` are attributes and codes that are asked for: a column behind the input's has how far the value is from
    the code.
    """

    def __init__(self, model):
        self._edges = [_float32(edges_of(each)) for each in model["attributes"]]
        self.columns, self.trees, self._nodes, self._said = {}, 0, [], []
        leaves = count()
        for tree in model["trees"]:
            self._add(self._walk(tree["nodes"], leaves))
        if any("bayes" in node for tree in model["trees"] for node in tree["nodes"]):
            for attribute, edges in enumerate(self._edges):
                self._add(self._codes(attribute, 0, len(edges)))

    @property
    def members(self):
        """The operator's attributes."""
        columns = (*zip(*self._nodes, strict=True), *zip(*self._said, strict=True))
        return dict(zip(_MEMBERS, columns, strict=True)) | {"n_targets": self.trees}

    def _walk(self, nodes, leaves):
        """A tree's tests; ``leaves`` counts what is below them, those of trees before, too."""
        made = [next(leaves) if node["kind"] == "leaf" else None for node in nodes]
        for number in range(len(nodes) - 1, -1, -1):
            if made[number] is None:
                made[number] = self._test(nodes[number], [made[child] for child in nodes[number]["children"]])
        return made[0]

    def _test(self, node, children):
        attribute, default = node["attribute"], node["default"]
        if node["kind"] == "numeric":
            return attribute, self._edge(attribute, node["code"]), int(not default), *children
        if node["kind"] == "one_vs_rest":
            return self._column(attribute, node["code"]), 0.5, int(not default), *children
        rest = children[default]  # of codes that come to no other child, and of what is missing
        for code in {*range(len(children))} - {default}:
            rest = self._column(attribute, code), 0.5, 0, children[code], rest
        return rest

    def _codes(self, attribute, low, high):
        """Which of these codes an attribute has; any where it is missing."""
        if low == high:
            return low
        middle = (low + high + 1) // 2
        below = self._codes(attribute, low, middle - 1)
        return attribute, self._edge(attribute, middle), 0, below, self._codes(attribute, middle, high)

    def _edge(self, attribute, code):
        """What values of lower codes lie below."""
        edges = self._edges[attribute]
        return -np.inf if code <= 0 else np.inf if code > len(edges) else edges[code - 1]

    def _column(self, attribute, code):
        # BRANCH_EQ would do, if onnxruntime did not take several in a row for one, though their leaves differ.
        return self.columns.setdefault((attribute, code), len(self._edges) + len(self.columns))

    def _add(self, tree):
        number, nodes = self.trees, [tree]
        self.trees += 1
        for at, node in enumerate(nodes):  # which grows
            if isinstance(node, tuple):
                column, edge, missing, *children = node
                row = column, "BRANCH_LT", float(edge), len(nodes), len(nodes) + 1, missing
                nodes += children
            else:
                row = 0, "LEAF", 0.0, 0, 0, 0
                self._said.append((number, at, number, float(node)))
            self._nodes.append((number, at, *row))


def _float32(edges):
    """The least float32 at or above each edge: every float32 lies below both, or below neither."""
    edges = np.array(edges, np.float64)
    with np.errstate(over="ignore"):
        found = edges.astype(np.float32)
    return np.where(found < edges, np.nextafter(found, np.float32(np.inf)), found)

"""What a learner predicts by, in JSON's types, of which all exports are made; and their files.

Members are as `schema.json` declares them, which says also what they mean.
"""

import json
from typing import NamedTuple

import numpy as np

from ..boards.base import BoardError
from ..driver.checkpoint import entry_type
from ..driver.trainer import Trainer
from ..engine.statistics.arithmetic import bayes_log2_of
from ..files import check_writable, replacing
from ..fixed import BAYES_BINS, BAYES_FALL, BAYES_TABLE, BAYES_UNIT
from ..geometry import MISSING
from ..tree.nodes import Nodes
from ..tree.split import shift_of
from ..tree.table import MULTIWAY, NUMERIC, ONE_VS_REST


def write(model, path=None):
    """JSON as `schema.json` declares it: a text, or a file."""
    return kept(json.dumps(model, ensure_ascii=False, allow_nan=False, separators=(",", ":")), path)


def kept(text, path):
    """A text, None once it is in a file."""
    if path is None:
        return text
    check_writable(path)
    with replacing(path, "w" if isinstance(text, str) else "wb") as file:
        file.write(text)
    return None


KINDS = {NUMERIC: "numeric", MULTIWAY: "multiway", ONE_VS_REST: "one_vs_rest"}
_LOGS = np.array(BAYES_TABLE)


class Voter(NamedTuple):
    """A tree that votes."""

    weight: float  # of its vote
    nodes: Nodes
    leaves: np.ndarray  # int (n,), those that predict
    labels: np.ndarray  # int (n,), class indices that they predict
    shares: np.ndarray  # float (n, classes)
    bayes: np.ndarray  # bool (n,), which of them predict by naive Bayes instead
    trainer: Trainer | None  # on the board that has counted for these


def describe(learner, voters, quantiser, classes):
    """The description: dict; BoardError if a board has lost what leaves predict by.

    ``learner`` names the class that has learnt it; there are a list of Voter, a Quantiser, and a list of labels.
    """
    attributes = [_attribute(*known) for known in zip(quantiser.schema.attributes, quantiser.books, strict=True)]
    trees = [{"weight": float(voter.weight), "nodes": _nodes(voter, attributes)} for voter in voters]
    _leave_out(attributes, [node for tree in trees for node in tree["nodes"]])
    head = {"format": "bregalad", "version": 1, "learner": learner, "classes": classes}
    return head | {"attributes": attributes, "trees": trees}


def _attribute(attribute, book):
    if attribute.kind == "numeric":
        return {"name": attribute.name, "kind": "numeric", "edges": book.edges.tolist()}
    known = len(book.values)
    unknown = known if known < book.capacity else None
    return {"name": attribute.name, "kind": "nominal", "values": list(book.values), "unknown": unknown}


def _nodes(voter, attributes):
    """Nodes of a tree, parents before children, siblings side by side."""
    nodes, order = voter.nodes, voter.nodes.predicting().tolist()
    number = {node: place for place, node in enumerate(order)}
    found = {
        node: {"kind": "leaf", "class": label, "shares": shares}
        for node, label, shares in zip(voter.leaves.tolist(), voter.labels.tolist(), voter.shares.tolist(), strict=True)
    } | {node: {"kind": "leaf"} | bayes for node, bayes in _bayes(voter, attributes)}
    for node in set(order) - found.keys():
        row = nodes.table[node]
        found[node] = {
            "kind": KINDS[int(row["kind"])],
            "attribute": int(row["attribute"]),
            **({} if row["kind"] == MULTIWAY else {"code": int(row["threshold"])}),
            "children": [number[nodes.standing(child)] for child in nodes.children(node)],
            "default": int(row["default"]),
        }
    return [found[node] for node in order]


def _bayes(voter, attributes):
    """Of leaves that predict by naive Bayes, one after the other: the node, and what it has besides others."""
    nodes = voter.leaves[voter.bayes].astype(np.int64)
    if not len(nodes):
        return
    trainer = voter.trainer
    if trainer.broken:
        raise BoardError(f"{trainer.broken}: leaves that predict by naive Bayes cannot be exported")
    geometry, cells = trainer.board.geometry, trainer.cells
    entries = np.zeros(len(nodes), entry_type(geometry))
    counts = trainer.driver.read(nodes, entries)
    counts = counts.reshape(len(nodes), len(cells), geometry.bins, geometry.classes).astype(np.int64)
    for node, own, bins in zip(nodes.tolist(), entries["class_counts"].astype(np.int64), counts, strict=True):
        known = np.flatnonzero(own)
        if len(known) == 1:  # it predicts no other
            yield node, {"class": int(known[0]), "shares": np.eye(voter.shares.shape[1])[known[0]].tolist()}
        if len(known) > 1:
            tables = []
            for attribute, described in enumerate(attributes):
                found = cells.values(attribute, [bins[cell] for cell in cells.cells_of(attribute)])[:, known]
                low, shift, numeric = 0, 0, described["kind"] == "numeric"
                if numeric:
                    low, high = voter.nodes.code_range(node, attribute)
                    shift = int(shift_of(geometry.bins, high - low))
                # No code comes to other bins.
                terms = _terms(found, own[known], numeric)[: 1 + (max(len(edges_of(described)) - low, 0) >> shift)]
                last = np.flatnonzero((terms[1:] != terms[:-1]).any(axis=1)).max(initial=-1) + 1
                tables.append({"low": low, "shift": shift, "terms": terms[: last + 1].tolist()})
            prior = (BAYES_BINS * _log2(own[known])).tolist()
            yield node, {"bayes": {"classes": known.tolist(), "prior": prior, "attributes": tables}}


def _terms(counts, own, numeric):
    """What each bin adds to each class's score, as ``classify`` has it; int array (bins, classes), as ``counts``.

    ``own``, int array (classes,), are the leaf's.
    """
    logs = _log2(BAYES_UNIT * counts + 1)
    terms = BAYES_BINS * logs
    if numeric:
        beside = np.pad(logs, ((1, 1), (0, 0)))
        terms = logs + np.maximum(beside[:-2], logs - BAYES_FALL) + np.maximum(beside[2:], logs - BAYES_FALL)
    return terms - BAYES_BINS * _log2(own + 1)


def _log2(x):
    """`bayes_log2` of an array."""
    return bayes_log2_of.py_func(x, np.frexp(x)[1].astype(np.int64) - 1, _LOGS)


def _leave_out(attributes, nodes):
    """Leave out the edges of numeric attributes that nothing asks for; codes become others."""
    tables = [node["bayes"]["attributes"] for node in nodes if "bayes" in node]
    for place, attribute in enumerate(attributes):
        if attribute["kind"] == "numeric" and all(len(table[place]["terms"]) == 1 for table in tables):
            tests = [node for node in nodes if node.get("attribute") == place]
            edges = attribute["edges"]
            # No value lies below code 0 or at one beyond the edges.
            kept = sorted({node["code"] for node in tests if 0 < node["code"] <= len(edges)})
            attribute["edges"] = [edges[code - 1] for code in kept]
            new = {code: rank + 1 for rank, code in enumerate(kept)}
            for node in tests:
                node["code"] = new.get(node["code"], 0 if node["code"] <= 0 else len(kept) + 1)


def edges_of(attribute):
    """The edges that a value's code is the number of at or below it; of a nominal attribute of codes."""
    if attribute["kind"] == "numeric":
        return attribute["edges"]
    return list(range(1, codes_of(attribute)))


def codes_of(attribute):
    """How many codes a nominal attribute has, that of unknown values among them."""
    return min(len(attribute["values"]) + (attribute["unknown"] is not None), MISSING)


def numbers_of(quantiser, X):
    """Instances as exports take them; see ``Learner.as_numbers``."""
    numbers, codes = quantiser.values(X, read_only=True)
    found = np.empty((len(numbers), len(quantiser.books)))
    found[:, quantiser.numeric] = numbers
    nominal = np.delete(np.arange(found.shape[1]), quantiser.numeric)
    found[:, nominal] = np.where(codes == MISSING, np.nan, codes)
    return found

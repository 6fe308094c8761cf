"""A tree as a web page: `page.html`, with all that it shows as JSON within."""

import html
import json
import math
from pathlib import Path

import numpy as np

from ...words import counted

_CLASSES = 6  # of a node that are shown: those with most instances
_MOST = 1000  # points of a curve
POINTS = ("labels", "recent", "accuracy", "leaves")  # the first: instances that the tree has learnt


def page(view, title, history, curve):
    """The page, as ``Drawn.to_html``; of a `View`, a `History` or None, and what `points_of` gives or None."""
    found = _nodes(view) | {"events": {"event": [], "instances": []}, "dropped": 0, "curve": curve}
    if history is not None:
        found["events"] = {name: [*map(_plain, history.events[name])] for name in history.events}
        found["dropped"] = history.dropped
    text = json.dumps(found, separators=(",", ":"), allow_nan=False)
    frame = Path(__file__).with_name("page.html").read_text("utf-8").replace("<!--title-->", html.escape(title))
    return frame.replace("/*data*/", text.replace("<", "\\u003c"))  # or a name might end the script


def points_of(curve):
    """What the page shows of a `Curve`: no more than so many points, the last one among them; a dict of POINTS."""
    at = np.linspace(0, len(curve.labels) - 1, min(_MOST, len(curve.labels))).astype(int).tolist()
    return {name: [_plain(getattr(curve, name)[place]) for place in at] for name in POINTS}


def _nodes(view):
    """The tree's nodes by columns, the children of each one behind the other; the root is the first."""
    nodes, counts, order, words, rows = view.nodes, view.counts(), [view.nodes.standing(0)], ["all instances"], []
    for node in order:  # which grows
        children = [nodes.standing(child) for child in nodes.children(node)]
        most = np.sort(np.argsort(-counts[node], kind="stable")[:_CLASSES]).tolist()
        seen = [[k, int(counts[node, k])] for k in most if counts[node, k]]
        decision = view.decision(node) if children else None
        leaf = "" if children else view.leaf(node)
        rows.append((len(order), len(children), leaf, seen, decision and [*map(_plain, decision)]))
        order += children
        words += view.conditions(node) if children else []
    found = dict(zip(("child", "width", "leaf", "counts", "decision"), zip(*rows, strict=True), strict=True))
    size = f"{counted(len(order), 'node')}, {counted(found['width'].count(0), 'leaf', 'leaves')}"
    return {**found, "words": words, "classes": [*map(str, view.classes)], "size": size}


def _plain(value):
    """A value in JSON's types, a number with as many digits as are read; None: it is none."""
    value = getattr(value, "item", lambda: value)()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value if isinstance(value, int | None) else str(value)

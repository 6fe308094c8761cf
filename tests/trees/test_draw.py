"""Trees for people to read, however deep they are."""

import numpy as np
from bregalad import VFDT
from bregalad.tree.table import NUMERIC

_DEPTH = 1024


def deep_tree():
    """A tree whose right children are tests, a thousand levels of them."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    tree = VFDT(leaf_prediction="mc", slots=64).partial_fit(X, X[:, 0] > 2, [False, True])
    tree.close()
    nodes, node = tree._nodes, 0
    for level in range(_DEPTH):
        first = nodes.add(2)
        nodes.kind[node], nodes.attribute[node], nodes.threshold[node] = NUMERIC, level % 2, 128
        nodes.child[node], nodes.width[node], nodes.default[node] = first, 2, level % 2
        nodes.parent[first : first + 2] = node
        nodes.low[first + 1], nodes.high[first : first + 2] = 128, (128, 255)
        node = first + 1
    for name in ("nodes", "entries", "counts"):  # nothing is counted anywhere
        tree._checkpoint[name] = tree._checkpoint[name][:0]
    return tree


def test_a_deep_tree_is_drawn_and_inspected(tmp_path, cli):
    tree = deep_tree()
    assert tree.report()["depth"] == _DEPTH
    lines = tree.draw().splitlines()
    assert len(lines) == 2 * _DEPTH
    assert lines[-1].startswith("    " * (_DEPTH - 1) + "x1 >= ")
    edges = [line for line in tree.to_graphviz().splitlines() if "->" in line]
    assert len(edges) == 2 * _DEPTH
    assert tree.draw(3).splitlines()[-1].strip() == "..."
    tree.save(tmp_path / "tree")
    assert len(cli(f"inspect {tmp_path}/tree").out.splitlines()) == 2 * _DEPTH
    for option in ("--dot", "--statistics"):
        cli(f"inspect {tmp_path}/tree {option}")


def test_order_and_indents_are_those_of_the_tree():
    tree = deep_tree()
    text = tree.draw(2).splitlines()
    assert text[0].startswith("x0 < ") and text[1].startswith("x0 >= ")
    assert text[2].startswith("    x1 < ") and text[3].startswith("    x1 >= ")
    assert text[4] == "        ..."
    dot = tree.to_graphviz(1).splitlines()
    assert dot[2].strip().startswith('n0 [label="x0"]')
    assert dot[4].strip().startswith("n0 -> n1") and dot[6].strip().startswith("n0 -> n2")

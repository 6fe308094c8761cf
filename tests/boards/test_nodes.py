"""The host's node table: what it refuses, what it sends, and that nothing is half done."""

import random

import numpy as np
import pytest
from bregalad.boards.nodes import NodeTable
from bregalad.geometry import NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, EditFlag, Node, NodeKind, pack_edit

SPLIT = Node(NodeKind.NUMERIC, attribute=3, value=100, child=4, default=1)
LEAVES = [(4, Node(slot=1)), (5, Node(slot=2))]


def a_table():
    """Two trees; the first is a root with two leaves, 4 and 5."""
    table = NodeTable(16, 10, 8, roots=2)
    table.edit(9, [(0, SPLIT), *LEAVES])
    return table


def test_a_split_is_its_children_then_the_node():
    table = NodeTable(16, 10, 8)
    commands = [EDIT.unpack(each) for each in table.edit(9, [(0, SPLIT), *LEAVES])]
    assert [int(each["node"]) for each in commands] == [4, 5, 0]
    assert [int(each["flags"]) for each in commands] == [EditFlag.MORE, EditFlag.MORE, 0]
    assert {int(each["opcode"]) for each in commands} == {9}
    last = commands[-1]
    assert int(last["test"]) == NodeKind.NUMERIC << KIND_LOW | 3
    assert [int(last[name]) for name in ("child", "value", "default", "slot")] == [4, 100, 1, NONE]
    assert int(EDIT.unpack(table.keep(9, 4))["flags"]) == EditFlag.KEEP


@pytest.mark.parametrize(
    "changes, message",
    [
        ([(16, Node())], "node must be 0 to 15, not 16"),
        ([(0, Node(kind=5))], "node 0: kind must be 0 to 4, not 5"),
        ([(0, Node(slot=8))], "node 0: slot must be 0 to 7 or NONE, not 8"),
        ([(0, Node(NodeKind.NUMERIC, attribute=10, child=6))], "node 0: attribute must be 0 to 9, not 10"),
        ([(0, Node(NodeKind.MULTIWAY, value=0, child=6))], "node 0: value must be 1 to 255, not 0"),
        ([(0, Node(NodeKind.NUMERIC, value=256, child=6))], "node 0: value must be 0 to 255, not 256"),
        ([(0, Node(NodeKind.MULTIWAY, value=3, child=14))], "node 0: children 14 to 16 must be within 0 to 15"),
        ([(0, Node(NodeKind.ONE_VS_REST, child=6, default=2))], "node 0: default must be 0 to 1, not 2"),
        ([(4, Node()), (4, Node())], "node 4 is given twice: one row for each node"),
        ([(4, Node(NodeKind.FORK, child=6))], "node 4 leads to node 6, which has no row: give it one, too"),
        ([(4, Node(NodeKind.FORK, child=1)), (2, Node())], "node 4 leads to node 1, a root"),
        ([(4, Node(NodeKind.NUMERIC, child=4)), (5, Node())], "node 4 has two parents, node 0 and node 4"),
        ([(1, Node(NodeKind.NUMERIC, child=5)), (6, Node())], "node 5 has two parents, node 0 and node 1"),
        (
            [(4, Node(NodeKind.NUMERIC, child=6)), (5, Node(NodeKind.NUMERIC, child=7)), (6, Node()), (7, Node())],
            "node 7 has two parents, node 4 and node 5",
        ),
        ([(7, Node())], "node 7 hangs in no tree: an orphan below node 7"),
        (
            [
                (0, Node()),
                (4, Node(NodeKind.NUMERIC, child=6)),
                (6, Node(NodeKind.NUMERIC, child=4)),
                (7, Node()),
                (5, Node()),
            ],
            "node 4 leads back to itself: a cycle",
        ),
    ],
)
def test_refuses(changes, message):
    table = a_table()
    rows, parents = dict(table.rows), dict(table._parents)
    with pytest.raises(ValueError, match=f"^{message}$"):
        table.edit(9, changes)
    assert (table.rows, table._parents) == (rows, parents)


def test_refuses_roots_and_keep():
    with pytest.raises(ValueError, match="roots must be 1 to 16, the table's nodes, not 17"):
        NodeTable(16, 10, 8, roots=17)
    with pytest.raises(ValueError, match="no tree has node 6"):
        a_table().keep(9, 6)


def test_an_alternate_takes_its_nodes_place():
    table = a_table()
    # Node 4 gets an alternate, which splits, and takes over.
    table.edit(9, [(4, Node(NodeKind.FORK, child=6)), (6, Node(slot=1)), (7, Node(slot=3))])
    alternate = Node(NodeKind.NUMERIC, attribute=1, value=5, child=8, slot=3)
    table.edit(9, [(7, alternate), (8, Node(slot=4)), (9, Node(slot=5))])
    table.edit(9, [(4, alternate)])
    assert set(table.rows) == {0, 1, 4, 5, 8, 9}
    table.edit(9, [(0, Node())])
    assert set(table.rows) == {0, 1} and not table._parents


def test_random_edits_leave_trees(seed):
    """What it accepts are trees, whatever is tried; what it refuses changes nothing."""
    rng = random.Random(seed)
    table, refused, largest = NodeTable(12, 2, 4, roots=2), 0, 0
    for _ in range(3000):
        changes = {}
        for _ in range(rng.choice([1, 1, 1, 2])):
            node = rng.choice([*table.rows, rng.randrange(12)])
            kind = rng.choice(list(NodeKind))
            changes[node] = row = Node(kind, value=rng.randrange(4), child=rng.randrange(12))
            if rng.random() < 0.8:
                changes.update((child, Node()) for child in row.children if child not in changes and child < 12)
        changes = rng.sample(list(changes.items()), len(changes))
        before = dict(table.rows), dict(table._parents)
        try:
            assert len(table.edit(9, changes)) == len(changes)
        except ValueError:
            refused += 1
            assert (table.rows, table._parents) == before
        seen, left = set(), [0, 1]
        while left:
            node = left.pop()
            assert node not in seen, "a node twice"
            seen.add(node)
            left += table.rows[node].children
        assert seen == set(table.rows)
        assert table._parents == {child: node for node, row in table.rows.items() for child in row.children}
        largest = max(largest, len(seen))
    assert 0 < refused < 3000 and largest > 6


def test_a_node_without_a_row_is_a_keep():
    assert int(EDIT.unpack(pack_edit(9, 3, None, more=True))["flags"]) == EditFlag.KEEP | EditFlag.MORE


def test_branches_are_those_of_the_hosts_tree():
    from bregalad.trees.structure.nodes import MULTIWAY, NUMERIC, ONE_VS_REST, Nodes
    from bregalad.trees.structure.walk import child_of

    row = Nodes(2).table[0]
    for kind in (NUMERIC, MULTIWAY, ONE_VS_REST):
        for value in (1, 2, 200, 255):
            for default in (0, 1):
                row["kind"], row["attribute"], row["child"], row["default"] = kind, 0, 7, default
                row["threshold"] = row["width"] = value
                node = Node(kind, value=value, child=7, default=default)
                assert [7 + node.branch(code) for code in range(256)] == [
                    int(child_of.py_func(row, np.array([code], np.uint8), 0)) for code in range(256)
                ]

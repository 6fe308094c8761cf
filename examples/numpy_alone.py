"""A tree on a board that holds it, with NumPy alone: python numpy_alone.py pynq:design.bit numbers.csv

The columns are numbers under a line of names; the last one is the class, an integer from 0 on.
"""

import sys

import numpy as np
from bregalad.boards import open_board
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.table import LEAF

board_name, file = sys.argv[1:]
with open(file) as lines:
    names = next(lines).strip().split(",")
    data = np.loadtxt(lines, delimiter=",")
numbers, labels = data[:, :-1], data[:, -1].astype(np.int32)

# A code is how many of up to 255 edges a number reaches: here quantiles of the first 1,000.
edges = [np.unique(np.quantile(column[:1000], np.arange(1, 255) / 255)) for column in numbers.T]
codes = np.column_stack([np.searchsorted(*pair, "right") for pair in zip(edges, numbers.T, strict=True)]).astype(
    np.uint8
)

with open_board(board_name) as board:
    cells = CellMap.build([0] * len(edges), board.geometry.bins)
    trainer = Trainer(board, cells, SplitPolicy(block=1), int(labels.max()) + 1)
    predicted = trainer.learn(codes, labels)
print(f"test then train: {np.mean(predicted == labels):.1%} of {len(labels)}")

nodes = trainer.nodes
waiting = [(0, "")]
while waiting:
    at, indent = waiting.pop()
    node = nodes.table[at]
    if node["kind"] == LEAF:
        print(f"{indent}class {nodes.majority[at]}")
        continue
    attribute = int(node["attribute"])
    print(f"{indent}{names[attribute]} < {edges[attribute][node['threshold'] - 1]:.4g}?")
    waiting += [(node["child"] + branch, indent + "  ") for branch in (1, 0)]

"""The compiled board that holds trees: what the golden model does, command by command."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.boards.emulated_tree import EmulatedTreeBoard
from bregalad.geometry import NONE
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command, pack_load
from bregalad.protocol.rows import KEY_BYTES, STEP
from bregalad.protocol.tree import TreeOpcode
from bregalad_sim.tree_lockstep import SIZES, SMALL, run


class InParts(EmulatedTreeBoard):
    """It gets what is sent in parts of any size."""

    def __init__(self, geometry, memory_size, rng):
        super().__init__(geometry, memory_size)
        self._rng = rng

    def send(self, data):
        words = len(data) // self.geometry.bus_bytes
        cuts = sorted(self._rng.choices(range(words + 1), k=self._rng.choice([0, 0, 1, 5])))
        for begin, end in zip([0, *cuts], [*cuts, words], strict=True):
            super().send(data[begin * self.geometry.bus_bytes : end * self.geometry.bus_bytes])


@pytest.mark.parametrize("seeds", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_emulated_board_does_what_the_golden_model_does(changes, seed, seeds):
    for each in range(seeds):
        run(SMALL.replace(**changes), seed + each, 5, InParts)


def test_it_is_the_emulated_board_of_a_geometry_with_nodes():
    board = open_board("emulated", SMALL, memory_size=1 << 10)
    assert isinstance(board, EmulatedTreeBoard) and board.state is None
    assert board.read("ram.bytes") == 1 << 10 and board.read("status.busy") == 0


def anything(seed, commands=20_000):
    """Commands of any fields, most of which are near what there is; a board that takes them."""
    rng, g = random.Random(seed), SMALL
    board = EmulatedTreeBoard(g, 1 << 10)
    board.load(0, np.frombuffer(rng.randbytes(1 << 10), np.uint8))
    for name, fields in {
        "cells": {"count": 4},
        "grace": {"leaf": 3},
        "every": {"records": 5},
        "judge": {"decides": 1},
        "leaf_predictor": {"by": 2, "told": 1},
        "leaf_marks": {"every": 3},
    }.items():
        board.write_fields(name, **fields)

    def word():
        near = [*range(8), g.nodes - 1, g.nodes, 255, 256, NONE - 1, NONE]
        return rng.choice(near) if rng.random() < 0.8 else rng.randrange(1 << 16)

    def some(count):
        data = b"".join(word().to_bytes(2, "little") for _ in range(count // 2))
        return data + bytes(-len(data) % g.bus_bytes)

    for _ in range(commands):
        opcode = rng.choice([*Opcode, *TreeOpcode, rng.randrange(256)])
        command = bytearray([opcode, rng.choice([*range(6), rng.randrange(256)])]) + some(14)[:14]
        if opcode in (TreeOpcode.LAYOUT, TreeOpcode.EDGES):
            command[4:8] = (count := rng.randrange(6)).to_bytes(4, "little")
            command += some(count * (STEP.size if opcode == TreeOpcode.LAYOUT else KEY_BYTES))
        elif opcode == TreeOpcode.ROW:
            command[1] = rng.randrange(6)
            for at, most in ((2, 4), (4, 9), (8, 8)):  # node, word, value
                command[at : at + 2] = rng.randrange(most).to_bytes(2, "little")
        elif opcode == Opcode.LEARN:
            address = rng.choice([0, 5, 1000, 1 << 62, (1 << 64) - 1, rng.randrange(1100)])
            count = rng.choice([0, 1, 5, 300, 0xFFFFFFFF])
            flags = rng.choice([0, *[CommandFlag.MEMORY] * 9])
            command = pack_command(g, opcode, flags=flags, root=rng.randrange(23), count=count, address=address)
        elif opcode == Opcode.LOAD:
            command = pack_load(g, rng.randrange(1040), rng.randbytes(rng.randrange(20)))
        elif opcode == Opcode.WRITE:
            entry = int.from_bytes(command[4:6], "little") == NONE
            command += some(40 if entry else 4 * g.bins * g.classes)
        board.send(bytes(command))
        board.receive()
        if rng.random() < 0.9:
            board.send(pack_command(g, Opcode.RESET))
    return board


@pytest.mark.slow
def test_no_command_reaches_other_memory(seed, tmp_path):
    """With the bounds of every index checked; elsewhere compiled code checks none."""
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, __file__, str(seed)], env=os.environ | checks, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr[-2000:]
    records, predictions = map(int, done.stdout.split())
    assert records > 1000 and predictions > 1000


if __name__ == "__main__":
    board = anything(int(sys.argv[1]))
    print(board.read("records.count"), board.read("predictions.count"))

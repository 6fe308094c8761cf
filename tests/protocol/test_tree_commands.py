"""Commands and reports of boards that hold trees: their sizes, and that no number stands for two things."""

import pytest
from bregalad import Geometry
from bregalad.geometry import NONE
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, Opcode
from bregalad.protocol.reports import Kind
from bregalad.protocol.tree import MANY, TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode, mixed, pack_tree


def test_sizes():
    assert {layout.size for layout in (*COMMANDS.values(), *TREE_COMMANDS.values())} == {COMMAND_BYTES}
    assert all(layout.size % 4 == 0 for layout in TREE_REPORTS.values())


def test_numbers_are_apart():
    assert not set(Opcode) & set(TreeOpcode)
    assert not set(Kind) & set(TreeKind)


@pytest.mark.parametrize("width", [32, 128, 256])
def test_commands_fill_words(width):
    geometry = Geometry(bus_width=width)
    packed = pack_tree(geometry, TreeOpcode.ROW, node=3, payload=b"12345")
    assert len(packed) % geometry.bus_bytes == 0
    assert TREE_COMMANDS[TreeOpcode.ROW].unpack(packed)["node"] == 3


@pytest.mark.parametrize(
    "only, counts, several",
    [
        (NONE, [0, 7, 0], False),
        (NONE, [1, 7, 0], True),
        (1, [0, 7, 0], False),
        (2, [0, 7, 0], True),
        (MANY, [0, 0], True),
    ],
)
def test_several_classes(only, counts, several):
    assert mixed(only, counts) == several

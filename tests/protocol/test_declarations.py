"""The shared declarations: layouts, registers, geometry, and the page made from them."""

import runpy
from pathlib import Path

import numba
import numpy as np
import pytest
from amaranth import Module, Signal, signed, unsigned
from amaranth.lib import data
from amaranth.sim import Simulator
from bregalad.geometry import NONE, PRESETS, Geometry
from bregalad.protocol import commands, nodes, registers, reports, rows
from bregalad.protocol.layout import Field, Layout
from bregalad.protocol.tree import MANY, TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode, mixed, pack_tree
from bregalad.protocol.words import getter, putter, words_before
from bregalad_hw.layout import struct, words_of

LAYOUTS = [
    *commands.COMMANDS.values(),
    nodes.EDIT,
    rows.ROW_COMMAND,
    rows.STEP,
    *(reports.layout_of(kind, Geometry(classes=3), 5) for kind in reports.Kind),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_numpy_and_amaranth_agree_on_every_field(layout):
    """A value packed by numpy lies in the bits that Amaranth gives the field."""
    rng = np.random.default_rng(1)
    shape = struct(layout)
    assert shape.size == layout.bits == 8 * layout.dtype.itemsize
    values = {
        f.name: rng.integers(-1 << min(f.width - 1, 30) if f.signed else 0, 1 << min(f.width - f.signed, 30), f.count)
        for f in layout.fields
    }
    packed = layout.pack(**values)
    constant = data.Const(shape, int.from_bytes(packed, "little"))
    unpacked = layout.unpack(packed)
    for field in layout.fields:
        got, expected = constant[field.name], values[field.name]
        if field.count is None:
            assert got == expected == unpacked[field.name]
        else:
            assert list(got) == expected.tolist() == unpacked[field.name].tolist()


def test_commands_are_16_bytes():
    layouts = [*commands.COMMANDS.values(), nodes.EDIT, rows.ROW_COMMAND, *TREE_COMMANDS.values()]
    assert {layout.size for layout in layouts} == {commands.COMMAND_BYTES}
    assert all(layout.size % 4 == 0 for layout in TREE_REPORTS.values())


def test_numbers_are_apart():
    assert not set(commands.Opcode) & set(TreeOpcode)
    assert not set(reports.Kind) & set(TreeKind)
    names = [register.name for register in registers.REGISTERS]
    addresses = [register.addr for register in registers.REGISTERS]
    assert len(set(names)) == len(names) and len(set(addresses)) == len(addresses)


def test_several_classes():
    assert mixed(NONE, [1, 7, 0]) and mixed(2, [0, 7, 0]) and mixed(MANY, [0, 0])
    assert not mixed(NONE, [0, 7, 0]) and not mixed(1, [0, 7, 0])


@pytest.mark.parametrize("width, count", [(32, 4), (128, 1), (512, 1)])
def test_commands_fill_bus_words(width, count):
    geometry = Geometry(bus_width=width)
    assert len(commands.pack_command(geometry, commands.Opcode.FENCE, token=9)) == count * width // 8
    packed = pack_tree(geometry, TreeOpcode.ROW, node=3, payload=b"12345")
    assert len(packed) % geometry.bus_bytes == 0 and TREE_COMMANDS[TreeOpcode.ROW].unpack(packed)["node"] == 3


TOP = reports.top_candidates_layout(Geometry())
WRITTEN = (reports.HEADER, reports.CANDIDATE, reports.ERROR, reports.FENCE)
ODD = Layout("odd", Field("a", 16), Field("b", 32))


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: registers.find("speed"), KeyError, "no register 'speed'; there are identity"),
        (lambda: getter(ODD, "b"), ValueError, "odd.b lies across words, or is an array"),
        (lambda: getter(TOP, "left"), ValueError, "top_candidates.left lies across words, or is an array"),
        (lambda: putter(ODD, "b"), ValueError, "odd.b lies across words, or is an array"),
        (lambda: putter(reports.HEADER, "slot", "kind"), ValueError, "header: slot, kind are not in the layout's ord"),
        (lambda: words_before(reports.HEADER, "slot"), ValueError, "header.slot does not begin a word"),
        (lambda: words_of(reports.HEADER, kind=1, n=2, label=3), ValueError, "header has no field label, n"),
        (lambda: Geometry.of(7), TypeError, "Geometry or a preset's name, not 7"),
        (lambda: Geometry.of("vast"), ValueError, "no geometry 'vast'; there are tiny"),
    ],
)
def test_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({"lanes": 0}, "lanes must be 1 to 1024, not 0"),
        ({"passes": 257}, "passes must be 1 to 256"),
        ({"bins": 12}, "bins must be a power of two, not 12"),
        ({"bins": 128}, "bins must be 4 to 64"),
        ({"classes": 1025}, "classes must be 2 to 1024, not 1025"),
        ({"slots": 1}, "slots must be 2 to 32768"),
        ({"count_width": 11}, "count_width must be 12 to 32"),
        ({"bus_width": 48}, "bus_width must be a power of two"),
        ({"bus_width": 64, "searchers": 3}, "searchers must be 0 to 2, not 3"),
        ({"searchers": -1}, "searchers must be 0 to 4, not -1"),
        ({"lanes": 1024, "passes": 32}, "at most 32767 cells, not 32768"),
        ({"slots": True}, "slots must be an integer, not True"),
        *(({"slots": 6, "resident": resident}, "resident must be 0") for resident in (1, 6, 7, -1)),
        ({"lanes": 2.5}, "lanes must be an integer, not 2.5"),
        # Of hardware.
        ({"nodes": 0}, "nodes must be 2 to 32768 in hardware, not 0: choose as many"),
        ({"nodes": 40000}, "nodes must be 2 to 32768 in hardware, not 40000"),
        ({"nodes": 2, "lanes": 6}, "lanes must be a power of two in hardware, not 6"),
    ],
)
def test_geometry_errors(sizes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Geometry(**sizes).check_hardware()


def test_searchers_of_a_geometry():
    """As many as the bus has numbers, whatever bus; unless it is said how many."""
    usual = Geometry(bus_width=64, nodes=2)
    assert (usual.searchers, usual.replace(bus_width=256).searchers) == (2, 8)
    none = Geometry.parse(["searchers=0"], usual)
    assert none != usual and none.replace(bus_width=256).searchers == 0
    assert registers.geometry_of(registers.identity_fields(none).__getitem__) == none
    assert Geometry(**none.as_dict()) == none


@pytest.mark.parametrize("name", PRESETS)
def test_resets_are_in_range(name):
    for register in registers.REGISTERS:
        for field in register.fields:
            least, most = field.range(PRESETS[name])
            assert 0 <= least <= field.reset <= most < 1 << field.width, (register.name, field.name)


def test_what_a_board_takes_of_a_word():
    geometry = Geometry(lanes=3, passes=3, classes=5)
    for name, word, taken in [
        ("classes", 0, {"count": 1}),
        ("classes", 5, {"count": 5}),
        ("classes", 6, {"count": 5}),
        ("cells", 0xFFFFFFFF, {"count": 9}),
        ("report", 0b0011, {"all": 1, "neighbours": 1}),
        ("control", 3, {"clear": 1}),
        ("cell", 8 | 1 << 28, {"index": 8, "kind": 0, "first": 0, "other": 0, "base": 0, "write": 1}),
        ("cell", 9 | 1 << 28, {"index": 8, "kind": 0, "first": 0, "other": 0, "base": 0, "write": 0}),
        ("identity", 7, {}),
    ]:
        assert registers.find(name).taken(word, geometry) == taken, name


@pytest.mark.parametrize(
    "geometry",
    [
        *PRESETS.values(),
        Geometry(passes=256, nodes=2),
        *(Geometry(classes=n, count_width=32) for n in (2, 32, 33, 255, 256, 257, 512, 513, 1023, 1024)),
    ],
    ids=lambda geometry: f"{geometry.lanes}x{geometry.passes}-{geometry.classes}",
)
def test_geometries_survive_the_registers(geometry):
    from bregalad_sim.latency import GoldenBoard

    classes = geometry.classes
    with GoldenBoard(geometry) as board:
        assert board.read_geometry() == geometry and board.read("size.passes") == geometry.passes
        board.write("classes.count", classes)
        assert board.read("classes.count") == classes
        with pytest.raises(ValueError, match=f"classes.count: this board takes 1 to {classes}, not {classes + 1}"):
            board.write("classes.count", classes + 1)


def test_hardware_counts_no_more_than_32_classes():
    from bregalad.boards import BoardError, open_board
    from bregalad.boards.linked import LinkedBoard
    from bregalad_hw.accelerator import Accelerator

    Geometry(classes=32, nodes=2).check_hardware()
    for make in (Geometry.check_hardware, Accelerator, lambda geometry: open_board("simulated", geometry)):
        with pytest.raises(ValueError, match="classes must be 2 to 32 in hardware, not 33; the emulated board"):
            make(Geometry(classes=33, nodes=2))
    linked = LinkedBoard.__new__(LinkedBoard)
    linked.name, linked.read = "serial:x", registers.identity_fields(Geometry(classes=33, nodes=2)).get
    with pytest.raises(BoardError, match="geometry registers make no sense .*2 to 32 in hardware, not 33"):
        linked.found_geometry()


def test_protocol_page_is_up_to_date():
    docs = Path(__file__).resolve().parents[2] / "docs"
    made = runpy.run_path(str(docs / "site" / "protocol.py"))["markdown"]()
    assert (docs / "protocol.md").read_text("utf-8") == made, "run: python docs/site/protocol.py > docs/protocol.md"


def test_compiled_getters_read_what_layouts_pack():
    for layout in WRITTEN:
        fields = {field.name: (1 << min(field.width, 62)) - 3 - i for i, field in enumerate(layout.fields)}
        words = np.frombuffer(bytes(4) + layout.pack(**fields), np.uint32)
        for name, value in fields.items():
            assert getter(layout, name).py_func(words, 1) == value, (layout.name, name)
    assert getter(reports.CANDIDATE, "gain").py_func(np.frombuffer(reports.CANDIDATE.pack(gain=-5), np.uint32), 0) == -5
    assert words_before(TOP, "class_counts") == 2


@pytest.mark.parametrize("layout", WRITTEN, ids=lambda layout: layout.name)
def test_compiled_putters_write_what_layouts_pack(layout):
    """Whatever stood there; beside it nothing changes."""
    names = [field.name for field in layout.fields]
    put, layout_words = putter(layout, *names), layout.size // 4
    write = numba.njit(lambda words, at, values: put(words, at, layout_words, values))
    for excess in (0, 1):  # what a field has no room for is left out
        values = [
            -5 if field.signed else (1 << min(field.width, 62)) - 4 - 2 * i for i, field in enumerate(layout.fields)
        ]
        words = np.full(layout.size // 4 + 2, 0xDEADBEEF, np.uint32)
        given = [
            value + (excess << field.width if field.width < 62 else 0)
            for value, field in zip(values, layout.fields, strict=True)
        ]
        assert write(words, 1, tuple(given)) == len(words) - 1
        assert words[1:-1].tobytes() == layout.pack(**dict(zip(names, values, strict=True)))
        assert words[0] == words[-1] == 0xDEADBEEF


@pytest.mark.parametrize("layout", WRITTEN, ids=lambda layout: layout.name)
def test_words_in_hardware_are_what_layouts_pack(layout):
    """Of narrow and of negative values, and where a field is not named."""
    given = {field.name: (-3 if field.signed else 5 + i) for i, field in enumerate(layout.fields)}
    if len(given) > 3:
        del given[layout.fields[0].name]
    signals = {name: Signal(signed(5) if value < 0 else unsigned(5), init=value) for name, value in given.items()}
    want = np.frombuffer(layout.pack(**given), "<u4").tolist()

    async def check(ctx):
        assert [ctx.get(word) for word in words_of(layout, **signals)] == want

    simulator = Simulator(Module())
    simulator.add_testbench(check)
    simulator.run()

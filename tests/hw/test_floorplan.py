"""The lanes' places on a device."""

import re

import pytest
from bregalad_hw.build.floorplan import place_lanes

DEVICE = "LFE5U-85F"


def netlist(lanes, rams=3, multipliers=2):
    """Blocks of lanes as a netlist has them, and a block RAM of something else."""
    kinds = {f"linked.array.lane_{lane}.counters.{i}": "DP16KD" for lane in range(lanes) for i in range(rams)}
    kinds |= {f"linked.array.lane_{lane}.gain.f.{i}": "MULT18X18D" for lane in range(lanes) for i in range(multipliers)}
    kinds["linked.controller.slots"] = "DP16KD"
    cells = {name: {"type": kind, "attributes": {}} for name, kind in kinds.items()}
    return {"modules": {"top": {"cells": cells}}}


def places(design):
    return {
        name: cell["attributes"]["BEL"]
        for name, cell in design["modules"]["top"]["cells"].items()
        if "BEL" in cell["attributes"]
    }


@pytest.mark.parametrize("lanes", [16, 17, 32, 39])
def test_places(lanes):
    design = netlist(lanes, rams=4, multipliers=4)
    assert place_lanes(design, DEVICE) == lanes
    found = places(design)
    assert len(set(found.values())) == len(found) == 8 * lanes
    columns = {}
    for name, bel in found.items():
        column, row, kind, index = re.fullmatch(r"X(\d+)/Y(\d+)/(EBR|MULT18_)(\d)", bel).groups()
        assert int(row) in ((22, 46, 70) if kind == "EBR" else (10, 34, 58))
        # Bel i of a group lies so far from the group's first one.
        offset = 2 * int(index) if kind == "EBR" else int(index)
        columns.setdefault(re.search(r"lane_\d+", name)[0], set()).add(int(column) - offset)
    assert all(len(column) == 1 for column in columns.values())
    if lanes in (16, 32):
        middle = [int(re.match(r"X(\d+)/", bel)[1]) for bel in found.values() if re.search("/Y(34|46)/", bel)]
        assert middle and not any(31 <= column < 96 for column in middle)


@pytest.mark.parametrize("lanes, rams", [(40, 3), (64, 3), (68, 3), (32, 6), (78, 2)])
def test_more_lanes_than_groups(lanes, rams):
    design = netlist(lanes, rams)
    assert place_lanes(design, DEVICE) == lanes
    found = places(design)
    assert len(set(found.values())) == len(found) == (rams + 2) * lanes
    centres = {}
    for name, bel in found.items():
        column, row, kind, index = re.fullmatch(r"X(\d+)/Y(\d+)/(EBR|MULT18_)(\d)", bel).groups()
        assert int(row) in ((22, 46, 70, 82) if kind == "EBR" else (10, 34, 58))
        # A group's first bel is at one of thirteen columns, bel i so far after it.
        offset = 2 * int(index) if kind == "EBR" else int(index)
        assert int(column) - offset in (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114)
        lane = int(re.search(r"lane_(\d+)", name)[1])
        centres.setdefault(lane, {}).setdefault(kind, set()).add((int(column), int(row)))

    def distance(a, b):
        return min(abs(x - p) + abs(y - q) for x, y in a for p, q in b)

    for blocks in centres.values():
        for there in blocks.values():
            assert len({row for _, row in there}) == 1
            assert max(x for x, _ in there) - min(x for x, _ in there) < 5 * rams
    # But for a step over the middle in each row of block RAMs.
    steps = sorted(distance(centres[lane]["EBR"], centres[lane - 1]["EBR"]) for lane in range(1, lanes))
    assert steps[-5] <= 24
    assert sum(distance(blocks["EBR"], blocks["MULT18_"]) for blocks in centres.values()) < (28 * lanes)


@pytest.mark.parametrize("lanes, rams", [(1, 45), (3, 52), (4, 45), (4, 52), (5, 16), (8, 24), (13, 16)])
def test_stripes_of_many_block_rams(lanes, rams):
    design = netlist(lanes, rams)
    assert place_lanes(design, DEVICE) == lanes
    found = places(design)
    assert len(set(found.values())) == len(found) == (rams + 2) * lanes
    stripes = []
    for lane in range(lanes):
        where = [found[f"linked.array.lane_{lane}.counters.{i}"] for i in range(rams)]
        where = [tuple(map(int, re.match(r"X(\d+)/Y(\d+)/", bel).groups())) for bel in where]
        # Neighbours by number, 9 and 10 too, are neighbours on the device.
        for (x, y), (u, v) in zip(where, where[1:], strict=False):
            assert x == u and v - y in (12, 24) or u - x in (2, 3, 5) and y - v == 60
        stripes.append((min(x for x, _ in where), max(x for x, _ in where)))
        assert {y for _, y in where} == {22, 46, 70, 82}
    assert all(right < left for (_, right), (left, _) in zip(stripes, stripes[1:], strict=False))
    # From one side to the other: what no lane needs is left in the middle.
    assert stripes[0][0] == 4 and (lanes == 1 or stripes[-1][1] == 120)
    for lane, (left, right) in enumerate(stripes):
        for i in range(2):
            bel = found[f"linked.array.lane_{lane}.gain.f.{i}"]
            column, row = map(int, re.match(r"X(\d+)/Y(\d+)/MULT", bel).groups())
            assert row == 34 and left - 6 <= column <= right + 2


@pytest.mark.parametrize(
    "device, sizes",
    [
        ("LFE5U-85F", {"lanes": 15}),
        ("LFE5U-85F", {"lanes": 4, "rams": 12}),
        ("LFE5U-85F", {"lanes": 4, "rams": 53}),
        ("LFE5U-85F", {"lanes": 14, "rams": 13}),
        ("LFE5U-85F", {"lanes": 4, "rams": 20, "multipliers": 5}),
        ("LFE5U-85F", {"lanes": 40, "multipliers": 4}),
        ("LFE5U-85F", {"lanes": 69}),
        ("LFE5U-85F", {"lanes": 79, "rams": 1}),
        ("LFE5U-25F", {"lanes": 32}),
    ],
)
def test_left_alone(device, sizes):
    design = netlist(**sizes)
    assert place_lanes(design, device) == 0
    assert not places(design)

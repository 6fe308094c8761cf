"""The lanes' places on a device."""

import re
from collections import defaultdict

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
    """Blocks that have a place, by lane, kind and number: column, row, and the column of their group's first bel."""
    found = {}
    for name, cell in design["modules"]["top"]["cells"].items():
        if "BEL" in cell["attributes"]:
            lane, number = map(int, re.search(r"lane_(\d+)\.\D+(\d+)$", name).groups())
            column, row, kind, index = re.fullmatch(
                r"X(\d+)/Y(\d+)/(EBR|MULT18_)(\d)", cell["attributes"]["BEL"]
            ).groups()
            offset = 2 * int(index) if kind == "EBR" else int(index)
            found[lane, kind, number] = int(column), int(row), int(column) - offset
    return found


def placed(lanes, rams, multipliers=2):
    """The places of all blocks of lanes, each its own."""
    design = netlist(lanes, rams, multipliers)
    assert place_lanes(design, DEVICE) == lanes
    found = places(design)
    assert len(set(found.values())) == len(found) == (rams + multipliers) * lanes
    return found


@pytest.mark.parametrize("lanes", [16, 17, 32, 39])
def test_places(lanes):
    found, columns = placed(lanes, rams=4, multipliers=4), defaultdict(set)
    for (lane, kind, _), (_, row, first) in found.items():
        assert row in ((22, 46, 70) if kind == "EBR" else (10, 34, 58))
        columns[lane].add(first)
    assert all(len(column) == 1 for column in columns.values())
    if lanes in (16, 32):
        middle = [column for column, row, _ in found.values() if row in (34, 46)]
        assert middle and not any(31 <= column < 96 for column in middle)


@pytest.mark.parametrize("lanes, rams", [(40, 3), (64, 3), (68, 3), (32, 6), (78, 2)])
def test_more_lanes_than_groups(lanes, rams):
    centres = defaultdict(lambda: defaultdict(set))
    for (lane, kind, _), (column, row, first) in placed(lanes, rams).items():
        assert row in ((22, 46, 70, 82) if kind == "EBR" else (10, 34, 58))
        assert first in (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114)
        centres[lane][kind].add((column, row))

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
    found, stripes = placed(lanes, rams), []
    for lane in range(lanes):
        where = [found[lane, "EBR", i][:2] for i in range(rams)]
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
            column, row, _ = found[lane, "MULT18_", i]
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

"""Where the lanes' block RAMs and multipliers lie, in an ECP5 netlist.

A lane's logic hangs on its few block RAMs and multipliers, which lie in rows across the device.
Left alone, the analytic placer starts with all lanes on one heap and gets them apart badly: 32
lanes on an 85F have half more wire. With each lane's blocks side by side the lanes are apart from
the start. The groups in the middle stay free: there all that is no lane finds its place, in one
piece and near to all lanes (a tenth less wire than with 32 lanes spread evenly).

More lanes than groups take their block RAMs one after the other, row by row, and each the nearest
two multipliers, in all the shortest way. Few lanes of many block RAMs, as they are where classes
are many, get a stripe of the device each, from its first row of block RAMs to its last.
"""

import re

from scipy.optimize import linear_sum_assignment

_FEW = 16  # lanes; fewer find their places themselves, unless a lane has
_MANY = 13  # block RAMs or more
_FREE = 7  # groups in the middle that have no lane unless they must

# Blocks come in groups of four, side by side; a lane gets a group. By device: columns of the
# groups, and the rows of multipliers and block RAMs that belong together.
_DEVICES = {
    "85F": {
        "columns": (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114),
        "rows": ((10, 22), (34, 46), (58, 70)),
        "more_rams": (82,),  # a row of block RAMs that has no multipliers below it
    },
}
# Of a group: bel and its distance from the group's column.
_MULTIPLIERS = (("MULT18_0", 0), ("MULT18_1", 1), ("MULT18_4", 4), ("MULT18_5", 5))
_RAMS = (("EBR0", 0), ("EBR1", 2), ("EBR2", 4), ("EBR3", 6))
_LANE = re.compile(r"\.lane_(\d+)\.")


def place_lanes(netlist, device):
    """Give the lanes' blocks their places, in place.

    Parameters
    ----------
    netlist : dict
        What Yosys writes with ``write_json`` after ``synth_ecp5``.
    device : str
        Such as ``LFE5U-85F``.

    Returns
    -------
    int
        Lanes that were placed: all of them, or 0 if they are few, do not fit, or the device's rows are not known here.
    """
    plan = _DEVICES.get(device.rpartition("-")[2])
    lanes = {}
    for name, cell in netlist["modules"]["top"]["cells"].items():
        if cell["type"] in ("DP16KD", "MULT18X18D") and (found := _LANE.search(name)):
            lanes.setdefault(int(found[1]), {"DP16KD": [], "MULT18X18D": []})[cell["type"]].append((name, cell))
    if plan is None or not lanes:
        return 0
    most = {kind: max(len(lane[kind]) for lane in lanes.values()) for kind in ("DP16KD", "MULT18X18D")}
    if len(lanes) < _FEW:
        bels = _stripes(plan, len(lanes), most["DP16KD"], most["MULT18X18D"]) if most["DP16KD"] >= _MANY else []
    elif len(lanes) <= len(plan["columns"]) * len(plan["rows"]) and max(most.values()) <= 4:
        bels = _groups(plan, len(lanes))
    else:
        bels = _rows(plan, len(lanes), most["DP16KD"], most["MULT18X18D"])
    for (_, lane), (rams, multipliers) in zip(sorted(lanes.items()), bels, strict=False):
        for kind, there in (("DP16KD", rams), ("MULT18X18D", multipliers)):
            blocks = sorted(lane[kind], key=lambda block: _natural(block[0]))
            for (_, cell), (x, y, bel) in zip(blocks, there, strict=False):
                cell["attributes"]["BEL"] = f"X{x}/Y{y}/{bel}"
    return len(bels)


def _natural(name):
    """So that 10 comes after 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _bels(kinds, column, row):
    return [(column + offset, row, bel) for bel, offset in kinds]


def _groups(plan, lanes):
    """A group per lane: spread evenly, neighbours in the chain of results side by side.

    Each is a list of block RAMs' bels, (x, y, name), and a list of multipliers'.
    """
    rows, columns = plan["rows"], plan["columns"]
    free = min(_FREE, len(rows) * len(columns) - lanes)
    begin = (len(columns) - free) // 2
    groups = []
    for index, (multiplier_row, ram_row) in enumerate(rows):
        there = columns
        if index == len(rows) // 2:
            there = columns[:begin] + columns[begin + free :]
        groups += [(column, multiplier_row, ram_row) for column in (reversed(there) if index % 2 else there)]
    # Floor of an increasing step of at least 1: no group comes twice.
    return [
        (_bels(_RAMS, column, ram_row), _bels(_MULTIPLIERS, column, multiplier_row))
        for column, multiplier_row, ram_row in (groups[i * len(groups) // lanes] for i in range(lanes))
    ]


def _stripes(plan, lanes, rams, multipliers):
    """Bels per lane, as `_groups` gives them; none if they are too few."""
    rows = (*(row for _, row in plan["rows"]), *plan["more_rams"])
    columns = [[(column + offset, row, bel) for row in rows] for column in plan["columns"] for bel, offset in _RAMS]
    wide = -(-rams // len(rows))
    spare = len(columns) - wide * lanes
    if spare < 0 or multipliers > len(_MULTIPLIERS):
        return []
    multiplier_row, _ = plan["rows"][len(plan["rows"]) // 2]
    found = []
    for lane in range(lanes):
        # What no lane needs is left in the middle.
        begin = lane * wide + (spare if 2 * lane >= lanes else 0)
        # Stripes are as wide as a group or wider: no two have the same one in their middle.
        group = plan["columns"][(begin + wide // 2) // len(_RAMS)]
        found.append(
            (
                [bel for column in columns[begin : begin + wide] for bel in column],
                _bels(_MULTIPLIERS, group, multiplier_row),
            )
        )
    return found


def _rows(plan, lanes, rams, multipliers):
    """Bels per lane, as `_groups` gives them; none if they are too few."""
    ram_rows = [
        [bel for column in plan["columns"] for bel in _bels(_RAMS, column, row)]
        for row in (*(row for _, row in plan["rows"]), *plan["more_rams"])
    ]
    pairs = [
        _bels(_MULTIPLIERS, column, row)[part : part + 2]
        for row, _ in plan["rows"]
        for column in plan["columns"]
        for part in (0, 2)
    ]
    columns = -(-lanes // len(ram_rows))
    spare = len(ram_rows[0]) - rams * columns
    if multipliers > 2 or lanes > len(pairs) or spare < 0:
        return []
    blocks = []
    for index, row in enumerate(ram_rows):
        # What no lane needs is left in the middle.
        there = [
            row[begin : begin + rams]
            for begin in (rams * column + (spare if 2 * column >= columns else 0) for column in range(columns))
        ]
        # Neighbours in the chain of results, and those told by the same registers, side by side.
        blocks += reversed(there) if index % 2 else there
    blocks = blocks[:lanes]
    _, chosen = linear_sum_assignment(
        [[abs(block[0][0] - pair[0][0]) + abs(block[0][1] - pair[0][1]) for pair in pairs] for block in blocks]
    )
    return [(block, pairs[index]) for block, index in zip(blocks, chosen, strict=True)]

"""Where the lanes' block RAMs and multipliers lie, in an ECP5 netlist.

A lane's logic hangs on its few block RAMs and multipliers, which lie in rows across the device.
Left alone, the analytic placer starts with all lanes on one heap and gets them apart badly: 32
lanes on an 85F have half more wire. With each lane's blocks side by side the lanes are apart from
the start. The groups in the middle stay free: there all that is no lane finds its place, in one
piece and near to all lanes (a tenth less wire than with 32 lanes spread evenly).
"""

import re

__all__ = ["place_lanes"]

FEW = 16  # lanes; fewer find their places themselves
_FREE = 7  # groups in the middle that have no lane unless they must

# Blocks come in groups of four, side by side; a lane gets a group. By device: columns of the
# groups, and the rows of multipliers and block RAMs that belong together.
_DEVICES = {
    "85F": {
        "columns": (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114),
        "rows": ((10, 22), (34, 46), (58, 70)),
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
        Lanes that were placed: all of them, or 0 if they are few, do not fit, or the device's rows
        are not known here.
    """
    plan = _DEVICES.get(device.rpartition("-")[2])
    lanes = {}
    for name, cell in netlist["modules"]["top"]["cells"].items():
        if cell["type"] in ("DP16KD", "MULT18X18D") and (found := _LANE.search(name)):
            lanes.setdefault(int(found[1]), {"DP16KD": [], "MULT18X18D": []})[
                cell["type"]].append((name, cell))
    if (plan is None or len(lanes) < FEW or len(lanes) > len(plan["columns"]) * len(plan["rows"])
            or any(len(cells) > 4 for lane in lanes.values() for cells in lane.values())):
        return 0
    groups = _groups(plan, len(lanes))
    for (_, lane), (column, multiplier_row, ram_row) in zip(sorted(lanes.items()), groups,
                                                            strict=True):
        for kind, bels, row in (("MULT18X18D", _MULTIPLIERS, multiplier_row),
                                ("DP16KD", _RAMS, ram_row)):
            for (_, cell), (bel, offset) in zip(sorted(lane[kind]), bels, strict=False):
                cell["attributes"]["BEL"] = f"X{column + offset}/Y{row}/{bel}"
    return len(lanes)


def _groups(plan, lanes):
    """A group per lane: spread evenly, neighbours in the chain of results side by side."""
    rows, columns = plan["rows"], plan["columns"]
    free = min(_FREE, len(rows) * len(columns) - lanes)
    begin = (len(columns) - free) // 2
    groups = []
    for index, (multiplier_row, ram_row) in enumerate(rows):
        there = columns
        if index == len(rows) // 2:
            there = columns[:begin] + columns[begin + free:]
        groups += [(column, multiplier_row, ram_row)
                   for column in (reversed(there) if index % 2 else there)]
    # Floor of an increasing step of at least 1: no group comes twice.
    return [groups[i * len(groups) // lanes] for i in range(lanes)]

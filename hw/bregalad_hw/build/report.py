"""What a build came to, in words."""

import re

# What nextpnr calls the same things, family by family.
NOUNS = {
    "TRELLIS_COMB": "LUT4",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "MULT18X18D": "multipliers",
    "TRELLIS_RAMW": "distributed RAMs",
    "LUT4": "LUT4",
    "DFF": "flip-flops",
    "BSRAM": "block RAMs",
    "MULT18X18": "multipliers",
    "MULT9X9": "half multipliers",
    "RAM16SDP4": "distributed RAMs",
}
# What Yosys appends to a register's name for the cells around it.
_CELL = re.compile(
    r"(_(TRELLIS_FF|LUT\d|CCU2C|PFUMX|L6MUX21|MULT18X18D|DPR16X4|DP16KD"
    r"|DFF[A-Z]*|ALU|MUX2_LUT\d|MULT\d+X\d+|RAM16SDP\d)|\$|\.\d+\.).*"
)
# The blocks that stand around everything else.
_AROUND = re.compile(r"^(linked\.|networked\.)?(framed\.)?(accelerator\.)?")


def _place(cell):
    """(block, signal) of a cell."""
    name = _AROUND.sub("", _CELL.sub("", cell))
    block, _, signal = name.rpartition(".")
    return block or "top", signal or "an unnamed signal"


def describe_path(timing, clock):
    """The longest path within a clock, as nextpnr's report has it, in plain words."""
    for path in timing["critical_paths"]:
        if path["from"] == path["to"] == f"posedge {clock}":
            steps = path["path"]
            wires = sum(step["delay"] for step in steps if step["type"] == "routing")
            total = sum(step["delay"] for step in steps)
            cells = [step["to"]["cell"] for step in steps]
            (block, signal), (end_block, end) = _place(steps[0]["from"]["cell"]), _place(cells[-1])
            blocks = dict.fromkeys(_place(cell)[0] for cell in cells)
            through = [each for each in blocks if each not in (block, end_block)]
            by = f" by way of {', '.join(through)}" if through else ""
            return f"{total:.1f} ns, {wires:.1f} of them in wires, from {signal} in {block} to {end} in {end_block}{by}"
    return "no path within the clock"


def table(report):
    """A report as text."""

    def clock(name, mhz):
        met = "met" if mhz["achieved"] >= mhz["asked"] else "MISSED"
        return f"{name:12} {mhz['achieved']:.1f} MHz reached, {mhz['asked']:g} MHz asked: {met}"

    lines = [
        f"board        {report['board']}, {report['device']} grade {report['grade']}",
        "geometry     " + ", ".join(f"{k} {v}" for k, v in report["geometry"].items()),
        clock("array clock", report["clock_mhz"]),
        *(clock(name, other) for name, other in report["other_clocks"].items()),
        "seeds        "
        + ", ".join(f"{each['seed']}: {each['mhz']:.1f} MHz" for each in report["seeds"])
        + f"; kept {report['seed']}, placer {report['placer']}",
    ]
    for name, (used, there) in report["use"].items():
        if name in NOUNS:
            lines.append(f"{NOUNS[name]:17}{used:6} of {there:6}{100 * used / there:5.0f} %")
    lines += [
        f"longest path {report['critical_path']}",
        "tools        " + ", ".join(f"{k} {v}" for k, v in report["tools"].items()),
        f"time         {report['seconds']} s",
    ]
    return "\n".join(lines)

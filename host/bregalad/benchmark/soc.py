"""How much of its bus the core in a system on chip takes while records stream in: its RTL, with a simulated memory.

Records lie packed in memory and are learnt in one LEARN. Memory answers 20 clocks after a burst is asked for, then a
word per clock.

    python -m bregalad.benchmark.soc

JSON lines, from the core's own counters: clocks of LEARN, and bus words of records per clock.
"""

import json

import numpy as np

from ..boards.mapped import MappedBoard
from ..geometry import Geometry
from ..protocol.commands import CommandFlag, Opcode, pack_command
from .load import Load, begin

__all__ = ["GEOMETRY", "LOADS", "measure"]

_TOKEN = 0x50C50C  # no count of a report's end

GEOMETRY = Geometry(lanes=32, passes=1, bins=16, classes=2, slots=64, bus_width=256, banks=2)
LOADS = {
    "32 attributes, no trials": Load(32, grace=0),
    "32 attributes, grace 200": Load(32),
    "28 attributes, grace 200": Load(28),
}


def measure(geometry, load, count=20_000, *, latency=20):
    """Clocks and beats of ``count`` records of a `Load`: a dict."""
    from bregalad_sim.soc import SimulatedMap

    simulated = SimulatedMap(geometry, latency=latency, pace=1000)
    with MappedBoard(simulated) as board:
        records = np.frombuffer(begin(board, load, count=count), np.uint8)
        board.load(0, records)
        board.send(pack_command(geometry, Opcode.LEARN, flags=CommandFlag.MEMORY, count=count, address=0))
        board.send(pack_command(geometry, Opcode.FENCE, token=_TOKEN))
        while not board.receive(wait=True).endswith(_TOKEN.to_bytes(4, "little")):
            pass
        counters = board.counters()
    beats = -(-records.size // geometry.bus_bytes)
    return {
        "records": count,
        "beats": beats,
        "clocks": counters["learning"],
        "beats_per_clock": round(beats / counters["learning"], 4),
        **{name: value for name, value in counters.items() if name.startswith("stall")},
    }


def main():
    """The command line."""
    for name, load in LOADS.items():
        print(json.dumps({"load": name, **measure(GEOMETRY, load)}), flush=True)


if __name__ == "__main__":
    main()

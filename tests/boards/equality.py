"""Run the same random commands on a board and on the golden model; compare all that shows."""

from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.registers import CONFIGURATION, EVENTS, find
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.traffic import Traffic

_TOKEN = 1


def check_equal(board, rng, rounds, commands):
    """Assert that reports, status and counters of events agree, round by round.

    Parameters
    ----------
    board : Board
        Fresh; its memory is written.
    rng : random.Random
    rounds : int
        Configurations to try, every other one of any words; statistics stay from one to the next.
    commands : int
        Random commands per round, sent in random pieces.
    """
    geometry = board.geometry
    golden = GoldenBoard(geometry, board.memory_size)
    memory = golden.model.memory
    traffic = Traffic(geometry, rng, memory)
    for index in range(rounds):
        if index % 2:
            # Words that the driver refuses, as another one may not.
            for name, word in traffic.words():
                for each in (board, golden):
                    each._write_register(find(name), word)
        else:
            for name, fields in traffic.configuration():
                for each in (board, golden):
                    each.write_fields(name, **fields)
        for register in CONFIGURATION:
            assert board.read_register(register.name) == golden.read_register(register.name), register.name
        traffic.free = 0
        traffic.loaded = []
        memory.faults = {}
        stream = b"".join(traffic.command(faults=True) for _ in range(commands))
        # A fault may have halted the board.
        stream += pack_command(geometry, Opcode.RESET) + traffic.checkpoint(token=_TOKEN)
        board.load(0, bytes(memory.data))
        board.faults = memory.faults
        for piece in _pieces(stream, geometry.bus_bytes, rng):
            board.send(piece)
        golden.send(stream)
        want, answer = golden.receive(), b""
        while len(answer) < len(want):
            answer += board.receive(wait=True)
        assert answer == want
        for name in ("status", *EVENTS):
            assert board.read_register(name) == golden.read_register(name), name


def _pieces(data, word, rng):
    while data:
        length = word * rng.choice([1, 2, 5, 40, len(data) // word])
        yield data[:length]
        data = data[length:]

"""Boards for tests of the driver: the golden model as a board, and late reports."""

from bregalad.boards.base import BoardError
from bregalad.boards.device import Device
from bregalad.protocol.reports import layout_of

from .golden import Golden


class GoldenBoard(Device):
    """The golden model behind the driver's interface: slow, and right by definition."""

    name = "golden"

    def __init__(self, geometry, memory_size=4096):
        super().__init__(geometry)
        self.memory_size = memory_size
        self.model = Golden(geometry, memory_size)
        self._reports = b""

    def _read_register(self, register):
        return self.model.read_register(register.name)

    def _write_register(self, register, value):
        self.model.write_register(register.name, value)

    def send(self, data):
        self._reports += self.model.execute(self._words(data).tobytes())

    def receive(self, wait=False):
        if wait and not self._reports:
            raise BoardError("the golden board has no report to give")
        reports, self._reports = self._reports, b""
        return reports

    def load(self, address, data):
        data = self._to_load(address, data)
        self.model.memory.data[address : address + data.size] = data.tobytes()


class LateBoard(Device):
    """Another board whose reports arrive late, a random number at a time, in order.

    Parameters
    ----------
    board : Board
    rng : random.Random
    """

    def __init__(self, board, rng):
        super().__init__(board.geometry)
        self.name = f"late {board.name}"
        self.memory_size = board.memory_size
        self.board = board
        self.rng = rng
        self._held = b""

    def _read_register(self, register):
        return self.board._read_register(register)

    def _write_register(self, register, value):
        self.board._write_register(register, value)

    def send(self, data):
        self.board.send(data)

    def load(self, address, data):
        self.board.load(address, data)

    def receive(self, wait=False):
        self._held += self.board.receive(wait=wait and not self._held)
        count = self.rng.choice((0, 0, 1, 1, 2, 5, 100)) or int(wait)
        end = 0
        while count and end < len(self._held):
            cells = self.board.read("cells.count")
            end += layout_of(self._held[end], self.geometry, cells).size
            count -= 1
        reports, self._held = self._held[:end], self._held[end:]
        return reports

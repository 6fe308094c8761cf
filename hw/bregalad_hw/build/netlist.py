"""A netlist as Yosys writes it in JSON."""

from collections import Counter


class Netlist:
    """A module's cells, how many readers each net has, and some drivers.

    Parameters
    ----------
    module : dict
        Of the netlist's ``modules``; its cells are changed in place.
    kind : str
        Type of the cells whose outputs are looked for.
    output : str
        Their output.

    Attributes
    ----------
    cells : dict
        By name.
    readers : Counter
        Inputs and ports of the module by net, constants among them.
    drivers : dict
        Name of the cell of ``kind`` by the net that it drives.
    """

    def __init__(self, module, kind, output):
        self.cells = module["cells"]
        self.readers = Counter(bit for port in module["ports"].values() for bit in port["bits"])
        self.drivers = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] != "output":
                    self.readers.update(bits)
            if cell["type"] == kind:
                self.drivers[self.net(name, output)] = name

    def net(self, name, port):
        """The net, a number, or the constant at a cell's port of one bit."""
        return self.cells[name]["connections"][port][0]

"""The core as vendors' and others' tools take it: IP-XACT, block designs, a FuseSoC core."""

from pathlib import Path
from xml.etree import ElementTree

from amaranth.back import verilog
from bregalad.protocol.soc import SOC_BYTES

from ..mcmu.axi import ADDRESS_WIDTH
from .top import AxiTop

__all__ = ["NAME", "block_design", "component_xml", "write_package"]

NAME = "bregalad"
VERSION = "1.0"
_HERE = Path(__file__).parent
_SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_XILINX = "http://www.xilinx.com"
_SOURCE = f"{NAME}.sv"
_DESIGNS = ("zynq.tcl", "kria.tcl")
_END = "bitstream.tcl"  # of each
_CONSTRAINTS = "crossing.xdc"  # of two clocks
_CORE = f"""CAPI=2:
name: ::{NAME}:{VERSION}
description: Hoeffding trees learnt from data streams, an accelerator with AXI4-Lite registers and an AXI4 manager
filesets:
  rtl:
    files: [{_SOURCE}]
    file_type: systemVerilogSource
targets:
  default:
    filesets: [rtl]
    toplevel: {NAME}
  lint:
    default_tool: verilator
    filesets: [rtl]
    toplevel: {NAME}
    tools:
      verilator:
        mode: lint-only
"""


def write_package(geometry, folder, clocks=1, **options):
    """Write the core, and what tools want to know of it, to a folder; its files.

    ``bregalad.sv``, ``component.xml`` (IP-XACT, as Vivado reads it), ``zynq.tcl`` and ``kria.tcl`` (block designs for a
    PYNQ-Z2 and a KV260), ``bregalad.core`` (FuseSoC); for two clocks ``crossing.xdc``, which Vivado takes with the IP.

    Parameters
    ----------
    geometry, clocks, **options
        As of `AxiTop`.
    folder : str or Path
        Made if it is not there.
    """
    folder = Path(folder)
    top = AxiTop(geometry, clocks, **options)
    copied = [_CONSTRAINTS] if clocks == 2 else []
    texts = {
        "component.xml": component_xml(top),
        f"{NAME}.core": _CORE,
        **{name: block_design(name, geometry.bus_width) for name in _DESIGNS},
        **{name: (_HERE / name).read_text() for name in copied},
        _SOURCE: verilog.convert(top, name=NAME, emit_src=False),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


def block_design(name, bus_width):
    """The script of one of the block designs, for a core of so many bits."""
    return (_HERE / name).read_text().replace("BUS_BITS", str(bus_width)) + (_HERE / _END).read_text()


def component_xml(top):
    """IP-XACT of an `AxiTop`."""
    for prefix, space in (("spirit", _SPIRIT), ("xilinx", _XILINX)):
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.Element(_tag("component"))
    for name, text in (("vendor", NAME), ("library", NAME), ("name", NAME), ("version", VERSION)):
        _add(root, name, text)
    ports = {name: member for name, member in top.signature.members.items()}
    _bus_interfaces(_add(root, "busInterfaces"), ports)
    space = _add(_add(root, "addressSpaces"), "addressSpace")
    _add(space, "name", "m_axi")
    # IP-XACT's numbers are expressions; Vivado takes no more than 64 bits of a range.
    _add(space, "range", str(1 << ADDRESS_WIDTH), format="long")
    _add(space, "width", str(ADDRESS_WIDTH), format="long")
    memory = _add(_add(root, "memoryMaps"), "memoryMap")
    _add(memory, "name", "s_axi")
    block = _add(memory, "addressBlock")
    for name, text in (("name", "registers"), ("baseAddress", "0"), ("range", str(SOC_BYTES)), ("width", "32")):
        _add(block, name, text)
    _add(block, "usage", "register")
    _model(_add(root, "model"), ports)
    files = _add(_add(root, "fileSets"), "fileSet")
    _add(files, "name", "rtl")
    file = _add(files, "file")
    _add(file, "name", _SOURCE)
    _add(file, "fileType", "systemVerilogSource")
    if top.clocks == 2:
        file = _add(files, "file")
        _add(file, "name", _CONSTRAINTS)
        _add(file, "userFileType", "xdc")
        order = _add(file, "define")  # the clocks must be known before
        _add(order, "name", "processing_order")
        _add(order, "value", "late")
    _add(root, "description", "Hoeffding trees learnt from data streams")
    extensions = _add(_add(root, "vendorExtensions"), "coreExtensions", space=_XILINX)
    families = _add(extensions, "supportedFamilies", space=_XILINX)
    for family in ("zynq", "zynquplus", "artix7", "kintex7", "virtex7", "kintexuplus", "virtexuplus"):
        _add(families, "family", family, space=_XILINX).set(f"{{{_XILINX}}}lifeCycle", "Beta")
    _add(extensions, "displayName", "Bregalad", space=_XILINX)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _tag(name, space=_SPIRIT):
    return f"{{{space}}}{name}"


def _add(parent, name, text=None, space=_SPIRIT, **attributes):
    child = ElementTree.SubElement(parent, _tag(name, space), {_tag(key): value for key, value in attributes.items()})
    child.text = text
    return child


def _bus_interfaces(parent, ports):
    """What is a bus of its own, by which names: AXI by the names of its signals."""
    for bus, mode, reference in (("s_axi", "slave", "memoryMapRef"), ("m_axi", "master", "addressSpaceRef")):
        mapped = {name.removeprefix(f"{bus}_").upper(): name for name in ports if name.startswith(f"{bus}_")}
        interface = _interface(parent, bus, "interface", "aximm")
        _add(_add(interface, mode), reference).set(_tag(reference), bus)
        _map(interface, mapped)
    for name, mode, kind, logical, parameters in (
        ("aclk", "slave", "clock", "CLK", {"ASSOCIATED_BUSIF": "s_axi:m_axi", "ASSOCIATED_RESET": "aresetn"}),
        ("aresetn", "slave", "reset", "RST", {"POLARITY": "ACTIVE_LOW"}),
        ("array_clk", "slave", "clock", "CLK", {}),
        ("interrupt", "master", "interrupt", "INTERRUPT", {"SENSITIVITY": "LEVEL_HIGH"}),
    ):
        if name not in ports:
            continue
        interface = _interface(parent, name, "signal", kind)
        _add(interface, mode)
        _map(interface, {logical: name})
        given = _add(interface, "parameters") if parameters else None
        for key, value in parameters.items():
            parameter = _add(given, "parameter")
            _add(parameter, "name", key)
            _add(parameter, "value", value)


def _interface(parent, name, library, kind):
    """A bus interface with its type; what follows must be added in the schema's order."""
    interface = _add(parent, "busInterface")
    _add(interface, "name", name)
    for tag, type_ in (("busType", kind), ("abstractionType", f"{kind}_rtl")):
        found = _add(interface, tag)
        for key, value in (("vendor", "xilinx.com"), ("library", library), ("name", type_), ("version", "1.0")):
            found.set(_tag(key), value)
    return interface


def _map(interface, mapped):
    maps = _add(interface, "portMaps")
    for logical, physical in mapped.items():
        one = _add(maps, "portMap")
        _add(_add(one, "logicalPort"), "name", logical)
        _add(_add(one, "physicalPort"), "name", physical)


def _model(model, ports):
    view = _add(_add(model, "views"), "view")
    _add(view, "name", "xilinx_anylanguagesynthesis")
    _add(view, "envIdentifier", ":vivado.xilinx.com:synthesis")
    _add(view, "language", "SystemVerilog")
    _add(view, "modelName", NAME)
    _add(_add(view, "fileSetRef"), "localName", "rtl")
    listed = _add(model, "ports")
    for name, member in ports.items():
        port = _add(listed, "port")
        _add(port, "name", name)
        wire = _add(port, "wire")
        _add(wire, "direction", member.flow.name.lower())
        if (width := member.shape if isinstance(member.shape, int) else member.shape.width) > 1:
            vector = _add(wire, "vector")
            _add(vector, "left", str(width - 1), format="long")
            _add(vector, "right", "0", format="long")

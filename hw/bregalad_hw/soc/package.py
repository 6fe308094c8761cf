"""The core as vendors' and others' tools take it: IP-XACT, block designs, a FuseSoC core."""

from pathlib import Path
from xml.etree import ElementTree

from amaranth import Shape
from amaranth.back import verilog
from bregalad.protocol.soc import SOC_BYTES

from ..mcmu.axi import ADDRESS_WIDTH
from .top import AxiTop

NAME = "bregalad"
_VERSION = "1.0"
_HERE = Path(__file__).parent
_SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_XILINX = "http://www.xilinx.com"
_SOURCE = f"{NAME}.sv"
_DESIGNS = ("zynq.tcl", "kria.tcl")
_END = "bitstream.tcl"  # of each
_CONSTRAINTS = "crossing.xdc"  # of two clocks
_CORE = f"""CAPI=2:
name: ::{NAME}:{_VERSION}
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
    ports = top.signature.members
    # IP-XACT's numbers are expressions; Vivado takes no more than 64 bits of a range.
    sizes = _numbers(range=1 << ADDRESS_WIDTH, width=ADDRESS_WIDTH)
    registers = _texts(name="registers", baseAddress="0", range=str(SOC_BYTES), width="32", usage="register")
    sources = [_element("file", *_texts(name=_SOURCE, fileType="systemVerilogSource"))]
    if top.clocks == 2:
        order = _element("define", *_texts(name="processing_order", value="late"))  # the clocks must be known before
        sources.append(_element("file", *_texts(name=_CONSTRAINTS, userFileType="xdc"), order))
    families = [
        _element("family", family, space=_XILINX, lifeCycle="Beta")
        for family in ("zynq", "zynquplus", "artix7", "kintex7", "virtex7", "kintexuplus", "virtexuplus")
    ]
    extensions = _element(
        "coreExtensions",
        _element("supportedFamilies", *families, space=_XILINX),
        _element("displayName", "Bregalad", space=_XILINX),
        space=_XILINX,
    )
    root = _element(
        "component",
        *_texts(vendor=NAME, library=NAME, name=NAME, version=_VERSION),
        _element("busInterfaces", *_bus_interfaces(ports)),
        _element("addressSpaces", _element("addressSpace", *_texts(name="m_axi"), *sizes)),
        _element("memoryMaps", _element("memoryMap", *_texts(name="s_axi"), _element("addressBlock", *registers))),
        _model(ports),
        _element("fileSets", _element("fileSet", *_texts(name="rtl"), *sources)),
        *_texts(description="Hoeffding trees learnt from data streams"),
        _element("vendorExtensions", extensions),
    )
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _element(tag, /, *content, space=_SPIRIT, **attributes):
    """An element with a text, or with other elements."""
    element = ElementTree.Element(f"{{{space}}}{tag}", {f"{{{space}}}{key}": attributes[key] for key in attributes})
    for part in content:
        if isinstance(part, str):
            element.text = part
        else:
            element.append(part)
    return element


def _texts(**texts):
    return [_element(tag, text) for tag, text in texts.items()]


def _numbers(**numbers):
    return [_element(tag, str(number), format="long") for tag, number in numbers.items()]


def _bus_interfaces(ports):
    """What is a bus of its own, by which names: AXI by the names of its signals."""
    for bus, mode, reference in (("s_axi", "slave", "memoryMapRef"), ("m_axi", "master", "addressSpaceRef")):
        mapped = {name.removeprefix(f"{bus}_").upper(): name for name in ports if name.startswith(f"{bus}_")}
        yield _interface(bus, "interface", "aximm", _element(mode, _element(reference, **{reference: bus})), mapped)
    for name, mode, kind, logical, parameters in (
        ("aclk", "slave", "clock", "CLK", {"ASSOCIATED_BUSIF": "s_axi:m_axi", "ASSOCIATED_RESET": "aresetn"}),
        ("aresetn", "slave", "reset", "RST", {"POLARITY": "ACTIVE_LOW"}),
        ("array_clk", "slave", "clock", "CLK", {}),
        ("interrupt", "master", "interrupt", "INTERRUPT", {"SENSITIVITY": "LEVEL_HIGH"}),
    ):
        if name in ports:
            yield _interface(name, "signal", kind, _element(mode), {logical: name}, parameters)


def _interface(name, library, kind, mode, mapped, parameters=()):
    """A bus interface, in the schema's order."""
    types = [
        _element(tag, vendor="xilinx.com", library=library, name=type_, version="1.0")
        for tag, type_ in (("busType", kind), ("abstractionType", f"{kind}_rtl"))
    ]
    maps = [
        _element("portMap", _element("logicalPort", *_texts(name=ours)), _element("physicalPort", *_texts(name=theirs)))
        for ours, theirs in mapped.items()
    ]
    given = [_element("parameter", *_texts(name=key, value=parameters[key])) for key in parameters]
    more = [_element("parameters", *given)] if given else []
    return _element("busInterface", *_texts(name=name), *types, mode, _element("portMaps", *maps), *more)


def _model(ports):
    view = _texts(
        name="xilinx_anylanguagesynthesis",
        envIdentifier=":vivado.xilinx.com:synthesis",
        language="SystemVerilog",
        modelName=NAME,
    )
    files = _element("fileSetRef", *_texts(localName="rtl"))
    listed = []
    for name, member in ports.items():
        width = Shape.cast(member.shape).width
        vector = [_element("vector", *_numbers(left=width - 1, right=0))] if width > 1 else []
        wire = _element("wire", *_texts(direction=member.flow.name.lower()), *vector)
        listed.append(_element("port", *_texts(name=name), wire))
    return _element("model", _element("views", _element("view", *view, files)), _element("ports", *listed))

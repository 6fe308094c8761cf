"""Write the accelerator as Verilog, for a design of your own.

As SystemVerilog, to be exact: it holds assertions.
"""

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument(
        "--geometry",
        nargs="+",
        default=["small"],
        metavar="SIZE",
        help="a preset's name, sizes as lanes=8, or both (default: small)",
    )
    parser.add_argument(
        "--output", default="accelerator.sv", metavar="FILE", help="file to write (default: %(default)s)"
    )
    parser.add_argument(
        "--interface",
        choices=("streams", "axi"),
        default="streams",
        help="commands and reports as streams, or a core for a system on chip, with rings in memory, docs/soc.md "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--package",
        metavar="FOLDER",
        help="write that core to a folder, with IP-XACT, block designs for a PYNQ-Z2 and a KV260, and a FuseSoC core",
    )


def run(args):
    """Write it."""
    from pathlib import Path

    from amaranth.back import verilog
    from bregalad_hw.accelerator import Accelerator
    from bregalad_hw.soc.core import AxiTop

    from ...geometry import PRESETS, Geometry

    geometry = Geometry.parse(args.geometry, PRESETS["small"])
    if args.package:
        from bregalad_hw.soc.package import write_package

        print(f"{', '.join(map(str, write_package(geometry, args.package)))}: {geometry}")
        return 0
    name, kind = ("bregalad", AxiTop) if args.interface == "axi" else ("accelerator", Accelerator)
    Path(args.output).write_text(verilog.convert(kind(geometry), name=name, emit_src=False))
    print(f"{args.output}: module {name}, {geometry}")
    return 0

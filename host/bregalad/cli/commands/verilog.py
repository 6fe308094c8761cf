"""Write the accelerator as Verilog, for a design of your own.

As SystemVerilog, to be exact: it holds assertions.
"""

from ..options import add_sizes


def add_arguments(parser):
    add_sizes(parser, "small")
    parser.add_argument(
        "--output", metavar="FILE", help="file to write (default: accelerator.sv; a --package names its own)"
    )
    parser.add_argument(
        "--interface",
        choices=("streams", "axi"),
        help="commands and reports as streams; or axi, a core for a system on chip with rings in memory, docs/soc.md "
        "(default: streams; axi of a --package)",
    )
    parser.add_argument(
        "--clocks",
        type=int,
        choices=(1, 2),
        default=1,
        help="of such a core: one, or one for its buses and one for the array (default: %(default)s)",
    )
    parser.add_argument(
        "--package",
        metavar="FOLDER",
        help="write the core axi to a folder, with IP-XACT, block designs of a PYNQ-Z2 and a KV260, a FuseSoC core",
    )


def run(args):
    """Write it."""
    if args.package and (args.output or args.interface == "streams"):
        option = f"--interface {args.interface}" if args.output is None else "--output"
        raise ValueError(
            f"--package takes no {option}: it writes the core with --interface axi, and all files that go with it, "
            f"to {args.package}"
        )
    from pathlib import Path

    from amaranth.back import verilog
    from bregalad_hw.accelerator import Accelerator
    from bregalad_hw.soc.top import AxiTop

    from ...geometry import PRESETS, Geometry

    geometry = Geometry.parse(args.geometry, PRESETS["small"])
    if args.package:
        from bregalad_hw.soc.package import write_package

        print(f"{', '.join(map(str, write_package(geometry, args.package, clocks=args.clocks)))}: {geometry}")
        return 0
    if args.interface == "axi":
        name, design = "bregalad", AxiTop(geometry, args.clocks)
    elif args.clocks == 1:
        name, design = "accelerator", Accelerator(geometry)
    else:
        raise ValueError(f"--clocks {args.clocks} is of --interface axi: the accelerator has one clock")
    output = args.output or "accelerator.sv"
    Path(output).write_text(verilog.convert(design, name=name, emit_src=False))
    print(f"{output}: module {name}, {geometry}")
    return 0

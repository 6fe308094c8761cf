"""Curves as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..extras import needing
from .columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..hints import Path
    from .curve import Curve

__all__ = ["compare_plot", "plot"]

_LABELS = {
    "accuracy": "prequential accuracy",
    "kappa": "prequential kappa",
    "recent": "accuracy since the last point",
    "recent_kappa": "kappa since the last point",
    "memory": "memory (MB)",
    "labels": "labels asked for",
    "ties": "tie-broken splits",
    "replaced": "replaced splits",
}


def _figure(**options):
    with needing("a plot"):
        from matplotlib.figure import Figure
    return Figure(layout="constrained", **options)


def plot(curve: Curve, path: Path, title: str = "") -> None:
    """Draw a curve's accuracy, kappa and leaves; the format is that of the file's name."""
    figure = _figure(figsize=(8, 4.5))
    axes = figure.add_subplot()
    axes.plot(
        curve.instances, curve.recent, color="tab:blue", alpha=0.35, linewidth=1, label="accuracy since the last point"
    )
    axes.plot(curve.instances, curve.accuracy, color="tab:blue", label="accuracy so far")
    axes.plot(curve.instances, curve.kappa, color="tab:green", label="kappa so far")
    axes.set(xlabel="instances", ylabel="prequential accuracy, kappa", title=title)
    axes.grid(alpha=0.3)
    other = axes.twinx()
    other.plot(curve.instances, curve.leaves, color="tab:orange", label="leaves")
    other.set(ylabel="leaves", ylim=(0, None))
    handles = [axes.get_legend_handles_labels(), other.get_legend_handles_labels()]
    axes.legend(
        [h for group in handles for h in group[0]],
        [label for group in handles for label in group[1]],
        loc="lower right",
    )
    figure.savefig(path, dpi=120)


def compare_plot(
    curves: Mapping[str, Curve],
    path: Path,
    what: Iterable[str] | str = ("accuracy", "leaves"),
    title: str = "",
    against: str = "instances",
) -> None:
    """Draw several curves into one picture, a panel for each thing compared.

    Parameters
    ----------
    curves : dict of Curve
        By the names of the legend.
    path : str
        Its suffix tells the format.
    what : sequence of str
        Columns of a curve: accuracy, kappa, recent, leaves, ties ...
    title : str
    against : str
        The column along the horizontal axis: instances, seconds, leaves ...

    Raises
    ------
    ValueError
        If there is no curve or a column is unknown.
    ImportError
        If matplotlib is missing; it comes with ``pip install bregalad[demo]``.
    """
    what = (what,) if isinstance(what, str) else tuple(what)
    for name in (*what, against):
        if name not in COLUMNS:
            raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
    if not curves or not what:
        raise ValueError("a comparison needs a curve and a column")
    figure = _figure(figsize=(8, 1 + 3 * len(what)))
    panels = figure.subplots(len(what), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, what, strict=True):
        for label, curve in curves.items():
            panel.plot(getattr(curve, against), getattr(curve, name), label=label, linewidth=1.2)
        panel.set(ylabel=_LABELS.get(name, name))
        panel.grid(alpha=0.3)
    panels[0].set(title=title)
    panels[0].legend()
    panels[-1].set(xlabel=_LABELS.get(against, against))
    figure.savefig(path, dpi=120)

"""Prequential evaluation: every instance is predicted, then learnt."""

from dataclasses import dataclass, field

import numpy as np

__all__ = ["Curve", "prequential"]


@dataclass
class Curve:
    """Prequential results along a stream, one element per point.

    ``accuracy`` is the share of right predictions so far, ``recent`` that since the point before.
    """

    instances: list = field(default_factory=list)
    accuracy: list = field(default_factory=list)
    recent: list = field(default_factory=list)
    leaves: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    trials: list = field(default_factory=list)
    right: int = 0

    def add(self, count, right, report):
        """Append a point: ``right`` of ``count`` more predictions were right."""
        self.right += right
        seen = (self.instances[-1] if self.instances else 0) + count
        self.instances.append(seen)
        self.accuracy.append(self.right / seen)
        self.recent.append(right / count)
        for name in ("leaves", "nodes", "trials"):
            getattr(self, name).append(report[name])

    def write_csv(self, path):
        """Write the points as CSV."""
        names = ("instances", "accuracy", "recent", "leaves", "nodes", "trials")
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(names) + "\n")
            for row in zip(*(getattr(self, name) for name in names), strict=True):
                file.write(",".join(f"{value:.6g}" if isinstance(value, float) else str(value)
                                    for value in row) + "\n")

    def plot(self, path, title=""):
        """Draw accuracy and leaves over the instances; the format is that of the file's name.

        Raises
        ------
        ImportError
            If matplotlib is missing; it comes with ``pip install bregalad[demo]``.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plots need matplotlib: pip install 'bregalad[demo]'") from None

        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(self.instances, self.recent, color="tab:blue", alpha=0.35, linewidth=1,
                  label="accuracy since the last point")
        axes.plot(self.instances, self.accuracy, color="tab:blue", label="accuracy so far")
        axes.set(xlabel="instances", ylabel="prequential accuracy", title=title)
        axes.grid(alpha=0.3)
        other = axes.twinx()
        other.plot(self.instances, self.leaves, color="tab:orange", label="leaves")
        other.set(ylabel="leaves", ylim=(0, None))
        handles = [axes.get_legend_handles_labels(), other.get_legend_handles_labels()]
        axes.legend([h for group in handles for h in group[0]],
                    [label for group in handles for label in group[1]], loc="lower right")
        figure.savefig(path, dpi=120)


def prequential(tree, chunks, classes, *, curve=None, every=2000, limit=None, progress=None):
    """Test, then train ``tree`` on a stream.

    Parameters
    ----------
    tree : StreamTree
    chunks : iterable of (X, y)
    classes : sequence
        All labels.
    curve : Curve, optional
        Points are added to it; so an interrupted run's are not lost.
    every : int
        Instances between points of the curve.
    limit : int, optional
        Instances to stop after.
    progress : callable, optional
        Called with (instances, curve) after every point.

    Returns
    -------
    Curve
    """
    curve = Curve() if curve is None else curve
    seen = 0
    for X, y in chunks:
        for start in range(0, len(y), every):
            room = every if limit is None else min(every, limit - seen)
            take = slice(start, start + room)
            labels = np.asarray(y)[take]
            if not len(labels):
                return curve
            right = tree.test_then_train(X[take], labels, classes) == labels
            seen += len(labels)
            curve.add(len(labels), int(right.sum()), tree.report())
            if progress is not None:
                progress(len(labels), curve)
    return curve

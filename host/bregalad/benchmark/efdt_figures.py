"""Figures 1 and 14 of the EFDT paper, and its KDD'99 and Skin; docs/reproduction/efdt-figures.md says how."""

from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..data.generators import RandomTree
from ..evaluation import prequential
from ..learners.hoeffding import EFDT, VFDT
from . import streams
from .page import table

INSTANCES = 1_000_000
RUNS = 10

CLASSES = (2, 3, 4, 5)
POINTS = 100  # of a curve
_COMMON: dict[str, Any] = {
    "delta": 1e-7,
    "tau": 0.05,
    "grace": 200,
    "leaf_prediction": "nba",
    "slots": 4096,
    "block": 1,
}
LEARNERS = {
    "VFDT": lambda **options: VFDT(**_COMMON, **options),
    "EFDT": lambda **options: EFDT(**_COMMON, inner_grace=2000, variant="paper", **options),
    "EFDT, kdd2018": lambda **options: EFDT(**_COMMON, inner_grace=2000, variant="kdd2018", **options),
}
# MOA 24.07, HoeffdingTree and EFDT, NBA leaves, a run each; docs/results.md says how.
MOA = {
    "5 classes": (0.1795, 0.0433),
    "KDD'99, ordered": (0.0042, 0.0029),
    "Skin, ordered": (0.0005, 0.0005),
    "Skin, shuffled": (0.0117, 0.0063),
}


def run(instances, runs, note=lambda text: None):
    """Run the study with so many instances of each stream, and streams of each kind, by seeds 1, 2 ...

    ``note`` is called with a line of text when a run is done. Returns headings, tables and words in Markdown, list of
    str, and figures by the files that it names.
    """
    curves = {}
    for classes in CLASSES:
        for seed in range(1, runs + 1):
            for name in LEARNERS:
                stream = RandomTree(classes=classes, nominals=5, numerics=0, model_seed=seed)
                curve = _follow(name, stream, instances, {"nominal": stream.schema.nominal})
                curves.setdefault((f"{classes} classes", name), []).append(curve)
                note(f"{classes} classes, tree {seed}, {name}: error {1 - curve.accuracy[-1]:.4f}")
    parts = [f"## Random trees, {instances:,} instances, {runs} runs"]
    figures = _show("efdt-figures.png", [f"{classes} classes" for classes in CLASSES], curves, parts)
    curves, sizes = {}, []
    for name, title in (("KDD", "KDD'99"), ("Skin", "Skin")):
        try:
            X, y, schema = streams.load(name, instances)
        except FileNotFoundError:
            parts.append(f"{title} was not at hand in $BREGALAD_DATA and is left out.")
            continue
        sizes.append(f"{title} {len(y):,}")
        options = {"nominal": streams.nominal(X, schema), "nominal_values": 128}
        for seed in range(runs + 1):
            rows, kind = np.arange(len(y)), f"{title}, {'shuffled' if seed else 'ordered'}"
            if seed:
                np.random.default_rng(seed).shuffle(rows)
            stream = [(X.iloc[rows].reset_index(drop=True), y[rows])]
            for learner in LEARNERS:
                curve = _follow(learner, stream, len(y), options, sorted(set(y.tolist())))
                curves.setdefault((kind, learner), []).append(curve)
                note(f"{kind} {seed}, {learner}: error {1 - curve.accuracy[-1]:.4f}")
    if curves:
        parts += ["## Real streams", f"Instances: {', '.join(sizes)}. Shuffled: {runs} orders."]
        figures |= _show("efdt-figures-real.png", list(dict.fromkeys(kind for kind, _ in curves)), curves, parts)
    return parts, figures


def _follow(name, stream, instances, options, classes=None):
    """The curve of a learner, of some 100 points."""
    with closing(LEARNERS[name](**options)) as tree:
        every = max(1, -(-instances // POINTS))
        return prequential(tree, stream, classes or list(stream.schema.classes), every=every, limit=instances)


def _show(file, kinds, curves, parts):
    """Append tables and a picture of some kinds of streams; the picture by its file."""
    rows, sizes = [], []
    for kind in kinds:
        vfdt, efdt = curves[kind, "VFDT"], curves[kind, "EFDT"]
        better = sum(one.right > other.right for one, other in zip(efdt, vfdt, strict=True))
        errors = [_spread(1 - curve.accuracy[-1] for curve in curves[kind, name]) for name in LEARNERS]
        moa = [f"{error:.4f}" for error in MOA.get(kind, ())] or ["", ""]
        rows.append([kind, *errors, f"{better} of {len(vfdt)}", *moa])
        for name in LEARNERS:
            last = pd.concat([curve.table()[-1:] for curve in curves[kind, name]]).mean()
            counts = [f"{last[what]:.0f}" for what in ("leaves", "splits", "replaced", "pruned")]
            share = f"{100 * last['ties'] / max(last['splits'] + last['replaced'], 1):.0f} %"
            sizes.append([kind, name, f"{1 - last['recent']:.4f}", *counts, share, f"{last['seconds']:.1f}"])
    parts.append("Error:")
    parts.append(table(["stream", *LEARNERS, "EFDT better", "MOA HT", "MOA EFDT"], rows))
    parts.append(
        'Means over the runs; "last" is the error of the stream\'s last hundredth, seconds '
        "are for predicting and learning on a machine with other work to do:"
    )
    head = ["stream", "learner", "last", "leaves", "splits", "replaced", "pruned", "tie-broken", "seconds"]
    parts.append(table(head, sizes))
    parts.append(f"![prequential error over instances]({file})")
    return {file: _picture(kinds, curves)}


def _spread(values):
    """Mean and, of several, standard deviation as text."""
    values = np.asarray(list(values), float)
    return f"{values.mean():.4f}" + (f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else "")


def _picture(kinds, curves):
    """The learners' errors over the instances."""
    figure = Figure(figsize=(4 * len(kinds), 3.6), layout="constrained")
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for panel, kind in zip(panels, kinds, strict=True):
        for name in LEARNERS:
            runs = curves[kind, name]
            errors = 1 - np.mean([curve.recent for curve in runs], axis=0)
            panel.plot(runs[0].instances, np.maximum(errors, 1e-5), label=name, linewidth=1.2)
        panel.set(title=kind, xlabel="instances", yscale="log")
        panel.grid(alpha=0.3)
    panels[0].set(ylabel="error since the last point")
    panels[0].legend()
    return figure

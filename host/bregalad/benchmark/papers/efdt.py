"""Figures 1 and 14 of the EFDT paper, and its KDD'99 and Skin."""

from typing import Any

import numpy as np

from ...data.generators import RandomTree
from ...learners.efdt import EFDT
from ...learners.vfdt import VFDT
from .. import streams
from ..page import Page, new_figure
from .runs import follow, mean_curve, spread

SUMMARY = "EFDT against VFDT: random trees of 2 to 5 classes, KDD'99 and Skin (KDD 2018)"
INSTANCES = 1_000_000
RUNS = 10

CLASSES = (2, 3, 4, 5)
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
# MOA 24.07, HoeffdingTree and EFDT, NBA leaves, a run each; docs/streams.md says how.
MOA = {
    "5 classes": (0.1795, 0.0433),
    "KDD'99, ordered": (0.0042, 0.0029),
    "Skin, ordered": (0.0005, 0.0005),
    "Skin, shuffled": (0.0117, 0.0063),
}

_METHOD = """
Source: Manapragada, Webb and Salehi, *Extremely Fast Decision Tree*, KDD 2018.

* Random trees: MOA's generator with 5 nominal attributes of 5 values, depth 5, leaves from level
  3 (share 0.15), 2 to 5 classes; each run is another tree. The authors' scripts vary the tree's
  seed and leave that of the instances alone, and so does this study.
* Learners: delta 1e-7, tau 0.05, grace 200, EFDT's inner nodes every 2000, adaptive naive Bayes
  leaves. These are MOA's defaults, with which the authors' scripts run their VFDT and EFDT.
  `EFDT` is the paper's pseudo-code (`variant="paper"`), `EFDT, kdd2018` splits an impure leaf at
  its first trial, as the authors' program does.
* Error: prequential, 1 - accuracy over the whole stream (the E of the figures' legends); mean and
  standard deviation over the runs. The curves are the error of a hundredth of the stream.
"""

_DIFFERENCES = """
* The figures are pictures, whose legends alone hold numbers; we have not got at a copy that could
  be read off. The MOA columns stand in: MOA's learners, which the authors' were merged into, in
  one run; its own generator's tree for the 5 classes, the same files in the real streams.
* The authors' scripts stop at 100 M instances and average 5 trees (`range(0, 5)`; the paper says
  10 streams). Here the streams are shorter, so the share of the first, badly predicted instances
  in the error is larger.
* The random numbers are NumPy's: other trees than the authors', of the same distribution.
* KDD'99 is the 10 % sample; the authors' script takes the whole file. Shuffles are other ones.
* Numeric attributes are seen through zoomed bins of quantile codes, MOA's through Gaussians. This
  matters on KDD'99 and Skin only. We take it for the reason of the lower errors there; it has not
  been tried apart.
* The claim holds: with 1 M instances EFDT has the lower error on all 20 trees, and the error since
  the last point gets below 1 % within 0.3 M instances, where VFDT takes 0.45 M with 2 classes and
  more than 1 M with more. EFDT's curves are not smooth: where an inner node gets another split, its
  subtree is killed and grown again, which is what the late peaks are. On 2 classes VFDT ends
  without an error, too, and keeps to it.
* MOA's EFDT looks at one path in 2000 instances again, `EFDT` here at every inner node after 2000
  of its own (docs/learners.md).
"""


def run(settings):
    """Run the study; returns a `Page`."""
    page = Page("efdt-figures", "EFDT against VFDT")
    page.text(_METHOD)
    curves = {}
    for classes in CLASSES:
        for seed in range(1, settings.runs + 1):
            for name in LEARNERS:
                stream = RandomTree(classes=classes, nominals=5, numerics=0, model_seed=seed)
                curve = follow(LEARNERS[name](nominal=stream.schema.nominal), stream, settings.instances)
                curves.setdefault((f"{classes} classes", name), []).append(curve)
                settings.note(f"{classes} classes, tree {seed}, {name}: error {1 - curve.accuracy[-1]:.4f}")
    page.heading(f"Random trees, {settings.instances:,} instances, {settings.runs} runs")
    kinds = [f"{classes} classes" for classes in CLASSES]
    _tables(page, "trees", kinds, curves)
    page.picture("", _picture(kinds, curves), "prequential error over instances")
    _real(settings, page)
    page.heading("Differences from the paper, and why")
    page.text(_DIFFERENCES)
    return page


def _real(settings, page):
    curves, kinds, sizes = {}, [], []
    for name, title in (("KDD", "KDD'99"), ("Skin", "Skin")):
        try:
            X, y, schema = streams.load(name, settings.instances)
        except FileNotFoundError:
            page.text(f"{title} was not at hand in $BREGALAD_DATA and is left out.")
            continue
        sizes.append(f"{title} {len(y):,}")
        options = {"nominal": streams.nominal(X, schema), "nominal_values": 128}
        for order in ("ordered", "shuffled"):
            kind = f"{title}, {order}"
            kinds.append(kind)
            for seed in range(1, 1 + (settings.runs if order == "shuffled" else 1)):
                rows = np.arange(len(y))
                if order == "shuffled":
                    np.random.default_rng(seed).shuffle(rows)
                stream = [(X.iloc[rows].reset_index(drop=True), y[rows])]
                for learner in LEARNERS:
                    curve = follow(LEARNERS[learner](**options), stream, len(y), sorted(set(y.tolist())))
                    curves.setdefault((kind, learner), []).append(curve)
                    settings.note(f"{kind} {seed}, {learner}: error {1 - curve.accuracy[-1]:.4f}")
    if kinds:
        page.heading("Real streams")
        page.text(f"Instances: {', '.join(sizes)}. Shuffled: {settings.runs} orders.")
        _tables(page, "real", kinds, curves)
        page.picture("real", _picture(kinds, curves), "prequential error over instances")


def _tables(page, key, kinds, curves):
    rows = []
    for kind in kinds:
        errors = [spread(1 - curve.accuracy[-1] for curve in curves[kind, name]) for name in LEARNERS]
        moa = [f"{error:.4f}" for error in MOA[kind]] if kind in MOA else ["", ""]
        better = sum(
            efdt.right > vfdt.right for vfdt, efdt in zip(curves[kind, "VFDT"], curves[kind, "EFDT"], strict=True)
        )
        rows.append([kind, *errors, f"{better} of {len(curves[kind, 'VFDT'])}", *moa])
    page.text("Error:")
    page.table(f"{key} error", ["stream", *LEARNERS, "EFDT better", "MOA HT", "MOA EFDT"], rows)
    rows = []
    for kind in kinds:
        for name in LEARNERS:
            runs = curves[kind, name]
            last = [
                np.mean([getattr(curve, what)[-1] for curve in runs])
                for what in ("leaves", "splits", "replaced", "pruned", "ties", "seconds")
            ]
            made = last[1] + last[2]
            rows.append(
                [
                    kind,
                    name,
                    f"{np.mean([1 - c.recent[-1] for c in runs]):.4f}",
                    *(f"{value:.0f}" for value in last[:4]),
                    f"{100 * last[4] / made if made else 0:.0f} %",
                    f"{last[5]:.1f}",
                ]
            )
    page.text(
        'Means over the runs; "last" is the error of the stream\'s last hundredth, seconds '
        "are for predicting and learning on a machine with other work to do:"
    )
    page.table(
        f"{key} trees",
        ["stream", "learner", "last", "leaves", "splits", "replaced", "pruned", "tie-broken", "seconds"],
        rows,
    )


def _picture(kinds, curves):
    figure = new_figure(4 * len(kinds), 3.6)
    if figure is None:
        return None
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for panel, kind in zip(panels, kinds, strict=True):
        for name in LEARNERS:
            instances, errors = mean_curve(curves[kind, name])
            panel.plot(instances, np.maximum(errors, 1e-5), label=name, linewidth=1.2)
        panel.set(title=kind, xlabel="instances", yscale="log")
        panel.grid(alpha=0.3)
    panels[0].set(ylabel="error since the last point")
    panels[0].legend()
    return figure

"""Table 1 of Holmes, Kirkby and Pfahringer: what breaking ties costs."""

import numpy as np

from ...data.generators import open_generator
from ...learners.vfdt import VFDT
from ..page import Page, new_figure
from .reference import ReferenceTree
from .runs import follow, spread

SUMMARY = "ways to break ties: ht, htdt, htat (Holmes, Kirkby and Pfahringer 2005)"
INSTANCES = 10_000_000
RUNS = 10

STREAMS = ("rts", "rtc", "rtsn", "rtcn", "rrbfs", "rrbfc", "led")
WAYS = {
    "ht": {"ties": "ht"},
    "htdt": {"ties": "htdt"},
    "htat100": {"ties": "htat", "tie_increment": 100},
    "htat500": {"ties": "htat", "tie_increment": 500},
    "htat3000": {"ties": "htat", "tie_increment": 3000},
}
# Accuracy in percent, in the order of WAYS; None: not at hand.
PUBLISHED = {
    "rts": (99.06, None, None, None, None),
    "rtc": (82.17, None, None, None, None),
    "rtsn": (89.79, None, None, None, None),
    "rtcn": (73.64, 71.34, 73.74, 73.63, 73.24),
    "rrbfs": (86.71, None, None, None, None),
    "rrbfc": (62.31, 63.67, 52.74, 86.06, 85.08),
    "led": (72.85, None, None, None, None),
    "covertype": (66.83, 65.71, 69.94, 69.33, 68.41),
}
ENGINES = ("float64", "board")
_SETTINGS = {"delta": 1e-6, "tau": 0.05, "grace": 300, "child_counts": "zero"}
_SLOTS = 8192

_METHOD = """
Source: Holmes, Kirkby and Pfahringer, *Tie-breaking in Hoeffding trees*, 2005, table 1.

* Streams: docs/streams.md has `rts` to `rrbfc`; `led` is LED with 10 % noise. A run's seeds are
  its number, that of the tree or of the centres, too.
* Learners: delta 1e-6, tau 0.05, grace 300, majority-class leaves, counts from zero. `float64` is
  the reference with Gaussian observers and 100 cut points, as in the paper; `board` is VFDT with
  16 zoomed bins.
* Accuracy in percent, prequential over the whole stream; mean and standard deviation over the
  runs.
"""

_DIFFERENCES = """
* The paper has 10 M instances and 10 runs; the heading says what was run here. At some 100,000
  instances the trees have only begun to grow, so the figures are far below the published ones and
  say nothing about which way is the best in the end.
* Accuracy here is prequential: it counts the mistakes of the small, early tree, too. We do not know
  how the paper tested.
* Of the streams other than rtcn, rrbfc and covertype the figures of `ht` alone are at hand.
* Covertype is left out: the file is not at hand.
* Our random numbers are NumPy's: other trees and other centres than the paper's.
* We do not know whether children inherited their side's class counts in the paper's program. Of the
  two, counts from zero are nearer to the published rrbfc.
"""


def run(settings):
    """Run the study; returns a `Page`."""
    page = Page("ties", "Ways to break ties")
    page.text(_METHOD)
    page.heading(f"{settings.instances:,} instances, {settings.runs} {'runs' if settings.runs > 1 else 'run'}")
    curves = {}
    for name in STREAMS:
        for way, options in WAYS.items():
            for seed in range(1, settings.runs + 1):
                stream = _stream(name, seed)
                tree = ReferenceTree(
                    stream.schema, stream.schema.classes, observer="gaussian", bins=100, **_SETTINGS, **options
                )
                curves.setdefault((name, "float64", way), []).append(follow(tree, stream, settings.instances))
                nominal = {a.name: a.values for a in stream.schema.attributes if a.kind == "nominal"}
                tree = VFDT(slots=_SLOTS, nominal=nominal, leaf_prediction="mc", block=1, **_SETTINGS, **options)
                curves.setdefault((name, "board", way), []).append(follow(tree, stream, settings.instances))
            settings.note(
                f"{name}, {way}: "
                + ", ".join(
                    f"{engine} {100 * np.mean([c.accuracy[-1] for c in curves[name, engine, way]]):.2f}"
                    for engine in ENGINES
                )
            )
    _tables(page, curves)
    page.picture("", _picture(curves), "accuracy over instances")
    page.heading("Differences from the paper, and why")
    page.text(_DIFFERENCES)
    return page


def _stream(name, seed):
    options = {"seed": seed}
    if name != "led":
        options["model_seed"] = seed
    return open_generator(name, **options)


def _tables(page, curves):
    rows, shares = [], []
    for name in STREAMS:
        rows.append([name, "published", *("" if value is None else f"{value:.2f}" for value in PUBLISHED[name])])
        for engine in ENGINES:
            runs = [curves[name, engine, way] for way in WAYS]
            rows.append([name, engine, *(spread((100 * c.accuracy[-1] for c in group), 2) for group in runs)])
            shares.append(
                [
                    name,
                    engine,
                    *(f"{np.mean([c.leaves[-1] for c in group]):.0f}, {_share(group):.0f} %" for group in runs),
                ]
            )
    rows.append(["covertype", "published", *(f"{value:.2f}" for value in PUBLISHED["covertype"])])
    page.text("Accuracy:")
    page.table("accuracy", ["stream", "", *WAYS], rows)
    page.text(
        "Leaves at the end, and the share of splits that were tie-broken (published: over "
        "80 % on hard streams, about 20 % on the simplest):"
    )
    page.table("ties", ["stream", "", *WAYS], shares)


def _share(group):
    """Percentage of splits that were tie-broken."""
    return 100 * sum(c.ties[-1] for c in group) / max(1, sum(c.splits[-1] for c in group))


def _picture(curves):
    figure = new_figure(4 * len(STREAMS), 3.4 * len(ENGINES))
    if figure is None:
        return None
    panels = figure.subplots(len(ENGINES), len(STREAMS), squeeze=False)
    for row, engine in zip(panels, ENGINES, strict=True):
        for panel, name in zip(row, STREAMS, strict=True):
            for way in WAYS:
                group = curves[name, engine, way]
                panel.plot(group[0].instances, np.mean([c.recent for c in group], axis=0), label=way, linewidth=1)
            panel.set(title=f"{name}, {engine}", xlabel="instances")
            panel.grid(alpha=0.3)
        row[0].set(ylabel="accuracy since the last point")
    panels[0][0].legend()
    return figure

"""What a tree tells of its past: every decision, once, in order, with what it was based on, bounded, saved."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bregalad import CVFDT, EFDT, VFDT, PuuVFDT, load_tree
from bregalad.engine.history import EVENTS, MOST, SPLIT, record_event

KINDS = {"split": "splits", "replaced": "replaced", "pruned": "pruned", "alternate": "alternates"}
KINDS |= {"swapped": "swapped", "dropped": "dropped"}


def changing(count=6000):
    """Instances of three attributes, and labels by the first one, then by the second."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"width": 10 * rng.random(count), "height": rng.random(count), "kind": rng.choice([*"ab"], count)})
    early = np.arange(count) < count // 2
    return X, np.where(early, X["width"] > 4, X["height"] > 0.3) ^ (X["kind"] == "b")


@pytest.mark.parametrize(
    "tree",
    [
        VFDT(grace=50, block=1),
        EFDT(grace=50, inner_grace=100, same_attribute="replace", variant="moa"),
        CVFDT(grace=50, inner_grace=100, window=1000, test_every=200, test_length=50, block=1),
    ],
    ids=lambda tree: type(tree).__name__,
)
def test_every_decision_is_told(tree):
    X, y = changing()
    tree.fit(X, y)
    events, report = tree.history.events, tree.report()
    counts = events["event"].value_counts()
    assert {kind: counts.get(kind, 0) for kind in KINDS} == {kind: report[name] for kind, name in KINDS.items()}
    assert events["tie"][events["event"].isin(["split", "replaced"])].sum() == report["ties"]
    assert events["instances"].is_monotonic_increasing and not tree.history.dropped
    assert events["path"][0] == "" and events["path"].str.fullmatch(r"(\d+(\.\d+)*)?").all()
    based = events[events["n"] > 0]
    assert set(based["event"]) <= {"split", "replaced", "pruned", "alternate"} and based["gain"].notna().all()
    # Hoeffding's bound of information gain, two classes.
    assert based["bound"].to_numpy() == pytest.approx(np.sqrt(np.log(1 / tree.delta) / (2 * based["n"])).to_numpy())


def test_values_are_those_of_their_time():
    """Thresholds in the attribute's unit, whatever code books have come later."""
    X, y = changing()
    tree, seen = EFDT(grace=50, inner_grace=100), []
    for at in range(0, len(X), 100):
        tree.partial_fit(X[at : at + 100], y[at : at + 100], classes=[False, True])
        seen += tree.history.events.iloc[len(seen) :].to_dict("records")
    again = tree.history.events.to_dict("records")
    assert len(seen) > 5 and {event["attribute"] for event in seen} == {"width", "height", "kind"}
    assert str(seen) == str(again)
    first = next(event for event in seen if event["attribute"] == "width")
    assert 0 < first["value"] < 10 and {event["value"] for event in seen if event["attribute"] == "kind"} <= {None, "a"}


def test_labelled_positives_only():
    X, y = changing()
    tree = PuuVFDT(positive="yes", level=0.5, grace=50).fit(X, np.where(y & (X.index % 3 == 0), "yes", "unknown"))
    assert len(tree.history.events) and (tree.history.events["n"] > 0).all()


def test_it_is_bounded(tmp_path):
    """More events happen than are kept, two at every instance but the first."""
    X, y = changing(500)
    tree = VFDT(grace=50, block=1).fit(X, y)
    arrays, own = tree._trainer.growth.arrays, len(tree.history.events)
    for event in range(MOST + 5 - own):
        record_event(arrays, SPLIT, 0, 500 + (event + 1) // 2)
    history = tree.history
    assert history.dropped == MOST + 5 - len(history.events) and 0 < MOST - len(history.events) <= 2
    assert history.events["instances"].value_counts()[:-1].eq(2).all()
    tree.save(tmp_path / "tree")
    for other in (load_tree(tmp_path / "tree"), copy.deepcopy(tree)):
        assert other.history.dropped == history.dropped and other.history.events.equals(history.events)
        record_event(other._open_trainer().growth.arrays, SPLIT, 0, 10**6)
        assert other.history.events["instances"].iloc[-1] == 10**6
    tree.reset()
    assert not len(tree.fit(*changing(100)).history.events)


def test_names_of_events_are_in_the_page():
    page = (Path(__file__).parents[2] / "docs" / "inspection.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in (*EVENTS, *VFDT().fit(*changing(100)).history.events))

"""Workers on Ray: whatever they are, and whichever are lost, ensembles are the same."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, BoardError
from bregalad.ensemble import ENSEMBLES, crew, load_learner
from bregalad.ensemble.engine import parse

BOARDS = 4


@pytest.fixture
def cluster(request):
    """Ray on the loopback, with so many boards; ended with the session's last test that needs it."""
    ray = pytest.importorskip("ray")
    if not ray.is_initialized():
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        ray.init(
            "local",
            num_cpus=1,
            resources={crew.BOARD: BOARDS},
            include_dashboard=False,
            object_store_memory=80 << 20,
            log_to_driver=False,
            logging_level="ERROR",
            _node_ip_address="127.0.0.1",
        )
        request.session.addfinalizer(ray.shutdown)
    return ray


def drifting(count=3000):
    print("seed 1")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.random((count, 4)), columns=list("abcd"))
    X["e"] = rng.choice(["x", "y", "z"], count)
    late = np.arange(count) >= count // 2
    y = np.where(late, (X["c"] > 0.4) & (X["e"] != "x"), (X["a"] > 0.6) | (X["e"] == "z")).astype(int)
    return X, y ^ (rng.random(count) < 0.05)


def make(name, **options):
    return ENSEMBLES[name](VFDT(grace=30, delta=0.01, delay=20), members=4, seed=2, drift=0.1, **options)


def same(one, other, X):
    assert one.report() == other.report()
    for mine, theirs in zip(one.members_, other.members_, strict=True):
        assert len(mine.trees) == len(theirs.trees)
        for tree, twin in zip(mine.trees, theirs.trees, strict=True):
            assert tree.difference(twin) is None
    assert (one.predict_proba(X[:200]) == other.predict_proba(X[:200])).all()


def kill(forest, number):
    """End a worker as a power failure does."""
    ray = pytest.importorskip("ray")
    os.kill(ray.get(forest._crew._hands[number].actor.about.remote())[1], signal.SIGKILL)


@pytest.mark.parametrize("name, workers, lost", [("arf", 1, ()), ("arf", 2, (0, 1)), ("leveraging", 2, (1,))])
def test_workers_and_losses_make_no_difference(cluster, monkeypatch, name, workers, lost):
    X, y = drifting()
    monkeypatch.setattr(crew, "_LOGGED", 8000)  # a batch or two
    here, there = make(name), make(name, engine=f"ray,workers={workers}")
    for number, start in enumerate(range(0, len(X), 500)):
        part = slice(start, start + 500)
        expected = here.test_then_train(X[part], y[part], [0, 1])
        assert (there.test_then_train(X[part], y[part], [0, 1]) == expected).all()
        if number in (2, 4)[: len(lost)]:
            kill(there, lost[number // 4])
            assert (there.predict(X[part]) == here.predict(X[part])).all()
    assert here.report()["drifts"]
    assert there._crew.replaced == len(lost) and there._crew.ended is None
    same(here, there, X)


def test_the_rest_is_as_ever_while_members_are_away(cluster, tmp_path, monkeypatch):
    X, y = drifting(900)
    here, there = make("arf"), make("arf", engine="ray")
    for forest in (here, there):
        for row, label in zip(X[:20].to_dict("records"), y[:20].tolist(), strict=True):
            forest.learn_one(row, label)
        forest.partial_fit(X[20:600], y[20:600])
    assert len(there._crew._hands) == BOARDS
    monkeypatch.setattr(crew, "_PATIENCE", 1.0)
    with pytest.raises(BoardError, match=r"ray: worker 0 got no board within 1 s: 0 of the cluster's boards are free"):
        make("arf", engine="ray").fit(X, y)
    there.save(tmp_path / "forest")
    kill(there, 2)
    copy = load_learner(tmp_path / "forest", engine=None)
    same(here, copy, X)
    monkeypatch.setattr(crew, "_PATIENCE", 60.0)
    for forest in (here, there, copy):
        forest.learn_one({"a": 0.5, "new": 1.0}, 2)  # a class, and an attribute
    same(here, there, X.assign(new=1.0))
    there.set_params(engine=None)
    for forest in (here, there, copy):
        forest.partial_fit(X[600:].assign(new=2.0), y[600:])
    assert there._crew is None
    same(here, there, X.assign(new=1.0))


def test_workers_must_fit(cluster, monkeypatch):
    X, y = drifting(300)
    forest = make("arf", engine=f"ray,workers={BOARDS + 1}")
    with pytest.raises(BoardError, match=r"worker 4 has no board, the cluster's nodes have 4: start nodes with --res"):
        forest.fit(X, y)
    with pytest.raises(BoardError, match="ray://127.0.0.1:1: this program is connected to another cluster"):
        make("arf", engine="ray://127.0.0.1:1").fit(X, y)
    monkeypatch.setattr(crew, "__version__", "0.0")
    with pytest.raises(BoardError, match=r"worker 0 \(.*, process \d+\) has release .*, this program 0.0 with"):
        forest.set_params(engine="ray,workers=1").fit(X, y)
    monkeypatch.undo()
    forest.set_params(engine=None).fit(X, y)


def test_a_cluster_that_is_gone_takes_nothing_along(cluster, tmp_path):
    X, y = drifting(1500)
    here, there = make("leveraging"), make("leveraging", engine="ray,workers=1")
    for forest in (here, there):
        forest.partial_fit(X[:1000], y[:1000], [0, 1])
    cluster.shutdown()
    same(here, there, X)
    there.save(tmp_path / "forest")
    with pytest.raises(
        BoardError, match=r"ray,workers=1: worker 0 \(.*, process \d+\) .* gone with their cluster. All"
    ):
        there.partial_fit(X[1000:], y[1000:])
    assert there.report()["instances"] == 1000
    for forest in (here, there.set_params(engine=None)):
        forest.partial_fit(X[1000:], y[1000:])
    same(here, there, X)


@pytest.mark.parametrize(
    "engine", ["", "rays", "ray:", "ray://", "ray://host", "ray://host:x", "ray,workers=0", "ray,x=2"]
)
def test_wrong_engines_are_refused(engine):
    with pytest.raises(ValueError, match="engine must be None, 'ray' or 'ray://HOST:PORT', or one of these with"):
        make("arf", engine=engine).fit(*drifting(30))


def test_engines_have_workers():
    assert parse("ray") == ("ray", 0) and parse("ray://a:1,workers=12") == ("ray://a:1", 12)
    with pytest.raises(TypeError, match="engine must be None"):
        make("arf", engine=3).fit(*drifting(30))

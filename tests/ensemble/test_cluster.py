"""Workers on Ray: whatever they are, and whichever are lost, ensembles are the same."""

import faulthandler
import gc
import multiprocessing
import os
import re
import signal
import tempfile
import weakref
from collections import UserList

import pytest
from bregalad import VFDT, BoardError
from bregalad.ensemble import ENSEMBLES, load_learner, workers
from bregalad.ensemble.workers import BOARD
from forests import drifting, same
from marks import nightly
from processes import python

BOARDS = 4


@pytest.fixture
def cluster(request):
    """Ray on the loopback, with so many boards; ended with the session's last test that needs it."""
    ray = pytest.importorskip("ray")
    if not ray.is_initialized():
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        for attempt in range(3):  # Ray waits half a minute for its own processes, which is little on a busy machine
            try:
                ray.init(
                    "local",
                    num_cpus=1,
                    resources={BOARD: BOARDS},
                    include_dashboard=False,
                    object_store_memory=80 << 20,
                    log_to_driver=False,
                    logging_level="ERROR",
                    _node_ip_address="127.0.0.1",
                )
                break
            except Exception:
                ray.shutdown()
                if attempt == 2:
                    raise
        request.session.addfinalizer(ray.shutdown)
    return ray


def make(name, **options):
    return ENSEMBLES[name](VFDT(grace=30, delta=0.01, block=20), members=4, seed=2, drift=0.1, **options)


def kill(forest, number):
    """End a worker as a power failure does."""
    workers = forest._workers
    process = workers._ray.get(workers._actors[number].__ray_call__.remote(lambda worker: os.getpid()))
    os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("name, count, lost", [("arf", 2, (0, 1)), *nightly(("arf", 1, ()), ("leveraging", 2, (1,)))])
def test_workers_and_losses_make_no_difference(cluster, monkeypatch, name, count, lost):
    X, y = drifting(count=3000)
    monkeypatch.setattr(workers, "_LOGGED", 8000)  # a batch or two
    here, there = make(name), make(name, engine=f"ray,workers={count}")
    begun = {}
    for number, start in enumerate(range(0, len(X), 500)):
        part = slice(start, start + 500)
        expected = here.test_then_train(X[part], y[part], [0, 1])
        assert (there.test_then_train(X[part], y[part], [0, 1]) == expected).all()
        begun[id(there._workers)] = there._workers
        if number in (2, 4)[: len(lost)]:
            kill(there, lost[number // 4])
            assert (there.predict(X[part]) == here.predict(X[part])).all()
    assert here.report()["drifts"]
    assert len(begun) == 1 + len(lost) and there._workers.ended is None
    same(here, there, X)


@pytest.mark.slow
def test_the_rest_is_as_ever_while_members_are_away(cluster, tmp_path, monkeypatch):
    X, y = drifting(count=900)
    here, there = make("arf"), make("arf", engine="ray")
    for forest in (here, there):
        forest.partial_fit(X[:600], y[:600], [0, 1])
    assert len(there._workers._actors) == BOARDS
    with monkeypatch.context() as context:
        context.setattr(workers, "_PATIENCE", 0.5)
        with pytest.raises(BoardError, match=r"ray: worker 0 got no board within 0.5 s: 0 of the cluster's boards are"):
            make("arf", engine="ray").fit(X, y)
    there.save(tmp_path / "forest")
    kill(there, 2)
    copy = load_learner(tmp_path / "forest", engine=None)
    same(here, copy, X)
    for forest in (here, there, copy):
        forest.partial_fit(X[600:], y[600:])
    assert there._workers.ended
    there.set_params(engine=None)
    for forest in (here, there, copy):
        forest.partial_fit(X[:100], y[:100])
    assert there._workers is None
    same(here, there, X)
    same(here, copy, X)


@pytest.mark.slow
def test_one_by_one_with_what_comes_later(cluster):
    X, y = drifting(count=12)
    here, there = make("arf"), make("arf", engine="ray,workers=1")
    for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        for forest in (here, there):
            forest.learn_one(row, label)
        assert here.predict_one(row) == there.predict_one(row)
    for forest in (here, there):
        forest.learn_one({"a": 0.5, "new": 1.0}, 2)  # a class, and an attribute
    same(here, there, X.assign(new=1.0))
    there.close()


def test_votes_that_count_differently_from_worker_to_worker(cluster):
    """After two instances a worker's members have been right once, the other's never: their votes count .5 and 1."""
    X, y = drifting(count=12)
    here, there = (make("arf", engine=engine).set_params(seed=7, rate=0.5) for engine in (None, "ray,workers=2"))
    for at in range(5, 12):
        part = slice(at, at + 1)
        expected = here.test_then_train(X[part], y[part], [0, 1])
        assert there.test_then_train(X[part], y[part], [0, 1]) == expected
    same(here, there, X)
    there.close()


@pytest.mark.slow
def test_a_forked_process_leaves_the_workers_to_the_first(cluster):
    """Ray would hang there, also where ensembles are no garbage but in the child, and what garbage the first had."""
    X, y = drifting(count=900)
    here, there, lost = make("arf"), make("arf", engine="ray,workers=1"), make("arf", engine="ray,workers=1")
    for learner in (here, there, lost):
        learner.partial_fit(X[:600], y[:600], [0, 1])
    same(here, there, X)  # compiles what the child would wait for
    lost, garbage, collected = [lost], [UserList()], []
    garbage[0].append(garbage[0])  # only the garbage collector finds it
    weakref.finalize(garbage[0], collected.append, "garbage")

    def refused(learner):
        with pytest.raises(BoardError) as error:
            learner.partial_fit(X[600:], y[600:])
        return str(error.value)

    def child():
        faulthandler.dump_traceback_later(500, exit=True)  # says where, if it hangs
        lost.clear()
        garbage.clear()
        gc.collect()
        assert not collected
        same(here, there, X)
        error = refused(there)
        for forest in (here, there.set_params(engine=None)):
            forest.partial_fit(X[600:], y[600:])
        same(here, there, X)
        there.close()
        theirs.send(error)

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=child, daemon=True)
    process.start()
    process.join(600)
    assert process.exitcode == 0
    assert re.match("ray,workers=1: left to the process that this one was forked from", ours.recv())
    for forest in (here, there):
        forest.partial_fit(X[600:], y[600:])
    same(here, there, X)


def test_workers_must_fit(cluster, monkeypatch):
    X, y = drifting(count=300)
    forest = make("arf", engine=f"ray,workers={BOARDS + 1}")
    with pytest.raises(BoardError, match=r"worker 4 has no board, the cluster's nodes have 4: start nodes with --res"):
        forest.fit(X, y)
    monkeypatch.setattr(workers, "RELEASE", "release 0.0 with protocol 1")
    with pytest.raises(BoardError, match="ray,workers=1: ValueError: it has release .*, this program release 0.0 with"):
        forest.set_params(engine="ray,workers=1").fit(X, y)
    monkeypatch.undo()
    forest.set_params(engine=None).fit(X, y)


@pytest.mark.slow
def test_another_program_has_a_cluster_of_its_own(cluster):
    there = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    program = "from bregalad.ensemble.workers import connect; print(connect().get_runtime_context().gcs_address)"
    # Ray notes clusters that were begun for all in its folder: none here. The paths of its sockets are long.
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as there["RAY_TMPDIR"]:
        done = python("-c", program, env=there, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] != cluster.get_runtime_context().gcs_address


@pytest.mark.parametrize("failures", [*nightly(1), 2])
def test_a_cluster_that_is_slow_to_begin(monkeypatch, failures):
    ray = pytest.importorskip("ray")
    begin, tried = ray.init, []

    def slow(*words, **options):
        tried.append(words)
        if len(tried) <= failures:
            raise Exception("The current node timed out during startup.")
        return begin(*words, **options)

    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.setattr(ray, "init", slow)
    if failures == 1:
        assert workers.connect().cluster_resources()[BOARD] >= 1
        ray.shutdown()
    else:
        with pytest.raises(BoardError, match="ray: Ray cannot begin a cluster on this machine: .* timed out"):
            workers.connect()
    assert len(tried) == 2


@pytest.mark.slow
def test_a_cluster_that_is_gone_takes_nothing_along(cluster, tmp_path):
    X, y = drifting(count=1500)
    here, there = make("leveraging"), make("leveraging", engine="ray,workers=1")
    for forest in (here, there):
        forest.partial_fit(X[:1000], y[:1000], [0, 1])
    cluster.shutdown()
    same(here, there, X)
    there.save(tmp_path / "forest")
    with pytest.raises(BoardError, match="ray,workers=1: the workers are gone with their cluster. All"):
        there.partial_fit(X[1000:], y[1000:])
    assert there.report()["instances"] == 1000
    for forest in (here, there.set_params(engine=None)):
        forest.partial_fit(X[1000:], y[1000:])
    same(here, there, X)


@pytest.mark.parametrize("engine", ["", "rays", "ray:", "ray://host:1", "ray,workers=0", "ray,workers=", "ray,x=2", 3])
def test_wrong_engines_are_refused(engine):
    with pytest.raises((TypeError, ValueError), match="engine must be None, 'ray' or 'ray,workers=N', not"):
        make("arf", engine=engine).fit(*drifting(count=30))

"""Workers on a cluster that is reached by Ray's client: a head on the loopback, and a program that is no part of it."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from processes import python

HERE = Path(__file__).parent
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import ray
from bregalad import BoardError, VFDT
from bregalad.ensemble import AdaptiveRandomForest
from forests import drifting, same

ray.init({address!r}, logging_level="ERROR", log_to_driver=False)
X, y = drifting(count=2000)
here, there = (
    AdaptiveRandomForest(VFDT(grace=30, delta=0.01), members=4, seed=2, drift=0.1, engine=engine)
    for engine in (None, "ray,workers=2")
)
for start in range(0, len(X), 500):
    part = slice(start, start + 500)
    expected = here.test_then_train(X[part], y[part], [0, 1])
    assert (there.test_then_train(X[part], y[part], [0, 1]) == expected).all()
assert here.report()["drifts"]
assert len(there._workers._actors) == 2 and there._workers.ended is None
same(here, there, X)
there.close()
same(here, there, X)
print("the same")
"""


def free_port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


@pytest.fixture
def head(tmp_path_factory):
    """Where Ray's client server listens, and the environment of who may come."""
    pytest.importorskip("ray")
    pytest.importorskip("grpc")
    port, client = free_port(), free_port()
    # Ray lets nobody in without a token, the same for all.
    environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    # A program of its own serves the client; 30 seconds are little for its beginning on a busy machine.
    environment["RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S"] = "200"
    folder = tmp_path_factory.mktemp("r")
    options = {
        "port": port,
        "ray-client-server-port": client,
        "node-ip-address": "127.0.0.1",
        "num-cpus": 1,
        "resources": '{"board": 2}',
        "include-dashboard": "false",
        "object-store-memory": 80 << 20,
        "disable-usage-stats": None,
        "block": None,
    }
    words = [f"--{name}" if value is None else f"--{name}={value}" for name, value in options.items()]
    with (folder / "log").open("w") as log:
        ray = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", *words],
            env=environment | {"RAY_worker_niceness": "0"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        limit = time.monotonic() + 240
        while not listens(client):
            assert ray.poll() is None and time.monotonic() < limit, (folder / "log").read_text()
        yield f"ray://127.0.0.1:{client}", environment
    finally:
        ray.send_signal(signal.SIGTERM)  # it ends what it has begun
        try:
            ray.wait(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(ray.pid, signal.SIGKILL)


def listens(port):
    """Whether somebody does; waits a while for that."""
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    return False


@pytest.mark.slow
def test_the_forest_of_a_program_that_is_no_part_of_the_cluster(head):
    address, environment = head
    done = python("-c", PROGRAM.format(folder=str(HERE), address=address), env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "the same"

"""Threads that read a tree at the end of a wire while another one learns."""

import threading

import pytest
from learning import CLASSES, TREES, check, expected, learn, linked, stream

_PATIENCE = 120  # seconds


@pytest.mark.parametrize("kind", TREES)
def test_many_read_while_one_learns(kind):
    X, y = stream(7)
    whole, wanted = expected(kind, X, y)
    tree, _, _ = linked(kind, 7)
    tree.partial_fit(X[:600], y[:600], CLASSES)
    over, errors, found = threading.Event(), [], []

    def guarded(call):
        def run():
            try:
                call()
            except BaseException as error:
                errors.append(error)

        return run

    def learner():
        try:
            found.append(learn(tree, X[600:], y[600:], 7))
        finally:
            over.set()

    def reader():
        while not over.is_set():
            assert len(tree.predict(X[:20])) == 20
            tree.predict_proba(X[:20])
            assert tree.report()["instances"] >= 600 and tree.link_statistics()

    threads = [threading.Thread(target=guarded(call), daemon=True) for call in (learner, reader, reader, reader)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
        assert not thread.is_alive()
    assert not errors
    check(tree, found[0], whole, wanted[600:])

"""Trees learnt over a bad wire: always the tree of the board without a wire."""

import copy
import pickle
import random
import signal

import numpy as np
import pytest
from bregalad import VFDT, BoardError, Resident, load_tree
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad.data.quantiser import Quantiser
from bregalad.driver.devices import rows
from bregalad_sim.ctrl_c import interruptible
from bregalad_sim.wire import Faults
from learning import CLASSES, GEOMETRY, TREES, check, expected, learn, linked, stream
from marks import nightly


@pytest.mark.parametrize(
    "share, seeds", [(0.01, 2), (0.2, 2), *nightly((0.01, 100), (0.03, 100), (0.1, 100), (0.2, 100))]
)
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_over_bad_wire(tree, share, seeds):
    splits = resent = 0
    for seed in range(seeds):
        X, y = stream(seed)
        whole, wanted = expected(tree, X, y)
        one, _, _ = linked(tree, seed, Faults.all(share))
        check(one, learn(one, X, y, seed), whole, wanted)
        assert one.counters()["records"] == whole.counters()["records"]
        splits += whole.report()["splits"]
        resent += one.board.statistics().frames_resent
    print(f"{splits} splits, {resent} frames sent again")
    assert splits >= 2 * seeds
    assert resent >= (100 if seeds == 100 else 1)


def same_tree_after_cuts(tree, seed, share):
    """The cable is cut at random times, for longer than the time-out; a buffer may be used again meanwhile."""
    X, y = stream(seed)
    whole, wanted = expected(tree, X, y)
    dry, wire, _ = linked(tree, seed, Faults.all(share))
    learn(dry, X, y, seed)
    one, wire, _ = linked(tree, seed, Faults.all(share), timeout=3.0)
    rng = random.Random(seed)
    wire.cuts = sorted((rng.uniform(0, 0.9 * wire.time), float("inf")) for _ in range(3))
    errors = []

    def on_error(error):
        cut_at, _ = wire.cuts.pop(0)
        assert wire.time - cut_at < 3.6  # the last sign of life was under way when the cut came
        assert "no sign of life" in str(error)
        assert "resume()" in str(error)
        errors.append(error)
        for _ in range(rng.choice((0, 2))):  # too early
            wire.cuts.insert(0, (0, float("inf")))
            start = wire.time
            with pytest.raises(BoardError, match="no sign of life"):
                one.resume()
            assert 2.99 < wire.time - start < 3.01
            if one._unfinished is not None:
                with pytest.raises(BoardError, match="resume"):
                    one.test_then_train(X[:1], y[:1])
            wire.cuts.pop(0)
        wire.cuts = [(max(start, wire.time + 0.01), stop) for start, stop in wire.cuts]
        try:
            return one.resume()
        except BoardError as again:  # cut anew
            return on_error(again)

    check(one, learn(one, X, y, seed, on_error), whole, wanted)
    return len(errors)


@pytest.mark.parametrize("seeds", [2, *nightly(6, 100)])
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_after_cuts(tree, seeds):
    errors = sum(
        same_tree_after_cuts(tree, seed, 0.02 * (seed % 2 if seeds < 10 else seed % 5)) for seed in range(seeds)
    )
    assert errors >= min(seeds, 6)


def test_short_cuts_go_unnoticed():
    X, y = stream(9)
    whole, wanted = expected("vfdt", X, y)
    one, wire, _ = linked("vfdt", 9, Faults.all(0.01), timeout=5.0)
    wire.cuts = [(at, at + 3) for at in np.arange(0.02, 500, 4.5)]
    check(one, learn(one, X, y, 9), whole, wanted)
    assert wire.time > 3
    assert one.board.statistics().frames_resent


def test_power_cycle_goes_on_from_what_was_saved(tmp_path):
    X, y = stream(5)
    whole, wanted = expected("efdt", X, y)
    one, wire, end = linked("efdt", 5, Faults.all(0.02))
    head = one.test_then_train(X[:1700], y[:1700], CLASSES)
    one.save(tmp_path / "saved")
    one.partial_fit(X[1700:2000], y[1700:2000])
    end.restart()
    with pytest.raises(BoardError, match="no longer knows this session.*saved last"):
        one.partial_fit(X[2000:], y[2000:])
    with pytest.raises(BoardError, match="no longer knows"):
        one.resume()
    board = LinkedBoard(wire, timeout=60.0)
    again = type(one).load(tmp_path / "saved", board=board)
    assert again.report()["instances"] == 1700
    tail = again.test_then_train(X[1700:], y[1700:])
    assert again.difference(whole) is None
    assert (np.concatenate([head, tail]) == wanted).all()


SAVES = {
    "save": lambda tree, path: tree.save(path),
    "close": lambda tree, _: tree.close(),
    "pickle": lambda tree, _: pickle.dumps(tree),
    "copy": lambda tree, _: copy.deepcopy(tree),
}


@pytest.mark.parametrize("call", SAVES)
def test_power_cycle_between_two_calls(call, tmp_path):
    """The tree is rescued without what the board had counted, never without a word."""
    X, y = stream(14)
    one, wire, end = linked("vfdt nba", 14, timeout=5.0)
    one.partial_fit(X[:2000], y[:2000], CLASSES)
    one.save(tmp_path / "saved")
    draw, before = one.draw(), (tmp_path / "saved").read_bytes()
    end.restart()
    if call == "save":  # where nobody has been told yet
        with pytest.raises(BoardError, match="no longer knows"):
            one.save(tmp_path / "saved")
        assert (tmp_path / "saved").read_bytes() == before
    if call != "close":
        for _ in range(2):
            with pytest.raises(BoardError, match="no longer knows.*saved last .or save or close"):
                one.resume()
            with pytest.raises(BoardError, match="has lost what it had counted.*close.. it first"):
                one.predict_proba(X[:100])
    with pytest.warns(UserWarning, match="not what the board had counted for"):
        SAVES[call](one, tmp_path / "saved")
    if call == "save":
        again = load_tree(tmp_path / "saved", board=Engine(GEOMETRY))
        assert again.draw() == draw
    if call != "close":
        with pytest.warns(UserWarning, match="has lost what it had counted"):
            one.close()
    one.set_params(board=Engine(GEOMETRY)).partial_fit(X[2000:], y[2000:])
    assert one.draw() != draw and one.report()["instances"] == 3000


def test_close_on_a_cut_link_gives_up_when_told_twice():
    X, y = stream(16)
    one, wire, end = linked("vfdt", 16, timeout=5.0)
    one.partial_fit(X[:2000], y[:2000], CLASSES)
    wire.cuts = [(wire.time, float("inf"))]
    with pytest.raises(BoardError, match="no sign of life"):
        one.close()
    with pytest.warns(UserWarning, match="no sign of life.*not what the board had counted for"):
        one.close()
    one.set_params(board=Engine(GEOMETRY)).partial_fit(X[2000:], y[2000:])
    assert one.report()["instances"] == 3000


@pytest.mark.parametrize("call", ["save", "predict_proba", "counters", "close"])
def test_cut_while_nothing_is_learnt(call, tmp_path):
    """The call that failed is repeated after `resume`; what it had asked for disturbs nothing."""
    X, y = stream(6)
    whole, wanted = expected("vfdt nba", X, y)
    one, wire, _ = linked("vfdt nba", 6, timeout=2.0)
    head = one.test_then_train(X[:1700], y[:1700], CLASSES)
    calls = {
        "save": lambda: one.save(tmp_path / "saved"),
        "counters": one.counters,
        "predict_proba": lambda: one.predict_proba(X[:500]),
        "close": one.close,
    }
    # In the middle of the answer: some of it has come, some will come after the cut.
    for after in (0, 0.001, 0.002, 0.01):
        wire.cuts = [(wire.time + after, float("inf"))]
        try:
            calls[call]()
        except BoardError as error:
            assert "no sign of life" in str(error)
            wire.cuts = []
            assert one.resume() is None
        wire.cuts = []
    calls[call]()
    tail = one.test_then_train(X[1700:], y[1700:])
    check(one, np.concatenate([head, tail]), whole, wanted)


def press_ctrl_c(wire, after):
    """Press it as soon as the wire's time is past ``after``; the handler may be that of a hold."""
    receive = wire.receive

    def pressing(wait):
        if wire.time > after:
            wire.receive = receive
            signal.raise_signal(signal.SIGINT)
        return receive(wait)

    wire.receive = pressing


@pytest.mark.parametrize("tree, timeout", [*((tree, 1000.0) for tree in TREES), ("vfdt", 0.4)])
def test_ctrl_c_while_the_cable_is_cut(tree, timeout):
    """It ends the wait, and a time-out that comes just after it does not swallow it; the call can be finished."""
    X, y = stream(11)
    whole, wanted = expected(tree, X, y)
    one, wire, _ = linked(tree, 11, timeout=timeout)
    head = one.test_then_train(X[:1200], y[:1200], CLASSES)
    cut = wire.time + 0.01
    wire.cuts = [(cut, float("inf"))]
    with interruptible():
        press_ctrl_c(wire, cut + 0.1)
        with pytest.raises(KeyboardInterrupt):
            one.test_then_train(X[1200:], y[1200:])
        press_ctrl_c(wire, wire.time)
        with pytest.raises(KeyboardInterrupt):
            one.resume()
    assert wire.time < cut + 3
    wire.cuts = []
    check(one, np.concatenate([head, one.resume()]), whole, wanted)


def test_ctrl_c_while_more_is_to_be_sent_than_may_wait(monkeypatch):
    """It has come in `send`, amid what belongs together; learning goes on all the same."""
    # Nothing to wait for between several batches of records: no attempts, no changes of books.
    monkeypatch.setitem(TREES, "vfdt", (VFDT, {"delta": 1e-3, "grace": 10**6, "review_period": 10**6}))
    X, y = stream(11, 20_000)
    whole, _ = expected("vfdt", X[:1200], y[:1200])
    codes, labels = whole.encode(X[1200:]), y[1200:].astype(np.int32)
    wanted = whole.learn_codes(codes, labels)
    one, wire, _ = linked("vfdt", 11, timeout=1000.0, memory=1 << 18)
    one.test_then_train(X[:1200], y[:1200], CLASSES)
    cut = wire.time + 0.01
    wire.cuts = [(cut, float("inf"))]
    with interruptible():
        press_ctrl_c(wire, cut + 0.1)
        with pytest.raises(KeyboardInterrupt):
            one.learn_codes(codes, labels)
    assert one.board.session.backlog > 1 << 16
    assert one.unfinished and wire.time < cut + 1.5
    wire.cuts = []
    check(one, one.resume(), whole, wanted)


def moving(seed, count=3000):
    """A stream whose code books change now and then."""
    X, y = stream(seed, count)
    return X + np.arange(count)[:, np.newaxis] / 700, y


def cut_at_changes(monkeypatch, tree, wire, X, also=lambda: None):
    """Cut the cable whenever books are about to change; the leaves of ``X`` by then, a list."""
    changes, leaves = Quantiser.changes, []

    def cutting(quantiser, due, thresholds):
        before = tree.apply(X)
        found = changes(quantiser, due, thresholds)
        if found:
            also()
            leaves.append(before)
            wire.cuts = [(wire.time + 0.0005 * (len(leaves) % 4), float("inf"))]
        return found

    monkeypatch.setattr(Quantiser, "changes", cutting)
    return leaves


@pytest.mark.parametrize("tree", TREES)
def test_cuts_in_the_middle_of_changes_of_books(tree, monkeypatch):
    """Meanwhile books and tree agree."""
    X, y = moving(17)
    whole, wanted = expected(tree, X, y)
    one, wire, _ = linked(tree, 17, timeout=2.0)
    leaves = cut_at_changes(monkeypatch, one, wire, X)
    errors = []

    def on_error(error):
        errors.append(error)
        assert "no sign of life" in str(error)
        assert (one.apply(X) == leaves[-1]).all()
        wire.cuts = []
        try:
            return one.resume()
        except BoardError as again:
            return on_error(again)

    check(one, learn(one, X, y, 17, on_error), whole, wanted)
    assert len(leaves) >= 10 and len(errors) >= 6
    assert one.quantiser_summary() == whole.quantiser_summary()


def test_ctrl_c_in_the_middle_of_a_change_of_books(monkeypatch):
    X, y = moving(18)
    whole, wanted = expected("vfdt", X, y)
    one, wire, _ = linked("vfdt", 18, timeout=1000.0)
    head = one.test_then_train(X[:2000], y[:2000], CLASSES)
    with monkeypatch.context() as patch, interruptible():
        cut_at_changes(patch, one, wire, X, lambda: press_ctrl_c(wire, wire.time + 0.1))
        with pytest.raises(KeyboardInterrupt):
            one.test_then_train(X[2000:], y[2000:])
    assert one.unfinished and one.report()["instances"] == 2048
    wire.cuts = []
    check(one, np.concatenate([head, one.resume()]), whole, wanted)


def test_a_tree_whose_board_is_given_up_in_the_middle_of_a_change_of_books(monkeypatch, tmp_path):
    X, y = moving(19)
    one, wire, _ = linked("vfdt", 19, timeout=2.0)
    one.partial_fit(X[:2000], y[:2000], CLASSES)
    assert one.report()["splits"]
    with monkeypatch.context() as patch:
        leaves = cut_at_changes(patch, one, wire, X)
        with pytest.raises(BoardError, match="no sign of life"):
            one.partial_fit(X[2000:], y[2000:])
    with pytest.warns(UserWarning, match="not what the board had counted for"):
        one.save(tmp_path / "tree")
    with pytest.warns(UserWarning, match="not what the board had counted for"):
        one.close()
    again = load_tree(tmp_path / "tree", board=Engine(GEOMETRY))
    one.set_params(board=Engine(GEOMETRY))
    for each in (one, again):
        assert (each.apply(X) == leaves[-1]).all()
        each.partial_fit(X, y)
    assert again.difference(one) is None


@pytest.mark.parametrize("tree", TREES)
def test_cuts_while_instances_come_one_by_one(tree):
    """Be it the first one, or one with a new attribute or class."""
    X, y = stream(20, 300)
    rows = [{f"x{k}": value for k, value in enumerate(row[: 1 + (at > 40) + (at > 100)])} for at, row in enumerate(X)]
    labels = [f"{label}" if at < 200 else "later" for at, label in enumerate(y)]
    one, wire, _ = linked(tree, 20, timeout=2.0)
    whole, _, _ = linked(tree, 20)
    cuts = iter([0, 5, 30, 41, 42, 101, 102, 200, 201, 202, 250])
    place = next(cuts)
    for at, (x, label) in enumerate(zip(rows, labels, strict=True)):
        label = label if at < 200 else labels[0]
        whole.learn_one(x, label)
        if at != place:
            one.learn_one(x, label)
            continue
        place = next(cuts, None)
        wire.cuts = [(wire.time + 0.0005 * (at % 3), float("inf"))]
        try:
            one.learn_one(x, label)
        except BoardError:
            wire.cuts = []
            if one.resume() is None:
                one.learn_one(x, label)
        wire.cuts = []
    assert one.schema_ == whole.schema_
    check(one, np.empty(0), whole, np.empty(0))


def test_resident_rows_are_learnt_over_cuts(seed, monkeypatch):
    """`resume` finishes the call, and returns what it would have."""
    monkeypatch.setattr(rows, "_PART", 500)
    X, y = stream(seed, 2000)
    wanted, lasted = [], 0
    for cut in (False, True):
        tree, wire, _ = linked("vfdt", seed, Faults.all(0.01), memory=1 << 15, leaf_prediction="mc", timeout=3.0)
        held = Resident(tree.board, X.astype(np.float32), y)
        tree.learn_resident(held)
        begin, found = wire.time, None
        if cut:
            wire.cuts = [(begin + share * lasted, float("inf")) for share in (0.1, 0.5, 0.9)]
        try:
            found = tree.learn_resident(held)
            assert not cut
        except BoardError as error:
            assert cut and "resume()" in str(error) and tree.unfinished
        while found is None:
            wire.cuts = [(max(start, wire.time + 0.01), stop) for start, stop in wire.cuts[1:]]
            try:
                found = tree.resume()
            except BoardError as error:
                assert "resume()" in str(error)
        lasted = wire.time - begin
        wanted.append((found, tree))
    assert wanted[0][0] == wanted[1][0] > 0.5 and wanted[0][1].difference(wanted[1][1]) is None
    assert not wanted[1][1].unfinished and wanted[1][1].report()["splits"] > 1

"""Ensembles whose members share one board: the same as of members on boards of their own, whatever the board."""

import copy
import pickle
import random

import numpy as np
import pytest
from bregalad import EFDT, VFDT, BoardError, open_board
from bregalad.boards.divided import DividedBoard, part_of
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad.ensemble import ENSEMBLES, load_learner
from bregalad.geometry import Geometry
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.link import BoardEnd
from bregalad_sim.wire import Faults, SimulatedWire
from forests import drifting, same
from marks import nightly, nightly_but

MEMBERS = 3
WHOLE = Geometry(lanes=4, passes=3, bins=8, slots=120, count_width=16, naive_bayes=True)
TREE = {"grace": 30, "delta": 0.01, "nominal_values": 10}
MOA = {"inner_grace": 60, "variant": "moa"}
TREES = {"vfdt": (VFDT, {}), "efdt": (EFDT, {"inner_grace": 60}), "moa": (EFDT, MOA)}


def parts(name):
    return MEMBERS * (2 if name == "arf" else 1)


def make(name, kind="vfdt", **options):
    tree, own = TREES[kind]
    few = {"warning": 0.3, "drift": 0.2} if name == "arf" else {"drift": 0.2} if name == "leveraging" else {}
    return ENSEMBLES[name](tree(**TREE | own | options), members=MEMBERS, seed=2, **few)


def golden(geometry):
    return GoldenBoard(geometry.replace(nodes=6 * 100), 1 << 14)


def late(geometry):
    return LateBoard(golden(geometry), random.Random(1))


def compare(name, board, count, kind="vfdt", **options):
    """Members on a shared board, and on emulated ones as large as its parts."""
    X, y = drifting(count=count)
    alone = make(name, kind, geometry=part_of(board.geometry, parts(name)), **options)
    shared = make(name, kind, board=board, **options)
    for start in range(0, count, 500):
        part = slice(start, start + 500)
        expected = alone.test_then_train(X[part], y[part], [0, 1])
        assert (shared.test_then_train(X[part], y[part], [0, 1]) == expected).all()
    same(alone, shared, X, ["attempts"] * (board.geometry.nodes > 0))  # a device tells of some only
    report = shared.report()
    assert report["splits"]
    return report


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("board", [Engine, *nightly(golden), late])
def test_a_forest_on_one_board_is_that_of_many(name, board):
    report = compare(name, board(WHOLE.replace(slots=18)), 2000)
    assert name == "bagging" or report["drifts"]
    assert report["inactive_leaves"]  # slots have run out, for each by itself


@pytest.mark.slow
def test_anytime_trees():
    compare("leveraging", late(WHOLE), 1500, "efdt")


def test_leaves_lose_their_slots_as_on_boards_of_their_own():
    """Whatever other trees have their turn between an attempt and its effect."""
    compare("leveraging", golden(WHOLE.replace(slots=18)), 3000, grace=10, delta=0.1, tau=0.3)


def test_trees_that_try_inner_nodes_by_their_own_count():
    compare("bagging", golden(WHOLE), 1500, "moa")


@pytest.mark.slow
def test_a_forest_on_the_rtl():
    with open_board("simulated", WHOLE.replace(lanes=2, passes=4, nodes=600)) as board:
        assert compare("arf", board, 2000)["drifts"]


# Links


def over_a_wire(seed, faults=None, timeout=60.0):
    rng = random.Random(seed)
    wire = SimulatedWire(BoardEnd(lambda: golden(WHOLE), rng=rng, ring_words=400), rng, faults)
    return LinkedBoard(wire, timeout=timeout), wire


@pytest.mark.parametrize("name", nightly_but(["bagging"], ENSEMBLES))
def test_cuts_cost_nothing(name, tmp_path):
    X, y = drifting(count=1500)
    geometry = part_of(golden(WHOLE).geometry, parts(name))
    expected = (alone := make(name, geometry=geometry)).test_then_train(X, y, [0, 1])
    board, wire = over_a_wire(3, Faults.all(0.02))
    make(name, board=board).test_then_train(X, y, [0, 1])
    whole_time = wire.time
    board, wire = over_a_wire(3, Faults.all(0.02), timeout=3.0)
    wire.cuts = [(whole_time / 4, float("inf"))]
    cut = make(name, board=board)
    rng = random.Random(5)
    found, errors = [], 0
    for start in range(0, len(X), 500):
        part, told = slice(start, start + 500), None
        while told is None:
            try:
                told = cut.resume() if errors and board.cut else None
                told = cut.test_then_train(X[part], y[part], [0, 1]) if told is None else told
            except BoardError as error:
                assert "no sign of life" in str(error)
                errors += 1
                if cut.unfinished:
                    with pytest.raises(BoardError, match="resume"):
                        cut.partial_fit(X, y)
                    with pytest.warns(UserWarning, match="the tree is kept"):
                        cut.save(tmp_path / "half")
                wire.cuts = [(wire.time + rng.uniform(0.1, 0.3) * whole_time, float("inf"))] if errors < 4 else []
        found.append(told)
    assert errors >= 3
    wire.cuts = []
    assert (np.concatenate(found) == expected).all()
    same(alone, cut, X, ["attempts"])


def test_answers_that_nobody_waits_for_are_nobodys():
    X, y = drifting(count=1000)
    board, wire = over_a_wire(6, timeout=3.0)
    alone, shared = make("bagging", geometry=part_of(WHOLE, 3)), make("bagging", board=board)
    for forest in (alone, shared):
        forest.partial_fit(X[:500], y[:500], [0, 1])
    start = wire.time
    pickle.dumps(shared)
    took, errors = wire.time - start, 0
    for part in range(1, 10):
        wire.cuts = [(wire.time + took * part / 10, float("inf"))]
        try:
            pickle.dumps(shared)
        except BoardError:
            errors += 1
        wire.cuts = []
        assert shared.resume() is None
        copied = pickle.loads(pickle.dumps(shared)).set_params(tree__board=Engine(WHOLE))
        same(alone, copied, X, ["attempts"])
    assert errors > 5
    for forest in (alone, shared, copied):
        forest.partial_fit(X[500:], y[500:])
    same(alone, shared, X, ["attempts"])
    same(alone, copied, X, ["attempts"])


def test_who_gives_up_keeps_the_trees():
    """A board that is still where its records had come to is refused; one that has no more to tell learns right."""
    X, y = drifting(count=900)
    refused = 0
    for cut in (0.005, 0.01):  # seconds: within a LEARN, and between two
        board, wire = over_a_wire(4, timeout=3.0)
        forest = make("arf", board=board).partial_fit(X[:500], y[:500], [0, 1])
        wire.cuts = [(wire.time + cut, float("inf"))]
        with pytest.raises(BoardError, match="no sign of life"):
            forest.partial_fit(X[500:], y[500:])
        assert forest.unfinished
        wire.cuts = []
        board.resume()  # the board, and not what was interrupted
        with pytest.warns(UserWarning, match="starts anew") as warned:
            forest.close()
        # Nobody reads what is another one's.
        assert len(warned) == sum(len(member.trees) for member in forest.members_)
        assert not forest.unfinished
        other = pickle.loads(pickle.dumps(forest)).set_params(tree__board=golden(WHOLE))
        other.partial_fit(X[500:], y[500:])
        try:
            forest.partial_fit(X[500:], y[500:])
        except BoardError as error:
            assert "open it anew" in str(error)
            refused += 1
        else:
            same(forest, other, X, ["attempts"])
        assert other.predict(X).mean() == pytest.approx(y.mean(), abs=0.2)
    assert refused


def test_a_board_that_fails_fails_all_and_may_be_used_again():
    X, y = drifting(count=900)
    board = golden(WHOLE)
    forest = make("arf", board=board).partial_fit(X[:500], y[:500], [0, 1])
    board.send(np.full(WHOLE.bus_bytes, 255, np.uint8))  # no command
    with pytest.raises(BoardError, match="golden reports"):
        forest.partial_fit(X[500:], y[500:])
    with pytest.raises(BoardError, match="failed while this tree was learning"):
        forest.partial_fit(X[500:], y[500:])
    with pytest.warns(UserWarning, match="starts anew") as warned:
        forest.close()
    assert len(warned) == sum(len(member.trees) for member in forest.members_)
    forest.partial_fit(X[500:], y[500:])


def test_parts_know_who_has_given_up():
    class Trainer:
        requested = stuck = False

    first, second = map(DividedBoard(Engine(WHOLE), 2).part, range(2))
    trainer, other = Trainer(), Trainer()
    assert first.take_turn(trainer) is False
    trainer.failed = True
    assert first.torn and second.torn
    trainer.failed = False
    assert not second.torn
    trainer.requested = True
    assert second.take_turn(other) and not second.take_turn(other)
    assert not first.take_turn(trainer)
    trainer.failed = True
    first.release(trainer)
    del trainer
    assert second.torn
    assert second.take_turn(other) and not second.take_turn(other)
    assert second.torn


# The board comes and goes


@pytest.mark.parametrize("name", nightly_but(["bagging"], ENSEMBLES))
def test_a_forest_goes_on_elsewhere(name, tmp_path):
    X, y = drifting(count=1500)
    geometry = part_of(late(WHOLE).geometry, parts(name))
    alone, shared = make(name, geometry=geometry), make(name, board=late(WHOLE))
    print("seed 3")
    rng = np.random.default_rng(3)
    at = 0
    while at < len(y):
        part = slice(at, at + int(rng.choice([1, 7, 300])))
        at = part.stop
        for forest in (alone, shared):
            forest.partial_fit(X[part], y[part], [0, 1])
        match rng.integers(6):
            case 0:
                shared.save(tmp_path / "forest")
                shared.close()
                shared = load_learner(tmp_path / "forest", board=late(WHOLE))
            case 1:
                shared.close()
            case 2:
                shared.save(tmp_path / "forest")
                shared = load_learner(tmp_path / "forest", board="emulated", geometry=geometry)
            case 3:
                shared = pickle.loads(pickle.dumps(shared)).set_params(tree__board=late(WHOLE))
    same(alone, shared, X, ["attempts"])


def test_copies_of_a_forest_on_an_open_emulated_board_have_boards_of_their_own(tmp_path):
    X, y = drifting(count=1500)
    shared = make("arf", board=Engine(WHOLE)).partial_fit(X[:700], y[:700], [0, 1])
    shared.save(tmp_path / "forest")
    twins = [copy.deepcopy(shared), load_learner(tmp_path / "forest")]
    for forest in (shared, *twins):
        forest.partial_fit(X[700:], y[700:])
    assert shared.report()["drifts"]
    for twin in twins:
        same(shared, twin, X)
        assert len({id(member.tree._trainer.board) for member in twin.members_}) == MEMBERS


def test_one_by_one_and_what_comes_later():
    X, y = drifting(count=200)
    alone, shared = make("arf", geometry=part_of(WHOLE, 6)), make("arf", board=late(WHOLE))
    for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        for forest in (alone, shared):
            forest.learn_one(row, label)
        assert alone.predict_one(row) == shared.predict_one(row)
    for forest in (alone, shared):
        forest.learn_one({"a": 0.5, "new": 1.0}, 1)
        with pytest.raises(ValueError, match="3 classes, but the board has counters for 2"):
            forest.learn_one({"a": 0.5}, 2)
    same(alone, shared, X.assign(new=1.0))


# Refused


def test_too_few_slots_are_refused():
    X, y = drifting(count=30)
    for forest, message in (
        (make("arf", board=Engine(WHOLE.replace(slots=11))), "has 11 slots, 6 trees that share it take 12 at"),
        (make("bagging", board=late(WHOLE.replace(slots=5))), "has 5 slots, 3 trees that share it take 6"),
        (make("arf", board="simulated", geometry="tiny").set_params(members=9), "a geometry with more slots, or"),
        (make("arf", board="simulated", slots=8192), "6 trees of 8192 slots take more than the 32768 of a board"),
        (make("arf", board=Engine(WHOLE.replace(nodes=9))), "node table of 9 rows, 6 trees that share it take 18 "),
        (make("arf", board=late(WHOLE)).set_params(engine="ray"), "members that share a board .late golden. learn in"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.fit(X, y)
        assert not hasattr(forest, "classes_")


def test_a_board_has_one_forest_at_a_time():
    X, y = drifting(count=300)
    board = late(WHOLE)
    first = make("bagging", board=board).fit(X, y)
    with pytest.raises(BoardError, match="late golden: another tree learns on this board"):
        make("arf", board=board).fit(X, y)
    with pytest.raises(BoardError, match="another tree learns on this board"):
        VFDT(board, nominal_values=10).fit(X, y)
    first.close()
    second = make("arf", board=board).fit(X, y)
    with pytest.raises(BoardError, match="another tree learns on this board"):
        first.partial_fit(X, y)
    del second
    first.partial_fit(X, y)
    same(first, make("bagging", geometry=part_of(WHOLE, 3)).fit(X, y).partial_fit(X, y), X, ["attempts"])

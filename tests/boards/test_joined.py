"""Boards that share a tree's attributes: one board's tree and predictions, and the bytes that were to be expected."""

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, CTree, open_board
from bregalad.benchmark.cluster import tree
from bregalad.boards.joined import JoinedBoard
from bregalad.geometry import Geometry
from bregalad.protocol.commands import Opcode, pack_command
from streams import elec, needs

SIZES = {"bins": 16, "slots": 1024, "count_width": 24, "bus_width": 128}
SMALL = {"leaf_prediction": "mc", "delta": 1e-3, "grace": 100}


def joined(count, classes=2, **sizes):
    geometry = Geometry(**{**SIZES, "lanes": 16, "passes": 16, "classes": classes} | sizes)
    return JoinedBoard([open_board("emulated", geometry, memory_size=0) for _ in range(count)])


def mixed(seed=1, count=4000, classes=3):
    """Numbers, some missing, and nominal attributes of few and of many values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((count, 3)), columns=list("abc")).mask(rng.random((count, 3)) < 0.05)
    X["d"] = rng.choice([f"v{i}" for i in range(40)], count)
    X["e"] = rng.choice(["x", "y"], count)
    X["f"] = X["a"]  # as good as another one: the lower wins
    y = (X["a"] > 0.5).to_numpy().astype(int) + (X["e"] == "x") * (X["d"] < "v2")
    return X, np.where(rng.random(count) < 0.1, rng.integers(0, classes, count), y)


def check(one, boards, X, y):
    """Learn on one board and on several; both trees."""
    classes = np.unique(y)
    many = type(one)(board=boards, **{k: v for k, v in one.get_params().items() if k not in ("board", "slots")})
    wanted = one.test_then_train(X, y, classes)
    assert (many.test_then_train(X, y, classes) == wanted).all()
    assert one.difference(many) is None
    assert one.report() == many.report()
    return many


@needs("elec")
@pytest.mark.parametrize("boards", [2, 4])
@pytest.mark.parametrize("kind", [VFDT, EFDT])
def test_elec(kind, boards):
    X, y, _ = elec()
    many = check(kind(slots=1024, **SMALL), joined(boards), X[:8000], y[:8000])
    assert many.report()["splits"] > 10
    cells = np.diff(many.board._bounds)
    assert cells.sum() == many.board.read("cells.count") and cells.min() > 0


@pytest.mark.parametrize("name, count", [pytest.param("ELEC", 40_000, marks=needs("elec")), ("numeric-256", 8000)])
def test_trees_are_the_same_and_bytes_as_the_model_says(name, count):
    one, *several = tree(name, count, [2, 4], False)
    assert one["boards"] == 1 and [row["boards"] for row in several] == [2, 4]
    for row in several:
        assert row["trials"] > 10 and (row["places"] or name != "ELEC")
        assert [row["sent"], row["back"]] == pytest.approx(row["model"], rel=0.05)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nominal_split": "one_vs_rest"},
        {"ties": "htdt"},  # all gains are reported
        {"criterion": "gini"},
    ],
    ids=str,
)
def test_attributes_of_all_kinds(options, tmp_path):
    X, y = mixed()
    one = VFDT(slots=1024, **SMALL, **options)
    many = check(one, joined(3, classes=3, criterion=options.get("criterion", "information_gain")), X, y)
    assert many.report()["splits"] > 1
    many.save(tmp_path / "tree")
    loaded = VFDT.load(tmp_path / "tree", board="emulated", geometry=None)
    for each in (one, many, loaded):
        each.partial_fit(X[::-1], y[::-1])
    assert one.difference(many) is None and one.difference(loaded) is None


def test_other_trees_and_small_attributes():
    X, y = mixed(classes=2)
    y = np.minimum(y, 1)
    check(CTree(slots=1024, leaf_prediction="mc", grace=100), joined(2, criterion="gini"), X, y)
    many = check(VFDT(slots=1024, **SMALL), joined(4), X[["a", "e"]], y)
    assert many.board._used == [0, 1]  # for the others there is no attribute


def test_boards_must_fit():
    with pytest.raises(ValueError, match="there must be 1 board at least to join"):
        JoinedBoard([])
    one = open_board("emulated", Geometry(**SIZES), memory_size=0)
    for name, value in (("bins", 8), ("classes", 3), ("slots", 64), ("count_width", 20), ("criterion", "gini")):
        other = open_board("emulated", Geometry(**SIZES).replace(**{name: value}), memory_size=0)
        with pytest.raises(ValueError, match=rf"board 1 \(emulated\) has {name} = {value}, board 0 \(emulated\)"):
            JoinedBoard([one, other])
    X, y = mixed()
    with pytest.raises(ValueError, match=r"board 1 \(emulated\) has 4 cells, its share of the attributes takes 5"):
        VFDT(joined(4, classes=3, lanes=4, passes=1), **SMALL).fit(X[["a", "b", "c", "d", "e"]], y)


def test_what_boards_that_are_joined_have_not():
    X, y = mixed()
    board = joined(2, classes=3)
    with pytest.raises(ValueError, match="naive Bayes"):
        VFDT(board, leaf_prediction="nb").fit(X, y)
    with pytest.raises(ValueError, match="memory"):
        VFDT(board, feed="memory", **SMALL).fit(X, y)
    with pytest.raises(ValueError, match="boards that are joined have no memory"):
        board.load(0, b"1234")
    with pytest.raises(ValueError, match="boards that are joined take no command 15"):
        board.send(pack_command(board.geometry, Opcode.LOAD))

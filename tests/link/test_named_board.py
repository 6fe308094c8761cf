"""Boards by name, and the command line, at the end of a link that may be cut."""

import os
import re
import signal

import numpy as np
import pandas as pd
import pytest
from bregalad import HAT, VFDT, load_tree
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad_hw.boards import BOARDS
from bregalad_sim.ctrl_c import interruptible
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.link import BoardEnd
from learning import CLASSES, GEOMETRY, TREES, check, expected, stream
from marks import nightly
from server import serve_serial, serve_udp

TRAIN = "train generator:hyperplane,attributes=3 --limit 300000 --quiet"


@pytest.mark.parametrize("serve", [serve_serial, serve_udp])
def test_board_by_name(serve, tmp_path, cli):
    X, y = stream(8)
    whole, wanted = expected("vfdt", X, y)
    end = BoardEnd(lambda: GoldenBoard(GEOMETRY, 1 << 15), ring_words=2000)
    kind, options = TREES["vfdt"]
    with serve(end) as server:
        one = kind(board=f"{server.name},timeout=30", **options)
        head = one.test_then_train(X[:2000], y[:2000], CLASSES)
        one.save(tmp_path / "saved")
        one.close()
        again = kind.load(tmp_path / "saved")
        tail = again.test_then_train(X[2000:], y[2000:])
        check(again, np.concatenate([head, tail]), whole, wanted)
        again.close()
        table = tmp_path / "table.csv"
        np.savetxt(table, np.column_stack([X, y]), delimiter=",", header="a,b,c,class", comments="")
        printed = cli(["train", table, "--quiet", "--board", server.name, "--numeric", "a,b,c"]).out
        assert "instances   3000" in printed
        assert re.search(r"\d frames sent, \d+ of them again", printed)  # some, where the machine is busy
        with pytest.raises(ValueError, match="5 cells, but the board has 4"):
            VFDT(board=server.name).fit(np.zeros((20, 5)), np.arange(20) % 2)
        VFDT(board=server.name).fit(np.zeros((20, 3)), np.arange(20) % 2).close()


def test_ctrl_c_on_a_cut_cable_costs_the_command_line_nothing(tmp_path, monkeypatch, cli):
    saved = tmp_path / "tree"
    resume = VFDT.resume

    def plugged_in(tree):
        server.deaf = False
        return resume(tree)

    turn, turns, pressed = LinkedBoard._turn, iter(range(1 << 30)), [signal.SIGINT]

    def cut(board, wait):
        if next(turns) == 500:
            server.deaf = True
        # Pressed by the thread that learns, in a wait that is in vain: at another moment nothing
        # need be unfinished.
        if server.deaf and wait and pressed and board._wire.now() > board.session.last_received + 0.2:
            os.kill(os.getpid(), pressed.pop())
        turn(board, wait)

    monkeypatch.setattr(LinkedBoard, "_turn", cut)
    monkeypatch.setattr(VFDT, "resume", plugged_in)
    with serve_udp(BoardEnd(lambda: GoldenBoard(GEOMETRY, 1 << 15))) as server, interruptible():
        out = cli(f"{TRAIN} --board {server.name},timeout=30 --save {saved}", 130).out
    assert "interrupted after" in out
    assert 0 < load_tree(saved, board="emulated").report()["instances"] < 300_000
    with np.load(saved) as file:
        assert len(file["board_nodes"])


@pytest.mark.parametrize("back", [*nightly(False), True])
def test_a_cut_cable_costs_the_command_line_nothing_that_is_here(back, tmp_path, monkeypatch, cli):
    """The curve and the report are; the tree is if the board answers again."""
    saved, curve = tmp_path / "tree", tmp_path / "curve.csv"
    resume = VFDT.resume

    def plugged_in(tree):
        server.deaf = not back
        return resume(tree)

    class Cut(BoardEnd):
        left = 1500  # frames

        def take(self, frame, now):
            super().take(frame, now)
            self.left -= 1
            server.deaf |= not self.left

    monkeypatch.setattr(VFDT, "resume", plugged_in)
    with serve_udp(Cut(lambda: GoldenBoard(GEOMETRY, 1 << 15))) as server:
        captured = cli(f"{TRAIN} --board {server.name},timeout=1 --save {saved} --curve {curve}", 1)
    assert "no sign of life" in captured.err and captured.err.count("\n") == 1
    assert "stopped after" in captured.out
    learnt = pd.read_csv(curve)["instances"].iloc[-1]
    assert 0 < learnt < 300_000
    if back:
        assert load_tree(saved, board=Engine(GEOMETRY)).report()["instances"] >= learnt
    else:
        assert f"{saved} is not written" in captured.err and not saved.exists()


def test_a_bitstream_that_lacks_something_is_refused_with_the_remedy():
    X, y = np.zeros((80, 12)), np.arange(80)
    with serve_udp(BoardEnd(lambda: GoldenBoard(BOARDS["ulx3s-12f"].geometry, 4096))) as server:
        for learner, attributes, classes, remedy in (
            (VFDT(leaf_prediction="mc"), 12, 2, "12 cells.* lanes x passes >= 12$"),
            (VFDT(criterion="gini"), 3, 2, "or a geometry with criterion='gini'$"),
            (VFDT(leaf_prediction="nb"), 3, 2, "geometry with naive_bayes=True"),
            (HAT(leaf_prediction="mc"), 3, 2, "geometry with alternates, 1 to 7"),
            (VFDT(), 3, 3, "3 classes, .* classes >= 3$"),
            (VFDT(), 3, 40, "40 classes.*hardware takes 32$"),
        ):
            with pytest.raises(ValueError, match=remedy):
                learner.set_params(board=server.name).fit(X[:, :attributes], y % classes)

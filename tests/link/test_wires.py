"""Real wires: a pseudo-terminal and the loopback, with a model of the board behind."""

import os
import random
import resource

import pytest
from bregalad.boards import BoardError, open_board
from bregalad.protocol.link import LINK_VERSION
from bregalad.protocol.registers import find
from server import serve_serial, serve_udp
from tape import GEOMETRY, end
from test_session import traffic

KINDS = pytest.mark.parametrize("serve", [serve_serial, serve_udp])


@KINDS
@pytest.mark.parametrize(
    "sizes", [{}, {"ring_words": 300, "frame_bytes": 1024}, {"ring_words": 20_000, "frame_bytes": 1440}]
)
def test_every_byte_once_and_in_order(serve, sizes):
    with serve(end(**sizes)) as server, open_board(server.name, GEOMETRY) as board:
        sent, received = traffic(board, random.Random(1), 80)
        assert server.end.board.tape == sent
        assert received == server.end.board.reported
        assert board.geometry == board.read_geometry() == GEOMETRY
        assert board.statistics().bytes_sent >= sum(len(part) for part in sent if isinstance(part, bytes))


@KINDS
def test_silent_board_then_resume(serve):
    with serve(end()) as server, open_board(server.name, timeout=0.4) as board:
        board.write("grace.leaf", 77)
        assert board.read("grace.leaf") == 77
        server.deaf = True
        with pytest.raises(BoardError, match=r"no sign of life for \d.* s.*check cable.*resume"):
            board.read("status.busy")
        for _ in range(2):
            with pytest.raises(BoardError, match="no sign of life"):
                board.receive()
        board.send(bytes(100 * GEOMETRY.bus_bytes))  # kept
        with pytest.raises(BoardError, match="no sign of life"):
            board.resume()
        server.deaf = False
        board.timeout = 10
        board.resume()
        assert board.read("grace.leaf") == 77
        assert server.end.board.tape == [(find("grace").addr, 77), bytes(100 * GEOMETRY.bus_bytes)]


@KINDS
def test_second_program_is_refused_until_it_takes_over(serve):
    with serve(end()) as server:
        first = open_board(server.name, timeout=3)
        if serve is serve_serial:  # as from another computer: the port itself is not locked
            first._wire.close()
        with pytest.raises(BoardError, match=r"another session \(0x[0-9a-f]{8}\).*take_over=True"):
            open_board(server.name)
        with open_board(server.name, take_over=True) as second:
            second.read("status.busy")
            if serve is serve_udp:
                server.deaf = False
                with pytest.raises(
                    BoardError, match="no longer knows this session: .*load the tree that was saved last"
                ):
                    first.read("status.busy")
        first._wire.close()


@KINDS
def test_boards_that_do_not_fit(serve):
    """They speak another version of the link, or have another geometry than is expected."""
    with serve(end(version=LINK_VERSION + 1)) as server:
        with pytest.raises(BoardError, match=f"version {LINK_VERSION + 1} of .* {LINK_VERSION}: rebuild the bitstream"):
            open_board(server.name)
    with serve(end()) as server:
        with pytest.raises(BoardError, match="lanes is 2, expected 8.*its bitstream was built for"):
            open_board(server.name, "small")


@KINDS
def test_more_files_than_select_takes(serve):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = limits[1] if limits[1] != resource.RLIM_INFINITY else 4096
    if most < 1200:
        pytest.skip("this system lets a program open too few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1200), limits[1]))
    with serve(end()) as server:
        held = []
        try:
            while not held or held[-1] < 1024:
                held.append(os.open(os.devnull, os.O_RDONLY))
            with open_board(server.name) as board:
                assert board.read("status.busy") == 0
        finally:
            for file in held:
                os.close(file)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@KINDS
def test_a_forked_process_leaves_the_board_to_its_parent(serve, monkeypatch):
    with serve(end()) as server:
        board = open_board(server.name)
        board.write("grace.leaf", 77)
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            for call in (
                lambda: board.read("grace.leaf"),
                lambda: board.write("grace.leaf", 5),
                lambda: board.send(bytes(GEOMETRY.bus_bytes)),
                board.receive,
                board.resume,
            ):
                with pytest.raises(BoardError, match="this process was forked from the one"):
                    call()
        assert board.read("grace.leaf") == 77
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            board._release_all()
        with pytest.raises(BoardError, match="another session"):
            open_board(server.name)


def test_closed_board():
    with serve_udp(end()) as server:
        board = open_board(server.name)
        opened = board.statistics().frames_sent
        board.read("status.busy")
        board.close()
        board.close()
        counted = board.statistics()
        assert counted.frames_sent == opened + 1 and counted.seconds > 0
        assert board.statistics() == counted
        calls = board.receive, lambda: board.send(b""), board.resume, lambda: board.read("status.busy")
        for call in (*calls, lambda: board.load(0, b"1")):
            with pytest.raises(BoardError, match="closed: open it again"):
                call()
        with open_board(server.name):  # the session was ended: nobody needs to wait
            pass

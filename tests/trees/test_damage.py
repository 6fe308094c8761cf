"""Saved learners that are damaged or forged: refused by one line that names the file.

As many as are wanted: ``FILES=100000 python -m pytest -m slow tests/trees/test_damage.py``.
"""

import gc
import io
import json
import os
import re
import shutil
import socket
import warnings
import zipfile
from functools import reduce
from operator import getitem
from pathlib import Path

import forging
import numpy as np
import pytest
from bregalad import EFDT, ITI, VFDT, BoardError, PuuCVFDT, PuuVFDT, load_tree
from bregalad.ensemble import AdaptiveRandomForest, OnlineBagging, load_learner
from bregalad.estimator.saving import storage
from noisy import stream
from processes import python

FILES = int(os.environ.get("FILES", 20_000))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trees of all kinds, saved."""
    folder = tmp_path_factory.mktemp("trees")
    forging.save_all(folder)
    return folder


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    X, y = stream(6000, missing=0)
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.8)
    tree = EFDT(grace=50, inner_grace=200, leaf_prediction="nba").fit(X, y)
    assert tree.report()["splits"] > 2
    tree.save(path := tmp_path_factory.mktemp("grown") / "tree")
    return path


@pytest.fixture
def saved(grown, tmp_path):
    """A tree's file, that may be written to."""
    return Path(shutil.copy(grown, tmp_path))


@pytest.mark.slow
def test_whatever_is_done_to_a_file(folder, seed):
    """In a process of its own: a crash would be the worst answer."""
    run = python("-X", "faulthandler", forging.__file__, folder, str(seed), str(FILES))
    assert run.returncode == 0, f"seed {(folder / 'seed').read_text()}: {run.stderr[-2000:]}"
    assert run.stderr == ""
    found = json.loads(run.stdout)
    print(found)
    assert sum(found.values()) == FILES and "wrong" not in found


def check_refused(path, meta, arrays, message=""):
    """Write what is forged: no file of it is loaded."""
    storage.write(path, meta, arrays)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: a damaged saved tree.*({message})"):
        load_learner(path)


def changed(events, name, value):
    """Events of which one field has another value."""
    events[name] = value
    return events


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("board_nodes", lambda nodes: nodes[::-1], "its statistics are not of its nodes"),
        ("board_entries", lambda entries: np.c_[entries[:, :1] * 2, entries[:, 1:]], "do not add up"),
        ("board_counts", lambda counts: counts + np.uint32(1), "do not add up"),
        ("node_kind", lambda kind: kind * 0 + 2, "do not hang together|not of its attributes"),
        ("node_threshold", lambda threshold: threshold - 1000, "with such 'threshold'"),
        ("node_majority", lambda majority: majority + 1, "do not hang together|that there are not"),
        ("node_tried", lambda tried: tried.astype(str), "'node_tried' has type <U"),
        ("node_wait", lambda wait: wait[:-1], "'node_wait' has type"),
        ("node_evidence", lambda evidence: evidence[:, :4], "'node_evidence' has type float64"),
        ("history_count", lambda count: count - 10**6, "its history is not of its tree"),
        ("history_count", lambda count: count + (1 << 62), "its history is not of its tree"),
        ("history_paths", lambda paths: paths.astype(int), "its history is none"),
        ("history_events", lambda events: events[:-1], "its history is not of its tree"),
        ("history_events", lambda events: changed(events, "attribute", 3), "its history is not of its tree"),
        ("history_events", lambda events: changed(events, "event", -1), "its history is not of its tree"),
        ("sample_count", lambda count: count - 10**6, "no sample: its count is none"),
        ("sample_count", lambda count: count.astype(float), "no sample: its count is none"),
        ("sample_kept", lambda kept: kept[:-1], "no sample: kept is of type float64 and shape"),
        ("sample_recent", lambda recent: recent / 0, "no sample: recent is of type float64.*infinite"),
        ("sample_recent", lambda recent: recent[:, :-1], "no sample: recent is of type float64 and shape"),
        ("sample_rest", lambda rest: rest - 1, "no sample: rest is"),
        ("sample_calm", lambda calm: calm + 64, "no sample: calm is"),
        ("node_counts", lambda counts: counts[0], "'node_counts' has type"),
        ("node_gains", lambda gains: None, "gains"),
        ("board_nodes", lambda nodes: None, "nodes"),
        *(
            (f"node_{name}", lambda column, row=row, value=value: changed(column, row, value), "do not hang together")
            for name, row, value in (
                *(("child", 0, 1 << 30), ("child", 0, 0), ("width", 0, 255), ("width", 1, -2), ("parent", 0, 1)),
                *(("parent", 1, 2), ("kind", 0, 9), ("kind", -1, 1), ("attribute", 0, 100), ("attribute", 0, -1)),
                *(("default", 0, 2), ("majority", 1, 77)),
            )
        ),
    ],
)
def test_forged_arrays(saved, name, change, message):
    meta, arrays = storage.read(saved)
    with np.errstate(all="ignore"):
        arrays[name] = change(arrays[name])
    check_refused(saved, meta, {name: array for name, array in arrays.items() if array is not None}, message)


ENTRIES = {  # and what they are not
    "classes": ([True, False], [0, 1], "ab", [False]),
    "class_type": ("<f8", "O", "strange"),
    "event_counts": (7,),
    "event_counts.splits": (-1, True),
    "board": (5,),
    "params.nominal": (5, [[1]]),
    "params.delta": ("x",),
    "params.other": (1,),
    "params.threads": (0,),
    "geometry.colour": (3,),
    "geometry.bins": (32,),
    "geometry.classes": (4,),
    "geometry.slots": (2,),
    "geometry.levels": (4,),
    "given_geometry": ("huge",),
    "named": (1,),
    "quantiser.books": ([],),
    "quantiser.books.0": ({},),
    "quantiser.books.0.edges": (5, [*range(255)]),
    "quantiser.books.0.edges.3": (float("nan"), float("inf"), -1e9, "1", True),
    "quantiser.schema.class_name": ("y",),
    "schema.attributes.0.kind": ("nominal",),
    "run": (1,),
}


@pytest.mark.parametrize("entry, value", [(entry, value) for entry, values in ENTRIES.items() for value in values])
def test_forged_entries(saved, entry, value):
    meta, arrays = storage.read(saved)
    *way, last = (int(key) if key.isdigit() else key for key in entry.split("."))
    reduce(getitem, way, meta)[last] = value
    check_refused(saved, meta, arrays)


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Learners whose files have more than such a tree's, saved by these names."""
    folder = tmp_path_factory.mktemp("others")
    X, y = stream(3000, missing=0)
    whole, labels = (X * 4).astype(int), np.where(y & (X[:, 1] > 0.5), "yes", "?")
    positive, window = {"positive": "yes", "grace": 100, "delta": 1e-2}, {"window": 1500, "inner_grace": 200}
    for name, learner in {
        "iti": ITI(nominal=[2]).fit(np.column_stack([X[:300, :2], whole[:300, 2]]), y[:300]),
        "arf": AdaptiveRandomForest(VFDT(grace=30), members=3).fit(X[:200], y[:200]),
        "puuvfdt": PuuVFDT(**positive).fit(X, labels),
        "puucvfdt": PuuCVFDT(**positive, **window).fit(X, labels),
        # Its root is to split at the end of the next block.
        "waiting": VFDT(nominal=[0, 1, 2], grace=60, delta=1e-2, block=1500).fit(whole[:2999], y[:2999]),
    }.items():
        learner.save(folder / name)
    return folder


def with_first(value):
    """A change of a column: its first element is another one."""
    return lambda column: np.concatenate([np.full(1, value, column.dtype), column[1:]])


def with_tree(number, **entries):
    """A change of trees: one has other entries."""
    return lambda trees: [each | entries if at == number else each for at, each in enumerate(trees)]


@pytest.mark.parametrize(
    "kind, name, change",
    [
        ("iti", "kept_labels", lambda labels: labels + 1),
        ("iti", "kept_labels", lambda labels: labels[1:]),
        ("iti", "kept_labels", lambda labels: labels.astype(np.int64)),
        ("iti", "kept_codes", lambda codes: codes + 4),
        ("iti", "kept_codes", lambda codes: codes[:, :0]),
        ("iti", "kept_numbers", lambda numbers: numbers + np.inf),
        ("iti", "kept_numbers", lambda numbers: numbers[0]),
        ("iti", "kept_more", lambda _: np.zeros(1)),
        ("arf", "members", lambda _: []),
        ("arf", "seen", lambda _: -1),
        ("arf", "member", lambda _: "ID5R"),
        ("arf", "ensemble", lambda _: {"members": 3, "cores": 1}),
        ("arf", "windows", lambda _: np.ones((6, 455))),
        ("arf", "windows", lambda _: np.zeros((6, 3))),
        *(
            (kind, name, change)
            for kind in ("puuvfdt", "puucvfdt")
            for name, change in (
                ("trees", lambda trees: trees[:-1]),
                ("trees", lambda trees: trees[::-1]),
                ("trees", lambda _: None),
                ("trees", with_tree(3, totals=[1, 2])),
                ("trees", with_tree(3, totals=[-1, 3001])),
                ("trees", with_tree(3, totals=None)),
                ("trees", with_tree(8, event_counts=None)),
                ("trees", with_tree(2, level=0.35)),
                ("params", lambda params: params | {"positive": "no"}),
                ("params", lambda params: params | {"level": 2}),
            )
        ),
        *(("waiting", "node_decision", with_first(decision)) for decision in (3, 4, 9)),
        ("waiting", "node_cell", with_first(77)),
        ("waiting", "node_value", with_first(250)),
    ],
)
def test_forged_files_of_other_learners(others, tmp_path, kind, name, change):
    meta, arrays = storage.read(others / kind)
    of_arrays = name in arrays or name == "kept_more"
    part = arrays if of_arrays else meta
    part[name] = change(part.get(name))
    check_refused(tmp_path / "forged", meta, arrays)


@pytest.mark.parametrize("learner", [EFDT(grace=50), OnlineBagging(VFDT(grace=50, slots=64), members=2)])
def test_a_file_opens_no_board(learner, tmp_path, caplog):
    """It may be from elsewhere: what it names gets no datagram, and it predicts what it did."""
    X, y = stream(2000, missing=0)
    learner.fit(X, X[:, 0] > 0.5).save(tmp_path / "tree")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        there.bind(("127.0.0.1", 0))
        there.setblocking(False)
        board = f"udp:127.0.0.1:{there.getsockname()[1]},timeout=0.1"
        for name in (board, "no such board"):
            meta, arrays = storage.read(tmp_path / "tree")
            storage.write(tmp_path / "forged", meta | {"board": name}, arrays)
            caplog.clear()
            forged = load_learner(tmp_path / "forged")
            assert f"learnt on board '{name}', goes on on the emulated one" in caplog.text
            assert (forged.predict_proba(X) == learner.predict_proba(X)).all() and forged.report()
            forged.partial_fit(X, y)
        with pytest.raises(BlockingIOError):
            there.recv(1)
        with pytest.raises(BoardError, match="no answer from 127.0.0.1"):
            load_learner(tmp_path / "forged", board=board).predict(X)
        assert there.recv(1)


def test_wrong_changes_are_not_the_files_fault(saved):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        load_tree(saved, colour=1)
    with pytest.raises(TypeError, match="^grace must be an integer"):
        load_tree(saved, grace="x")


def test_a_file_that_is_refused_is_closed(saved):
    saved.write_bytes(saved.read_bytes()[:500])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="no saved tree, or a damaged one"):
            load_tree(saved)
        gc.collect()
    assert not found


def test_contents_without_the_digest_that_is_theirs(saved):
    meta, arrays = storage.read(saved)
    with np.load(saved) as archive:
        digest = archive["digest"]
    meta["event_counts"]["instances"] += 1
    packed = {**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
    for forged in ({"digest": digest, **packed}, packed):
        with saved.open("wb") as file:
            np.savez(file, **forged)
        with pytest.raises(ValueError, match="its digest is of other contents"):
            load_tree(saved)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, 99])
def test_zip_files_that_python_does_not_read(saved, method):
    """As a bit that flips makes them: NotImplementedError, LZMAError and the like."""
    whole = bytearray(saved.read_bytes())
    at = whole.rindex(b"PK\1\2")
    whole[at + 10 : at + 12] = method.to_bytes(2, "little")
    local = int.from_bytes(whole[at + 42 : at + 46], "little")
    whole[local + 8 : local + 10] = method.to_bytes(2, "little")
    saved.write_bytes(whole)
    with pytest.raises(ValueError, match="no saved tree, or a damaged one") as error:
        load_tree(saved)
    assert str(saved) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("lie", ["header", "directory", "all", "plain"])
def test_arrays_that_say_they_are_larger_than_the_file(tmp_path, lie):
    """And than any memory: refused before it is taken."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 50,)})
    path = tmp_path / "tree"
    if lie == "plain":  # as numpy.save writes one
        path.write_bytes(header.getvalue())
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("meta.npy", header.getvalue())
            size = len(header.getvalue()) + (1 << 50)
            if lie != "header":
                archive.filelist[0].file_size = size
            if lie == "all":
                archive.filelist[0].compress_size = size
    with pytest.raises(ValueError if lie == "plain" else MemoryError):  # the command line tells either in one line
        load_tree(path)


@pytest.mark.slow
def test_more_than_memory_holds_is_one_line(tmp_path):
    """Three megabytes that unpack to three gigabytes, as they say."""
    path, most = tmp_path / "tree", 3 << 30
    np.savez_compressed(path, meta=np.zeros(most, np.uint8))
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most})); "
        f"from bregalad.cli import main; sys.exit(main(['inspect', '{path}.npz']))"
    )
    found = python("-c", code)
    assert found.returncode == 1 and "memory does not suffice" in found.stderr and found.stderr.count("\n") == 1


def test_files_that_are_not_there_or_not_readable(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_tree(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        load_tree(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ValueError, match="empty: no saved tree"):
        load_tree(Path(tmp_path / "empty"))


def test_splits_of_what_lies_outside_of_the_codes_that_a_node_had_seen(tmp_path):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(10_000, 2)), axis=0)  # it wanders off
    middle = np.median(X, axis=0)
    y = (X[:, 0] > middle[0]) ^ (X[:, 1] > middle[1]) ^ (rng.random(len(X)) < 0.1)
    tree = VFDT(grace=50, tau=0.3, bin_window="seen")
    for at in range(0, len(X), 1000):
        tree.partial_fit(X[at : at + 1000], y[at : at + 1000], [False, True]).save(tmp_path / "tree")
        assert load_tree(tmp_path / "tree").difference(tree) is None

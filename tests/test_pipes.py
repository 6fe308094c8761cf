"""Streams that come through pipes: read once, no more of them than is needed."""

import gzip
import os
import subprocess
import threading
from contextlib import suppress

import numpy as np
import pytest
from bregalad import load_tree
from bregalad.data import DataError, open_stream
from processes import lasting, start

PATIENCE = 300  # seconds, until a process that waits for ever is a failure


def run(data, *arguments):
    process = start(*arguments, stdin=subprocess.PIPE, text=False)
    out, err = process.communicate(data, PATIENCE)
    return process.returncode, out.decode(), without_notes(err.decode())


def without_notes(text):
    """Errors only: what is compiled at a first use is said there, too."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("bregalad: "))


def fed(path, data):
    """A FIFO that a thread writes into."""
    os.mkfifo(path)

    def write():
        with suppress(BrokenPipeError), open(path, "wb") as file:
            file.write(data)

    threading.Thread(target=write, daemon=True).start()
    return path


@pytest.mark.parametrize(
    "form", [*(pytest.param(form, marks=pytest.mark.slow) for form in ("csv", "tsv", "arff")), "csv.gz"]
)
def test_standard_input_is_learnt_as_a_file_is(table, tmp_path, cli, form):
    path = tmp_path / f"t.{form}"
    if form == "arff":
        path.write_text(
            "% made here\n@relation r\n@attribute width real\n@attribute colour "
            "{red,blue}\n@attribute label {in,out}\n@data\n" + table.to_csv(index=False, header=False)
        )
    else:
        table.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    said = ["--quiet", "--delta", "0.001"]
    saved = [tmp_path / "one", tmp_path / "two"]
    written = cli(["train", path, *said, "--save", str(saved[0])]).out
    said += [] if form == "arff" else ["--classes", "in,out"]
    status, out, err = run(path.read_bytes(), "train", "-", *said, "--save", str(saved[1]))
    assert (status, err) == (0, "") and lasting(out) == lasting(written)
    np.testing.assert_array_equal(*(load_tree(tree).predict(table[["width", "colour"]]) for tree in saved))
    status, out, err = run(path.read_bytes(), "predict", "-", "--tree", str(saved[0]))
    assert status == 0 and "of 3000 labels met" in err and out.count("\n") == 3001


def test_a_fifo_is_read_once(table, tmp_path):
    path = fed(tmp_path / "pipe.csv", table.to_csv(index=False).encode())
    stream = open_stream(path, chunk=700)
    assert stream.once and stream.len_hint is None
    assert [a.kind for a in stream.schema.attributes] == ["numeric", "nominal"]
    labels = np.concatenate([y for _, y in stream])
    assert (labels == table["label"]).all() and stream.len_hint == 3000
    with pytest.raises(DataError, match="pipe.csv: a pipe can be read once only; write what comes"):
        next(iter(stream))


@pytest.mark.parametrize(
    "data, match",
    [
        (b"PAR1....", "Parquet cannot come through a pipe, since it is read from its end; write it to"),
        (b"PK\x03\x04...", "a zip archive cannot come through a pipe"),
        (b"", "the file is empty"),
        (gzip.compress(b"a,b\n1,x\n" * 9, mtime=0)[:-9], "damaged or cut short"),
        (b"\0" * 100, "line 1: not a text"),
        (b"a,b\n1,x\n2\n", "line 3: 1 field, but 2 columns"),
    ],
)
def test_what_cannot_come_through_a_pipe(tmp_path, data, match):
    with pytest.raises(DataError, match=match):
        list(open_stream(fed(tmp_path / "pipe", data)))


def test_a_parquet_fifo_is_refused(tmp_path):
    os.mkfifo(tmp_path / "t.parquet")  # nobody writes: it is not even opened
    with pytest.raises(DataError, match="Parquet cannot come through a pipe"):
        open_stream(tmp_path / "t.parquet")


def test_labels_are_to_be_named(table):
    status, out, err = run(table.to_csv(index=False).encode(), "train", "-", "--quiet")
    assert (status, out) == (1, "")
    assert err == (
        "bregalad train: standard input is read once, so the labels of the class "
        "'label' must be known beforehand: name all of them with --classes\n"
    )


@pytest.mark.slow
def test_a_device_without_an_end_and_a_redirected_file(table, tmp_path, cli):
    assert "/dev/zero, line 1: not a text" in cli(["train", "/dev/zero", "--classes", "a,b", "--quiet"], 1).err
    table.to_csv(tmp_path / "t.csv", index=False)
    for name, said in (("/dev/stdin", []), ("-", ["--classes", "in,out"])):
        with open(tmp_path / "t.csv") as file:
            process = start("train", name, "--quiet", *said, stdin=file)
        assert "instances   3000" in process.communicate(timeout=PATIENCE)[0] and process.returncode == 0


@pytest.mark.parametrize(
    "limit, header",
    [*(pytest.param(*case, marks=pytest.mark.slow) for case in ((5, True), (2000, True), (5, False))), (1, True)],
)
def test_no_more_is_waited_for_than_is_needed(table, tmp_path, limit, header):
    """The other end stays open and sends nothing more."""
    rows = max(limit, 2 - header)  # a line alone may be a header
    data = table[:rows].to_csv(index=False, header=header).encode()
    for arguments in (
        f"train - --classes in,out --quiet --save {tmp_path}/tree --names width,colour,label".split(),
        ["predict", "-", "--tree", str(tmp_path / "tree"), "--names", "width,colour,label"],
    ):
        with start(*arguments, "--limit", str(limit), stdin=subprocess.PIPE, text=False) as process:
            process.stdin.write(data)
            process.stdin.flush()
            try:
                assert process.wait(PATIENCE) == 0
            finally:
                process.kill()
            out, err = process.stdout.read().decode(), without_notes(process.stderr.read().decode())
        if arguments[0] == "train":
            assert f"instances   {limit}" in out and not err
        else:
            assert out.count("\n") == limit + 1 and err.count("\n") == 1

"""Files that take the place of older ones: whole, alone, with the same permissions, on disk."""

import os
import subprocess
import sys

import pytest
from bregalad.files import replacing

_WRITER = """
import sys
from bregalad.files import replacing
path, own, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
for _ in range(times):
    with replacing(path, "w") as file:
        for _ in range(50):
            file.write(own * 1000)
            file.flush()
"""


def test_writers_of_one_file_leave_one_whole_file_at_any_time(tmp_path):
    """Each has a temporary file of its own: a reader finds what one of them has written."""
    path, writers = tmp_path / "one", "abcd"
    path.write_text("a" * 50_000)
    running = [
        subprocess.Popen([sys.executable, "-c", _WRITER, path, own, "60"], stderr=subprocess.PIPE, text=True)
        for own in writers
    ]
    found = set()
    while any(writer.poll() is None for writer in running):
        text = path.read_text()
        assert len(text) == 50_000 and len(set(text)) == 1
        found.add(text[0])
    for writer in running:
        assert writer.communicate()[1] == "" and writer.returncode == 0
    assert len(found) > 1
    assert os.listdir(tmp_path) == ["one"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "one"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path, "w") as file:
        file.write("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_files_permissions_are_as_the_system_gives_them(tmp_path, umask):
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "one", "wb") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o666 & ~umask


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "one"
    with pytest.raises(FileNotFoundError) as error, replacing(path, "w"):
        pass
    assert error.value.filename == os.path.realpath(path)


def test_what_fails_leaves_the_older_file_and_no_other(tmp_path):
    path = tmp_path / "one"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path, "w") as file:
        file.write("new")
        raise ZeroDivisionError
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["one"]


def test_a_file_is_on_the_disk_before_it_takes_the_place(tmp_path, monkeypatch):
    done, sync, replace = [], os.fsync, os.replace

    def synced(opened):
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{opened}") else "file")
        sync(opened)

    def replaced(*paths):
        done.append("replaced")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    with replacing(tmp_path / "one", "wb") as file:
        file.write(b"new")
    assert done[-2:] == ["replaced", "folder"] and len(done) == 3


@pytest.mark.parametrize("name", ["x" * 255, "ä" * 127])
def test_names_as_long_as_they_may_be(tmp_path, name):
    with replacing(tmp_path / name, "w") as file:
        file.write("new")
    assert os.listdir(tmp_path) == [name]


def test_a_writer_may_close_what_it_has_written_to(tmp_path):
    with replacing(tmp_path / "one", "wb") as file:
        file.write(b"new")
        file.close()
    assert (tmp_path / "one").read_bytes() == b"new"

"""What `import bregalad` offers, and what it does not load before it is asked for."""

import os
import shutil
import time

import bregalad
import pytest
from bregalad.benchmark import moa
from bregalad.cache import cache_folder, forget_unused, mark_used
from processes import python


def test_every_name_is_there():
    for name in bregalad.__all__:
        assert name in dir(bregalad)
        assert getattr(bregalad, name) is not None
    assert bregalad.__version__
    with pytest.raises(AttributeError, match="No bregalad attribute Tree"):
        bregalad.Tree  # noqa: B018


NAMES = "import bregalad as b, bregalad.ensemble; print([getattr(b, name) for name in b.__all__][0].__doc__)"
BENCHMARKS = """
import importlib, pkgutil, sys, bregalad.benchmark as all
sys.argv = ["program", "--help"]
for found in pkgutil.iter_modules(all.__path__, all.__name__ + "."):
    module = importlib.import_module(found.name)
    if hasattr(module, "argparse") and hasattr(module, "main"):
        try:
            module.main()
        except SystemExit as end:
            assert not end.code, found.name
"""


@pytest.mark.slow
def test_without_docstrings():
    """python -OO takes them away: every name can be had, and the command line and the benchmarks say what they are."""
    for code, said, least in (
        (["-c", NAMES], "None", 1),
        (["-m", "bregalad", "--help"], "usage: bregalad", 1),
        (["-c", BENCHMARKS], "usage: ", 4),
    ):
        done = python("-OO", *code)
        assert done.returncode == 0 and done.stdout.count(said) >= least, done


@pytest.mark.parametrize(
    "modules, without",
    [
        ("bregalad_sim.golden, bregalad_sim.traffic", ("numba", "pandas", "sklearn")),
        ("bregalad.ensemble.bagging", ("bregalad.data.formats", "bregalad.data.generators")),
    ],
)
def test_what_is_not_needed_is_not_loaded(modules, without):
    """By gateware what trees need; by who reads saved trees the readers of data, which take as long to import."""
    loaded = python("-c", f"import sys, {modules}; print(*sys.modules)", check=True).stdout.split()
    assert not [name for name in loaded if name.startswith(without)]


def test_compiled_code_follows_what_it_calls(tmp_path):
    """Numba alone would go on with the old code."""
    package, cache = tmp_path / "package", tmp_path / "kept"

    def asked(where=tmp_path):
        answer, hits, told = ask(where, cache)
        assert told.count("compiling") == (not hits)
        return answer, hits

    def age(days):
        folders = list(cache.glob("numba-*"))
        for folder in folders:
            os.utime(folder, (then := time.time() - days * 24 * 3600, then))
        return folders

    write_package(tmp_path, 7)
    assert asked() == (7, 0)
    used = age(29)
    assert asked() == (7, 1)
    assert all(folder.stat().st_mtime > time.time() - 24 * 3600 for folder in used)
    old = age(31)
    write_package(tmp_path, 12345)
    assert asked() == (12345, 0)
    assert old and not any(folder.exists() for folder in old)
    (package / "strange.py").write_text("other = 1\n")
    assert asked()[1] == 1
    # Another installation of the same sources finds what this one has compiled.
    shutil.copytree(package, tmp_path / "elsewhere" / "package", ignore=shutil.ignore_patterns("__pycache__"))
    assert asked(tmp_path / "elsewhere")[1] == 1


def ask(folder, cache, before="", **environment):
    """(what a function of two modules gives, how often it was found compiled, what was on standard error)"""
    code = f"{before}\nimport package.outer as o; print(o.ask(), sum(o.ask.stats.cache_hits.values()))"
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    said = python("-c", code, cwd=folder, env=known | environment | {"BREGALAD_CACHE": str(cache)}, check=True)
    return (*map(int, said.stdout.split()), said.stderr)


def write_package(folder, answer):
    (folder / "package").mkdir(exist_ok=True)
    njit = "from bregalad.compiled import njit\n"
    (folder / "package" / "inner.py").write_text(f"{njit}@njit()\ndef answer():\n    return {answer}\n")
    (folder / "package" / "outer.py").write_text(
        f"{njit}from .inner import answer\n@njit()\ndef ask():\n    return answer()\n"
    )


@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_compiling(collects, tmp_path):
    """Afterwards as before."""
    write_package(tmp_path, 7)
    before = f"""
import atexit, gc, sys
import bregalad.compiled
from numba.core import event

class Seen(event.Listener):
    def on_start(self, event):
        print(gc.isenabled(), file=sys.stderr)

    def on_end(self, event):
        pass

event.register("numba:compile", Seen())
gc.{"enable" if collects else "disable"}()
atexit.register(lambda: print(gc.isenabled(), file=sys.stderr))"""
    assert ask(tmp_path, tmp_path / "cache", before)[2].split()[-2:] == ["False", str(collects)]


def test_damaged_compiled_code_is_compiled_anew(tmp_path):
    """And mended, whatever is wrong with it."""
    write_package(tmp_path, 7)
    cache = tmp_path / "cache"
    assert ask(tmp_path, cache)[:2] == (7, 0)
    for kind, damage in (
        ("nbi", lambda data: b""),
        ("nbi", lambda data: data[:10]),
        ("nbc", lambda data: data[:-1]),
        ("nbc", lambda data: data[:200] + bytes(40) + data[240:]),
    ):
        (path,) = cache.rglob(f"outer.*.{kind}")
        path.write_bytes(damage(path.read_bytes()))
        answer, hits, told = ask(tmp_path, cache)
        assert (answer, hits) == (7, 0)
        assert told.splitlines()[0] == f"{cache}: compiled code is damaged there, and is compiled anew"
        assert told.count("\n") == 2 and "compiling, since " in told
    assert ask(tmp_path, cache) == (7, 1, "")


@pytest.mark.parametrize("features, hits", [("", 1), ("+none-has-it", 0)])
def test_a_wheel_brings_what_was_compiled_for_less(features, hits, tmp_path):
    write_package(tmp_path, 7)
    shipped = tmp_path / "shipped"
    ask(tmp_path, shipped, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=features)
    before = f"import bregalad.compiler, pathlib; bregalad.compiler._SHIPPED = pathlib.Path({str(shipped)!r})"
    assert ask(tmp_path, tmp_path / "own", before)[:2] == (7, hits)


@pytest.mark.parametrize("full", [True, False])
def test_a_cache_that_cannot_be_written(full, tmp_path):
    """There is no other place: Numba's own would not follow a change of another module."""
    cache = tmp_path / "cache" if full else "/proc/nowhere"
    before = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    )
    for answer in (7, 8):
        write_package(tmp_path, answer)
        found, hits, told = ask(
            tmp_path, cache, before if full else "", NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator"
        )
        assert (found, hits) == (answer, 0)
        assert told.count("\n") == 2 and f"{cache}: compiled code cannot be kept there" in told
    assert not list(tmp_path.rglob("*.nb[ic]"))


def test_where_things_are_kept(monkeypatch, tmp_path):
    """MOA's jar, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "all"))
    for folder in ("mine", ""):
        monkeypatch.setenv("BREGALAD_CACHE", folder and str(tmp_path / folder))
        assert cache_folder() == tmp_path / (folder or "all/bregalad")
        assert moa._place().parent == cache_folder() / "peers"


def test_what_is_not_used_is_not_kept_for_ever(tmp_path):
    """A month from its last use, and nobody else's files."""
    day = 24 * 3600
    names = {
        "numba-0123456789abcdef",
        "accelerator-0123456789abcdef0123.so",
        "accelerator-0123456789abcdef0123.txt",
        "runtime-0123456789abcdef0123",
    }
    others = {"numba-mine", "thesis.txt", "accelerator-0123456789abcdef0123.so.bak"}
    for name in names | others:
        (tmp_path / name).touch() if "." in name else (tmp_path / name / "inner").mkdir(parents=True)

    def age(days):
        for name in names | others:
            os.utime(tmp_path / name, (then := time.time() - days * day, then))

    def kept():
        return {path.name for path in tmp_path.iterdir()}

    age(29)
    forget_unused(tmp_path)
    assert kept() == names | others
    age(31)
    used = "accelerator-0123456789abcdef0123.so"
    mark_used(tmp_path / used)
    mark_used(tmp_path / "nothing")
    forget_unused(tmp_path)
    assert kept() == {used} | others
    forget_unused(tmp_path / "nothing")

"""Numba's ``njit``, with a cache that follows the sources and belongs to no installation.

Numba's own cache looks at a function's own file only, and keeps one for each place that a package
is installed in. A compiled function has taken in the code of those that it calls and the values of
constants, so after a change to their files, or with another release, it would be wrong without a
word. Here the functions of a module are kept under a digest of its source and of all that it
imports from its package. Installations of the same sources share them. Where they cannot be kept,
or are damaged, they are compiled anew, with a warning. A wheel may bring some of them.
"""

import ast
import gc
import hashlib
import inspect
import logging
import os
import pickle
import sys
import time
from functools import cache
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.experimental.structref import StructRefProxy, define_proxy, register
from numba.extending import overload

from .cache import cache_folder, forget_unused, mark_used

__all__ = ["Proxy", "Record", "compile_seconds", "define_proxy", "njit", "overload", "place_of", "register"]

_SHIPPED = Path(__file__).with_name("compiled_code")  # of a wheel that `sh .ci/do wheel` has made
_DIGEST = hashlib.sha256().digest_size


def compile_seconds():
    """Seconds that this process has spent on compiling functions of `njit`; loading does not count.

    Who measures how fast something is takes off what was spent meanwhile.
    """
    return _watch.seconds


def place_of(path):
    """Where the compiled functions of a module, of a file in a package, are kept."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sources_of(Path(path)):
        digest.update(source.read_bytes())
    return _folder() / f"numba-{digest.hexdigest()[:16]}"


def _folder():
    return Path(numba.config.CACHE_DIR or cache_folder())


def sources_of(path):
    """A module's file, and those of its package that it imports as it is loaded: list of Path.

    What is imported in a function is left out: compiled code takes in globals only.
    """
    found, waiting = [path], [path]
    while waiting:
        for source in _imported(waiting.pop()):
            if source not in found:
                found.append(source)
                waiting.append(source)
    return sorted(found)


@cache
def _imported(path):
    """The files that a module's own relative imports may load."""
    files = []
    body = ast.parse(path.read_bytes()).body
    tried = [inner for node in body if isinstance(node, ast.Try) for inner in node.body]
    for node in body + tried:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        for module in (base, *(base / name.name for name in node.names)):
            files += filter(Path.is_file, (module.with_suffix(".py"), module / "__init__.py"))
    return files


@cache
def _opened(path):
    """`place_of` a module, as one that is in use now."""
    place = place_of(path)
    if os.path.exists(place):
        mark_used(place)
    else:
        forget_unused(place.parent)
    return place


@cache
def _tell(text):
    """Log a warning, once."""
    logging.getLogger("bregalad").warning(text)


class _Watch(event.Listener):
    """Measure how long compiling takes, say once for what it has begun, and let no garbage be collected meanwhile.

    Numba makes so many objects, most of which stay, that looking through them takes a tenth of its time.
    """

    def __init__(self):
        self.seconds = 0.0
        self._depth = 0  # what a function calls is compiled while it is
        self._began = 0.0
        self._collects = False

    def on_start(self, event):
        if not self._depth and not isinstance(event.data["dispatcher"]._cache, _Cache):
            return
        if not self._depth:
            self._began = time.perf_counter()
            self._collects = gc.isenabled()
            gc.disable()
            _tell(
                f"compiling, since {_folder()} does not have all of it yet: half a minute, two on a slow machine; "
                "`bregalad warm-up` does it ahead"
            )
        self._depth += 1

    def on_end(self, event):
        if self._depth:
            self._depth -= 1
            if not self._depth:
                self.seconds += time.perf_counter() - self._began
                if self._collects:
                    gc.enable()


class _Locator(_CacheLocator):
    """Tell Numba where a function is kept; its file's time and path say nothing."""

    def __init__(self, function, path):
        self._line = function.__code__.co_firstlineno
        self._place = _opened(path)

    def get_cache_path(self):
        return str(self._place)

    def get_source_stamp(self):
        return None  # it is in the place's name

    def get_disambiguator(self):
        return str(self._line)


class _Kept(CompileResultCacheImpl):
    """Where a function is kept: there or nowhere, whereas Numba would look for another place."""

    def __init__(self, function):
        path = Path(inspect.getfile(function))
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function, path)
        self._filename_base = self.get_filename_base(f"{path.stem}.{function.__qualname__}", sys.abiflags)


class _Files(IndexDataCacheFile):
    """Files with a digest: one that is cut short may crash, and is none. What they lack, others may have."""

    def __init__(self, place, base, others=None):
        super().__init__(str(place), base, None)
        self._others = others

    def save(self, key, data):
        super().save(key, (key, data))

    def load(self, key):
        # Two processes that compile two variants at a time may give them the same name.
        known, data = super().load(key) or (None, None)
        if known == key:
            return data
        return self._others.load(key) if self._others else None

    def _load_index(self):
        return self._read(self._index_path) or {}

    def _save_index(self, overloads):
        self._write(self._index_path, overloads)

    def _load_data(self, name):
        return self._read(self._data_path(name))

    def _save_data(self, name, data):
        self._write(self._data_path(name), data)

    def _read(self, path):
        """What was written; None if that is not there."""
        try:
            data = Path(path).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            _tell(f"{_folder()}: compiled code is damaged there, and is compiled anew")
            return None
        return pickle.loads(data[_DIGEST:])

    def _write(self, path, content):
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)


class _Shipped(_Files):
    """What was compiled for a processor of which this one has all features."""

    def load(self, key):
        signature, (triple, _, features), code = key
        for other in self._load_index():
            found, (made_for, _, needed), its_code = other
            same = (found, made_for, its_code) == (signature, triple, code)
            if same and set(needed.split(",")) <= {"", *features.split(",")}:
                return super().load(other)
        return None


class _Cache(FunctionCache):
    _impl_class = _Kept

    def __init__(self, function):
        super().__init__(function)
        place, base = Path(self.cache_path), self._impl.filename_base
        self._cache_file = _Files(place, base, _Shipped(_SHIPPED / place.name, base))

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell(
                f"{_folder()}: compiled code cannot be kept there ({error.strerror}), so the next run compiles it "
                "again; BREGALAD_CACHE names another folder"
            )


def njit(*, inner=False, cached=True, **options):
    """``numba.njit`` of these options; what it compiles is kept.

    What is divided by zero becomes infinity, NaN or, of integers, 0. Of functions that differ in an option of Numba's
    each has its own copies of what they call of NumPy, so there are no more options than needed.

    ``inline="always"`` is for what is small and calls nothing that is inlined, too: Numba copies a function's code
    once more at every level, and takes longest for that. ``inner`` is for what only compiled code calls: then nothing
    is compiled that takes Python's objects apart, which may be more than the function itself. ``cached`` is False for
    functions that have others in their closure: they are not found again, their callers keep them.
    """

    def decorate(function):
        compiled = numba.njit(error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=inner, **options)(function)
        if cached:
            compiled._cache = _Cache(function)
        return compiled

    return decorate


class Record(numba.types.StructRef):
    """Base of types of compiled code's arguments that are handed over as one: ``structref.register`` takes each."""

    def preprocess_fields(self, fields):
        return tuple((name, numba.types.unliteral(kind)) for name, kind in fields)


class Proxy(StructRefProxy):
    """Base of what Python has of a `Record`.

    Numba looks for its type with every call, where it ignores all exceptions: Ctrl-C, too, if that is Python's code.
    """

    _numba_type_ = StructRefProxy._type  # type: ignore[attr-defined]  # a slot


_watch = _Watch()
event.register("numba:compile", _watch)

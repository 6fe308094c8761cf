"""How the code is cut: who imports whom, and how much a function is told."""

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from bregalad.data.generators import GENERATORS
from bregalad.learners.catalogue import POSITIVE, TREES

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"bregalad": "host", "bregalad_hw": "hw", "bregalad_sim": "sim"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINED = (*FUNCTIONS[:2], ast.ClassDef)
MOST = 10  # parameters


@cache
def modules():
    """Modules' syntax trees by their names; a package is called ``package.__init__``."""
    return {
        ".".join(path.relative_to(ROOT / folder).with_suffix("").parts): ast.parse(path.read_text())
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder / package).rglob("*.py")
    }


def imports(tree, name, there):
    """(imported module, whether within a function) of all that is ``there``.

    What is imported for type checkers alone is left out: nothing depends on it.
    """

    def visit(node, lazy):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, lazy) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                above = name.split(".")[: -child.level] if child.level else []
                of = ".".join([*above, *filter(None, [child.module])])
                yield from ((found if (found := f"{of}.{alias.name}") in whole else of, lazy) for alias in child.names)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            else:
                yield from visit(child, lazy or isinstance(child, FUNCTIONS))

    whole = {other.removesuffix(".__init__") for other in there}
    for found, lazy in visit(tree, False):
        for other in (found, f"{found}.__init__"):
            if other in there and other != name:
                yield other, lazy


@cache
def members():
    """Of each folder: which of its modules and folders import which others of them, and where.

    An import within a function counts, for it is a dependency all the same. Between host, hw and
    sim it does not: a board that is simulated needs them, and only then.
    """
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for name, tree in modules().items():
        for other, lazy in imports(tree, name, modules()):
            ours, theirs = name.split("."), other.split(".")
            depth = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
            if depth or not lazy:
                found[".".join(ours[:depth])][ours[depth]][theirs[depth]].append((name, other))
    return found


def cycle(graph):
    """The imports that make a cycle, or None."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = error.args[1][::-1]
        return [graph[a][b][0] for a, b in zip(path, path[1:], strict=False)]


def test_no_two_import_each_other():
    """Neither modules nor packages, nor more of them in a circle."""
    assert {folder: found for folder, graph in members().items() if (found := cycle(graph))} == {}


def test_host_imports_nothing_else_and_hw_only_host():
    graph = members()[""]
    assert {name: set(others) for name, others in graph.items()} == {
        "bregalad_hw": {"bregalad"},
        "bregalad_sim": {"bregalad", "bregalad_hw"},
    }


ROOMS = {  # of what learns trees: which others each may import
    "tree": {"options"},
    "policy": {"options", "tree"},
    "engine": {"drift", "policy", "protocol", "tree"},
    "boards": {"engine", "link", "protocol"},
    "driver": {"boards", "drift", "engine", "options", "policy", "protocol", "tree"},
    "export": {"boards", "driver", "engine", "tree"},
    "estimator": {"boards", "data", "drift", "driver", "engine", "export", "options", "policy", "protocol", "tree"},
    "learners": {"boards", "data", "driver", "estimator", "options", "policy", "tree"},
    "ensemble": {"boards", "data", "drift", "driver", "estimator", "learners", "options", "policy", "protocol"},
}


def test_rooms_import_those_below_them():
    """Nodes and decisions know nothing of bytes, and the engine of no board."""
    graph = members()["bregalad"]
    folders = {path.name for path in (ROOT / "host" / "bregalad").iterdir() if path.is_dir()}
    assert {room: set(graph[room]) & folders for room in ROOMS} == ROOMS


def test_rooms_are_small():
    for room in set(ROOMS) - {"ensemble"}:
        root = ROOT / "host" / "bregalad" / room
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            assert len([*folder.glob("*.py")]) <= 15, folder


def test_nobody_above_the_driver_asks_what_kind_of_board_it_is():
    """What a board can do it says itself: ``memory_size``, ``instant``, the driver's ``widens`` and ``rows``."""
    kinds = r"\b(Engine|Device|(Emulated|Simulated|Linked|Mapped)Board|\w+Driver)\b|board\.state"
    found = {
        f"{path.relative_to(ROOT)}: {word.group()}"
        for room in ("estimator", "learners", "ensemble", "cli", "evaluation", "active")
        for path in (ROOT / "host" / "bregalad" / room).rglob("*.py")
        for word in re.finditer(kinds, path.read_text())
    }
    assert found == set()


def functions(modules):
    """(dotted name, syntax tree) of every function."""

    def visit(node, name):
        for child in ast.iter_child_nodes(node):
            inside = f"{name}.{child.name}" if isinstance(child, DEFINED) else name
            if isinstance(child, FUNCTIONS[:2]):
                yield inside, child
            yield from visit(child, inside)

    for name, tree in modules.items():
        yield from visit(tree, name.removesuffix(".__init__"))


def parameters(function):
    """How many there are, without a method's own object."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return len(named) - (named[:1] != [] and named[0].arg in ("self", "cls"))


def is_compiled(function):
    """Numba passes every argument by itself; what belongs together comes as a named tuple."""
    return any(
        re.search(r"\b_?(njit|inner|inlined)\b", ast.unparse(decorator)) for decorator in function.decorator_list
    )


def test_no_function_has_more_than_ten_parameters():
    """But what users call with keywords: an estimator's constructor, a generator's (``generator:NAME,option=value``
    is read by it) and the reader of files. As scikit-learn's and pandas', they have one for each option.
    """
    users = {
        f"{kind.__module__}.{kind.__name__}.__init__"
        for kind in (*TREES.values(), *POSITIVE.values(), *GENERATORS.values())
    }
    many = {name for name, found in functions(modules()) if parameters(found) > MOST and not is_compiled(found)}
    assert many - users == {"bregalad.data.readers.open_stream"}


def test_tests_have_names_of_their_own():
    """pytest imports them by these: of two files with one name it would refuse the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))

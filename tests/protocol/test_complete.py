"""What is declared once is carried out by every program, or the one that forgets it refuses to start."""

from pathlib import Path

import numpy as np
import pytest
from bregalad import BoardError, Geometry
from bregalad.complete import complete
from bregalad.criteria import CRITERIA, DECLARED, criterion_of
from bregalad.policy.bounds import confidence_bound, mcdiarmid_bound
from bregalad.policy.criteria import impurity, span
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.registers import VERSION
from bregalad.protocol.reports import Kind, layout_of
from bregalad.protocol.tree import TreeOpcode
from bregalad_sim.golden import Golden
from bregalad_sim.latency import GoldenBoard
from processes import python

PAGE = Path(__file__).resolve().parents[2] / "docs" / "site" / "protocol.py"  # writes it

# A release with another opcode or report kind, before who has to know it is imported.
ANOTHER_OPCODE = """
from enum import IntEnum
from bregalad.protocol import commands
commands.Opcode = IntEnum("Opcode", {**{each.name: each.value for each in commands.Opcode}, "SWAP": 99})
commands.COMMANDS = {**commands.COMMANDS, commands.Opcode.SWAP: commands.COMMANDS[commands.Opcode.CLEAR]}
"""
ANOTHER_PAYLOAD = """
from bregalad.protocol import commands
commands.WITH_PAYLOAD = (*commands.WITH_PAYLOAD, commands.Opcode.FENCE)
"""
ANOTHER_KIND = """
from enum import IntEnum
from bregalad.protocol import reports
reports.Kind = IntEnum("Kind", {**{each.name: each.value for each in reports.Kind}, "SWAPPED": 99})
"""
ANOTHER_CRITERION = """
from dataclasses import replace
from bregalad import criteria
criteria.DECLARED = (*criteria.DECLARED, replace(
    criteria.criterion_of("gini"), name="tsallis", number=4, gain_unit="bregalad_hw.gain.tsallis:Tsallis"))
criteria.CRITERIA = tuple(each.name for each in criteria.DECLARED)
"""
NO_ARITHMETIC = ANOTHER_CRITERION.replace("tsallis:Tsallis", "gini:Normaliser")
ANOTHER_PREDICTOR = """
import sys
from importlib.util import find_spec, module_from_spec
spec = find_spec("bregalad.predictors")
sys.modules[spec.name] = predictors = module_from_spec(spec)
last = "lambda right: right <= 0\\n"
more = last + "    VOTE = 3, 'vote', 'both', lambda right: True\\n"
exec(spec.loader.get_source(spec.name).replace(last, more), vars(predictors))
"""


@pytest.mark.parametrize(
    "change, module, message",
    [
        (ANOTHER_OPCODE, "bregalad_hw.front.sequencer", "front/sequencer.py lacks Opcode.SWAP: it is declared, so add"),
        (ANOTHER_OPCODE, "bregalad_sim.golden", "golden/board.py lacks Opcode.SWAP: it is declared, so add it there"),
        (ANOTHER_PAYLOAD, "bregalad_hw.front.sequencer", "front/sequencer.py lacks Opcode.FENCE"),
        (ANOTHER_PAYLOAD, "bregalad_sim.golden", "golden/board.py lacks Opcode.FENCE"),
        (ANOTHER_KIND, "bregalad_hw.mcmu.report", "mcmu/report.py lacks Kind.SWAPPED"),
        (ANOTHER_CRITERION, "bregalad.engine.statistics.gains", "statistics/gains.py lacks 'tsallis': it is declared"),
        # For it says that the bounds know it.
        (ANOTHER_CRITERION, "bregalad.policy.bounds", "policy/bounds.py lacks 'tsallis': it is declared"),
        (ANOTHER_CRITERION, "bregalad_hw.gain.gain", "bregalad_hw/gain lacks 'tsallis': it is declared"),
        (ANOTHER_CRITERION, "bregalad_sim.reference", "reference/criteria.py lacks 'tsallis': it is declared"),
        (NO_ARITHMETIC, "bregalad_hw.gain.gain", "gini:Normaliser, the arithmetic of 'tsallis', must be a Terms"),
        (ANOTHER_PREDICTOR, "bregalad.tree.arrivals", "tree/arrivals.py lacks "),
        (ANOTHER_PREDICTOR, "bregalad_hw.front.leaf_rows", "front/leaf_rows.py lacks "),
        (ANOTHER_PREDICTOR, "bregalad_sim.golden.leaf_rows", "golden/leaf_rows.py lacks "),
        (ANOTHER_PREDICTOR, "bregalad_sim.reference", "reference/options.py lacks "),
    ],
)
def test_what_a_program_lacks_is_refused(change, module, message):
    """When it is imported after a change to the declarations."""
    done = python("-c", f"{change}\nimport {module}", timeout=300)
    assert done.returncode, f"{module} did not notice"
    said = done.stderr.splitlines()[-1]
    assert said.startswith(("ValueError", "TypeError")) and message in said
    assert change is not ANOTHER_PREDICTOR or "vote" in said.lower()


def test_a_leaf_predictor_is_declared_once():
    """Who only names it has it from there."""
    code = f"""{ANOTHER_PREDICTOR}
import runpy
from bregalad.options import table as options
options.check('leaf_prediction', 'vote')
assert '| 3 | VOTE | Both. |' in runpy.run_path({str(PAGE)!r})['markdown']()
print(options.help_of(options._BY_NAME['leaf_prediction']))"""
    done = python("-c", code, timeout=300)
    assert "vote, both" in done.stdout, done.stderr


def test_what_is_not_declared_is_refused():
    assert complete(("a", "b"), {"b": 1, "a": 2}, "here.py") == {"b": 1, "a": 2}
    with pytest.raises(ValueError, match="here.py lacks 'b', 'c'"):
        complete(("a", "b", "c"), ["a"], "here.py")
    with pytest.raises(ValueError, match="here.py has 'd', which is not declared"):
        complete(("a",), ["a", "d"], "here.py")


@pytest.mark.parametrize("opcode", sorted(set(range(256)) - set(Opcode) - set(TreeOpcode)))
def test_an_unknown_opcode_halts_the_board(opcode):
    """Hardware meets them in lockstep with the golden model."""
    geometry = Geometry(lanes=1, passes=1, slots=2, nodes=2)
    stream = (
        bytes([opcode, *range(1, 16)])
        + pack_command(geometry, Opcode.FENCE, token=5)
        + pack_command(geometry, Opcode.RESET)
        + pack_command(geometry, Opcode.FENCE, token=6)
    )
    answer = Golden(geometry).execute(stream)
    error, fence = layout_of(Kind.ERROR, geometry, 1), layout_of(Kind.FENCE, geometry, 1)
    assert error.unpack(answer)["address"] == int.from_bytes(stream[:8], "little")
    assert fence.unpack(answer[error.size :])["token"] == 6 and len(answer) == error.size + fence.size


def test_an_unknown_report_kind_is_refused():
    with pytest.raises(ValueError, match="no report is of kind 99; there are 1 .TOP_CANDIDATES., 2 .GAINS."):
        layout_of(99, Geometry(), 1)


def test_a_tree_refuses_errors_that_it_does_not_know():
    from bregalad import VFDT

    class Strange(GoldenBoard):
        strange = b""

        def receive(self, wait=False):
            found, self.strange = self.strange + super().receive(wait and not self.strange), b""
            return found

    board = Strange(Geometry(lanes=1, passes=1, nodes=9), 4096)
    tree = VFDT(board=board).partial_fit([[0.0], [1.0], [2.0]], [0, 1, 0], classes=[0, 1])
    board.strange = layout_of(Kind.ERROR, Geometry(), 1).pack(kind=Kind.ERROR, flags=9)
    with pytest.raises(BoardError, match="unknown error 9 at 0x0"):
        tree.partial_fit([[0.0], [1.0], [2.0]] * 100, [0, 1, 0] * 100)
    assert len(tree.predict([[0.0], [1.0]])) == 2


@pytest.mark.parametrize(
    "build, message",
    [
        *(
            (version, f"speaks protocol version {version}, this driver {VERSION}")
            for version in (0, VERSION - 1, VERSION + 1, 255)
        ),
        (VERSION | 9 << 8, "no criterion has the number 9; there are 0 .information_gain., 1"),
    ],
)
def test_another_register_version_or_criterion_is_refused(build, message, monkeypatch):
    opened = GoldenBoard(Geometry(lanes=1, passes=1))
    own = opened._read_register
    monkeypatch.setattr(
        opened,
        "_read_register",
        lambda register: own(register) & ~0xFFF | build if register.name == "build" else own(register),
    )
    with pytest.raises(BoardError, match=message):
        opened.check_identity()


def test_an_unknown_criterion_is_refused_by_name_and_number():
    with pytest.raises(ValueError, match="criterion must be one of information_gain, .*, not 'tsallis'"):
        Geometry(criterion="tsallis")
    counts = np.array([3, 4])
    for function in (impurity, span):
        with pytest.raises(ValueError, match="no such criterion"):
            function(len(CRITERIA), counts if function is impurity else 2)
    for function in (mcdiarmid_bound, confidence_bound):
        with pytest.raises(ValueError, match="the bound does not know the criterion"):
            others = (2,) * (function.py_func.__code__.co_argcount - 2)
            function(criterion_of("classification_error").number, 5, *others)


def test_criteria_have_numbers_of_their_own():
    numbers = [criterion.number for criterion in DECLARED]
    assert len(set(numbers)) == len(numbers) == len(set(CRITERIA)) and 0 <= min(numbers) and max(numbers) < 16
    # Those of bitstreams that there are.
    assert [
        criterion_of(name).number for name in ("information_gain", "gini", "kearns_mansour", "classification_error")
    ] == [0, 1, 2, 3]

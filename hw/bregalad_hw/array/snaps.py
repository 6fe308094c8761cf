"""How SNAPs come to a lane's counters: in the place of other operations, or beside them."""

from amaranth import Array, Assert, Cat, Mux, Signal, unsigned
from amaranth.lib import data

from .operation import Op, level_of, place_of, snap_layout

__all__ = ["SNAP_DISTANCE", "bank_of", "pass_bits", "snaps_of", "within_bank"]

# Of a SNAP beside the operations: stage 1 is its first. It is read in stage 4 from memory alone, so
# what the last operation that changed the slot has written in stage 8 must be there.
SNAP_DISTANCE = 6  # clocks from that operation to the SNAP
_PATIENCE = 4  # clocks per bin that a pass may take beside other operations


def pass_bits(geometry):
    """Bits of a pass in an address; a single pass needs none."""
    return (geometry.passes - 1).bit_length()


def bank_of(geometry, row):
    """Bank of a row, that of its slot's lowest bit in the level; no bits if there is but one."""
    return row[pass_bits(geometry) :][: geometry.banks - 1]


def within_bank(geometry, row):
    """The row's place in its bank."""
    bits = pass_bits(geometry)
    return Cat(row[:bits], row[bits + geometry.banks - 1 :])


class _InPlace:
    """With one bank a SNAP is an operation like others, and its word that of stage 8."""

    first_snap = 2  # clocks from a trial's push, at least: the push's operation comes to the array a clock later

    def __init__(self, geometry):
        self.geometry = geometry

    def members(self, rows):
        """What the lanes are told of SNAPs, as in `control_layout`; ``rows`` is a row's shape."""
        return {"pass_7": max(1, pass_bits(self.geometry)), "snap_8": 1}

    def decode(self, m, control, ops, coded):
        """Drive these members, and what the control says of a SNAP."""
        out = control.control
        m.d.sync += out.snap_8.eq(coded(8, Op.SNAP))
        m.d.comb += [
            out.pass_7.eq(ops[7].pass_),
            control.snapped.eq(out.snap_8),
            control.snapped_bin.eq(ops[8].bin),
        ]

    def address(self, m, control, level, bank, address, write):
        """What a bank of a level's counters reads; ``address`` is the operation's."""
        return address

    def word(self, control, words_6, word_8):
        """Whether a word goes to the gain unit, and the word: of each level's banks, or of stage 8."""
        return control.snap_8, word_8

    def config_pass(self, control):
        """The pass whose cell the word is of, as far ahead as its configuration is read."""
        return control.pass_7

    def first(self, op, snap):
        """The SNAP that comes to the array, and whether there is one."""
        return op, op.code == Op.SNAP

    def issue(self, m, controller, scheduler, none):
        """Put the scheduler's SNAPs to the array; ``none``: there is no other operation.

        They go first: what waits for a snapshot waits longer than what does not.
        """
        m.d.sync += controller.trial_current.eq(scheduler.current)
        with m.If(scheduler.valid):
            m.d.sync += controller.op.eq(scheduler.op)
        with m.Elif(none):
            m.d.sync += controller.op.code.eq(Op.NONE)

    def admit(self, m, scheduler, coming, *, waiting, came, begins, bin_, settle):
        """Say which SNAPs go in the next clock, and when other operations may not.

        There are trials that are ``waiting``, one ``came`` the clock before; a pass ``begins`` if
        there is one. ``bin_`` is the next SNAP's, or that of a clock's that is valid. Until
        ``settle`` is 0 none begins.
        """
        last = self.geometry.bins - 1
        m.d.comb += [
            coming.eq(Mux(scheduler.valid, bin_ != last, (waiting | came) & begins)),
            scheduler.hold.eq(coming),
            scheduler.held.eq(scheduler.valid),
        ]


class _Beside:
    """With two banks a SNAP reads one beside an operation that reads the other, in stages 4 to 6."""

    first_snap = 1 + SNAP_DISTANCE

    def __init__(self, geometry):
        self.geometry = geometry

    def members(self, rows):
        g = self.geometry
        banks = data.ArrayLayout(unsigned(1), g.banks)
        return {
            "snap_4": data.ArrayLayout(banks, g.levels),
            "snap_row_4": rows,
            "snap_bin_4": g.bin_bits,
            "pass_5": max(1, pass_bits(g)),
            "snap_6": banks,
            "snap_level_6": g.level_bits,
        }

    def decode(self, m, control, ops, coded):
        g, out = self.geometry, control.control
        snaps = {i: Signal(snap_layout(g), name=f"snap_{i}") for i in range(1, 7)}
        m.d.sync += [
            after.eq(before) for before, after in zip([control.snap, *snaps.values()], snaps.values(), strict=False)
        ]
        rows = {i: (place_of(g, snap.slot) << pass_bits(g)) | snap.pass_ for i, snap in snaps.items()}

        def in_bank(stage, bank):
            return snaps[stage].valid & (bank_of(g, rows[stage]) == bank)

        for bank, port in enumerate(out.snap_6):
            m.d.sync += port.eq(in_bank(5, bank))
        for level, ports in enumerate(out.snap_4):
            for bank, port in enumerate(ports):
                m.d.sync += port.eq(in_bank(3, bank) & (level_of(g, snaps[3].slot) == level))
        m.d.comb += [
            out.snap_row_4.eq(rows[4]),
            out.snap_bin_4.eq(snaps[4].bin),
            out.pass_5.eq(snaps[5].pass_),
            out.snap_level_6.eq(level_of(g, snaps[6].slot)),
            control.snapped.eq(snaps[6].valid),
            control.snapped_bin.eq(snaps[6].bin),
        ]

    def address(self, m, control, level, bank, address, write):
        snap, row = control.snap_4[level][bank], within_bank(self.geometry, control.snap_row_4)
        chosen = Mux(snap, Cat(control.snap_bin_4, row), address)
        # A block RAM may give anything then.
        m.d.sync += Assert(~(snap & write.en & (chosen == write.addr)), "a SNAP reads what is being written")
        return chosen

    def word(self, control, words_6, word_8):
        words = [Mux(control.snap_6[1], second, first) for first, second in words_6]
        return control.snap_6.as_value().any(), Array(words)[control.snap_level_6]

    def config_pass(self, control):
        return control.pass_5

    def first(self, op, snap):
        return snap, snap.valid

    def issue(self, m, controller, scheduler, none):
        with m.If(none | scheduler.held):
            m.d.sync += controller.op.code.eq(Op.NONE)
        m.d.comb += [
            controller.snap.valid.eq(scheduler.valid),
            *(controller.snap[name].eq(scheduler.op[name]) for name in ("slot", "pass_", "bin")),
            controller.trial_current.eq(scheduler.current),
        ]

    def admit(self, m, scheduler, coming, *, waiting, came, begins, bin_, settle):
        """As above; beside operations on other levels or banks. If a pass takes long, others are held."""
        g, slot = self.geometry, scheduler.op.slot
        most, bank = _PATIENCE * g.bins, place_of(g, slot)[0]
        wants, waited = Signal(), Signal(range(most + 1))
        with m.If(~scheduler.valid & (bin_ == 0)):
            m.d.comb += wants.eq(waiting & begins)
        with m.Elif(~scheduler.valid | (bin_ != g.bins - 1)):
            m.d.comb += wants.eq(1)
        read = Cat(
            reads & (level_of(g, slot) == level) & (row[0] == bank)
            for level, (reads, row) in enumerate(zip(scheduler.reads, scheduler.reads_rows, strict=True))
        )
        m.d.comb += coming.eq(wants & ~read.any())
        with m.If(~wants):
            m.d.sync += waited.eq(0)
        with m.Elif(waited != most):
            m.d.sync += waited.eq(waited + 1)
        m.d.sync += [scheduler.hold.eq(wants & (waited == most)), scheduler.held.eq(scheduler.hold)]
        with m.If(came & ~waiting):  # the slot's last word may not be written yet
            m.d.sync += settle.eq(scheduler.settle)


def snaps_of(geometry):
    """What brings SNAPs to the counters of a geometry; methods as of `_InPlace`."""
    return (_InPlace, _Beside)[geometry.banks - 1](geometry)

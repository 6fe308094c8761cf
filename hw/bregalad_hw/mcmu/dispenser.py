"""Cut tightly packed instance records into beats."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, MISSING
from bregalad.protocol.commands import RECORD_HEADER

from ..delay import delay
from ..layout import struct
from .aligner import Aligner
from .dma import fetched_layout

__all__ = ["Dispenser", "beat_layout", "beats_signature"]


def beat_layout(geometry):
    """P codes of a record, its header beside them."""
    return data.StructLayout(
        {
            "header": struct(RECORD_HEADER),
            "codes": data.ArrayLayout(CODE_WIDTH, geometry.lanes),
            "first": 1,
            "last": 1,
        }
    )


def beats_signature(geometry):
    """Beats that must be taken when they come."""
    return wiring.Signature({"valid": Out(1), "payload": Out(beat_layout(geometry))})


class Dispenser(wiring.Component):
    """Re-align records of 4 + cells bytes to beats of P codes.

    Bus words go into a ring; a beat's header and codes are read from it at any byte and rotated to
    their places in steps, with a register after each. A word is taken only if this record or the
    next reaches into it, so nothing after the last record is ever taken, and the rest of its word
    is dropped. What is decided is carried out a clock later, for the words are wide, and nothing
    holds up a beat that is cut.

    What decides is kept up to date rather than worked out: how many bytes the ring has beyond
    the next beat, and how many are still to be taken.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    start : In(stream of {count: 32, offset})
        Records to cut, and the byte of the first bus word that they begin at.
    cells : In(16)
        Codes of a record, 1 to ``geometry.max_cells``; steady from ``settle`` clocks before a
        start on.
    i : In(stream of {data, last, error, address})
        Bus words; an error ends the run.
    lack : Out(1)
        A word without an error is taken.
    room : In(1)
        Beats are cut only then; ``under_way`` of them may come afterwards.
    o : Out(beats_signature(geometry))
        ceil(cells / P) beats per record; lanes beyond the record's end hold 255.
    active : Out(1)
        Beats are still to be cut. The next run may begin while those that are cut come out.
    busy : Out(1)
        Active, or a beat is under way.
    failed : Out(1)
        The last run ended by an error, ``error`` at ``address``; until the next start.
    counted : Out(32)
        Records of this run of which every beat has been cut, a clock later.

    Latency: 5 cycles from the word that completes a beat to ``o.valid``. Throughput: 1 beat per
    cycle while the words hold enough bytes.

    Source: design, section 2.
    """

    latency = 5  # cycles from transfer of a word that completes a beat to o.valid
    under_way = 4  # beats that come after the last cycle with `room`
    settle = 3

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.offset_bits = (g.bus_bytes - 1).bit_length()
        super().__init__(
            {
                "start": In(stream.Signature(data.StructLayout({"count": 32, "offset": self.offset_bits}))),
                "cells": In(16),
                "i": In(stream.Signature(fetched_layout(g.bus_width))),
                "lack": Out(1),
                "room": In(1),
                "o": Out(beats_signature(g)),
                "active": Out(1),
                "busy": Out(1),
                "failed": Out(1),
                "error": Out(2),
                "address": Out(64),
                "counted": Out(32),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        size, lanes, head = g.bus_bytes, g.lanes, RECORD_HEADER.size
        most = head + lanes  # bytes of a beat at most
        m.submodules.aligner = aligner = Aligner(g.bus_width, head, lanes)
        words = aligner.size // size

        # A record: its bytes, its beats but the last, and the bytes of its first and last beat.
        record = Signal(range(head + g.max_cells + 1))
        steps = Signal(range(g.passes))
        first_take = Signal(range(most + 1))
        last_codes = Signal(range(lanes + 1))
        m.d.sync += [
            record.eq(self.cells + head),
            steps.eq(sum(self.cells > p * lanes for p in range(1, g.passes))),
            first_take.eq(head + Mux(self.cells > lanes, lanes, self.cells)),
            last_codes.eq(self.cells - steps * lanes),
        ]
        last_lanes = Signal(lanes)  # those of a record's last beat
        # A comparison of its own would cost each lane a carry chain.
        eights, ones = last_codes[3:], last_codes[:3]
        below = Cat(ones > one for one in range(8))
        m.d.sync += last_lanes.eq(
            Cat((eights > lane // 8) | ((eights == lane // 8) & below[lane % 8]) for lane in range(lanes))
        )

        # Places in the ring, with a bit more: of the word that comes next, and of the bytes that
        # the next beat begins at and that it ends before; without it: of the next beat's codes.
        put = Signal(range(2 * words))
        at, behind = Signal(range(2 * aligner.size)), Signal(range(2 * aligner.size))
        codes_at = Signal(range(aligner.size))
        # A clock late: one word may come before it is known, and one when there is just no room.
        roomy = Signal()
        held = (put - (at >> self.offset_bits))[: len(put)]
        m.d.sync += roomy.eq(held <= words - 2)
        rest = Signal.like(steps)  # beats of this record after this one
        first, last = Signal(), Signal()
        records = Signal(32)  # not yet cut, this one included, and one that has just ended
        final, final_but_one = Signal(), Signal()  # of the run
        spare = Signal(range(-most - size, aligner.size + 1))  # bytes in the ring after the beat
        # Bytes of this record and the next that are not in the ring, less 1.
        lacking = Signal(range(-size, size + 2 * (head + g.max_cells) + 1))

        ended = Signal()  # a record; it is counted a clock later, for the counters are wide
        cut, taken = Signal(), Signal()
        follows = Signal.like(first_take)  # bytes of the beat after this one
        last_next, last_but_one = Signal(), Signal()  # after this one: is the last, comes before it
        failing = self.i.p.error != 0
        starved = self.active & (spare < 0)
        m.d.comb += [
            self.lack.eq(self.active & (lacking >= 0) & roomy),
            cut.eq(self.active & (spare >= 0) & self.room),
            last_next.eq(Mux(last, steps == 0, rest == 1)),
            last_but_one.eq(Mux(last, steps == 1, rest == 2)),
            self.i.ready.eq(Mux(failing, starved, self.lack)),
            taken.eq(self.lack & self.i.valid & ~failing),
        ]
        # All sums at once, then the one that it comes to: whether a word is taken is known last.
        begun = Signal()  # a run, a clock ago; no beat is there yet
        another = Mux(begun, ~final, cut & last & ~final & ~final_but_one)
        m.d.sync += [
            spare.eq(Mux(taken, Mux(cut, spare - follows + size, spare + size), Mux(cut, spare - follows, spare))),
            lacking.eq(
                Mux(
                    taken,
                    Mux(another, lacking + record - size, lacking - size),
                    Mux(another, lacking + record, lacking),
                )
            ),
            put.eq(put + taken),
        ]
        with m.If(cut):
            m.d.sync += [at.eq(behind), behind.eq(behind + follows), codes_at.eq(behind + Mux(last, head, 0))]
        with m.If(cut):
            m.d.sync += [
                first.eq(last),
                rest.eq(Mux(last, steps, rest - 1)),
                last.eq(last_next),
                follows.eq(Mux(last_next, first_take, Mux(last_but_one, last_codes, lanes))),
            ]
            with m.If(last):
                m.d.sync += [
                    final.eq(final_but_one),
                    final_but_one.eq(Mux(ended, records == 4, records == 3)),
                ]
                with m.If(final):
                    m.d.sync += self.active.eq(0)

        m.d.sync += [ended.eq(cut & last), begun.eq(self.start.valid & ~self.active)]
        with m.If(ended):
            m.d.sync += [records.eq(records - 1), self.counted.eq(self.counted + 1)]
        with m.If(begun):
            m.d.sync += self.counted.eq(0)

        # The error waits until every beat before it is cut.
        with m.If(starved & self.i.valid & failing):
            m.d.sync += [
                self.active.eq(0),
                self.failed.eq(1),
                self.error.eq(self.i.p.error),
                self.address.eq(self.i.p.address),
            ]

        m.d.comb += [
            aligner.word.eq(self.i.p.data),
            aligner.put.eq(taken),
            aligner.put_at.eq(put),
            aligner.header_at.eq(at),
            aligner.codes_at.eq(codes_at),
        ]

        # What comes out beside the bytes, then both in their places.
        beat = Signal(data.StructLayout({"valid": 1, "first": 1, "last": 1}))
        m.d.comb += [beat.valid.eq(cut), beat.first.eq(first), beat.last.eq(last)]
        on_the_way = []
        for clock in range(aligner.latency):
            beat = delay(m, beat, 1, f"beat_{clock}")
            on_the_way.append(beat.valid)
            if clock == aligner.latency - 2:
                used = Signal(lanes)  # lanes with a code
                m.d.sync += used.eq(last_lanes | (~beat.last).replicate(lanes))
        m.d.sync += [
            self.o.valid.eq(beat.valid),
            self.o.payload.first.eq(beat.first),
            self.o.payload.last.eq(beat.last),
            *(
                self.o.payload.codes[lane].eq(aligner.codes.word_select(lane, 8) | Mux(used[lane], 0, MISSING))
                for lane in range(lanes)
            ),
        ]
        with m.If(beat.first):
            m.d.sync += self.o.payload.header.eq(aligner.header)
        m.d.comb += [
            self.busy.eq(self.active | Cat(on_the_way).any() | self.o.valid),
            self.start.ready.eq(~self.active),
        ]
        # Between runs these follow what may start: whether it does comes too late for so many.
        count, offset = self.start.p.count, self.start.p.offset
        with m.If(~self.active):
            m.d.sync += [
                records.eq(count),
                final.eq(count == 1),
                final_but_one.eq(count == 2),
                first.eq(1),
                last.eq(steps == 0),
                rest.eq(steps),
                follows.eq(Mux(steps == 0, first_take, Mux(steps == 1, last_codes, lanes))),
                at.eq(offset),
                behind.eq(offset + first_take),
                codes_at.eq(offset + head),
                spare.eq(-(offset + first_take)),
                lacking.eq(offset + record - 1),
                put.eq(0),
            ]
            with m.If(self.start.valid):
                m.d.sync += [self.active.eq(count != 0), self.failed.eq(0)]
        return m

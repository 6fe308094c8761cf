"""Cut tightly packed instance records into beats."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...geometry import CODE_WIDTH, MISSING
from ...protocol.commands import RECORD_HEADER
from ..layout import struct
from .dma import fetched_layout

__all__ = ["Dispenser", "beat_layout"]


def beat_layout(geometry):
    """P codes of a record, its header beside them."""
    return data.StructLayout({
        "header": struct(RECORD_HEADER),
        "codes": data.ArrayLayout(CODE_WIDTH, geometry.lanes),
        "first": 1,
        "last": 1,
    })


class Dispenser(wiring.Component):
    """Re-align records of 4 + cells bytes to beats of P codes.

    A window over the bus words slides by one word per clock; a beat is cut out of it at any byte.
    A word is taken only if this record or the next reaches into it, so nothing behind the last
    record is ever taken, and the rest of its word is dropped.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    start : In(stream of {count: 32, offset})
        Records to cut, and the byte of the first bus word that they begin at.
    cells : In(16)
        Codes of a record, 1 to ``geometry.max_cells``; steady while busy.
    i : In(stream of {data, last, error, address})
        Bus words; an error ends the run.
    o : Out(stream of {header, codes, first, last})
        ceil(cells / P) beats per record; lanes beyond the record's end hold 255.
    busy : Out(1)
    failed : Out(1)
        The last run ended by an error, ``error`` at ``address``; until the next start.
    counted : Out(32)
        Records of this run of which every beat has been cut.

    Latency: 2 cycles from the word that completes a beat to ``o.valid``. Throughput: 1 beat per
    cycle while the words hold enough bytes.

    Source: design, section 2.
    """

    latency = 2  # cycles from transfer of a word that completes a beat to o.valid

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.offset_bits = (g.bus_bytes - 1).bit_length()
        super().__init__({
            "start": In(stream.Signature(data.StructLayout({
                "count": 32, "offset": self.offset_bits}))),
            "cells": In(16),
            "i": In(stream.Signature(fetched_layout(g.bus_width))),
            "o": Out(stream.Signature(beat_layout(g))),
            "busy": Out(1),
            "failed": Out(1),
            "error": Out(2),
            "address": Out(64),
            "counted": Out(32),
        })

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        size, lanes, head = g.bus_bytes, g.lanes, RECORD_HEADER.size
        most = head + lanes  # bytes of a beat at most
        words = -(-(size - 1 + most) // size)

        window = Signal(data.ArrayLayout(g.bus_width, words))
        filled = Signal(range(words + 1))  # words in the window
        at = Signal(range(words * size + 1))  # byte of the window that the next beat begins at
        active = Signal()
        records = Signal(32)  # not yet cut, this one included
        rest = Signal(range(g.max_cells + 1))  # codes of this record not yet cut
        left = Signal(range(head + g.max_cells + 1))  # bytes of this record not yet cut
        record = Signal.like(left)
        m.d.comb += record.eq(self.cells + head)
        first = Signal()
        take = Signal(range(most + 1))  # bytes of this beat

        def first_take():
            return head + Mux(self.cells > lanes, lanes, self.cells)

        last = rest <= lanes
        later = Signal.like(rest)
        take_after = Signal.like(take)  # bytes of the beat after this one
        m.d.comb += [
            later.eq(rest - lanes),
            take_after.eq(Mux(last, first_take(), Mux(later > lanes, lanes, later))),
        ]

        cut = Signal()
        m.d.comb += cut.eq(active & (at + take <= filled * size)
                           & (~self.o.valid | self.o.ready))

        # The state after this clock, before a new word.
        moved = Signal(range(words * size + 1))
        slide = Signal()
        at_next = Signal.like(at)
        filled_next = Signal.like(filled)
        m.d.comb += [
            moved.eq(at + Mux(cut, take, 0)),
            slide.eq((moved >= size) & (filled != 0)),
            at_next.eq(moved - Mux(slide, size, 0)),
            filled_next.eq(filled - slide),
        ]
        # A cut moves `at` and `left` alike, so whether a word is needed does not depend on it.
        starved, lack, failing, taken = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            starved.eq(active & (at + take > filled * size)),
            lack.eq(active & (at + left + Mux(records == 1, 0, record) > filled * size)
                    & (filled_next != words)),
            failing.eq(self.i.p.error != 0),
            self.i.ready.eq(Mux(failing, starved, lack)),
            taken.eq(lack & self.i.valid & ~failing),
        ]

        m.d.sync += [at.eq(at_next), filled.eq(filled_next + taken)]
        with m.If(slide):
            for index in range(words - 1):
                m.d.sync += window[index].eq(window[index + 1])
        with m.If(taken):
            with m.Switch(filled_next):
                for index in range(words):
                    with m.Case(index):
                        m.d.sync += window[index].eq(self.i.p.data)

        aligned = Signal(most * 8)
        # A word wider than a beat leaves the window before the next beat is cut behind it.
        byte = at[:self.offset_bits] if most <= size else at
        m.d.comb += aligned.eq(window.as_value() >> (byte << 3))
        codes = Signal(data.ArrayLayout(CODE_WIDTH, lanes))
        m.d.comb += codes.eq(Mux(first, aligned[head * 8:], aligned[:lanes * 8]))

        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(cut):
            m.d.sync += [
                self.o.valid.eq(1),
                self.o.p.first.eq(first),
                self.o.p.last.eq(last),
                first.eq(last),
                take.eq(take_after),
                rest.eq(Mux(last, self.cells, later)),
                left.eq(Mux(last, record, left - take)),
            ]
            with m.If(first):
                m.d.sync += self.o.p.header.eq(aligned[:head * 8])
            for lane in range(lanes):
                m.d.sync += self.o.p.codes[lane].eq(Mux(rest > lane, codes[lane], MISSING))
            with m.If(last):
                m.d.sync += [records.eq(records - 1), self.counted.eq(self.counted + 1)]
                with m.If(records == 1):
                    m.d.sync += [active.eq(0), filled.eq(0), at.eq(0)]

        # The error waits until every beat before it is cut.
        with m.If(starved & self.i.valid & failing):
            m.d.sync += [
                active.eq(0), filled.eq(0), at.eq(0),
                self.failed.eq(1),
                self.error.eq(self.i.p.error),
                self.address.eq(self.i.p.address),
            ]

        m.d.comb += [
            self.busy.eq(active | self.o.valid),
            self.start.ready.eq(~active),
        ]
        with m.If(self.start.valid & ~active):
            m.d.sync += [
                active.eq(self.start.p.count != 0),
                records.eq(self.start.p.count),
                rest.eq(self.cells),
                left.eq(record),
                first.eq(1),
                take.eq(first_take()),
                at.eq(self.start.p.offset),
                filled.eq(0),
                self.failed.eq(0),
                self.counted.eq(0),
            ]
        return m

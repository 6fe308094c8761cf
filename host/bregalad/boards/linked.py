"""A board at the end of a wire."""

import os
import weakref
from dataclasses import replace
from functools import cached_property

from ..interrupt import check_interrupt, deferred_interrupt, hold_interrupt
from ..link import Session
from ..protocol.commands import pack_load
from ..protocol.link import LAPSE_SECONDS, LINK_VERSION, Refusal
from ..protocol.registers import IDENTITY
from ..warn import warn
from .base import BoardError
from .device import Remote

_LONGEST = 1.0  # seconds between two frames to a board that something is expected from
_BACKLOG = 1 << 16  # bytes that `send` leaves waiting for the wire
_PATIENCE = 60  # seconds that a board which answers may do nothing else, without a warning
_ROUNDS = 3  # round trips of silence that may always be
_STILL = 0.5  # seconds without progress after which a wait is not worth finishing before Ctrl-C
_LOOK = 0.25  # seconds between two looks whether Ctrl-C has come


class LinkedBoard(Remote):
    """The driver's end of a link: what the wire loses or damages is sent again, nothing twice.

    A board that is silent for ``timeout`` seconds, above 0, makes the call that waits for it raise BoardError, and
    every call after it, until `resume`; `send` and `write_register` only queue then. Nothing is lost by that: what was
    queued, sent or reported is kept on both sides. Where round trips are slow, the time-out is three of them at least.

    The wire is not open yet; the geometry is what the board is expected to be, its own if not given; ``take_over`` ends
    the session of another program that has it. BoardError if no board answers, it belongs to another program, or is not
    what was expected.

    Source: docs/link.md.
    """

    def __init__(self, wire, geometry=None, *, timeout=5.0, take_over=False):
        self._enter(wire.name, geometry, timeout)
        self.session = Session(longest=min(_LONGEST, timeout / 4))
        self._wire = wire
        self._opened = wire.now()
        self._pressed = False  # Ctrl-C has come while `send` was waiting in vain
        self._reads = 0  # answers of the board to register reads that are still to be removed
        try:
            self._connect(take_over)
            self._identify(geometry)
            self.session.bus_bytes = self.geometry.bus_bytes
        except BaseException:
            self.close()
            raise
        self._release_all = weakref.finalize(self, _part, self._wire, self.session, self._process)

    # Sessions

    def _connect(self, take_over):
        wire, session = self._wire, self.session
        for setting in wire.settings:
            wire.open(setting)
            session.begin(take_over)
            limit = wire.now() + self.timeout / len(wire.settings)
            while session.requesting and wire.now() < limit:
                self._turn(limit - wire.now())  # and no HELLO whose answer nobody would wait for
            if not session.requesting:
                break
        else:
            raise self._fail(wire.silence())
        self._check_refused()
        version = int(session.welcome["version"])
        if version != LINK_VERSION:
            raise self._fail(self._wrong_version(version))

    def resume(self):
        """Go on after the link was cut: connect again; both sides send what they have kept.

        BoardError if the board is still silent (`resume` may be called again), or has lost the session meanwhile: it
        was without power, or another program took it over.
        """
        self._check_open()
        if self.lost:
            self._check()
        with deferred_interrupt():
            self._down = None
            self._wire.renew()
            self.session.resume()
        self._wait(lambda: not self.session.requesting, "to be resumed")

    @property
    def lost(self):
        return self._closed or self.session.refused is not None

    def close(self):
        if not self._closed:
            self.session.statistics = self.statistics()
            _part(self._wire, self.session, self._process)
            self._closed = True

    def _check_refused(self):
        refused = self.session.refused
        if refused is None:
            return
        match refused.reason:
            case Refusal.BUSY:
                raise self._fail(
                    f"another session ({refused.owner:#010x}) has this board, of another program "
                    "or of a board that this one has not closed: close it, or wait "
                    f"{LAPSE_SECONDS} s if its program has died (a simulation takes minutes for them), or end it with "
                    "take_over=True, behind its name take_over=yes"
                )
            case Refusal.GONE:
                owner = (
                    f"session {refused.owner:#010x} of another program has the board now"
                    if refused.owner
                    else "it was reset, or without power"
                )
                raise self._fail(
                    f"the board no longer knows this session: {owner}; what it had counted is "
                    "lost: open it again, and load the tree that was saved last (or save or close "
                    "this one now, to keep it without)"
                )
            case Refusal.VERSION:
                raise self._fail(self._wrong_version(refused.version))

    def _wrong_version(self, version):
        return (
            f"the board speaks version {version} of the link, this driver "
            f"{LINK_VERSION}: rebuild the bitstream with this release, or install that of the "
            "bitstream"
        )

    # Turns

    def _turn(self, wait):
        """Take what has come, waiting a while for it, and send what is to be sent.

        Ctrl-C may end the wait, and then loses frames as a wire does; not what the session does.
        """
        wire, session = self._wire, self.session
        left = session.deadline - wire.now()
        received = wire.receive(max(0.0, min(wait, left)))
        with deferred_interrupt():
            for frame in received:
                session.take(frame, wire.now())
            frames = session.frames(wire.now())
            if frames:
                wire.send(frames)

    def _wait(self, done, what):
        """Take turns until ``done()``.

        BoardError if the board is silent for the time-out. One that answers is waited for, with a warning after a
        minute. KeyboardInterrupt where it is held back only if the board makes no progress either.
        """
        session, now = self.session, self._wire.now
        start, warned = now(), False
        session.waiting = True
        try:
            while not done():
                limit = max(start, session.last_received) + self._longest_silence
                if now() >= limit:
                    raise self._fail(
                        f"no sign of life for {self._longest_silence:.3g} s, waiting {what} "
                        f"({self._wire.trouble or 'frames are sent, no sound one comes back'}): check cable and "
                        "power, or give a slow simulation a longer timeout; nothing is lost yet, resume() goes on"
                    )
                self._turn(min(limit - now(), _LOOK))
                self._check_refused()
                still = now() - max(start, session.moved)
                if still >= max(_PATIENCE, self._longest_silence) and not warned:
                    warned = self._warn_of_standing()
                if still >= _STILL:
                    check_interrupt()
        finally:
            session.waiting = False

    @property
    def _longest_silence(self):
        return max(self.timeout, _ROUNDS * self.session.round_trip)

    def _warn_of_standing(self):
        """Of a board that answers, and does nothing else; how slow a simulation may be, nobody knows."""
        warn(
            f"{self.name}: the board answers, but for {_PATIENCE} s has neither taken a command nor reported: it is "
            "simulated and slow, or its accelerator hangs until it is reset; Ctrl-C ends the wait",
        )
        return True

    # Commands and reports

    def send(self, data):
        self._check_open()
        data = self._words(data)
        with deferred_interrupt():
            self.session.send(data)
        self._push()

    def _push(self):
        """Send until little waits; a board that is silent is for the next `receive` to tell."""
        if self._down is not None:
            return
        self._turn(0)
        if self.session.backlog > _BACKLOG:
            try:
                self._wait(lambda: self.session.backlog <= _BACKLOG, "for room in its ring")
            except BoardError:
                pass  # it is in _down
            except KeyboardInterrupt as error:
                # All is queued, but who sends may be in the middle of what belongs together: it
                # comes in the next `receive`, after which learning goes on.
                if not hold_interrupt(error):
                    raise
                self._pressed = True

    def receive(self, wait=False):
        self._check()
        self._turn(0)
        self._check_refused()
        if self._pressed:
            self._pressed = False
            check_interrupt()
        if wait:
            self._wait_for_report()
        reports = self.session.reports()
        if self._whole(reports) != len(reports):  # the board said that their ends were there
            raise self._fail("a report without its end: its bitstream is not sound, or not of this release")
        return reports

    def _wait_for_report(self):
        session, now = self.session, self._wire.now
        idle, since, warned = 0, now(), False
        while not session.reported:
            start = now()
            self._wait(lambda start=start: session.reported or self._answers_only(start), "for a report")
            if session.reported:
                return
            if session.backlog:
                since = now()
            # Twice: its last words may be under way when it says that it is idle.
            idle = 0 if self.read("status.busy") else idle + 1
            if idle == 2 and not session.reported:
                raise self._no_report_due()
            if now() - since > _PATIENCE and not warned:
                warned = self._warn_of_standing()

    def _answers_only(self, start):
        """Whether the board, though there, has done nothing for the time-out."""
        now, session = self._wire.now(), self.session
        return now - max(start, session.moved) >= self.timeout and now - session.last_received < self.timeout / 2

    def load(self, address, data):
        data = self._to_load(address, data)
        step = self.batch_bytes
        for at in range(0, data.size, step):
            self.send(pack_load(self.geometry, address + at, data[at : at + step]))

    @cached_property
    def memory_size(self):
        return self.read("ram.bytes")

    def statistics(self):
        """What has crossed the link: a ``link.Statistics``."""
        if self._closed:
            return replace(self.session.statistics)
        return replace(self.session.statistics, seconds=self._wire.now() - self._opened)

    # Registers

    def _read_register(self, register):
        if register.name in IDENTITY and self.session.welcome is not None:
            return int(self.session.welcome[register.name])
        self._check()
        session = self.session
        with deferred_interrupt():
            session.access(register.addr)
            self._reads += 1
        self._wait(lambda: len(session.values) >= self._reads, f"for register {register.name}")
        with deferred_interrupt():
            while self._reads:  # the last one; those before were given up in a cut
                address, value = session.values.popleft()
                self._reads -= 1
        if address != register.addr:
            raise self._fail(
                f"asked for register {register.addr:#x}, the board answered for "
                f"{address:#x}: its bitstream is not sound"
            )
        return value

    def _write_register(self, register, value):
        self._check_open()
        with deferred_interrupt():
            self.session.access(register.addr, True, value)
            if register.name == "cells":
                self._cells = max(1, value)
        self._push()


def _part(wire, session, process):
    """End a session, so that another program need not wait for it to lapse."""
    if os.getpid() != process:  # a fork of the one that goes on with it
        wire.abandon()
        return
    if session.refused is None:  # it may live even if the WELCOME was lost
        wire.send([session.bye()])
    wire.close()

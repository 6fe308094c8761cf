"""Our parts of the Ethernet core: the queue to the transceiver's clock, and the CRC."""

import random

import pytest
from bregalad_hw.boards.crc import ChainedCrc32
from bregalad_hw.boards.crossing import DEPTH, TransmitCrossing
from liteeth.mac.crc import LiteEthMACCRC32
from litex.soc.interconnect.stream import Buffer, EndpointDescription
from migen import ClockDomainsRenamer, Module, passive, run_simulation

LAYOUT = EndpointDescription([("data", 32), ("last_be", 4)])
NAMES = "data", "last_be", "first", "last"
PERIODS = {"colorlight": 25, "ecpix5": 16}  # of LiteEth's clock, in ns


class Queue(Module):
    """As it stands in the core: a word waits after it."""

    def __init__(self):
        self.submodules.crossing = crossing = TransmitCrossing(LAYOUT)
        self.submodules.waiting = waiting = ClockDomainsRenamer("eth_tx")(Buffer(LAYOUT))
        self.comb += crossing.source.connect(waiting.sink)
        self.sink, self.source = crossing.sink, waiting.source


@passive
def sender(dut, words, send):
    for word in words:
        while not send():
            yield
        for name, value in zip(NAMES, word, strict=True):
            yield getattr(dut.sink, name).eq(value)
        yield dut.sink.valid.eq(1)
        yield
        while not (yield dut.sink.ready):
            yield
        yield dut.sink.valid.eq(0)


def simulate(words, send, take, period):
    """What comes, as (clock of the transceiver, word); send and take say when either side may."""
    dut, got = Queue(), []

    @passive
    def forever():
        while True:
            yield

    def receiver():
        for clock in range(40 * len(words) + 1000):
            ready = take(clock)
            yield dut.source.ready.eq(ready)
            yield
            if ready and (yield dut.source.valid):
                word = []
                for name in NAMES:
                    word.append((yield getattr(dut.source, name)))
                got.append((clock, tuple(word)))
            if len(got) == len(words):
                return

    sides = {"sys": [sender(dut, words, send), forever()], "eth_tx": receiver()}
    run_simulation(dut, sides, clocks={"sys": period, "eth_tx": 8})
    return got


def some_words(rng, count):
    return [(rng.getrandbits(32), rng.getrandbits(4), rng.getrandbits(1), rng.getrandbits(1)) for _ in range(count)]


@pytest.mark.parametrize("sending, taking", [(1.0, 1.0), (0.3, 1.0), (1.0, 0.1), (0.5, 0.5)])
@pytest.mark.parametrize("period", PERIODS.values(), ids=PERIODS)
def test_all_words_in_order(period, sending, taking):
    print(f"seed {period} {sending} {taking}")
    rng = random.Random(f"{period} {sending} {taking}")
    words = some_words(rng, 5 * DEPTH)
    got = simulate(words, lambda: rng.random() < sending, lambda _: rng.random() < taking, period)
    assert [word for _, word in got] == words


@pytest.mark.parametrize("period", PERIODS.values(), ids=PERIODS)
def test_no_pause_within_a_frame(period):
    """Once a frame has begun there is a word every four clocks, a byte in each."""
    print(f"seed {period}")
    words = some_words(random.Random(period), 60)
    # The converter takes a word with its fourth byte.
    got = simulate(words, lambda: True, lambda clock: clock >= 16 and clock % 4 == 3, period)
    assert [clock for clock, _ in got] == list(range(19, 19 + 4 * len(words), 4))


@pytest.mark.slow
def test_crc_as_liteeth_has_it(seed):
    """Value and error after each word, for any bytes of it, through resets and pauses."""
    rng = random.Random(seed)
    dut = Module()
    dut.submodules.ours, dut.submodules.theirs = both = ChainedCrc32(32), LiteEthMACCRC32(32)

    def check():
        value, right = 0, 0
        for _ in range(250):
            drive = {
                # The CRC of what came before it, now and then.
                "data": rng.choice((value, rng.getrandbits(32))),
                "be": rng.choice((1, 2, 4, 8, 15)),
                "ce": rng.random() < 0.8,
                "reset": rng.random() < 0.1,
            }
            for crc in both:
                for name, driven in drive.items():
                    yield getattr(crc, name).eq(driven)
            yield
            value, error = (yield both[0].value), (yield both[0].error)
            right += not error
            assert (value, error) == ((yield both[1].value), (yield both[1].error))
        assert right

    run_simulation(dut, check())

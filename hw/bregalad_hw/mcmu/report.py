"""Write reports as 32-bit words."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.complete import complete
from bregalad.protocol.layout import Layout
from bregalad.protocol.reports import CANDIDATE, HEADER, Kind, layout_of
from bregalad.protocol.tree import TREE_REPORTS, TreeKind

from ..array.merge import summary_layout
from ..array.operation import candidate_layout
from ..layout import words_of
from ..members import drive
from ..registers import configuration_signature
from .scheduler import head_layout

REPORT_WORD = data.StructLayout({"data": 32, "last": 1})  # of the stream of reports
# What the writer writes: results of attempts, each behind its SPLIT_CANDIDATE, and jobs that say what they are.
ATTEMPTS = (Kind.TOP_CANDIDATES, Kind.GAINS)
_TREE_JOBS = (TreeKind.BLOCK, TreeKind.LEARNT)
_BARE = (Kind.FENCE, Kind.ERROR, *_TREE_JOBS)  # nothing follows their words
JOBS = (*_BARE, Kind.ENTRY, Kind.STATISTICS)
complete(Kind, (*ATTEMPTS, *(kind for kind in JOBS if kind not in _TREE_JOBS)), __file__)
_WRITTEN_ELSEWHERE = (TreeKind.LABEL, TreeKind.MARK, TreeKind.ROW)  # `front/results.py` writes them
complete(TreeKind, (TreeKind.SPLIT_CANDIDATE, *_TREE_JOBS, *_WRITTEN_ELSEWHERE), __file__)


def job_layout(geometry):
    """A report that is no attempt's: ``count`` words after the head, then the class counts."""
    g = geometry
    return data.StructLayout(
        {
            "kind": 8,
            "flags": 8,
            "slot": 16,
            "count": 3,
            "words": data.ArrayLayout(32, 5),
            "class_counts": data.ArrayLayout(g.count_width, g.classes),
        }
    )


def job_words(kind, geometry, **values):
    """What a job's report has between its header and its counts, word by word: values of its fields, else 0."""
    layout = layout_of(kind, geometry, 1)
    fields = [field for field in layout.fields if field.count is None][len(HEADER.fields) :]
    return words_of(Layout(layout.name, *fields), **values)


class ReportWriter(wiring.Component):
    """Serialise the results of attempts and the answers to commands.

    Members
    -------
    job : In(stream of job_layout)
        One of JOBS: ENTRY has class counts after the words, STATISTICS bins.
    counts : In(stream of W)
        Of a STATISTICS report.
    head : In(stream of head_layout)
        Attempts, in order. A SPLIT_CANDIDATE, of their ``number``, comes before each.
    summary, gains : In(streams)
        Their results, as `Merge` gives them: cell 0xFFFF, value and gain 0 where nothing is valid.
    configuration : In(configuration_signature())
        ``report.all``: GAINS of ``cells.count`` cells instead of TOP_CANDIDATES.
    reported : Out(1)
        An attempt's last word is taken.
    idle : Out(1)
    o : Out(stream of {data: 32, last})

    Latency: 1 cycle from a head or job to ``o.valid``; a job is taken a cycle after it has come.
    Throughput: one word per cycle within a report, but two cycles between candidates.

    Source: host/bregalad/protocol/reports.py for every byte.
    """

    latency = 1

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "job": In(stream.Signature(job_layout(g))),
                "counts": In(stream.Signature(g.count_width)),
                "head": In(stream.Signature(head_layout(g))),
                "summary": In(stream.Signature(summary_layout(g))),
                "gains": In(stream.Signature(candidate_layout(g))),
                "configuration": In(configuration_signature()),
                "reported": Out(1),
                "idle": Out(1),
                "o": Out(stream.Signature(REPORT_WORD)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        width = g.count_width

        kind = Signal.like(self.job.p.kind)
        most = 1 + len(self.job.p.words)
        words = Signal(data.ArrayLayout(32, most))
        left_words = Signal(range(most + 1))
        attempts = (kind == Kind.TOP_CANDIDATES) | (kind == Kind.GAINS)
        counts = Signal(width * g.classes)
        index = Signal(range(max(g.classes, 2)))  # word of a section
        item = Signal(16)  # candidate or count, from 1 on
        last_item = Signal()  # of the candidates; an item takes five clocks
        m.d.sync += last_item.eq(item == self.configuration.cells.count)
        all_gains = self.configuration.report.all
        # Of the summary's candidates, and behind them: one of `gains`. Two bits choose the one, for it is wide.
        place = Signal(range(4))
        chosen = Signal(candidate_layout(g), reset_less=True)
        summary = self.summary.p
        candidates = summary.best, summary.second, summary.current, self.gains.p
        m.d.sync += chosen.eq(Array(each.as_value() for each in candidates)[place])
        tail = Signal()  # the counts that are written now end the report
        moved = Signal()
        m.d.comb += moved.eq(self.o.valid & self.o.ready)
        # Jobs come by gates from editor and sequencer, so they wait a clock in registers of their
        # own: nothing else looks at them.
        job = Signal(job_layout(g), reset_less=True)
        m.d.sync += job.eq(self.job.p)

        # These go on whenever a word could, for they mean nothing but where words are written: a state
        # would have a long way to so many registers.
        with m.If(self.o.ready):
            m.d.sync += [*(words[i].eq(words[i + 1]) for i in range(most - 1)), left_words.eq(left_words - 1)]

        def write_words():
            """Drive the output with the next word."""
            m.d.comb += [self.o.valid.eq(1), self.o.p.data.eq(words[0])]

        m.d.sync += self.summary.ready.eq(0)
        with m.FSM(name="state") as fsm:
            m.d.comb += self.idle.eq(fsm.ongoing("IDLE") | fsm.ongoing("JOB"))
            with m.State("IDLE"):
                m.d.sync += [index.eq(0), item.eq(1), place.eq(all_gains.replicate(2))]
                # What is wide is loaded whether or not there is anything.
                m.d.comb += self.head.ready.eq(1)
                head = self.head.p
                attempt = Mux(all_gains, Kind.GAINS, Kind.TOP_CANDIDATES)
                candidate = words_of(
                    TREE_REPORTS[TreeKind.SPLIT_CANDIDATE],
                    kind=TreeKind.SPLIT_CANDIDATE,
                    slot=head.slot,
                    number=head.number,
                )
                report = words_of(HEADER, kind=attempt, flags=head.flags, slot=head.slot)
                first = [*candidate, *report, head.n]
                m.d.sync += [
                    kind.eq(attempt),
                    *(words[i].eq(word) for i, word in enumerate(first)),
                    left_words.eq(len(first) - 1),
                    counts.eq(head.class_counts),
                ]
                with m.If(self.head.valid):
                    m.next = "HEAD"
                with m.Elif(self.job.valid):
                    m.next = "JOB"

            with m.State("JOB"):
                m.d.comb += self.job.ready.eq(1)
                m.d.sync += [
                    kind.eq(job.kind),
                    words[0].eq(*words_of(HEADER, kind=job.kind, flags=job.flags, slot=job.slot)),
                    *(words[1 + i].eq(job.words[i]) for i in range(most - 1)),
                    left_words.eq(job.count),
                    counts.eq(job.class_counts),
                ]
                m.next = "HEAD"

            with m.State("HEAD"):
                bare = Cat(kind == job for job in _BARE).any()
                write_words()
                m.d.comb += self.o.p.last.eq(Mux(attempts, left_words == 2, bare & (left_words == 0)))
                with m.If(self.o.ready):
                    m.d.sync += tail.eq(kind == Kind.ENTRY)
                    with m.If(left_words == 0):
                        with m.If(bare):
                            m.next = "IDLE"
                        with m.Elif(kind == Kind.STATISTICS):
                            m.next = "STATISTICS"
                        with m.Else():
                            m.next = "COUNTS"

            with m.State("COUNTS"):
                end = index == g.classes - 1
                m.d.comb += [self.o.valid.eq(1), self.o.p.data.eq(counts[:width]), self.o.p.last.eq(tail & end)]
                with m.If(self.o.ready):
                    m.d.sync += [counts.eq(counts >> width), index.eq(Mux(end, 0, index + 1))]
                    with m.If(end):
                        with m.If(tail):
                            m.d.comb += self.reported.eq(kind == Kind.TOP_CANDIDATES)
                            m.next = "IDLE"
                        with m.Elif(kind == Kind.GAINS):
                            m.next = "GAINS"
                        with m.Else():
                            m.next = "SUMMARY"

            with m.State("STATISTICS"):
                end = item == g.bins * g.classes
                m.d.comb += [
                    self.o.valid.eq(self.counts.valid),
                    self.counts.ready.eq(self.o.ready),
                    *drive(self.o.p, data=self.counts.payload, last=end),
                ]
                with m.If(moved):
                    m.d.sync += item.eq(item + 1)
                    with m.If(end):
                        m.next = "IDLE"

            with m.State("SUMMARY"):
                with m.If(self.summary.valid):
                    m.next = "CHOSEN"

            with m.State("CHOSEN"):
                shown = words_of(CANDIDATE, **{name: chosen[name] for name in candidate_layout(g).members})
                m.d.sync += [
                    *(words[i].eq(word) for i, word in enumerate(shown)),
                    left_words.eq(len(shown) - 1),
                    place.eq(place + (kind == Kind.TOP_CANDIDATES)),
                ]
                m.next = "CANDIDATE"

            with m.State("GAINS"):
                m.d.comb += self.gains.ready.eq(1)
                m.d.sync += tail.eq(last_item)
                with m.If(self.gains.valid):
                    m.d.sync += item.eq(item + 1)
                    m.next = "CHOSEN"

            with m.State("CANDIDATE"):
                write_words()
                m.d.comb += self.o.p.last.eq(tail & (left_words == 0))
                m.d.sync += counts.eq(self.summary.p.left)
                with m.If(self.o.ready & (left_words == 0)):
                    with m.If(kind == Kind.GAINS):
                        m.next = "GAINS"
                        with m.If(tail):
                            m.d.comb += self.reported.eq(1)
                            m.next = "IDLE"
                    with m.Else():
                        m.next = "SUMMARY"
                        with m.If(place == 3):
                            m.d.sync += [self.summary.ready.eq(1), tail.eq(1)]
                            m.next = "COUNTS"
        return m

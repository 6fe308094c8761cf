"""The tree on the board: records in, proposals out; what the front and the array do together.

One order of records; all that happens follows from it. A record goes down the tree, its leaf predicts, and the array
counts it. Within a block the tree stays as it is. What is due is tried at the block's end. If the judge says that a
node is kept, that is all. Else the trial is a *proposal*: the host is told, and answers before the next block's end.
"""

from collections import deque

from bregalad.complete import complete
from bregalad.geometry import AHEAD, NONE
from bregalad.protocol.commands import COMMANDS, CommandFlag, Opcode, RecordFlag
from bregalad.protocol.layout import Layout
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import KIND_LOW, Node
from bregalad.protocol.reports import EntryFlag, entry_body
from bregalad.protocol.rows import KEY_BYTES, ROW_COMMAND, STEP, RowOpcode, weight_of
from bregalad.protocol.tree import DUE, TREE_COMMANDS, TREE_REGISTERS, TREE_REPORTS, TreeKind, TreeOpcode, mixed

from .board import Golden
from .candidates import top
from .judge import Trial, judge
from .leaf_rows import LeafRows
from .memory import BusError
from .quantiser import GoldenQuantiser
from .walker import NodeTable, Walker

__all__ = ["TreeBoard"]

# Until a LEARN has ended.
_WAIT = (Opcode.LEARN, Opcode.FENCE, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.TURN)


class TreeBoard(Golden):
    """A board that holds trees, as a model: commands in, reports out.

    A LEARN goes on, between any two commands, until it has ended or waits for GO.

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    memory_size : int
        Bytes of the memory that LEARN fetches rows from.

    Source: Domingos and Hulten, KDD 2000, table 1, by blocks (docs/learners.md); host/bregalad/protocol/tree.py.
    """

    def __init__(self, geometry, memory_size=0):
        super().__init__(geometry, memory_size)
        self.registers |= {register.name: register for register in TREE_REGISTERS}
        self.fields |= {
            f"{register.name}.{field.name}": field.reset for register in TREE_REGISTERS for field in register.fields
        }
        self.quantiser = GoldenQuantiser(geometry)
        self.table = NodeTable(geometry.nodes, geometry.max_cells, geometry.slots, alternates=0)
        self.rows = LeafRows(geometry, geometry.nodes)
        self.number = self.begun = 0  # numbered records learnt: all, and as of the block's beginning
        self.end = self.length = 1  # number of the block's last record; records of the blocks behind it
        self.first, self.slots = 0, geometry.slots  # of the tree in turn
        self._walker = Walker(self.table)
        self._due_slots, self._all_due = [], False  # in the order in which they became due; there may be others
        self._owed = self._tried = False  # something is proposed; the block's end is over but for what is owed
        self._records = deque()  # of the LEARN under way
        self._learning = self._held = False  # it is; it waits for GO

    # Commands

    def execute(self, data):
        """Execute the commands in ``data`` (bytes); return the reports (bytes).

        A command waits for the next call if only its beginning is there.
        """
        stream = self._pending + bytes(data)
        at = 0
        while (length := self._command_length(stream[at:])) is not None:
            data = stream[at : at + length]
            if self._held and not self.halted and data[0] in _WAIT:  # for ever
                self._refuse(data)
            else:
                self._command(data)
            at += length
            self._run()
        self._pending = stream[at:]
        answer, self._reports = b"".join(self._reports), []
        return answer

    def _learns(self, command):
        return bool(command["flags"] & CommandFlag.MEMORY) and command["root"] < self.geometry.nodes

    def _payload_bytes(self, opcode, stream):
        if opcode in (TreeOpcode.LAYOUT, TreeOpcode.EDGES):
            return int(ROW_COMMAND.unpack(stream)["count"]) * (STEP.size if opcode == TreeOpcode.LAYOUT else KEY_BYTES)
        if opcode == Opcode.LEARN:
            return 0
        return super()._payload_bytes(opcode, stream)

    def _execute(self, opcode, data, payload):
        if opcode == Opcode.LEARN and not self._learns(COMMANDS[opcode].unpack(data)):
            return False
        if opcode == Opcode.TRIAL:  # the board says when
            return False
        if opcode not in list(TreeOpcode):
            return super()._execute(opcode, data, payload)
        return _EXECUTE[opcode](self, TREE_COMMANDS[opcode].unpack(data), payload)

    def _edit(self, command, payload):
        test = int(command["test"])
        row = Node(
            test >> KIND_LOW,
            test & (1 << KIND_LOW) - 1,
            *(int(command[name]) for name in ("value", "child", "default", "slot")),
        )
        return self.table.edit(int(command["node"]), row) is None

    def _node(self, command, payload):
        if command["slot"] >= self.geometry.slots or command["node"] >= self.geometry.nodes:
            return False
        entry, most = self.entries[int(command["slot"])], self.geometry.count_max
        entry.node, entry.only = int(command["node"]), int(command["only"])
        entry.base, entry.ask_up_to = (min(int(command[name]), most) for name in ("base", "ask_up_to"))
        return True

    def _period(self, command, payload):
        if command["slot"] >= self.geometry.slots:
            return False
        entry = self.entries[int(command["slot"])]
        entry.period = int(command["period"])
        entry.due = 0 < entry.period <= entry.since
        self._all_due |= entry.due
        return True

    def _write(self, command, payload):
        super()._write(command, payload)
        if command["cell"] == NONE:
            body = Layout("entry", *entry_body(self.geometry)).unpack(payload)
            entry, flags = self.entries[int(command["slot"])], int(body["entry_flags"])
            entry.due = bool(flags & EntryFlag.DUE)
            entry.tried, entry.tried_at = bool(flags & EntryFlag.TRIED), int(body["tried"])
            self._all_due |= entry.due

    def _row(self, command, payload):
        rows = self._rows_now()
        op, node, word, value = (int(command[name]) for name in ("flags", "node", "word", "value"))
        classes = self.geometry.classes
        if op in (RowOp.READ, RowOp.WRITE) and (node >= self.geometry.nodes or word >= len(RowWord) + classes):
            return False
        if op == RowOp.TALLY and max(node, word) >= classes:
            return False
        if op == RowOp.READ:
            self._say(TreeKind.ROW, node=node, value=rows.read(node, word).word)
        elif op == RowOp.WRITE:
            rows.write(node, word, value)
        elif op == RowOp.MARK:
            self._mark(rows.mark())
        elif op == RowOp.TALLY:
            self._say(TreeKind.ROW, node=node, value=rows.tally(node, word).word)
        else:
            return False
        return True

    def _quantise(self, command, payload):
        opcode = {TreeOpcode.LAYOUT: RowOpcode.LAYOUT, TreeOpcode.EDGES: RowOpcode.EDGES}[TreeOpcode(command["opcode"])]
        values = {name: int(command[name]) for name in ("count", "lane", "row", "stride", "need")}
        self.quantiser.execute(ROW_COMMAND.pack(opcode=opcode, **values), payload)
        return True

    def _turn(self, command, payload):
        if int(command["first"]) + int(command["slots"]) > self.geometry.slots:
            return False
        self.number = int(command["number"])
        self.begun = self.number - int(command["since"]) & 0xFFFFFFFF
        self.end = self.number + int(command["left"]) + 1 & 0xFFFFFFFF
        self.length = int(command["length"]) + 1
        self.first, self.slots = int(command["first"]), int(command["slots"])
        self._owed = bool(command["flags"] & 1)
        self._due_slots, self._all_due = [], True
        return True

    def _go(self, command, payload):
        if not self._held:
            return False
        self._held = self._owed = False
        self.length = int(command["length"]) + 1
        return True

    def _learn(self, command, payload):
        """Begin: all rows become records now, for no edges change before they are learnt."""
        layout, root = self.quantiser.layout, int(command["root"])
        self._learning = True
        for index in range(int(command["count"])):
            begin = int(command["address"]) + index * layout.stride
            try:
                self._come(self.memory.read(begin, layout.stride), root)
            except BusError as error:
                if begin + layout.reach <= error.address:  # nobody reads what is missing
                    self._come(self.memory.read(begin, layout.reach) + bytes(layout.stride - layout.reach), root)
                self._records.append(error)
                return

    def _come(self, row, root):
        """A row becomes a record."""
        head = ROW_COMMAND.pack(opcode=RowOpcode.RECORDS, count=1)
        beats = self.quantiser.execute(head, row)
        codes = [code for beat in beats for code in beat.codes][: self.geometry.max_cells]
        self._records.append((codes, beats[-1].label, beats[-1].flags, root))

    # Records

    def _run(self):
        """Learn what comes before the board waits for GO."""
        while not self.halted and not self._held:
            if self.number == self.end:
                self._end_block()
                continue
            if not self._records:
                break
            if isinstance(self._records[0], BusError):
                error = self._records.popleft()
                self._learning = False
                self._error(error.code, error.address, self.number)
                return
            codes, label, flags, root = self._records.popleft()
            if label >= self.geometry.classes:
                self.events["bad_records"] += 1
            else:
                self._record(codes, label, flags, root)
        if self._learning and not self.halted and not self._held:
            self._learning = False
            since, left = self.number - self.begun & 0xFFFF, self.end - self.number - 1 & 0xFFFF
            self._say(TreeKind.LEARNT, since=since, number=self.number, left=left)

    def _end_block(self):
        """Go on with a block's end, up to where it waits for GO."""
        if not self._tried:
            if self._hold(self._owed):
                return
            self._try_due()
            self._tried = True
        if self._hold(self._owed and self.fields["block.at_once"]):
            return
        self._tried = False
        self.begun, self.end = self.end, self.end + self.length & 0xFFFFFFFF

    def _hold(self, holds):
        if holds:
            self._held = True
            self._say(TreeKind.BLOCK, number=self.number)
        return holds

    def _try_due(self):
        """Try the slots that are due."""
        due, all_due = self._due_slots, self._all_due
        self._due_slots, self._all_due = [], False
        for slot in range(self.first, self.first + self.slots) if all_due else due:
            if self.entries[slot].due:
                self._trial(slot, requested=False)

    def _record(self, codes, label, flags, root):
        test, minus = bool(flags & RecordFlag.TEST), bool(flags & RecordFlag.MINUS)
        self.number = self.number + (not (test or minus)) & 0xFFFFFFFF
        weight = 1 if test or minus else weight_of(flags)
        item = self._walker.give(codes, root)[0]
        leaf, slot = item["node"], item["slot"]
        codes = codes[: self.cells_in_use]
        bayes = self._bayes(slot, codes)
        rows = self._rows_now()
        if not minus:
            result = rows.record(leaf, label, test=test, bayes=bayes, weight=weight)
            if result is not None and result.told:
                self.events["predictions"] += 1
                self._say(TreeKind.LABEL, label=result.label, node=leaf)
            if result is not None and result.mark:
                self._mark(result)
        if test:
            if slot != NONE:
                self._only_read(slot, label, codes)
            return
        self.events["records"] += 1
        if slot != NONE:
            self._count_path(slot, label, minus, codes, weight)

    def _wait(self, slot, minus, weight):
        """End the block early if a leaf has waited too long."""
        entry, margin = self.entries[slot], self.fields["block.margin"]
        if minus or not weight or entry.inner or not margin or not (period := self._period_of(entry)):
            return
        waited = entry.since - (0 if entry.tried and entry.tried_at == self.begun else period)
        if waited >= margin and (self.end - self.number & 0xFFFFFFFF) > AHEAD:
            self.end = self.number + AHEAD & 0xFFFFFFFF

    def _due(self, entry, minus, weight=1):
        """Whether an instance makes a slot due: not if it is."""
        every = self.fields["every.records"]
        asked = entry.inner and every > 0 and self.number % every == 0
        return not minus and not entry.due and (asked or super()._due(entry, minus, weight))

    def _come_due(self, slot):
        self.entries[slot].due = True
        if len(self._due_slots) < DUE:
            self._due_slots.append(slot)
        else:
            self._all_due = True

    def _bayes(self, slot, codes):
        """The class by naive Bayes, None if the slot knows none, or is an inner node's, above the leaf."""
        if not self.geometry.naive_bayes or slot == NONE:
            return None
        entry = self.entries[slot]
        if entry.inner or not entry.n:
            return None
        scores = self._scores(slot, codes)
        return scores.index(max(scores))

    def _trial(self, slot, requested):
        """Judge; a proposal if it may change the tree."""
        entry = self.entries[slot]
        if self._proposes(entry, slot):
            self._owed = True
            self._say(TreeKind.PROPOSAL, slot=slot, number=self.number)
            super()._trial(slot, requested)
        else:
            entry.since = 0
            entry.halved = entry.underflow = False
            self.events["trials"] += 1
        entry.due, entry.tried, entry.tried_at = False, True, self.number

    def _proposes(self, entry, slot):
        if not self.fields["judge.decides"] or self.fields["report.all"]:  # GAINS are not judged
            return True
        several = entry.halved or mixed(entry.only, entry.class_counts)
        candidates = top(self._candidates(slot), entry.current)
        return judge(self.fields, Trial(entry.n, entry.base, entry.ask_up_to, several, entry.inner, *candidates))

    def _rows_now(self):
        """The leaf rows, with what registers say."""
        rows = self.rows
        rows.by, rows.told = self.fields["leaf_predictor.by"], bool(self.fields["leaf_predictor.told"])
        rows.every = self.fields["leaf_marks.every"]
        return rows

    def _mark(self, result):
        self._say(TreeKind.MARK, instances=result.instances, hits=result.hits)

    def _say(self, kind, **values):
        self._report(TREE_REPORTS[kind], kind=kind, **values)


_EXECUTE = complete(
    TreeOpcode,
    {
        TreeOpcode.EDIT: TreeBoard._edit,
        TreeOpcode.NODE: TreeBoard._node,
        TreeOpcode.ROW: TreeBoard._row,
        TreeOpcode.LAYOUT: TreeBoard._quantise,
        TreeOpcode.EDGES: TreeBoard._quantise,
        TreeOpcode.PERIOD: TreeBoard._period,
        TreeOpcode.TURN: TreeBoard._turn,
        TreeOpcode.GO: TreeBoard._go,
    },
    __file__,
)

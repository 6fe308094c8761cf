"""Topics of Apache Kafka: messages read as rows, and rows written as messages; each is a JSON object."""

import json
import logging
import re
from contextlib import closing, contextmanager

import pyarrow as pa
from pyarrow import json as arrow_json

from ...extras import needing
from ...words import listed, one_line
from ..schema import DataError
from .parquet import ParquetSource
from .sources import HEAD

_URL = re.compile(r"kafka://([^/?#\s]+)/([\w.-]+)(?:\?((?:&?\b(?:until=end|bad=skip)\b)+))?")
_WAIT = 10  # seconds for a broker's first answer
_IDLE = 0.2  # seconds without a message after which those that came are handed on

_log = logging.getLogger("bregalad")


def is_topic(path):
    """Whether a path is a topic's URL."""
    return str(path).startswith("kafka://")


class Topic:
    """What ``kafka://broker[:port][,broker...]/topic[?until=end&bad=skip]`` names; ValueError if that is none."""

    def __init__(self, url):
        match = _URL.fullmatch(url)
        if match is None:
            raise ValueError(
                f"{url}: a topic is named as kafka://broker:9092/topic; behind it may stand ?until=end, to stop at its "
                "end, and ?bad=skip, to pass over messages that do not fit, with & between both"
            )
        self.url, self.broker, self.name, options = url, match[1], match[2], match[3] or ""
        self.until_end, self.skips = "until=end" in options, "bad=skip" in options

    def __str__(self):
        return self.url

    def client(self, kind, **options):
        """A client of the package ``confluent_kafka``."""
        with needing("Kafka"):
            import confluent_kafka

        def note(error):
            if error.name() == "_ALL_BROKERS_DOWN":
                _log.warning("%s: no broker answers; it is tried again", self)

        common = {"bootstrap.servers": self.broker, "log_level": 0, "error_cb": note}
        return getattr(confluent_kafka, kind)(common | options)

    @contextmanager
    def reader(self):
        """A consumer that commits nothing, and its partitions' numbers; ConnectionError, DataError if there is none."""
        options = {"group.id": "bregalad", "enable.auto.commit": False, "auto.offset.reset": "error"}
        with closing(self.client("Consumer", **options, **{"enable.partition.eof": True})) as reader:
            from confluent_kafka import KafkaException

            try:
                topics = reader.list_topics(timeout=_WAIT).topics
            except KafkaException as error:
                why = one_line(error.args[0].str())
                raise ConnectionError(f"{self}: no Kafka broker answers at {self.broker} ({why})") from error
            if self.name not in topics:
                there = listed(sorted(name for name in topics if not name.startswith("__"))) or "none"
                raise DataError(f"{self}: the broker has no topic {self.name!r}; it has {there}")
            yield reader, sorted(topics[self.name].partitions)


class TopicSource(ParquetSource):
    """A topic; what has come is handed on when no more comes. Columns are ``expected`` ones, or the first messages'."""

    once = True

    def __init__(self, url, expected=()):
        self.path = Topic(url)
        self._types = {}  # of columns of which a value was met, as Arrow is to parse them
        self.begin({"offsets": {}, "skipped": 0})
        self.attributes, self.refusals = tuple(expected), {}
        self._fields = list(self.columns)
        if expected:
            return
        with self._assigned() as reader:
            values = [message.value() for message in next(self._chunks(reader, HEAD, 5 * _IDLE), [])]
        types = _types_of(values)
        if not types:
            raise DataError(f"{self.path}: of the first {len(values)} messages none is a JSON object")
        self._types = {name: kind for name, kind in types.items() if not pa.types.is_null(kind)}
        for name, kind in types.items():
            self._add(name, kind)

    def begin(self, position):
        """Have the next pass begin at a `position`, else it is the earliest."""
        self.begun = bool(position["offsets"])
        # Before the chunk that was handed out last: the position, and the rows. Of it: messages, and which are rows.
        self._position, self._before, self._chunk, self._rows = position, 0, [], []
        self._begin = position
        self._warned = bool(position["skipped"])  # of a message that does not fit

    def position(self, rows):
        """Where to `begin` after so many rows of a pass: next offsets by partition, and how many were passed over."""
        rows -= self._before
        stop = len(self._chunk) if rows == len(self._rows) else self._rows[rows - 1] + 1 if rows else 0
        read = {str(message.partition()): message.offset() + 1 for message in self._chunk[:stop]}
        skipped = self._position["skipped"] + stop - rows
        return {"offsets": self._position["offsets"] | read, "skipped": skipped}

    def origins(self):
        """Key (bytes or None) of each row of the last chunk, and a dict of its partition and offset; pairs."""
        messages = [self._chunk[i] for i in self._rows]
        return [(m.key(), {"partition": m.partition(), "offset": m.offset()}) for m in messages]

    @contextmanager
    def _assigned(self):
        with self.path.reader() as (reader, partitions):
            from confluent_kafka import OFFSET_BEGINNING, TopicPartition

            offsets = {number: self._begin["offsets"].get(str(number), OFFSET_BEGINNING) for number in partitions}
            reader.assign([TopicPartition(self.path.name, *place) for place in offsets.items()])
            self._open = set(partitions)  # those whose end was not met yet
            yield reader

    def _chunks(self, reader, most, wait=_IDLE):
        """Messages as they come, never none."""
        while self._open or not self.path.until_end:
            received = reader.consume(most, wait)  # no longer, for Ctrl-C waits, too
            if chunk := [message for message in received if not message.error()]:
                yield chunk
            for news in filter(lambda message: message.error(), received):
                if news.error().name() != "_PARTITION_EOF":
                    gone = "the messages to go on with are gone: " * (news.error().name() == "_AUTO_OFFSET_RESET")
                    raise DataError(f"{self.path}, partition {news.partition()}: {gone}{one_line(news.error().str())}")
                self._open.discard(news.partition())

    def tables(self, chunk, kept, numeric):
        """Yield the data, at most ``chunk`` messages at a time."""
        columns = {name: field for name, field in zip(self.columns, self._fields, strict=True) if name in kept}
        self.begin(self._begin)
        with self._assigned() as reader:
            for messages in self._chunks(reader, chunk):
                rows = self._before + len(self._rows)
                self._position, self._before = self.position(rows), rows
                self._chunk, self._rows = messages, list(range(len(messages)))
                if unknown := set(columns.values()) - self._types.keys():
                    for name, kind in _types_of([message.value() for message in messages]).items():
                        if name in unknown and not pa.types.is_null(kind) and not pa.types.is_nested(kind):
                            self._types[name] = kind
                if table := self._fitting(columns, numeric):
                    yield table

    def _fitting(self, columns, numeric):
        """The table of the chunk's messages that fit, if any do; DataError if none is to be passed over."""
        tables = _parts(self._rows, lambda those: (those, self._table(those, columns, numeric)), self._pass_over)
        self._rows = [i for those, _ in tables for i in those]
        if len(tables) > 1:
            return self._table(self._rows, columns, numeric)
        return tables[0][1] if tables else None

    def _pass_over(self, error):
        if not self.path.skips:
            raise error
        if not self._warned:
            _log.warning("%s; passed over, as others will be", error)
        self._warned = True

    def _table(self, those, columns, numeric):
        messages = [self._chunk[i] for i in those]

        def where(row):
            return f"{self.path}, partition {messages[row].partition()}, offset {messages[row].offset()}"

        usual = {field: pa.float64() if name in numeric else pa.string() for name, field in columns.items()}
        schema = pa.schema([(field, self._types.get(field, kind)) for field, kind in usual.items()])
        try:
            table = _parsed([message.value() for message in messages], schema)
        except pa.ArrowException as error:
            why = one_line(error).removesuffix(" in row 0")
            wanted = listed(f"{field.name}: {field.type}" for field in schema)
            raise DataError(f"{where(0)}: {why}; allowed is a JSON object of {wanted}") from error
        frame = self._frame({name: table[field].combine_chunks() for name, field in columns.items()}, numeric, where)
        self.check(frame, where)
        return frame, where


def _parsed(values, schema=None):
    """Objects as an Arrow table with the columns of a schema, or with all that there are; ArrowException."""
    lines = [(value or b"").strip().replace(b"\n", b" ") for value in values]  # JSON's words have no line breaks
    if not all(line[:1] + line[-1:] == b"{}" for line in lines):  # else two halves might make one
        raise pa.ArrowInvalid("no object")
    table = arrow_json.read_json(
        pa.BufferReader(b"\n".join(lines)),
        arrow_json.ReadOptions(block_size=max([1 << 20, *map(len, lines)]) + 1),
        arrow_json.ParseOptions(schema, unexpected_field_behavior="ignore" if schema else "infer"),
    )
    if len(table) != len(values):
        raise pa.ArrowInvalid("several objects in a message")
    table.validate(full=True)
    return table


def _parts(items, make, refuse):
    """What ``make`` makes of all items, else of those halves of halves that it takes, from the front; a list.

    ``refuse`` is called with the error of each single one that it does not take.
    """
    try:
        return [make(items)]
    except (DataError, pa.ArrowException) as error:
        if half := len(items) // 2:
            return _parts(items[:half], make, refuse) + _parts(items[half:], make, refuse)
        refuse(error)
        return []


def _types_of(values):
    """The columns of messages and their types; the first message that has a value of a column decides."""
    types = {}
    for table in _parts(values, _parsed, lambda error: None):
        for field in table.schema:
            if pa.types.is_null(types.get(field.name, pa.null())):
                types[field.name] = pa.float64() if field.type == pa.int64() else field.type
    return types


@contextmanager
def writing(url):
    """A function that sends pairs of a key (bytes or None) and a dict to a topic that is there; at the end all arrived.

    What does not arrive is a ConnectionError; other errors are those of `Topic`.
    """
    topic, lost = Topic(url), []
    with topic.reader():
        pass  # a producer would have the broker make a topic by any name
    # What is sent again arrives once, and in order.
    client = topic.client("Producer", **{"enable.idempotence": True, "linger.ms": 20})

    def delivered(error, message):
        if error:
            lost.append(one_line(error.str()))

    def write(rows):
        for key, row in rows:
            while client.poll(0) or len(client) >= 50_000:  # it takes 100,000
                client.poll(0.1)
            client.produce(topic.name, json.dumps(row), key, on_delivery=delivered)
        if lost:
            raise ConnectionError(f"{topic}: {len(lost)} messages did not arrive ({lost[0]})")

    try:
        yield write
    finally:
        while client.flush(1):  # again and again, for Ctrl-C waits, too
            pass
    write(())  # which tells of what was lost

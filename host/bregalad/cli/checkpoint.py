"""A run of ``train`` that can go on after its process was killed."""

import hashlib
import json
import os
from dataclasses import asdict

EVERY = 1_000_000  # instances between two checkpoints
# Options that a run may go on with others of: they change nothing that it comes to.
_FREE = ("file", "save", "html", "plot", "curve", "json", "quiet", "checkpoint", "every", "resume", "run", "command")
_FLAGS = {"class_name": "--class", "from_": "--from"}


class Checkpoints:
    """Write a tree, and how far its run has come, at the next point of the curve after ``every`` instances.

    ``run`` is as of `run_of`; ``seen`` instances are learnt already; ``position`` says of the number of those learnt
    since where the stream is, if that number does not.
    """

    def __init__(self, path, every, run, seen=0, position=lambda rows: None):
        self.path = path
        self.every = every
        self._run = {**run, "every": every}
        self._seen, self._position = seen, position
        self._last = seen

    def look(self, tree, curve):
        """Write one if it is time; ``curve`` is at a point that all runs have."""
        seen = curve.instances[-1]
        if seen - self._last >= self.every:
            points = asdict(curve)
            points["confusion"] = points["confusion"].tolist()
            run = {**self._run, "curve": points, "position": self._position(seen - self._seen)}
            tree.save(self.path, run=run)
            self._last = seen


def run_of(args):
    """What a run is: its options, its stream by name or, a file, by a digest; ValueError if that is read but once."""
    from ..data.formats.kafka import is_topic
    from ..data.generators import PREFIX

    options = {name: value for name, value in vars(args).items() if name not in _FREE}
    if args.file.startswith(PREFIX):
        source = args.file
    elif is_topic(args.file):
        source = args.file.partition("?")[0]  # it may go on with other options
    elif os.path.isfile(args.file):
        digest = hashlib.sha256()
        with open(args.file, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        source = digest.hexdigest()
    else:
        raise ValueError(
            f"{args.file} is read once, so a run cannot go on with it: write what "
            "comes to a file, or leave out --checkpoint and --resume"
        )
    return json.loads(json.dumps({"options": options, "source": source}))


def begun(path, run):
    """A checkpoint's tree and curve, instances between two of them, and where a topic was, else None.

    ValueError if the file is no checkpoint, or not of the ``run`` that is to go on, as of `run_of`.
    """
    from ..ensemble.bagging import load_learner
    from ..estimator.saving import storage
    from ..evaluation import Curve

    meta, _ = storage.read(path)
    if "run" not in meta:
        raise ValueError(
            f"{path} is a saved tree, but no checkpoint of a run: --checkpoint writes those; --from goes on with "
            "any saved tree, on another file"
        )
    old = meta["run"]
    try:
        options, source, every = dict(old["options"]), old["source"], old["every"]
        curve, position = Curve.restored(old["curve"]), old.get("position")
        if type(every) is not int or every < 1:
            raise ValueError(f"every is {every!r}")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: a damaged checkpoint, or one of another release ({error})") from error
    for name in sorted({*options, *run["options"]}):
        was, now = (each.get(name) for each in (options, run["options"]))
        if was != now:
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            raise ValueError(
                f"{path} is of a run {_shown(flag, was)}, not {_shown(flag, now)}: "
                "go on with the options that it was begun with"
            )
    if source != run["source"]:
        raise ValueError(
            f"{path} is of a run on another stream, or its file has changed: go on with the one that it was begun with"
        )
    board = run["options"]["board"]
    return load_learner(path, **({} if board == "emulated" else {"board": board})), curve, every, position


def _shown(flag, value):
    if value in (None, "", []):
        return f"without {flag}"
    return f"with {flag}" if value is True else f"with {flag} {value}"


def skip(stream, seen):
    """The chunks of a stream after so many instances."""
    from ..data.parts import rows_of

    for X, y in stream:
        if seen < len(y):
            yield rows_of(X, slice(seen, None)), y[seen:]
        seen = max(0, seen - len(y))

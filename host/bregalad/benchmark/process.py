"""A learner in a process of its own: it holds a stream in memory and runs when it is told to."""

import json
import os
import subprocess
import tempfile
from contextlib import suppress


class Process:
    """Start a learner's process, and let it run again and again.

    The process says ``ready``; then it answers every line by a run, a line of JSON: ``right``
    predictions, ``cpu_seconds`` of the loop that predicts and learns, and what else it knows. If it
    fails, that is a RuntimeError with what it wrote last. ``what`` is the learner, for messages;
    ``instances`` are the stream's; ``warmups`` are runs not reported, so that compilers are done.
    The process is bound to a core with all its threads; None: it may use all.
    """

    def __init__(self, command, what, instances, *, warmups=1, core=None):
        self.what = what
        self.instances = instances
        self._errors = tempfile.TemporaryFile("w+")
        bind = {}
        if core is not None and hasattr(os, "sched_setaffinity"):
            bind["preexec_fn"] = lambda: os.sched_setaffinity(0, {core})
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, **bind
        )
        try:
            self._line("ready")
            for _ in range(warmups):
                self.measure()
        except BaseException:
            self.close()
            raise

    def measure(self):
        """A run: dict of accuracy, instances, cpu_seconds ..."""
        with suppress(BrokenPipeError):  # the reason is in its errors
            self._process.stdin.write("run\n")
            self._process.stdin.flush()
        result = json.loads(self._line())
        seen = result.setdefault("instances", self.instances)
        return {"accuracy": result.pop("right") / seen, **result}

    def _line(self, expected=None):
        for line in self._process.stdout:
            # Libraries may print, too.
            if line.startswith("{") if expected is None else line.strip() == expected:
                return line
        self._errors.seek(0)
        errors = [line for line in self._errors.read().splitlines() if line[:1].strip()]  # not where it went wrong
        raise RuntimeError(f"{self.what} failed: {errors[-1] if errors else 'no message'}")

    def close(self):
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

"""A learner in a process of its own: it holds a stream in memory and runs when it is told to."""

import json
import os
import statistics
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["Process", "peak_mb", "summary"]


class Process:
    """Start a learner's process, and let it run again and again.

    The process says ``ready``; then it answers every line by a run, a line of JSON: ``right``
    predictions, ``seconds`` and ``cpu_seconds`` of the loop that predicts and learns, ``peak_mb``,
    the most memory that it has held, and what else it knows.

    Parameters
    ----------
    command : list of str
    what : str
        The learner, for messages.
    instances : int
        Of the stream.
    warmups : int
        Runs not reported, so that compilers are done.
    core : int, optional
        The core that the process is bound to, with all its threads; None: it may use all.

    Raises
    ------
    RuntimeError
        If the process fails; with what it wrote last.
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
        """A run: dict of accuracy, seconds, cpu_seconds, peak_mb ..."""
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
        errors = self._errors.read().strip().splitlines()
        raise RuntimeError(f"{self.what} failed: {self._reason(errors)}")

    @staticmethod
    def _reason(errors):
        """The line that tells what went wrong."""
        return errors[-1] if errors else "no message"

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

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def summary(runs):
    """What several runs come to: medians, and the slowest by the fastest.

    Raises
    ------
    ValueError
        If they differ in accuracy, as those of different releases may.
    """
    if len(found := {run["accuracy"] for run in runs}) > 1:
        stream, peer = (runs[0].get(key, "?") for key in ("stream", "peer"))
        raise ValueError(
            f"the kept runs of {peer} on {stream} differ in accuracy "
            f"({', '.join(map(str, sorted(found)))}): measure them again, bench "
            f"comparison --fresh --streams {stream} --peers {peer}"
        )
    cpu = [run["cpu_seconds"] for run in runs]
    found = {
        "accuracy": runs[0]["accuracy"],
        "instances": runs[0]["instances"],
        "repeats": len(runs),
        "spread": max(cpu) / max(min(cpu), 1e-9),
    }
    for key in ("seconds", "cpu_seconds", "peak_mb"):
        values = [run[key] for run in runs if run.get(key) is not None]
        if values:
            found[key] = statistics.median(values)
    return found


def peak_mb():
    """The most memory that this process has held, in MB; None where the system does not say.

    Not getrusage's: on Linux that includes what the parent held as this process was forked.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith("VmHWM:")), None)

"""Runs training scripts with and without the tracer, and keeps the results."""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

import plan
from needs import BOXED, PROGRAMS, SOURCE

PATIENCE = 120  # seconds for the collector to close a trace


def median_interval(values, wanted=0.95):
    """(low, high, confidence) of the median's interval between two of the values, the narrowest with at least the
    confidence wanted, else the widest. How many values lie below the median is binomial; nothing else is assumed."""
    ordered, n = sorted(values), len(values)
    outside, cut = 0.0, 0
    best = (ordered[0], ordered[-1], 1 - 2 * 0.5 ** n)
    while cut < n // 2:
        outside += 2 * math.comb(n, cut) * 0.5 ** n
        if 1 - outside < wanted:
            break
        best = (ordered[cut], ordered[-1 - cut], 1 - outside)
        cut += 1
    return best


class Progress:
    """Shows the current step and the remaining time: in one line on a terminal, else in a line per step."""

    def __init__(self, steps):
        self.left = dict(steps)  # estimated seconds by name
        self.total = len(self.left)
        self.spent = self.promised = 0.0
        self.began = None

    def begin(self, name):
        self.began = time.monotonic()
        scale = self.spent / self.promised if self.promised > 0 else 1
        done = self.total - len(self.left)
        width = 20
        bar = "#" * (width * done // max(1, self.total)) + "." * (width - width * done // max(1, self.total))
        line = f"[{bar}] {done + 1}/{self.total} {name}; about {plan.minutes(scale * sum(self.left.values()))} left"
        print(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() else "\n",
              file=sys.stderr, flush=True)

    def end(self, name, skipped=False):
        promised = self.left.pop(name)
        if not skipped:
            self.spent += time.monotonic() - self.began
            self.promised += promised


class Laboratory:
    def __init__(self, directory, build):
        self.directory, self.build = directory, build
        self.traces = directory / "traces"
        self.traces.mkdir(parents=True, exist_ok=True)

    def analyze(self, *arguments):
        """Runs lotus-analyze and returns its output; raises RuntimeError if it fails."""
        command = [self.build / "bin/lotus-analyze", *arguments]
        outcome = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if outcome.returncode != 0:
            raise RuntimeError(outcome.stderr.strip())
        return outcome.stdout

    def is_whole(self, trace):
        try:
            return trace.exists() and not json.loads(self.analyze("info", "--json", trace))["truncated"]
        except RuntimeError:
            return False

    def data_for(self, run):
        """The directory of photographs, volumes or boxes, which is made if it is missing."""
        if run.workload == "detection":
            return BOXED
        directory = self.directory / ("photos" if run.workload == "classification" else "volumes")
        if run.workload == "classification":
            subprocess.run([SOURCE / "tools/photos", directory, str(run.samples)], check=True)
        else:
            directory.mkdir(exist_ok=True)
        return directory

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LOTUS_", "LD_"))}
        return {**kept, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **{k: str(v) for k, v in more.items()}}

    def execute(self, command, **more):
        """Runs the command; returns wall seconds."""
        start = time.monotonic()
        outcome = subprocess.run([str(word) for word in command], env=self.environment(**more), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        took = time.monotonic() - start
        if outcome.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{outcome.stderr.decode()}")
        return took

    def traced(self, command, trace):
        """Runs the command under the tracer and waits for its trace; returns wall seconds of the command."""
        took = self.execute(command, LD_PRELOAD=self.build / "lib/liblotus.so", LOTUS_OUTPUT=trace)
        end = time.monotonic() + PATIENCE
        while not self.is_whole(trace):
            if time.monotonic() > end:
                sys.exit(f"\nreplicate: {trace} was not closed; is a collector running? See lotus-collector(1)")
            time.sleep(0.2)
        return took

    def trace_of(self, run):
        return self.traces / f"{run.name}.lotus"

    def make(self, run):
        """Makes the trace of a run; False if it exists already."""
        target = self.trace_of(run)
        if self.is_whole(target):
            return False
        partial = target.with_suffix(".partial.lotus")
        partial.unlink(missing_ok=True)
        self.traced(run.command(PROGRAMS, self.data_for(run)), partial)
        partial.rename(target)
        return True

    def spy(self):
        """The path of py-spy, installed by pip once; the file is missing if that failed."""
        directory = self.directory / "py-spy"
        if not directory.exists():
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", directory, "py-spy"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            directory.mkdir(exist_ok=True)
        return directory / "bin/py-spy"

    def ways(self, command, scratch):
        """{name: function} of the ways to observe a run; each returns wall seconds, and writes to scratch."""
        profiled = SOURCE / "bench/replication/profiled.py"
        ways = {"none": lambda: self.execute(command), "Lotus": lambda: self.traced(command, scratch / "o.lotus"),
                "PyTorch profiler": lambda: self.execute([command[0], profiled, scratch / "torch.json", *command[1:]])}
        if self.spy().exists():
            ways["py-spy"] = lambda: self.execute([self.spy(), "record", "-s", "-o", scratch / "spy.svg", "--", *command])
        return ways

    def overhead(self, settings):
        """For each way to observe the run: median wall time compared with the bare run, and bytes on disk."""
        kept = self.directory / f"overhead-{plan.overhead_run(settings).name}-x{settings.overhead_rounds}.json"
        if kept.exists():
            return json.loads(kept.read_text()), False
        run = plan.overhead_run(settings)
        command = run.command(PROGRAMS, self.data_for(run))
        scratch = self.directory / "scratch"
        ways = self.ways(command, scratch)
        walls, sizes = {name: [] for name in ways}, {}
        for _ in range(settings.overhead_rounds):
            for name, watch in ways.items():
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir()
                walls[name].append(watch())
                sizes[name] = sum(path.stat().st_size for path in scratch.iterdir())
        shutil.rmtree(scratch)
        images = run.samples * run.epochs
        rows, confidence = [], None
        for name, took in walls.items():
            added = [100 * (a / b - 1) for a, b in zip(took, walls["none"])]
            low, high, confidence = median_interval(added)
            rows.append({"name": name, "seconds": statistics.median(took), "bytes_per_image": sizes[name] / images,
                         "percent": statistics.median(added), "low_percent": low, "high_percent": high})
        kept.write_text(json.dumps({"rounds": settings.overhead_rounds, "confidence": confidence, "rows": rows}))
        return json.loads(kept.read_text()), True

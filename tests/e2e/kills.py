"""Kills a pipeline at random times, and checks that the trace has all batches that were logged as finished.

    python3 tests/e2e/kills.py --runs 500 --seed 1 [--mode kill|disk|memory|cut] [--keep DIR]

    kill     a worker, the training process, the collector, or all of them at once, by SIGKILL
    disk     the same, with a full disk until the kill
    memory   the same, with shared memory for the training process only
    cut      kills all at once, truncates the trace, and lets a collector continue
A run is identified by its seed: `--runs 1 --seed N` repeats run N. Prints a line for each failed run, and a
table.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness

MODES = ("kill", "kill", "kill", "kill", "disk", "memory", "cut", "cut")  # in turns, without --mode
VICTIMS = ("worker", "training", "collector", "all")
EPOCHS, BATCHES = 2, 30
LINES = 2 * EPOCHS * BATCHES
DISK_BYTES = 192 << 10
MEMORY_BYTES = 1200 << 10  # enough for one segment of the smaller size, not for two


class Cannot(Exception):
    """This machine does not permit an operation that the run needs."""


class Log:
    """The batches that the pipeline has finished; incomplete lines do not count."""

    def __init__(self, path):
        self.path = path

    def lines(self):
        text = self.path.read_text() if self.path.exists() else ""
        return [line.split() for line in text[:text.rfind("\n") + 1].splitlines()]

    def made(self):
        return {(int(line[1]), int(line[2])): int(line[3]) for line in self.lines() if line[0] == "made"}

    def taken(self):
        return {(int(line[1]), int(line[2])) for line in self.lines() if line[0] == "taken"}


@contextlib.contextmanager
def small_disk(directory, size):
    """Mounts a file system of `size` bytes at `directory`."""
    directory.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", directory],
                             capture_output=True)
    if mounted.returncode != 0:
        raise Cannot(f"no mount here: {mounted.stderr.decode().strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


class Run:
    """One pipeline, one kill, and the check of the trace. `problems` is empty if all promises are kept."""

    def __init__(self, mode, seed, directory):
        self.random = random.Random(seed)
        self.mode = mode
        self.victim = "all" if mode == "cut" else self.random.choice(VICTIMS)
        self.directory = directory
        self.log = Log(directory / "log")
        self.tracer = harness.Tracer(directory)
        self.output = directory / "x.lotus"
        self.stack = contextlib.ExitStack()
        self.problems = []
        self.cut_at = None

    def go(self):
        with self.stack:
            self._prepare()
            process = self._start()
            try:
                self._kill(process)
                self._wait(process)
            finally:
                self._end_all(process)
            if self.mode == "disk":
                self.ballast.unlink(missing_ok=True)
            if self.mode == "cut":
                self._cut()
            self._collect_rest()
            self._check()
        return self

    def _prepare(self):
        if self.mode == "disk":
            disk = self.stack.enter_context(small_disk(self.directory / "disk", DISK_BYTES))
            self.output = disk / "x.lotus"
            self.ballast = disk / "ballast"
            self.ballast.write_bytes(bytes(self.random.randrange(DISK_BYTES)))
        if self.mode == "memory":
            self.tracer.segments = self.stack.enter_context(small_disk(self.directory / "shm", MEMORY_BYTES))

    def _start(self):
        operations = 400 if self.mode == "disk" else self.random.choice((2, 20, 200))
        command = ["env", f"PYTHONPATH={harness.FAKE_TORCH}", harness.PYTHON, harness.PROGRAMS / "logged.py",
                   "--log", self.log.path, "--epochs", EPOCHS, "--batches", BATCHES, "--operations", operations]
        environment = self.tracer.environment(LOTUS_OUTPUT=self.output)
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True, env=harness.clean_environment(**environment))

    def _kill(self, process):
        """Kills the victims some ms after a random line of the log, or before the first line."""
        wanted = self.random.randrange(LINES)
        delay = self.random.random() * (0.3 if wanted == 0 else 0.01)
        harness.wait_until(lambda: len(self.log.lines()) >= wanted or process.poll() is not None,
                           f"{wanted} lines in {self.log.path}")
        time.sleep(delay)  # a random time, so not wait_until()
        for pid in self._victims(process):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _victims(self, process):
        workers = children(process.pid)
        collector = [pid for pid in [self.tracer.collector_pid()] if pid]
        if self.victim == "worker":
            return self.random.sample(workers, 1) if workers else []
        if self.victim == "training":
            return [process.pid]
        if self.victim == "collector":
            return collector
        every = [process.pid, *workers, *collector]
        self.random.shuffle(every)
        return every

    def _wait(self, process):
        """Waits for the training process, but not long: a killed worker may leave a queue locked."""
        if self.victim == "collector":
            process.wait(harness.PATIENCE)
        elif self.victim == "worker":
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.random.random())

    @staticmethod
    def _end_all(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _cut(self):
        """Truncates the trace at a random byte."""
        harness.wait_until(lambda: self.tracer.collector_pid() is None, "the collector to be gone")
        if self.output.exists():
            self.cut_at = self.random.randrange(self.output.stat().st_size + 1)
            os.truncate(self.output, self.cut_at)

    def _collect_rest(self):
        """Waits for the running collector, then starts one for the segments that are left."""
        self.tracer.wait_for_collector()
        self._drain()
        # An unfinished segment is kept for some time, as a process of another container may be filling it.
        for name in self._left():
            os.utime(self.tracer.segments / name, times=(time.time() - 120,) * 2)
            self._drain()
        if self._left():
            self.problems.append(f"left among the segments: {self._left()}")

    def _drain(self):
        drained = harness.run([harness.COLLECTOR, "--drain", "--dir", self.tracer.segments])
        if drained.code != 0:
            self.problems.append(f"--drain: exit code {drained.code}: {drained.stderr!r}")

    def _left(self):
        return [name for name in self.tracer.left() if name != "collector.lock"]

    def _check(self):
        made, taken = self.log.made(), self.log.taken()
        traces = sorted(self.output.parent.glob(self.output.name + "*"))
        if not traces:
            if made or taken:
                self.problems.append(f"no trace, but {len(made)} batches were logged")
            return
        # If the cut is inside the file's header, the collector renames that file and begins another one.
        whole = [path for path in traces if harness.run([harness.ANALYZE, "info", path]).code == 0]
        if not whole:
            if self.cut_at is None:
                self.problems.append(f"cannot be opened: {traces}")
            return
        checked = Checked(whole, self)
        checked.state()
        checked.losses()
        checked.batches(made, taken)

    def close(self):
        collector = self.tracer.collector_pid()
        if collector:
            os.kill(collector, signal.SIGKILL)
        shutil.rmtree(self.tracer._memory)


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(word) for word in text.read_text().split()]
    except OSError:
        return []


class Checked:
    """Checks the traces of a run, usually one."""

    def __init__(self, paths, run):
        self.run = run
        self.traces = [harness.Trace(path) for path in paths]
        self.processes = {process["pid"]: process for trace in self.traces for process in trace.info["processes"]}
        # Without the definitions of its worker and of the training process, a batch cannot be identified.
        self.unnamed = any(process.get("lost_definitions") for process in self.processes.values())
        self.gaps = collections.defaultdict(list)  # by pid: number of records lost in each gap
        for trace in self.traces:
            lines = harness.run([harness.ANALYZE, "dump", "--json", trace.path], timeout=harness.PATIENCE).stdout
            for line in lines.splitlines():
                if b'"kind":"gap"' in line:
                    gap = json.loads(line)
                    self.gaps[gap["pid"]].append(gap["lost"])

    def wrong(self, text):
        self.run.problems.append(text)

    def state(self):
        for trace in self.traces:
            info = trace.info
            if info["damaged"]["count"]:
                self.wrong(f"damaged: {info['damaged']}")
            if info["truncated"] and self.run.cut_at is None:
                self.wrong("not closed")
            if info["unmatched_leaves"] and not self.gaps:
                self.wrong(f"{info['unmatched_leaves']} ends without a beginning")
            report = trace.report
            if report["trace"]["events"] != info["events"]:
                self.wrong(f"{report['trace']['events']} events in the report, {info['events']} in info")
            for op in report["ops"]:
                if op["count"] and not 0 <= op["min_ms"] <= op["max_ms"]:
                    self.wrong(f"impossible times: {op}")

    def losses(self):
        """The lost events of each process are the sum of its gaps; without losses there are none."""
        if self.run.cut_at is not None:
            return
        for pid, process in self.processes.items():
            told = sum(self.gaps[pid])
            if not process["ended"]:
                self.wrong(f"process {pid} has no end")
            elif process["lost_events"] != told or (not told and self.gaps[pid]):
                self.wrong(f"process {pid} lost {process['lost_events']} events, its chunks tell of {self.gaps[pid]}")
        if self.unnamed:
            self.wrong("definitions are said to be lost")

    def excused(self, pid):
        """Whether the trace reports that data of the process are missing."""
        process = self.processes.get(pid)
        if self.run.mode == "memory":
            return process is None
        if self.run.cut_at is not None:
            return process is None or not process["ended"] or pid in self.gaps or self.unnamed
        return process is not None and process["lost_events"] > 0

    def batches(self, made, taken):
        rows = [row for trace in self.traces for row in trace.batches]
        fetched = {(row["epoch"], row["batch"]) for row in rows if row["fetch_ns"] is not None}
        consumed = {(row["epoch"], row["batch"]) for row in rows if row["consumed_at_ns"] is not None}
        missing = {key: pid for key, pid in made.items() if key not in fetched and not self.excused(pid)}
        if missing:
            self.wrong(f"made, but not in the trace (batch: process): {missing}")
        training = [pid for pid, process in self.processes.items() if process["worker"] is None]
        cut_away = self.run.cut_at is not None and not training  # nothing of the training process is left
        if taken - consumed and not cut_away and not any(self.excused(pid) for pid in training):
            self.wrong(f"taken, but not in the trace: {sorted(taken - consumed)}")
        if self.run.mode == "memory" and made and not self.unrecorded():
            self.wrong("workers recorded nothing, and the trace does not say so")

    def unrecorded(self):
        """Whether the trace reports all workers of which it has no records."""
        absent = set(self.run.log.made().values()) - set(self.processes)
        return not absent or sum(trace.info["unrecorded_workers"] for trace in self.traces) >= len(absent)


def one(mode, seed):
    """Returns the Run; raises Cannot if this machine does not permit it."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="lotus-kill-"))
    run = Run(mode, seed, directory)
    try:
        return run.go()
    finally:
        run.close()
        if not run.problems:
            shutil.rmtree(directory)


def mode_of(seed):
    return MODES[seed % len(MODES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=sorted(set(MODES)))
    options = parser.parse_args()
    counts = collections.Counter()
    failed = 0
    for seed in range(options.seed, options.seed + options.runs):
        mode = options.mode or mode_of(seed)
        try:
            run = one(mode, seed)
        except Cannot as reason:
            counts[mode, f"skipped: {reason}"] += 1
            continue
        except AssertionError as problem:
            failed += 1
            print(f"seed {seed}, {mode}: {problem}", flush=True)
            continue
        counts[mode, run.victim] += 1
        if run.problems:
            failed += 1
            print(f"seed {seed}, {mode}, {run.victim} killed, kept in {run.directory}:", *run.problems, sep="\n  ",
                  flush=True)
    for (mode, victim), count in sorted(counts.items()):
        print(f"{mode:8} {victim:10} {count:6}")
    print(f"{options.runs} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

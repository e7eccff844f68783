"""Reads LotusTrace's logs. Written from the published description alone, independently of our export.

Headerless lines NAME,START_NS,DURATION_NS in files {prefix}_worker_pid_{pid} and {prefix}_main_pid_{pid}; times of
CLOCK_REALTIME. Everything else is an error.
"""
import collections
import re

Line = collections.namedtuple("Line", "name start duration")
WORKER = re.compile(r"S(Loader|Transform|Collation|BatchPreprocessed_\d+|[^,\s]+)")
MAIN = re.compile(r"SBatch(Wait|Consumed|Queued|PinMemory)_(\d+)")
LITERAL = 1000


def read_file(path, names):
    text = path.read_text()
    assert text.endswith("\n"), path
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split(",")
        assert len(fields) == 3, f"{path}:{number}: {line}"
        assert names.fullmatch(fields[0]), f"{path}:{number}: {line}"
        assert all(re.fullmatch(r"\d+", field) for field in fields[1:]), f"{path}:{number}: {line}"
        lines.append(Line(fields[0], int(fields[1]), int(fields[2])))
    return lines


class Logs:
    """The logs in one directory, which are those of one epoch."""

    def __init__(self, directory):
        self.workers, self.mains = {}, {}
        prefixes = set()
        for path in sorted(path for path in directory.iterdir() if path.is_file()):
            match = re.fullmatch(r"(.+)_(worker|main)_pid_(\d+)", path.name)
            assert match, path.name
            prefixes.add(match[1])
            main = match[2] == "main"
            (self.mains if main else self.workers)[int(match[3])] = read_file(path, MAIN if main else WORKER)
        assert len(prefixes) == 1 and len(self.mains) == 1
        self.pid, self.main = next(iter(self.mains.items()))
        self.check_workers()
        self.check_main()

    def ops(self):
        """{operation: durations}, with the names that the logs' analysis uses."""
        table = collections.defaultdict(list)
        for lines in self.workers.values():
            for line in lines:
                if not line.name.startswith("SBatch") and line.name != "STransform":
                    table[line.name[1:]].append(line.duration)
        return table

    def check_workers(self):
        """Checks the order of lines, and that a batch's operations precede it and lie inside it."""
        self.preprocessed = {}
        for pid, lines in self.workers.items():
            inside = []
            for line in lines:
                match = re.fullmatch(r"SBatchPreprocessed_(\d+)", line.name)
                if not match:
                    inside.append(line)
                    continue
                batch = int(match[1])
                assert batch not in self.preprocessed
                self.preprocessed[batch] = (line.start, line.duration, pid)
                assert all(line.start <= op.start and op.start + op.duration <= line.start + line.duration
                           for op in inside), batch
                check_order(inside)
                inside = []
            assert not inside, "operations behind the last batch"

    def check_main(self):
        self.waits, self.consumed, self.queued = {}, {}, {}
        written = 0
        for line in self.main:
            kind, batch = MAIN.fullmatch(line.name).groups()
            table = {"Wait": self.waits, "Consumed": self.consumed, "Queued": self.queued}.get(kind, {})
            assert int(batch) not in table, line
            table[int(batch)] = line
            if kind in ("Consumed", "Queued"):
                assert line.duration == LITERAL
            early = kind != "PinMemory" and line.duration == LITERAL
            at = line.start if early else line.start + line.duration
            assert written <= at, f"{line} stands before what was written earlier"
            written = at
        order = list(self.consumed)
        assert order == sorted(order) and set(order) <= set(self.waits)
        for batch, line in self.consumed.items():
            wait = self.waits[batch]
            assert line.start >= wait.start + (0 if wait.duration == LITERAL else wait.duration)

    @property
    def out_of_order(self):
        return {batch for batch, line in self.waits.items() if line.duration == LITERAL}


def check_order(lines):
    """Checks a batch's lines: transforms of a sample, its Loader, its Transform; collation last."""
    names = [line.name for line in lines]
    assert "SCollation" not in names[:-1]
    for place, line in enumerate(lines):
        if line.name == "SLoader":
            transform = lines[place + 1]
            assert transform.name == "STransform"
            assert line.start + line.duration <= transform.start
            own = [op for op in lines[:place] if op.start >= line.start]
            assert own and all(transform.start <= op.start and op.start + op.duration <= transform.start + transform.duration
                               for op in own)

"""Reads a test program's own measurements (tests/programs/truth.py) into batches and operations."""
import collections
import json
import pathlib

OUT_OF_ORDER_NS = 1000  # the wait of a batch that arrived before its turn, by definition


class Batch:
    """Times in ns of the realtime clock; None if the program did not see them."""

    def __init__(self, loader, epoch, number):
        self.loader, self.epoch, self.number = loader, epoch, number
        self.keys = None  # of its samples
        self.wait = None  # duration
        self.out_of_order = False
        self.consumed = None
        self.fetch = None


Call = collections.namedtuple("Call", "pid end ns")
# keys: of the samples, in order, as text. [start, end]: around the fetcher; [begun, made]: from the beginning
# of the first sample to the end of the last operation. The tracer's fetch lies between the two.
Fetch = collections.namedtuple("Fetch", "pid keys start end begun made")


class Truth:
    def __init__(self):
        self.ops = collections.defaultdict(list)  # name -> Calls, in order of their ends
        self.fetches = []
        self.batches = {}  # (loader, epoch, number) -> Batch
        self.next_calls = []  # (loader, epoch, start, ns)
        self.samples = []  # (key, ns)
        self.raised = []  # keys of samples that raised
        self.pins, self.synchronized = [], []  # Calls: batches that were pinned, waits for a GPU
        self.native = collections.defaultdict(lambda: [0, 0])  # (op, name) -> calls, bytes
        self.native_ns = collections.defaultdict(list)  # (op, name) -> ns of each call of the operation
        self.main_pid = None

    def batch(self, loader, epoch, number):
        key = (loader, epoch, number)
        if key not in self.batches:
            self.batches[key] = Batch(*key)
        return self.batches[key]

    @property
    def consumed(self):
        return [batch for batch in self.batches.values() if batch.consumed is not None]


def read(prefix):
    """Reads all files PREFIX.<pid>."""
    truth = Truth()
    prefix = pathlib.Path(prefix)
    paths = {}
    for path in sorted(prefix.parent.glob(prefix.name + ".*")):
        notes = []
        for line in path.read_text().splitlines():
            line = json.loads(line)
            pid = line["pid"]
            notes += [(line["realtime_offset"], note) for note in line["records"]]
        _read_operations(truth, pid, [(offset, note) for offset, note in notes if isinstance(note, str)])
        _read_training(truth, pid, [(offset, *note) for offset, note in notes if not isinstance(note, str)], paths)
    _match(truth, paths)
    return truth


def _read_operations(truth, pid, notes):
    has_samples = any(note.startswith("sample") for _, note in notes)
    keys, begun, made = [], None, None
    for offset, note in notes:
        kind, rest = note.split(" ", 1)
        if kind == "raised":
            truth.raised.append(rest)
            continue
        if kind == "native":
            op, name, calls, moved, *ns = rest.split()
            truth.native[op, name][0] += int(calls)
            truth.native[op, name][1] += int(moved)
            truth.native_ns[op, name] += map(int, ns)
            continue
        start, end, text = (rest + " ").split(" ", 2)
        start, end, text = int(start), int(end), text[:-1]
        if kind in ("pin", "synchronize"):
            (truth.pins if kind == "pin" else truth.synchronized).append(Call(pid, offset + end, end - start))
        if kind in ("op", "load"):
            truth.ops["Loader" if kind == "load" else text].append(Call(pid, offset + end, end - start))
            made = offset + end
        if kind.startswith("sample") or (kind == "load" and not has_samples):
            begun = begun or offset + start
            keys += text.strip("[]").split(", ") if kind == "samples" else [text]
            truth.samples.append((text, end - start))
        elif kind == "fetch":
            truth.fetches.append(Fetch(pid, keys, offset + start, offset + end, begun, made))
            keys, begun, made = [], None, None


def _read_training(truth, pid, notes, paths):
    got = {}
    numbers = collections.Counter()
    for offset, kind, *rest in notes:
        if kind == "paths":
            paths[rest[1] if rest[1:] else "train"] = rest[0]
        elif kind == "index":
            loader, epoch, index = rest
            truth.batch(loader, epoch, numbers[loader, epoch]).keys = index
            numbers[loader, epoch] += 1
        elif kind == "get":
            loader, epoch, number, _, start, end = rest
            got[loader, epoch, number] = (start, end)
        elif kind in ("wait", "consume"):
            loader, epoch, number, start, end = rest
            batch = truth.batch(loader, epoch, number)
            if kind == "wait":
                _set_wait(batch, start, end, got.get((loader, epoch, number)))
            if kind == "consume" or batch.consumed is None:
                batch.consumed = offset + end
        elif kind == "next":
            loader, epoch, start, end = rest
            truth.main_pid = pid
            truth.next_calls.append((loader, epoch, offset + start, end - start))


def _set_wait(batch, start, end, got):
    if got is None:  # no worker: the wait is the whole call
        batch.wait = end - start
    elif got[0] >= start:  # received in the call that handed it out
        batch.wait = got[1] - start
    else:
        batch.wait, batch.out_of_order = OUT_OF_ORDER_NS, True


def _match(truth, paths):
    """Assigns each fetch to its batch, if the sampler's indices identify it."""
    by_keys = collections.defaultdict(list)
    for batch in truth.batches.values():
        if batch.keys is None or not isinstance(batch.keys, list) or None in batch.keys:
            continue
        known = paths.get(batch.loader)
        keys = [known[index] if known else str(index) for index in batch.keys]
        by_keys[tuple(keys)].append(batch)
    for fetch in sorted(truth.fetches, key=lambda fetch: fetch.start):
        candidates = [batch for batch in by_keys[tuple(fetch.keys)] if batch.fetch is None]
        if candidates:
            min(candidates, key=lambda batch: batch.epoch).fetch = fetch
